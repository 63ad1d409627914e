"""The document becomes one of M public prototypes: an exact law in whole numbers with two constants.

Let F be the document's position, D_k its distance to the prototype k, u_k = min((D_k - min_j D_j) / 2, gamma) the
margin scores, which are 1-Lipschitz in F, and q_k proportional to exp(-2 s u_k), s = max(bound, 4) / gamma. Then

    P(k) = (1 + (e^bound - 1) q_k) / (e^bound + M - 1), M being every outcome.

The denominator is the same for all documents, so that any two documents are within ``bound`` whatever the scores
are; no normalizing constant has to be certified. Per unit of distance the logarithm moves by at most
2 s tanh(bound / 4) (docs/documents.md has both proofs). With gamma = 0 all of q lies on the chosen prototype: that is
randomized response, any public rule may choose, and nothing is stated per unit of distance.

One of the outcomes is "none of these": a virtual prototype at a public distance r from everything, the one that 99 of
100 held-out public documents do not exceed, and at the public point where a document without text stands. Its distance
is min(r + gamma, |F - empty| + s), s = max(0, min_j |empty - p_j| - 2 gamma), which is 1-Lipschitz like the others; the
gamma more keeps what fits, within the soft margin, from being taken for none. With a sharp choice it is chosen beyond r
and at that point alone. So what fits nothing is not forced into a topic, what has no text is not given one, and neither
can be told from a row: the outcome is counted in M, inside the bound.

The probabilities are whole numbers out of 2^62 and are drawn exactly from 62 random bits, so the bound is one
between whole numbers: nothing is lost to floating point.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import ROUND_CEILING, Context, Decimal
from fractions import Fraction
from typing import Any, Final, final

import numpy as np

from publius.arrays import Float64Array, IndexArray
from publius.errors import PolicyError, UsageError
from publius.mechanisms.mechanism import TOTAL, Outcomes, PublicOutcome, Votes
from publius.mechanisms.whole import (
    LENGTH,
    NO_VALUES,
    NUMBER_BYTES,
    WORD_BYTES,
    ManyBits,
    Noise,
    WholeDocument,
    random_bits,
)
from publius.noise.randomness import Generator
from publius.option import Settings, option
from publius.privacy.guarantee import Guarantee, upward
from publius.settings import PROTOTYPE
from publius.text.drawn_bags import DrawnBags
from publius.vectors.learning.prototypes import (
    NONE_OF_THESE,
    WORD_DRAWS,
    Aspect,
    Prototypes,
    Rule,
    distances_to,
    nearest_with_gap,
)
from publius.vectors.learning.reference import Reference
from publius.vectors.learning.typical_words import drawable

LARGEST_BOUND: Final = 30.0
"""In nats. Beyond 20 a bound promises nothing; here whole numbers would become coarse."""

SMALLEST_BOUND: Final = 1e-6
SMALLEST_GAMMA: Final = 1e-6

MARGIN_SHARE: Final = 0.25
"""Of the public margin: within it the choice of a prototype is soft. Costs a few thousandths of the topics."""

_BUCKET_BITS: Final = 20
_TYPICAL: Final = 8
_SHARPEST: Final = 4.0
_DIGITS: Final = 50
_UNIT: Final = 2.0**-52


@dataclass(frozen=True, kw_only=True)
class PrototypeParameters(Settings):
    """The parameters of `Prototype` beyond epsilon and the bound."""

    gamma: float | None = option(
        None,
        help="Margin within which the choice of a prototype is soft; 0 is randomized response.",
        at_least=0,
    )
    prototypes: int | None = option(
        None, help="How many prototypes, of the sets that the reference has. Default: as the bound allows.",
        at_least=1,
    )  # fmt: skip


@final
class Prototype(WholeDocument):
    """Each document becomes one of the reference's public prototypes, most often its own, or "none of these".

    Randomized response over public prototypes, sharp or by margin scores; see the module.

    >>> import publius
    >>> mechanism = publius.Prototype(publius.Reference.load("themes"), bound=7)
    >>> mechanism.guarantee.map()
    7.0
    >>> publius.release("The judge crossed the bridge.", mechanism).bag.size
    40
    """

    name = PROTOTYPE
    Parameters = PrototypeParameters
    fields = ("prototype", "label")
    tells_preserved = True
    prototypes: Prototypes
    gamma: float
    none_of_these: bool
    """Whether a document can come out as fitting no prototype: always but for releases of versions before 0.3."""

    def __init__(
        self,
        reference: Reference,
        *,
        preserve: str = "topic",
        epsilon: float | None = None,
        bound: float | None = None,
        gamma: float | None = None,
        prototypes: int | None = None,
        length: int = LENGTH,
        none_of_these: bool = True,
    ) -> None:
        """Take two of ``epsilon`` per unit of distance, ``bound`` in nats and ``gamma``, or one of the first two.

        Where gamma does not follow it is a quarter of the reference's margin, and 0 where prototypes are chosen by
        cosine and no epsilon is asked for. ``prototypes`` is the size of the set to use where the reference has
        several; by default the one that keeps most at the bound. Without ``none_of_these`` the law is that of releases
        made before 0.3: what fits nothing becomes the nearest. `UsageError` for values that do not exist.
        """
        self._take(reference, preserve, length)
        if epsilon is None and bound is None:
            raise UsageError("the mechanism prototype needs a bound in nats, or epsilon per unit of distance")
        if epsilon is not None and bound is not None and gamma is not None:
            raise UsageError("give two of epsilon, bound and gamma: the third follows")
        _check(epsilon=epsilon, bound=bound)
        if gamma is not None and not (math.isfinite(gamma) and (gamma == 0 or gamma >= SMALLEST_GAMMA)):
            raise UsageError(f"gamma must be 0 or a number from {SMALLEST_GAMMA:g}, not {gamma!r}")
        self.none_of_these = bool(none_of_these)
        self.prototypes = _chosen(self.aspect, bound, prototypes, int(self.none_of_these))
        self._solve(epsilon, bound, gamma)
        size = self.outcome_count
        self._floor = least_weight(self._asked_bound, size)
        self._free = TOTAL - size * self._floor
        self._guarantee = self._certified()

    def _solve(self, epsilon: float | None, bound: float | None, gamma: float | None) -> None:
        """The bound and gamma at which the constant per unit is at most epsilon."""
        lipschitz, usual = self.aspect.lipschitz, _usual_gamma(self.prototypes)
        if epsilon is None:
            default = usual if self.aspect.rule == "nearest" else 0.0
            self.gamma = default if gamma is None else gamma
            self._asked_bound = float(bound or 0.0)
            return
        if bound is None:
            gamma = usual if gamma is None else gamma
            if not gamma > 0:
                raise UsageError("with epsilon and no bound gamma must be positive: give --bound as well")
            bound = _bound_for(epsilon * gamma / lipschitz)
        else:
            gamma = _reach(bound) * lipschitz * math.tanh(bound / 4) / epsilon * (1 + 1e-12)
            gamma = max(gamma, SMALLEST_GAMMA)
        self._asked_bound, self.gamma = bound, gamma

    def _certified(self) -> Guarantee:
        size, floor = self.outcome_count, self._floor
        if size > 1 and Fraction(floor + self._free, floor) > _factor_below(self._asked_bound):
            raise PolicyError("the whole-number weights exceed the bound: this is a bug, nothing is released")
        epsilon, delta = self._per_unit() if self.gamma > 0 else (None, 0.0)
        return self._stated(epsilon, self._asked_bound, "certified", delta, 0.0)

    def _per_unit(self) -> tuple[float, float]:
        """The constant per unit of distance, and what rounding can add to a probability; both rounded up."""
        scale = self._steepness
        epsilon = self.aspect.lipschitz * scale * math.tanh(self._asked_bound / 4) * (1 + 1e-14)
        aspect, points = self.aspect, self.prototypes.points
        reach = float(np.abs(aspect.features).max() + np.abs(points).max()) * math.sqrt(aspect.dimension)
        exponent = scale * (aspect.dimension + 12) * reach * _UNIT + 8 * _UNIT
        size = self.outcome_count
        relative = 2 * exponent + 4 * size * _UNIT + (size + 1) * size / self._floor + size**2 * _UNIT
        return float(np.nextafter(epsilon, np.inf)), min(1.0, 4 * relative)

    @property
    def _steepness(self) -> float:
        """2 s: of the exponential law of the margin scores."""
        return _reach(self._asked_bound) / self.gamma

    @property
    def guarantee(self) -> Guarantee:
        """See `Mechanism.guarantee`; certified between the whole numbers that are drawn with."""
        return self._guarantee

    @property
    def parameters(self) -> dict[str, Any]:
        """See `Mechanism.parameters`."""
        rule = self._rule
        facts = {"prototypes": self.prototypes.size, "gamma": self.gamma, "rule": rule}
        return {**facts, "none_of_these": True} if self.none_of_these else facts

    @property
    def outcome_count(self) -> int:
        """M, every outcome: the prototypes, and "none of these"."""
        return self.prototypes.size + self.none_of_these

    @property
    def farthest(self) -> float | None:
        """See `Mechanism.farthest`: r, where the reference stores it."""
        stored = self.prototypes.farthest
        return None if stored is None else stored[self._rule]

    @property
    def _rule(self) -> Rule:
        return "nearest" if self.gamma > 0 else self.aspect.rule

    @property
    def outcomes(self) -> list[PublicOutcome]:
        """See `Mechanism.outcomes`."""
        vocabulary, found = self.reference.vocabulary, self.prototypes
        named = [
            PublicOutcome(k, label, tuple(vocabulary[i] for i in found.typical(k, _TYPICAL)))
            for k, label in enumerate(found.labels)
        ]
        if not self.none_of_these:
            return named
        words = np.argsort(-self.reference.background, kind="stable")[:_TYPICAL].tolist()
        return [*named, PublicOutcome(found.size, NONE_OF_THESE, tuple(vocabulary[i] for i in words))]

    def fit_none(self, documents: Sequence[IndexArray]) -> np.ndarray[Any, np.dtype[np.bool_]] | None:
        """See `Mechanism.fit_none`: those for which "none of these" is the most probable outcome, shape (n,)."""
        if not self.none_of_these:
            return None
        return np.asarray(self._own(self.positions(documents)) == self.prototypes.size)

    @property
    def probability_kept(self) -> float:
        """See `Mechanism.probability_kept`: attained where scores are sharp, an upper limit where they are soft."""
        return fidelity(self._asked_bound, self.outcome_count)

    @classmethod
    def votes(cls, parameters: Mapping[str, Any]) -> Votes:
        """See `Mechanism.votes`."""
        outcomes = int(parameters["prototypes"]) + bool(parameters.get("none_of_these"))
        return Votes(outcomes, soft=parameters["gamma"] > 0)

    @property
    def landmarks(self) -> Prototypes:
        """See `Mechanism.landmarks`."""
        return self.prototypes

    @property
    def noise_bytes(self) -> int:
        """See `Mechanism.noise_bytes`: 64 bits for the prototype and 32 for each word."""
        return NUMBER_BYTES + WORD_BYTES * self.length

    def noise(self, rng: Generator) -> Noise:
        """See `Mechanism.noise`."""
        return Noise(NO_VALUES, random_bits(rng, self.noise_bytes))

    def apply(self, documents: Sequence[IndexArray], noise: Sequence[Noise]) -> Outcomes:
        """See `Mechanism.apply`."""
        bits = np.frombuffer(b"".join(ManyBits.of(noise).bits), "<u4").astype(np.int64)
        held = bits.reshape(len(noise), 2 + self.length)
        numbers = (held[:, 0] >> 2) | (held[:, 1] << 30)
        chosen = self._drawn(self.positions(documents), numbers)
        places = self._words(held[:, 2:] + WORD_DRAWS * chosen[:, None])
        named = [(each.prototype, each.label) for each in self.outcomes]
        return Outcomes(DrawnBags(self._alphabet, places), [named[k] for k in chosen.tolist()])

    def _words(self, draws: IndexArray) -> IndexArray:
        """The place of the word of each draw: found from the first word of the draw's bucket, mostly that itself."""
        words, ends, first = self._drawable
        found = first[draws >> _BUCKET_BITS]
        beyond = ends[found] <= draws
        found[beyond] = np.searchsorted(ends, draws[beyond], side="right")
        return np.asarray(words[found])

    @functools.cached_property
    def drawable_words(self) -> tuple[IndexArray, IndexArray]:
        """Places of the words that are drawn for each outcome, and how likely each is, out of 2^32; shapes (M, W).

        For "none of these" they are the words that are most frequent in all public texts.
        """
        words, weights = self.prototypes.words, self.prototypes.weights
        if self.none_of_these:
            usual = drawable(self.reference.background[None, :], words.shape[1])
            words, weights = np.vstack([words, usual[0]]), np.vstack([weights, usual[1]])
        return words, weights

    @functools.cached_property
    def _drawable(self) -> tuple[IndexArray, IndexArray, np.ndarray[Any, np.dtype[np.int32]]]:
        """The words of all prototypes, one prototype behind the other, and where the draws of each word end.

        The words are places, each prototype's in alphabetical order. A draw of prototype k is k 2^32 and a whole
        number below 2^32. The last array has the word of the first draw of each bucket of 2^20.
        """
        words, weights = self.drawable_words
        order = np.argsort(self._alphabet.ranks[words], axis=1)
        ends = np.cumsum(np.take_along_axis(weights, order, axis=1), axis=1)
        ends += WORD_DRAWS * np.arange(len(ends))[:, None]
        buckets = np.arange(len(ends) * WORD_DRAWS >> _BUCKET_BITS) << _BUCKET_BITS
        first = np.searchsorted(ends.ravel(), buckets, side="right").astype(np.int32)
        return np.take_along_axis(words, order, axis=1).ravel(), ends.ravel(), first

    def _drawn(self, positions: Float64Array, numbers: IndexArray) -> IndexArray:
        """The prototype of each document for a whole number from 0 to 2^62 - 1."""
        size, floor = self.outcome_count, self._floor
        anyone = numbers < size * floor
        chosen = numbers // floor
        rest = np.flatnonzero(~anyone)
        if not len(rest):
            return chosen
        if self.gamma == 0 or size == 1:
            chosen[rest] = self._own(positions[rest])
            return chosen
        sums = np.cumsum(self._shares(positions[rest]), axis=1)
        above = numbers[rest] - size * floor
        chosen[rest] = (sums <= above[:, None]).sum(axis=1)
        return chosen

    def weights(self, documents: Sequence[IndexArray]) -> IndexArray:
        """See `Mechanism.weights`: a floor for every prototype, and the rest for the nearest ones."""
        positions = self.positions(documents)
        shares = np.zeros((len(positions), self.outcome_count), np.int64)
        if self.gamma == 0 or self.outcome_count == 1:
            shares[np.arange(len(positions)), self._own(positions)] = self._free
        else:
            shares = self._shares(positions)
        return shares + self._floor

    def _own(self, positions: Float64Array) -> IndexArray:
        """What each document is: the nearest prototype, or none."""
        if self.gamma > 0:
            return np.asarray(self.margin_scores(positions).argmin(axis=1))
        chosen, gaps = nearest_with_gap(self.aspect.rule, positions, self.prototypes.points)
        if self.none_of_these:
            without_text = (positions == self.aspect.empty).all(axis=1)
            beyond = gaps > (math.inf if self.farthest is None else self.farthest)
            chosen = np.where(without_text | beyond, self.prototypes.size, chosen)
        return np.asarray(chosen)

    def _distances(self, positions: Float64Array) -> Float64Array:
        """To each prototype, and to the virtual one: see the module; shape (n, M)."""
        points, empty = self.prototypes.points, self.aspect.empty[None, :]
        gaps = distances_to(positions, points)
        if not self.none_of_these:
            return gaps
        away = max(0.0, float(distances_to(empty, points).min()) - 2 * self.gamma)
        none = distances_to(positions, empty) + away
        return np.hstack(
            [gaps, none if self.farthest is None else np.minimum(none, self.farthest + self.gamma)]
        )

    def _shares(self, positions: Float64Array) -> IndexArray:
        """The share of each prototype beyond its floor, whole numbers that sum to `_free`; shape (n, M)."""
        scores = self.margin_scores(positions)
        soft = np.exp(-self._steepness * scores)
        soft /= soft.sum(axis=1, keepdims=True)
        shares = np.floor(soft * self._free).astype(np.int64)
        nearest = scores.argmin(axis=1)
        rows = np.arange(len(shares))
        shares[rows, nearest] = 0
        shares[rows, nearest] = self._free - shares.sum(axis=1)
        return np.asarray(shares)

    def margin_scores(self, positions: Float64Array) -> Float64Array:
        """u_k = min((D_k - min_j D_j) / 2, gamma), shape (n, M): none moves further than the position does."""
        gaps = self._distances(positions)
        gaps -= gaps.min(axis=1, keepdims=True)
        return np.asarray(np.minimum(gaps / 2, self.gamma))

    def _exact_exponent(self, a: IndexArray, b: IndexArray) -> float | None:
        one, two = self.weights([a, b]).tolist()
        ratios = [Fraction(x, y) for x, y in zip(one, two, strict=True)]
        largest = max(max(ratios), max(1 / ratio for ratio in ratios))
        return _log_upward(largest)


