"""In which cell a document counts: its stratum, its theme and its subject. A function of it and public things alone."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, Protocol, final

import numpy as np
from threadpoolctl import ThreadpoolController

from publius.arrays import Float64Array, IndexArray, Rows
from publius.collections.strata import Strata
from publius.errors import DataError
from publius.text.bag import Encoding, places_of_all
from publius.vectors.learning.prototypes import NONE_OF_THESE, Prototypes, nearest_by
from publius.vectors.learning.public_subjects import PublicSubjects
from publius.vectors.learning.public_themes import NO_WORDS
from publius.vectors.learning.reference import Reference

_ASKED: Final = 50
_WEIGHED: Final = 2.0**32
_TYPICAL: Final = 10
_BLAS: Final = ThreadpoolController()


class Themes(Protocol):
    """The cells that documents are counted in: K themes, "none of these" and "no words"."""

    @property
    def size(self) -> int:
        """K."""
        ...

    @property
    def vocabulary(self) -> Sequence[str]:
        """The words that count."""
        ...

    @property
    def words(self) -> Float64Array:
        """How likely each word is in each theme, shape (K, V)."""
        ...

    @property
    def holding(self) -> Float64Array:
        """The share of each theme's public documents that hold each word, shape (K, V)."""
        ...

    @property
    def documents(self) -> IndexArray | None:
        """How many public documents are of each cell, shape (K + 2,); None where that is not known."""
        ...

    def typical(self, theme: int, words: int = _TYPICAL) -> tuple[str, ...]:
        """The most typical words of a theme."""
        ...

    def cells_of_counts(self, counts: Any) -> IndexArray:
        """The cell of each row of a sparse matrix of how often each word occurs, shape (n, V)."""
        ...


def label(themes: Themes, cell: int) -> str:
    """The five most typical words of a theme, or what the two other cells are called."""
    return (
        (NONE_OF_THESE, NO_WORDS)[cell - themes.size]
        if cell >= themes.size
        else " ".join(themes.typical(cell, 5))
    )


def labels(themes: Themes) -> tuple[str, ...]:
    """The label of each cell, each different."""
    names = [label(themes, cell) for cell in range(themes.size + 2)]
    return tuple(
        name if names.index(name) == place else f"{name} ({place + 1})" for place, name in enumerate(names)
    )


@final
class PrototypeThemes:
    """The prototypes of a reference as themes: what is to be had without what newer references store for summaries.

    A document counts in the prototype that stands nearest; how many public documents each has is not known, nor how
    far is too far, so "none of these" has none.
    """

    def __init__(self, reference: Reference, themes: int = _ASKED) -> None:
        name = "meaning" if "meaning" in reference.keeps else reference.keeps[0]
        self._aspect = reference.aspect(name)
        sizes = sorted(each.size for each in self._aspect.sets)
        fitting = [size for size in sizes if size <= themes]
        self._prototypes: Prototypes = self._aspect.prototypes(fitting[-1] if fitting else sizes[0])
        self.vocabulary: Sequence[str] = reference.vocabulary
        self.size, self.documents = self._prototypes.size, None
        drawn = np.zeros((self.size, len(self.vocabulary)))
        shares = self._prototypes.weights / _WEIGHED
        np.put_along_axis(drawn, np.asarray(self._prototypes.words), shares, axis=1)
        self.words: Float64Array = 0.8 * drawn + 0.2 * np.asarray(reference.background)
        self.words /= self.words.sum(axis=1, keepdims=True)
        self.holding: Float64Array = -np.expm1(-60 * self.words)  # of a text of 60 words

    def typical(self, theme: int, words: int = _TYPICAL) -> tuple[str, ...]:
        """The most typical words of a theme."""
        return tuple(self.vocabulary[place] for place in self._prototypes.typical(theme, words))

    def cells_of_counts(self, counts: Any) -> IndexArray:
        """The nearest prototype of each document; "no words" for one without any."""
        rows = [
            np.repeat(counts.indices[start:end], counts.data[start:end].astype(np.int64))
            for start, end in zip(counts.indptr[:-1], counts.indptr[1:], strict=True)
        ]
        positions = self._aspect.positions([np.asarray(row, np.int64) for row in rows])
        nearest = nearest_by(self._aspect.rule, positions, self._prototypes.points)
        return np.asarray(np.where(np.diff(counts.indptr) > 0, nearest, self.size + 1))


