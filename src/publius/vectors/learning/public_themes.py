"""Themes for counting: clusters of public documents in a space of 100 directions of their tf-idf.

A document has one theme, a function of itself and public things alone. Words weigh (1 + ln count) times
ln((1 + n) / (1 + documents with the word)) + 1; the directions are the leading right singular vectors of the public
documents' weights (latent semantic analysis, Deerwester et al. 1990), where a document lies by its direction; themes
are clusters by cosine. A document with no public word is of none, and neither is one that lies further from all themes
than 99 of 100 public documents that the themes were not made of: what is new need not be forced into what is known.

What a theme says of words is learned from more than its own public documents, which are few: each public document
speaks for each theme in proportion to exp(15 cosine). A word counts 1 + ln count in a document, and a long document as
60 words at most: words come in bursts, and a theme is not what one long document repeats.
"""

from __future__ import annotations

import functools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, final

import numpy as np

from publius.arrays import Float64Array, IndexArray
from publius.errors import DataError, UsageError
from publius.vectors.learning.clusters import clusters, directions, merged_centres
from publius.vectors.learning.prototypes import NONE_OF_THESE

DIRECTIONS: Final = 100
THEMES: Final = 50
NO_WORDS: Final = "no words"

_LEAST_DOCUMENTS: Final = 3
_MOST_SHARE: Final = 0.3
_HELD_OUT: Final = 5
_FARTHEST: Final = 0.01
_BACKGROUND: Final = 0.2
_LONGEST: Final = 60
_SHARPNESS: Final = 15
_GRID: Final = 2.0**24
_WHOLE: Final = 2**20
"""Cells of a matrix that is taken apart whole: the method for larger ones draws at random where a small world repeats
itself exactly, and so ends in another place each time."""


@final
@dataclass(frozen=True)
class PublicThemes:
    """Themes of public documents; all of it is public.

    Attributes:
        vocabulary: the words that count, V of them.
        rarity: the weight of each word, shape (V,).
        axes: the directions, shape (V, D).
        centres: unit vectors, shape (K, D).
        nearest: the smallest cosine to a theme at which a document is of it.
        words: how likely each word is in each theme: a fifth is from all public texts; shape (K, V).
        holding: the share of each theme's public documents that hold each word, shape (K, V).
        documents: how many public documents are of each theme, of none of these and without words, shape (K + 2,).
    """

    vocabulary: tuple[str, ...]
    rarity: Float64Array
    axes: Float64Array
    centres: Float64Array
    nearest: float
    words: Float64Array
    holding: Float64Array
    documents: IndexArray

    @property
    def size(self) -> int:
        """K, the number of themes."""
        return len(self.centres)

    @property
    def cells(self) -> int:
        """K + 2: with "none of these" and "no words"."""
        return self.size + 2

    def label(self, cell: int, words: int = 5) -> str:
        """The most typical words of a theme, or what the two other cells are called."""
        if cell >= self.size:
            return (NONE_OF_THESE, NO_WORDS)[cell - self.size]
        return " ".join(self.typical(cell, words))

    def typical(self, theme: int, words: int = 10) -> tuple[str, ...]:
        """The words that are most more likely in a theme than in the mean of all: by share times log-ratio."""
        share = self.words[theme]
        score = share * np.log(share / self._mean)
        return tuple(self.vocabulary[place] for place in np.argsort(-score, kind="stable")[:words])

    @functools.cached_property
    def _mean(self) -> Float64Array:
        return np.asarray(self.words.mean(axis=0))

    def cells_of(self, bags: Sequence[Mapping[str, int]]) -> IndexArray:
        """The cell of each document, given as how often each of its words occurs; shape (n,). Private."""
        return self.cells_of_counts(counted(bags, self.vocabulary))

    def likeness(self, counts: Any) -> Float64Array:
        """The cosine of each row of a sparse matrix of counts with each theme, shape (n, K)."""
        return np.asarray(_positions(counts, self.rarity, self.axes) @ self.centres.T)

    def cells_of_counts(self, counts: Any) -> IndexArray:
        """The same of a sparse matrix of how often each word of the vocabulary occurs, shape (n, V)."""
        return _cells(counts, self.rarity, self.axes, self.centres, self.nearest)


