"""One dimension: everything exact in linear time (docs/theory.md section 7).

On a line distances add up, so the largest slope over all pairs is that over neighbours, normalizing constants come
from two recurrences, and the tight mechanism's weights have a closed form.

Sorted distinct values v_0 < ... < v_{P-1}, gaps h_i = v_{i+1} - v_i, decays e_i = exp(-s h_i):
    L_0 = w_0,  L_i = w_i + e_{i-1} L_{i-1}          (what lies at v_i and to its left)
    R_{P-1} = w_{P-1},  R_i = w_i + e_i R_{i+1}      (at v_i and to its right)
    Z_i = L_i + e_i R_{i+1},   Z_{i+1} - Z_i = (1 - e_i) (R_{i+1} - L_i)
The last line has no cancellation that matters however small the gap.
"""

from __future__ import annotations

import math
from itertools import accumulate
from typing import final

import numpy as np

from publius.arrays import Float64Array
from publius.errors import DataError
from publius.mechanisms.finite.certificate.distances import UNIT
from publius.mechanisms.finite.certificate.exact import ONE_POINT, Constant, solve


@final
class Line:
    """The exponential mechanism on the distinct values of a line: no truncation or second metric."""

    def __init__(self, values: Float64Array, weights: Float64Array) -> None:
        """Take distinct ``values``, shape (P,), in any order, and their positive ``weights``; `DataError` for one."""
        if len(values) < 2:
            raise DataError(ONE_POINT)
        self._order = np.argsort(values, kind="stable")
        self._gaps, self._weights = np.diff(values[self._order]), weights[self._order]
        self.rounding = (16 + 4 * len(values)) * UNIT
        """The allowance for rounding that `certify` adds, as a share of the scale."""

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
        """The tight mechanism's weights, shape (P,): all positive, and every row sums to 1.

        a_i = (tanh(epsilon h_{i-1} / 2) + tanh(epsilon h_i / 2)) / 2, with 1 for the missing one at the two ends.
        """
        sides = np.concatenate([[1.0], np.tanh(epsilon * self._gaps / 2), [1.0]])
        weights = np.empty(len(self._order))
        weights[self._order] = (sides[:-1] + sides[1:]) / 2
        return weights


def _running(weights: Float64Array, decays: Float64Array) -> Float64Array:
    steps = zip(weights[1:].tolist(), decays.tolist(), strict=True)
    return np.array([*accumulate(steps, lambda total, step: step[0] + step[1] * total, initial=float(weights[0]))])
