"""The exact constant of an exponential mechanism on a vocabulary, and its inverse (docs/theory.md section 5).

K(x){w} is proportional to weights_w exp(-min(s delta(x, w), tau)). delta (``inner``) is a pseudometric, d (``outer``)
the metric of the guarantee; often they are the same. Over all outputs w the ratio K(x){w} / K(x'){w} is largest at
w = x, where the triangle inequality of min(s delta, tau) is attained. So

    epsilon(s) = max over x != x' of [min(s delta(x, x'), tau) + ln Z(x') - ln Z(x)] / d(x, x').

Every pair is bounded from above, with float64 matrix products; the few pairs that reach the maximum are computed
again by differences, and the result is rounded up. Where delta is d and nothing is truncated, s is a share of every
slope, and the rest is |ln Z(x') - ln Z(x)| / d(x, x'), where d is no less than either point's to its nearest: so of
points in the order of ln Z most pairs are bounded together, without their distances.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import final

import numpy as np

from publius.arrays import Float64Array, IndexArray
from publius.errors import DataError, PolicyError
from publius.files.progress import stage
from publius.mechanisms.finite.certificate import line, sweep
from publius.mechanisms.finite.certificate.distances import UNIT, AbstractDistances, Indices

ONE_POINT = "a vocabulary needs at least two distinct points: with one, every word is the same"
SMALLEST_WEIGHT_RATIO = 1e-12
_BOUNDS_TOO_HIGH = 1e-5  # as a share: far more than doubt and slack make of it
_SORTED_FROM = 4096  # points: of fewer all pairs are soon looked at


@final
@dataclass(frozen=True, eq=False)
class Law:
    """An exponential mechanism on P distinct points, but for its scale.

    Attributes:
        outer: d, in which the guarantee is stated.
        weights: positive, sum 1, shape (P,).
        inner: delta, or None where it is d.
        truncation: tau; infinite for none.
    """

    outer: AbstractDistances
    weights: Float64Array
    inner: AbstractDistances | None = None
    truncation: float = math.inf

    def __post_init__(self) -> None:
        """Refuse what the proof does not cover: `DataError`."""
        weights = np.asarray(self.weights, np.float64)
        if weights.shape != (self.outer.size,) or not np.isfinite(weights).all():
            raise DataError(f"the weights must be {self.outer.size} finite numbers, one a point")
        if not weights.min() > 0 or weights.min() < SMALLEST_WEIGHT_RATIO * weights.max():
            raise DataError(
                f"the weights must be positive and the smallest at least {SMALLEST_WEIGHT_RATIO:g} of the largest: "
                "a word with less is never an output, so raise it or leave it out of the vocabulary"
            )
        object.__setattr__(self, "weights", weights / weights.sum())

    @property
    def delta(self) -> AbstractDistances:
        """The distances inside the exponent."""
        return self.inner if self.inner is not None else self.outer

    @property
    def plain(self) -> bool:
        """Whether there is one metric and no truncation: s d(x, x') is the same share of every slope."""
        return self.inner is None and self.truncation == math.inf


@final
@dataclass(frozen=True)
class Constant:
    """A certified constant.

    Attributes:
        epsilon: never below the exact constant, above it by rounding only.
        scale: s.
        worst: (x, x') points with the largest ratio, attained by the output x.
        smallest_distance: between two different points.
    """

    epsilon: float
    scale: float
    worst: tuple[int, int]
    smallest_distance: float


def same(law: Law, constant: Constant) -> bool:
    """Whether the worst pair of ``constant`` has the ratio that it says: a check of a stored one, in two rows."""
    pairs = Pairs(law, np.array([constant.worst]), np.ones(law.outer.size))
    slope = float(pairs.slopes(constant.scale)[0])
    return slope <= constant.epsilon <= slope * (1 + 1e-6) + 1e-12


def certify(law: Law, scale: float) -> Constant:
    """The exact constant of ``law`` at ``scale``, over all ordered pairs and all outputs, rounded up."""
    return _certify(law, scale)[0]


def _certify(law: Law, scale: float, which: str = "") -> tuple[Constant, Pairs]:
    """The constant, and the steepest pairs by differences."""
    if law.outer.size < 2:
        raise DataError(ONE_POINT)
    nearest = np.empty(law.outer.size) if law.plain and law.outer.size >= _SORTED_FROM else None
    with stage(f"Certifying the mechanism{which}: sums over all words"):
        normalizers = sweep.weighted_sums(law.delta, scale, law.weights, cap=law.truncation / scale, nearest=nearest)
    bounds = _Bounds(law, scale, normalizers, nearest)
    ways = [None] if nearest is None or not nearest.min() > 0 else [bounds, None]
    with stage(f"Certifying the mechanism{which}: all pairs of words"):
        for rising in ways:
            slopes = sweep.steepest_pairs(law.outer, law.inner, bounds, rising)
            pairs = Pairs(law, slopes.pairs, normalizers)
            values = pairs.slopes(scale)
            if values.max() >= slopes.others:
                break
    epsilon = _rounded_up(law, scale, max(float(values.max()), slopes.others))
    return Constant(epsilon, scale, pairs.pair(int(values.argmax())), slopes.smallest_distance), pairs


def _rounded_up(law: Law, scale: float, value: float) -> float:
    """``value`` and the rounding of `Pairs.slopes`: distances, exponentials, sums of P terms, one division."""
    relative = 16 * (law.delta.exact_error + law.outer.exact_error) + 2.0**-44
    return math.nextafter(value + relative * max(scale, value), math.inf)


@final
class _Bounds:
    """Upper bounds of all pairs' slopes: what a fast distance can be off is on the safe side."""

    def __init__(self, law: Law, scale: float, normalizers: Float64Array, nearest: Float64Array | None) -> None:
        self._law, self._scale = law, scale
        self.nearest = np.empty(0) if nearest is None else nearest
        self.heights = np.log(normalizers)
        reach = 60 + math.log(law.outer.size * law.weights.max() / law.weights.min())
        self._doubt = 2 * (reach * law.delta.relative_error + law.outer.size * UNIT)
        self._slack = 1 + 4 * (law.delta.relative_error + law.outer.relative_error) + 2.0**-40

    def __call__(self, far: Float64Array, near: Float64Array | None, rows: Indices, columns: Indices) -> Float64Array:
        """See `sweep.SlopeFunction`."""
        law = self._law
        if not far.min() > 0:
            raise PolicyError(
                "two different points are at distance 0, and no constant bounds their ratio; use another metric"
            )
        ratios = np.subtract(self.heights[rows][:, None], self.heights[columns])
        np.abs(ratios, out=ratios)
        ratios += self._doubt
        if not law.plain:
            ratios += np.minimum((far if near is None else near) * self._scale, law.truncation)
        ratios /= far
        if law.plain:
            ratios += self._scale
            if far[-1, 0] == np.inf:  # the tile on the diagonal
                ratios[far == np.inf] = 0.0
        ratios *= self._slack
        return ratios

    def rise(self, threshold: float) -> tuple[float, float]:
        """See `sweep.Rising`: (s + (difference of heights + doubt) / d) slack bounds a slope.

        In the slack is how far the nearest may be off; rounding of heights and distances is in what is added here.
        """
        most = float(np.abs(self.heights).max())
        return threshold / self._slack - self._scale, self._doubt + 2.0**-44 * (1 + most)

    def least(self, best: float, share: float) -> float:
        """See `sweep.Rising`; at least what the bounds may be too high by."""
        return best - max(share * (best - self._scale), _BOUNDS_TOO_HIGH * best)


@final
class Pairs:
    """A few pairs of points whose slopes are computed by differences, at any scale."""

    def __init__(self, law: Law, pairs: IndexArray, normalizers: Float64Array) -> None:
        """Keep the distance rows of ``pairs``, shape (k, 2), each turned so that Z(x') >= Z(x)."""
        self._law = law
        turned = normalizers[pairs[:, 0]] > normalizers[pairs[:, 1]]
        self._pairs = np.where(turned[:, None], pairs[:, ::-1], pairs)
        self._points, places = np.unique(self._pairs, return_inverse=True)
        self._places = places.reshape(self._pairs.shape)
        self._near = law.delta.exact(self._points, slice(None))
        self._gains = [law.delta.gain(int(x), int(y)) for x, y in self._pairs]
        self._doubts = [law.delta.gain_doubt(int(x), int(y)) for x, y in self._pairs]
        self._far = [float(law.outer.exact(np.array([x]), np.array([y]))[0, 0]) for x, y in self._pairs]

    def pair(self, place: int) -> tuple[int, int]:
        """The ordered pair at ``place``."""
        return int(self._pairs[place, 0]), int(self._pairs[place, 1])

    def slopes(self, scale: float) -> Float64Array:
        """ln( K(x){x} / K(x'){x} ) / d(x, x') of each pair, shape (k,), in the steeper direction.

        Never too small by more than `_rounded_up` adds: what the gains may err beyond that is added here.
        """
        return np.array([self._slope(place, scale) for place in range(len(self._pairs))])

    def _slope(self, place: int, scale: float) -> float:
        law, cap = self._law, self._law.truncation
        near, far = (np.minimum(scale * self._near[row], cap) for row in self._places[place])
        gain = scale * self._gains[place]
        doubts = scale * self._doubts[place] + np.zeros_like(near)  # what rounding may take from the gains
        if cap < math.inf:
            gain = np.where((near < cap) & (far < cap), gain, far - near)
            split = (near < cap) != (far < cap)  # words on either side of tau
            doubts[split] = 2 * (law.delta.exact_error + UNIT) * (near + far)[split]
        kernel = law.weights * np.exp(-near)
        normalizer = float(kernel.sum())
        spread = float(far[self._pairs[place, 0]])
        # ln Z(x') - ln Z(x) by the gain of each term: right even where the two points nearly coincide.
        if spread < 500:
            change = math.log1p(float((kernel * np.expm1(-gain)).sum()) / normalizer)
        else:  # below 0: the other direction is the steeper one after all
            change = math.log(float((law.weights * np.exp(-far)).sum()) / normalizer)
        return (spread + abs(change) + float(kernel @ doubts) / normalizer) / self._far[place]


@final
@dataclass(frozen=True, eq=False)
class Line:
    """The exponential mechanism on the distinct values of a line: no truncation or second metric.

    Attributes:
        values: ascending and distinct, shape (P,), float64.
        weights: positive, shape (P,), in the same order.
    """

    values: Float64Array
    weights: Float64Array

    def certify(self, scale: float) -> Constant:
        """As `certify`, from the P - 1 neighbouring pairs; points are positions in ``values``."""
        if len(self.values) < 2:
            raise DataError(ONE_POINT)
        slopes = line.neighbour_slopes(np.diff(self.values), self.weights, scale)
        place = int(np.abs(slopes).argmax())
        steepest = float(slopes[place])
        worst = (place, place + 1) if steepest >= 0 else (place + 1, place)
        # Each step of the recurrences errs by a few units; no cancellation follows.
        largest = scale + abs(steepest) + self.rounding * scale
        return Constant(math.nextafter(largest, math.inf), scale, worst, float(np.diff(self.values).min()))

    @property
    def rounding(self) -> float:
        """The allowance for rounding that `certify` adds, as a share of the scale."""
        return (16 + 4 * len(self.values)) * UNIT

    def calibrate(self, epsilon: float) -> Constant:
        """As `calibrate`, to 1e-9: a pass costs next to nothing."""
        scale = _solve(lambda s: self.certify(s).epsilon, (1 - 1e-9) * epsilon)
        found = self.certify(scale)
        return found if found.epsilon <= epsilon else self.certify(scale * (1 - 1e-8))


_AIM = 0.9997
_ENOUGH = 0.999
_ROUNDS = 10


def calibrate(law: Law, epsilon: float) -> Constant:
    """The constant with the largest scale found whose epsilon is at most ``epsilon`` and at least 0.999 of it.

    After each full pass the steepest pairs of all passes are solved for the scale, which costs next to nothing;
    the next full pass checks it. Two or three passes are usual.
    """
    scale = 0.8 * epsilon
    seen: list[Pairs] = []
    best: Constant | None = None
    for number in range(1, _ROUNDS + 1):
        constant, pairs = _certify(law, scale, f", pass {number} (two or three are usual)")
        seen.append(pairs)
        if _ENOUGH * epsilon <= constant.epsilon <= epsilon:
            return constant
        if constant.epsilon <= epsilon and (best is None or constant.scale > best.scale):
            best = constant
        scale = _solve(lambda s: max(float(part.slopes(s).max()) for part in seen), _AIM * epsilon)
    if best is None:
        raise PolicyError(
            f"no scale was found whose certified constant is at most epsilon {epsilon:g}: ask for a larger epsilon"
        )
    return best


def _solve(slope: Callable[[float], float], target: float) -> float:
    """The scale at which the steepest of the known pairs reaches ``target``."""
    from scipy.optimize import brentq

    low, high = 0.45 * target, target
    while slope(high) < target and high < 16 * target:
        low, high = high, 1.5 * high
    while slope(low) > target:
        low /= 2
    if slope(high) < target:
        return high
    return float(brentq(lambda s: slope(s) - target, low, high, xtol=1e-12 * target, rtol=1e-10))
