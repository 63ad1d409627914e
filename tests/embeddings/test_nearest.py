"""The nearest word is that of exact arithmetic, whatever the batch, the threads or the scale."""

import inspect
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from publius.embeddings import nearest as neighbors
from publius.embeddings.nearest import NearestWords
from publius.errors import DataError
from publius.noise.laplace import EuclideanLaplace
from publius.noise.randomness import seeded_rng


def exact_nearest(vectors, points):
    """Oracle: squared distances in float64, and rational arithmetic for all words that float64 cannot order."""
    vectors = np.asarray(vectors, np.float64)
    answer = np.empty(len(points), np.int64)
    for start in range(0, len(points), 1000):
        block = points[start : start + 1000]
        squares = ((block[:, None, :] - vectors[None, :, :]) ** 2).sum(axis=2)
        limit = squares.min(axis=1) * (1 + 1e-9) + 1e-12 * (np.abs(block).max(axis=1) + np.abs(vectors).max()) ** 2
        for row, (z, near) in enumerate(zip(block, squares <= limit[:, None], strict=True)):
            candidates = np.flatnonzero(near)
            answer[start + row] = candidates[0] if len(candidates) == 1 else _first_exact(vectors, z, candidates)
    return answer


def _first_exact(vectors, z, candidates):
    z = [Fraction(value) for value in z.tolist()]

    def distance(index):
        return sum((a - Fraction(b)) ** 2 for a, b in zip(z, vectors[index].tolist(), strict=True))

    return min(candidates.tolist(), key=lambda index: (distance(index), index))


def vocabulary(count, n, seed=1):
    return seeded_rng(seed).standard_normal((count, n), np.float32)


def near_ties(vectors, count, seed=5):
    """Points on the middle between two words that are each other's neighbours, or a few units in the last place off."""
    rng = seeded_rng(seed)
    first = rng.integers(0, len(vectors), count)
    squares = ((vectors[first, None, :].astype(np.float64) - vectors[None]) ** 2).sum(axis=2)
    squares[np.arange(count), first] = np.inf
    second = squares.argmin(axis=1)
    middle = (vectors[first].astype(np.float64) + vectors[second]) / 2
    return middle + rng.integers(-3, 4, middle.shape) * np.spacing(np.abs(middle))


def test_random_points_against_exact_arithmetic():
    vectors, rng = vocabulary(120, 6), seeded_rng(2)
    points = vectors[rng.integers(0, 120, 40_000)] + EuclideanLaplace(6, 4.0).sample(rng, 40_000)
    np.testing.assert_array_equal(NearestWords(vectors).nearest(points), exact_nearest(vectors, points))


@pytest.mark.parametrize("n", [1, 2, pytest.param(5, marks=pytest.mark.long)])
def test_near_ties_against_exact_arithmetic(n):
    vectors = vocabulary(80, n)
    points = near_ties(vectors, 3500)
    np.testing.assert_array_equal(NearestWords(vectors).nearest(points), exact_nearest(vectors, points))


@pytest.mark.parametrize("scale", [1e-30, 1e-12, 1e-3, 1e6, 1e15])
def test_unit_of_the_vectors_does_not_matter(scale):
    vectors = (vocabulary(150, 4) * np.float32(scale)).astype(np.float32)
    points = vectors[:100] + EuclideanLaplace(4, 2.0).sample(seeded_rng(3), 100) * scale
    np.testing.assert_array_equal(NearestWords(vectors).nearest(points), exact_nearest(vectors, points))


@pytest.mark.parametrize(
    "epsilon", [1e-6, *(pytest.param(each, marks=pytest.mark.long) for each in (1e-60, 1e-2, 1e-12))]
)
def test_huge_noise_still_finds_the_exact_word(epsilon):
    """The expanded squared distance in float32 is wrong for nearly all draws at epsilon 1e-6 and n = 300."""
    vectors, rng = vocabulary(30, 300), seeded_rng(4)
    points = vectors[:10] + EuclideanLaplace(300, epsilon).sample(rng, 10)
    search = NearestWords(vectors)
    exact = [search._decide_exactly(point, np.arange(30)) for point in points]
    np.testing.assert_array_equal(search.nearest(points), exact)


