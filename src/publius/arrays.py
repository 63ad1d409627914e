"""The array types that every room speaks of."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Any, final, overload

import numpy as np
from numpy.typing import NDArray

FloatArray = NDArray[np.floating[Any]]  # vectors in whichever precision they came
Float64Array = NDArray[np.float64]
Float32Array = NDArray[np.float32]
IndexArray = NDArray[np.int64]  # places in a vocabulary


@final
class Rows(Sequence[IndexArray]):
    """Rows of different lengths in one array, one behind the other; it shows none in a repr.

    Attributes:
        flat: all of them.
        starts: where each begins in ``flat``, and at last where the last one ends.
    """

    __slots__ = ("flat", "starts")

    def __init__(self, flat: IndexArray, starts: IndexArray) -> None:
        self.flat, self.starts = flat, starts

    @classmethod
    def of(cls, rows: Sequence[IndexArray]) -> Rows:
        """The same rows in one array; themselves where they are so already."""
        if isinstance(rows, cls):
            return rows
        counts = np.fromiter(map(len, rows), np.int64, len(rows))
        flat = np.concatenate([np.zeros(0, np.int64), *(np.asarray(row, np.int64) for row in rows)])
        return cls(flat, np.concatenate([[0], np.cumsum(counts)]))

    def __len__(self) -> int:
        return len(self.starts) - 1

    def __iter__(self) -> Iterator[IndexArray]:
        return (self.flat[start:end] for start, end in pairwise(self.starts.tolist()))

    @overload
    def __getitem__(self, place: int) -> IndexArray: ...
    @overload
    def __getitem__(self, place: slice) -> list[IndexArray]: ...
    def __getitem__(self, place: int | slice) -> IndexArray | list[IndexArray]:
        places = range(len(self))[place]
        if isinstance(places, int):
            return self.flat[self.starts[places] : self.starts[places + 1]]
        return [self[each] for each in places]

    def __repr__(self) -> str:
        return f"Rows(count={len(self)})"
