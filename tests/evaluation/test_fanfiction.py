"""The paper's setting on real text and real vectors, where the research data is at hand."""

import json
from pathlib import Path

import numpy as np
import pytest

from publius.documents.corpus import open_corpus
from publius.mechanisms.kernels.laplace import Laplace
from publius.noise.randomness import seeded_rng
from publius.releases.engines import protect_corpus
from publius.releases.plan import Plan
from publius.text.bag import Encoding, words_of
from publius.text.tokenizer import StopWords
from publius.vectors.embeddings import Embeddings

DATA = Path(__file__).parents[3] / "shared" / "data"
VECTORS, STORIES = DATA / "GoogleNews-subset-32k.bin.gz", DATA / "fanfiction" / "authors50.jsonl.gz"
pytestmark = [
    pytest.mark.skipif(not STORIES.exists(), reason="the research data beside the project is not here"),
    pytest.mark.long,
]
LENGTH = 300


@pytest.fixture(scope="module")
def google_news():
    return Embeddings.from_file(VECTORS)


@pytest.fixture(scope="module")
def stories():
    return open_corpus(STORIES, keep=("author", "topic"))


@pytest.mark.parametrize(
    ("epsilon", "changed"),
    [(20, 0.87), (30, 0.45), (15, 0.97)],
)  # fmt: skip
def test_share_of_changed_words(google_news, stories, epsilon, changed):
    encoding = Encoding(LENGTH, "drop", StopWords.load("english"), google_news.tokenizer)
    words = [word for story in stories for word in words_of(story.text, google_news, encoding).words]
    mechanism, rng = Laplace(google_news, epsilon=epsilon), seeded_rng(1)
    known = mechanism.indices([word for word in words if word != "<unk>"])
    sample = rng.permutation(known)[:4000]
    out = mechanism.apply(sample, mechanism.noise(len(sample), rng))
    assert np.mean(out != sample) == pytest.approx(changed, abs=0.03)


def test_release_holds_nothing_outside_the_vocabulary(google_news, stories, tmp_path):
    encoding = Encoding(40, "unk", StopWords.load("english"), google_news.tokenizer)
    plan = Plan(Laplace(google_news, epsilon=20), encoding, labels=("author", "topic"))
    protect_corpus(stories, plan, tmp_path / "out")
    rows = [
        json.loads(line)
        for line in (tmp_path / "out" / "bags.jsonl").read_text(encoding="utf-8").splitlines()
    ]
    assert len(rows) == 100
    assert all(sum(row["bag"].values()) == row["size"] == 40 for row in rows)
    assert all(word in google_news for row in rows for word in row["bag"])
