"""The audit's checks pass for the genuine implementation, and their tests of fit have the size they claim."""

import math
from types import SimpleNamespace

import numpy as np
import pytest
from scipy import stats

from audit.hard_points import check_kernels
from publius.audit import timing
from publius.audit.generators import ENTROPY_FAILURES, entropy_source
from publius.audit.implementation import GENUINE
from publius.audit.lifting import bag_kernel
from publius.audit.nearest import exact_nearest, kernels
from publius.audit.outcomes import ALPHA, Check, surprise
from publius.audit.tests_of_fit import (
    log_p_binomial,
    log_p_chi_square,
    log_p_kolmogorov,
    log_p_normal,
    log_p_pearson,
    ratio_lower_bounds,
)
from publius.audit.timing import welch_t, word_classes
from publius.audit.toy_vocabularies import worlds
from publius.audit.words import check_ratios, check_words, ratios
from publius.mechanisms.kernels.laplace import Laplace
from publius.noise.randomness import RunKey, seeded_rng
from publius.vectors.nearest import NearestWords

KEY = RunKey.seeded(11)


def test_a_check_passes_up_to_its_threshold_and_never_with_nan():
    assert Check("x", 1, 1.0, 1.0).passed
    assert not Check("x", 1, math.nextafter(1, 2), 1.0).passed
    assert not Check("x", 1, math.nan, 1.0).passed
    assert Check("x", 1, math.inf, 1.0).as_json()["statistic"] is None


def test_surprise_corrects_for_the_number_of_tests():
    log_alpha = math.log(ALPHA)
    assert surprise("x", 1, log_alpha + 1e-9).passed
    assert not surprise("x", 1, log_alpha - 1e-9).passed
    assert surprise("x", 1, log_alpha - 1e-9, tests=2).passed


@pytest.mark.parametrize("z", [0.0, 1.0, -5.0, 30.0])
def test_normal_against_scipy(z):
    expected = min(0.0, math.log(2) + stats.norm.logsf(abs(z)))
    assert log_p_normal(z) == pytest.approx(expected, abs=1e-9)


def test_binomial_and_chi_square_against_scipy():
    assert log_p_binomial(30, 1000, 0.01) == pytest.approx(math.log(2 * stats.binom.sf(29, 1000, 0.01)))
    assert log_p_binomial(0, 100_000, 1e-3) < -90
    assert log_p_chi_square(50.0, 10) == pytest.approx(stats.chi2.logsf(50, 10))
    assert log_p_chi_square(1e9, 10) < -1e6


def test_kolmogorov_against_scipy():
    sample = seeded_rng(1).random(5000) ** 1.08
    assert log_p_kolmogorov(sample) == pytest.approx(
        math.log(stats.kstest(sample, "uniform").pvalue), rel=0.05
    )


def test_pearson_is_uniform_under_the_law():
    law = np.array([0.5, 0.3, 0.15, 0.04, 0.009, 0.001])
    rng = seeded_rng(3)
    p = [math.exp(log_p_pearson(rng.multinomial(5000, law).astype(float), law * 5000)) for _ in range(500)]
    assert stats.kstest(p, "uniform").pvalue > 1e-3


def test_pearson_refutes_what_is_impossible():
    assert log_p_pearson(np.array([5.0, 1.0]), np.array([6.0, 0.0])) == -math.inf


def test_ratio_bounds_cover():
    """Clopper and Pearson's bounds at alpha = 0.1 are wrong at most one time in ten."""
    rng, p, q = seeded_rng(2), 0.3, 0.05
    counts, others = rng.binomial(400, p, 2000), rng.binomial(400, q, 2000)
    trials = np.full(2000, 400.0)
    lower = ratio_lower_bounds(counts.astype(float), trials, others.astype(float), trials, 0.1)
    assert (lower > math.log(p / q)).mean() < 0.1
    assert (lower > math.log(p / q) - 1).mean() > 0.9


def test_ratio_bounds_of_extreme_counts_are_finite_or_minus_infinite():
    counts, trials = np.array([0.0, 100.0]), np.array([100.0, 100.0])
    lower = ratio_lower_bounds(counts, trials, np.array([100.0, 0.0]), trials, 1e-6)
    assert lower[0] == -math.inf
    assert 0 < lower[1] < math.inf


def test_a_ratio_beyond_the_bound_is_an_excess():
    counts = np.array([[90_000.0, 10_000.0], [50_000.0, 50_000.0]])
    bounds = np.array([[0.0, 1.0], [1.0, 0.0]])
    assert ratios(counts, bounds).excess > 0.5  # ln(0.5 / 0.1) is 1.6
    assert ratios(counts, 2 * bounds).excess < 0


