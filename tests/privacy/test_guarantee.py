"""Guarantees: what they bound between two documents, and that every rounding is on the safe side."""

import math
from decimal import Decimal, getcontext
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from publius.distances.earth_mover import transport_plan
from publius.errors import PolicyError, UsageError
from publius.privacy.guarantee import Guarantee, exact_epsilon, factor, posterior_at_most, total_exponent
from publius.privacy.promise import between, factor_text, number, on_average, outward, percent, rounded_up
from publius.text.bag import Bag

EPSILONS = st.floats(1e-6, 1e3)
DISTANCES = st.floats(0, 1e4, allow_subnormal=False)
EXPONENTS = st.floats(0, 600, allow_subnormal=False)


def guarantee(epsilon=0.5, size=4, **more):
    return Guarantee(epsilon, "euclidean", "proven", **more).lifted(size)


def exact_exp(value):
    getcontext().prec = 50
    return Decimal(value).exp()


@pytest.mark.parametrize(("epsilon", "expected"), [(0.0625, 2.02), (0.03125, 1.42)])
def test_the_worked_example_of_the_paper(epsilon, expected):
    exponent = guarantee(epsilon, 4).map(2.816)
    assert exponent == epsilon * 4 * 2.816
    assert round(factor(exponent), 2) == expected


@given(EPSILONS, st.integers(1, 10_000), DISTANCES)
def test_the_exponent_is_the_next_float64_from_above(epsilon, size, distance):
    exponent = guarantee(epsilon, size).map(distance)
    exact = exact_epsilon(epsilon) * size * Fraction(distance)
    assert Fraction(exponent) >= exact
    assert exponent == 0 or Fraction(math.nextafter(exponent, 0)) < exact


@given(EXPONENTS)
def test_a_factor_is_rounded_up(exponent):
    assert Decimal(factor(exponent)) >= exact_exp(exponent)
    assert factor(exponent) <= float(exact_exp(exponent)) * (1 + 1e-15)


@given(st.floats(0, 50, allow_subnormal=False), st.integers(1, 10**6))
def test_the_posterior_is_that_of_bayes_rounded_up(exponent, candidates):
    odds = exact_exp(exponent) / max(candidates - 1, 1)
    bayes = Decimal(1) if candidates == 1 else odds / (1 + odds)
    assert Decimal(posterior_at_most(exponent, candidates)) >= bayes * (1 - Decimal("1e-45"))
    assert posterior_at_most(exponent, candidates) <= float(bayes) * (1 + 1e-14)


@given(st.floats(0.01, 100), st.integers(1, 10**5))
def test_epsilon_is_the_decimal_that_is_written(epsilon, size):
    total = Fraction(repr(guarantee(epsilon, size).epsilon_total))
    assert total >= Fraction(repr(epsilon)) * size
    assert total <= Fraction(repr(epsilon)) * size * (1 + Fraction(1, 2**51))


def test_tenths_add_up():
    assert guarantee(0.1, 40).epsilon_total == 4.0


def test_between_two_documents(embeddings):
    plan = transport_plan(Bag({"river": 3, "forest": 1}), Bag({"river": 1, "meadow": 3}), embeddings)
    assert guarantee(0.5, 4).map(plan.distance_upper) >= 0.5 * 4 * plan.distance
    assert guarantee(0.5, 4).map(plan.distance_upper) == pytest.approx(2 * plan.distance, rel=1e-12)


def test_order_kept_gives_the_weaker_bound():
    """A sum of distances as vectors, N times the mean as bags."""
    assert guarantee(0.5, 2).map(7.0) == 7.0
    assert guarantee(0.5, 2, ordered=True).map(7.0) == 3.5


def test_without_evidence_there_is_no_bound():
    assert Guarantee(0.1, "euclidean", "none").map(1.0) == math.inf


@pytest.mark.parametrize("distance", [-1.0, math.nan])
def test_a_distance_that_is_none_is_refused(distance):
    with pytest.raises(UsageError):
        guarantee().map(distance)


def test_corollary_1():
    assert guarantee().under("manhattan").metric == "manhattan"
    assert guarantee().under("euclidean") == guarantee()
    with pytest.raises(PolicyError, match="not known"):
        Guarantee(0.1, "manhattan", "proven").under("euclidean")


def test_labels_are_free_of_distances():
    labels = Guarantee(5.0, None, "proven", size=1)
    assert (labels.map(), labels.map(0.01), labels.epsilon_total) == (5.0, 5.0, 5.0)
    assert Guarantee(5.0, "euclidean", "proven").map() == math.inf


@given(st.lists(EXPONENTS, max_size=8))
def test_exponents_of_documents_add_up_from_above(exponents):
    assert Fraction(total_exponent(exponents)) >= sum(map(Fraction, exponents), Fraction(0))


def test_a_bad_exponent_is_not_added():
    with pytest.raises(UsageError):
        total_exponent([1.0, math.nan])
    assert total_exponent([1.0, math.inf]) == math.inf


@pytest.mark.parametrize(
    ("exponent", "text"),
    [(0.0, "1"), (0.704, "2.03"), (5.0, "149"), (20_000.0, "exp(20,000)"), (math.inf, "without limit")],
)
def test_the_factor_in_words(exponent, text):
    assert factor_text(exponent) == text


def test_beyond_float64_there_is_no_factor():
    assert factor(709.0) < factor(710.0) == math.inf


@given(st.floats(1e-9, 1e12), st.integers(1, 6))
def test_a_limit_for_people_is_never_below_the_number(value, digits):
    said = Decimal(rounded_up(value, digits).replace(",", ""))
    exact = Decimal(repr(value))  # a float is the decimal that is written
    assert exact <= said <= exact * (1 + 10 ** Decimal(1 - digits)) + Decimal("1e-11")


@given(st.floats(0, 1))
def test_percentages_that_are_limits_are_never_below(share):
    assert Decimal(percent(share, up=True).split()[0]) >= Decimal(repr(share)) * 100


@pytest.mark.parametrize(("value", "text"), [(1000, "1,000"), (0.25, "0.25"), (12345.678, "12,346"), (2.0, "2")])
def test_numbers_for_people(value, text):
    assert number(value) == text


def test_what_one_row_tells_on_average_is_the_best_guess():
    """By brute force: k candidates, one of each answer as far as the labels go; the likeliest is named."""
    epsilon, labels = 2.0, 4
    z = math.exp(epsilon) + labels - 1
    for candidates in (2, 4, 9):
        answers = [place % labels for place in range(candidates)]
        laws = [[math.exp(epsilon) / z if k == a else 1 / z for k in range(labels)] for a in answers]
        best = sum(max(law[k] for law in laws) for k in range(labels)) / candidates
        assert on_average(epsilon, labels, candidates) == pytest.approx(best)


def test_limits_for_people_are_rounded_to_the_safe_side():
    assert (rounded_up(148.4132), rounded_up(0.7310586, 2), rounded_up(1e-6)) == ("149", "0.74", "0.000001")
    assert (outward(20.68, 27.1), outward(-0.3, 0.12, 1)) == ((20.0, 28.0), (-0.3, 0.2))
    assert between(0.2068, 0.326) == "20 % to 33 %"
    assert (percent(0.1187), percent(0.99331, up=True), percent(0.001)) == ("12 %", "99.34 %", "0.1 %")
