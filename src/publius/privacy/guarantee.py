"""Guarantees: the record, what it bounds between two documents, and exact rounding to the safe side.

Every number stated here is rounded so that the promise errs on the safe side: exponents, factors and deltas up.
Epsilon is taken as the decimal number it is written as, 0.1 as one tenth, exactly as a manifest states it.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TYPE_CHECKING, Any, Final, Literal, final

from publius.errors import PolicyError, UsageError
from publius.noise.laplace import NOISES
from publius.settings import EUCLIDEAN, MANHATTAN, Between

if TYPE_CHECKING:
    from publius.distances.earth_mover import TransportPlan

Evidence = Literal["proven", "certified", "stated by its author, nothing computed", "none"]
STATED: Final = "stated by its author, nothing computed"
Strength = Literal["strong", "moderate", "weak", "empty"]
Unit = Literal["epsilon-n", "epsilon", "epsilon-n-ordered", "bound"]
"""What a budget counts: see `Guarantee.prices`."""

STRENGTHS: Final[tuple[tuple[float, Strength], ...]] = ((1.0, "strong"), (10.0, "moderate"), (20.0, "weak"))
"""Largest bound, in nats, that is called so; beyond the last it is empty.

1 and 10 are the tiers of Ponomareva et al., "How to DP-fy ML" (JAIR 77, 2023, section 5.2), and of TensorFlow
Privacy's guide. At 20 nats one of a million equally likely documents may be named with a probability of 0.998.
"""

# d <= d' for all vectors of any dimension: a guarantee for d is one for d' (Corollary 1).
_LARGER = {(EUCLIDEAN, MANHATTAN)}
_DIMENSIONS = 1024


def strength_of(bound: float | None) -> Strength:
    """The word for a bound in nats between any two documents; no bound is an empty one."""
    for largest, name in STRENGTHS:
        if bound is not None and bound <= largest:
            return name
    return "empty"


@final
@dataclass(frozen=True)
class Guarantee:
    """A promise: at most exp(map(E)) times as probable under one document as under another.

    The exponent grows with the distance, at most to the bound. A kernel states it for one word, ``epsilon * d``; the
    lifting theorem makes that ``epsilon * N * E_d`` for a bag of ``size`` words (docs/theory.md section 2); a
    mechanism on the whole document states a ``bound`` between any two documents whatever, and with it no factor N
    (the coupling lemma, docs/documents.md).

    Attributes:
        epsilon: nats per unit of distance; None where nothing is stated per unit.
        metric: name of d.
        evidence: "proven" by a theorem, "certified" by exact computation on what is public, `STATED` of somebody
            else's class, or "none".
        delta: probability by which epsilon times the distance can be exceeded, for rounding or the finite range of
            noise: per word for a kernel, whichever two words of the vocabulary, and per bag when lifted.
        size: N, the public number of words of the released bag; None for a single word.
        ordered: whether the words' order is seen. Then the distance of two documents is not the Earth Mover's
            distance times N but the larger sum of the distances word by word.
        kept: what stands unprotected between ordered words. The guarantee then holds between documents that agree
            in it, and says nothing about it.
        bound: nats between any two documents whatever, the empty one included; None where none is stated.
        bound_delta: probability by which the bound can be exceeded; 0 where it is exact.
        preserve: what a release keeps: "words", "topic", "meaning" or "field:NAME".

    Raises `UsageError` for a bound that is negative or not finite, and for an epsilon that is not a positive number
    beside a bound.
    """

    epsilon: float | None
    metric: str
    evidence: Evidence
    delta: float = 0.0
    size: int | None = None
    ordered: bool = False
    kept: Between = "none"
    bound: float | None = None
    bound_delta: float = 0.0
    preserve: str = "words"

    def __str__(self) -> str:
        """In a sentence: the exponents in nats, for which documents, and what it rests on."""
        parts = [] if self.bound is None else [f"{self.bound!r} nats between any two documents whatever"]
        if self.epsilon is not None and self.size is None and self.bound is None:
            parts.append(f"{self.epsilon!r} * d nats between two words at distance d ({self.metric})")
        elif self.epsilon is not None and self.bound is None:
            distance = "sum of distances word by word" if self.ordered else "N * Earth Mover's distance"
            parts.append(
                f"{self.epsilon!r} * {distance} ({self.metric}) nats between two documents of N = {self.size:,} words"
            )
        elif self.epsilon is not None:
            parts.append(f"{self.epsilon!r} nats per unit of their distance ({self.metric})")
        return f"At most {' and '.join(parts) or 'what is not stated'}; {self.evidence}."

    def _repr_html_(self) -> str:
        from html import escape  # with its table of entities, for notebooks alone

        return f"<p>{escape(str(self))}</p>"

    def __post_init__(self) -> None:
        if self.bound is None:
            return
        if not (math.isfinite(self.bound) and self.bound >= 0):
            raise UsageError(f"a bound must be a number of nats from 0, not {self.bound!r}")
        if self.epsilon is not None:
            exact_epsilon(self.epsilon)

    @classmethod
    def of_manifest(cls, manifest: Mapping[str, Any]) -> Guarantee:
        """The guarantee that a release's manifest states; `KeyError` or `TypeError` where it lacks something."""
        bound = manifest.get("bound")
        return cls(
            manifest["epsilon"], manifest["metric"], manifest["evidence"], manifest["delta"], manifest["size"],
            ordered=manifest["ordered"], kept=manifest.get("kept_between", "none"), bound=bound,
            bound_delta=0.0 if bound is None else manifest["bound_delta"], preserve=manifest.get("preserve", "words"),
        )  # fmt: skip

    @property
    def unit(self) -> Literal["word", "document"]:
        """Whom it protects: a single word, or a document with all of its words."""
        return "word" if self.size is None else "document"

    @property
    def level(self) -> Literal["word", "document"]:
        """The unit of the constants, as manifests say it: distances of "word"s, or any two "document"s."""
        return "word" if self.bound is None else "document"

    @property
    def factor(self) -> int:
        """N of the lifting theorem, by which epsilon is multiplied; 1 where the whole document is protected at once."""
        return (self.size or 1) if self.bound is None else 1

    @property
    def per_unit(self) -> float:
        """Epsilon; infinite where nothing is stated per unit of distance."""
        return math.inf if self.epsilon is None else self.epsilon

    @property
    def strength(self) -> Strength:
        """The word for the bound between any two documents: strong, moderate, weak or empty."""
        return strength_of(self.bound)

    @property
    def between_any_delta(self) -> float:
        """The probability by which what is stated between any two documents can be exceeded."""
        return self.delta if self.bound is None else self.bound_delta

    @property
    def prices(self) -> dict[Unit, Fraction]:
        """The cost of a release under it in each unit that covers it; in none without evidence or a size.

        "epsilon-n-ordered" counts nats per unit of the mean distance word by word. That is at least the Earth Mover's
        distance, so a bag costs its epsilon*N there too. The other way round no finite price would do: documents of
        the same words in another order are at Earth Mover's distance 0, and ordered text tells them apart.

        "bound" counts nats between any two documents whatever, which document mechanisms state and word mechanisms do
        not: their nats are of different things, and no amount of one covers the other.
        """
        if self.bound is not None:
            return {"bound": exact_epsilon(self.bound)}
        if self.evidence == "none" or self.size is None:
            return {}
        a_word = exact_epsilon(self.per_unit)
        in_order: dict[Unit, Fraction] = {"epsilon-n-ordered": a_word * self.size}
        return in_order if self.ordered else {"epsilon-n": a_word * self.size, "epsilon": a_word, **in_order}

    def lifted(self, size: int) -> Guarantee:
        """The guarantee of a bag of ``size`` independent words: (epsilon*N)*E_d (the lifting theorem)."""
        if size < 1:
            raise UsageError(f"a bag needs at least one word, not {size}")
        return replace(self, size=size, delta=upward(min(Fraction(1), Fraction(self.delta) * size)))

    @property
    def epsilon_total(self) -> float | None:
        """epsilon*N: nats per unit of Earth Mover's distance, of the mean distance word by word when ordered."""
        return None if self.epsilon is None else _written(exact_epsilon(self.epsilon) * self.factor)

    def in_order(self, kept: Between = "none") -> Guarantee:
        """The guarantee when the words are released in order, with ``kept`` between them.

        The theorem on vectors (docs/theory.md section 2): each word's output depends on that word alone, so the
        exponents add up position by position.
        """
        return replace(self, ordered=True, kept=kept)

    def map(self, distance: float | None = None) -> float:
        """The exponent between two documents at ``distance``, in nats, rounded up: min(epsilon * N * E, bound).

        For a bag ``distance`` is the Earth Mover's distance E, rounded up where it was computed
        (`TransportPlan.distance_upper`). For an ordered release it is the sum of the distances word by word and
        the exponent epsilon times it: the weaker Manhattan bound. Without a distance: between any two documents.
        Infinite where neither a bound nor evidence is stated. Raises `UsageError` for a distance that is negative or
        not a number.

        >>> Guarantee(2.816, "euclidean", "proven").lifted(4).map(1 / 16)
        0.7040000000000001
        """
        if distance is not None and not distance >= 0:
            raise UsageError(f"a distance must be a number from 0, not {distance!r}")
        most = math.inf if self.bound is None or self.evidence == "none" else self.bound
        if distance is None or math.isinf(distance) or self.epsilon is None or self.evidence == "none":
            return most
        factor = 1 if self.ordered else self.factor
        return min(most, upward(exact_epsilon(self.epsilon) * factor * Fraction(distance)))

    privacy_map = map

    def between(self, plan: TransportPlan) -> float:
        """`privacy_map` for two documents whose transport was computed.

        Raises `PolicyError` when they have not exactly N words each: the theorem compares bags of one size.
        """
        if not plan.size_a == plan.size_b == (self.size or 1):
            raise PolicyError(
                f"the documents have {plan.size_a} and {plan.size_b} words, and the guarantee is for bags of exactly "
                f"{self.size or 1}: bring both to one length N"
            )
        if self.ordered:
            raise PolicyError(
                "the guarantee is for words in order: give the sum of the distances word by word"
            )
        return self.map(plan.distance_upper)

    def under(self, metric: str) -> Guarantee:
        """The same guarantee stated in a larger ``metric`` (Corollary 1): Euclidean as Manhattan.

        Raises `PolicyError` where the metric is not known to be larger.
        """
        if metric != self.metric and (self.metric, metric) not in _LARGER:
            raise PolicyError(
                f"{self.metric} distances are not known to be at most {metric} ones, so a guarantee in the first is "
                "none in the second: state it in the metric of the mechanism"
            )
        return replace(self, metric=metric)


