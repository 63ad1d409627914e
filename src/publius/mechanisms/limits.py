"""Limits for counts of answers behind randomized response, by inverting the response law (docs/theory.md).

The documents are fixed. With t documents of n whose answer is k, the label k is released
Bin(t, p) + Bin(n - t, q) times. A count t is within the limits of a released count r unless one of the two tails
P(X <= r), P(X >= r) is below alpha / 2; by Bonferroni over the labels all limits hold together.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Final

import numpy as np

from publius.errors import UsageError

_DEVIATIONS: Final = 9.0
_BEYOND: Final = 1e-12
"""More than a binomial count lies beyond nine deviations and twenty more (Bernstein's inequality)."""


def count_limits(released: Sequence[int], q: float, p: float, level: float) -> list[tuple[int, int]]:
    """Limits (low, high) for each label's count of answers; all hold together with probability ``level``.

    ``p`` and ``q`` are the probabilities of a document's own label and of each other one; `UsageError` for others.
    """
    if not 0 < level < 1 or not 0 < q < p <= 1:
        raise UsageError(f"a level between 0 and 1 and probabilities 0 < q < p, not {level!r}, {q!r}, {p!r}")
    n = sum(released)
    tail = (1 - level) / len(released) / 2
    return [_limits(int(count), n, p, q, tail) if n else (0, 0) for count in released]


def _limits(r: int, n: int, p: float, q: float, tail: float) -> tuple[int, int]:
    """The smallest and the largest t that the released count ``r`` does not exclude: tails fall with t's distance."""
    guess = min(max(round((r - n * q) / (p - q)), 0), n)

    def excluded(t: int) -> bool:
        upper = r > t * p + (n - t) * q
        return _tail(r, t, n, p, q, upper=upper) < tail

    if excluded(guess):  # the estimate was cut at 0 or n: nothing nearer is possible
        return guess, guess
    step = 1 + int(math.sqrt(guess * p * (1 - p) + (n - guess) * q * (1 - q)) / (p - q))
    return _edge(guess, 0, step, excluded), _edge(guess, n, step, excluded)


def _edge(inside: int, end: int, step: int, excluded: Callable[[int], bool]) -> int:
    """The last count towards ``end`` that is not excluded, by doubling steps and halving."""
    way = 1 if end > inside else -1
    good, bad = inside, end + way
    while good != end:
        at = end if (end - good) * way <= step else good + way * step
        if excluded(at):
            bad = at
            break
        good, step = at, step * 2
    while abs(bad - good) > 1:
        middle = (bad + good) // 2
        good, bad = (good, middle) if excluded(middle) else (middle, bad)
    return good


def _tail(r: int, t: int, n: int, p: float, q: float, *, upper: bool) -> float:
    """P(X >= r) or P(X <= r) for X = Bin(t, p) + Bin(n - t, q), rounded up: a sum over the one that spreads less."""
    from scipy.special import bdtr, bdtrc, gammaln, xlog1py, xlogy

    sides = sorted(((t, p), (n - t, q)), key=lambda side: side[0] * side[1] * (1 - side[1]))
    (few, chance), (many, other) = sides
    width = _DEVIATIONS * math.sqrt(few * chance * (1 - chance)) + 20
    k = np.arange(max(0, math.floor(few * chance - width)), min(few, math.ceil(few * chance + width)) + 1)
    logs = (
        gammaln(few + 1)
        - gammaln(k + 1)
        - gammaln(few - k + 1)
        + xlogy(k, chance)
        + xlog1py(few - k, -chance)
    )
    rest = r - k
    if upper:  # P(Bin(many) >= rest) = P(Bin(many) > rest - 1)
        tails = np.where(
            rest <= 0, 1.0, np.where(rest > many, 0.0, bdtrc(np.clip(rest - 1, 0, many), many, other))
        )
    else:
        tails = np.where(
            rest < 0, 0.0, np.where(rest >= many, 1.0, bdtr(np.clip(rest, 0, many), many, other))
        )
    return min(1.0, float(np.exp(logs) @ tails) * (1 + 1e-9) + _BEYOND)
