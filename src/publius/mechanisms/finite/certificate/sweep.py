"""Passes over all pairs of points, tile by tile, so that no P x P matrix is ever held.

Distances are symmetric, so only tiles on and above the diagonal are made; each thread works on rows of tiles of
its own, with one BLAS thread, and partial results are added in a fixed order.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import dataclass, replace
from typing import Protocol, TypeVar, final

import numpy as np

from publius.arrays import Float64Array, IndexArray
from publius.files.progress import advance
from publius.mechanisms.finite.certificate.distances import AbstractDistances, Indices
from publius.mechanisms.threads import in_threads

_Result = TypeVar("_Result")
_ROWS = 128
_COLUMNS = 4096
_KEPT = 64  # steepest pairs handed on
_FEW = 8  # of them, where all others are below the window
_WINDOW = 1e-3  # of the largest slope: pairs further below it are not of interest
_WIDE = 0.05  # of the largest height: pairs that may be the steepest at another scale


def _panels(start: int, size: int) -> Iterator[slice]:
    """Column ranges of one tile row: the diagonal tile, then the rest in panels."""
    diagonal = min(start + _ROWS, size)
    yield slice(start, diagonal)
    for left in range(diagonal, size, _COLUMNS):
        yield slice(left, min(left + _COLUMNS, size))


def _tile_rows(work: Callable[[int], _Result], size: int, threads: int | None) -> Iterator[_Result]:
    """``work`` for each row of tiles, on threads; whoever waits is told how many of the pairs are done."""
    with closing(in_threads(work, range(0, size, _ROWS), threads)) as rows:
        for start, found in zip(range(0, size, _ROWS), rows, strict=True):
            advance(size**2 - max(0, size - start - _ROWS) ** 2, size**2)
            yield found


def weighted_sums(
    distances: AbstractDistances,
    scale: float,
    weights: Float64Array,
    *,
    cap: float = np.inf,
    nearest: Float64Array | None = None,
    threads: int | None = None,
) -> Float64Array:
    """Sum over w of weights_w exp(-scale min(d(x, w), cap)) for every point x; shape (P,) or (P, m) as ``weights``.

    With positive weights this is the normalizing constant Z(x): no logarithm of sums is needed for safety,
    because the term of w = x is weights_x itself, and a term that underflows beside it is below 1e-300 of it.
    ``nearest``, shape (P,), takes how far the nearest other point is, by `AbstractDistances.fast`.
    """
    size = distances.size

    def tile_row(start: int) -> tuple[int, Float64Array, Float64Array]:
        rows = slice(start, min(start + _ROWS, size))
        sums = np.zeros((size - start, *weights.shape[1:]))
        near = np.full(size - start if nearest is not None else 0, np.inf)
        memory = np.empty(_ROWS * max(_COLUMNS, _ROWS))
        for columns in _panels(start, size):
            shape = (rows.stop - rows.start, columns.stop - columns.start)
            tile = distances.fast(rows, columns, memory[: shape[0] * shape[1]].reshape(shape))
            if nearest is not None:
                _note_nearest(near, tile, columns.start - start)
            kernel = _kernel(tile, scale, cap)
            sums[: kernel.shape[0]] += kernel @ weights[columns]
            if columns.start != start:
                sums[columns.start - start : columns.stop - start] += kernel.T @ weights[rows]
        return start, sums, near

    total = np.zeros(weights.shape)
    if nearest is not None:
        nearest[:] = np.inf
    for start, sums, near in _tile_rows(tile_row, size, threads):
        total[start:] += sums
        if nearest is not None:
            np.minimum(nearest[start:], near, out=nearest[start:])
    return total


def _note_nearest(near: Float64Array, tile: Float64Array, left: int) -> None:
    """Lower what ``near`` has of the rows, its first places, and of the columns, from ``left``, to the tile's least."""
    if not left:  # the diagonal: each pair once, no point with itself
        tile = tile.copy()
        tile[np.tril_indices(len(tile))] = np.inf
    for place, axis in ((0, 1), (left, 0)):
        part = near[place : place + tile.shape[1 - axis]]
        np.minimum(part, tile.min(axis=axis), out=part)


