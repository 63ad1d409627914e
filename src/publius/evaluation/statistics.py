"""Intervals for what was counted: shares, means over texts, means over the texts of several authors."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final, final

import numpy as np
from numpy.typing import NDArray

from publius.errors import UsageError
from publius.noise.randomness import Generator

CONFIDENCE = 0.95

ALIKE: Final = 0.03
"""How much alike texts of one author are taken to be at least, as an intraclass correlation."""

_FEW: Final = 10
"""Independent texts above zero, or below, from which on the spread that is seen says how much alike they are."""

BoolArray = NDArray[np.bool_]


@final
@dataclass(frozen=True, slots=True)
class Interval:
    """An estimate between two limits."""

    value: float
    low: float
    high: float


def clopper_pearson(correct: int, total: int, confidence: float = CONFIDENCE) -> Interval:
    """The exact binomial interval of a share: it covers the truth at least as often as it says.

    Clopper and Pearson 1934: each limit is where the tail beyond what was counted has probability
    (1 - confidence)/2, a quantile of a Beta distribution.
    """
    if not 0 <= correct <= total or total < 1 or not 0 < confidence < 1:
        raise UsageError(f"no interval for {correct} of {total} at confidence {confidence}")
    from scipy.stats import beta

    tail = (1 - confidence) / 2
    low = float(beta.ppf(tail, correct, total - correct + 1)) if correct else 0.0
    high = float(beta.ppf(1 - tail, correct + 1, total - correct)) if correct < total else 1.0
    return Interval(correct / total, low, high)


def bootstrap_mean(
    hits: BoolArray | NDArray[np.floating[Any]],
    rng: Generator,
    *,
    draws: int = 2_000,
    confidence: float = CONFIDENCE,
) -> Interval:
    """The mean of ``hits``, shape (repeats, documents), with a percentile interval.

    Documents are resampled whole, with all their repeats: repeats share the documents, so they are no independent
    trials, and an interval that took them so would be too short. Where all or none were hits the interval is the
    exact binomial one for the documents.
    """
    table = np.asarray(hits, np.float64)
    if table.ndim != 2 or 0 in table.shape:
        raise UsageError(f"expected an array of shape (repeats, documents), not {table.shape}")
    means = table.mean(axis=0)
    if means.sum() in (0, len(means)):  # resampling equals shows no spread: as for one repeat
        return clopper_pearson(round(means.sum()), len(means), confidence)
    samples = means[rng.integers(0, len(means), (draws, len(means)))].mean(axis=1)
    tail = (1 - confidence) / 2
    low, high = np.quantile(samples, [tail, 1 - tail])
    mean = float(means.mean())
    return Interval(mean, min(mean, float(low)), max(mean, float(high)))


def grouped_mean(
    values: NDArray[np.floating[Any]], groups: NDArray[np.integer[Any]], confidence: float = CONFIDENCE
) -> Interval:
    """The mean of ``values`` in [-1, 1], one a text, with an interval for texts of other authors of the kind.

    ``groups`` are the authors. Texts of one author depend on each other, so authors are resampled: the jackknife that
    leaves out one author at a time, with a quantile of Student's t for the effective number of authors. Where hardly
    anything was seen that shows no spread, so each limit is at least as far out as an exact one: of the texts above
    zero (Clopper and Pearson) less those below, for as many texts as texts of one author that are at least `ALIKE`
    are worth. That it covers at ten authors is shown by simulation (tests/evaluation/test_grouped_mean.py).
    """
    table, places = np.asarray(values, np.float64), np.unique(groups, return_inverse=True)[1]
    count = len(table)
    if not count or len(places) != count or not 0 < confidence < 1:
        raise UsageError(
            f"no interval for {count} values of {len(places)} authors at confidence {confidence}"
        )
    from scipy.stats import t as student

    mean, tail = float(table.mean()), (1 - confidence) / 2
    sizes = np.bincount(places).astype(np.float64)
    above, below = float(np.maximum(table, 0).mean()), float(np.maximum(-table, 0).mean())
    worth = worth_of(sizes)
    low = above - _exact_high(below, worth if below * worth < _FEW else count, tail)
    high = _exact_high(above, worth if above * worth < _FEW else count, tail) - below
    if len(sizes) == 1:
        return Interval(mean, -1.0, 1.0)
    without = (table.sum() - np.bincount(places, table)) / (count - sizes)
    spread = float(np.sqrt((len(sizes) - 1) / len(sizes) * ((without - mean) ** 2).sum()))
    effective = count**2 / float((sizes**2).sum())
    half = spread * float(student.ppf(1 - tail, max(1.0, effective - 1)))
    return Interval(mean, max(-1.0, min(low, mean - half)), min(1.0, max(high, mean + half)))


def worth_of(sizes: NDArray[np.floating[Any]]) -> float:
    """How many independent texts those of authors with so many texts each are worth, where they are `ALIKE`."""
    count = float(sizes.sum())
    return count / (1 + (float((sizes**2).sum()) / count - 1) * ALIKE)


def _exact_high(share: float, count: float, tail: float) -> float:
    """The upper limit of Clopper and Pearson; neither the share's numerator nor the count has to be whole."""
    from scipy.stats import beta

    return 1.0 if share >= 1 else float(beta.ppf(1 - tail, share * count + 1, count * (1 - share)))


def least_shown(sizes: NDArray[np.floating[Any]], confidence: float = CONFIDENCE) -> float:
    """The smallest mean that texts of authors with so many each can rule out, where not one value is above zero."""
    return _exact_high(0.0, worth_of(sizes), (1 - confidence) / 2)