def checked_bound(bound: float | None) -> None:
    """Refuse a bound that whole numbers cannot hold: `UsageError`."""
    _check(bound=bound)


def _check(**given: float | None) -> None:
    for name, value in given.items():
        if value is None:
            continue
        least, largest = (SMALLEST_BOUND, LARGEST_BOUND) if name == "bound" else (1e-100, 1e6)
        number = isinstance(value, int | float | np.number) and not isinstance(value, bool)
        if not number or not (math.isfinite(value) and least <= value <= largest):
            raise UsageError(f"{name} must be a number from {least:g} to {largest:g}, not {value!r}")


def _chosen(aspect: Aspect, bound: float | None, asked: int | None, more: int) -> Prototypes:
    """The set asked for, or the one that keeps most at this bound: fidelity times its public quality."""
    if asked is not None:
        return aspect.prototypes(asked)
    if bound is None:
        return aspect.sets[-1]
    return max(aspect.sets, key=lambda found: fidelity(bound, found.size + more) * found.quality)


def _usual_gamma(prototypes: Prototypes) -> float:
    usual = prototypes.margin * MARGIN_SHARE
    return usual if usual >= SMALLEST_GAMMA else 0.0


def fidelity(bound: float, size: int, alike: int = 1) -> float:
    """e^B / (e^B + k - 1): how often the right one of k equally likely can be named at most, and here is.

    Where any of ``alike`` of them is as right, it is (e^B + alike - 1) / (e^B + k - 1).
    """
    return (1 + (alike - 1) * math.exp(-bound)) / (1 + (size - 1) * math.exp(-bound))