def fit_themes(
    bags: Sequence[Mapping[str, int]],
    *,
    themes: int = THEMES,
    dimension: int = DIRECTIONS,
    left_out: frozenset[str] = frozenset(),
) -> PublicThemes:
    """Themes of public documents, each given as how often its words occur; nothing random.

    Words count that stand in at least three documents and in at most three of ten, and are not ``left_out`` (stop
    words). `DataError` where that leaves too few documents or words, `UsageError` for numbers that do not exist.
    """
    if themes < 1 or dimension < 1:
        raise UsageError("there must be at least one theme and one direction")
    holding: dict[str, int] = {}
    for bag in bags:
        for word in bag:
            holding[word] = holding.get(word, 0) + 1
    most = max(_LEAST_DOCUMENTS, int(_MOST_SHARE * len(bags)))
    vocabulary = tuple(
        sorted(word for word, n in holding.items() if _LEAST_DOCUMENTS <= n <= most and word not in left_out)
    )
    counts = counted(bags, vocabulary)
    counts = counts[np.diff(counts.indptr) > 0]
    if counts.shape[0] < max(2 * themes, 10) or len(vocabulary) < 2:
        raise DataError(
            f"{themes} themes need at least {max(2 * themes, 10)} public documents with words of several of them; "
            f"there are {counts.shape[0]}: give more public documents, or ask for fewer themes"
        )
    known = np.arange(counts.shape[0]) % _HELD_OUT > 0
    rarity, axes, centres = _space(counts[known], themes, dimension)
    held_out = (_positions(counts[~known], rarity, axes) @ centres.T).max(axis=1)
    nearest = float(np.quantile(held_out, _FARTHEST))
    rarity, axes, centres = _space(counts, themes, dimension)
    likeness = _positions(counts, rarity, axes) @ centres.T
    own = likeness.argmax(axis=1)
    held = np.vstack(
        [np.asarray((counts[own == theme] > 0).sum(axis=0)).ravel() for theme in range(themes)]
    ) / np.bincount(own, minlength=themes).reshape(-1, 1).clip(1)
    words = _words(counts, likeness)
    cells = _cells(counted(bags, vocabulary), rarity, axes, centres, nearest)
    return PublicThemes(
        vocabulary, rarity, axes, centres, nearest, words, held, np.bincount(cells, minlength=themes + 2)
    )  # fmt: skip


def _words(counts: Any, likeness: Float64Array) -> Float64Array:
    """How likely each word is in each theme, from all public documents by how like each theme they are."""
    said = counts.copy().astype(np.float64)
    lengths = np.asarray(counts.sum(axis=1)).ravel()
    said.data = (1 + np.log(said.data)) * np.repeat(
        np.minimum(1, _LONGEST / np.maximum(lengths, 1)), np.diff(said.indptr)
    )
    speaks = np.exp(_SHARPNESS * (likeness - likeness.max(axis=1, keepdims=True)))
    sums = np.asarray((said.T @ (speaks / speaks.sum(axis=1, keepdims=True))).T) + 1e-9
    everywhere = np.asarray(said.sum(axis=0)).ravel()
    everywhere = everywhere / everywhere.sum()
    return np.asarray((1 - _BACKGROUND) * sums / sums.sum(axis=1, keepdims=True) + _BACKGROUND * everywhere)


def _space(counts: Any, themes: int, dimension: int) -> tuple[Float64Array, Float64Array, Float64Array]:
    """Rarity, axes and centres of public documents."""
    holding = np.bincount(counts.indices, minlength=counts.shape[1])
    rarity = np.log((1 + counts.shape[0]) / (1 + holding)) + 1
    weights = _weighted(counts, rarity)
    dimension = min(dimension, min(weights.shape) - 1)
    axes = _leading(weights, dimension)
    positions = directions(np.asarray(weights @ axes))
    members = clusters(positions, themes, merged_centres(positions, themes))
    sums = np.zeros((themes, axes.shape[1]))
    np.add.at(sums, members, positions)
    return rarity, axes, directions(sums)


