"""Limits for counts of answers behind randomized response, by inverting the response law (docs/theory.md).

The documents are fixed. With t documents of n whose answer is k, the label k is released
Bin(t, p) + Bin(n - t, q) times. A count t is within the limits of a released count r unless one of the two tails
P(X <= r), P(X >= r) is below alpha / 2; by Bonferroni over the labels all limits hold together.
"""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Callable, Sequence
from functools import cache
from typing import Final

import numpy as np

from publius.arrays import Float64Array, IndexArray
from publius.errors import UsageError

_RARE: Final = -math.log(1e-12)
_BEYOND: Final = 2e-12
"""More than what a binomial count has beyond sqrt(2 v ln 10^12) + ln 10^12 on both sides (Bernstein's inequality)."""
_ROUNDING: Final = 1 + 1e-6
"""More than the relative error of binomial probabilities by logarithms of factorials."""


def count_limits(released: Sequence[int], q: float, p: float, level: float) -> list[tuple[int, int]]:
    """Limits (low, high) for each label's count of answers; all hold together with probability ``level``.

    ``p`` and ``q`` are the probabilities of a document's own label and of each other one; `UsageError` for others.
    """
    if not 0 < level < 1 or not 0 < q < p <= 1:
        raise UsageError(f"a level between 0 and 1 and probabilities 0 < q < p, not {level!r}, {q!r}, {p!r}")
    n = sum(released)
    tail = (1 - level) / len(released) / 2
    found = {count: _limits(int(count), n, p, q, tail) if n else (0, 0) for count in set(released)}
    return [found[count] for count in released]


def _limits(r: int, n: int, p: float, q: float, tail: float) -> tuple[int, int]:
    """The smallest and the largest t that the released count ``r`` does not exclude: tails fall with t's distance."""
    from scipy.special import ndtri

    guess = min(max(round((r - n * q) / (p - q)), 0), n)

    @cache
    def excluded(t: int) -> bool:
        upper = r > t * p + (n - t) * q
        return _tail(r, t, n, p, q, upper=upper) < tail

    if excluded(guess):  # the estimate was cut at 0 or n: nothing nearer is possible
        return guess, guess
    deviation = math.sqrt(guess * p * (1 - p) + (n - guess) * q * (1 - q)) / (p - q)
    far = math.ceil(-float(ndtri(tail)) * deviation)
    below = _reach(guess, far, lambda steps: excluded(guess - steps))
    return guess - below, guess + _reach(n - guess, far, lambda steps: excluded(guess + steps))


def _reach(most: int, far: int, excluded: Callable[[int], bool]) -> int:
    """The most steps, of ``most``, that end at what is not excluded: about ``far``, by doubling and halving."""
    far, width = min(far, most), 1 + far // 512
    low, high = max(0, far - width), min(most + 1, far + width)
    while low and excluded(low):
        low, high, width = max(0, low - 2 * width), low, 2 * width
    while high <= most and not excluded(high):
        low, high, width = high, min(most + 1, high + 2 * width), 2 * width
    return low + bisect_left(range(low + 1, high), True, key=excluded)


def _tail(r: int, t: int, n: int, p: float, q: float, *, upper: bool) -> float:
    """P(X >= r) or P(X <= r) for X = Bin(t, p) + Bin(n - t, q), rounded up: a sum over the one that spreads less."""
    (few, chance), (many, other) = sorted(((t, p), (n - t, q)), key=lambda side: side[0] * side[1] * (1 - side[1]))
    width = math.sqrt(2 * few * chance * (1 - chance) * _RARE) + _RARE
    first = max(0, math.floor(few * chance - width))
    k = np.arange(first, min(few, math.ceil(few * chance + width)) + 1)
    rest = r - k if upper else r - k[::-1]  # P(Y >= rest) grows along it, or P(Y <= rest)
    tails = np.cumsum(_shares(rest, many, other))
    tails += _beyond(int(rest[0]) + (1 if upper else -1), many, other, upper=upper)
    return min(1.0, float(_shares(r - rest, few, chance) @ tails) * _ROUNDING + _BEYOND)


def _shares(k: IndexArray, trials: int, chance: float) -> Float64Array:
    """P(Bin(trials, chance) = k)."""
    from scipy.special import gammaln, xlog1py, xlogy

    inside = np.clip(k, 0, trials)
    logs = gammaln(trials + 1) - gammaln(inside + 1) - gammaln(trials - inside + 1)
    logs += xlogy(inside, chance) + xlog1py(trials - inside, -chance)
    return np.where(inside == k, np.exp(logs), 0.0)


def _beyond(k: int, trials: int, chance: float, *, upper: bool) -> float:
    """P(Bin(trials, chance) >= k), or <= k."""
    from scipy.special import betainc

    if upper:
        return 1.0 if k <= 0 else 0.0 if k > trials else float(betainc(k, trials - k + 1, chance))
    return 0.0 if k < 0 else 1.0 if k >= trials else float(betainc(trials - k, k + 1, 1 - chance))
