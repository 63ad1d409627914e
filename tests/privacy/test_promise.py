"""The promise and the one line of meaning: every kind says its own numbers, and nothing stronger than they are."""

import math

import msgspec
import pytest

from manifests import labels_of
from publius.privacy.promise import label_kept, meaning, promise
from publius.releases.manifest import AuthorFacts, ClassifierFacts, Pair, SummaryManifest, WordManifest

BASE = {"publius_version": "1.0.0", "private": True, "promise": ""}
WORDS = {
    **BASE, "epsilon": 0.5, "documents": 7, "length": 40, "metric": "euclidean", "mechanism": "laplace",
    "exponent_per_distance": 20.0, "delta": 1.01e-33, "nearest_pair": 1.5635, "typical_pair": 3.86,
}  # fmt: skip
SUMMARY = {**BASE, "epsilon": 1.0, "authors": 2000, "documents_per_author": 1}


def labels(**more):
    return msgspec.structs.replace(labels_of(21), **({"epsilon": 5.0, "shuffled": None, "author": None} | more))


def test_a_label_states_its_epsilon_and_what_one_row_tells():
    manifest = labels(documents=1000)
    said, kept = promise(manifest), math.exp(5) / (math.exp(5) + 20)
    assert label_kept(5.0, 21) == pytest.approx(kept)
    assert "epsilon = 5 (delta = 0, proven)" in said
    assert "at most 149 times as probable" in said
    assert "with probability at most 13 %" in said
    assert "(0.1 % by guessing)" in said
    assert "An author of 5 documents has epsilon 25 in all" in said
    assert "Not protected" not in said
    assert "secret order" not in said
    changed = round((1 - kept) * 1000)
    assert f"changes {100 * (1 - kept):.0f} % of labels (about {changed} of 1,000)" in meaning(manifest)


def test_a_declared_column_speaks_of_values():
    values = ClassifierFacts(name="values", kind="values", sha256="0" * 64)
    manifest = labels(classifier=values, labels=("open", "closed", "other"), epsilon=7.0)
    assert "whatever two values are compared" in promise(manifest)
    assert "texts" not in promise(manifest)
    assert "declared values" in meaning(manifest)


def test_shuffling_authors_and_what_leaves_unprotected():
    said = promise(
        labels(
            shuffled=Pair(epsilon=0.6891, delta=1e-6),
            author=AuthorFacts(documents=2, epsilon=10.0),
            kept=("year",),
            ids=True,
        )
    )
    assert "epsilon = 0.6891 per author with delta = 0.000001" in said
    alone = promise(labels(shuffled=Pair(epsilon=0.6891, delta=1e-6)))  # nobody named authors
    assert "epsilon = 0.6891 per document, of a person with one, with delta" in alone
    assert "Of each author at most 2 documents leave: epsilon 10" in said
    assert said.endswith("Not protected: the documents' own ids; the column 'year'.")


def test_words_state_the_exponent_and_never_less():
    said = promise(WordManifest(**{**WORDS, "exponent_per_distance": 1.0000000001}))
    assert "exp(1.00001 * E)" in said  # rounded up
    assert "N = 40" in said
    assert "but for a probability of 1.1e-33" in said
    assert "Earth Mover's distance" in said
    said = meaning(WordManifest(**WORDS))
    assert "at most 1.57 if one says nurse and the other says doctor, and 3.86 if one says nurse" in said


def test_ordered_text_has_a_sentence_of_its_own():
    said = promise(WordManifest(**WORDS, ordered=True, between="stop-words"))
    assert "Take any two sequences of 40 words that agree in stop words" in said
    assert "mean distance of words in order" in said
    assert "stop words between the words, which show style and length" in said


@pytest.mark.parametrize(
    ("evidence", "said"), [("stated", "stated by the mechanism's author"), ("certified", "certified")]
)
def test_the_evidence_is_named(evidence, said):
    assert f"({said}, for epsilon = 0.5" in promise(WordManifest(**WORDS, evidence=evidence))


def test_a_mechanism_without_proof_promises_nothing():
    manifest = WordManifest(**WORDS, evidence="none")
    assert promise(manifest).startswith("Nothing is promised")
    assert meaning(manifest).startswith("Nothing is promised")


def test_a_summary_protects_authors():
    manifest = SummaryManifest(**SUMMARY)
    said = promise(manifest)
    assert "epsilon-differential privacy for each author with epsilon = 1 (delta = 0, proven)" in said
    assert "at most 2.72 times" in said
    assert "the right one at most 74 % of the time" in meaning(manifest)
    assert meaning(manifest) in said


@pytest.mark.parametrize(
    "made", [labels(), WordManifest(**WORDS), SummaryManifest(**SUMMARY)], ids=lambda m: type(m).__name__
)
def test_an_experiment_promises_nothing_and_says_why(made):
    said = promise(msgspec.structs.replace(made, private=False, warning="NOT PRIVATE: REPRODUCIBLE"))
    assert said == "NOT PRIVATE: REPRODUCIBLE. Nothing is promised."
    assert promise(msgspec.structs.replace(made, private=False)).startswith("NOT PRIVATE")


def test_no_old_word_of_strength_is_said():
    everything = " ".join(
        promise(made) + meaning(made) for made in (labels(), WordManifest(**WORDS), SummaryManifest(**SUMMARY))
    ).lower()
    for old in ("nats", "bound", "prototype", "reference", "theme", "crowd", "strong", "moderate", "weak", "floor"):
        assert old not in everything
