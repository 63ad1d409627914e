"""Noisy vectors on a public grid: what it does, what it costs, and that low bits tell nothing."""

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from publius.noise.laplace import NOISES, EuclideanLaplace, ManhattanLaplace
from publius.noise.randomness import seeded_rng

EPSILONS = st.floats(1e-100, 1e6)


def excluded(law, noisy, epsilon, rows=8_000):
    """Mironov 2012: the share of outputs for which no float of noise leads from a neighbor 0.35 away to them."""
    rng = seeded_rng(24)
    first, way = rng.standard_normal((2, 50))
    word = (0.6 * first).astype(np.float32).astype(float)
    other = (word + 0.35 * way / np.linalg.norm(way)).astype(np.float32).astype(float)
    seen = noisy(np.tile(word, (rows, 1)), law.sample(rng, rows))
    places, found = np.tile(other, (rows, 1)), np.zeros(seen.shape, bool)
    for side in (-np.inf, np.inf):
        noise = seen - places
        for _ in range(4):
            found |= noisy(places, noise) == seen
            noise = np.nextafter(noise, side)
    return 1 - found.all(axis=1).mean()


@pytest.mark.parametrize("epsilon", [1.0, 5.0])
def test_the_low_bits_exclude_no_neighbor(epsilon):
    """The attack on the representable numbers: without the grid it succeeds."""
    law = EuclideanLaplace(50, epsilon)
    assert excluded(law, law.grid.sum, epsilon) == 0
    assert excluded(law, np.add, epsilon) > 0.1
    seen = law.grid.sum(seeded_rng(1).standard_normal((99, 50)), law.sample(seeded_rng(2), 99)) / law.grid.spacing
    assert (np.rint(seen) == seen).all()


@settings(deadline=None)
@given(EPSILONS, st.integers(1, 1000), st.sampled_from(sorted(NOISES)))
def test_the_grid_is_public_and_cheap(epsilon, dimension, metric):
    grid = NOISES[metric](dimension, epsilon).grid
    assert math.frexp(grid.spacing)[0] == 0.5
    assert 0 < grid.loss < 0.04
    twice = NOISES[metric](dimension, 2 * epsilon).grid if epsilon <= 5e5 else None
    assert twice is None or (2 * twice.spacing, twice.loss) == (grid.spacing, grid.loss)


@pytest.mark.parametrize("noise", [EuclideanLaplace(300, 10.0), ManhattanLaplace(300, 10.0), EuclideanLaplace(1, 1e6)])
def test_the_loss_is_what_is_derived(noise):
    """The three costs, each added up exactly; the last from its series, which is below it."""
    n, grid = noise.dimension, noise.grid
    epsilon, spacing = Fraction(noise.epsilon), Fraction(grid.spacing)
    moved = (Fraction(n, 2) + 32) * Fraction(noise._gamma.reach) / 2**53 / epsilon
    diagonal = Fraction(math.sqrt(n) if noise.metric_name == "euclidean" else n)
    part = 2 * moved / spacing
    assert part < Fraction(1, 1000)
    widened = 2 * n * (part + part**3 / 3 + part**5 / 5)
    least = epsilon * diagonal * spacing + 2 * epsilon * moved * diagonal + widened
    assert least < Fraction(grid.loss) < least * (1 + Fraction(1, 10**9))


@settings(deadline=None)
@given(st.lists(st.floats(allow_nan=False, allow_infinity=False), min_size=3, max_size=3), st.floats(1e-3, 1e3))
def test_the_sum_is_exact_and_the_vector_only_moves_it(row, epsilon):
    noise = EuclideanLaplace(3, epsilon)
    grid, drawn = noise.grid, noise.sample(seeded_rng(1), 50)
    seen, still = grid.sum(np.array([row]), drawn), grid.sum(np.zeros((1, 3)), drawn)
    place = grid.indices(np.array([row]))
    for vector, other in zip(seen.ravel(), still.ravel(), strict=True):
        assert (Fraction(vector) / Fraction(grid.spacing)).denominator == 1
        assert abs(other) <= 2.0**40 * grid.spacing
    exact = [Fraction(a) - Fraction(b) for a, b in zip(seen.ravel().tolist(), still.ravel().tolist(), strict=True)]
    moved = [Fraction(index) * Fraction(grid.spacing) for index in np.tile(place, (50, 1)).ravel().tolist()]
    assert exact == moved


def test_what_is_beyond_the_range_is_clamped():
    grid = EuclideanLaplace(2, 1e6).grid
    seen = grid.sum(np.array([[1e300, -1e18]]), np.zeros((1, 2)))
    assert seen.tolist() == [[2.0**51 * grid.spacing, -(2.0**51) * grid.spacing]]


def test_on_a_line_the_exact_law_keeps_the_bound():
    """Every output's probability in closed form, for places across a cell and pairs up to many cells apart."""
    noise = EuclideanLaplace(1, 2.0)
    grid = noise.grid
    step = noise.epsilon * grid.spacing

    def log_probability(index):
        if index == 0:
            return math.log(-math.expm1(-step / 2))
        return -step * abs(index) + math.log(math.sinh(step / 2))

    rng = seeded_rng(7)
    for x, gap in zip(rng.uniform(-3, 3, 300), rng.choice([1e-9, 1e-7, 1e-3, 1.0], 300), strict=True):
        places = grid.indices(np.array([x, x + gap])).tolist()
        exponent = noise.epsilon * gap + grid.loss
        for output in (*places, 0, places[0] - 10**6, places[1] + 10**6):
            gain = log_probability(output - places[0]) - log_probability(output - places[1])
            assert abs(gain) <= exponent
