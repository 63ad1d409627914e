"""Stage 1 of the search (`nearest`) on a graphics processor, by the library CuPy: float32 scores of all words at once.

What comes back of a point is its best word, and the few others that the bound of rounding does not exclude. A device may
round the numbers that it multiplies, to 11 bits for instance, where nobody asked for it. So at the start products of the very
shape are compared with what they must be to the last bit, and of each point the best score is held to its bound. A
device that stops answering costs time and nothing else: its points are searched on the processor.
"""

from __future__ import annotations

import os
from importlib import import_module
from typing import Any, Final, final

import numpy as np

from publius.arrays import Float32Array, Float64Array, FloatArray, IndexArray
from publius.embeddings.byte_products import scattered
from publius.embeddings.catalogue import home
from publius.embeddings.shortlist import Few, FewWords
from publius.errors import PubliusError

THREADS: Final = 4  # so many keep a device busy; each has scores of its own there
_BLOCK: Final = 4096  # points at most that are scored together
_FEWEST: Final = 16  # with memory for fewer, what travels to the device takes longer than what it computes
_SCORES: Final = 2**27  # numbers of a thread at most, 512 MiB
_MOST: Final = 4096  # a point with more words is left to the processor, which bounds the memory
_TOGETHER: Final = 64  # points whose other words are looked for together
_CHUNK: Final = 16_384
_SUMS: Final = 4096  # so many numbers of 12 bits add up to less than 2**24, which float32 holds
_DISTINCT: Final = (257, 4099)  # points and words of the check, which come again; primes, so that no tile repeats