def least_weight(bound: float, size: int) -> int:
    """The smallest whole number w with (2^62 - (M - 1) w) / w <= e^bound, all of it in exact arithmetic."""
    return math.ceil(TOTAL / (_factor_below(bound) + size - 1))


def _factor_below(bound: float) -> Fraction:
    """A rational number just below exp(``bound``), the bound taken as the decimal it is written as."""
    exact = Context(prec=_DIGITS).exp(Decimal(repr(float(bound))))
    return Fraction(exact) * (1 - Fraction(1, 10 ** (_DIGITS - 5)))


def _log_upward(ratio: Fraction) -> float:
    """The natural logarithm of a ratio from 1, rounded up."""
    if ratio == 1:
        return 0.0
    up = Context(prec=_DIGITS, rounding=ROUND_CEILING)
    quotient = up.divide(Decimal(ratio.numerator), Decimal(ratio.denominator))
    logarithm = up.ln(quotient)
    return upward(Fraction(logarithm) * (1 + Fraction(1, 10 ** (_DIGITS - 5))))


def _reach(bound: float) -> float:
    """2 s gamma: a prototype whose margin is gamma gets e^-that of what the nearest gets, beyond its floor.

    The floor alone is e^-bound of the rest; the square of that adds nothing to speak of, and at small bounds e^-8.
    """
    return 2 * max(bound, _SHARPEST)


def _bound_for(wanted: float) -> float:
    """The B with reach(B) tanh(B / 4) = ``wanted``, rounded down; at most `LARGEST_BOUND`."""
    low, high = 0.0, LARGEST_BOUND
    if _reach(high) * math.tanh(high / 4) <= wanted:
        return high
    for _ in range(200):
        middle = (low + high) / 2
        low, high = (middle, high) if _reach(middle) * math.tanh(middle / 4) <= wanted else (low, middle)
    if low < SMALLEST_BOUND:
        raise UsageError("epsilon is too small for this margin: give a bound as well")
    return low * (1 - 1e-12)