@pytest.mark.parametrize("world", worlds(4), ids=lambda world: world.name)
def test_sampled_words_have_the_exact_law(world):
    assert check_words(GENUINE, world, 200_000, KEY).passed


def test_black_box_bounds_are_tight_and_never_passed():
    found = check_ratios(GENUINE, 8_000_000, KEY)
    assert [check.passed for check in found.checks] == [True, True]
    assert 0.99 <= found.figures["tightness"] <= 1


def test_exact_nearest_decides_ties_that_float64_cannot():
    vectors = np.array([[1.0], [0.0], [2.0**-60]])
    points = np.array([[2.0**-61], [2.0**-61 + 2.0**-113], [0.5], [0.5 + 2.0**-53]])
    assert exact_nearest(vectors, points).tolist() == [1, 2, 2, 0]


def test_an_entropy_source_is_put_back():
    import os

    genuine = os.urandom
    with entropy_source(ENTROPY_FAILURES[0]), pytest.raises(OSError, match="entropy"):
        os.urandom(4)
    assert os.urandom is genuine


def test_welch_sees_a_difference_and_none_where_there_is_none():
    rng = seeded_rng(5)
    a, b = rng.standard_normal((2, 300)) * 0.1 + 1
    assert abs(welch_t(a, b)) < 4.5
    assert abs(welch_t(a, b + 0.1)) > 4.5


class Clocked(Laplace):
    """A mechanism beside a made clock: what a release takes follows what ``takes`` says of its words and points."""

    def __init__(self, embeddings, takes):
        super().__init__(embeddings, epsilon=20)
        self.now, self._takes = 0.0, takes

    def apply(self, words, noise, *, threads=1):
        found = super().apply(words, noise, threads=threads)
        self.now += 1 + 0.01 * np.modf(self.now * 7.77)[0] + self._takes(words, found)
        return found


@pytest.fixture
def timed(embeddings, monkeypatch):
    def check(takes):
        mechanism = Clocked(embeddings, takes)
        monkeypatch.setattr(timing, "time", SimpleNamespace(perf_counter=lambda: mechanism.now))
        return timing.check_timing(mechanism, 20, 64, KEY, "it")

    return check


def test_what_words_take_is_found_out(timed, embeddings):
    slow = word_classes(embeddings)["outlying"]
    lengths, ends = timed(lambda words, found: 0.01 * np.isin(words, slow).mean())
    assert not lengths.passed
    assert lengths.samples == 160, "it was seen once more"
    assert ends.passed


def test_what_noisy_vectors_take_is_accused_of_nothing(timed, embeddings):
    """A search sees nothing else: here it takes the longer the further out what it finds is."""
    far = np.linalg.norm(embeddings.vectors, axis=1)
    assert all(check.passed for check in timed(lambda words, found: 0.1 * far[found].mean()))


def test_a_difference_by_chance_is_measured_again(timed, monkeypatch):
    found = iter([5, 0, -4, -6, -5, 0])
    monkeypatch.setattr(timing, "welch_t", lambda one, other: next(found))
    (lengths, ends), (again, _) = timed(lambda words, found: 0), timed(lambda words, found: 0)
    assert (lengths.samples, lengths.statistic, ends.samples, ends.statistic) == (160, 0, 40, 4)
    assert (again.samples, again.statistic, again.passed) == (160, 5, False)


def test_classes_of_words_are_what_they_say(embeddings):
    classes = word_classes(embeddings)
    lengths = np.linalg.norm(embeddings.vectors - embeddings.vectors.mean(axis=0), axis=1)
    assert lengths[classes["central"]].max() <= lengths[classes["outlying"]].min()
    assert classes["first"].max() < classes["last"].min()


def test_two_words_of_one_document_have_the_product_law():
    """The convolution of two rows: what `check_law` compares released bags with."""
    kernel = np.array([[0.9, 0.1], [0.2, 0.8]])
    assert bag_kernel(kernel, 2)[1] == pytest.approx([0.18, 0.74, 0.08])


def test_every_kernel_finds_the_same_words():
    real, hard = check_kernels(300, KEY)
    assert real.passed
    assert hard.passed
    assert real.samples == 600 * len(kernels())
    assert hard.samples >= 600 * len(kernels())


def test_a_kernel_that_finds_other_words_is_seen(monkeypatch):
    """The comparison bites: an answer that depends on the threads is counted."""
    honest = NearestWords.nearest
    monkeypatch.setattr(
        NearestWords, "nearest", lambda self, points, *, threads=1: honest(self, points) * (threads == 1)
    )
    assert [check.passed for check in check_kernels(50, KEY)] == [False, False]