def _leading(weights: Any, dimension: int) -> Float64Array:
    """The leading right singular vectors, strongest first, shape (V, dimension)."""
    from scipy.sparse.linalg import svds

    if weights.shape[0] * weights.shape[1] <= _WHOLE:
        _, _, rows = np.linalg.svd(weights.toarray(), full_matrices=False)
        return np.asarray(rows[:dimension].T.copy())
    _, strengths, rows = svds(weights, k=dimension, v0=np.ones(min(weights.shape)))
    return np.asarray(rows[np.argsort(-strengths)].T.copy())


def _positions(counts: Any, rarity: Float64Array, axes: Float64Array) -> Float64Array:
    return directions(np.asarray(_weighted(counts, rarity) @ axes))


def _weighted(counts: Any, rarity: Float64Array) -> Any:
    """Rows of (1 + ln count) times rarity, of length 1."""
    weights = counts.copy().astype(np.float64)
    weights.data = (1 + np.log(weights.data)) * rarity[weights.indices]
    sizes = np.diff(weights.indptr)
    # Added up one after the other, not in pairs: how pairs are formed depends on what follows the row.
    squares = np.bincount(np.repeat(np.arange(len(sizes)), sizes), weights.data**2, minlength=len(sizes))
    weights.data /= np.repeat(np.sqrt(np.where(sizes > 0, squares, 1.0)), sizes)
    return weights


def _cells(
    counts: Any, rarity: Float64Array, axes: Float64Array, centres: Float64Array, nearest: float
) -> IndexArray:
    themes = len(centres)
    # A matrix product rounds by what else is in the batch, and a cell must not depend on it. Products of multiples of
    # 2^-24 are multiples of 2^-48, and sums of them below 2 are exact in whatever order they are added up.
    points, centres = _on_grid(_positions(counts, rarity, axes)), _on_grid(centres)
    nearest -= centres.shape[1] / _GRID  # what is as near as that is so after rounding, too
    cells, largest, unsure = _nearly(points, centres)
    unsure |= np.abs(largest - nearest) <= _error(centres.shape[1])
    cells[largest < nearest] = themes
    likeness = points[unsure] @ centres.T
    cells[unsure] = np.where(likeness.max(axis=1) >= nearest, likeness.argmax(axis=1), themes)
    return np.asarray(np.where(np.diff(counts.indptr) > 0, cells, themes + 1))


def _nearly(
    points: Float64Array, centres: Float64Array
) -> tuple[IndexArray, Float64Array, np.ndarray[tuple[int, ...], np.dtype[np.bool_]]]:
    """The likest centre of each point in single precision, how like it is, and whether another may be so, too.

    Half the time of doubles, which settle the few that are unsure. What is on the grid is a single number as it is, so
    only the sum rounds: by at most m 2^-24 for m products whose absolute values sum to 1 (Higham 2002, 3.5).
    """
    likeness = points.astype(np.float32) @ centres.astype(np.float32).T
    cells = likeness.argmax(axis=1)
    largest = np.take_along_axis(likeness, cells[:, None], axis=1).astype(np.float64)
    close = likeness >= (largest - 2 * _error(centres.shape[1])).astype(np.float32)
    return np.asarray(cells), largest[:, 0], np.asarray(close.sum(axis=1) > 1)


def _error(dimension: int) -> float:
    """More than a sum of so many single products rounds by, and than a limit of it does."""
    return (dimension + 8) / _GRID


def _on_grid(unit_vectors: Float64Array) -> Float64Array:
    return np.asarray(np.rint(unit_vectors * _GRID) / _GRID)


def counted(bags: Sequence[Mapping[str, int]], vocabulary: Sequence[str]) -> Any:
    """How often each word of the vocabulary occurs in each document, a sparse matrix."""
    from scipy.sparse import csr_array

    places = {word: place for place, word in enumerate(vocabulary)}
    rows = [sorted((places[word], n) for word, n in bag.items() if word in places) for bag in bags]
    starts = np.cumsum([0, *map(len, rows)])
    flat = np.array([pair for row in rows for pair in row], np.int64).reshape(-1, 2)
    return csr_array((flat[:, 1].astype(np.float64), flat[:, 0], starts), (len(bags), len(places)))
