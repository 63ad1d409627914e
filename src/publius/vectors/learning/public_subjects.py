"""Subjects for counting: clusters of public word vectors, which can name what no public text has.

A document counts in the subject that holds most of its weight: the sum of (1 + ln count) times the word's rarity over
the subject's words. Rarity comes from how many public documents hold a word; public texts are needed for nothing else.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, final

import numpy as np

from publius.arrays import Float64Array, FloatArray, IndexArray
from publius.errors import DataError, UsageError
from publius.vectors.learning.clusters import clusters
from publius.vectors.learning.public_themes import counted

SUBJECTS: Final = 500
WORDS: Final = 20_000
"""The most frequent public words, of which subjects are made."""

_SHORTEST: Final = 3
_LEAST_WORDS: Final = 3


@final
@dataclass(frozen=True)
class PublicSubjects:
    """Clusters of public words; all of it is public.

    Attributes:
        vocabulary: the words of all subjects, the most frequent first.
        members: the subject of each word.
        rarity: the weight of each word.
        size: how many subjects there are.
    """

    vocabulary: tuple[str, ...]
    members: IndexArray
    rarity: Float64Array
    size: int

    @property
    def cells(self) -> int:
        """The subjects, and "no words"."""
        return self.size + 1

    def words(self, subject: int, most: int = 10) -> tuple[str, ...]:
        """The most frequent public words of a subject."""
        return tuple(
            self.vocabulary[place] for place in np.flatnonzero(self.members == subject)[:most].tolist()
        )

    def cells_of(self, bags: Sequence[Mapping[str, int]]) -> IndexArray:
        """The subject of each document, given as how often each of its words occurs; shape (n,). Private.

        A document without a word of any subject has the cell "no words", the last one. Of equals the first subject.
        """
        return self.cells_of_counts(counted(bags, self.vocabulary))

    def cells_of_counts(self, counts: Any) -> IndexArray:
        """The same of a sparse matrix of how often each word of the vocabulary occurs, shape (n, words)."""
        documents = counts.shape[0]
        rows = np.repeat(np.arange(documents), np.diff(counts.indptr))
        weights = (1 + np.log(counts.data)) * self.rarity[counts.indices]
        sums = np.bincount(
            rows * self.size + self.members[counts.indices], weights, minlength=documents * self.size
        ).reshape(documents, self.size)
        return np.asarray(np.where(np.diff(counts.indptr) > 0, sums.argmax(axis=1), self.size))


def make_subjects(
    words: Sequence[str],
    vectors: FloatArray,
    holding: Mapping[str, int],
    documents: int,
    *,
    subjects: int = SUBJECTS,
    left_out: frozenset[str] = frozenset(),
    members: IndexArray | None = None,
) -> PublicSubjects:
    """Subjects of the most frequent public words with their vectors; nothing random.

    Args:
        words: public, the most frequent first; the first 20,000 count, but for those of fewer than three letters.
        vectors: one a word.
        holding: in how many of ``documents`` public documents a word stands; 0 where it is missing.
        documents: their number; with 0 a word weighs ln(1 + its place), as if Zipf's law held.
        subjects: how many clusters.
        left_out: words that belong to no subject (stop words).
        members: the subject of each word that counts, where they were grouped before.

    Raises `UsageError` unless there is a vector for each word, `DataError` for ``members`` of other words.
    """
    if len(words) != len(vectors):
        raise UsageError("there must be one vector for each word")
    kept = [
        place
        for place, word in enumerate(words[:WORDS])
        if len(word) >= _SHORTEST and word not in left_out and word.isalpha()
    ]
    chosen = tuple(words[place] for place in kept)
    if members is None:
        subjects = min(subjects, max(1, len(kept) // _LEAST_WORDS))
        members = clusters(np.asarray(vectors)[kept].astype(np.float64), subjects)
    elif len(members) != len(kept) or not 0 <= members.min() <= members.max() < len(kept):
        raise DataError("the groups of words are of other words")
    subjects = int(members.max()) + 1
    if documents:
        rarity = np.log((documents + 1) / (np.array([holding.get(word, 0) for word in chosen]) + 1.0))
    else:
        rarity = np.log(np.arange(len(kept)) + 2.0)  # Zipf: a word's frequency falls as its place
    return PublicSubjects(chosen, members, np.maximum(rarity, 0), subjects)
