"""Scores from products of 8-bit numbers by the library ONNX Runtime.

They are used where the installed version is one that sends nothing anywhere, and at the very shape that the search asks for
every product is right.

Points are unsigned, words signed: the pairing that processors have an instruction for. Where that instruction is
missing, two neighboring products are added in 16 bits, which 8-bit words overflow: then words have 7 bits.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable
from contextlib import suppress
from functools import lru_cache
from importlib import import_module
from typing import Any, Final, final

import numpy as np
from numpy.typing import NDArray

from publius.arrays import Float32Array, Float64Array
from publius.files.threads import one_blas_thread

Words = NDArray[np.int8]
Points = NDArray[np.uint8]

POINTS: Final = 128  # of a block at most: with a panel of words their scores are about 4 MiB
ZERO: Final = 128  # what stands for zero among the unsigned numbers of a point
NO_WORD: Final = -3e38  # the score of a column that holds no word
_DEEPEST: Final = 8192  # more than this often, products could leave 32 bits
_REACHES: Final = (127, 63)
_EXACT: Final = 1000  # so many products of 8-bit numbers add up to less than 2**24
# Versions from the first and below the second; later ones report their use to their makers unless told not to.
_SENDS_NOTHING: Final = ((1, 26), (1, 29))


@lru_cache(maxsize=64)
def reach(dimension: int, columns: int) -> int:
    """The largest whole number of a word with which every product of this shape is right; 0 where none is."""
    from importlib.metadata import version  # slow to start

    with suppress(Exception):  # whatever is missing or breaks, sgemm is there
        installed = tuple(map(int, re.findall(r"\d+", version("onnxruntime"))[:2]))
        if _SENDS_NOTHING[0] <= installed < _SENDS_NOTHING[1] and dimension <= _DEEPEST:
            return next((most for most in _REACHES if _right(dimension, columns, most)), 0)
    return 0


def _right(dimension: int, columns: int, most: int) -> bool:
    """Whether every score is right: whole numbers exactly, others within the bound of rounding."""
    points = _made(POINTS, dimension, 0, 256).astype(np.uint8)
    points[:3] = [[0], [255], [ZERO]]
    words = (_made(dimension, columns, 1, 2 * most + 1) - most).astype(np.int8)
    words[:, 0], words[:, -1] = most, -most  # what overflows first
    scales, offsets = np.ones(columns, np.float32), np.zeros(columns, np.float32)
    scales[1::2] = _made(1, columns // 2, 2, 2**16) / np.float32(32_000)
    offsets[1::2] = _made(1, columns // 2, 3, 2**16) / np.float32(-7)
    sums = _sums(points, words)
    made = Panel(words, scales, offsets)
    memory, scale = np.empty(POINTS * columns, np.float32), np.ones(1, np.float32)
    compute = made.bind(points, scale, memory)
    for count in (POINTS, 1, 7):
        memory.fill(np.nan)
        compute(count)
        found = memory[: count * columns].reshape(count, columns)
        whole, size = sums[:count, ::2], np.abs(sums[:count]) * scales + np.abs(offsets)
        exact = found[:, ::2] == whole.astype(np.float32)  # float32 holds those below 2**24
        near = np.abs(found - (sums[:count] * scales + offsets)) <= size * 2.0**-20
        if not (near.all() and (exact | (np.abs(whole) >= 2**24)).all()):
            return False
    # A library may switch that off for the whole thread.
    return bool(np.float64(5e-324) * np.float64(1.0) != 0)


def _sums(points: Points, words: Words) -> Float64Array:
    """What the library is to find, from products of floats whose partial sums are whole numbers that float32 holds."""
    sums: Float64Array = np.zeros((len(points), words.shape[1]))
    with one_blas_thread():
        for start in range(0, len(words), _EXACT):
            part = slice(start, start + _EXACT)
            sums += (points[:, part].astype(np.float32) - ZERO) @ words[part].astype(np.float32)
    return sums


def scattered(count: int, start: int) -> NDArray[np.uint64]:
    """Numbers below 2**24 without a pattern; they need not be random."""
    places = np.arange(1, count + 1, dtype=np.uint64) + np.uint64(start << 32)
    mixed = places * np.uint64(0x9E3779B97F4A7C15)
    mixed = (mixed ^ (mixed >> np.uint64(29))) * np.uint64(0xBF58476D1CE4E5B9)
    return mixed >> np.uint64(40)


def _made(rows: int, columns: int, start: int, end: int) -> NDArray[np.int16 | np.int32]:
    """Whole numbers below ``end``; those of a long array come again after a prime number of places."""
    few = (scattered(min(rows * columns, 65_537), start) >> np.uint64(4)) % np.uint64(end)
    return np.resize(few.astype(np.int16 if end < 2**15 else np.int32), (rows, columns))


@final
class Panel:
    """Words, shape (n, columns), whose scores are computed together, safe for threads, without the GIL.

    The score of point p and column c is scale * scales[c] * sum over i of (points[p, i] - ZERO) * words[i, c] +
    offsets[c]: a sum of whole numbers, then four roundings to float32 at most.
    """

    def __init__(self, words: Words, scales: Float32Array, offsets: Float32Array) -> None:
        # Read when the library is loaded: versions that report their use make no file and open no connection with it.
        os.environ["ORT_DISABLE_TELEMETRY"] = "1"
        library: Any = import_module("onnxruntime")
        library.disable_telemetry_events()  # on Windows, also of the versions that may be installed
        options = library.SessionOptions()
        options.intra_op_num_threads = options.inter_op_num_threads = 1
        options.log_severity_level = 4
        self._columns = words.shape[1]
        self._session = library.InferenceSession(
            _model(words, scales, offsets), options, providers=["CPUExecutionProvider"]
        )

    def bind(self, points: Points, scale: Float32Array, scores: Float32Array) -> Callable[[int], None]:
        """For one thread: what computes the scores of so many ``points`` times ``scale`` to the start of ``scores``."""
        bound, last = self._session.io_binding(), [-1]
        bound.bind_input("scale", "cpu", 0, np.float32, (1,), scale.ctypes.data)

        def compute(count: int, _kept: Float32Array = scale) -> None:
            if count != last[0]:  # the binding knows addresses only: this function keeps the arrays
                shape = (count, points.shape[1])
                bound.bind_input("points", "cpu", 0, np.uint8, shape, points.ctypes.data)
                bound.bind_output("scores", "cpu", 0, np.float32, (count, self._columns), scores.ctypes.data)
                last[0] = count
            self._session.run_with_iobinding(bound)

        return compute


# The format of a graph: onnx.proto in the form that protocol buffers have on disk. ------------------------------

_FLOAT, _UINT8, _INT8 = 1, 2, 3


def _model(words: Words, scales: Float32Array, offsets: Float32Array) -> bytes:
    dimension, columns = words.shape
    inputs = ("points", "words", "scale", "scales", "zero", "", "offsets")
    node = _message(*((1, name) for name in inputs), (2, "scores"), (4, "MatMulIntegerToFloat"), (7, "com.microsoft"))
    graph = _message(
        (1, node), (2, "scores"), (5, _tensor("words", _INT8, words)), (5, _tensor("scales", _FLOAT, scales)),
        (5, _tensor("offsets", _FLOAT, offsets)), (5, _tensor("zero", _UINT8, np.array(ZERO, np.uint8))),
        (11, _value("points", _UINT8, "count", dimension)), (11, _value("scale", _FLOAT, 1)),
        (12, _value("scores", _FLOAT, "count", columns)),
    )  # fmt: skip
    versions = (("", 13), ("com.microsoft", 1))
    return _message((1, 8), (7, graph), *((8, _message((1, domain), (2, number))) for domain, number in versions))


def _tensor(name: str, kind: int, numbers: NDArray[Any]) -> bytes:
    raw = numbers.astype(numbers.dtype.newbyteorder("<")).tobytes()
    return _message(*((1, each) for each in numbers.shape), (2, kind), (8, name), (9, raw))


def _value(name: str, kind: int, *shape: int | str) -> bytes:
    sizes = _message(*((1, _message((1 if isinstance(each, int) else 2, each))) for each in shape))
    return _message((1, name), (2, _message((1, _message((1, kind), (2, sizes))))))


def _message(*fields: tuple[int, int | str | bytes]) -> bytes:
    found = []
    for number, value in fields:
        if isinstance(value, int):
            found += [_varint(number << 3), _varint(value)]
        else:
            content = value.encode() if isinstance(value, str) else value
            found += [_varint(number << 3 | 2), _varint(len(content)), content]
    return b"".join(found)


def _varint(value: int) -> bytes:
    return bytes([value]) if value < 128 else bytes([value & 127 | 128]) + _varint(value >> 7)
