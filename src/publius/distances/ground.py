"""Distances between words, as the transport problem needs them."""

from __future__ import annotations

from contextlib import nullcontext

import numpy as np
from threadpoolctl import ThreadpoolController

from publius.arrays import Float64Array
from publius.distances.metrics import AbstractMetric, Distances, Euclidean, Manhattan, ground_metric

Ground = AbstractMetric | Distances
"""A metric, or a function of vectors (p, n) and (q, n) that gives their distances (p, q)."""

# Below this share of |x|^2 + |y|^2 the product form of a squared distance has lost too many digits.
_CANCELLED = 1e-3
_ROWS = 512  # rows at a time, and pairs recomputed at a time: bounded memory beside the table
_PAIRS = 2**15
_BLAS = ThreadpoolController()


ground_distance = ground_metric


def is_line(ground: Ground, dimension: int) -> bool:
    """Whether the distance is |x - y| of numbers, where sorting solves the transport problem."""
    return dimension == 1 and isinstance(ground, (Euclidean, Manhattan))


def word_distances(x: Float64Array, y: Float64Array, ground: Ground) -> Float64Array:
    """Distances between the rows of ``x`` (p, n) and of ``y`` (q, n), shape (p, q), float64.

    Euclidean ones go through one matrix product, which is four times faster than differences; where that loses
    digits they are computed from differences.
    """
    if isinstance(ground, Euclidean):
        return _euclidean(x, y)
    return ground_distance(ground).pairwise(x, y)


def _euclidean(x: Float64Array, y: Float64Array) -> Float64Array:
    distances = np.empty((len(x), len(y)))
    squares_y = np.einsum("ij,ij->i", y, y)
    # Two documents are too small a product to share: BLAS's threads would mostly wait for each other.
    with _BLAS.limit(limits=1, user_api="blas") if len(x) <= _ROWS else nullcontext():
        for start in range(0, len(x), _ROWS):
            _fill_euclidean(distances[start : start + _ROWS], x[start : start + _ROWS], y, squares_y)
    return distances


def _fill_euclidean(out: Float64Array, x: Float64Array, y: Float64Array, squares_y: Float64Array) -> None:
    np.matmul(x, y.T, out=out)
    out *= -2
    scale = np.einsum("ij,ij->i", x, x)[:, None] + squares_y
    out += scale
    scale *= _CANCELLED
    rows, columns = np.nonzero(out <= scale)
    np.maximum(out, 0, out=out)
    np.sqrt(out, out=out)
    for start in range(0, len(rows), _PAIRS):
        i, j = rows[start : start + _PAIRS], columns[start : start + _PAIRS]
        out[i, j] = euclidean_pairs(x[i], y[j])


def euclidean_pairs(x: Float64Array, y: Float64Array) -> Float64Array:
    """Euclidean distance of each row of ``x`` to the same row of ``y``, shape (k,), from differences."""
    differences = x - y
    return np.asarray(np.sqrt(np.einsum("ij,ij->i", differences, differences)))
