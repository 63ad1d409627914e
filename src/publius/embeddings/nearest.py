"""Noisy vectors -> nearest words: exact, at the speed of the matrix product it needs.

The search is a function of the noisy vectors alone: it never sees the input words, so it is post-processing
and keeps the guarantee. Three stages, each handing on only what it cannot decide:

1. float32: scores z.w - |w|^2/2 for a block of points against panels of the vocabulary, one matrix product with
   the norm folded in as an extra column. The argmax over groups of columns gives the best and the runner-up.
2. float64, for points whose runner-up lies within the rounding bound of stage 1.
3. exact rational arithmetic, for what lies within the rounding bound of stage 2. Ties go to the lower index.

From so much work on that it pays, stage 1 is done for the few words that products of 8-bit numbers leave (`shortlist`),
or by a graphics processor (`cuda_products`).

So the answer is that of exact arithmetic, whatever the batch, the threads, the products or the BLAS. The
expanded squared distance would lose the answer to cancellation when the noise is large; the score form does not.
"""

from __future__ import annotations

import math
import platform
from contextlib import suppress
from fractions import Fraction
from functools import cache, cached_property
from pathlib import Path
from typing import final

import numpy as np

from publius.arrays import Float32Array, Float64Array, FloatArray, IndexArray
from publius.embeddings.cuda_products import THREADS, OnDevice
from publius.embeddings.shortlist import Shortlist
from publius.errors import DataError, PubliusError
from publius.files.threads import in_threads

_FirstStage = Shortlist | OnDevice | None
"""What finds a few words a point before they are decided; None for all words with sgemm."""

_ROWS = 256  # a block: with _PANEL columns their scores are 4 MiB, so they stay in the cache
_PANEL = 4096
_GROUPS = 4  # column groups a panel: the runner-up is looked for inside the winner's group only
_WORTH = 1e10  # multiplications, of all searches so far, for which 8-bit words are worth making
_WORTH_A_DEVICE = 1e12  # the same for starting a device, which takes a second or two
_LEAST_DIMENSION, _LEAST_WORDS = 64, 2048  # 8 bits take 0.97 of sgemm's time at n = 50, 0.6 at 100
_BYTE_UNITS = ("avx512_vnni", "avx_vnni", "amx_int8", "asimddp")
_UNIT32 = 2.0**-24
_UNIT64 = 2.0**-53
_NO_WORD = np.float32(-np.inf)


@cache
def _has_byte_units() -> bool:
    """Whether the processor multiplies 8-bit numbers four at a time (VNNI, AMX, or the dot product of ARM)."""
    if platform.system() == "Darwin":
        return platform.machine() == "arm64"
    with suppress(OSError):
        words = Path("/proc/cpuinfo").read_text("utf-8", "replace").split()
        return not {*words}.isdisjoint(_BYTE_UNITS)
    return False