def exact_epsilon(epsilon: float) -> Fraction:
    """The decimal number that ``epsilon`` is written as: 0.1 is one tenth. `UsageError` unless it is finite, > 0."""
    if not (math.isfinite(epsilon) and epsilon > 0):
        raise UsageError(f"epsilon must be a positive finite number, not {epsilon!r}")
    return Fraction(repr(float(epsilon)))


def compose(guarantees: Iterable[Guarantee], *, same_vectors: bool = False) -> Guarantee:
    """The guarantee of several releases of one document: epsilons, bounds and deltas add.

    All must be for bags of one size in one metric that keep the same; use `Guarantee.under` to bring them to one
    metric. Epsilons add up only where the distances are of the ``same_vectors``, or the same reference, which a
    guarantee does not know: unless you say so, what is stated is the bound between any two documents alone, which is
    free of distances. For several documents of one author, sizes or vectors that differ, add the exponents instead
    (`total_exponent`). Raises `PolicyError` for guarantees that have no common unit, `UsageError` for none at all.

    >>> topic = Guarantee(0.5, "reference", "proven", size=40, bound=7.0)
    >>> compose([topic, topic]).bound, compose([topic, topic]).epsilon
    (14.0, None)
    """
    parts = list(guarantees)
    if not parts:
        raise UsageError("there is nothing to compose: give at least one guarantee")
    units = {(part.metric, part.size, part.ordered, part.kept, part.preserve) for part in parts}
    if len(units) > 1:
        raise PolicyError(
            "guarantees in different metrics, sizes or orders have no common epsilon: add exponents"
        )
    bound = _added([part.bound for part in parts])
    per_unit = same_vectors or len(parts) == 1
    if bound is None and not per_unit:
        raise PolicyError(
            "nats per unit of distance add up only where the distances are of the same vectors: say "
            "same_vectors=True where the releases were made with the same ones, otherwise add exponents"
        )
    weakest = max((part.evidence for part in parts), key=("proven", "certified", STATED, "none").index)
    return replace(
        parts[0],
        epsilon=_added([part.epsilon for part in parts]) if per_unit else None,
        bound=bound,
        delta=upward(min(Fraction(1), sum((Fraction(part.delta) for part in parts), Fraction(0)))),
        bound_delta=upward(
            min(Fraction(1), sum((Fraction(part.bound_delta) for part in parts), Fraction(0)))
        ),
        evidence=weakest,
    )


