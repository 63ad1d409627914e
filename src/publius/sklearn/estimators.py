"""The release of words and of labels as transformers, and the classifier that a summary leaves.

Input is texts, or a matrix of counts with words for columns. No message holds any of it.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence
from numbers import Real
from pathlib import Path
from typing import Any, Self, final

import numpy as np

from publius.classifiers import clusters, load_classifier
from publius.classifiers.classifier import Classifier
from publius.documents.document import text_of
from publius.embeddings.embeddings import Embeddings
from publius.errors import AnyPath, DataError, UsageError, extra
from publius.mechanisms.lifted import Lifted
from publius.mechanisms.mechanism import Mechanism, Outcome, check_release
from publius.mechanisms.randomized_response import RandomizedResponse
from publius.mechanisms.registry import make_kernel
from publius.noise.randomness import RunKey
from publius.settings import EUCLIDEAN, TextSettings, UnknownPolicy
from publius.text.known_words import UNKNOWN

with extra("sklearn", "scikit-learn"):
    from scipy.sparse import csr_matrix, issparse
    from scipy.special import softmax
    from sklearn.base import BaseEstimator, ClassifierMixin, TransformerMixin
    from sklearn.feature_extraction.text import CountVectorizer
    from sklearn.utils.validation import check_is_fitted, validate_data


def _words(outcome: Outcome) -> Iterable[str]:
    return outcome.bag.words() if outcome.bag is not None else (str(outcome.label),)


class _Privatizer(TransformerMixin, BaseEstimator):  # type: ignore[misc]  # scikit-learn has no types
    """Texts in, one row of counts out for each; the mechanism is made when it is fitted."""

    mechanism_: Mechanism
    released_: tuple[str, ...]

    def get_feature_names_out(self, input_features: Any = None) -> Any:
        """The names of the output's columns: public words, or labels."""
        check_is_fitted(self)
        return np.asarray(self.released_, dtype=object)

    def _protected(self, texts: Sequence[str]) -> Any:
        """Fresh noise for each text: CSR of shape (documents, columns)."""
        outcomes = self.mechanism_.protect(texts, range(len(texts)), RunKey.fresh()) if len(texts) else ()
        return CountVectorizer(analyzer=_words, vocabulary=self.released_, dtype=np.int64).transform(outcomes)

    def __sklearn_clone__(self) -> Self:
        return type(self)(**self.get_params(deep=False))  # what they hold never changes: nothing is copied

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.string = tags.non_deterministic = tags.requires_fit = True
        tags.input_tags.two_d_array = False
        tags.transformer_tags.preserves_dtype = []
        return tags


