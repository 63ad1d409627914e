"""Bags as counts of features, sparse: words, or pieces of words.

A released bag has no order, so what an adversary can count in it are its words and the characters inside them.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Final, final

import numpy as np
from numpy.typing import NDArray

from publius.text.bag import Bag

if TYPE_CHECKING:
    from scipy.sparse import csr_array

_NONE: Final = np.zeros(0, np.int32)

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
        self._cache: dict[str, tuple[NDArray[np.int32], NDArray[np.int32]]] = {}

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

        held = [self._pieces_of(word) for bag in bags for word in bag.counts]
        counts = np.array([count for bag in bags for count in bag.counts.values()], np.int64)
        words = np.array([len(bag.counts) for bag in bags], np.int64)
        sizes = np.array([places.size for places, _ in held], np.int64)
        columns = np.concatenate([_NONE, *(places for places, _ in held)])
        values = np.concatenate([_NONE, *(times for _, times in held)]) * np.repeat(counts, sizes)
        rows = np.repeat(np.repeat(np.arange(len(bags), dtype=np.int32), words), sizes)
        return csr_array((values.astype(np.float64), (rows, columns)), (len(bags), len(self.names)))

    def _pieces_of(self, word: str) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
        """The columns of a word's pieces, and how often each is there."""
        if word not in self._cache:
            found = Counter(self._columns[piece] for piece in self._pieces(word) if piece in self._columns)
            self._cache[word] = np.array([*found], np.int32), np.array([*found.values()], np.int32)
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
