"""Guarantees: the record, what it bounds between two documents, and exact rounding to the safe side.

Exponents, factors and deltas are rounded up. Epsilon is taken as the decimal number it is written as, 0.1 as one tenth.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Literal, final

from publius.errors import PolicyError, UsageError
from publius.settings import EUCLIDEAN, MANHATTAN

Evidence = Literal["proven", "certified", "stated", "none"]


@final
@dataclass(frozen=True)
class Guarantee:
    """A guarantee: whatever is released is at most exp(map(E)) times as probable under one document as under another.

    For words the exponent is epsilon * N * E at Earth Mover's distance E (the lifting theorem); a kernel states it for one
    word. For labels it is epsilon between any two documents whatever, and ``metric`` is None.

    Attributes:
        epsilon: per unit of distance, or between any two documents.
        metric: name of the word metric; None where the guarantee is free of distances.
        evidence: what it rests on: a theorem, a certificate computed for the vocabulary, its author's word alone, or nothing.
        delta: probability by which it can be exceeded.
        size: N, words of a document; None for a single word.
        ordered: whether the words leave in order, so that distances add up place by place.

    >>> Guarantee(5.0, None, "proven", size=1).map()
    5.0
    """

    epsilon: float
    metric: str | None
    evidence: Evidence
    delta: float = 0.0
    size: int | None = None
    ordered: bool = False

    @property
    def epsilon_total(self) -> float:
        """The exponent per unit of distance, epsilon * N; epsilon itself where there is no distance."""
        factor = 1 if self.metric is None else self.size or 1
        return _written(exact_epsilon(self.epsilon) * factor)

    def lifted(self, size: int) -> Guarantee:
        """The guarantee of a bag of ``size`` independent words: (epsilon*N)*E_d (the lifting theorem)."""
        if size < 1:
            raise UsageError(f"a bag needs at least one word, not {size}")
        return replace(self, size=size, delta=upward(min(Fraction(1), Fraction(self.delta) * size)))

    def map(self, distance: float | None = None) -> float:
        """The exponent between two documents at ``distance``, rounded up; between any two without a metric.

        For a bag ``distance`` is the Earth Mover's distance E, rounded up where it was computed
        (`TransportPlan.distance_upper`); for ordered words the sum of the distances word by word. Infinite without
        evidence, and for words without a distance. `UsageError` for a distance that is negative or not a number.

        >>> Guarantee(2.816, "euclidean", "proven").lifted(4).map(1 / 16)
        0.7040000000000001
        """
        if distance is not None and not distance >= 0:
            raise UsageError(f"a distance must be a number from 0, not {distance!r}")
        if self.evidence == "none":
            return math.inf
        if self.metric is None:
            return self.epsilon
        if distance is None or math.isinf(distance):
            return math.inf
        factor = 1 if self.ordered else self.size or 1
        return upward(exact_epsilon(self.epsilon) * factor * Fraction(distance))

    def under(self, metric: str) -> Guarantee:
        """The same guarantee stated in a larger ``metric`` (Corollary 1): Euclidean as Manhattan.

        Raises `PolicyError` where the metric is not known to be larger.
        """
        if metric != self.metric and (self.metric, metric) != (EUCLIDEAN, MANHATTAN):
            raise PolicyError(
                f"{self.metric} distances are not known to be at most {metric} ones, so a guarantee in the first is "
                "none in the second: state it in the metric of the mechanism"
            )
        return replace(self, metric=metric)


def exact_number(value: object, what: str) -> Fraction:
    """A positive number as it is written: 0.1, "0.1" and "1/10" are one tenth; `UsageError` for anything else."""
    if isinstance(value, int | float | str | Fraction) and not isinstance(value, bool):
        with suppress(ValueError, ZeroDivisionError, OverflowError):
            exact = Fraction(repr(float(value)) if isinstance(value, float) else value)
            if exact > 0:
                return exact
    raise UsageError(f"{what} must be a number above 0, not {value!r:.40}")


def exact_epsilon(epsilon: float) -> Fraction:
    """The decimal number that ``epsilon`` is written as: 0.1 is one tenth. `UsageError` unless it is finite, > 0."""
    return exact_number(float(epsilon), "epsilon")


def total_exponent(exponents: Iterable[float]) -> float:
    """The exponent of several releases seen together: the sum, rounded up."""
    parts = list(exponents)
    if not all(part >= 0 for part in parts):
        raise UsageError("an exponent must be a number from 0")
    return math.inf if math.inf in parts else upward(sum(map(Fraction, parts), Fraction(0)))


@final
@dataclass(frozen=True)
class Bound:
    """Between two documents: an output is at most exp(exponent) times as probable under one, but for ``delta``."""

    exponent: float
    delta: float


def factor(exponent: float) -> float:
    """exp(``exponent``), rounded up: how many times as probable an output can be. Infinite beyond float64's range."""
    try:
        # The C library's exp errs by less than one unit in the last place.
        return math.nextafter(math.exp(exponent), math.inf) if exponent else 1.0
    except OverflowError:
        return math.inf


def posterior_at_most(exponent: float, candidates: int) -> float:
    """The largest posterior of one of k candidates within ``exponent``, equally likely before, rounded up (Bayes' rule)."""
    value = 1 / (1 + (candidates - 1) * math.exp(-exponent))
    return min(1.0, value * (1 + 2.0**-50))


def _written(value: Fraction) -> float:
    """The float64 nearest to ``value`` if it is written as a decimal that is at least ``value``, else the next one."""
    nearest = float(value)
    return nearest if Fraction(repr(nearest)) >= value else math.nextafter(nearest, math.inf)


def upward(value: Fraction) -> float:
    """The smallest float64 that is at least ``value``; infinite beyond the range."""
    try:
        nearest = float(value)
    except OverflowError:
        return math.inf
    return nearest if Fraction(nearest) >= value else math.nextafter(nearest, math.inf)
