"""Bags as counts of features, sparse: words, or pieces of words.

A released bag has no order, so what an adversary can count in it are its words and the characters inside them.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, final

import numpy as np

from publius.text.bag import Bag

if TYPE_CHECKING:
    from scipy.sparse import csr_array

Pieces = Callable[[str], Sequence[str]]
"""The features of one word, in any order, repeated as often as they occur."""


def whole_word(word: str) -> tuple[str]:
    """The word itself."""
    return (word,)


def bounded_grams(word: str, shortest: int = 2, longest: int = 4) -> list[str]:
    """The character n-grams of a word with its two ends marked by a space, of several lengths."""
    padded = f" {word} "
    return [
        padded[start : start + length]
        for length in range(shortest, longest + 1)
        for start in range(len(padded) - length + 1)
    ]


@final
class FeatureCounts:
    """Counts of the features that were met in fitting, most frequent first, ties in order of code points.

    Attributes:
        names: the features, at most ``limit``.

    """

    def __init__(self, pieces: Pieces = whole_word, limit: int | None = None) -> None:
        self._pieces, self._limit = pieces, limit
        self.names: tuple[str, ...] = ()
        self._columns: dict[str, int] = {}
        self._cache: dict[str, Counter[int]] = {}

    def fit(self, bags: Sequence[Bag]) -> FeatureCounts:
        """Learn the features of ``bags``."""
        words: Counter[str] = Counter()
        for bag in bags:
            words.update(bag.counts)
        totals: Counter[str] = Counter()
        for word, count in words.items():
            for piece in self._pieces(word):
                totals[piece] += count
        ranked = sorted(totals, key=lambda piece: (-totals[piece], piece))[: self._limit]
        self.names = tuple(ranked)
        self._columns = {name: column for column, name in enumerate(ranked)}
        self._cache = {}
        return self

    def transform(self, bags: Sequence[Bag]) -> csr_array:
        """Counts of shape (bags, features), float64; what was not met in fitting is left out."""
        from scipy.sparse import csr_array

        rows, columns, values = [], [], []
        for row, bag in enumerate(bags):
            for word, count in bag.counts.items():
                for column, times in self._pieces_of(word).items():
                    rows.append(row)
                    columns.append(column)
                    values.append(times * count)
        shape = (len(bags), len(self.names))
        return csr_array(
            (np.array(values, np.float64), (np.array(rows, np.int32), np.array(columns, np.int32))), shape
        )

    def _pieces_of(self, word: str) -> Counter[int]:
        if word not in self._cache:
            self._cache[word] = Counter(
                self._columns[piece] for piece in self._pieces(word) if piece in self._columns
            )
        return self._cache[word]


def class_sums(counts: csr_array, labels: Sequence[str], classes: Sequence[str]) -> csr_array:
    """The rows of ``counts`` added up by class, shape (classes, features)."""
    from scipy.sparse import csr_array

    place = {name: index for index, name in enumerate(classes)}
    rows = np.array([place[label] for label in labels], np.int32)
    members = csr_array(
        (np.ones(len(rows)), (rows, np.arange(len(rows), dtype=np.int32))), (len(classes), len(rows))
    )
    return csr_array(members @ counts)