@final
@dataclass(frozen=True, eq=False)
class _Words:
    """The words of themes and subjects together, for texts to be looked up in once."""

    vocabulary: tuple[str, ...]
    places: Mapping[str, int]

    @property
    def unknown_index(self) -> int:
        return len(self.vocabulary)

    def index(self, word: str) -> int | None:
        return self.places.get(word)

    def __contains__(self, word: object) -> bool:
        return word in self.places

    def __hash__(self) -> int:
        return id(self)


@final
class Counting:
    """The cells of a collection: strata x themes x subjects, where there are such; all of it is public.

    Args:
        strata: declared.
        themes: or None.
        subjects: or None.
        encoding: how texts become words; all of them count.
        beside: words that are looked up with those of themes and subjects, though nothing counts them: what is a word
            there stands in no piece here.
    """

    def __init__(
        self, strata: Strata, themes: Themes | None, subjects: PublicSubjects | None, encoding: Encoding,
        beside: Sequence[str] = (),
    ) -> None:  # fmt: skip
        self.strata, self.themes, self.subjects = strata, themes, subjects
        self._encoding = encoding
        theme_words = () if themes is None else themes.vocabulary
        subject_words = () if subjects is None else subjects.vocabulary
        words = tuple(dict.fromkeys((*theme_words, *subject_words, *beside)))
        self._words = _Words(words, {word: place for place, word in enumerate(words)})
        places = self._words.places
        self._of_themes = np.array([places[word] for word in theme_words], np.int64)
        self._of_subjects = np.array([places[word] for word in subject_words], np.int64)

    @property
    def shape(self) -> tuple[int, int, int]:
        """How many strata, themes and subjects, each with its cells for what has none; 1 where there are none."""
        themes = 1 if self.themes is None else self.themes.size + 2
        subjects = 1 if self.subjects is None else self.subjects.cells
        return self.strata.size, themes, subjects

    def cells(self, texts: Sequence[str], strata: Sequence[int]) -> IndexArray:
        """The cell of each document, a place in an array of `shape`. Private.

        It depends on nothing but that document: not on what else is in ``texts``.
        """
        counts = self._counts(places_of_all(texts, self._words, self._encoding).places)
        themes = subjects = np.zeros(len(texts), np.int64)
        # Products of some hundred rows: threads would wait for each other longer than they work.
        with _BLAS.limit(limits=1, user_api="blas"):
            if self.themes is not None:
                themes = self.themes.cells_of_counts(_columns(counts, self._of_themes))
            if self.subjects is not None:
                subjects = self.subjects.cells_of_counts(_columns(counts, self._of_subjects))
        place = np.ravel_multi_index((np.asarray(strata, np.int64), themes, subjects), self.shape)
        if len(place) != len(texts):
            raise DataError("a document was lost while its words were looked up")
        return np.asarray(place, np.int64)

    def _counts(self, rows: Rows) -> Any:
        """How often each word occurs in each document, a sparse matrix; its last column is words that do not count."""
        from scipy.sparse import csr_array

        starts, shape = rows.starts.astype(np.int32), (len(rows.starts) - 1, len(self._words.vocabulary) + 1)
        counts = csr_array((np.ones(len(rows.flat)), rows.flat.astype(np.int32), starts), shape)
        counts.sum_duplicates()
        return counts


def _columns(counts: Any, places: IndexArray) -> Any:
    """The columns at ``places`` of a sparse matrix, in their order."""
    from scipy.sparse import csr_array

    column = np.full(counts.shape[1], -1, np.int32)
    column[places] = np.arange(len(places))
    found = column.take(counts.indices)
    kept = found >= 0
    starts = np.concatenate([[0], np.cumsum(kept)]).take(counts.indptr).astype(np.int32)
    return csr_array((counts.data[kept], found[kept], starts), (counts.shape[0], len(places)))
