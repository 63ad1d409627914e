"""Passes over all pairs of points, tile by tile, so that no P x P matrix is ever held.

Distances are symmetric, so only tiles on and above the diagonal are made; each thread works on rows of tiles of
its own, with one BLAS thread, and partial results are added in a fixed order.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import dataclass
from typing import TypeVar, final

import numpy as np

from publius.arrays import Float64Array, IndexArray
from publius.files.progress import advance
from publius.mechanisms.finite.certificate.distances import AbstractDistances
from publius.mechanisms.threads import in_threads

_Result = TypeVar("_Result")
_ROWS = 128
_COLUMNS = 4096
_KEPT = 64  # steepest pairs handed on
_WINDOW = 1e-3  # of the largest slope: pairs further below it are not of interest


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
    threads: int | None = None,
) -> Float64Array:
    """Sum over w of weights_w exp(-scale min(d(x, w), cap)) for every point x; shape (P,) or (P, m) as ``weights``.

    With positive weights this is the normalizing constant Z(x): no logarithm of sums is needed for safety,
    because the term of w = x is weights_x itself, and a term that underflows beside it is below 1e-300 of it.
    """
    size = distances.size

    def tile_row(start: int) -> tuple[int, Float64Array]:
        rows = slice(start, min(start + _ROWS, size))
        sums = np.zeros((size - start, *weights.shape[1:]))
        memory = np.empty(_ROWS * max(_COLUMNS, _ROWS))
        for columns in _panels(start, size):
            kernel = _kernel(distances, rows, columns, scale, cap, memory)
            sums[: kernel.shape[0]] += kernel @ weights[columns]
            if columns.start != start:
                sums[columns.start - start : columns.stop - start] += kernel.T @ weights[rows]
        return start, sums

    total = np.zeros(weights.shape)
    for start, sums in _tile_rows(tile_row, size, threads):
        total[start:] += sums
    return total


def _kernel(
    distances: AbstractDistances, rows: slice, columns: slice, scale: float, cap: float, memory: Float64Array
) -> Float64Array:
    """exp(-scale min(d, cap)) of one tile, in ``memory``."""
    shape = (rows.stop - rows.start, columns.stop - columns.start)
    tile = distances.fast(rows, columns, memory[: shape[0] * shape[1]].reshape(shape))
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

# Given outer distances, inner distances (None where they are the same), rows and columns of a tile, and a
# threshold: upper bounds of the slope of each pair in its steeper direction. A pair below the threshold may get
# any bound below it.
SlopeFunction = Callable[[Float64Array, Float64Array | None, slice, slice, float], Float64Array]


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
            bounds = slope(far, near, rows, columns, best[0])
            best[0] = max(best[0], float(bounds.max()))
            found.append(_top(bounds, best[0] * (1 - _WINDOW), rows.start, columns.start, nearest))
        return _merged(found)

    return _merged(list(_tile_rows(tile_row, size, threads)))


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
    if len(order) > _KEPT:
        others = max(others, float(bounds[order[_KEPT]]))
    return Slopes(pairs[order[:_KEPT]], bounds[order[:_KEPT]], others, nearest)
