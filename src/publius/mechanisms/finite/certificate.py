"""The exact constant of an exponential mechanism on a vocabulary, and its inverse (docs/theory.md, words).

K(x){w} is proportional to weights_w exp(-min(s delta(x, w), tau)). delta (``inner``) is a pseudometric, d (``outer``)
the metric of the guarantee; often they are the same. Over all outputs w the ratio K(x){w} / K(x'){w} is largest at
w = x, where the triangle inequality of min(s delta, tau) is attained. So

    epsilon(s) = max over x != x' of [min(s delta(x, x'), tau) + ln Z(x') - ln Z(x)] / d(x, x').

Every pair is bounded from above, with float64 matrix products; the few pairs that reach the maximum are computed
again by differences, and the result is rounded up.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from itertools import accumulate
from typing import Any, final

import numpy as np
from numpy.typing import NDArray

from publius.arrays import Float64Array, IndexArray
from publius.errors import DataError, PolicyError
from publius.files.progress import stage
from publius.mechanisms.finite import sweep
from publius.mechanisms.finite.sweep import UNIT, VocabularyDistances

_ONE_POINT = "a vocabulary needs at least two distinct points: with one, every word is the same"
_SMALLEST_WEIGHT_RATIO = 1e-12
_AIM = 0.9997
_ENOUGH = 0.999
_ROUNDS = 10


@final
@dataclass(frozen=True, eq=False)
class Law:
    """An exponential mechanism on P distinct points, but for its scale; without ``inner`` delta is d, the ``outer``."""

    outer: VocabularyDistances
    weights: Float64Array
    inner: VocabularyDistances | None = None
    truncation: float = math.inf

    def __post_init__(self) -> None:
        """Refuse what the proof does not cover: `DataError`."""
        weights = self.weights
        if not weights.min() > 0 or weights.min() < _SMALLEST_WEIGHT_RATIO * weights.max():
            raise DataError(
                f"the weights must be positive and the smallest at least {_SMALLEST_WEIGHT_RATIO:g} of the largest: "
                "a word with less is never an output, so raise it or leave it out of the vocabulary"
            )
        object.__setattr__(self, "weights", weights / weights.sum())

    @property
    def plain(self) -> bool:
        """Whether there is one metric and no truncation: s d(x, x') is the same share of every slope."""
        return self.inner is None and self.truncation == math.inf

    @property
    def delta(self) -> VocabularyDistances:
        """The distances inside the exponent."""
        return self.inner if self.inner is not None else self.outer


@final
@dataclass(frozen=True)
class Constant:
    """A certified constant: ``epsilon`` is never below the exact one, which the output x of ``worst`` (x, x') attains."""

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
        raise DataError(_ONE_POINT)
    nearest = np.empty(law.outer.size)
    with stage(f"Certifying the mechanism{which}: sums over all words"):
        normalizers = sweep.weighted_sums(
            law.delta, scale, law.weights, cap=law.truncation / scale, nearest=nearest if law.plain else None
        )
    heights = np.log(normalizers)
    by_height: tuple[Any, ...] = ()
    if law.plain and nearest.min() > 0:
        order = np.argsort(heights, kind="stable")
        could = np.maximum(heights - heights[order[0]], heights[order[-1]] - heights) / nearest
        by_height = order, _needed(law, scale, heights, nearest), np.argsort(-could, kind="stable")[:16]
    with stage(f"Certifying the mechanism{which}: all pairs of words"):
        slopes = sweep.steepest_pairs(law.outer, law.inner, _bounds(law, scale, heights), *by_height)
    pairs = Pairs(law, slopes.pairs, normalizers)
    values = pairs.slopes(scale)
    value = max(float(values.max()), slopes.others)
    # The rounding of `Pairs.slopes`: distances, exponentials, sums of P terms, one division.
    relative = 16 * (law.delta.exact_error + law.outer.exact_error) + 2.0**-44
    epsilon = math.nextafter(value + relative * max(scale, value), math.inf)
    smallest = float(nearest.min()) if law.plain else slopes.smallest_distance
    return Constant(epsilon, scale, pairs.pair(int(values.argmax())), smallest), pairs


def _bounds(law: Law, scale: float, heights: Float64Array) -> sweep.SlopeFunction:
    """Upper bounds of all pairs' slopes, ``heights`` ln Z: what a fast distance can be off is on the safe side."""
    doubt, slack = _room(law)
    heights, doubt, scale, truncation = slack * heights, slack * doubt, slack * scale, slack * law.truncation

    def bounds(far: Float64Array, near: Float64Array | None, rows: IndexArray, columns: IndexArray) -> Float64Array:
        ratios = np.subtract(heights[rows][:, None], heights[columns])
        np.abs(ratios, out=ratios)
        ratios += doubt
        if not law.plain:
            ratios += np.minimum((far if near is None else near) * scale, truncation)
        ratios /= far
        if law.plain:
            ratios += scale
        return ratios

    return bounds


def _room(law: Law) -> tuple[float, float]:
    """What fast distances can be off: the doubt of a difference of ln Z, and the slack of a slope as a factor."""
    reach = 60 + math.log(law.outer.size * law.weights.max() / law.weights.min())
    slack = 1 + 4 * (law.delta.relative_error + law.outer.relative_error) + 2.0**-40
    return 2 * (reach * law.delta.relative_error + law.outer.size * UNIT), slack


def _needed(law: Law, scale: float, heights: Float64Array, nearest: Float64Array) -> sweep.Needed:
    """Of points in the order of ``heights``: a slope is s + (their difference) / d, and d no less than to the nearest."""
    doubt, slack = _room(law)
    doubt = doubt + 2.0**-40 * (1 + float(np.abs(heights).max()))

    def needed(rows: IndexArray, columns: IndexArray, least: float) -> NDArray[np.bool_]:
        rise = (least / slack - scale) / slack  # a difference below rise * d - doubt is not enough
        high, low = heights[columns], heights[rows]
        enough: NDArray[np.bool_] = high >= (low + rise * nearest[rows]).min() - doubt
        return np.asarray(enough & (high - rise * nearest[columns] >= low[0] - doubt))

    return needed


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
        self._far = [float(law.outer.exact(np.array([x]), np.array([y]))[0, 0]) for x, y in self._pairs]

    def pair(self, place: int) -> tuple[int, int]:
        """The ordered pair at a place."""
        return int(self._pairs[place, 0]), int(self._pairs[place, 1])

    def slopes(self, scale: float) -> Float64Array:
        """ln(K(x){x} / K(x'){x}) / d(x, x') of each pair in the steeper direction; `certify` adds what it may be too small."""
        return np.array([self._slope(place, scale) for place in range(len(self._pairs))])

    def _slope(self, place: int, scale: float) -> float:
        law, cap = self._law, self._law.truncation
        near, far = (np.minimum(scale * self._near[row], cap) for row in self._places[place])
        gain, doubt = (scale * each for each in self._gains[place])
        doubts = doubt + np.zeros_like(near)  # what rounding may take from the gains
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
        scale = solve(lambda s: max(float(part.slopes(s).max()) for part in seen), _AIM * epsilon)
    if best is None:
        raise PolicyError(
            f"no scale was found whose certified constant is at most epsilon {epsilon:g}: ask for a larger epsilon"
        )
    return best


def solve(slope: Callable[[float], float], target: float) -> float:
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


@final
class Line:
    """One dimension, without truncation or a second metric: exact in linear time (docs/theory.md, words).

    On a line distances add up, so the largest slope over all pairs is that over neighbours, and normalizing constants come
    from two recurrences. Sorted distinct values v_0 < ... < v_{P-1}, gaps h_i = v_{i+1} - v_i, decays e_i = exp(-s h_i):
        L_0 = w_0,  L_i = w_i + e_{i-1} L_{i-1}          (what lies at v_i and to its left)
        R_{P-1} = w_{P-1},  R_i = w_i + e_i R_{i+1}      (at v_i and to its right)
        Z_i = L_i + e_i R_{i+1},   Z_{i+1} - Z_i = (1 - e_i) (R_{i+1} - L_i)
    The last line has no cancellation that matters however small the gap.
    """

    def __init__(self, values: Float64Array, weights: Float64Array) -> None:
        if len(values) < 2:
            raise DataError(_ONE_POINT)
        self._order = np.argsort(values, kind="stable")
        self._gaps, self._weights = np.diff(values[self._order]), weights[self._order]
        self.rounding = (16 + 4 * len(values)) * UNIT  # a share of the scale, added by `certify`

    def certify(self, scale: float) -> Constant:
        """As `exact.certify`, from the P - 1 neighbouring pairs."""
        decays = np.exp(-scale * self._gaps)
        left = _running(self._weights, decays)
        right = _running(self._weights[::-1], decays[::-1])[::-1]
        rise = -np.expm1(-scale * self._gaps) * (right[1:] - left[:-1])
        slopes = np.log1p(rise / (left[:-1] + decays * right[1:])) / self._gaps
        place = int(np.abs(slopes).argmax())
        first, second = self._order[place : place + 2].tolist()
        worst = (first, second) if slopes[place] >= 0 else (second, first)
        # Each step of the recurrences errs by a few units; no cancellation follows.
        largest = scale + abs(float(slopes[place])) + self.rounding * scale
        return Constant(math.nextafter(largest, math.inf), scale, worst, float(self._gaps.min()))

    def calibrate(self, epsilon: float) -> Constant:
        """As `exact.calibrate`, to 1e-9: a pass costs next to nothing."""
        scale = solve(lambda s: self.certify(s).epsilon, (1 - 1e-9) * epsilon)
        found = self.certify(scale)
        return found if found.epsilon <= epsilon else self.certify(scale * (1 - 1e-8))

    def tight_weights(self, epsilon: float) -> Float64Array:
        """Tight weights: a_i = (tanh(epsilon h_{i-1} / 2) + tanh(epsilon h_i / 2)) / 2, 1 for the missing one at an end."""
        sides = np.concatenate([[1.0], np.tanh(epsilon * self._gaps / 2), [1.0]])
        weights = np.empty(len(self._order))
        weights[self._order] = (sides[:-1] + sides[1:]) / 2
        return weights


def _running(weights: Float64Array, decays: Float64Array) -> Float64Array:
    steps = zip(weights[1:].tolist(), decays.tolist(), strict=True)
    return np.array([*accumulate(steps, lambda total, step: step[0] + step[1] * total, initial=float(weights[0]))])
