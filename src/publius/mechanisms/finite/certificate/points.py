"""The distinct points of a vocabulary: words with equal vectors are one point for every metric."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self, final

import numpy as np

from publius.arrays import Float64Array, FloatArray, IndexArray


@final
@dataclass(frozen=True, eq=False)
class DistinctRows:
    """Distinct rows of an array of V vectors.

    Attributes:
        first: the lowest word at each point, ascending, shape (P,).
        of_word: the point of each word, shape (V,).
    """

    first: IndexArray
    of_word: IndexArray

    @classmethod
    def of(cls, vectors: FloatArray) -> Self:
        """The points of ``vectors``, shape (V, n); minus zero equals zero."""
        places: dict[bytes, int] = {}
        of_word = np.empty(len(vectors), np.int64)
        for start in range(0, len(vectors), 2**13):
            for offset, row in enumerate(np.asarray(vectors[start : start + 2**13]) + np.float32(0)):
                of_word[start + offset] = places.setdefault(row.tobytes(), len(places))
        first = np.full(len(places), -1, np.int64)
        first[of_word[::-1]] = np.arange(len(vectors))[::-1]
        return cls(first, of_word)

    def representatives(self, words: IndexArray) -> IndexArray:
        """For each word the lowest word with the same vector."""
        return self.first[self.of_word[words]]

    def summed(self, values: Float64Array) -> Float64Array:
        """Sum of a value per word over the words of each point, shape (P,)."""
        return np.bincount(self.of_word, values, minlength=len(self.first)).astype(np.float64)

    def shared(self, values: Float64Array) -> Float64Array:
        """A value per point shared equally among its words, shape (V,)."""
        return np.asarray((values / np.bincount(self.of_word))[self.of_word])