def _added(parts: Sequence[float | None]) -> float | None:
    """The sum of numbers as they are written, rounded up; None where one of them is not stated."""
    known = [Fraction(repr(float(part))) for part in parts if part is not None]
    return _written(sum(known, Fraction(0))) if len(known) == len(parts) else None


def total_exponent(exponents: Iterable[float]) -> float:
    """The exponent of several releases seen together, of a document or of an author's documents: the sum, rounded up.

    Raises `UsageError` for an exponent that is negative or not a number.
    """
    parts = list(exponents)
    if not all(part >= 0 for part in parts):
        raise UsageError("an exponent must be a number from 0")
    return math.inf if math.inf in parts else upward(sum(map(Fraction, parts), Fraction(0)))


@final
@dataclass(frozen=True)
class Bound:
    """A promise between two documents: an output is at most exp(exponent) times as probable under one.

    Attributes:
        exponent: in nats.
        delta: probability by which that can be exceeded.

    """

    exponent: float
    delta: float

    def repeated(self, releases: int) -> Bound:
        """The bound for so many releases seen together; `UsageError` for fewer than one."""
        if releases < 1:
            raise UsageError(f"there must be at least one release, not {releases}")
        if math.isinf(self.exponent):
            return self
        delta = min(Fraction(1), Fraction(self.delta) * releases)
        return Bound(upward(Fraction(self.exponent) * releases), upward(delta))


