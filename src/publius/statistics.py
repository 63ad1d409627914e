"""Intervals in which authors are what is sampled.

Clopper and Pearson's where each author has one hit or miss and nothing is subtracted, Gaffke's with the true ends
elsewhere (docs/theory.md, attacks): draws of noise, or texts of one author, are no independent trials.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import cache, lru_cache
from typing import Final

import msgspec
import numpy as np
from numpy.typing import ArrayLike

from publius.arrays import Float64Array, IndexArray
from publius.errors import UsageError

LEVEL: Final = 0.05
"""The share of intervals that may miss the truth: all are 95 % intervals unless a level is given."""

_NODES: Final = 192
"""Of the integral that gives a probability: limits are then within 1e-5 of the exact ones."""

_TOGETHER: Final = 256
"""Authors whose terms are held at a time."""


class Interval(msgspec.Struct, frozen=True, rename={"value": "share"}):
    """An estimate between two limits."""

    value: float
    low: float
    high: float


def clopper_pearson(correct: int, total: int, level: float = LEVEL) -> Interval:
    """The exact binomial interval of a share (Clopper and Pearson 1934); it misses with probability ``level`` at most."""
    if not 0 <= correct <= total or total < 1 or not 0 < level < 1:
        raise UsageError(f"no interval for {correct} of {total} at level {level}")
    from scipy.special import betaincinv  # beta.ppf, without an import of 0.7 s

    low = float(betaincinv(correct, total - correct + 1, level / 2)) if correct else 0.0
    high = float(betaincinv(correct + 1, total - correct, 1 - level / 2)) if correct < total else 1.0
    return Interval(correct / total, low, high)


def author_mean(
    values: ArrayLike, authors: Sequence[object], level: float = LEVEL, ends: tuple[float, float] = (0.0, 1.0)
) -> Interval:
    """The mean of ``values``, one a text, with an interval for texts of other authors of the kind.

    ``ends`` are the least and the most that a text can have: (0, 1) for a share of hits, (-1, 1) for a difference of two.
    """
    table = np.asarray(values, np.float64)
    places = np.unique(np.asarray(authors, dtype=object).astype(str), return_inverse=True)[1]
    if not len(table) or len(places) != len(table):
        raise UsageError(f"no interval for {len(table)} values of {len(places)} texts")
    single = int(places.max()) + 1 == len(table)
    if single and ends == (0.0, 1.0) and bool(np.isin(table, (0.0, 1.0)).all()):
        return clopper_pearson(round(float(table.sum())), len(table), level)
    return grouped_mean(table, places, level, ends)


def grouped_mean(
    values: Float64Array, groups: IndexArray, level: float = LEVEL, ends: tuple[float, float] = (-1.0, 1.0)
) -> Interval:
    """Gaffke's interval (2005) for the mean of ``values``, one a text of the author in ``groups``.

    Each author gets a new weight at random (exponential, Rubin 1981), and among them is one more author, who was not
    seen, with the value of the end and as many texts as the author of a text drawn at random has in the mean: a kind of
    author may be missing by chance. For authors with one text each, all hits or none, this is Clopper and Pearson's.
    It covers from ten authors on, shown by simulation in tests/evaluation; of a rare kind that writes much nobody knows
    whom no text is seen of.
    """
    places = np.unique(groups, return_inverse=True)[1]
    sizes = np.bincount(places).astype(np.float64)
    means = np.bincount(places, values) / sizes
    least, largest = min(ends[0], float(means.min())), max(ends[1], float(means.max()))
    mean = float(np.mean(values))
    low, high = -_limit(-means, sizes, level / 2, -least), _limit(means, sizes, level / 2, largest)
    return Interval(mean, min(mean, low), max(mean, high))


def authors_needed(limit: float, level: float = LEVEL) -> int | None:
    """How many authors it takes to show that a mean is at most ``limit``, in the best case: not one value above zero.

    The smallest n at which (1 - limit)^n is at most half of ``level``; None where no number is enough.
    """
    if not 0 < limit < 1:
        return None if limit <= 0 else 1
    return max(1, math.ceil(math.log(level / 2) / math.log1p(-limit) - 1e-9))


def _limit(means: Float64Array, sizes: Float64Array, tail: float, end: float) -> float:
    """The value that the mean of authors with new weights exceeds with probability ``tail``; see `grouped_mean`."""
    unseen = float((sizes**2).sum() / sizes.sum())  # texts that the author of a text drawn at random has, in the mean
    each, counts = np.unique(np.append(means, end) + 1j * np.append(sizes, unseen), return_counts=True)
    return _found_limit(tuple(each.tolist()), tuple(counts.tolist()), tail, end)


@lru_cache(2**12)  # attackers share what they are compared with
def _found_limit(each: tuple[complex, ...], counts: tuple[int, ...], tail: float, end: float) -> float:
    from scipy.optimize import brentq

    values, weights, times = np.real(each), np.imag(each), np.array(counts, np.float64)
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
    at = float(brentq(lambda s: (times * scaled / (1 - scaled * s)).sum() - 1 / s, 1e-12, 1 - 1e-12, xtol=1e-4))
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
