"""Intervals cover what they say."""

import numpy as np
import pytest
from scipy.stats import binom

from publius.errors import UsageError
from publius.evaluation.statistics import bootstrap_mean, clopper_pearson
from publius.noise.randomness import seeded_rng


@pytest.mark.parametrize("total", [1, 7, 20, 50])
def test_exact_interval_by_its_definition(total):
    """At each limit the tail beyond what was counted has probability 2.5 %."""
    for correct in range(total + 1):
        found = clopper_pearson(correct, total)
        assert (
            found.low == 0
            if correct == 0
            else binom.sf(correct - 1, total, found.low) == pytest.approx(0.025)
        )
        assert (
            found.high == 1
            if correct == total
            else binom.cdf(correct, total, found.high) == pytest.approx(0.025)
        )


@pytest.mark.parametrize(("correct", "total"), [(-1, 5), (6, 5), (0, 0)])
def test_no_interval(correct, total):
    with pytest.raises(UsageError):
        clopper_pearson(correct, total)


def test_bootstrap_covers_the_mean():
    """80 experiments of 60 documents and 5 repeats: 95 % intervals miss the truth rarely (8 or fewer: 0.98)."""
    rng = seeded_rng(7)
    missed = 0
    for _ in range(80):
        chances = np.clip(rng.normal(0.3, 0.2, 60), 0, 1)
        hits = rng.random((5, 60)) < chances
        found = bootstrap_mean(hits, rng, draws=400)
        missed += not found.low <= 0.3019 <= found.high  # the mean of the clipped normal
    assert missed <= 12


def test_repeats_are_no_independent_trials():
    """The same hits ten times say no more than once."""
    hits = seeded_rng(8).random((1, 50)) < 0.4
    once, ten = (bootstrap_mean(np.repeat(hits, n, axis=0), seeded_rng(9)) for n in (1, 10))
    assert once == ten


def test_all_hits_leave_room():
    assert bootstrap_mean(np.ones((3, 20)), seeded_rng(1)) == clopper_pearson(20, 20)
