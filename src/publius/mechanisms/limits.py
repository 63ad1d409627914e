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

from publius.errors import UsageError
from publius.privacy.shuffling import at_least, exactly, likely_counts

_BEYOND: Final = 2e-12  # more than what the likely counts leave out
_ROUNDING: Final = 1 + 1e-6  # more than the relative error of binomial probabilities by logarithms of factorials


def count_limits(released: Sequence[int], q: float, p: float, level: float) -> list[tuple[int, int]]:
    """Limits (low, high) for each label's count of answers, that of its own with probability p, of another with q."""
    if not 0 < level < 1:
        raise UsageError(f"a level is a number between 0 and 1, not {level!r}")
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
    first, last = likely_counts(few, few, chance)
    k = np.arange(first, last + 1)
    rest = r - k if upper else r - k[::-1]  # P(Y >= rest) grows along it, or P(Y <= rest)
    start = int(rest[0])
    beyond = at_least(start + 1, many, other) if upper else at_least(many - start + 1, many, 1 - other)
    tails = np.cumsum(exactly(rest, many, other)) + beyond
    return min(1.0, float(exactly(r - rest, few, chance) @ tails) * _ROUNDING + _BEYOND)
