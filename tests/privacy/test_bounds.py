"""The bounds of docs/theory.md section 4: against exact sums, and which of them a simulation bears out."""

import math
from decimal import Decimal, getcontext

import numpy as np
import pytest

from densities import log_density
from publius.errors import UsageError
from publius.noise.laplace import EuclideanLaplace
from publius.noise.randomness import seeded_rng
from publius.privacy.bounds import displacement_quantile, lower_bound, lower_bound_after_nearest, paper_bound_refuted


def poisson_tail(shape, value):
    """1 - exp(-y) * sum of y^k/k! for k < shape, in 60 digits."""
    getcontext().prec = 60
    y, term, total = Decimal(value), Decimal(1), Decimal(0)
    for k in range(shape):
        total += term
        term = term * y / (k + 1)
    return float(1 - (-y).exp() * total)


def test_the_counterexample_of_the_issue():
    case = {"epsilon": 1, "size": 2, "dimension": 1, "distance": 0.15}
    assert round(paper_bound_refuted(**case), 3) == 0.259
    assert round(lower_bound(**case), 3) == 0.037
    assert 1 / math.e >= 1 * 2 * 0.15  # where the paper states it: epsilon N distance at most n / e


def test_a_simulation_refutes_the_printed_bound_and_not_ours():
    """200,000 bags that repeat one word twice, n = 1: there E is exactly the mean noise length."""
    noise = EuclideanLaplace(1, 1.0).sample(seeded_rng(1), 400_000)
    share = (np.abs(noise).reshape(-1, 2).mean(axis=1) <= 0.15).mean()
    assert share == pytest.approx(lower_bound(1, 2, 1, 0.15), abs=5 * math.sqrt(0.037 / 200_000))
    assert share < paper_bound_refuted(1, 2, 1, 0.15) / 6


@pytest.mark.parametrize("size", [1, 2, 40])
@pytest.mark.parametrize("dimension", [1, 3, 50])
@pytest.mark.parametrize("distance", [0.05, 0.7, 3.0, 60.0])
def test_bounds_against_exact_sums(size, dimension, distance):
    y = 1.5 * size * distance
    shape = size * dimension
    assert lower_bound(1.5, size, dimension, distance) == pytest.approx(poisson_tail(shape, y), rel=1e-9, abs=1e-40)
    after = poisson_tail(shape, y / 2)
    assert lower_bound_after_nearest(1.5, size, dimension, distance) == pytest.approx(after, rel=1e-9, abs=1e-40)
    paper = poisson_tail(dimension, y)
    assert paper_bound_refuted(1.5, size, dimension, distance) == pytest.approx(paper, rel=1e-9, abs=1e-40)


def test_the_printed_bound_is_right_for_one_word():
    assert paper_bound_refuted(2, 1, 7, 1.3) == lower_bound(2, 1, 7, 1.3)


@pytest.mark.parametrize("dimension", [1, 2, 3, 50])
def test_density_times_volume_is_the_power_over_the_factorial(dimension):
    radius = 0.7 * dimension
    constant = math.exp(log_density(EuclideanLaplace(dimension, 1.5), np.zeros((1, dimension)))[0])
    ball = math.pi ** (dimension / 2) / math.gamma(dimension / 2 + 1) * radius**dimension
    printed = (1.5 * radius) ** dimension / math.factorial(dimension)
    assert constant * ball == pytest.approx(printed, rel=1e-9)
    assert lower_bound(1.5, 1, dimension, radius) <= printed


@pytest.mark.parametrize("probability", [0.01, 0.5, 0.99])
def test_quantiles_invert_the_bound(probability):
    distance = displacement_quantile(20, 400, 300, probability)
    assert lower_bound(20, 400, 300, distance) == pytest.approx(probability, rel=1e-9)


@pytest.mark.parametrize(
    "change",
    [{"epsilon": 0}, {"epsilon": math.nan}, {"size": 0}, {"size": 2.5}, {"dimension": -1}, {"distance": -0.1},
     {"distance": math.nan}, {"distance": math.inf}],
)  # fmt: skip
def test_what_is_out_of_range_is_refused(change):
    for bound in (lower_bound, lower_bound_after_nearest, paper_bound_refuted):
        with pytest.raises(UsageError):
            bound(**{"epsilon": 1.0, "size": 2, "dimension": 1, "distance": 0.15, **change})


@pytest.mark.parametrize("probability", [-0.1, 1.0, math.nan])
def test_a_quantile_needs_a_probability(probability):
    with pytest.raises(UsageError):
        displacement_quantile(1, 2, 3, probability)
