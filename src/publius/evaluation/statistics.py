"""Intervals for what was counted."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, final

import numpy as np
from numpy.typing import NDArray

from publius.errors import UsageError
from publius.noise.randomness import Generator

CONFIDENCE = 0.95

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
