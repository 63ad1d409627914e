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


def _tile_rows(work: Callable[[int], _Result], size: int) -> Iterator[_Result]:
    """``work`` for each row of tiles, on threads; whoever waits is told how many of the pairs are done."""
    with closing(in_threads(work, range(0, size, _ROWS))) as rows:
        for start, found in zip(range(0, size, _ROWS), rows, strict=True):
            advance(size**2 - max(0, size - start - _ROWS) ** 2, size**2)
            yield found


def weighted_sums(
    distances: AbstractDistances, scale: float, weights: Float64Array, *, cap: float = np.inf,
    nearest: Float64Array | None = None,
) -> Float64Array:  # fmt: skip
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
            if cap < np.inf:
                np.minimum(tile, cap, out=tile)
            tile *= -scale
            kernel = np.exp(tile, out=tile)
            sums[: kernel.shape[0]] += kernel @ weights[columns]
            if columns.start != start:
                sums[columns.start - start : columns.stop - start] += kernel.T @ weights[rows]
        return start, sums, near

    total = np.zeros(weights.shape)
    if nearest is not None:
        nearest[:] = np.inf
    for start, sums, near in _tile_rows(tile_row, size):
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


@final
@dataclass(frozen=True)
class Slopes:
    """The result of a pass over the pairs.

    Attributes:
        pairs: pairs (x, x') of points, steepest first, shape (k, 2).
        bounds: upper bounds of their slopes, shape (k,).
        others: an upper bound of the slopes of all other pairs.
        smallest_distance: the smallest outer distance of two points.
    """

    pairs: IndexArray
    bounds: Float64Array
    others: float
    smallest_distance: float

    def first(self, count: int) -> Slopes:
        """The ``count`` steepest; what is left out is among the others."""
        left_out = max(self.others, float(self.bounds[count]) if len(self.bounds) > count else 0.0)
        return Slopes(self.pairs[:count], self.bounds[:count], left_out, self.smallest_distance)


SlopeFunction = Callable[[Float64Array, Float64Array | None, Indices, Indices], Float64Array]
"""Upper bounds of the slopes of a tile's pairs in their steeper direction, of outer distances, inner ones (None where they
are the same), rows and columns. An infinite distance marks what is no pair, or one seen before."""


class Rising(Protocol):
    """What is known of bounds that are a constant and the difference of two points' heights over their distance.

    Attributes:
        heights: of the points, shape (P,).
        nearest: how far each point's nearest other is, shape (P,).
    """

    heights: Float64Array
    nearest: Float64Array

    def least(self, best: float, share: float) -> float:
        """The least slope that is of interest beside the ``best``: its height is less by at most ``share``."""

    def rise(self, threshold: float) -> tuple[float, float]:
        """(m, b): a pair at distance d whose heights differ by less than m d - b is below the ``threshold``."""


def steepest_pairs(
    outer: AbstractDistances, inner: AbstractDistances | None, slope: SlopeFunction,
    rising: Rising | None = None,
) -> Slopes:  # fmt: skip
    """The unordered pairs of points with the largest bound by ``slope``; ``inner`` None where it is ``outer``.

    Of bounds that are ``rising`` with heights most pairs are passed over, for d is at least that of either point to its
    nearest: of points in the order of their heights a row needs those alone that are high enough above it, for it and
    for themselves.
    """
    size, order = outer.size, np.arange(outer.size)
    best = [0.0]  # shared by the threads and only ever raised: a stale value costs time and nothing else
    if rising is not None:
        best[0] = _seen_among_promising(outer, slope, rising)
        if not rising.rise(rising.least(best[0], _WIDE))[0] > 0:  # all slopes are about the same
            rising = None
    if rising is not None:
        order = np.argsort(rising.heights, kind="stable")
        high, near_by = rising.heights[order], rising.nearest[order]

    def least() -> float:
        return best[0] * (1 - _WINDOW) if rising is None else rising.least(best[0], _WIDE)

    def panels(start: int) -> Iterator[Indices]:
        """Columns of a row of tiles: the diagonal, and what may be steep of the rest."""
        stop = min(start + _ROWS, size)
        if rising is None:
            yield from _panels(start, size)
            return
        m, b = rising.rise(least())
        enough = high[stop:] >= (high[start:stop] + m * near_by[start:stop]).min() - b
        enough &= high[stop:] - m * near_by[stop:] >= high[start] - b
        others = order[stop:][enough]
        yield order[start:stop]
        for left in range(0, len(others), _COLUMNS):
            yield others[left : left + _COLUMNS]

    def tile_row(start: int) -> Slopes:
        stop = min(start + _ROWS, size)
        rows: Indices = slice(start, stop) if rising is None else order[start:stop]
        memory = np.empty((2, _ROWS * max(_COLUMNS, _ROWS)))
        found = [Slopes(np.empty((0, 2), np.int64), np.empty(0), 0.0 if rising is None else least(), np.inf)]
        for place, columns in enumerate(panels(start)):
            shape = (stop - start, len(order[columns]) if isinstance(columns, slice) else len(columns))
            space = memory[:, : shape[0] * shape[1]].reshape(2, *shape)
            far = outer.fast(rows, columns, space[0] if rising is None else None)
            near = None if inner is None else inner.fast(rows, columns, space[1])
            if place == 0:
                far[np.tril_indices(shape[0])] = np.inf
            apart = float(far.min()) if rising is None else np.inf
            bounds = slope(far, near, rows, columns)
            best[0] = max(best[0], float(bounds.max()))
            found.append(_top(bounds, least(), order[start:stop], columns, apart))
        return _merged(found)

    slopes = _merged([*_tile_rows(tile_row, size)])
    if rising is None:
        return slopes
    steep = int((slopes.bounds >= rising.least(best[0], _WINDOW)).sum())
    return replace(slopes.first(max(_FEW, steep)), smallest_distance=float(rising.nearest.min()))


def _seen_among_promising(outer: AbstractDistances, slope: SlopeFunction, rising: Rising) -> float:
    """The largest bound of the points that could have the steepest pairs: with it many others need not be looked at."""
    heights = rising.heights
    could = np.maximum(heights - heights.min(), heights.max() - heights) / rising.nearest
    rows = np.argsort(-could, kind="stable")[:_ROWS]
    best = 0.0
    for left in range(0, outer.size, _COLUMNS):
        columns = np.arange(left, min(left + _COLUMNS, outer.size))
        far = outer.fast(rows, columns)
        far[rows[:, None] == columns] = np.inf
        best = max(best, float(slope(far, None, rows, columns).max()))
    return best


def _top(bounds: Float64Array, threshold: float, rows: IndexArray, columns: Indices, apart: float) -> Slopes:
    """The pairs of a tile at or over ``threshold``, at most `_KEPT` of them."""
    i, j = np.nonzero(bounds >= threshold) if bounds.max() >= threshold else np.empty((2, 0), np.int64)
    at = j + columns.start if isinstance(columns, slice) else columns[j]
    return _kept(np.sort(np.stack([rows[i], at], axis=1), axis=1), bounds[i, j], threshold, apart)


def _merged(parts: list[Slopes]) -> Slopes:
    pairs = np.concatenate([part.pairs for part in parts])
    bounds = np.concatenate([part.bounds for part in parts])
    others, apart = max(part.others for part in parts), min(part.smallest_distance for part in parts)
    return _kept(pairs, bounds, others, apart)


def _kept(pairs: IndexArray, bounds: Float64Array, others: float, apart: float) -> Slopes:
    order = np.argsort(-bounds, kind="stable")
    return Slopes(pairs[order], bounds[order], others, apart).first(_KEPT)