@final
class BagPrivatizer(_Privatizer):
    """Documents become noisy bags of public words: CSR counts, one column a word, each row adding up to N.

    A matrix of counts, shape (documents, words), has no order, so the N words of a row that has more are its first in
    the order of their SHA-256 digests. Each call of ``transform`` is a release and costs anew: epsilon * N * E between
    documents at Earth Mover's distance E.

    Attributes:
        mechanism: name of a kernel, or a `publius.Lifted` that is made already; the rest is then its own.
        epsilon: per word and unit of distance.
        length: N.
        embeddings: an `Embeddings`, or what `Embeddings.load` takes; None for the packaged vectors.
        metric: distance between words.
        parameters: further parameters of the kernel, by name.
        unknown: unk or drop.
        stop_words: left out.
        feature_names: the words of a matrix's columns, which are public: a vectorizer that was fitted on the private texts
            lets other documents decide what of one is counted. None: the names of a data frame's columns, or the
            vocabulary where the width is the same; "vocabulary": its first words.
        mechanism_: after fitting, the `publius.Lifted`; its ``guarantee`` is that of one call of ``transform``.
    """

    mechanism_: Lifted

    def __init__(
        self, mechanism: str | Lifted = "laplace", epsilon: float = 10.0, length: int = 40, *,
        embeddings: Embeddings | str | None = None, metric: str = EUCLIDEAN, parameters: dict[str, Any] | None = None,
        unknown: UnknownPolicy = TextSettings.unknown, stop_words: str = TextSettings.stop_words,
        feature_names: Sequence[str] | str | None = None,
    ) -> None:  # fmt: skip
        self.mechanism, self.epsilon, self.length, self.embeddings = mechanism, epsilon, length, embeddings
        self.metric, self.parameters, self.unknown = metric, parameters, unknown
        self.stop_words, self.feature_names = stop_words, feature_names

    def fit(self, X: Any, y: Any = None) -> Self:
        """Check the parameters and note what the columns are; nothing is learned from the documents."""
        if isinstance(self.mechanism, str):
            given = self.embeddings
            vectors = given if isinstance(given, Embeddings) else Embeddings.load(given)
            kernel = make_kernel(
                self.mechanism, vectors, epsilon=self.epsilon, metric=self.metric, parameters=self.parameters or {}
            )
            self.mechanism_ = Lifted(kernel, self.length, unknown=self.unknown, stop_words=self.stop_words)
        else:
            self.mechanism_ = self.mechanism
        check_release(self.mechanism_)
        self.released_ = tuple(self.mechanism_.vocabulary.vocabulary)
        self.columns_: list[str] | None = None
        if _texts_of(X) is None:
            width = _checked_counts(self, X, reset=True).shape[1]
            self.columns_ = _column_names(self, width, self.mechanism_.vocabulary)
        return self

    def transform(self, X: Any) -> Any:
        """Protect ``X`` with fresh noise; `DataError` for what is neither texts nor counts."""
        check_is_fitted(self)
        texts = _texts_of(X, numbers=self.columns_ is None)
        if texts is None:
            counts = _checked_counts(self, X, reset=False)
            if self.columns_ is None:
                raise UsageError("fitted on texts, and a matrix has columns: fit on a matrix with the same columns")
            texts = _texts_of_counts(counts, self.columns_, self.mechanism_.vocabulary, self.mechanism_.length)
        return self._protected(texts)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = tags.input_tags.positive_only = tags.input_tags.two_d_array = True
        return tags


@final
class LabelPrivatizer(_Privatizer):
    """Texts become randomized labels: CSR with one column a label and a 1 in that of the row.

    Each call of ``transform`` is a release and costs anew: epsilon-local differential privacy of each text.

    Attributes:
        classifier: a `publius.Classifier`, or what `publius.classifiers.load_classifier` takes.
        epsilon: local, of each text.
        mechanism_: after fitting, the `publius.RandomizedResponse`.
    """

    def __init__(self, classifier: Classifier | str, epsilon: float = 5.0) -> None:
        self.classifier, self.epsilon = classifier, epsilon

    def fit(self, X: Any, y: Any = None) -> Self:
        """Load the classifier; nothing is learned from the documents."""
        found = self.classifier if isinstance(self.classifier, Classifier) else load_classifier(self.classifier)
        self.mechanism_ = RandomizedResponse(found, self.epsilon)
        check_release(self.mechanism_)
        self.released_ = found.labels
        return self

    def transform(self, X: Any) -> Any:
        """Protect the texts ``X`` with fresh noise; `DataError` where they are no texts."""
        check_is_fitted(self)
        return self._protected(_only_texts(X))


@final
class SummaryClassifier(ClassifierMixin, BaseEstimator):  # type: ignore[misc]  # scikit-learn has no types
    """Labels of texts from what a summary released; it is fitted by its folder alone.

    Attributes:
        folder: of a summary, or ``SUMMARY/classifier/FIELD``.
    """

    def __init__(self, folder: AnyPath) -> None:
        self.folder = folder

    def fit(self, X: Any = None, y: Any = None) -> Self:
        """Read the folder; nothing is learned from ``X`` and ``y``."""
        self.classifier_ = load_classifier(Path(self.folder))
        if not isinstance(self.classifier_, clusters.SummaryClassifier):
            raise UsageError("this folder holds no classifier out of a summary: name SUMMARY/classifier/FIELD")
        return self

    @property
    def classes_(self) -> Any:
        """The labels, "other" the last."""
        return np.asarray(self._found().labels, dtype=object)

    def predict(self, X: Any) -> Any:
        """The label of each text, shape (documents,)."""
        return self.classes_[self._found().answers(_only_texts(X))]

    def predict_proba(self, X: Any) -> Any:
        """How probable each label is by the summary's score, shape (documents, labels); rows add up to 1."""
        return softmax(self._found().scores(_only_texts(X)), axis=1)

    def _found(self) -> Any:
        return self.classifier_ if hasattr(self, "classifier_") else self.fit().classifier_

    def __sklearn_is_fitted__(self) -> bool:
        return True  # its folder is all it needs

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.string = True
        tags.input_tags.two_d_array = tags.requires_fit = False
        return tags


