"""`BagPrivatizer`: the release path as a transformer."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from typing import Any, Final, final

import numpy as np

from publius.arrays import IndexArray
from publius.errors import UnknownWordError, UsageError, extra
from publius.mechanisms.kernel import Kernel
from publius.noise.randomness import entropy, system_rng
from publius.settings import (
    DEMO_EPSILON,
    MechanismSettings,
    Metric,
    ReleaseSettings,
    TextSettings,
    UnknownPolicy,
)
from publius.sklearn.base import Privatizer
from publius.sklearn.inputs import column_names, vectors_of
from publius.text.pads import BYTES, drawn_pads
from publius.text.tokenizer import StopWords
from publius.vectors.embeddings import Embeddings

with extra("sklearn", "scikit-learn"):
    from scipy.sparse import csr_matrix

_OUTSIDE: Final = -1
_STOP_WORD: Final = -2


@final
class BagPrivatizer(Privatizer):
    """Documents become protected bags of exactly ``length`` words: the release path as a transformer.

    Input is an iterable of texts, encoded as in a release (the first N words count), or a matrix of counts, dense or
    CSR, of shape (documents, words). A matrix has no order, so the N words of a row that has more are its first in
    one public order: that of the SHA-256 digests of the words. The choice depends on nothing but the row, changes by
    at most one word when one word of the row changes, and not with the order of the columns. Unknown words come last,
    each as the public token under "unk". A row with fewer is filled up as a text is: with public words, drawn anew
    for each row (`publius.text.pads`). Stop words are left out. The guarantee is that of a release: for any two
    documents, epsilon*N times the Earth Mover's distance of what they are encoded as (the lifting theorem,
    docs/theory.md section 2).

    Output is a CSR matrix of counts, one column for each word of the vocabulary; its rows add up to N.

    Attributes:
        embeddings: an `Embeddings`, or what `Embeddings.load` takes; None for the packaged vectors.
        mechanism: name of the word mechanism.
        epsilon: per unit of word distance.
        length: N, the public number of words of every bag.
        metric: of the mechanism.
        parameters: further parameters of the mechanism, such as ``{"project": 25}``.
        unknown: unk, drop or reject, as in a release.
        stop_words: as in a release.
        feature_names: the words of the columns of a matrix. None: the names of a data frame's columns, or the
            vocabulary where the width is the same. "vocabulary": its first words, for a matrix of any smaller width.
        plan_: after fitting, every public decision; ``plan_.manifest(documents)`` states them.
        guarantee_: after fitting, the guarantee of one call of ``transform``.
        promise_: the same in words.

    """

    def __init__(
        self,
        embeddings: Embeddings | str | None = None,
        mechanism: str = MechanismSettings.mechanism,
        epsilon: float = DEMO_EPSILON,
        length: int | str = TextSettings.length,
        *,
        metric: Metric = ReleaseSettings.metric,
        parameters: dict[str, Any] | None = None,
        unknown: UnknownPolicy = TextSettings.unknown,
        stop_words: str = ReleaseSettings.stop_words,
        feature_names: Sequence[str] | str | None = None,
    ) -> None:
        self.embeddings, self.mechanism, self.epsilon, self.length = embeddings, mechanism, epsilon, length
        self.metric, self.parameters, self.unknown = metric, parameters, unknown
        self.stop_words, self.feature_names = stop_words, feature_names

    def _settings(self) -> ReleaseSettings:
        return ReleaseSettings(
            mechanism=self.mechanism,
            epsilon=self.epsilon,
            metric=self.metric,
            parameters=self.parameters or {},
            length=self.length,
            unknown=self.unknown,
            stop_words=self.stop_words,
        )

    def _public(self) -> Embeddings:
        return vectors_of(self.embeddings)

    def _columns_of(self, counts: Any) -> None:
        self.columns_: IndexArray | None = None
        if counts is not None:
            vectors = self.plan_.mechanism.kernel.embeddings
            names = column_names(self, counts.shape[1], vectors)
            self.columns_ = _columns(names, vectors, self.plan_.encoding.stop_words)

    def _filled(self, places: IndexArray) -> IndexArray:
        """Exactly N: a short document is filled up with public words that are drawn for it."""
        vectors, encoding = self.plan_.mechanism.kernel.embeddings, self.plan_.encoding
        pads = drawn_pads(vectors, encoding.stop_words, entropy(BYTES * (self.plan_.size - len(places))))
        return np.concatenate([places, pads])

    def _of_counts(self, counts: Any) -> Any:
        if self.columns_ is None:
            raise UsageError(
                "fitted on texts, and a matrix has columns: fit on a matrix with the same columns"
            )
        unknown = counts[:, np.flatnonzero(self.columns_ == _OUTSIDE)].sum()
        if unknown and self.unknown == "reject":
            raise UnknownWordError(
                f"{unknown:,} words are outside the vocabulary: choose the policy unk or drop, or embeddings that "
                "hold them"
            )
        kernel = self.plan_.mechanism.kernel
        ranks = _public_ranks(self.columns_, kernel.embeddings)
        stand_in = None if self.unknown == "drop" else kernel.embeddings.unknown_index
        rows = [
            self._filled(_first_words(counts, row, self.columns_, ranks, self.plan_.size, stand_in))
            for row in range(counts.shape[0])
        ]
        return _as_counts(_randomized(rows, kernel, self.plan_.size), kernel)

    def __sklearn_tags__(self) -> Any:
        """Text or counts in."""
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = tags.input_tags.positive_only = True
        return tags


def _columns(names: Sequence[str], embeddings: Embeddings, stop_words: StopWords) -> IndexArray:
    """The vocabulary index of each column; `_OUTSIDE` for unknown words, `_STOP_WORD` for stop words."""

    def place(name: str) -> int:
        index = embeddings.index(name)
        return _STOP_WORD if name in stop_words else _OUTSIDE if index is None else index

    return np.array([place(name) for name in names], np.int64)


def _public_ranks(columns: IndexArray, embeddings: Embeddings) -> IndexArray:
    """The place of each column's word in the public order, that of the SHA-256 digests; unknown words get -1."""
    known = np.unique(columns[columns >= 0])
    digests = [hashlib.sha256(embeddings.vocabulary[index].encode()).digest() for index in known.tolist()]
    places = np.empty(len(known), np.int64)
    places[sorted(range(len(known)), key=digests.__getitem__)] = np.arange(len(known))
    ranks = np.full(len(columns), -1, np.int64)
    ranks[columns >= 0] = places[np.searchsorted(known, columns[columns >= 0])]
    return ranks


