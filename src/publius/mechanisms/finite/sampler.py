"""Rows of output probabilities and the inverse of their cumulative sums: how a finite mechanism draws.

A word needs two uniforms. The first chooses a block of the vocabulary (or the input word itself, a block of its own), the
second a word of that block. In each step the cells stand in ascending order of size, to within a factor of two, so a
cumulative sum near a small cell is itself small: every cell is right to a relative 2^-40 however improbable it is. A
single cumulative sum over the vocabulary would be off by 2^-53 of the whole, more than many a word's probability.

The law is that of rows computed by differences. A draw uses a matrix product and proves, from its error bound, that the
answer is the same; where that fails the row is computed again by differences. So the same uniforms give the same word
whatever the batch, the threads or the BLAS.
"""

from __future__ import annotations

import math
import threading
from typing import final

import numpy as np
from numpy.typing import NDArray

from publius.arrays import Float64Array, IndexArray
from publius.files.threads import in_threads, one_blas_thread
from publius.mechanisms.finite.certificate import Law
from publius.mechanisms.finite.sweep import UNIT

# Relative error of a cell's realized probability, and what the uniforms cannot resolve.
RELATIVE_ERROR = 2.0**-40
UNRESOLVED = 2.0**-900

_LARGEST_EXPONENT = 650.0  # beyond, a weight is exp(-650): below 2^-900, and never denormal
_OFFSET = 1.2357  # keeps common weights such as 1 away from the powers of two that separate the order's classes
_TABLE_BYTES = 2**28  # of rows kept, at most
_BLOCK = 256  # words; with fewer a draw is quicker, and the table larger
_AT_ONCE = 512  # draws that are made together: their blocks fit the cache


