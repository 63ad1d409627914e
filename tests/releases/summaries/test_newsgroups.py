"""What readers learn from a summary of real posts: labels by naive Bayes, and which words are typical of a label."""

import pytest

from benchmarks.newsgroups import DATA, Labelled, drawn, learned, read_posts
from publius.noise.randomness import seeded_rng

pytestmark = [
    pytest.mark.long,
    pytest.mark.skipif(not DATA.exists(), reason="the research data beside the project is not here"),
]
RIGHT = {"0.5": 0.56, "1": 0.58, "2": 0.59}
TYPICAL = {"0.5": 0.65, "1": 0.84, "2": 0.86}


@pytest.fixture(scope="module")
def labelled():
    posts = read_posts()
    with learned(posts.public, "news") as reference:
        yield Labelled(posts, reference)


def test_labels_shares_and_words_are_learned_from_a_summary(labelled, monkeypatch):
    """A little below what docs/summaries.md states, of one draw whose noise is the same each time."""
    monkeypatch.setattr("publius.releases.summaries.summary.system_rng", lambda: seeded_rng(1))
    for epsilon, right in RIGHT.items():
        ((said, _),) = drawn(labelled.summary(epsilon), labelled.posts.one_each, 1)
        assert labelled.right(said) >= right
        assert labelled.typical(said) >= TYPICAL[epsilon]
    ((said, cells),) = drawn(labelled.summary("1", "totals=0.5,themes=0.5"), labelled.posts.one_each, 1)
    assert labelled.off(said, cells) <= 0.014