def _texts_of(X: Any, *, numbers: bool = True) -> list[str] | None:
    """A list of texts; None for what is a matrix by its shape, or without ``numbers`` an array of numbers."""
    if isinstance(X, str | bytes):
        raise UsageError("one text was given where many are expected: give a list of texts")
    if issparse(X) or len(getattr(X, "shape", (0,))) != 1 or not isinstance(X, Iterable):
        return None
    items = [*X]
    if items and all(isinstance(each, list | tuple | np.ndarray) for each in items):
        return None
    if not numbers and getattr(getattr(X, "dtype", None), "kind", "O") in "biuf":
        return None
    return [text_of(each) if isinstance(each, str | Real) else "" for each in items]  # rule 5: nothing is refused


def _only_texts(X: Any) -> list[str]:
    if (texts := _texts_of(X)) is None:
        raise DataError("a matrix was given where texts are expected: give a list of texts")
    return texts


def _checked_counts(estimator: Any, X: Any, *, reset: bool) -> Any:
    if not issparse(X):
        array = np.asarray(X)
        if array.ndim == 1:
            raise DataError(
                "give a list of texts, or a matrix of counts of shape (documents, words). Reshape your data: one row of "
                "counts is [[...]]"
            )
        if array.dtype.kind in "OUS" and any(isinstance(cell, str | bytes) for cell in array.ravel().tolist()):
            raise DataError(
                "the matrix holds text where counts are expected: give a column of a data frame as frame['text']"
            )
    try:
        found = validate_data(estimator, X, reset=reset, accept_sparse="csr", dtype="numeric", ensure_non_negative=True)
    except ValueError as error:
        if "feature names" not in str(error).lower():
            raise
        raise UsageError(  # the message would name columns, and columns are words of documents
            "the feature names (columns) of the data frame are not those it was fitted with, in their order"
        ) from None
    counts = csr_matrix(found)
    if counts.dtype.kind == "f" and (counts.data != np.floor(counts.data)).any():
        raise DataError(
            "the matrix does not hold counts: whole numbers are expected, before any weighting such as tf-idf"
        )
    counts.sum_duplicates()
    return counts


def _column_names(estimator: Any, width: int, embeddings: Embeddings) -> list[str]:
    names = estimator.feature_names
    if names is None:
        names = getattr(estimator, "feature_names_in_", "vocabulary" if width == embeddings.size else "")
    if isinstance(names, str):
        names = embeddings.vocabulary[:width] if names == "vocabulary" else ()
    if len(names) != width:
        raise UsageError(
            f"the matrix has {width:,} columns and it is not said which words they are: give "
            "feature_names=vectorizer.get_feature_names_out(), of a vectorizer that was given a public vocabulary"
        )
    return [str(name) for name in names]


def _texts_of_counts(counts: Any, names: Sequence[str], embeddings: Embeddings, length: int) -> list[str]:
    """A text for each row: its words in one public order, that of their SHA-256 digests, unknown ones last.

    A matrix has no order; this one changes by at most one word when one word of the row changes.
    """
    known = [name in embeddings for name in names]
    keys = [(not k, hashlib.sha256(name.encode()).digest()) for k, name in zip(known, names, strict=True)]
    order = np.argsort(sorted(range(len(names)), key=keys.__getitem__))
    words = [name if k else UNKNOWN for k, name in zip(known, names, strict=True)]
    texts = []
    for row in range(counts.shape[0]):
        span = slice(counts.indptr[row], counts.indptr[row + 1])
        columns, times = counts.indices[span], np.minimum(counts.data[span], length)  # no more than N can count
        first = np.argsort(order[columns], kind="stable")
        texts.append(" ".join(words[at] for at in np.repeat(columns[first], times[first].astype(np.int64)).tolist()))
    return texts
