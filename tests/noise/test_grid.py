"""Noisy vectors on a public grid (R24): what it does, what it costs, and that low bits tell nothing."""

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from publius.audit.implementation import GENUINE
from publius.audit.outcomes import failures
from publius.audit.vectors import check_vectors
from publius.mechanisms.kernels.laplace import Laplace
from publius.noise.laplace import NOISES, EuclideanLaplace, ManhattanLaplace
from publius.noise.randomness import RunKey, seeded_rng

EPSILONS = st.floats(1e-100, 1e6)


def test_the_low_bits_exclude_no_neighbor():
    """The audit's attack, 40,000 times; without the grid it succeeds 16 and 39 times of a hundred (see its mutants)."""
    assert failures(check_vectors(GENUINE, 40_000, RunKey.seeded(24))) == []


@settings(deadline=None)
@given(EPSILONS, st.integers(1, 1000), st.sampled_from(sorted(NOISES)))
def test_the_grid_is_public_and_cheap(epsilon, dimension, metric):
    grid = NOISES[metric](dimension, epsilon).grid
    assert math.frexp(grid.spacing)[0] == 0.5
    assert 0 < grid.loss < 0.04
    twice = NOISES[metric](dimension, 2 * epsilon).grid if epsilon <= 5e5 else None
    assert twice is None or (2 * twice.spacing, twice.loss) == (grid.spacing, grid.loss)


@pytest.mark.parametrize(
    "noise", [EuclideanLaplace(300, 10.0), ManhattanLaplace(300, 10.0), EuclideanLaplace(1, 1e6)]
)
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
@given(
    st.lists(st.floats(allow_nan=False, allow_infinity=False), min_size=3, max_size=3), st.floats(1e-3, 1e3)
)
def test_the_sum_is_exact_and_the_vector_only_moves_it(row, epsilon):
    noise = EuclideanLaplace(3, epsilon)
    grid, drawn = noise.grid, noise.sample(seeded_rng(1), 50)
    seen, still = grid.sum(np.array([row]), drawn), grid.sum(np.zeros((1, 3)), drawn)
    place = grid.indices(np.array([row]))
    for vector, other in zip(seen.ravel(), still.ravel(), strict=True):
        assert (Fraction(vector) / Fraction(grid.spacing)).denominator == 1
        assert abs(other) <= 2.0**40 * grid.spacing
    exact = [
        Fraction(a) - Fraction(b) for a, b in zip(seen.ravel().tolist(), still.ravel().tolist(), strict=True)
    ]
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


def test_the_bound_between_arrays_counts_the_grid(embeddings):
    mechanism = Laplace(embeddings, epsilon=2.0)
    bound = mechanism.vectors_bound([0.35, 0.0, 1.0])
    loss = EuclideanLaplace(embeddings.dimension, 2.0).grid.loss
    assert bound.exponent == pytest.approx(2.7 + 3 * loss, abs=1e-12)
    assert bound.exponent >= Fraction(27, 10) + 3 * Fraction(loss)
    assert 0 < bound.delta < 1e-200
    assert mechanism.vectors_bound([]).exponent == 0
