"""Many documents: matrices equal what single distances give."""

import numpy as np
import pytest

from bags import random_bag
from publius.distances.earth_mover import earth_movers_distance, pairwise_distances
from publius.embeddings.embeddings import Embeddings
from publius.noise.randomness import seeded_rng
from publius.text.bag import Bag
from toy import WORDS


@pytest.fixture(scope="module")
def corpus():
    """40 bags of 1 to 59 words; two equal, one a multiple of another."""
    rng = seeded_rng(11)
    bags = [random_bag(rng, int(rng.integers(1, 60)), WORDS) for _ in range(38)]
    return [*bags, bags[3], Bag({word: 2 * count for word, count in bags[7].counts.items()})]


def full(bags, embeddings, metric="euclidean"):
    return np.array([[earth_movers_distance(a, b, embeddings, metric) for b in bags] for a in bags])


@pytest.mark.parametrize("metric", ["euclidean", "manhattan"])
def test_the_matrix_equals_single_distances(corpus, embeddings, metric):
    bags = corpus[:3] + corpus[7:8] + corpus[-2:]
    matrix = pairwise_distances(bags, embeddings, metric)
    np.testing.assert_allclose(matrix, full(bags, embeddings, metric), rtol=0, atol=1e-12)
    assert (matrix == matrix.T).all()
    assert not matrix.diagonal().any()


def test_no_documents_no_distances(embeddings):
    assert pairwise_distances([], embeddings).shape == (0, 0)


@pytest.mark.parametrize("sizes", [(30, 30), (5, 30)], ids=["one size", "two sizes"])
def test_one_dimensional_matrix(sizes):
    line = Embeddings.from_arrays(WORDS, np.linspace(-3, 3, len(WORDS))[:, None], name="line")
    rng = seeded_rng(12)
    bags = [random_bag(rng, size, WORDS) for size in sizes * 4]
    np.testing.assert_allclose(pairwise_distances(bags, line), full(bags, line), rtol=0, atol=1e-12)
