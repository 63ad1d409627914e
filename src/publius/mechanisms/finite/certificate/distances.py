"""Distances between the words of a vocabulary, block by block, with a bound on their rounding.

Two ways to the same numbers. ``exact`` takes differences before squaring, in float64: what decides is computed
so. ``fast`` is a float64 matrix product for the Euclidean metric, followed by ``exact`` for the close pairs that
cancellation would spoil; `AbstractDistances.relative_error` bounds how far the two are apart.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import final

import numpy as np

from publius.arrays import Float64Array, FloatArray, IndexArray
from publius.distances.metrics import AbstractMetric, Euclidean, Manhattan
from publius.errors import DataError

UNIT = 2.0**-53
# Pairs whose squared distance is below this share of their squared norms are computed by differences.
_CLOSE = 2.0**-10
# For a few dimensions differences cost no more than a product, and there cancellation is common.
_FEW_DIMENSIONS = 8
_BLOCK = 256  # rows that are worked on together: they fit the cache

Indices = IndexArray | slice


class AbstractDistances(ABC):
    """A finite pseudometric on ``size`` points.

    Attributes:
        size: number of points P.
        relative_error: bound on the relative difference of `fast` and the true distance.
        exact_error: the same for `exact`.
    """

    size: int
    relative_error: float
    exact_error: float

    @abstractmethod
    def fast(self, rows: Indices, columns: Indices, out: Float64Array | None = None) -> Float64Array:
        """Distances from the points ``rows`` to the points ``columns``, shape (rows, columns), into ``out``."""

    @abstractmethod
    def exact(self, rows: Indices, columns: Indices) -> Float64Array:
        """The same by differences in float64: an entry depends on its two points only."""

    @abstractmethod
    def gain(self, first: int, second: int) -> Float64Array:
        """d(second, w) - d(first, w) for every point w, shape (P,).

        Its error is at most ``exact_error`` times d(first, second), so that a slope between two nearly equal points
        is still right; and where the metric does not allow that, `gain_doubt` more.
        """

    def gain_doubt(self, first: int, second: int) -> Float64Array | float:
        """The error of `gain` beyond ``exact_error`` times d(first, second), a bound for every point w."""
        return 0.0


@final
class MetricDistances(AbstractDistances):
    """Any metric, by its own `AbstractMetric.pairwise`."""

    def __init__(self, vectors: FloatArray, metric: AbstractMetric) -> None:
        self._vectors = np.asarray(vectors, np.float64)
        self._metric = metric
        self.size = len(vectors)
        self.exact_error = self.relative_error = (vectors.shape[1] + 4) * UNIT

    def fast(self, rows: Indices, columns: Indices, out: Float64Array | None = None) -> Float64Array:
        """See `AbstractDistances.fast`."""
        result = self.exact(rows, columns)
        if out is None:
            return result
        out[...] = result
        return out

    def exact(self, rows: Indices, columns: Indices) -> Float64Array:
        """See `AbstractDistances.exact`."""
        return self._metric.pairwise(self._vectors[rows], self._vectors[columns])

    def gain(self, first: int, second: int) -> Float64Array:
        """See `AbstractDistances.gain`; without cancellation for Euclid and Manhattan."""
        if isinstance(self._metric, Manhattan):
            return manhattan_gain(self._vectors, self._vectors[first], self._vectors[second])
        near, far = self.exact(np.array([first, second]), slice(None))
        if isinstance(self._metric, Euclidean):
            return euclidean_gain(self._vectors, self._vectors[first], self._vectors[second], near + far)
        return np.asarray(far - near)

    def gain_doubt(self, first: int, second: int) -> Float64Array | float:
        """See `AbstractDistances.gain_doubt`: of a metric that is known by its values only, the rounding of two."""
        if isinstance(self._metric, (Euclidean, Manhattan)):
            return 0.0
        near, far = self.exact(np.array([first, second]), slice(None))
        return np.asarray(self.exact_error * (near + far))


@final
class EuclideanDistances(AbstractDistances):
    """Euclidean distances through a float64 matrix product with the norms folded in as two columns."""

    def __init__(self, vectors: FloatArray) -> None:
        n = vectors.shape[1]
        self.size = len(vectors)
        self._wide = np.empty((self.size, n + 2))
        self._wide[:, :n] = vectors
        self._norms = np.einsum("ij,ij->i", self._wide[:, :n], self._wide[:, :n])
        self._wide[:, n] = 1.0
        self._wide[:, n + 1] = self._norms
        self._closeness = _CLOSE * self._norms.max(initial=0.0)
        self.exact_error = (n + 4) * UNIT
        # Each of the n + 2 products and sums of the expanded square errs by a unit of 2(|x|^2 + |w|^2); the
        # square root halves a relative error.
        self.relative_error = 1.01 * (n + 6) * UNIT / _CLOSE

    def fast(self, rows: Indices, columns: Indices, out: Float64Array | None = None) -> Float64Array:
        """See `AbstractDistances.fast`."""
        left, right = self._left(rows), self._wide[columns]
        squares = np.matmul(left, right.T, out=out)
        thresholds = _CLOSE * self._norms[rows] + self._closeness
        close = squares < thresholds[:, None]
        if close.any():
            self._mend(squares, close, left, right)
        return np.sqrt(squares, out=squares)

    def _left(self, rows: Indices) -> Float64Array:
        left = self._wide[rows] * -2.0
        left[:, -2] = self._norms[rows]
        left[:, -1] = 1.0
        return left

    @staticmethod
    def _mend(squares: Float64Array, close: FloatArray, left: Float64Array, right: Float64Array) -> None:
        """Squares by differences where they are small beside the norms, a bounded number at a time."""
        rows, columns = np.nonzero(close)
        n = left.shape[1] - 2
        step = max(1, 2**22 // n)
        for start in range(0, len(rows), step):
            i, j = rows[start : start + step], columns[start : start + step]
            differences = left[i, :n] * -0.5 - right[j, :n]
            squares[i, j] = np.einsum("ij,ij->i", differences, differences)

    def exact(self, rows: Indices, columns: Indices) -> Float64Array:
        """See `AbstractDistances.exact`."""
        return Euclidean().pairwise(self._wide[rows, :-2], self._wide[columns, :-2])

    def gain(self, first: int, second: int) -> Float64Array:
        """See `AbstractDistances.gain`."""
        vectors = self._wide[:, :-2]
        near, far = self.exact(np.array([first, second]), slice(None))
        return euclidean_gain(vectors, vectors[first], vectors[second], near + far)


def euclidean_gain(vectors: Float64Array, x: Float64Array, y: Float64Array, total: Float64Array) -> Float64Array:
    """|y - w| - |x - w| for every row w, as (y - x).(y + x - 2w) over ``total``, the sum of the two distances.

    Free of cancellation: what x and y share is never added.
    """
    product = np.empty(len(vectors))
    for start in range(0, len(vectors), _BLOCK):
        block = vectors[start : start + _BLOCK]
        np.einsum("ij,j->i", (x - block) + (y - block), y - x, out=product[start : start + _BLOCK])
    return np.asarray(np.divide(product, total, out=np.zeros_like(product), where=total > 0))


def manhattan_gain(vectors: Float64Array, x: Float64Array, y: Float64Array) -> Float64Array:
    """The same in the Manhattan metric: in each coordinate w lies beside both or between the two."""
    low, high = np.minimum(x, y), np.maximum(x, y)
    between = np.clip(vectors, low, high)
    return np.asarray((((high - between) - (between - low)) * np.where(y >= x, 1.0, -1.0)).sum(axis=1))


def distances(vectors: FloatArray, metric: AbstractMetric) -> AbstractDistances:
    """The quickest sound distances for ``vectors``, shape (P, n), finite; `DataError` otherwise."""
    if vectors.ndim != 2 or 0 in vectors.shape:
        raise DataError(f"a vocabulary needs an array of shape (words, dimension), not {vectors.shape}")
    if not np.isfinite(vectors).all():
        raise DataError("the vectors hold a value that is not finite")
    if isinstance(metric, Euclidean) and vectors.shape[1] > _FEW_DIMENSIONS:
        return EuclideanDistances(vectors)
    return MetricDistances(vectors, metric)
