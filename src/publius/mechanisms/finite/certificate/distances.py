"""Distances between the words of a vocabulary, block by block, with a bound on their rounding.

Two ways to the same numbers. ``exact`` takes differences before squaring, in float64: what decides is computed
so. ``fast`` is a float64 matrix product for the Euclidean metric, but for the close pairs that cancellation would
spoil; `VocabularyDistances.relative_error` bounds how far the two are apart.
"""

from __future__ import annotations

from typing import final

import numpy as np

from publius.arrays import Float64Array, FloatArray, IndexArray
from publius.distances.ground import CLOSE, by_product, widened
from publius.distances.metrics import AbstractMetric, Euclidean, Manhattan

UNIT = 2.0**-53
# For a few dimensions differences cost no more than a product, and there cancellation is common.
_FEW_DIMENSIONS = 8
_BLOCK = 256  # rows that are worked on together: they fit the cache

Indices = IndexArray | slice


@final
class VocabularyDistances:
    """A finite pseudometric on ``size`` points.

    Attributes:
        size: number of points P.
        relative_error: bound on the relative difference of `fast` and the true distance.
        exact_error: the same for `exact`.
    """

    size: int

    def __init__(self, vectors: FloatArray, metric: AbstractMetric) -> None:
        """Take ``vectors``, shape (P, n), finite."""
        self.size, n = vectors.shape
        self._metric, self._wide = metric, widened(vectors)
        self._vectors = self._wide[:, :-2]
        self._product = isinstance(metric, Euclidean) and n > _FEW_DIMENSIONS
        self.exact_error = (n + 4) * UNIT
        self.relative_error = 1.01 * (n + 6) * UNIT / CLOSE if self._product else self.exact_error

    def fast(self, rows: Indices, columns: Indices) -> Float64Array:
        """Distances from the points ``rows`` to the points ``columns``, shape (rows, columns)."""
        return by_product(self._wide[rows], self._wide[columns]) if self._product else self.exact(rows, columns)

    def exact(self, rows: Indices, columns: Indices) -> Float64Array:
        """The same by differences in float64: an entry depends on its two points only."""
        return self._metric.pairwise(self._vectors[rows], self._vectors[columns])

    def gain(self, first: int, second: int) -> tuple[Float64Array, Float64Array | float]:
        """d(second, w) - d(first, w) for every point w, shape (P,), and the bound of an error.

        For Euclid and Manhattan it errs by at most ``exact_error`` times d(first, second), so that a slope between two
        nearly equal points is still right: what the two share is never added. Of a metric that is known by its values
        only it errs by the rounding of two of them besides, which is the bound.
        """
        vectors, x, y = self._vectors, self._vectors[first], self._vectors[second]
        if isinstance(self._metric, Manhattan):  # in each coordinate w lies beside both or between the two
            low, high = np.minimum(x, y), np.maximum(x, y)
            between = np.clip(vectors, low, high)
            return ((high - between - (between - low)) * np.where(y >= x, 1.0, -1.0)).sum(axis=1), 0.0
        near, far = self.exact(np.array([first, second]), slice(None))
        total = near + far
        if not isinstance(self._metric, Euclidean):
            return far - near, self.exact_error * total
        product = np.empty(self.size)  # (y - x).(y + x - 2w), over the sum of the two distances
        for start in range(0, self.size, _BLOCK):
            block = vectors[start : start + _BLOCK]
            np.einsum("ij,j->i", (x - block) + (y - block), y - x, out=product[start : start + _BLOCK])
        return np.divide(product, total, out=np.zeros_like(product), where=total > 0), 0.0
