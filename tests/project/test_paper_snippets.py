"""The paper's three snippets: which of them are near each other, and how far."""

from itertools import combinations
from pathlib import Path

import pytest

from publius.distances import earth_movers_distance
from publius.text.bag import Bag
from publius.vectors.catalogue import package_installed
from publius.vectors.embeddings import Embeddings

GOOGLE = Path(__file__).parents[3] / "shared" / "data" / "GoogleNews-subset-32k.bin.gz"
SNIPPETS = ("President greets press Chicago", "Chief speaks media Illinois", "chef breaks cooking record")


def distances(snippets, embeddings):
    """E(b1,b2), E(b1,b3), E(b2,b3)."""
    bags = [Bag(snippet.split()) for snippet in snippets]
    return [earth_movers_distance(a, b, embeddings) for a, b in combinations(bags, 2)]


@pytest.mark.skipif(not package_installed(), reason="the extra glove is not installed")
def test_with_the_default_vectors():
    near, *far = distances([snippet.lower() for snippet in SNIPPETS], Embeddings.load())
    assert near < min(far)


@pytest.mark.skipif(not GOOGLE.exists(), reason="the Google News vectors are not at hand")
def test_with_google_news():
    near, *far = distances(SNIPPETS, Embeddings.from_file(GOOGLE))
    assert near < min(far)
    assert near == pytest.approx(2.79, abs=0.01)
