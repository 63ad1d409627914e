"""What faults planted in the room showed to be said and not tested: the yardstick beside an epsilon."""

import msgspec
import pytest

from manifests import labels_of
from publius.privacy.promise import promise, yardstick
from publius.releases.manifest import AuthorFacts, SummaryManifest, WordManifest

BASE = {"publius_version": "1.0.0", "private": True, "promise": ""}


@pytest.mark.parametrize(
    ("author", "said"),
    [(None, "epsilon is 2.5 per document: in between."),
     (AuthorFacts(documents=1, epsilon=2.5), "epsilon is 2.5 per document: in between."),
     (AuthorFacts(documents=2, epsilon=5.0), "epsilon is 2.5 per document, 5 per author: in between.")],
)  # fmt: skip
def test_an_epsilon_is_placed_in_what_the_field_uses_for_each_unit(author, said):
    manifest = msgspec.structs.replace(labels_of(3), epsilon=2.5, author=author)
    assert yardstick(manifest).startswith("A smaller epsilon protects more")
    assert yardstick(manifest).endswith(said)


def test_the_epsilon_of_words_is_compared_with_none():
    words = {
        "documents": 7, "length": 40, "metric": "euclidean", "mechanism": "laplace", "exponent_per_distance": 20.0
    }  # fmt: skip
    said = yardstick(WordManifest(**BASE, **words, epsilon=0.5))
    assert said.startswith("Little protection")
    assert "strong" not in said


def test_a_summary_states_six_digits_rounded_up():
    said = promise(SummaryManifest(**BASE, epsilon=0.12345678, authors=200, documents_per_author=1))
    assert "epsilon = 0.123457 (" in said