def _kernel(tile: Float64Array, scale: float, cap: float) -> Float64Array:
    """exp(-scale min(d, cap)) of the distances of one tile, in their place."""
    if cap < np.inf:
        np.minimum(tile, cap, out=tile)
    tile *= -scale
    return np.exp(tile, out=tile)


@final
@dataclass(frozen=True)
class Slopes:
    """The result of a pass over the pairs.

    Attributes:
        pairs: ordered pairs (x, x') of points, steepest first, shape (k, 2).
        bounds: upper bounds of their slopes, shape (k,).
        others: an upper bound of the slopes of all other pairs.
        smallest_distance: the smallest outer distance of two points.
    """

    pairs: IndexArray
    bounds: Float64Array
    others: float
    smallest_distance: float


_NOTHING = Slopes(np.empty((0, 2), np.int64), np.empty(0), 0.0, np.inf)

# Given outer distances, inner distances (None where they are the same), rows and columns of a tile: upper bounds of
# the slope of each pair in its steeper direction. An infinite distance marks what is no pair, or one seen before.
SlopeFunction = Callable[[Float64Array, Float64Array | None, Indices, Indices], Float64Array]


def steepest_pairs(
    outer: AbstractDistances,
    inner: AbstractDistances | None,
    slope: SlopeFunction,
    *,
    threads: int | None = None,
) -> Slopes:
    """The unordered pairs of points with the largest bound by ``slope``; ``inner`` None where it is ``outer``."""
    size = outer.size
    best = [0.0]  # shared by the threads and only ever raised: a stale value costs time and nothing else

    def tile_row(start: int) -> Slopes:
        rows = slice(start, min(start + _ROWS, size))
        memory = np.empty((2, _ROWS * max(_COLUMNS, _ROWS)))
        found = [_NOTHING]
        for columns in _panels(start, size):
            shape = (rows.stop - rows.start, columns.stop - columns.start)
            far = outer.fast(rows, columns, memory[0, : shape[0] * shape[1]].reshape(shape))
            if columns.start == start:
                far[np.tril_indices(shape[0])] = np.inf
            near = (
                None
                if inner is None
                else inner.fast(rows, columns, memory[1, : shape[0] * shape[1]].reshape(shape))
            )
            nearest = float(far.min())
            bounds = slope(far, near, rows, columns)
            best[0] = max(best[0], float(bounds.max()))
            found.append(_top(bounds, best[0] * (1 - _WINDOW), rows.start, columns.start, nearest))
        return _merged(found)

    return _merged(list(_tile_rows(tile_row, size, threads)))


class Rising(Protocol):
    """Bounds of slopes that are a constant and the difference of two points' heights over their distance.

    Attributes:
        heights: of the points, shape (P,).
    """

    heights: Float64Array

    def __call__(
        self, far: Float64Array, near: Float64Array | None, rows: Indices, columns: Indices
    ) -> Float64Array:
        """As `SlopeFunction`."""

    def least(self, best: float, share: float) -> float:
        """The least slope that is of interest beside the ``best``: its height is less by at most ``share``."""

    def rise(self, threshold: float) -> tuple[float, float]:
        """(m, b): a pair at distance d whose heights differ by less than m d - b is below the ``threshold``."""


