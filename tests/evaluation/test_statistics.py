"""Intervals: the exact ones, and by simulation those that have no closed form."""

import numpy as np
import pytest
from scipy.stats import beta

from publius.errors import UsageError
from publius.noise.randomness import seeded_rng
from publius.statistics import author_mean, authors_needed, clopper_pearson


@pytest.mark.parametrize(("correct", "total", "level"), [(0, 12, 0.05), (3, 40, 0.05), (7, 7, 0.01), (50, 100, 0.2)])
def test_clopper_pearson_is_the_two_tails_of_the_binomial(correct, total, level):
    found = clopper_pearson(correct, total, level)
    low = beta.ppf(level / 2, correct, total - correct + 1) if correct else 0
    high = beta.ppf(1 - level / 2, correct + 1, total - correct) if correct < total else 1
    assert (found.value, found.low, found.high) == pytest.approx((correct / total, low, high))


def test_no_interval_for_nothing():
    with pytest.raises(UsageError, match="no interval"):
        clopper_pearson(1, 0)
    with pytest.raises(UsageError, match="no interval"):
        author_mean([], [])


def test_one_hit_or_miss_an_author_is_clopper_pearson():
    hits = [1, 0, 0, 1, 0, 0, 0, 0]
    assert author_mean(hits, range(8)) == clopper_pearson(2, 8)


def test_gaffke_is_clopper_pearson_where_all_authors_missed():
    assert author_mean([0.0] * 24, [n // 2 for n in range(24)]).high == pytest.approx(
        clopper_pearson(0, 12).high, abs=1e-5
    )
    assert author_mean([0.0] * 12, range(12), ends=(-1, 1)).high == pytest.approx(clopper_pearson(0, 12).high, abs=1e-5)


def test_draws_are_no_independent_trials():
    """Twelve authors stay twelve, however often their texts are drawn."""
    once = author_mean([0.5] * 12, range(12))
    assert once.high - once.low > 0.2


def test_a_difference_may_reach_minus_one():
    assert author_mean([0.0] * 12, range(12), ends=(-1, 1)).low < -0.2


@pytest.mark.parametrize("kind", ["hits", "texts", "differences", "draws"])
def test_intervals_cover_in_simulation(kind):
    rng, missed, runs = seeded_rng(7), 0, 250
    for _ in range(runs):
        if kind == "hits":
            share = 0.05
            missed += not (lambda i: i.low <= share <= i.high)(author_mean(rng.random(12) < share, range(12)))
        elif kind == "texts":  # several texts each, alike within an author
            sizes = rng.integers(1, 6, 20)
            own = rng.random(20) < 0.2
            values = np.repeat(own, sizes).astype(float)
            found = author_mean(values, np.repeat(np.arange(20), sizes).tolist())
            missed += not found.low <= 0.2 <= found.high
        elif kind == "differences":
            values = (rng.random(15) < 0.3).astype(float) - (rng.random(15) < 0.3)
            found = author_mean(values, range(15), ends=(-1, 1))
            missed += not found.low <= 0 <= found.high
        else:  # shares of ten draws each; the authors' own rates differ
            values = rng.binomial(10, rng.beta(0.5, 4.5, 30)) / 10
            found = author_mean(values, range(30))
            missed += not found.low <= 0.1 <= found.high
    assert missed / runs <= 0.05 + 3 * np.sqrt(0.05 * 0.95 / runs)


def test_a_level_divided_gives_a_wider_interval():
    values = [0, 1, 0, 0, 1, 0, 0, 0, 0, 0.5]
    plain, careful = author_mean(values, range(10)), author_mean(values, range(10), level=0.05 / 6)
    assert careful.low < plain.low
    assert careful.high > plain.high


def test_authors_needed_is_where_all_misses_show_it():
    assert authors_needed(0.05) == 72  # 0.95^72 <= 0.025
    assert author_mean([0] * 72, range(72)).high <= 0.05 < author_mean([0] * 71, range(71)).high
    assert authors_needed(0.0) is None
    assert authors_needed(1.0) == 1
    assert authors_needed(0.05, 0.05 / 4) > 72