def _first_words(
    counts: Any, row: int, columns: IndexArray, ranks: IndexArray, length: int, stand_in: int | None
) -> IndexArray:
    """At most ``length`` vocabulary indices for a row: its known words in the public order, then unknown ones.

    Those become ``stand_in``; without one they are left out.
    """
    start, stop = counts.indptr[row], counts.indptr[row + 1]
    places, times = counts.indices[start:stop], counts.data[start:stop]
    known = columns[places] >= 0
    order = np.argsort(ranks[places[known]], kind="stable")
    # No count needs more than N repetitions: a huge one must not become a huge array.
    repeats = np.minimum(times, length).astype(np.int64)
    words = np.repeat(columns[places[known][order]], repeats[known][order])[:length]
    if stand_in is None:
        return words
    unknown = min(length - len(words), int(repeats[columns[places] == _OUTSIDE].sum()))
    return np.concatenate([words, np.full(unknown, stand_in, np.int64)])


def _randomized(rows: Sequence[IndexArray], mechanism: Kernel, length: int) -> IndexArray:
    """The rows through the mechanism with fresh noise, shape (documents, length)."""
    rng, step = system_rng(), max(1, mechanism.batch_words // length)
    outputs = [np.zeros((0, length), np.int64)]
    for start in range(0, len(rows), step):
        words = np.concatenate(rows[start : start + step])
        outputs.append(mechanism.draw([words], [rng])[0].reshape(-1, length))
    return np.concatenate(outputs)


def _as_counts(words: IndexArray, mechanism: Kernel) -> Any:
    """Counts of each row's words, CSR of shape (rows, V): without order (R11)."""
    rows = np.repeat(np.arange(len(words)), words.shape[1])
    ones = np.ones(words.size, np.int64)
    found = csr_matrix((ones, (rows, words.ravel())), shape=(len(words), mechanism.embeddings.size))
    found.sum_duplicates()  # scipy 1.13 leaves repeated words apart; it sorts too
    return found
