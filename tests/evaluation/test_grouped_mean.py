"""The interval that a verdict rests on covers the truth, from ten authors on."""

import itertools

import numpy as np
import pytest

from publius.errors import UsageError
from publius.evaluation.statistics import authors_needed, clopper_pearson, grouped_mean, least_shown
from publius.noise.randomness import seeded_rng

DRAWS = 60

WORLDS = 400
"""Made for each case; with 95 % coverage fewer than 366 of them would be covered once in a hundred thousand."""

# authors, texts of each, the share named, how alike an author's texts are, the share known anyway, and how often the
# adversary knows no more than that
CASES = [
    (10, 4, 0.1, 0.02, 0.1, 0.0), (10, 20, 0.3, 0.05, 0.25, 0.0), (10, 20, 0.02, 0.02, 0.0, 0.0),
    (10, 40, 0.02, 0.02, 0.0, 0.0), (10, 20, 0.25, 0.05, 0.25, 0.9), (10, 20, 0.05, 0.05, 0.0, 0.0),
    (20, 20, 0.1, 0.05, 0.1, 0.0), (40, 10, 0.05, 0.02, 0.0, 0.0),
]  # fmt: skip


QUICK = {(0, False), (6, True), (7, True)}
"""Cases, and whether they are uneven: they fail without the further author, and one where he has too few texts."""


@pytest.mark.parametrize(
    ("number", "uneven"),
    [pytest.param(*each, marks=[] if each in QUICK else pytest.mark.long)
     for each in itertools.product(range(len(CASES)), (False, True))],
)  # fmt: skip
def test_it_covers_at_ten_authors(number, uneven):
    authors, each, share, alike, anyway, nothing = CASES[number]
    rng = seeded_rng(17)
    covered = 0
    for _ in range(WORLDS):
        sizes = 1 + (rng.pareto(1.5, authors) * each * 0.6).astype(int) if uneven else np.full(authors, each)
        groups = np.repeat(np.arange(authors), sizes)
        concentration = (1 - alike) / alike
        own = rng.beta(share * concentration, (1 - share) * concentration, authors)
        known = (rng.random(len(groups)) < anyway).astype(float)
        found = np.where(rng.random(len(groups)) < nothing, known, rng.random(len(groups)) < own[groups])
        interval = grouped_mean(found - known, groups)
        covered += interval.low <= (1 - nothing) * (share - anyway) <= interval.high
    assert covered >= 366


def test_where_nothing_was_seen_it_is_no_shorter_than_an_exact_one():
    none = grouped_mean(np.zeros(100), np.arange(100) % 10)
    exact = clopper_pearson(0, 10).high  # of ten authors, however many texts they wrote
    assert (
        none.high
        == -none.low
        == pytest.approx(least_shown(np.full(10, 10.0)))
        == pytest.approx(exact, abs=3e-5)
    )


@pytest.mark.parametrize("authors", [2, 10, 72, 300])
@pytest.mark.parametrize("confidence", [0.95, 0.9999])
def test_for_hits_and_misses_it_is_exact(authors, confidence):
    """Each limit is the quantile of a Beta distribution where an author's texts are all hits or all misses."""
    for hits in {0, 1, authors // 3, authors - 1, authors}:
        values = np.repeat(np.arange(authors) < hits, 3).astype(float)
        found = grouped_mean(values, np.repeat(np.arange(authors), 3), confidence, ends=(0, 1))
        exact = clopper_pearson(hits, authors, confidence)
        assert (found.low, found.high) == pytest.approx((exact.low, exact.high), abs=3e-5)


def test_it_is_rubins_bootstrap_with_one_author_more():
    rng = seeded_rng(5)
    sizes = 1 + rng.poisson(3, 40)
    groups = np.repeat(np.arange(40), sizes)
    values = (rng.random(len(groups)) < 0.3) - rng.random(len(groups)) / 3
    found = grouped_mean(values, groups, ends=(-0.4, 1.0))
    sums = np.bincount(groups, values)
    further = (sizes**2).sum() / sizes.sum()
    lots = rng.standard_exponential((200_000, 41))
    for limit, end, tail in ((found.high, 1.0, 0.975), (found.low, -0.4, 0.025)):
        means = (lots @ np.append(sums, end * further)) / (lots @ np.append(sizes, further))
        assert limit == pytest.approx(np.quantile(means, tail), abs=3e-3)


def test_the_number_of_authors_follows_from_the_limit():
    for limit, expected in ((0.05, 72), (0.1, 36), (0.35, 9), (0.0, None), (1.0, 1)):
        assert authors_needed(np.full(30, 4.0), limit) == expected
    needed = authors_needed(np.arange(1, 30.0), 0.05)
    assert needed == 95  # uneven texts are worth less
    assert least_shown(np.resize(np.arange(1, 30.0), 29 * 10)) < 0.05  # of 290 authors


# who is named beyond what is known anyway: always, authors of a kind; or all of them, in a share of their texts
KINDS = [
    ("always", 0.06),
    ("always", 0.1),
    ("always", 0.2),
    ("evenly", 0.0),
    ("evenly", 0.1),
    ("evenly", 0.2),
]


@pytest.mark.parametrize("uneven", [False, True], ids=["even", "uneven"])
@pytest.mark.parametrize(("authors", "kind"), [
    pytest.param(*each, marks=[] if each[0] == 10 or each == (100, KINDS[3]) else pytest.mark.long)
    for each in itertools.product((10, 60, 100, 300), KINDS)
])  # fmt: skip
def test_no_kind_of_author_is_overlooked_too_often(authors, kind, uneven):
    """The upper limit is at most what is allowed, 0.05, in at most five of a hundred draws where more is added."""
    how, share = kind
    rng = seeded_rng(29)
    passed = 0
    for draw in range(DRAWS):
        each = (1, 3, 10)[draw % 3]
        sizes = 1 + (rng.pareto(1.5, authors) * each * 0.6).astype(int) if uneven else np.full(authors, each)
        groups = np.repeat(np.arange(authors), sizes)
        added = (rng.random(authors) < share)[groups] if how == "always" else rng.random(len(groups)) < share
        enough = authors >= authors_needed(sizes, 0.05)
        passed += enough and grouped_mean(added.astype(float), groups).high <= 0.05
    assert passed <= 0.05 * DRAWS if share else passed >= (authors > 72 and not uneven) * DRAWS
    one = grouped_mean(np.zeros(100), np.zeros(100, int))
    assert (one.low, one.high) == pytest.approx((-0.975, 0.975))  # one author shows nothing


def test_nonsense_is_refused():
    for values, groups, level in ((np.zeros(0), np.zeros(0, int), 0.95), (np.zeros(3), np.zeros(2, int), 0.95),
                                  (np.zeros(3), np.arange(3), 1.0)):  # fmt: skip
        with pytest.raises(UsageError):
            grouped_mean(values, groups, level)