@final
class OnDevice:
    """Vectors on the device, in float32 with the column -|w|^2/2; ``scale`` brings them to at most 1."""

    kernel = "cupy-sgemm"

    def __init__(self, vectors: FloatArray, scale: float) -> None:
        self._process, self._lost = os.getpid(), False
        self._vectors, self._scale, self._norms = vectors, scale, np.empty(len(vectors))
        self._xp = _library()
        self._words = self._carried()
        # Half of what is free is for the scores of all threads.
        free = self._xp.cuda.Device().mem_info[0] // (2 * THREADS * np.float32().itemsize)
        self.block = int(min(_BLOCK, min(_SCORES, free) // len(vectors)))
        if self.block < _FEWEST:
            raise PubliusError("the CUDA device has too little free memory for this vocabulary")
        if not self._right():
            raise PubliusError("the CUDA device's products are wrong or rounded")

    @property
    def usable(self) -> bool:
        """Whether it still answers; never in a process that was forked off, which the device does not know."""
        return not self._lost and self._process == os.getpid()

    def _carried(self) -> Any:
        size, dimension = self._vectors.shape
        words = self._xp.empty((size, dimension + 1), np.float32)
        for start in range(0, size, _CHUNK):
            part = slice(start, start + _CHUNK)
            rows = np.asarray(self._vectors[part], np.float64) * self._scale
            self._norms[part] = np.einsum("ij,ij->i", rows, rows) / 2
            words[part] = self._xp.asarray(np.column_stack([rows, -self._norms[part]]).astype(np.float32))
        return words

    def of_a_thread(self) -> FewWords:
        """The search itself, which any thread may call."""
        return self.search

    def search(self, points: Float64Array, rows: Float32Array, bounds: Float64Array) -> Few:
        """As `Shortlist.search`; a device that is lost leaves all points to the processor."""
        if self.usable:
            try:
                with self._xp.cuda.Stream(non_blocking=True):
                    return self._search(points, rows, bounds)
            except PubliusError:
                raise
            except Exception:  # memory that others took, a driver that was renewed: the rest is searched otherwise
                self._lost = True
        return np.full(len(points), -1, np.int64), {}

    def _search(self, points: Float64Array, rows: Float32Array, bounds: Float64Array) -> Few:
        xp = self._xp
        scores = xp.matmul(xp.asarray(rows), self._words.T)
        places = scores.argmax(axis=1)
        everyone = xp.arange(len(rows))
        tops = scores[everyone, places]
        scores[everyone, places] = -np.inf
        seconds = scores.max(axis=1)
        place, top, second = (xp.asnumpy(each) for each in (places, tops, seconds))
        floors = top.astype(np.float64) - 2 * bounds
        # In float64 the score of each point's word.
        exact = np.einsum("ij,ij->i", np.asarray(self._vectors[place], np.float64), points) * self._scale
        exact -= self._norms[place] * rows[:, -1]
        if not (np.abs(top - exact) <= bounds).all() or np.isnan(second).any():
            raise PubliusError(_WRONG)
        close = np.flatnonzero(second >= floors)
        winners = place.astype(np.int64)
        winners[close] = -1
        candidates: dict[int, IndexArray] = {}
        levels = np.nextafter(floors.astype(np.float32), np.float32(-np.inf))
        for start in range(0, len(close), _TOGETHER):
            few = close[start : start + _TOGETHER]
            near = scores[xp.asarray(few)] >= xp.asarray(levels[few])[:, None]
            counts = xp.asnumpy(near.sum(axis=1))
            words = xp.asnumpy(xp.nonzero(near[xp.asarray(np.flatnonzero(counts < _MOST))])[1])
            stop = 0
            for row, count in zip(few.tolist(), counts.tolist(), strict=True):
                if count < _MOST:
                    begin, stop = stop, stop + count
                    candidates[row] = np.sort(np.append(words[begin:stop], place[row]))
        return winners, candidates

    def _right(self) -> bool:
        """Whether products of this very shape are right to the last bit, of few points and of a whole block.

        Twice sums of whole numbers that float32 holds whatever their order, and twice single numbers of 24 bits; once
        the points have the many bits and once the words. Products that are rounded fail two of them at least.
        """
        xp, depth = self._xp, self._words.shape[1]
        points, words = ((count, depth) for count in _DISTINCT)
        made = (
            (_signs(points, 0), _whole(words, 1, 12)),
            (_whole(points, 2, 12), _signs(words, 3)),
            (_single(points, 4), _whole(words, 5, 24)),
            (_whole(points, 6, 24), _single(words, 7)),
        )
        column = xp.arange(len(self._words)) % _DISTINCT[1]
        for some, others in made:
            expected = xp.asarray((some @ others.T).astype(np.float32))
            all_words = xp.asarray(others.astype(np.float32))[column]
            for count in sorted({1, 7, self.block}):
                row = xp.arange(count) % _DISTINCT[0]
                found = xp.matmul(xp.asarray(some.astype(np.float32))[row], all_words.T)
                if not bool((found == expected[row][:, column]).all()):
                    return False
        del expected, all_words, found
        xp.get_default_memory_pool().free_all_blocks()
        return True


_WRONG = "the CUDA device returned a product outside its bound, so it cannot be trusted: uninstall cupy, and run again"


def _whole(shape: tuple[int, int], start: int, bits: int) -> Float64Array:
    """Odd whole numbers of so many bits, of both signs."""
    numbers, half = _made(shape, start), 2 ** (bits - 1)
    sizes = (numbers % np.uint64(half)).astype(np.int64) | half | 1
    return np.asarray(np.where(numbers >> np.uint64(23) == 1, -sizes, sizes), np.float64)


def _signs(shape: tuple[int, int], start: int) -> Float64Array:
    """-1, 0 and 1; of a long row the most are 0."""
    signs: Float64Array = (_made(shape, start) % np.uint64(3)).astype(np.float64) - 1
    apart = -(-shape[1] // _SUMS)
    places = np.add.outer(np.arange(shape[0]), np.arange(shape[1]))
    signs[places % apart != 0] = 0
    return signs


def _single(shape: tuple[int, int], start: int) -> Float64Array:
    """In each row one number that is not 0, a power of two."""
    rows = np.zeros(shape)
    powers = _made((shape[0], 1), start)[:, 0] % np.uint64(9)
    rows[np.arange(shape[0]), np.arange(shape[0]) % shape[1]] = np.exp2(powers.astype(np.float64) - 4)
    return rows


def _made(shape: tuple[int, int], start: int) -> Any:
    return np.resize(scattered(min(shape[0] * shape[1], 1_048_583), start), shape)


def _library() -> Any:
    # Read when the library is loaded: what it compiles for the device lies beside our own files.
    os.environ["CUPY_CACHE_DIR"] = str(home() / "cupy")
    return import_module("cupy")