@final
class NearestWords:
    """Exact Euclidean nearest-row search over fixed ``vectors``, shape (V, n), finite; `DataError` otherwise."""

    def __init__(self, vectors: FloatArray) -> None:
        if vectors.ndim != 2 or 0 in vectors.shape:
            raise DataError(f"a vocabulary needs an array of shape (words, dimension), not {vectors.shape}")
        self.dimension = vectors.shape[1]
        largest = float(np.abs(vectors).max())
        if not math.isfinite(largest):
            raise DataError("the vectors hold a value that is not finite")
        # A power of two, so scaling is exact: the float32 stage works near 1 whatever the unit of the vectors.
        self._scale = 2.0 ** -math.frexp(largest)[1] if largest > 0 else 1.0
        self._rows = _distinct_rows(vectors)
        self._vectors = vectors if len(self._rows) == len(vectors) else vectors[self._rows]
        self._work = 0.0

    @property
    def kernel(self) -> str:
        """What the next search works with: it changes no answer."""
        first = self._first_stage()
        return "sgemm" if first is None else first.kernel

    def nearest(self, points: FloatArray, *, threads: int = 1) -> IndexArray:
        """Index of the nearest row for each row of ``points``, shape (p, n) -> (p,); `DataError` for what is no point."""
        exact: Float64Array = np.ascontiguousarray(points, np.float64)
        if exact.ndim != 2 or exact.shape[1] != self.dimension:
            raise DataError(f"points must have shape (count, {self.dimension}), not {exact.shape}")
        if not np.isfinite(exact).all():
            raise DataError("a noisy vector is not finite")
        return self._rows[self._nearest_on_line(exact[:, 0]) if self.dimension == 1 else self._nearest(exact, threads)]

    def _nearest(self, points: Float64Array, threads: int) -> IndexArray:
        result = np.empty(len(points), np.int64)
        self._work += float(len(points)) * self._vectors.size
        first = self._first_stage()
        if first is None:
            _ = self._panels  # made before the threads that share it start
        _ = self._largest_norm
        starts = range(0, len(points), _ROWS if first is None else first.block)
        threads = max(1, min(THREADS if isinstance(first, OnDevice) else threads, len(starts)))
        [*in_threads(lambda at: self._search(points, result, starts[at::threads], first), range(threads), threads)]
        return result

    def _search(self, points: Float64Array, result: IndexArray, starts: range, first: _FirstStage) -> None:
        """One thread's share of the blocks; the scores' memory is taken once and used again."""
        few, memory = None if first is None else first.of_a_thread(), None
        for start in starts:
            block = slice(start, start + (_ROWS if first is None else first.block))
            some = points[block]
            winner, candidates = (np.full(len(some), -1), {}) if few is None else few(*self._scaled_points(some))
            for row, words in candidates.items():
                winner[row] = self._decide_one(some[row], words)
            left = np.flatnonzero(winner < 0)
            for at in range(0, len(left), _ROWS):
                if memory is None:
                    memory = np.empty(_ROWS * (max(map(len, self._panels)) + _GROUPS), np.float32)
                rows = left[at : at + _ROWS]
                winner[rows] = self._nearest_in_block(some[rows], memory)
            result[block] = winner

    # Stage 0: 8 bits, or a device --------------------------------------------------------------------------

    def _first_stage(self) -> _FirstStage:
        if self._work >= _WORTH_A_DEVICE and self._device is not None and self._device.usable:
            return self._device
        return self._shortlist if self._work >= _WORTH else None

    @cached_property
    def _device(self) -> OnDevice | None:
        with suppress(Exception):  # there is none, something breaks, or its products are wrong: the processor is there
            return OnDevice(self._vectors, self._scale)
        return None

    @cached_property
    def _shortlist(self) -> Shortlist | None:
        size, n = self._vectors.shape
        if n >= _LEAST_DIMENSION and size >= _LEAST_WORDS and _has_byte_units():
            with suppress(PubliusError):  # the library is not there, or its products are wrong
                return Shortlist(self._vectors, self._scale, self._squares / 2)
        return None

    # Stage 1: float32 -------------------------------------------------------------------------------------

    @cached_property
    def _panels(self) -> list[Float32Array]:
        """The vocabulary with the column -|w|^2/2, cut into panels of at most `_PANEL` rows."""
        whole = np.empty((len(self._vectors), self.dimension + 1), np.float32)  # one allocation: huge pages
        np.multiply(self._vectors, self._scale, out=whole[:, :-1], dtype=np.float64, casting="same_kind")
        whole[:, -1] = -self._squares / 2
        return np.array_split(whole, -(-len(whole) // _PANEL))

    @cached_property
    def _squares(self) -> Float64Array:
        parts = np.array_split(self._vectors, -(-len(self._vectors) // _PANEL))
        rows = (np.asarray(part, np.float64) * self._scale for part in parts)
        return np.concatenate([np.einsum("ij,ij->i", part, part) for part in rows])

    @cached_property
    def _largest_norm(self) -> float:
        return math.sqrt(self._squares.max())

    def _scaled_points(self, points: Float64Array) -> tuple[Float64Array, Float32Array, Float64Array]:
        """Points scaled; in float32 with an extra column; and the bound on a float32 score's error for each."""
        # Scores of a point may be scaled as a whole; a power of two keeps huge noise inside float32.
        size = np.frexp(np.abs(points).max(axis=1))[1] + math.frexp(self._scale)[1] - 1
        power = np.where(size > 40, -size, 0)
        shrink = np.ldexp(1.0, power)
        shrunk = points * np.ldexp(self._scale, power)[:, None]
        rows = np.empty((len(points), self.dimension + 1), np.float32)
        rows[:, :-1] = shrunk
        rows[:, -1] = shrink
        length = np.sqrt(np.einsum("ij,ij->i", shrunk, shrunk))
        magnitude = length * self._largest_norm + shrink * self._largest_norm**2 / 2
        bound = 1.01 * (self.dimension + 4) * (_UNIT32 * magnitude + 2.0**-120)
        return shrunk, rows, bound

    def _nearest_in_block(self, points: Float64Array, memory: Float32Array) -> IndexArray:
        _, rows, bound = self._scaled_points(points)
        best = np.full(len(points), -np.inf)
        runner_up = np.full(len(points), -np.inf)
        winner = np.zeros(len(points), np.int64)
        everyone = np.arange(len(points))
        start = 0
        for panel in self._panels:
            width = -(-len(panel) // _GROUPS) * _GROUPS
            flat = memory[: len(rows) * width].reshape(len(rows), width)
            np.matmul(rows, panel.T, out=flat[:, : len(panel)])
            flat[:, len(panel) :] = _NO_WORD
            scores = flat.reshape(len(rows), _GROUPS, -1)
            places = scores.argmax(axis=2)
            tops = np.take_along_axis(scores, places[:, :, None], axis=2)[:, :, 0]
            group = tops.argmax(axis=1)
            top = tops[everyone, group].astype(np.float64)
            place = places[everyone, group]
            winners_group = scores[everyone, group]
            winners_group[everyone, place] = _NO_WORD
            tops[everyone, group] = winners_group.max(axis=1)
            second = tops.max(axis=1).astype(np.float64)
            runner_up = np.maximum(np.maximum(runner_up, second), np.minimum(best, top))
            better = top > best
            winner = np.where(better, start + group * scores.shape[2] + place, winner)
            best = np.maximum(best, top)
            start += len(panel)
        close = np.flatnonzero(runner_up >= best - 2 * bound)
        if len(close):
            winner[close] = self._decide(points[close], rows[close], best[close] - 2 * bound[close])
        return winner

    # Stages 2 and 3: float64, then exact ------------------------------------------------------------------

    def _decide(self, points: Float64Array, rows: Float32Array, floors: Float64Array) -> IndexArray:
        """The exact winner for points with a near-tie: candidates are all words whose score reaches the floor."""
        found: list[list[IndexArray]] = [[] for _ in points]
        start = 0
        for panel in self._panels:
            scores = rows @ panel.T
            for row in range(len(points)):
                found[row].append(np.flatnonzero(scores[row] >= floors[row]) + start)
            start += len(panel)
        return np.array(list(map(self._decide_one, points, map(np.concatenate, found))), np.int64)

    def _decide_one(self, point: Float64Array, candidates: IndexArray) -> int:
        vectors = np.asarray(self._vectors[candidates], np.float64)
        squares = np.einsum("ij,ij->i", vectors, vectors)
        # Without it the squares of huge noise overflow.
        shrink = 2.0 ** -max(0, math.frexp(float(np.abs(point).max()))[1])
        scores = vectors @ (point * shrink) - squares * shrink / 2
        magnitude = np.sqrt(squares) * np.linalg.norm(point * shrink) + squares * shrink / 2
        bounds = 1.01 * (self.dimension + 4) * (_UNIT64 * magnitude) + 1e-300
        contenders = candidates[scores + bounds >= (scores - bounds).max()]
        if len(contenders) == 1:
            return int(contenders[0])
        return self._decide_exactly(point, contenders)

    def _decide_exactly(self, point: Float64Array, contenders: IndexArray) -> int:
        exact = [Fraction(value) for value in point.tolist()]

        def score(index: int) -> Fraction:
            row = map(Fraction, self._vectors[index].tolist())
            return sum((w * (z - w / 2) for z, w in zip(exact, row, strict=True)), Fraction(0))

        winner: int = max(contenders.tolist(), key=score)  # of equals the first, which is the lowest
        return winner

    # One dimension ------------------------------------------------------------------------------------------

    @cached_property
    def _line(self) -> tuple[Float64Array, IndexArray]:
        """The values in ascending order and the row of each."""
        values = np.asarray(self._vectors[:, 0], np.float64)
        order = np.argsort(values, kind="stable")
        return values[order], order

    def _nearest_on_line(self, points: Float64Array) -> IndexArray:
        """In one dimension a cell is an interval: the nearest value is one of the two neighbours in order."""
        values, order = self._line
        right = np.searchsorted(values, points).clip(min(1, len(values) - 1), len(values) - 1)
        left = np.maximum(right - 1, 0)
        down, up = points - values[left], values[right] - points
        result: IndexArray = np.where(down < up, order[left], order[right])
        rounding = 4 * _UNIT64 * (np.abs(down) + np.abs(up))
        for place in np.flatnonzero(np.abs(down - up) <= rounding):
            result[place] = self._decide_exactly(
                points[place, None], np.sort([order[left[place]], order[right[place]]])
            )
        return result


def _distinct_rows(vectors: FloatArray) -> IndexArray:
    """The lowest index of each distinct row, ascending: equal rows tie everywhere, and the lowest wins."""
    weights = np.cos(np.arange(1, vectors.shape[1] + 1))
    projections = np.einsum("ij,j->i", vectors, weights)  # not BLAS: equal rows get equal numbers
    _, first, inverse = np.unique(projections, return_index=True, return_inverse=True)
    again = np.setdiff1d(np.arange(len(vectors)), first, assume_unique=True)
    equal = again[(vectors[again] == vectors[first[inverse[again]]]).all(axis=1)]
    return np.delete(np.arange(len(vectors)), equal)