def laplace_delta(metric: str, dimension: int | None, words: Iterable[tuple[float, float]]) -> float:
    """Delta of the Laplace mechanism's finite sampler between two documents, rounded up.

    ``words`` are pairs (how many words, epsilon times the distance each of them moves); deltas of words add up.
    Without a ``dimension``, the worst of those up to 1,024.
    """
    dimensions = range(1, _DIMENSIONS + 1) if dimension is None else [dimension]
    total = 0.0
    for count, epsilon_distance in words:
        total += count * max(NOISES[metric](n, 1.0).truncation_delta(epsilon_distance) for n in dimensions)
    return min(1.0, total * (1 + 1e-12))


def laplace_bound(promised: Guarantee, distance: float, dimension: int | None) -> Bound:
    """The bound of a release by the Laplace mechanism with vectors that are not at hand, between two documents.

    ``promised`` is lifted to N words; ``dimension`` None takes the worst. One word may have moved the whole
    ``distance``, so delta reaches 1 where the exponent is some 700 nats. Raises `UsageError` for a distance whose
    exponent is beyond all numbers.
    """
    exponent = promised.map(distance)
    if math.isinf(exponent):
        raise UsageError("the exponent is beyond all numbers: give a smaller distance")
    return Bound(exponent, laplace_delta(promised.metric, dimension, [(promised.size or 1, exponent)]))


def factor(exponent: float) -> float | None:
    """exp(``exponent``), rounded up: how many times as probable an output can be. None beyond float64's range."""
    try:
        # The C library's exp errs by less than one unit in the last place.
        value = math.nextafter(math.exp(exponent), math.inf) if exponent else 1.0
    except OverflowError:
        return None
    return value if math.isfinite(value) else None


def log10_factor(exponent: float) -> float:
    """The factor's power of ten: ``exponent`` / ln 10, rounded up."""
    return math.nextafter(exponent / math.log(10) * (1 + 2.0**-51), math.inf) if exponent else 0.0


def posterior_at_most(exponent: float, candidates: int) -> float:
    """The largest posterior from a prior of 1/``candidates`` when a release is seen, rounded up.

    For candidates that are all within ``exponent`` of each other and equally likely before: Bayes' rule gives
    1 / (1 + (k - 1) exp(-exponent)). Raises `UsageError` for fewer than one candidate.
    """
    if candidates < 1:
        raise UsageError(f"there must be at least one candidate, not {candidates}")
    value = 1 / (1 + (candidates - 1) * math.exp(-exponent))
    return min(1.0, value * (1 + 2.0**-50))


def posterior_with_all_rows(exponent: float, candidates: int) -> float:
    """As `posterior_at_most`, for whoever sees a row of each of the ``candidates``, and not the row in question alone.

    The other rows tell which texts are taken. To exchange the texts of two rows changes the probability of all rows by
    exp(2 ``exponent``) at most, in one release and in two, so 1 / (1 + (k - 1) exp(-2 ``exponent``)) is a limit.
    """
    return posterior_at_most(2 * exponent, candidates)


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
