"""`BagPrivatizer`: the release path as a transformer."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Final, Literal, Self, final

import numpy as np

from publius.arrays import IndexArray
from publius.documents.corpus import BadDocument, Document
from publius.errors import DataError, UnknownWordError, UsageError, extra
from publius.mechanisms.kernel import Kernel
from publius.mechanisms.mechanism import Mechanism
from publius.noise.randomness import entropy, system_rng
from publius.privacy.promise import promise
from publius.releases.plan import Plan, placed
from publius.releases.protect import protect
from publius.settings import (
    DEMO_EPSILON,
    MechanismSettings,
    Metric,
    ReleaseSettings,
    UnknownPolicy,
    WordRelease,
)
from publius.sklearn.inputs import column_names, texts_or_counts, vectors_of
from publius.text.pads import BYTES, drawn_pads
from publius.text.tokenizer import StopWords
from publius.vectors.embeddings import Embeddings

with extra("sklearn", "scikit-learn"):
    from scipy.sparse import csr_matrix
    from sklearn.base import BaseEstimator, TransformerMixin
    from sklearn.utils.validation import check_is_fitted

Output = Literal["bag", "label"]
"""What of a release the columns hold."""

_OUTSIDE: Final = -1
_STOP_WORD: Final = -2


@final
class BagPrivatizer(TransformerMixin, BaseEstimator):  # type: ignore[misc]  # scikit-learn has no types
    """Documents become what is released instead of them: the release path as a transformer, whatever is kept.

    Input is an iterable of texts, read as in a release; of a field its values. Output is a CSR matrix of counts: one
    column for each public word, and rows that add up to the public length; with ``output="label"``, and of a field, one
    column for each label that a document may become, with a 1 in that of the row.

    Where words are replaced, as by every mechanism that has a name here, the first N words of a text count, and input
    may also be a matrix of counts, dense or CSR, of shape (documents, words). A matrix has no order, so the N words
    of a row that has more are its first in one public order: that of the SHA-256 digests of the words. The choice
    depends on nothing but the row, changes by at most one word when one word of the row changes, and not with the
    order of the columns. Unknown words come last, each as the public token under "unk". A row with fewer is filled up
    as a text is: with public words, drawn anew for each row (`publius.text.pads`). Stop words are left out.

    The guarantee is that of a release: ``promise_`` says it.

    Attributes:
        embeddings: an `Embeddings`, or what `Embeddings.load` takes; None for the packaged vectors.
        mechanism: name of a mechanism on words, or any mechanism that is made already: `publius.Prototype` for a topic
            or meaning, `RandomizedResponse` (in `publius.mechanisms.randomized_response`) for a field of declared
            values, a kernel, or one of yours.
        epsilon: per unit of word distance, for a mechanism by name; None for 10.
        length: N, the public number of words of every bag where words are replaced; None for 400.
        output: "bag", or "label" where documents become labels.
        metric: of a mechanism by name.
        parameters: further parameters of the mechanism, by name, such as ``{"project": 25}``.
        unknown: unk, drop or reject, as in a release; None for the usual one.
        stop_words: as in a release.
        feature_names: the words of the columns of a matrix. None: the names of a data frame's columns, or the
            vocabulary where the width is the same. "vocabulary": its first words, for a matrix of any smaller width.
        plan_: after fitting, every public decision; ``plan_.manifest(documents)`` states them.
        guarantee_: after fitting, the guarantee of one call of ``transform``.
        promise_: the same in words.
        released_: after fitting, what the columns of the output stand for.

    """

    def __init__(
        self,
        embeddings: Embeddings | str | None = None,
        mechanism: str | Kernel | Mechanism = MechanismSettings.mechanism,
        epsilon: float | None = None,
        length: int | str | None = None,
        *,
        output: Output = "bag",
        metric: Metric = ReleaseSettings.metric,
        parameters: dict[str, Any] | None = None,
        unknown: UnknownPolicy | None = None,
        stop_words: str = ReleaseSettings.stop_words,
        feature_names: Sequence[str] | str | None = None,
    ) -> None:
        self.embeddings, self.mechanism, self.epsilon, self.length = embeddings, mechanism, epsilon, length
        self.output, self.metric, self.parameters, self.unknown = output, metric, parameters, unknown
        self.stop_words, self.feature_names = stop_words, feature_names

    def fit(self, X: Any, y: Any = None) -> Self:
        """Check the parameters and note what the columns are; nothing is learned from the documents.

        Raises `UsageError` for parameters or names that do not fit, `PolicyError` where the promise would break.
        """
        self.plan_ = self._plan()
        self.guarantee_ = self.plan_.guarantee
        self.promise_ = promise(self.guarantee_, private=True) + placed(None)
        self.released_ = self._released_columns()
        counts = texts_or_counts(self, X, reset=True)[1]
        self.columns_: IndexArray | None = None
        if counts is not None:
            self._check_counts()
            vectors = self.plan_.mechanism.kernel.embeddings
            names = column_names(self, counts.shape[1], vectors)
            self.columns_ = _columns(names, vectors, self.plan_.encoding.stop_words)
        return self

    def transform(self, X: Any) -> Any:
        """Protect ``X`` with fresh noise: CSR of shape (documents, columns). Each call is a release and costs anew.

        Raises `DataError` for what is neither text nor counts, `UnknownWordError` under "reject".
        """
        check_is_fitted(self)
        texts, counts = texts_or_counts(self, X, reset=False)
        return self._of_texts(texts or ()) if counts is None else self._of_counts(counts)

    def get_feature_names_out(self, input_features: Any = None) -> Any:
        """What the output's columns stand for: the public words, or the labels."""
        check_is_fitted(self)
        return np.asarray(self.released_, dtype=object)

    def _plan(self) -> Plan:
        """The public decisions that the parameters ask for."""
        length = self.length
        if length is None and self._replaces_words():
            length = getattr(self.mechanism, "length", WordRelease.length)
        read = ReleaseSettings(length=length, unknown=self.unknown, stop_words=self.stop_words)
        if not isinstance(self.mechanism, str):
            return Plan.of(read, self._made(self.mechanism))
        epsilon = DEMO_EPSILON if self.epsilon is None else self.epsilon
        settings = replace(
            read,
            mechanism=self.mechanism,
            epsilon=epsilon,
            metric=self.metric,
            parameters=self.parameters or {},
        )
        return Plan.of(settings, public=vectors_of(self.embeddings))

    def _made(self, mechanism: Kernel | Mechanism) -> Kernel | Mechanism:
        """The mechanism; `UsageError` for parameters beside it that it has itself."""
        if given := [
            name for name in ("embeddings", "epsilon", "parameters") if getattr(self, name) is not None
        ]:
            raise UsageError(f"a mechanism that is made already has its {given[0]}: leave that out")
        return mechanism

    def _replaces_words(self) -> bool:
        """Whether words are replaced one by one: a mechanism on documents says what replaces them, or None."""
        return getattr(self.mechanism, "replaces", self.mechanism) is not None

    def _released_columns(self) -> tuple[str, ...]:
        """What the columns stand for; `UsageError` for labels where there are none."""
        if self.output == "bag":
            return tuple(self.plan_.vocabulary.vocabulary)
        if self.output != "label":
            raise UsageError(f"the output is 'bag' or 'label', not {self.output!r:.40}")
        labels = tuple(dict.fromkeys(each.label for each in self.plan_.mechanism.outcomes))
        if not labels:
            raise UsageError(
                f"the mechanism {self.plan_.mechanism.name} gives documents no labels: leave out output='label'"
            )
        return labels

    def _check_counts(self) -> None:
        """`DataError` for a matrix of counts where the mechanism reads something else."""
        if self.plan_.mechanism.replaces is None:
            raise DataError("a matrix of counts was given where texts are expected: give a list of texts")

    def __sklearn_clone__(self) -> Self:
        """The same parameters, unfitted: mechanisms and vectors never change, so nothing of them is copied."""
        return type(self)(**self.get_params(deep=False))

    def _of_texts(self, texts: Sequence[str]) -> Any:
        self.plan_.mechanism.check_documents(texts)
        key, step = self.plan_.run_key(), self.plan_.mechanism.batch_size()
        place = {name: column for column, name in enumerate(self.released_)}
        columns: list[int] = []
        data: list[int] = []
        starts = [0]
        for start in range(0, len(texts), step):
            part = enumerate(texts[start : start + step], start + 1)
            documents = [Document(str(position), text, {}, position) for position, text in part]
            for result in protect(documents, self.plan_, key)[0]:
                if isinstance(result, BadDocument):
                    raise UnknownWordError(f"document {result.position}: {result.reason}")
                found = result.bag.counts if self.output == "bag" else {str(result.label): 1}
                columns += [place[name] for name in found]
                data += found.values()
                starts.append(len(data))
        arrays = (np.array(each, np.int64) for each in (data, columns, starts))
        made = csr_matrix(tuple(arrays), shape=(len(texts), len(self.released_)))
        made.sort_indices()
        return made

    def _filled(self, places: IndexArray) -> IndexArray:
        """Exactly N: a short document is filled up with public words that are drawn for it."""
        vectors, encoding = self.plan_.mechanism.kernel.embeddings, self.plan_.encoding
        pads = drawn_pads(vectors, encoding.stop_words, entropy(BYTES * (self.plan_.size - len(places))))
        return np.concatenate([places, pads])

    def _of_counts(self, counts: Any) -> Any:
        """The releases for the rows of a matrix of counts."""
        self._check_counts()
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
        """Text in, where words are replaced also counts; the output is random by design."""
        tags = super().__sklearn_tags__()
        tags.input_tags.string = tags.non_deterministic = True
        tags.transformer_tags.preserves_dtype = []
        counted = self._replaces_words()
        tags.input_tags.sparse = tags.input_tags.positive_only = tags.input_tags.two_d_array = counted
        tags.requires_fit = True
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
