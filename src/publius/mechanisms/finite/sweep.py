"""Distances between the words of a vocabulary, and passes over all pairs of them that never hold a P x P matrix.

Distances are symmetric, so only tiles on and above the diagonal are made; each thread works on rows of tiles of its own,
with one BLAS thread, and partial results are added in a fixed order.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import closing
from typing import NamedTuple, TypeVar, final

import numpy as np
from numpy.typing import NDArray

from publius.arrays import Float64Array, FloatArray, IndexArray
from publius.distances.metrics import CLOSE, AbstractMetric, Euclidean, Manhattan, by_product, widened
from publius.errors import PolicyError
from publius.files.progress import advance
from publius.files.threads import in_threads

UNIT = 2.0**-53
# For a few dimensions differences cost no more than a product, and there cancellation is common.
_FEW_DIMENSIONS = 8
_BLOCK = 256  # rows that are worked on together: they fit the cache
_ROWS = 128
_COLUMNS = 1024
_KEPT = 64  # steepest pairs handed on
_WINDOW = 1e-3  # of the largest slope: pairs further below it are not of interest

Indices = IndexArray | slice
_Result = TypeVar("_Result")


@final
class VocabularyDistances:
    """A pseudometric on ``size`` points: ``exact`` by differences, which decides, ``fast`` within `relative_error` of it."""

    def __init__(self, vectors: FloatArray, metric: AbstractMetric) -> None:
        self.size, n = vectors.shape
        self._metric, self._wide = metric, widened(vectors)
        self._vectors = self._wide[:, :-2]
        self._product = isinstance(metric, Euclidean) and n > _FEW_DIMENSIONS
        self.exact_error = (n + 4) * UNIT  # of `exact`, relative to the true distance
        self.relative_error = 1.01 * (n + 6) * UNIT / CLOSE if self._product else self.exact_error

    def fast(self, rows: Indices, columns: Indices) -> Float64Array:
        """Distances from rows to columns, for the Euclidean metric by a product but for the pairs that it would spoil."""
        return by_product(self._wide[rows], self._wide[columns]) if self._product else self.exact(rows, columns)

    def exact(self, rows: Indices, columns: Indices) -> Float64Array:
        """The same by differences in float64: an entry depends on its two points only."""
        return self._metric.pairwise(self._vectors[rows], self._vectors[columns])

    def gain(self, first: int, second: int) -> tuple[Float64Array, Float64Array | float]:
        """d(second, w) - d(first, w) for every point w, shape (P,), and a bound of what it errs beyond the following.

        For Euclid and Manhattan it errs by at most ``exact_error`` times d(first, second), so that a slope between two
        nearly equal points is still right: what the two share is never added.
        """
        vectors, x, y = self._vectors, self._vectors[first], self._vectors[second]
        if isinstance(self._metric, Manhattan):  # in each coordinate w lies beside both or between the two
            low, high = np.minimum(x, y), np.maximum(x, y)
            between = np.clip(vectors, low, high)
            return ((high - between - (between - low)) * np.where(y >= x, 1.0, -1.0)).sum(axis=1), 0.0
        near, far = self.exact(np.array([first, second]), slice(None))
        total = near + far
        if not isinstance(self._metric, Euclidean):
            return far - near, self.exact_error * total  # a metric known by its values only
        product = np.empty(self.size)  # (y - x).(y + x - 2w), over the sum of the two distances
        for start in range(0, self.size, _BLOCK):
            block = vectors[start : start + _BLOCK]
            np.einsum("ij,j->i", (x - block) + (y - block), y - x, out=product[start : start + _BLOCK])
        return np.divide(product, total, out=np.zeros_like(product), where=total > 0), 0.0


def _tile_rows(work: Callable[[slice, list[slice]], _Result], size: int) -> Iterator[_Result]:
    """``work`` for each row of tiles, on threads: its rows, and its columns, the diagonal tile first."""

    def of(start: int) -> _Result:
        rows = slice(start, min(start + _ROWS, size))
        lefts = range(rows.stop, size, _COLUMNS)
        return work(rows, [rows, *(slice(left, min(left + _COLUMNS, size)) for left in lefts)])

    with closing(in_threads(of, range(0, size, _ROWS))) as rows:
        for start, found in zip(range(0, size, _ROWS), rows, strict=True):
            advance(size**2 - max(0, size - start - _ROWS) ** 2, size**2)
            yield found


def weighted_sums(
    distances: VocabularyDistances, scale: float, weights: Float64Array, *, cap: float = np.inf,
    nearest: Float64Array | None = None,
) -> Float64Array:  # fmt: skip
    """Sum over w of weights_w exp(-scale min(d(x, w), cap)) for every point x; ``nearest`` takes how far the next point is.

    No logarithm of sums is needed: a term that underflows is below 1e-300 of weights_x itself, the term of w = x.
    """

    def tile_row(rows: slice, panels: list[slice]) -> tuple[int, Float64Array, Float64Array]:
        sums = np.zeros((distances.size - rows.start, *weights.shape[1:]))
        near = np.full(distances.size - rows.start, np.inf)
        for columns in panels:
            tile = distances.fast(rows, columns)
            if nearest is not None:
                apart = tile + np.diag(np.full(len(tile), np.inf)) if columns == rows else tile
                for part, axis in ((near[: len(tile)], 1), (near[columns.start - rows.start :][: tile.shape[1]], 0)):
                    np.minimum(part, apart.min(axis=axis), out=part)
            if cap < np.inf:
                np.minimum(tile, cap, out=tile)
            tile *= -scale
            kernel = np.exp(tile, out=tile)
            sums[: kernel.shape[0]] += kernel @ weights[columns]
            if columns != rows:
                sums[columns.start - rows.start : columns.stop - rows.start] += kernel.T @ weights[rows]
        return rows.start, sums, near

    total, closest = np.zeros(weights.shape), np.full(distances.size, np.inf)
    for start, sums, near in _tile_rows(tile_row, distances.size):
        total[start:] += sums
        np.minimum(closest[start:], near, out=closest[start:])
    if nearest is not None:
        nearest[:] = closest
    return total


class Slopes(NamedTuple):
    """Pairs of points, steepest first, shape (k, 2), upper bounds of their slopes, and one of those of all ``others``."""

    pairs: IndexArray
    bounds: Float64Array
    others: float
    smallest_distance: float


SlopeFunction = Callable[[Float64Array, Float64Array | None, IndexArray, IndexArray], Float64Array]
"""Upper bounds of the slopes of a tile's pairs in their steeper direction, of outer distances, inner ones (None where they
are the same), rows and columns. An infinite distance marks what is no pair, or one seen before."""

Needed = Callable[[IndexArray, IndexArray, float], NDArray[np.bool_]]
"""Which of the columns, that stand behind the rows, may have a slope of at least so much with one of them."""


def steepest_pairs(
    outer: VocabularyDistances, inner: VocabularyDistances | None, slope: SlopeFunction,
    order: IndexArray | None = None, needed: Needed | None = None, promising: IndexArray | None = None,
) -> Slopes:  # fmt: skip
    """The unordered pairs of points with the largest bound by ``slope``; ``inner`` None where it is ``outer``.

    Points are gone through in ``order``, and pairs that are not ``needed`` are passed over: the more, the steeper those of
    ``promising`` points are, which come first.
    """
    order = np.arange(outer.size) if order is None else order
    best = [0.0]  # shared by the threads and only ever raised: a stale value costs time and nothing else

    def tile_row(at: slice, panels: list[slice]) -> Slopes:
        rows, threshold = order[at], best[0] * (1 - _WINDOW)
        found = [Slopes(np.empty((0, 2), np.int64), np.empty(0), threshold if needed else 0.0, np.inf)]
        for panel in panels:
            columns = order[panel]
            if needed and panel != at:
                columns = columns[needed(rows, columns, threshold)]
            if not len(columns):
                continue
            far = outer.fast(rows, columns)
            near = None if inner is None else inner.fast(rows, columns)
            if panel == at:
                far[np.tril_indices(len(far))] = np.inf
            apart = float(far.min())
            if not apart > 0:
                raise PolicyError(
                    "two different points are at distance 0, and no constant bounds their ratio: use another metric"
                )
            bounds = slope(far, near, rows, columns)
            if panel == at:
                bounds[np.tril_indices(len(far))] = 0.0
            most = float(bounds.max())
            best[0] = max(best[0], most)
            threshold = best[0] * (1 - _WINDOW)
            i, j = np.nonzero(bounds >= threshold) if most >= threshold else np.empty((2, 0), np.int64)
            pairs = np.sort(np.stack([rows[i], columns[j]], axis=1), axis=1)
            found.append(_kept(Slopes(pairs, bounds[i, j], threshold, apart)))
        return _kept(*found)

    if promising is not None:
        far = outer.fast(promising, order)
        far[promising[:, None] == order] = np.inf
        best[0] = float(slope(far, None, promising, order).max()) * (1 - _WINDOW)
    return _kept(*_tile_rows(tile_row, outer.size))


def _kept(*parts: Slopes) -> Slopes:
    """The steepest of all; what is left out is among the others."""
    pairs = np.concatenate([part.pairs for part in parts])
    bounds = np.concatenate([part.bounds for part in parts])
    if len(bounds) > _KEPT:  # where all pairs are about as steep there are many
        high = bounds >= np.partition(bounds, -_KEPT - 1)[-_KEPT - 1]
        pairs, bounds = pairs[high], bounds[high]
    order = np.argsort(-bounds, kind="stable")
    left_out = float(bounds[order[_KEPT]]) if len(order) > _KEPT else 0.0
    others, apart = max(left_out, *(part.others for part in parts)), min(part.smallest_distance for part in parts)
    return Slopes(pairs[order[:_KEPT]], bounds[order[:_KEPT]], others, apart)
