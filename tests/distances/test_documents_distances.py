"""Many documents: matrices and nearest documents equal what single distances give."""

import numpy as np
import pytest

from bags import random_bag
from publius.distances import NearestDocuments, earth_movers_distance, pairwise_distances
from publius.errors import UsageError
from publius.noise.randomness import seeded_rng
from publius.text.bag import Bag
from publius.embeddings.embeddings import Embeddings
from toy import WORDS


@pytest.fixture(scope="module")
def corpus():
    """40 bags of 1 to 59 words; two equal, one a multiple of another."""
    rng = seeded_rng(11)
    bags = [random_bag(rng, int(rng.integers(1, 60)), WORDS) for _ in range(38)]
    return [*bags, bags[3], Bag({word: 2 * count for word, count in bags[7].counts.items()})]


def full(bags, others, embeddings, metric="euclidean"):
    return np.array([[earth_movers_distance(a, b, embeddings, metric) for b in others] for a in bags])


@pytest.mark.parametrize(
    "table_bytes", [8, 8 * 25**2, 1 << 28], ids=["document by document", "blocks", "whole"]
)
@pytest.mark.parametrize("metric", ["euclidean", "manhattan"])
def test_the_matrix_equals_single_distances(corpus, embeddings, metric, table_bytes):
    bags = corpus[:15] + corpus[-2:]
    matrix = pairwise_distances(bags, embeddings, metric, table_bytes=table_bytes)
    np.testing.assert_allclose(matrix, full(bags, bags, embeddings, metric), rtol=0, atol=1e-12)
    assert (matrix == matrix.T).all()
    assert not matrix.diagonal().any()


def test_a_rectangular_matrix(corpus, embeddings):
    matrix = pairwise_distances(corpus[:4], embeddings, others=corpus[2:9], table_bytes=8 * 30**2)
    np.testing.assert_allclose(matrix, full(corpus[:4], corpus[2:9], embeddings), rtol=0, atol=1e-12)


def test_no_documents_no_distances(embeddings):
    assert pairwise_distances([], embeddings).shape == (0, 0)
    assert NearestDocuments([], embeddings).query(Bag(["river"])) == []


@pytest.mark.parametrize("sizes", [(30, 30), (5, 30)], ids=["one size", "two sizes"])
def test_one_dimensional_matrix(sizes):
    line = Embeddings.from_arrays(WORDS, np.linspace(-3, 3, len(WORDS))[:, None], name="line")
    rng = seeded_rng(12)
    bags = [random_bag(rng, size, WORDS) for size in sizes * 4]
    np.testing.assert_allclose(pairwise_distances(bags, line), full(bags, bags, line), rtol=0, atol=1e-12)


@pytest.mark.parametrize("table_bytes", [8, 1 << 28], ids=["many blocks", "one block"])
@pytest.mark.parametrize(
    "metric", ["euclidean", "manhattan", lambda x, y: np.abs(x[:, None] - y).max(axis=2)]
)
@pytest.mark.parametrize(
    "count", [5, pytest.param(1, marks=pytest.mark.long), pytest.param(100, marks=pytest.mark.long)]
)
def test_nearest_documents_equal_the_full_result(corpus, embeddings, metric, count, table_bytes):
    index = NearestDocuments(corpus, embeddings, metric, table_bytes=table_bytes)
    for query in [*corpus[:6], random_bag(seeded_rng(13), 40, WORDS)]:
        distances = full([query], corpus, embeddings, metric)[0]
        order = np.lexsort((np.arange(len(corpus)), distances))[:count]
        found = index.query(query, count)
        assert [(n.distance, n.position) for n in found] == [(distances[k], k) for k in order.tolist()]


def test_ties_go_by_position(corpus, embeddings):
    """Document 38 is document 3 again, document 39 is in proportion to document 7."""
    index = NearestDocuments(corpus, embeddings)
    assert [n.position for n in index.query(corpus[38], 2)] == [3, 38]
    assert [n.position for n in index.query(corpus[39], 2)] == [7, 39]


def test_the_bounds_spare_most_distances(embeddings):
    """Documents about different things: few of their distances are computed."""
    rng = seeded_rng(14)
    bags = [random_bag(rng, 30, WORDS[start : start + 6]) for start in range(0, 60, 6) for _ in range(10)]
    index = NearestDocuments(bags, embeddings)
    index.query(random_bag(rng, 30, WORDS[:6]), 3)
    assert index.solved <= 20


def test_the_number_of_neighbors_is_checked(corpus, embeddings):
    with pytest.raises(UsageError, match="at least 1"):
        NearestDocuments(corpus, embeddings).query(corpus[0], 0)
