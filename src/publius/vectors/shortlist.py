"""A few words for each point, the nearest among them, from products of 16-bit numbers.

The score of a word is z.w - |w|^2/2. With z and w rounded to bfloat16 its error is at most what the theory says
(docs/theory.md section 3), from lengths that are measured here in float64: words are put in order of their length
and cut into panels, so that the longest word of a panel says little too much of the others. Of a panel's scores the
largest in each group of 16 words is kept, and a group that cannot hold the best score is gone.
"""

from __future__ import annotations

from typing import Any, final

import numpy as np

from publius.arrays import Float32Array, Float64Array, FloatArray, IndexArray
from publius.errors import PubliusError
from publius.vectors.half_products import (
    GROUPS,
    POINTS,
    SMALLEST,
    WORDS,
    Halves,
    Products,
    depth,
    group_maxima,
    halved,
    rounding,
    widened,
)

_GROUP = WORDS // GROUPS
_MOST_GROUPS = 8  # a point with more is left to sgemm, which bounds the memory


@final
class Shortlist:
    """Words in 16 and in 32 bits, in panels by length.

    Vectors come scaled, so that no number is above 1.
    """

    def __init__(self, vectors: FloatArray, scale: float) -> None:
        """Take ``vectors``, shape (V, n), that ``scale`` brings to at most 1."""
        size, dimension = vectors.shape
        self._dimension, self._columns = dimension, depth(dimension)
        panels = -(-size // WORDS)
        lengths = np.concatenate(
            [_lengths(np.asarray(vectors[start : start + WORDS], np.float64) * scale)
             for start in range(0, size, WORDS)]
        )  # fmt: skip
        order = np.argsort(lengths, kind="stable")
        self._last = size - (panels - 1) * WORDS
        self._halves: Halves = np.zeros((panels, WORDS, self._columns), np.uint16)
        self._singles: Float32Array = np.zeros((panels * GROUPS, _GROUP, dimension + 1), np.float32)
        self._words: IndexArray = np.full((panels * GROUPS, _GROUP), -1, np.int64)
        self._errors: Float64Array = np.zeros((panels, 4))
        for panel in range(panels):
            self._fill(panel, vectors, scale, order[panel * WORDS : (panel + 1) * WORDS])

    def _fill(self, panel: int, vectors: FloatArray, scale: float, words: IndexArray) -> None:
        n, count = self._dimension, len(words)
        rows = np.asarray(vectors[words], np.float64) * scale
        halves = self._halves[panel, :count]
        halves[:, :n] = halved(rows.astype(np.float32))
        near = widened(halves[:, :n]).astype(np.float64)
        norm = rest = -0.5 * np.einsum("ij,ij->i", rows, rows)
        parts = np.zeros(count)
        for column in range(n, n + 3):  # three times eight bits
            halves[:, column] = halved(rest.astype(np.float32))
            part = widened(halves[:, column]).astype(np.float64)
            rest, parts = rest - part, parts + np.abs(part)
        measured = (_lengths(rows), _lengths(rows - near), _lengths(near), np.abs(rest), parts)
        longest, residual, half, left, norms = (float(each.max()) for each in measured)
        gamma = rounding(self._columns)
        # What a point's error takes of: its own residual, its length in 16 bits, its shrink, and nothing.
        self._errors[panel] = longest, residual + gamma * half, left + gamma * norms, self._columns * SMALLEST
        single = np.zeros((WORDS, n + 1), np.float32)
        single[:count, :-1], single[:count, -1] = rows, norm
        index = np.full(WORDS, -1, np.int64)
        index[:count] = words
        groups = slice(panel * GROUPS, (panel + 1) * GROUPS)
        self._singles[groups] = single.reshape(_GROUP, GROUPS, n + 1).transpose(1, 0, 2)
        self._words[groups] = index.reshape(_GROUP, GROUPS).T

    def search(
        self, points: Float64Array, rows: Float32Array, bounds: Float64Array, memory: Workspace
    ) -> tuple[IndexArray, dict[int, IndexArray]]:
        """The nearest word of each point, or -1; and candidates for some of those.

        ``points`` are scaled and shrunk, shape (p, n); ``rows`` the same in float32 with the shrink as last column, and
        ``bounds`` the error of their float32 scores. A point with -1 and no candidates is to be searched otherwise.
        Raises `PubliusError` for a product that is outside its bound.
        """
        count = len(points)
        errors = self._products(points, rows, memory)
        tops = memory.tops[:, :count].astype(np.float64)
        if not np.isfinite(tops).all():
            raise PubliusError(_WRONG)
        floors = (tops - errors).max(axis=0)
        panel, owner = np.nonzero(tops + errors >= floors)
        tops_of_groups = memory.maxima[panel, :, owner].astype(np.float64)
        which, group = np.nonzero(tops_of_groups >= (floors[owner] - errors[panel, owner])[:, None])
        panel, owner, approximate = panel[which], owner[which], tops_of_groups[which, group]
        winners = np.full(count, -1, np.int64)
        few = np.bincount(owner, minlength=count)[owner] <= _MOST_GROUPS
        if not few.any():
            return winners, {}
        sequence = np.flatnonzero(few)[np.argsort(owner[few], kind="stable")]
        panel, owner, group, approximate = (
            panel[sequence],
            owner[sequence],
            group[sequence],
            approximate[sequence],
        )
        groups = panel * GROUPS + group
        words = self._words[groups]
        scores = np.einsum("gwn,gn->gw", self._singles[groups], rows[owner])
        scores[words < 0] = -np.inf
        best_of_group = scores.max(axis=1).astype(np.float64)
        if (np.abs(best_of_group - approximate) > errors[panel, owner] + bounds[owner]).any():
            raise PubliusError(_WRONG)
        starts = np.flatnonzero(np.diff(owner, prepend=-1))
        there = owner[starts]
        least = np.empty(count)
        least[there] = np.maximum.reduceat(best_of_group, starts) - 2 * bounds[there]
        near = scores >= least[owner, None]
        place, column = np.nonzero(near)
        first = np.flatnonzero(np.diff(owner[place], prepend=-1))
        winners[owner[place[first]]] = words[place[first], column[first]]
        stops = np.append(first[1:], len(place))
        candidates = {}
        for start, stop in zip(first[stops - first > 1], stops[stops - first > 1], strict=True):
            row = int(owner[place[start]])
            winners[row] = -1
            candidates[row] = np.sort(words[place[start:stop], column[start:stop]])
        return winners, candidates

    def _products(self, points: Float64Array, rows: Float32Array, memory: Workspace) -> Float64Array:
        """Fill the maxima; the largest error of a score, shape (panels, points)."""
        n, count = self._dimension, len(points)
        halves = memory.halves
        halves[count:] = 0
        halves[:count, :n] = halved(rows[:, :-1])
        halves[:count, n : n + 3] = halved(rows[:, -1:])
        near = widened(halves[:count, :n]).astype(np.float64)
        packed = memory.products.points(halves)
        for panel, words in enumerate(memory.panels):
            scores = memory.products.compute(words, packed)
            if panel == len(memory.panels) - 1:
                scores[self._last :] = -np.inf
            group_maxima(scores, memory.maxima[panel])
        np.maximum.reduce(memory.maxima, axis=1, out=memory.tops)
        shrink = rows[:, -1].astype(np.float64)
        own = np.stack([_lengths(points - near), _lengths(near), shrink, np.ones(count)])
        errors: Float64Array = 1.01 * np.einsum("pe,ec->pc", self._errors, own)
        return errors

    def workspace(self) -> Workspace:
        """What one thread needs."""
        return Workspace(self._halves)


@final
class Workspace:
    """The memory of one thread, taken once.

    Attributes:
        products: the library's.
        panels: the words as it takes them.
        halves: a block of points, shape (POINTS, columns).
        maxima: of each group, shape (panels, GROUPS, POINTS).
        tops: of each panel, shape (panels, POINTS).

    """

    def __init__(self, words: Halves) -> None:
        panels, _, columns = words.shape
        self.products = Products()
        self.panels: list[Any] = [self.products.words(panel) for panel in words]
        self.halves: Halves = np.zeros((POINTS, columns), np.uint16)
        self.maxima: Float32Array = np.empty((panels, GROUPS, POINTS), np.float32)
        self.tops: Float32Array = np.empty((panels, POINTS), np.float32)


_WRONG = "numkong returned a product outside its bound, so its answers cannot be trusted: uninstall it, and run again"


def _lengths(rows: Float64Array) -> Float64Array:
    lengths: Float64Array = np.sqrt(np.einsum("ij,ij->i", rows, rows))
    return lengths
