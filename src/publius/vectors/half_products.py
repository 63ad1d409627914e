"""Products of 16-bit numbers by the library numkong, where the processor has units for them.

Three gates stand before them, and where one is shut the search works with sgemm: the processor has such units; at the
one shape that the search asks for every product is right, against float64 within the bound of docs/theory.md section 3;
and a short timing finds them faster. None can change an answer, only how soon it is there.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from importlib import import_module
from typing import Any, Final, Literal, final

import numpy as np
from numpy.typing import NDArray
from threadpoolctl import ThreadpoolController

from publius.arrays import Float32Array
from publius.errors import MissingExtraError, PubliusError, extra

Kernel = Literal["sgemm", "numkong-bf16"]
Halves = NDArray[np.uint16]  # bfloat16: the upper half of a float32

SGEMM: Final[Kernel] = "sgemm"
NUMKONG: Final[Kernel] = "numkong-bf16"
WORDS: Final = 512
POINTS: Final = 256
"""Every product is of 512 words and 256 points, filled up where there are fewer: the shape that was checked."""

_UNITS: Final = ("sapphireamx", "genoa")
"""What numkong calls AMX and AVX-512 BF16; its products without them are slower than sgemm."""
_DEPTH: Final = 32  # a row of an AMX tile
_DEEPEST: Final = 8192
_PAYS: Final = 1.2  # faster by less is within the noise of so short a timing
_REPEATS: Final = 5
_BLAS = ThreadpoolController()


@final
@dataclass(frozen=True)
class Choice:
    """The product that the search works with, and why."""

    kernel: Kernel
    reason: str


def halved(numbers: Float32Array) -> Halves:
    """The nearest bfloat16 of each number, ties to even; below 2**-126 zero, as processors take it."""
    bits = np.ascontiguousarray(numbers, np.float32).view(np.uint32)
    halves: Halves = ((bits + 0x7FFF + ((bits >> 16) & 1)) >> 16).astype(np.uint16)
    halves[halves & 0x7F80 == 0] = 0
    return halves


def widened(halves: Halves) -> Float32Array:
    """The numbers that bfloat16 stands for."""
    return (halves.astype(np.uint32) << 16).view(np.float32)


def depth(dimension: int) -> int:
    """Columns of a product: the dimension and three of the norm, filled up to whole rows of a tile."""
    return -(-(dimension + 3) // _DEPTH) * _DEPTH


def rounding(columns: int) -> float:
    """Largest error of a product beside the sum of its terms' sizes, in whatever order they are added."""
    return 1.01 * (columns + 4) * 2.0**-23


SMALLEST: Final = 2.0**-120
"""A product may lose this much a column where its terms leave float32 at the lower end."""


@final
class Products:
    """Scores of panels of words and a block of points; one for each thread.

    Attributes:
        scores: what was computed last, shape (WORDS, POINTS).

    """

    def __init__(self) -> None:
        self._library = _library()
        self.scores: Float32Array = np.empty((WORDS, POINTS), np.float32)
        self._out = self._tensor(self.scores, "float32")

    def words(self, halves: Halves) -> Any:
        """Words as `compute` takes them, shape (WORDS, columns); ``halves`` must stay as they are."""
        return self._tensor(halves, "bfloat16")

    def points(self, halves: Halves) -> Any:
        """Points as `compute` takes them, shape (POINTS, columns)."""
        return self._library.dots_pack(self._tensor(halves, "bfloat16"))

    def compute(self, words: Any, points: Any) -> Float32Array:
        """Fill `scores`. The GIL is released meanwhile."""
        self._library.dots_packed(words, points, out=self._out)
        return self.scores

    def _tensor(self, numbers: NDArray[Any], kind: str) -> Any:
        return self._library.from_pointer(numbers.ctypes.data, numbers.shape, kind, owner=numbers)


def choice(dimension: int) -> Choice:
    """The product for vectors of ``dimension``, and why: found out once in a process for each shape."""
    try:
        library = _library()
    except MissingExtraError:
        return Choice(SGEMM, "the extra numkong is not installed")
    if dimension > _DEEPEST:
        return Choice(SGEMM, f"more than {_DEEPEST:,} dimensions")
    there = library.get_capabilities()
    if not any(there.get(unit) for unit in _UNITS):
        return Choice(SGEMM, "this processor has no 16-bit units (AMX, AVX-512 BF16)")
    if wrong := fault(depth(dimension)):
        return Choice(SGEMM, wrong)
    times = _times_sgemm(dimension)
    if times < _PAYS:
        return Choice(
            SGEMM, f"16-bit products are {times:.2f} times as fast as sgemm here, too little to pay"
        )
    return Choice(NUMKONG, f"16-bit products are right at this shape, and {times:.2f} times as fast as sgemm")


