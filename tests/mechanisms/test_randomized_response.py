"""Labels: the law in whole numbers, its draws, and limits of counts by its inverse."""

import math
from decimal import Context, Decimal
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binom, chi2

import publius
from publius.classifiers.classifier import Classifier
from publius.errors import PolicyError, UsageError
from publius.mechanisms.mechanism import TOTAL
from publius.mechanisms.randomized_response import _limits, least_weight
from publius.noise.randomness import RunKey, seeded_rng


class Lengths(Classifier):
    """A text is how many characters it has, up to M - 1."""

    kind, name, sha256 = "python", "lengths", "0" * 64

    def __init__(self, size):
        self.labels = (*(f"{length} long" for length in range(size - 1)), "other")

    def answers(self, texts):
        return np.array([min(len(text), len(self.labels) - 1) for text in texts], np.int64)

    def words(self, label):
        return () if label == "other" else (label, "long", "text")


def labels(size=4, epsilon=2.0, **more):
    return publius.RandomizedResponse(Lengths(size), epsilon, **more)


@given(st.floats(1e-6, 30), st.integers(2, 3000))
def test_the_law_is_whole_numbers_and_never_above_epsilon(epsilon, size):
    """All of it in exact arithmetic: the sum, the ratio, and that one less would be too much."""
    least = least_weight(epsilon, size)
    most = TOTAL - (size - 1) * least
    assert 0 < least <= most
    exact = Fraction(Context(prec=60).exp(Decimal(repr(epsilon))))  # epsilon is the decimal that is written
    assert Fraction(most, least) <= exact
    assert least == 1 or Fraction(most + size - 1, least - 1) > exact


@pytest.mark.parametrize("size", [2, 3, 21, 200])
def test_every_pair_of_documents_and_every_label_is_within_epsilon(size):
    """Exhaustively: all answers, all labels; attained."""
    mechanism = labels(size, 3.0)
    laws = np.array([mechanism.weights(answer) for answer in range(size)])
    assert (laws.sum(axis=1) == TOTAL).all()
    ratios = [Fraction(int(a), int(b)) for a, b in zip(laws.max(axis=0), laws.min(axis=0), strict=True)]
    assert float(max(ratios)) == pytest.approx(math.exp(3), rel=1e-12)
    assert max(ratios) <= Fraction(math.nextafter(math.exp(3), math.inf))
    assert mechanism.kept == pytest.approx(math.exp(3) / (math.exp(3) + size - 1))
    assert mechanism.guarantee.map() == 3.0


