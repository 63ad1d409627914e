"""Shares of epsilon, noise in every cell, tables that add up, accuracy beforehand."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from publius.collections.accuracy import accuracy, epsilon_for, sums_say_something, themes_that_pay
from publius.collections.tables import (
    NoisyTable,
    Shares,
    estimated_totals,
    histogram,
    noisy_table,
    reconciled,
)
from publius.errors import DataError, UsageError
from publius.noise.discrete_laplace import DiscreteLaplace
from publius.noise.randomness import seeded_rng

NOISE = DiscreteLaplace(Fraction(2))


def table(values, noise=NOISE):
    return NoisyTable(np.array(values, np.int64), noise)


def test_shares_are_exact():
    shares = Shares.parse("themes=0.7,subjects=0.2,totals=0.1")
    assert shares.epsilon(Fraction(1), "themes") == Fraction(7, 10)
    assert sum(shares.parts.values()) == 1
    assert Shares.parse("themes=1/3").epsilon(Fraction(2), "themes") == Fraction(2, 3)
    assert Shares.parse("themes=1").epsilon(Fraction(2), "subjects") is None


@pytest.mark.parametrize(
    ("text", "reason"),
    [("themes=0.7,subjects=0.31", "sum to 1.01"), ("themes=0", "greater than 0"), ("themes=-1", "greater than 0"),
     ("words=1", "totals, themes, subjects"), ("themes=x", "written as"), ("themes=1/0", "written as"),
     ("", "written as"), ("themes=nan", "written as"), ("themes=0.1,themes=0.1", "twice")],
)  # fmt: skip
def test_shares_that_do_not_exist_are_refused(text, reason):
    with pytest.raises(UsageError, match=reason):
        Shares.parse(text)


def test_counts():
    assert histogram(np.array([0, 5, 5, 2]), (2, 3)).tolist() == [[1, 0, 1], [0, 0, 2]]
    assert histogram(np.zeros(0, np.int64), (1, 2)).tolist() == [[0, 0]]
    with pytest.raises(DataError, match="does not have"):
        histogram(np.array([6]), (2, 3))
    with pytest.raises(UsageError, match="fewer strata"):
        histogram(np.array([6]), (10**6, 10**6))


def test_noise_is_for_the_replacement_of_an_author():
    counts = np.zeros((4, 5), np.int64)
    result = noisy_table(counts, epsilon=Fraction(1, 2), per_author=3, rng=seeded_rng(1))
    assert result.noise.scale == 12
    assert (result.values == result.noise.noisy(counts, seeded_rng(1))).all()
    assert len(set(result.values.ravel().tolist())) > 8


def test_intervals_come_from_raw_counts_and_hold_together():
    truth = np.arange(100).reshape(10, 10)
    rng, together, each, sums = seeded_rng(2), 0, 0, 0
    for _ in range(400):
        noisy = noisy_table(truth, epsilon=Fraction(1), per_author=1, rng=rng)
        low, high = noisy.intervals()
        together += bool(((low <= truth) & (truth <= high)).all())
        low, high = noisy.intervals(simultaneous=False)
        each += ((low <= truth) & (truth <= high)).mean()
        assert low.min() >= 0
        _, low, high = noisy.sums(axis=1)
        sums += bool(((low <= truth.sum(axis=1)) & (truth.sum(axis=1) <= high)).all())
    assert together >= 0.95 * 400 - 13
    assert sums >= 0.95 * 400 - 13
    assert 0.95 <= each / 400 < 0.985


def test_sums_of_no_dimension():
    value, low, high = NoisyTable(np.array([3, 4, 5]), NOISE).sums(axis=0)
    assert int(low) < int(value) == 12 < int(high)


rows = st.integers(1, 8).flatmap(
    lambda width: st.lists(
        st.lists(st.integers(-60, 200), min_size=width, max_size=width), min_size=1, max_size=5
    )
)


@given(rows)
def test_reconciled_rows_add_up_to_their_totals(values):
    noisy = table(values)
    clean = reconciled(noisy)
    assert clean.min() >= 0
    assert clean.dtype == np.int64
    assert (clean.sum(axis=1) == estimated_totals(noisy)).all()
    assert (estimated_totals(noisy) == np.maximum(noisy.values.sum(axis=1), 0)).all()


@given(rows)
def test_what_adds_up_already_stays(values):
    values = np.abs(np.array(values))
    assert (reconciled(table(values)) == values).all()


def test_reconciling_adds_no_documents():
    """Cutting at 0 cell by cell adds half of the noise of all empty cells."""
    counts = np.zeros((20, 200), np.int64)
    counts[:, :4] = 50
    noisy = noisy_table(counts, epsilon=Fraction(1), per_author=1, rng=seeded_rng(4))
    assert np.maximum(noisy.values, 0).sum() > counts.sum() + 2000
    assert reconciled(noisy).sum() == pytest.approx(
        counts.sum(), abs=4 * np.sqrt(4000) * noisy.noise.deviation
    )
    totals = noisy_table(counts.sum(axis=1), epsilon=Fraction(1), per_author=1, rng=seeded_rng(5))
    assert reconciled(noisy, totals).sum() == pytest.approx(
        counts.sum(), abs=4 * np.sqrt(20) * totals.noise.deviation
    )


def test_totals_of_their_own_weigh_as_much_as_they_know():
    noisy, totals = table([[10, 30]]), table([100])
    assert estimated_totals(noisy, totals).tolist() == [80]  # variances 2 and 1: (40 + 2 * 100) / 3
    assert reconciled(noisy, totals).sum() == 80
    with pytest.raises(UsageError, match="one total for each"):
        estimated_totals(noisy, table([1, 2]))


# Accuracy -----------------------------------------------------------------------------------------------------------


def test_accuracy_of_public_numbers():
    found = accuracy(2000, 400, Fraction(1))
    assert found.count_95 == NOISE.half_width() == 6
    assert found.all_95 == NOISE.half_width(cells=400)
    assert found.count_95 < found.all_95 < found.difference_95 < 2 * found.all_95
    assert found.share_95 == (found.difference_95 + 1) / 2000
    assert not found.says_nothing
    assert accuracy(100, 1000, Fraction(1)).says_nothing
    assert (
        accuracy(2000, 400, Fraction(1), documents_per_author=3).count_95
        == DiscreteLaplace(Fraction(6)).half_width()
    )


def test_sums_can_be_told_apart_where_no_cell_can():
    """4,571 authors, 21 strata, 52 themes: strata have some 200 documents each, cells 4."""
    epsilon = Fraction(7, 10)
    assert accuracy(4571, 21 * 52, epsilon).says_nothing
    assert sums_say_something(4571, (21, 52), epsilon)
    assert not sums_say_something(100, (21, 52), epsilon)
    assert not sums_say_something(10, (1, 1), epsilon)


@pytest.mark.parametrize("width", [1, 6, 50, 12345])
def test_the_epsilon_of_a_wanted_accuracy(width):
    epsilon = epsilon_for(width)
    assert DiscreteLaplace(2 / epsilon).half_width() <= width
    assert DiscreteLaplace(2 / (epsilon * Fraction(98, 100))).half_width() > width
    assert epsilon_for(width, cells=400) > epsilon


def test_how_many_themes_pay():
    assert themes_that_pay(Fraction(1), 4570, 21) == 109
    assert themes_that_pay(Fraction(1, 2), 100, 20) == 2


@pytest.mark.parametrize(
    "call",
    [lambda: accuracy(0, 1, Fraction(1)), lambda: accuracy(1, 0, Fraction(1)), lambda: accuracy(1, 1, Fraction(0)),
     lambda: accuracy(1, 1, Fraction(1), documents_per_author=0), lambda: epsilon_for(0),
     lambda: themes_that_pay(Fraction(1), 10, 0)],
)  # fmt: skip
def test_numbers_that_do_not_exist_are_refused(call):
    with pytest.raises(UsageError):
        call()
