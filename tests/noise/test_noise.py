"""The noise law, its tails, and what is refused. Samples are seeded: a test fails always or never."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from densities import log_density
from publius.errors import UsageError
from publius.noise.laplace import LARGEST_EPSILON, SMALLEST_EPSILON, EuclideanLaplace, ManhattanLaplace, checked_epsilon
from publius.noise.randomness import seeded_rng, system_rng

ALPHA = 1e-6
DIMENSIONS = [1, 2, 10, 50, 100, 300]
COUNT = 20_000


@pytest.fixture(scope="module", params=DIMENSIONS, ids=lambda n: f"n={n}")
def sample(request):
    noise = EuclideanLaplace(request.param, 2.5)
    return noise, noise.sample(seeded_rng(request.param), COUNT)


def _radii(sample):
    return np.linalg.norm(sample[1], axis=1) * sample[0].epsilon


def test_radius_is_gamma(sample):
    assert stats.kstest(_radii(sample), stats.gamma(sample[0].dimension).cdf).pvalue > ALPHA


def test_mean_radius_is_n_over_epsilon(sample):
    n = sample[0].dimension
    assert abs(_radii(sample).mean() - n) < 5 * math.sqrt(n / COUNT)


def test_direction_has_no_preferred_way(sample):
    """Rayleigh: n * count * |mean direction|^2 is chi-square with n degrees of freedom."""
    directions = sample[1] / np.linalg.norm(sample[1], axis=1)[:, None]
    n = sample[0].dimension
    statistic = n * COUNT * (directions.mean(axis=0) ** 2).sum()
    assert stats.chi2(n).sf(statistic) > ALPHA


def test_direction_has_no_preferred_axis(sample):
    """Bingham: the second moments are those of the uniform law."""
    n = sample[0].dimension
    if n == 1:
        pytest.skip("one dimension has one axis")
    directions = sample[1] / np.linalg.norm(sample[1], axis=1)[:, None]
    moment = directions.T @ directions / COUNT
    statistic = COUNT * n * (n + 2) / 2 * ((moment - np.eye(n) / n) ** 2).sum()
    assert stats.chi2((n - 1) * (n + 2) / 2).sf(statistic) > ALPHA


def test_squared_coordinate_is_beta(sample):
    n = sample[0].dimension
    if n == 1:
        pytest.skip("in one dimension the squared coordinate is 1")
    squares = (sample[1][:, 0] / np.linalg.norm(sample[1], axis=1)) ** 2
    assert stats.kstest(squares, stats.beta(0.5, (n - 1) / 2).cdf).pvalue > ALPHA


def test_radius_and_direction_are_independent(sample):
    directions = sample[1][:, 0] / np.linalg.norm(sample[1], axis=1)
    assert stats.spearmanr(_radii(sample), directions).pvalue > ALPHA
    assert stats.spearmanr(_radii(sample), np.abs(directions) + 1e-9 * np.arange(COUNT)).pvalue > ALPHA


def test_draws_are_independent_of_the_previous(sample):
    radii, first = _radii(sample), sample[1][:, 0]
    assert stats.spearmanr(radii[1:], radii[:-1]).pvalue > ALPHA
    assert stats.spearmanr(first[1:], first[:-1]).pvalue > ALPHA


def test_tail_beyond_the_999_quantile(sample):
    """A radius clipped there would leave none of the 20 expected: a probability of 2e-9."""
    beyond = int((_radii(sample) > stats.gamma(sample[0].dimension).ppf(0.999)).sum())
    assert stats.binomtest(beyond, COUNT, 1e-3).pvalue > ALPHA


@pytest.mark.parametrize("quantile", [0.999, 0.99])
def test_a_clipped_radius_is_seen(quantile):
    """Power: the tail test above fails for it."""
    limit = stats.gamma(50).ppf(quantile)
    radii = np.minimum(seeded_rng(50).standard_gamma(50, COUNT), limit)
    assert stats.binomtest(int((radii > stats.gamma(50).ppf(0.999)).sum()), COUNT, 1e-3).pvalue < ALPHA


def test_a_scale_off_by_five_percent_is_seen():
    """Power: the radius test above would fail for a wrong scale."""
    radii = np.linalg.norm(EuclideanLaplace(50, 2.5 * 1.05).sample(seeded_rng(50), COUNT), axis=1) * 2.5
    assert stats.kstest(radii, stats.gamma(50).cdf).pvalue < ALPHA


def test_manhattan_coordinates_are_independent_laplace():
    sample = ManhattanLaplace(8, 2.0).sample(seeded_rng(1), COUNT)
    assert stats.kstest(sample.ravel(), stats.laplace(scale=0.5).cdf).pvalue > ALPHA
    correlations = np.corrcoef(np.hstack([sample, np.abs(sample)]).T) - np.eye(16)
    assert np.abs(correlations).max() < 6 / math.sqrt(COUNT)


@pytest.mark.parametrize("law", [EuclideanLaplace, ManhattanLaplace])
@pytest.mark.parametrize("n", [1, 2])
def test_density_integrates_to_one(law, n):
    grid = np.arange(-14, 14, 0.01) + 0.005
    points = np.stack(np.meshgrid(*[grid] * n), axis=-1).reshape(-1, n) if n == 2 else grid[:, None]
    total = np.exp(log_density(law(n, 1.5), points)).sum() * 0.01**n
    assert total == pytest.approx(1, abs=2e-4)


@pytest.mark.parametrize("n", DIMENSIONS)
def test_density_ratio_is_at_most_epsilon_times_distance(n):
    noise = EuclideanLaplace(n, 0.7)
    rng = seeded_rng(3)
    z, a, b = (rng.standard_normal((500, n)) * 5 for _ in range(3))
    loss = log_density(noise, z - a) - log_density(noise, z - b)
    assert (loss <= 0.7 * np.linalg.norm(a - b, axis=1) + 1e-9).all()


@pytest.mark.parametrize("law", [EuclideanLaplace, ManhattanLaplace])
@pytest.mark.parametrize("n", [1, 2, 10, 50, 100, 300, 768])
def test_truncated_tail_is_tiny_and_grows_with_distance(law, n):
    """Less than 2^-106 a word up to epsilon * distance = 10 was asked for; it holds up to 300 and beyond."""
    noise = law(n, 1.0)
    assert 0 < noise.truncation_delta(10) < noise.truncation_delta(100) < noise.truncation_delta(300) < 2.0**-500


@pytest.mark.parametrize(
    "value",
    [0, -1, float("nan"), float("inf"), -float("inf"), 5e-324, 1e-200, 1e7, 10**400, True, "1", None, 1j, [1.0]],
)
def test_unusable_epsilon_is_refused(value):
    with pytest.raises(UsageError, match="epsilon"):
        checked_epsilon(value)


@given(
    epsilon=st.floats(SMALLEST_EPSILON, LARGEST_EPSILON),
    n=st.integers(1, 400),
    law=st.sampled_from([EuclideanLaplace, ManhattanLaplace]),
)
def test_every_accepted_epsilon_gives_finite_float64_noise(epsilon, n, law):
    sample = law(n, epsilon).sample(system_rng(), 3)
    assert sample.dtype == np.float64
    assert sample.shape == (3, n)
    assert np.isfinite(sample).all()


def test_dimension_must_be_positive():
    with pytest.raises(UsageError):
        EuclideanLaplace(0, 1.0)


def test_the_delta_of_a_vocabulary_covers_the_worst_two_of_its_words():
    # Exact: of a word at x the part of the noise that another word's cannot reach, coordinate by coordinate.
    vectors = np.array([[0.0, 0.0, 3.0], [60.0, 1.0, 3.0], [30.0, -2.0, 2.5]])
    noise = ManhattanLaplace(3, 10.0)
    shifts = np.abs(vectors[:, None] - vectors[None, :]) * noise.epsilon
    uncovered = np.exp(np.minimum(shifts - noise._gamma.reach, 0.0)).sum(axis=2) / 2
    delta = noise.vocabulary_delta(vectors)
    assert uncovered.max() <= delta <= 2.01 * uncovered.max()
    assert delta < 1e-30 < noise.truncation_delta(float(shifts.sum(axis=2).max()) * 1.2)
