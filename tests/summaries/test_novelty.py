"""What is new: ordered by standardized excess, called new only where nothing else explains it."""

from fractions import Fraction

import numpy as np
import pytest
from scipy.stats import beta, binom

from publius.errors import UsageError
from publius.noise.discrete_laplace import DiscreteLaplace
from publius.noise.randomness import seeded_rng
from publius.summaries.novelty import Sample, novelty, share_limits

NOISE = DiscreteLaplace(Fraction(2))


def sample(counts, documents, noise=None, per_author=1):
    documents = documents if isinstance(documents, tuple) else (documents, documents)
    return Sample(np.array(counts, np.int64), documents, noise, per_author)


def test_without_noise_the_limits_are_those_of_clopper_and_pearson():
    low, high = share_limits(sample([0, 3, 100], 100), 0.01)
    assert low == pytest.approx([0, beta.ppf(0.01, 3, 98), beta.ppf(0.01, 100, 1)], rel=1e-6)
    assert high == pytest.approx([beta.isf(0.01, 1, 100), beta.isf(0.01, 4, 97), 1], rel=1e-6)


@pytest.mark.parametrize("documents", [1, 90, 4571, 10**6, 10**8])
@pytest.mark.parametrize("scale", [None, 2, 7])
def test_limits_are_where_the_probability_passes(documents, scale):
    """By another library's tails of the binomial: the closest share at which the count is still rare enough."""
    noise = None if scale is None else DiscreteLaplace(Fraction(scale))
    counts = np.array([0, 1, 5, documents // 90, documents // 2, documents - 1, documents])
    low, high = share_limits(sample(counts, documents, noise), 0.01)
    reach = 0 if noise is None else noise.half_width(1 - 1e-9)
    drawn = np.arange(-reach, reach + 1)
    chances = np.array([1.0]) if noise is None else np.array([noise.probability(int(one)) for one in drawn])

    def rarely(share, sign):
        """P(a count at least as large, or as small, as the one seen), cell by cell."""
        tails = binom.sf(counts[:, None] - drawn - 1, documents, share[:, None])
        below = binom.cdf(counts[:, None] - drawn, documents, share[:, None])
        return (tails if sign > 0 else below) @ chances

    for limit, sign, end in ((low, 1, low > 0), (high, -1, high < 1)):
        assert (rarely(limit, sign)[end] <= 0.01 * (1 + 1e-6)).all()
        nearer = limit + sign * 0.01 * np.minimum(limit, 1 - limit)
        # Noise is cut at a thousandth of what may be missed; counts that cannot be are as rare wherever the limit is.
        assert (rarely(nearer, sign)[end & (counts <= documents)] > 0.01 * (1 - 2e-3)).all()
    if documents > 1:
        assert (low[4:] > 0).all()
        assert (high[:3] < 1).all()


@pytest.mark.parametrize(("noise", "share", "per_author"), [
    (NOISE, 0.02, 1), (NOISE, 0.0, 1), (None, 0.3, 1), (DiscreteLaplace(Fraction(4)), 0.05, 2),
    pytest.param(DiscreteLaplace(Fraction(300)), 0.2, 1, marks=pytest.mark.long),
])  # fmt: skip
def test_limits_hold_as_often_as_they_should(noise, share, per_author):
    """An author's documents are all in one cell or none: the widest that counts can spread."""
    rng, runs, authors = seeded_rng(7), 600, 500
    counts = per_author * rng.binomial(authors, share, runs)
    if noise is not None:
        counts = counts + noise.sample(rng, runs)
    low, high = share_limits(sample(counts, authors * per_author, noise, per_author), 0.05)
    for missed in (np.mean(low > share), np.mean(high < share)):
        assert missed <= 0.05 + 3 * np.sqrt(0.05 * 0.95 / runs)
    if share > 0 and per_author == 1:
        assert np.mean(low > share) > 0.015  # nor are they needlessly wide


def test_coarse_bins_of_noise_only_widen(monkeypatch):
    from publius.summaries import novelty as module

    noise = DiscreteLaplace(Fraction(40))
    given = sample([-30, 0, 60, 400], 2000, noise)
    low, high = share_limits(given, 0.01)
    monkeypatch.setattr(module, "_MOST_ATOMS", 40)
    wider_low, wider_high = share_limits(given, 0.01)
    assert (wider_low <= low + 1e-12).all()
    assert (high <= wider_high + 1e-12).all()
    assert wider_low[3] > 0.5 * low[3] > 0


def test_a_count_that_no_share_explains_has_limits_all_the_same():
    """Once in some hundred comparisons with an earlier summary one of its counts has noise so far below 0."""
    noise = DiscreteLaplace(Fraction(2))
    before = sample([-90, 40, -90], 200, noise)
    assert (share_limits(before, 0.004)[1] == 0).any()
    found = novelty(sample([0, 40, 60], 200, noise), before)
    assert np.isfinite(found.low).all()
    assert not np.isnan(found.high).any()
    assert not (found.low > 1).any()


def test_more_documents_than_certain_only_widen():
    low, high = share_limits(sample([50], (900, 1100)), 0.01)
    for documents in (900, 1000, 1100):
        inside = share_limits(sample([50], documents), 0.01)
        assert low <= inside[0]
        assert inside[1] <= high


def test_nothing_is_new_where_nothing_changed():
    """At most one of twenty collections of the same kind has anything called new; here 30."""
    rng, shares, wrong = seeded_rng(11), seeded_rng(1).dirichlet(np.full(40, 0.3)), 0
    for _ in range(30):
        before = sample(rng.multinomial(1500, shares), 1500)
        counts = rng.multinomial(2500, shares)
        now = sample(counts + NOISE.sample(rng, 40), 2500, NOISE)
        wrong += bool(novelty(now, before).low.max() > 1)
    assert wrong <= 4


def test_what_is_new_is_found_and_stands_first():
    rng = seeded_rng(12)
    before = sample([*[60] * 20, 0, 2, 60], 1500)
    counts = np.array([*[100] * 20, 60, 5, 20])
    found = novelty(sample(counts + NOISE.sample(rng, 23), 2500, NOISE), before)
    assert int(np.argmax(found.excess)) == 20
    assert (found.low > 1).tolist() == [False] * 20 + [True, False, False]
    assert found.seen.tolist() == [True] * 20 + [False, True, True]
    assert found.high[22] < 1  # what has gone
    assert found.low[20] > 1
    assert found.excess[22] < -2


def test_a_standardized_excess():
    found = novelty(sample([30, 0], 100, NOISE), sample([9, 0], 48))
    expected = 10 / 50 * 100
    variance = NOISE.deviation**2 + expected + expected**2 / 10
    assert found.excess[0] == pytest.approx((30 - expected) / np.sqrt(variance))


def test_an_earlier_summary_has_noise_too():
    now, exact, noisy = sample([60, 40], 100, NOISE), sample([30, 70], 100), sample([30, 70], 100, NOISE)
    of_exact, of_noisy = novelty(now, exact), novelty(now, noisy)
    assert of_noisy.low[0] < of_exact.low[0]
    assert abs(of_noisy.excess[0]) < abs(of_exact.excess[0])
    assert novelty(now, sample([-7, 70], 100, NOISE)).high[0] == np.inf


def test_tables_of_other_cells_are_refused():
    with pytest.raises(UsageError, match="same cells"):
        novelty(sample([1], 5), sample([1, 2], 5))
