"""A few words for each point, the nearest among them, from products of 8-bit numbers.

The score of a word is z.w - |w|^2/2. Words and points are rounded to 8 bits, each word with a scale of its own. The
sum of the products of whole numbers is exact, so the error of a score is what rounding took, from lengths that are
measured here in float64. Words are put in order of their length, longest first, and cut into
panels, so that the longest word of a panel says little too much of the others. Of a panel those words stay whose score
could still be the best; at the end each is held to the error of its own. The first panel has words of all lengths: it
says early how good the best is, wherever a point lies, so that few words stay, and of all points about as many.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import final

import numpy as np
from numpy.typing import NDArray

from publius.arrays import Float32Array, Float64Array, FloatArray, IndexArray
from publius.embeddings import byte_products
from publius.embeddings.byte_products import NO_WORD, POINTS, ZERO, Panel, Points
from publius.errors import PubliusError

Few = tuple[IndexArray, dict[int, IndexArray]]
FewWords = Callable[[Float64Array, Float32Array, Float64Array], Few]
"""A first stage of the search: see `Shortlist.search`."""

_WIDTH = 8192  # words of a panel at least, where there are so many
_MOST = 4096  # a point with more words is left to sgemm, which bounds the memory
_CHUNK = 1024
_EIGHT = 8
_ALL_BELOW = np.ones(_EIGHT, bool).view(np.uint64)
_FINEST = 2.0**-90  # what leaves float32 at its lower end
# A word that was found: whose it is, its place in the order, its score and the error of that.
_FOUND = np.dtype([("owner", np.int64), ("place", np.int64), ("score", np.float64), ("error", np.float64)])
_Found = NDArray[np.void]


@final
class Shortlist:
    """Words in 8 bits, in panels by length: ``vectors`` that ``scale`` brings to at most 1, and then |w|^2/2 of each."""

    kernel = "onnxruntime-int8"
    block = POINTS

    def __init__(self, vectors: FloatArray, scale: float, norms: Float64Array) -> None:
        size, dimension = vectors.shape
        self._vectors, self._norms = vectors, norms
        self._width = -(-size // max(1, size // _WIDTH))
        reach = byte_products.reach(dimension, self._width)
        if not reach:
            raise PubliusError("onnxruntime's 8-bit products are missing or wrong on this machine")
        self._order = np.argsort(-norms, kind="stable")
        if size > self._width:  # as many words as a panel has stand in front, from all over the order
            ahead = np.zeros(size, bool)
            ahead[np.arange(self._width) * size // self._width] = True
            self._order = np.concatenate((self._order[ahead], self._order[~ahead]))
        # Of each word in this order what an error takes of a point's loss, of its length, and of nothing.
        self._errors = np.empty((3, size))
        # A power of two scales the points instead, but for one that could take them out of float32.
        as_they_are = vectors.dtype == np.float32 and 2.0**-20 <= scale <= 2.0**20
        self._singles = vectors
        if not as_they_are:
            self._singles = np.empty(vectors.shape, np.float32)
            np.multiply(vectors, scale, out=self._singles, dtype=np.float64, casting="same_kind")
        self._scale = np.float32(scale if as_they_are else 1)
        starts = range(0, size, self._width)
        self._panels = [self._panel(self._order[a : a + self._width], a, scale, reach) for a in starts]
        self._largest = [self._errors[:, a : a + self._width].max(axis=1) for a in starts]

    def _panel(self, words: IndexArray, start: int, scale: float, reach: int) -> Panel:
        rounded = np.zeros((self._vectors.shape[1], self._width), np.int8)
        scales, offsets = np.zeros(self._width, np.float32), np.full(self._width, NO_WORD, np.float32)
        offsets[: len(words)] = -self._norms[words]
        for first in range(0, len(words), _CHUNK):
            part = slice(first, min(first + _CHUNK, len(words)))
            rows = np.asarray(self._vectors[words[part]], np.float64) * scale
            unit = (np.abs(rows).max(axis=1) / reach).astype(np.float32)
            unit[unit == 0] = 1
            whole = np.rint(rows / unit[:, None].astype(np.float64))
            np.clip(whole, -reach, reach, out=whole)
            rounded[:, part], scales[part] = whole.T, unit
            whole *= unit[:, None]
            rows -= whole
            norms, near = self._norms[words[part]], _lengths(whole)
            there = slice(start + part.start, start + part.stop)
            self._errors[:, there] = np.sqrt(2 * norms), _lengths(rows) + near * 2.0**-20, norms * 2.0**-20
        return byte_products.Panel(rounded, scales, offsets)

    def of_a_thread(self) -> FewWords:
        """The search with memory of its own."""
        memory = Workspace(self._panels, self._vectors.shape[1], self._width)
        return lambda points, rows, bounds: self.search(points, rows, bounds, memory)

    def search(self, points: Float64Array, rows: Float32Array, bounds: Float64Array, memory: Workspace) -> Few:
        """The nearest word of each point, or -1 with candidates; with neither it is to be searched otherwise.

        ``points`` are scaled and shrunk, shape (p, n); ``rows`` the same in float32 with the shrink as last column, and
        ``bounds`` the error of their float32 scores. `PubliusError` for a product that is outside its bound.
        """
        winners = np.full(len(points), -1, np.int64)
        candidates: dict[int, IndexArray] = {}
        here = np.flatnonzero(rows[:, -1] == 1)  # the norms of words count once with all points of a block
        found = self._found(points[here], memory) if len(here) else np.empty(0, _FOUND)
        if not len(found):
            return winners, candidates
        owner, words = here[found["owner"]], self._order[found["place"]]
        scores = np.einsum("ij,ij->i", self._singles[words], (rows[:, :-1] * self._scale)[owner])
        scores = scores - self._norms[words].astype(np.float32)
        if not (np.abs(scores - found["score"]) <= found["error"] + bounds[owner]).all():
            raise PubliusError(_WRONG)
        starts = _starts(owner)
        there = owner[starts]
        least = np.empty(len(points))
        least[there] = np.maximum.reduceat(scores, starts).astype(np.float64) - 2 * bounds[there]
        near = np.flatnonzero(scores >= least[owner])
        first = _starts(owner[near])
        winners[owner[near[first]]] = words[near[first]]
        stops = np.append(first[1:], len(near))
        for start, stop in zip(first[stops - first > 1], stops[stops - first > 1], strict=True):
            row = int(owner[near[start]])
            winners[row] = -1
            candidates[row] = np.sort(words[near[start:stop]])
        return winners, candidates

    def _found(self, points: Float64Array, memory: Workspace) -> _Found:
        """The words whose scores could be the best, by point; none for a point with too many."""
        count = len(points)
        lost, length = memory.take(points)
        floors, many = np.full(count, -np.inf), np.zeros(count, np.int64)
        parts: list[_Found] = []
        for number, scores in enumerate(memory.scores(count)):
            error = _error(self._largest[number], lost, length)
            if number == 0:
                floors = scores.max(axis=1).astype(np.float64) - error
                if not np.isfinite(floors).all():
                    raise PubliusError(_WRONG)
            levels = np.nextafter((floors - error).astype(np.float32), np.float32(-np.inf))
            flat = memory.not_below(scores, levels)
            owner = flat // self._width
            score = scores.reshape(-1)[flat].astype(np.float64)
            starts = _starts(owner)
            there = owner[starts]
            floors[there] = np.maximum(floors[there], np.maximum.reduceat(score, starts) - error[there])
            if np.isnan(floors).any():
                raise PubliusError(_WRONG)
            many += np.bincount(owner, minlength=count)
            part = np.empty(len(flat), _FOUND)
            part["owner"], part["place"] = owner, flat - owner * self._width + number * self._width
            part["score"], part["error"] = score, error[owner]
            floors[many > _MOST] = np.inf
            parts.append(part[many[owner] <= _MOST])
        found = np.concatenate(parts)
        found = found[~(found["score"] + found["error"] < floors[found["owner"]])]
        found = found[np.argsort(found["owner"], kind="stable")]
        owner, place = found["owner"], found["place"]
        if (place >= len(self._order)).any():
            raise PubliusError(_WRONG)
        # Those stay that could be the best when each word counts with the error of its own.
        found["error"] = _error(self._errors[:, place], lost[owner], length[owner])
        starts = _starts(owner)
        best = np.zeros(count)
        best[owner[starts]] = np.maximum.reduceat(found["score"] - found["error"], starts)
        return np.asarray(found[~(found["score"] + found["error"] < best[owner])])


@final
class Workspace:
    """The memory of one thread, taken once."""

    def __init__(self, panels: list[Panel], dimension: int, width: int) -> None:
        self._points: Points = np.empty((POINTS, dimension), np.uint8)
        self._unit: Float32Array = np.empty(1, np.float32)
        self._scores: Float32Array = np.empty(POINTS * width, np.float32)
        self._below = np.empty(-(-POINTS * width // _EIGHT) * _EIGHT, bool)
        self._computes = [each.bind(self._points, self._unit, self._scores) for each in panels]

    def take(self, points: Float64Array) -> tuple[Float64Array, Float64Array]:
        """Round a block of points; how far each is from what it was rounded to, and the length of that."""
        unit = np.float32(np.abs(points).max() / 127) or np.float32(1)
        whole = np.rint(points / np.float64(unit))
        np.clip(whole, -127, 127, out=whole)
        self._unit[0] = unit
        self._points[: len(points)] = whole + ZERO
        whole *= np.float64(unit)
        return _lengths(points - whole), _lengths(whole)

    def scores(self, count: int) -> Iterator[Float32Array]:
        """Of each panel the scores of so many points, shape (count, width), in memory that the next panel takes."""
        scores = self._scores[: count * (len(self._scores) // POINTS)].reshape(count, -1)
        for compute in self._computes:
            compute(count)
            yield scores

    def not_below(self, scores: Float32Array, levels: Float32Array) -> IndexArray:
        """The places in the flat ``scores`` that are not below the level of their row: few, in ascending order.

        What is not a number is among them. Eight answers are looked at together, as most say "below" eight times.
        """
        below = self._below[: -(-scores.size // _EIGHT) * _EIGHT]
        np.less(scores, levels[:, None], out=below[: scores.size].reshape(scores.shape))
        below[scores.size :] = True
        eights = np.flatnonzero(below.view(np.uint64) != _ALL_BELOW)
        row, column = np.nonzero(~below.reshape(-1, _EIGHT)[eights])
        found: IndexArray = eights[row] * _EIGHT + column
        return found


_WRONG = "onnxruntime returned a product outside its bound, so it cannot be trusted: uninstall it"


def _error(words: Float64Array, lost: Float64Array, length: Float64Array) -> Float64Array:
    """The error of a score; a hundredth on top for the rounding of what is computed here."""
    return np.asarray(1.01 * (lost * words[0] + length * words[1] + words[2]) + _FINEST)


def _starts(owner: IndexArray) -> IndexArray:
    """Where each owner's part begins; equal owners stand together."""
    new = np.ones(len(owner), bool)
    np.not_equal(owner[1:], owner[:-1], out=new[1:])
    return np.flatnonzero(new)


def _lengths(rows: Float64Array) -> Float64Array:
    return np.asarray(np.sqrt(np.einsum("ij,ij->i", rows, rows)))
