"""Intervals for what was counted: shares, means over texts, means over the texts of several authors."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cache
from typing import Any, Final, final

import numpy as np
from numpy.typing import NDArray

from publius.arrays import Float64Array
from publius.errors import UsageError
from publius.noise.randomness import Generator

CONFIDENCE = 0.95

_NODES: Final = 192
"""Of the integral that gives a probability: limits are then within 1e-5 of the exact ones."""

_TOGETHER: Final = 256
"""Authors whose terms are held at a time."""

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
    from scipy.special import betaincinv  # beta.ppf, without an import of 0.7 s

    tail = (1 - confidence) / 2
    low = float(betaincinv(correct, total - correct + 1, tail)) if correct else 0.0
    high = float(betaincinv(correct + 1, total - correct, 1 - tail)) if correct < total else 1.0
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
    values: NDArray[np.floating[Any]],
    groups: NDArray[np.integer[Any]],
    confidence: float = CONFIDENCE,
    ends: tuple[float, float] = (-1.0, 1.0),
) -> Interval:
    """The mean of ``values``, one a text, with an interval for texts of other authors of the kind.

    ``groups`` are the authors, ``ends`` what an author who was not seen can have at the least and at most, if none
    who was seen has less or more. Texts of one author
    depend on each other, so authors are what is sampled: each gets a new weight at random (exponential, Rubin's
    bootstrap of 1981), and among them is one more author, who was not seen, with the value of the end (Gaffke 2005).
    He has as many texts as the author of a text drawn at random has in the mean, so a kind of author may be missing
    by chance. For authors with equally many texts that are all hits or all none this is the interval of Clopper and
    Pearson, and with many authors it becomes the usual one. That a limit is missed at most as often as it says, from
    ten authors on, is shown by simulation (tests/evaluation) for kinds of authors who are seen, or write no more than
    these. Of a rare kind that writes much nobody knows whom no text is seen of: where 1 to 3 of a hundred authors write
    20 to 100 texts each, all others one, and only they are named, the upper limit was missed in 7 to 35 of 100 samples.
    """
    table, places = np.asarray(values, np.float64), np.unique(groups, return_inverse=True)[1]
    count = len(table)
    if not count or len(places) != count or not 0 < confidence < 1:
        raise UsageError(
            f"no interval for {count} values of {len(places)} authors at confidence {confidence}"
        )
    sizes, tail = np.bincount(places).astype(np.float64), (1 - confidence) / 2
    means = np.bincount(places, table) / sizes
    least, largest = min(ends[0], float(means.min())), max(ends[1], float(means.max()))
    mean = float(table.mean())
    low, high = -_limit(-means, sizes, tail, -least), _limit(means, sizes, tail, largest)
    return Interval(mean, min(mean, low), max(mean, high))


def _limit(means: Float64Array, sizes: Float64Array, tail: float, end: float) -> float:
    """The value that the mean of authors with new weights exceeds with probability ``tail``; see `grouped_mean`."""
    from scipy.optimize import brentq

    values, weights = np.append(means, end), np.append(sizes, _unseen_size(sizes))
    unique, counts = np.unique(values + 1j * weights, return_counts=True)
    values, weights, times = unique.real, unique.imag, counts.astype(np.float64)
    if values.min() >= end:
        return end

    def beyond(at: float) -> float:
        """Above zero where the limit lies farther out; logarithms, as these are nearly straight."""
        return math.log(max(_above_zero(weights * (values - at), times), 1e-300) / tail)

    low = mean = float(np.average(values, weights=weights * times))
    shares = weights / (weights @ times)
    step = 2 * math.sqrt(float(times @ (shares * (values - mean)) ** 2))
    while (high := min(end, mean + step)) < end and beyond(high) > 0:
        low, step = high, 1.5 * step
    return float(brentq(beyond, low, high, xtol=1e-5))


def _unseen_size(sizes: Float64Array) -> float:
    """How many texts the author of a text drawn at random has, in the mean."""
    return float((sizes**2).sum() / sizes.sum())


def _above_zero(factors: Float64Array, times: Float64Array) -> float:
    """The probability that a sum of independent exponential variables, each with its factor, is above zero.

    ``times`` is how many of them have the factor, and need not be whole. The inverse of their moment-generating
    function, the product of 1 / (1 - cs), along the line where it has its saddle point (Daniels 1954): there nothing
    cancels, so small probabilities are right, too.
    """
    from scipy.optimize import brentq

    largest = float(factors.max())
    if largest <= 0:
        return 0.0
    scaled = factors / largest
    at = float(
        brentq(lambda s: (times * scaled / (1 - scaled * s)).sum() - 1 / s, 1e-12, 1 - 1e-12, xtol=1e-4)
    )
    tilted = scaled / (1 - scaled * at)
    nodes, weights = _line()
    spread = math.sqrt((times * tilted**2).sum() + 1 / at**2)
    line = 2 * nodes / spread
    angle, size = -np.arctan(line / at), np.log1p((line / at) ** 2) / 2
    for first in range(0, len(tilted), _TOGETHER):
        some = slice(first, first + _TOGETHER)
        turned = np.outer(line, tilted[some])
        angle += np.arctan(turned) @ times[some]
        size += np.log1p(turned**2) @ (times[some] / 2)
    height = math.exp(-float(times @ np.log1p(-scaled * at)) - math.log(at))
    return height * float((2 * weights / spread * np.exp(-size) * np.cos(angle)).sum()) / math.pi


@cache
def _line() -> tuple[Float64Array, Float64Array]:
    """Points from zero to infinity with their weights, for an integral (Gauss and Legendre)."""
    nodes, weights = np.polynomial.legendre.leggauss(_NODES)
    part = (1 + nodes) / 2
    return part / (1 - part), weights / 2 / (1 - part) ** 2


def least_shown(sizes: NDArray[np.floating[Any]], confidence: float = CONFIDENCE) -> float:
    """The smallest mean that texts of authors with so many each can rule out, where not one value is above zero.

    So frequent a kind of author, of whom every text is named, would have been seen.
    """
    numbers = np.asarray(sizes, np.float64)
    return _limit(np.zeros(len(numbers)), numbers, (1 - confidence) / 2, 1.0)


def authors_needed(
    sizes: NDArray[np.floating[Any]], limit: float, confidence: float = CONFIDENCE
) -> int | None:
    """How many authors with numbers of texts like ``sizes`` it takes to rule out the mean ``limit``.

    With equally many texts each it is the smallest whole number n at which (1 - limit)^n is at most the tail. None
    where no number is enough.
    """
    from scipy.optimize import brentq

    if not 0 < limit < 1:
        return None if limit <= 0 else 1
    numbers = np.asarray(sizes, np.float64)
    weights, times = np.unique(numbers, return_counts=True)
    factors = np.append(-limit * weights, (1 - limit) * _unseen_size(numbers))
    tail = (1 - confidence) / 2

    def missed(more: float) -> float:
        return _above_zero(factors, np.append(more * times, 1.0)) - tail

    most = 1.0
    while missed(most) > 0:
        most *= 2
    times_as_many = float(brentq(missed, 0.0, most, xtol=1e-9))
    return max(1, math.ceil(times_as_many * len(numbers) - 1e-6))