@pytest.mark.parametrize("size", [1e100, 1e250, 1e290, 1.7e308])
@pytest.mark.parametrize("unit", [1e-30, 1.0, 1e15])
def test_points_of_any_finite_size(size, unit):
    vectors = (vocabulary(30, 5) * np.float32(unit)).astype(np.float32)
    points = seeded_rng(4).uniform(-1, 1, (20, 5)) * size
    search = NearestWords(vectors)
    exact = [search._decide_exactly(point, np.arange(30)) for point in points]
    np.testing.assert_array_equal(search.nearest(points), exact)


QUICKLY = {(1, 1), (7, 5), (256, 2), (1000, 5)}


@pytest.mark.parametrize(("batch", "threads"), [
    pytest.param(batch, threads, marks=[] if (batch, threads) in QUICKLY else pytest.mark.long)
    for batch in (1, 7, 256, 1000) for threads in (1, 2, 5)
])  # fmt: skip
def test_batch_and_threads_change_nothing(threads, batch):
    vectors = vocabulary(5000, 12)
    points = np.vstack(
        [vectors[:700] + EuclideanLaplace(12, 5.0).sample(seeded_rng(6), 700), near_ties(vectors[:200], 300)]
    )
    search = NearestWords(vectors)
    parts = [search.nearest(points[i : i + batch], threads=threads) for i in range(0, len(points), batch)]
    np.testing.assert_array_equal(np.concatenate(parts), search.nearest(points))


def test_position_changes_nothing():
    vectors = vocabulary(500, 7)
    points = np.vstack([near_ties(vectors, 300), vectors[:100].astype(np.float64)])
    order = seeded_rng(8).permutation(len(points))
    search = NearestWords(vectors)
    np.testing.assert_array_equal(search.nearest(points)[order], search.nearest(points[order]))


def test_vocabulary_of_several_panels(monkeypatch):
    vectors = vocabulary(1000, 5)
    points = np.vstack([near_ties(vectors, 200), vectors + 0.2])
    whole = NearestWords(vectors).nearest(points)
    monkeypatch.setattr(neighbors, "_PANEL", 33)
    np.testing.assert_array_equal(NearestWords(vectors).nearest(points), whole)
    np.testing.assert_array_equal(whole, exact_nearest(vectors, points))


@pytest.mark.parametrize("n", [1, 3])
def test_equal_vectors_give_the_lowest_index(n):
    vectors = np.repeat(vocabulary(40, n), 3, axis=0)[seeded_rng(9).permutation(120)]
    found = NearestWords(vectors).nearest(vectors + 1e-6)
    np.testing.assert_array_equal(found, exact_nearest(vectors, vectors + 1e-6))
    assert len(set(found.tolist())) == 40


@settings(max_examples=60, deadline=None)
@given(
    vectors=arrays(np.float32, st.tuples(st.integers(1, 12), st.just(3)), elements=st.integers(-3, 3)),
    points=arrays(np.float64, (9, 3), elements=st.integers(-8, 8).map(lambda value: value / 2)),
)
def test_ties_on_a_grid_go_to_the_lowest_index(vectors, points):
    np.testing.assert_array_equal(NearestWords(vectors).nearest(points), exact_nearest(vectors, points))


def test_search_sees_vectors_only():
    """No argument could carry the input word."""
    assert list(inspect.signature(NearestWords.nearest).parameters) == ["self", "points", "threads"]
    assert list(inspect.signature(NearestWords.__init__).parameters) == ["self", "vectors"]


def test_one_word_and_no_points():
    search = NearestWords(vocabulary(1, 4))
    assert search.nearest(np.zeros((3, 4))).tolist() == [0, 0, 0]
    assert search.nearest(np.zeros((0, 4))).tolist() == []


@pytest.mark.parametrize("points", [np.zeros((2, 3)), np.zeros(4), np.full((1, 4), np.nan), np.full((1, 4), np.inf)])
def test_points_that_do_not_fit_are_refused(points):
    with pytest.raises(DataError):
        NearestWords(vocabulary(5, 4)).nearest(points)


@pytest.mark.parametrize("vectors", [np.zeros((0, 3)), np.zeros((3, 0)), np.zeros(3), np.full((2, 2), np.nan)])
def test_vectors_that_are_no_vocabulary_are_refused(vectors):
    with pytest.raises(DataError):
        NearestWords(vectors.astype(np.float32))