def steepest_risen(
    outer: AbstractDistances, slope: Rising, nearest: Float64Array, *, threads: int | None = None
) -> Slopes:
    """`steepest_pairs` of `Rising` bounds, without a look at most pairs.

    d is at least what ``nearest`` says of either point. So of points in the order of their heights a row needs those
    alone that are high enough above it, for it and for themselves.
    """
    order = np.argsort(slope.heights, kind="stable")
    high, near, size = slope.heights[order], nearest[order], outer.size
    best = [_seen_among_promising(outer, slope, nearest)]
    if not slope.rise(slope.least(best[0], _WIDE))[0] > 0:  # all slopes are about the same
        return steepest_pairs(outer, None, slope, threads=threads)

    def tile_row(start: int) -> Slopes:
        stop = min(start + _ROWS, size)
        threshold = slope.least(best[0], _WIDE)
        m, b = slope.rise(threshold)
        rows = order[start:stop]
        enough = (high[stop:] >= (high[start:stop] + m * near[start:stop]).min() - b) & (
            high[stop:] - m * near[stop:] >= high[start] - b
        )
        others = order[stop:][enough]
        found = [Slopes(_NOTHING.pairs, _NOTHING.bounds, threshold, np.inf)]
        for columns in (rows, *(others[left : left + _COLUMNS] for left in range(0, len(others), _COLUMNS))):
            far = outer.fast(rows, columns)
            if columns is rows:
                far[np.tril_indices(len(rows))] = np.inf
            bounds = slope(far, None, rows, columns)
            best[0] = max(best[0], float(bounds.max()))
            top = _top(bounds, slope.least(best[0], _WIDE), 0, 0, np.inf)
            pairs = np.stack([rows[top.pairs[:, 0]], columns[top.pairs[:, 1]]], axis=1)
            found.append(replace(top, pairs=np.sort(pairs, axis=1)))
        return _merged(found)

    slopes = _merged(list(_tile_rows(tile_row, size, threads)))
    steep = int((slopes.bounds >= slope.least(best[0], _WINDOW)).sum())
    return replace(_first(slopes, max(_FEW, steep)), smallest_distance=float(nearest.min()))


def _seen_among_promising(outer: AbstractDistances, slope: Rising, nearest: Float64Array) -> float:
    """The largest bound of the points that could have the steepest pairs: with it many others need not be looked at."""
    heights = slope.heights
    could = np.maximum(heights - heights.min(), heights.max() - heights) / nearest
    rows = np.argsort(-could, kind="stable")[:_ROWS]
    best = 0.0
    for left in range(0, outer.size, _COLUMNS):
        columns = np.arange(left, min(left + _COLUMNS, outer.size))
        far = outer.fast(rows, columns)
        far[rows[:, None] == columns] = np.inf
        best = max(best, float(slope(far, None, rows, columns).max()))
    return best


def _top(bounds: Float64Array, threshold: float, row: int, column: int, nearest: float) -> Slopes:
    """The pairs of a tile at or over ``threshold``, at most `_KEPT` of them."""
    if bounds.max() < threshold:
        return Slopes(_NOTHING.pairs, _NOTHING.bounds, threshold, nearest)
    rows, columns = np.nonzero(bounds >= threshold)
    pairs = np.stack([rows + row, columns + column], axis=1)
    return _kept(pairs, bounds[rows, columns], threshold, nearest)


def _merged(parts: list[Slopes]) -> Slopes:
    pairs, bounds = (
        np.concatenate([part.pairs for part in parts]),
        np.concatenate([part.bounds for part in parts]),
    )
    others, nearest = max(part.others for part in parts), min(part.smallest_distance for part in parts)
    return _kept(pairs, bounds, others, nearest)


def _kept(pairs: IndexArray, bounds: Float64Array, others: float, nearest: float) -> Slopes:
    order = np.argsort(-bounds, kind="stable")
    return _first(Slopes(pairs[order], bounds[order], others, nearest), _KEPT)


def _first(slopes: Slopes, count: int) -> Slopes:
    """The ``count`` steepest; what is left out is among the others."""
    left_out = float(slopes.bounds[count]) if len(slopes.bounds) > count else 0.0
    return replace(
        slopes,
        pairs=slopes.pairs[:count],
        bounds=slopes.bounds[:count],
        others=max(slopes.others, left_out),
    )
