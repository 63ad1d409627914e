"""Shares of epsilon, noise in every cell, limits that hold together, rows that add up."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from publius.errors import UsageError
from publius.noise.discrete_laplace import DiscreteLaplace
from publius.noise.randomness import RunKey, seeded_rng
from publius.summaries.summary import Summary
from publius.summaries.tables import NoisyTable, exact_share, histogram, shares_of, whole_rows

MADE = ("totals", "topics", "subjects")


def test_shares_are_exact():
    shares = shares_of("topics=0.7,subjects=0.2,totals=0.1", MADE)
    assert shares == {"totals": Fraction(1, 10), "topics": Fraction(7, 10), "subjects": Fraction(1, 5)}
    assert shares_of("topics=1/3", MADE) == {"topics": Fraction(1, 3)}
    assert shares_of({"topics": 0.5}, MADE) == {"topics": Fraction(1, 2)}


@pytest.mark.parametrize("made", [MADE, ("subjects",), ("topics", "subjects", "statements"), (*MADE, "statements")])
def test_the_usual_shares_are_of_what_is_made_and_sum_to_one(made):
    shares = shares_of(None, made)
    assert tuple(shares) == made
    assert sum(shares.values()) == 1


@pytest.mark.parametrize(
    ("text", "reason"),
    [("topics=0.7,subjects=0.31", "sum to 1.01"), ("topics=0", "above 0"), ("topics=-1", "above 0"),
     ("words=1", "no table 'words'"), ("statements=1", "for totals, topics, subjects"), ("topics=x", "number"),
     ("topics=1/0", "number"), ("", "written as"), ("topics=nan", "number"), ("topics=0.1,topics=0.1", "twice")],
)  # fmt: skip
def test_shares_that_do_not_exist_are_refused(text, reason):
    with pytest.raises(UsageError, match=reason):
        shares_of(text, MADE)


@pytest.mark.parametrize(("given", "exact"), [(0.1, "1/10"), ("0.1", "1/10"), ("1/3", "1/3"), (2, "2")])
def test_epsilon_is_taken_as_it_is_written(given, exact):
    assert exact_share(given, "epsilon") == Fraction(exact)


@pytest.mark.parametrize("bad", [0, -1, "nan", "inf", "x", True, None, 10**7, float("nan")])
def test_an_epsilon_that_is_none_is_refused(bad):
    with pytest.raises(UsageError, match="epsilon must be a number"):
        exact_share(bad, "epsilon")


def test_counts():
    assert histogram(np.array([0, 5, 5, 2]), (2, 3)).tolist() == [[1, 0, 1], [0, 0, 2]]
    assert histogram(np.zeros(0, np.int64), (1, 2)).tolist() == [[0, 0]]
    with pytest.raises(UsageError, match="fewer groups"):
        histogram(np.array([6]), (10**6, 10**6))


def test_every_cell_has_noise_of_the_stated_scale(topics, subjects):
    key = RunKey.seeded(1)
    of = Summary(topics, "1/2", subjects=subjects, documents_per_author=3, by=["s=a,b,c"], shares="topics=1")
    (result,) = of.draw(of.gathered([], [], {"s": []}, key), key.rng, force=True).tables.values()
    assert result.noise.scale == 12
    assert (result.values == result.noise.noisy(np.zeros((4, 5), np.int64), key.rng("summary/topics"))).all()
    assert len(set(result.values.ravel().tolist())) > 8


def test_limits_hold_together():
    truth, noise = np.arange(100).reshape(10, 10), DiscreteLaplace.protecting(2, Fraction(1))
    rng, cells, sums = seeded_rng(2), 0, 0
    for _ in range(300):
        noisy = NoisyTable(noise.noisy(truth, rng), noise, 5000)
        low, high = noisy.limits()
        cells += bool(((low <= truth) & (truth <= high)).all())
        assert low.min() >= 0
        low, high = noisy.summed(1).limits()
        sums += bool(((low <= truth.sum(axis=1)) & (truth.sum(axis=1) <= high)).all())
    assert min(cells, sums) >= 0.95 * 300 - 12


def test_no_limit_is_beyond_what_is_public():
    table = NoisyTable(np.array([-900, 50, 4000]), DiscreteLaplace(Fraction(2)), 60)
    low, high = table.limits()
    assert low.tolist()[0] == high.tolist()[0] == 0
    assert high.max() == low.max() == 60


rows = st.integers(1, 8).flatmap(
    lambda width: st.lists(st.lists(st.integers(-60, 200), min_size=width, max_size=width), min_size=1, max_size=5)
)


@given(rows, st.integers(0, 500))
def test_whole_rows_add_up(values, total):
    clean = whole_rows(np.array(values), np.full(len(values), total))
    assert clean.min() >= 0
    assert (clean.sum(axis=1) == total).all()


@given(rows)
def test_what_adds_up_already_stays(values):
    values = np.abs(np.array(values))
    assert (whole_rows(values, values.sum(axis=1)) == values).all()
