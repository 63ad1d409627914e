"""Algorithm 1 on a bag of vectors: unordered, on the grid, no vocabulary, and its bound."""

import math

import numpy as np
import pytest
from scipy.stats import gamma, kstest

import publius
from publius.errors import DataError, UsageError
from publius.mechanisms.vector_bags import bag_bound
from publius.noise.laplace import NOISES, AbstractNoise, Grid, loss_of
from publius.noise.randomness import seeded_rng


def vectors(count=30, dimension=4):
    return seeded_rng(3).normal(size=(count, dimension))


@pytest.mark.parametrize("metric", ["euclidean", "manhattan"])
def test_the_noise_has_the_law_of_algorithm_one(metric):
    """40,000 copies of one vector: the lengths of what was added are gamma distributed, n = 3."""
    noisy = publius.randomize_bag(np.full((40_000, 3), 0.5), metric, 2.0, rng=seeded_rng(1)) - 0.5
    lengths = np.linalg.norm(noisy, axis=1, ord=2 if metric == "euclidean" else 1)
    assert kstest(lengths, gamma(3, scale=0.5).cdf).pvalue > 1e-6
    assert abs(noisy.mean(axis=0)).max() < 0.05


def test_what_comes_back_has_no_order():
    """Rows far apart would tell from their places which vector each came from."""
    given = np.arange(40.0)[:, None] * [1000.0, -1000.0]
    there, back = (publius.randomize_bag(each, "euclidean", 1.0) for each in (given, given[::-1]))
    for found in (there, back):
        assert found.tolist() == sorted(found.tolist())
        np.testing.assert_allclose(found, given, atol=400)


def test_no_zero_has_a_sign(monkeypatch):
    monkeypatch.setattr(AbstractNoise, "grid", Grid(1.0, 0.0))
    found = publius.randomize_bag(np.zeros((2000, 1)), "euclidean", 1e6)
    assert not np.signbit(found[found == 0]).any()


def test_every_number_is_on_the_public_grid():
    own = NOISES["euclidean"](4, 2.0).grid
    found = publius.randomize_bag(vectors(), "euclidean", 2.0)
    assert (found / own.spacing == np.rint(found / own.spacing)).all()


def test_each_run_draws_anew():
    one, other = (publius.randomize_bag(vectors(), "euclidean", 2.0) for _ in range(2))
    assert (one != other).all()


@pytest.mark.parametrize(("metric", "epsilon"), [("euclidean", 1.0), ("manhattan", 30.0)])
def test_its_bound_is_epsilon_n_e_and_the_grid(metric, epsilon):
    stated = bag_bound(0.25, 10, 4, metric, epsilon)
    assert bag_bound(0.25, 10, 4, metric) == bag_bound(0.25, 10, 4, metric, 1.0)
    loss = NOISES[metric](4, epsilon).grid.loss
    assert stated.exponent == pytest.approx(epsilon * 10 * 0.25 + 10 * loss, rel=1e-12)
    assert stated.exponent >= epsilon * 10 * 0.25
    assert 0 < stated.delta < 1e-30


def test_the_law_of_a_coarse_grid_keeps_the_bound():
    """One vector on a line, cells of 1/4: every cell of the exact law, from each of two points."""
    epsilon, spacing = 2.0, 0.25
    cells = np.arange(-80, 81) * spacing

    noise = NOISES["euclidean"](1, epsilon)
    loss = loss_of(spacing * epsilon, 1, 1.0, noise._gamma.reach)

    def law(at):
        start = Grid(spacing, 0.0).indices(np.array([at]))[0] * spacing
        edges = np.concatenate([cells - spacing / 2, [cells[-1] + spacing / 2]]) - start
        cdf = np.where(edges < 0, np.exp(-epsilon * abs(edges)) / 2, 1 - np.exp(-epsilon * abs(edges)) / 2)
        below = np.where(edges < 0, cdf, 0.0)
        above = np.where(edges > 0, np.exp(-epsilon * abs(edges)) / 2, 0.0)
        inside = np.diff(cdf)
        return np.where(edges[1:] <= 0, np.diff(below), np.where(edges[:-1] >= 0, -np.diff(above), inside))

    for x, y in [(0.1, 0.13), (0.12, 0.13), (0.0, 1.0), (-0.37, 0.38)]:
        ratio = np.abs(np.log(law(x)) - np.log(law(y))).max()
        assert ratio <= epsilon * abs(x - y) + loss


@pytest.mark.parametrize(
    "wrong", [[1.0, 2.0], [[1.0], [2.0, 3.0]], [[math.nan]], [[math.inf]], [], [["a"]], np.zeros((0, 3))]
)
def test_what_is_no_bag_of_vectors_is_refused(wrong):
    with pytest.raises(DataError):
        publius.randomize_bag(wrong, "euclidean", 1.0)


@pytest.mark.parametrize(
    "wrong", [("cosine", 1.0), ("euclidean", 0.0)],
)  # fmt: skip
def test_what_cannot_be_noise_is_refused(wrong):
    with pytest.raises(UsageError):
        publius.randomize_bag([[1.0, 2.0]], *wrong)
