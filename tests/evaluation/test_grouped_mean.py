"""The interval that a verdict rests on covers the truth, from ten authors on."""

import numpy as np
import pytest

from publius.errors import UsageError
from publius.evaluation.statistics import grouped_mean, least_shown
from publius.noise.randomness import seeded_rng

WORLDS = 400
"""Made for each case; with 95 % coverage fewer than 366 of them would be covered once in a hundred thousand."""

# authors, texts of each, the share named, how alike an author's texts are, the share known anyway, and how often the
# adversary knows no more than that
CASES = [
    (10, 4, 0.1, 0.02, 0.1, 0.0), (10, 20, 0.3, 0.05, 0.25, 0.0), (10, 20, 0.02, 0.02, 0.0, 0.0),
    (10, 40, 0.02, 0.02, 0.0, 0.0), (10, 20, 0.25, 0.05, 0.25, 0.9), (10, 20, 0.05, 0.05, 0.0, 0.0),
    (20, 20, 0.1, 0.05, 0.1, 0.0), (40, 10, 0.05, 0.02, 0.0, 0.0),
]  # fmt: skip


@pytest.mark.parametrize("uneven", [False, True], ids=["even", "uneven"])
@pytest.mark.parametrize("case", CASES)
def test_it_covers_at_ten_authors(case, uneven):
    authors, each, share, alike, anyway, nothing = case
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
    assert none.low < -0.035  # Clopper and Pearson's for 100 texts is 0.0362
    assert 0.036 < none.high == pytest.approx(least_shown(np.full(10, 10.0)))
    assert grouped_mean(np.zeros(100), np.zeros(100, int)) == type(none)(
        0.0, -1.0, 1.0
    )  # one author shows nothing


def test_nonsense_is_refused():
    for values, groups, level in ((np.zeros(0), np.zeros(0, int), 0.95), (np.zeros(3), np.zeros(2, int), 0.95),
                                  (np.zeros(3), np.arange(3), 1.0)):  # fmt: skip
        with pytest.raises(UsageError):
            grouped_mean(values, groups, level)