def test_a_number_is_a_label_as_often_as_the_law_says():
    """The draw divides the 2^62 numbers: its edges are where they must be, on both sides, for every answer."""
    mechanism = labels(4, 2.0)
    least = int(mechanism.weights(0)[1])
    for answer in range(4):
        edges = [k * least + side for k in range(1, 5) for side in (-1, 0)] + [0, TOTAL - 1]
        drawn = mechanism.drawn(np.full(len(edges), answer), np.array(edges, np.int64))
        assert drawn.tolist() == [edge // least if edge < 4 * least else answer for edge in edges]


@pytest.mark.parametrize(("size", "epsilon"), [(3, 0.5), (21, 5.0)])
def test_samples_have_the_law(size, epsilon):
    mechanism = labels(size, epsilon)
    drawn = mechanism.protect(["x"] * 20_000, range(20_000), RunKey.seeded(1))
    counts = np.bincount([mechanism.labels.index(each.label) for each in drawn], minlength=size)
    expected = mechanism.law(1) * 20_000
    assert ((counts - expected) ** 2 / expected).sum() < chi2.isf(1e-7, size - 1)


def test_a_row_is_drawn_alone():
    """Batch, order and company change nothing: a label depends on the key, the row's number and its text."""
    mechanism, key = labels(5, 1.0, bag=6), RunKey.seeded(3)
    texts = [("x" * (row % 6)) for row in range(60)]
    together = mechanism.protect(texts, range(60), key)
    assert together == [mechanism.protect([texts[row]], [row], key)[0] for row in range(60)]
    order = seeded_rng(1).permutation(60).tolist()
    mixed = mechanism.protect([texts[row] for row in order], order, key)
    assert mixed == [together[row] for row in order]
    again = mechanism.protect(texts, range(60), RunKey.seeded(4))
    assert again != together
    assert mechanism.protect([], [], key) == []


def test_a_bag_comes_from_the_label_alone():
    """Two texts whose label came out the same under one key have the same bag, word for word."""
    mechanism, key = labels(4, 1.0, bag=40), RunKey.seeded(5)
    seen = set()
    for text in ("", "x", "xx", "xxx"):
        for row, outcome in enumerate(mechanism.protect([text] * 50, range(50), key)):
            seen.add((row, outcome.label, outcome.bag))
            public = mechanism.classifier.words(outcome.label) or (outcome.label,)
            assert outcome.bag.size == 40
            assert set(outcome.bag.counts) <= set(public)
    assert len(seen) == len({each[:2] for each in seen})


def test_labels_without_a_bag_have_those_with_one():
    key = RunKey.seeded(6)
    plain, bags = (labels(4, 1.0, bag=bag).protect(["x"] * 99, range(99), key) for bag in (None, 7))
    assert [each.label for each in plain] == [each.label for each in bags]
    assert all(each.bag is None for each in plain)


def test_what_a_manifest_states_and_a_ledger_is_charged():
    mechanism = labels(4, 0.1)
    facts = mechanism.facts()
    assert (facts["epsilon"], facts["labels"], facts["bag"]) == (0.1, mechanism.labels, None)
    assert facts["classifier"] == {"name": "lengths", "kind": "python", "sha256": "0" * 64, "accuracy": None}
    assert mechanism.charge("epsilon") == Fraction(1, 10)
    with pytest.raises(PolicyError, match="--unit epsilon"):
        mechanism.charge("exponent")
    assert 1 - mechanism.kept == pytest.approx(3 / (math.exp(0.1) + 3))


@pytest.mark.parametrize(
    "wrong", [{"epsilon": 0}, {"epsilon": 31}, {"epsilon": math.nan}, {"bag": 0}, {"bag": 100_001}, {"size": 1}]
)
def test_numbers_that_do_not_exist_are_refused(wrong):
    with pytest.raises(UsageError):
        labels(**wrong)
    assert [labels(bag=bag).bag for bag in (1, 100_000)] == [1, 100_000]


# Limits of counts --------------------------------------------------------------------------------------------------


def tails(t, n, p, q):
    """P(X = r) for every r, X = Bin(t, p) + Bin(n - t, q), by convolution."""
    return np.convolve(binom.pmf(np.arange(t + 1), t, p), binom.pmf(np.arange(n - t + 1), n - t, q))


@pytest.mark.parametrize(("n", "p", "q", "size"), [(30, 0.5, 0.1, 4), (30, 0.9, 0.05, 3), (41, 0.3, 0.2, 2)])
def test_limits_are_the_exact_inverse(n, p, q, size):
    """Against every count of answers, by the whole convolution."""
    laws = [tails(t, n, p, q) for t in range(n + 1)]
    least = 0.05 / size / 2
    for released in range(n + 1):
        inside = [
            t for t, law in enumerate(laws) if law[: released + 1].sum() >= least and law[released:].sum() >= least
        ]
        assert _limits(released, n, p, q, least) == (
            (min(inside), max(inside)) if inside else (n, n) if released > n * p else (0, 0)
        )


@pytest.mark.parametrize(
    ("answers", "epsilon", "widest"),
    [((301, 699, 0), 7.0, 7), ((40, 40, 40, 40, 40), 1.0, 200), ((0, 5000), 3.0, 300), ((3, 2, 1, 0), 0.5, 6)],
)  # fmt: skip
def test_limits_cover_all_labels_together(answers, epsilon, widest):
    """200 releases of fixed documents; 1,000 declared values of which 301 are yes come out within 7 rows."""
    size, rng = len(answers), seeded_rng(7)
    mechanism = labels(size, epsilon)
    held, widths = 0, []
    for _ in range(200):
        released = sum(rng.multinomial(count, mechanism.law(k)) for k, count in enumerate(answers))
        limits = mechanism.count_limits(released.tolist())
        held += all(low <= count <= high for (low, high), count in zip(limits, answers, strict=True))
        widths.append(max(high - low for low, high in limits))
    assert held >= 0.95 * 200 - 2 * math.sqrt(200 * 0.05 * 0.95)
    assert np.mean(widths) <= widest


def test_a_million_documents_and_two_hundred_labels():
    """Near the normal approximation, and nothing takes long."""
    n, size, epsilon = 1_000_000, 200, 5.0
    mechanism = labels(size, epsilon)
    released = seeded_rng(8).multinomial(n, np.full(size, 1 / size)).tolist()
    q = float(mechanism.law(0)[1])
    p = mechanism.kept
    for count, (low, high) in zip(released, mechanism.count_limits(released), strict=True):
        guess = (count - n * q) / (p - q)
        width = 3.66 * math.sqrt(guess * p * (1 - p) + (n - guess) * q * (1 - q)) / (p - q)
        assert low == pytest.approx(guess - width, abs=0.03 * width)
        assert high == pytest.approx(guess + width, abs=0.03 * width)


def test_no_documents_have_no_counts():
    assert labels(3).count_limits([0, 0, 0]) == [(0, 0)] * 3