@final
class Inverse:
    """Draws from a law on the words at ``scale`` by two-step inversion, with a table of the first step's sums.

    Which words were met depends on the documents, so the table lives in memory only and is never pickled.
    """

    def __init__(self, law: Law, scale: float) -> None:
        self._law, self._scale, self._distances = law, scale, law.delta
        size = self._distances.size
        self._blocks = -(-size // _BLOCK)
        # Bound on the relative difference of a sum of fast weights and of the same sum by differences.
        reach = min(law.truncation, _LARGEST_EXPONENT) + 4
        errors = self._distances.relative_error + self._distances.exact_error
        self._doubt = 2 * reach * errors + (16 * math.sqrt(size) + 64 + _BLOCK + self._blocks) * UNIT
        self._lock = threading.Lock()
        cells = self._blocks + 1  # the blocks' order, the word itself last before sorting, and sums in that order
        steps = [("sums", "<f8", (cells,)), ("order", "<i2", (cells,)), ("doubtful", "?")]
        kept = np.dtype(steps, align=True)
        self._table: NDArray[np.void] = np.empty(max(1024, min(size, _TABLE_BYTES // kept.itemsize)), kept)
        self._slots, self._used = np.full(size, -1, np.int64), 0

    def weights(self, words: IndexArray, columns: slice, *, exact: bool = False) -> Float64Array:
        """Unnormalized probabilities weights_w exp(-min(s delta, tau)), shape (words, columns), the input's own set to 0."""
        kernel = self._distances.exact(words, columns) if exact else self._distances.fast(words, columns)
        kernel *= -self._scale
        np.maximum(kernel, -min(self._law.truncation, _LARGEST_EXPONENT), out=kernel)
        np.exp(kernel, out=kernel)
        kernel *= self._law.weights[columns]
        inside = np.flatnonzero((words >= columns.start) & (words < columns.stop))
        kernel[inside, words[inside] - columns.start] = 0.0
        return kernel

    def draw(self, words: IndexArray, uniforms: Float64Array, *, threads: int = 1) -> IndexArray:
        """Output words for input ``words``, shape (count,), and ``uniforms``, shape (count, 2)."""
        step = len(self._table)
        with one_blas_thread():
            parts = [
                self._draw(words[a : a + step], uniforms[a : a + step], threads) for a in range(0, len(words), step)
            ]
        return np.concatenate(parts) if parts else np.empty(0, np.int64)

    def _draw(self, words: IndexArray, uniforms: Float64Array, threads: int) -> IndexArray:
        with self._lock:
            self._fill(np.unique(words), threads)
            slots = self._slots[words]
            place, doubtful = _locate(self._table["sums"], slots, uniforms[:, 0], self._doubt)
            blocks = self._table["order"][slots, place].astype(np.int64)
            doubtful |= self._table["doubtful"][slots]
        result = words.copy()
        moved = np.flatnonzero((blocks < self._blocks) & ~doubtful)
        if len(moved):
            part = self._within(words[moved], blocks[moved], uniforms[moved, 1])
            result[moved], doubtful[moved] = part
        for at in np.flatnonzero(doubtful):
            result[at] = self._exactly(words[at : at + 1], uniforms[at])
        return result

    def _fill(self, words: IndexArray, threads: int) -> None:
        """Make sure that every one of ``words``, at most as many as the table is long, has a slot."""
        missing = words[self._slots[words] < 0]
        if self._used + len(missing) > len(self._table):
            self._slots[:], self._used = -1, 0
            missing = words
        step = int(np.clip(2**21 // self._distances.size, 1, 64))
        starts = range(0, len(missing), step)
        for rows in in_threads(lambda start: self._first_step(missing[start : start + step]), starts, threads):
            self._table[self._used : self._used + len(rows)] = rows
            self._used += len(rows)
        self._slots[missing] = np.arange(self._used - len(missing), self._used)

    def _first_step(self, words: IndexArray, *, exact: bool = False) -> NDArray[np.void]:
        size = self._distances.size
        weights = self.weights(words, slice(0, size), exact=exact)
        cells = np.empty((len(words), self._blocks + 1))
        np.add.reduceat(weights, np.arange(0, size, _BLOCK), axis=1, out=cells[:, :-1])
        cells[:, -1] = self._law.weights[words]
        result = np.zeros(len(words), self._table.dtype)
        result["order"], result["sums"], result["doubtful"] = _ascending(cells, self._doubt)
        return result

    def _within(
        self, words: IndexArray, blocks: IndexArray, uniforms: Float64Array
    ) -> tuple[IndexArray, NDArray[np.bool_]]:
        """Words of the chosen blocks, the draws of a block together."""
        found, doubtful = np.empty(len(words), np.int64), np.empty(len(words), bool)
        by_block = np.argsort(blocks, kind="stable")
        for start in range(0, len(words), _AT_ONCE):
            at = by_block[start : start + _AT_ONCE]
            weights = np.zeros((len(at), _BLOCK))
            present, starts = np.unique(blocks[at], return_index=True)
            for block, first, last in zip(present.tolist(), starts, [*starts[1:], len(at)], strict=True):
                part = self.weights(words[at[first:last]], self._columns(block))
                weights[first:last, : part.shape[1]] = part
            found[at], doubtful[at] = self._choose(blocks[at], weights, uniforms[at])
        return found, doubtful

    def _columns(self, block: int) -> slice:
        return slice(block * _BLOCK, min((block + 1) * _BLOCK, self._distances.size))

    def _choose(
        self, blocks: IndexArray, weights: Float64Array, uniforms: Float64Array
    ) -> tuple[IndexArray, NDArray[np.bool_]]:
        order, sums, unordered = _ascending(weights, self._doubt)
        everyone = np.arange(len(blocks))
        place, doubtful = _locate(sums, everyone, uniforms, self._doubt)
        return blocks * _BLOCK + order[everyone, place], doubtful | unordered

    def _exactly(self, word: IndexArray, uniforms: Float64Array) -> int:
        """One draw with weights by differences: the definition that the fast way agrees with."""
        row = self._first_step(word, exact=True)
        place, _ = _locate(row["sums"], np.zeros(1, np.int64), uniforms[:1], 0.0)
        block = int(row["order"][0, place[0]])
        if block == self._blocks:
            return int(word[0])
        weights = self.weights(word, self._columns(block), exact=True)
        found, _ = self._choose(np.array([block]), weights, uniforms[1:])
        return int(found[0])


def _ascending(cells: Float64Array, doubt: float) -> tuple[NDArray[np.int16], Float64Array, NDArray[np.bool_]]:
    """Cells of each row in ascending classes of a factor of two, cumulated; where ``doubt`` could move one to another class."""
    mantissas, classes = np.frexp(cells * _OFFSET)
    classes[cells == 0] = -2000
    order = np.argsort(classes.astype(np.int16), axis=1, kind="stable").astype(np.int16)
    sums = np.cumsum(np.take_along_axis(cells, order, axis=1), axis=1)
    edge = (mantissas < 0.5 * (1 + 2 * doubt)) | (mantissas > 1 - 2 * doubt)
    return order, sums, np.asarray((edge & (cells > 0)).any(axis=1))


def _locate(
    sums: Float64Array, rows: IndexArray, uniforms: Float64Array, doubt: float
) -> tuple[IndexArray, NDArray[np.bool_]]:
    """First place whose cumulative sum exceeds u times the row's total, by bisection; whether that is in doubt."""
    targets = uniforms * sums[rows, -1]
    low = np.zeros(len(rows), np.int64)
    high = np.full(len(rows), sums.shape[1] - 1)
    while (low < high).any():
        middle = (low + high) // 2
        above = sums[rows, middle] > targets
        high = np.where(above, middle, high)
        low = np.where(above, low, middle + 1)
    low = np.minimum(low, sums.shape[1] - 1)
    below = np.where(low > 0, sums[rows, low - 1], 0.0)
    doubtful = (targets >= sums[rows, low] * (1 - 4 * doubt)) | (targets <= below * (1 + 4 * doubt))
    return low, doubtful & (doubt > 0)