def check(dimension: int) -> None:
    """Raise `PubliusError` where numkong's products are wrong for ``dimension``; `MissingExtraError` without it."""
    _library()
    wrong = fault(depth(dimension)) if dimension <= _DEEPEST else f"more than {_DEEPEST:,} dimensions"
    if wrong:
        raise PubliusError(wrong)


@lru_cache(maxsize=64)
def fault(columns: int) -> str | None:
    """What is wrong with the library's products of so many columns: every entry, against float64."""
    try:
        products = Products()
        for make in (_odd, _fractions, _sizes):
            words, points = _made(make, WORDS, columns, 0), _made(make, POINTS, columns, 1)
            products.scores.fill(np.nan)
            found = products.compute(products.words(words), products.points(points))
            w, z = widened(words).astype(np.float64), widened(points).astype(np.float64)
            allowed = rounding(columns) * (np.abs(w) @ np.abs(z).T) + columns * SMALLEST
            if make is _odd:  # every term and every sum of them is a float32
                allowed[:] = 0
            if not (np.abs(found - w @ z.T) <= allowed).all():
                return "numkong's 16-bit products are wrong on this machine"
    except Exception as error:  # whatever breaks, sgemm is there
        return f"numkong's 16-bit products break on this machine: {type(error).__name__}"
    if np.float64(5e-324) * np.float64(1.0) == 0:  # a library may switch that for the whole thread
        return "numkong makes this process round small numbers to zero"
    return None


def _made(make: Callable[[NDArray[np.uint64]], Float32Array], rows: int, columns: int, side: int) -> Halves:
    return halved(make(_scattered(rows * columns, side)).reshape(rows, columns))


def _scattered(count: int, start: int) -> NDArray[np.uint64]:
    """Numbers below 2**24 without a pattern; they need not be random."""
    places = np.arange(1, count + 1, dtype=np.uint64) + np.uint64(start << 32)
    mixed = places * np.uint64(0x9E3779B97F4A7C15)
    mixed = (mixed ^ (mixed >> np.uint64(29))) * np.uint64(0xBF58476D1CE4E5B9)
    return mixed >> np.uint64(40)


def _odd(scattered: NDArray[np.uint64]) -> Float32Array:
    """None is zero, so that no entry of a product can be left out unseen."""
    return (2 * (scattered % np.uint64(8)).astype(np.float32) - 7).astype(np.float32)


def _fractions(scattered: NDArray[np.uint64]) -> Float32Array:
    return (scattered.astype(np.float32) * np.float32(2.0**-23) - np.float32(1)).astype(np.float32)


def _sizes(scattered: NDArray[np.uint64]) -> Float32Array:
    powers = (scattered % np.uint64(61)).astype(np.int64) - 30
    return np.ldexp(_fractions(scattered), powers).astype(np.float32)


@lru_cache(maxsize=64)
def _times_sgemm(dimension: int) -> float:
    """How many times as fast as float32 the 16-bit products are, with the maxima over groups they need."""
    columns = depth(dimension)
    products = Products()
    halves, block = (halved(np.ones((rows, columns), np.float32)) for rows in (WORDS, POINTS))
    words, points = products.words(halves), products.points(block)
    singles: Float32Array = np.ones((WORDS, dimension + 1), np.float32)
    others: Float32Array = np.ones((POINTS, dimension + 1), np.float32)
    maxima: Float32Array = np.empty((GROUPS, POINTS), np.float32)

    def half() -> None:
        group_maxima(products.compute(words, points), maxima)

    def single() -> None:
        np.matmul(others, singles.T, out=products.scores.reshape(POINTS, WORDS))

    with _BLAS.limit(limits=1, user_api="blas"):
        return _shortest(single) / _shortest(half)


def _shortest(call: Callable[[], None]) -> float:
    call()
    took = []
    for _ in range(_REPEATS):
        start = time.perf_counter()
        call()
        took.append(time.perf_counter() - start)
    return min(took)


GROUPS: Final = 32
"""Groups a panel; word number r is in group r modulo 32, so that the maxima run along the memory."""


def group_maxima(scores: Float32Array, maxima: Float32Array) -> None:
    """The largest score in each group of a panel: (WORDS, POINTS) -> (GROUPS, POINTS)."""
    np.maximum.reduce(scores.reshape(WORDS // GROUPS, GROUPS, POINTS), axis=0, out=maxima)


def _library() -> Any:
    with extra("numkong", "numkong"):
        return import_module("numkong")
