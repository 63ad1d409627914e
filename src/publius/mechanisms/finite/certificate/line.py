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

import numpy as np

from publius.arrays import Float64Array
from publius.errors import DataError


def one_sided_sums(gaps: Float64Array, weights: Float64Array, scale: float) -> tuple[Float64Array, Float64Array]:
    """L and R, shape (..., P) like ``weights``; ``gaps`` of the sorted values, shape (P - 1,)."""
    decays = np.exp(-scale * gaps).tolist()
    left = np.array(weights, np.float64)
    right = left.copy()
    if left.ndim == 1:
        return _running(left.tolist(), decays), _running(left.tolist()[::-1], decays[::-1])[::-1]
    for i, decay in enumerate(decays):
        left[..., i + 1] += decay * left[..., i]
    for i in range(len(decays) - 1, -1, -1):
        right[..., i] += decays[i] * right[..., i + 1]
    return left, right


def _running(weights: list[float], decays: list[float]) -> Float64Array:
    total = weights[0]
    sums = [total]
    for weight, decay in zip(weights[1:], decays, strict=True):
        total = weight + decay * total
        sums.append(total)
    return np.array(sums)


def weighted_sums(gaps: Float64Array, weights: Float64Array, scale: float) -> Float64Array:
    """Sum over w of weights_w exp(-scale |x - w|) at every value, shape (..., P) like ``weights``."""
    left, right = one_sided_sums(gaps, weights, scale)
    return left + right - weights


def neighbour_slopes(gaps: Float64Array, weights: Float64Array, scale: float) -> Float64Array:
    """(ln Z_{i+1} - ln Z_i) / h_i for the P - 1 neighbouring pairs: the largest |.| is that of all pairs."""
    left, right = one_sided_sums(gaps, weights, scale)
    rise = -np.expm1(-scale * gaps) * (right[1:] - left[:-1])
    normalizers = left[:-1] + np.exp(-scale * gaps) * right[1:]
    return np.asarray(np.log1p(rise / normalizers) / gaps)


def tight_weights(gaps: Float64Array, epsilon: float) -> Float64Array:
    """The tight mechanism's weights, shape (P,): all positive, and every row sums to 1.

    a_i = (tanh(epsilon h_{i-1} / 2) + tanh(epsilon h_i / 2)) / 2, with 1 for the missing one at the two ends.
    `DataError` without two distinct values.
    """
    if not len(gaps):
        raise DataError("a vocabulary needs at least two distinct points: with one, every word is the same")
    halves = np.tanh(epsilon * gaps / 2)
    sides = np.concatenate([[1.0], halves, [1.0]])
    return np.asarray((sides[:-1] + sides[1:]) / 2)
