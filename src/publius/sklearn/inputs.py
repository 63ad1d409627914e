"""Inputs of an estimator: texts, or a matrix of counts with words for columns. No message holds any of it (R17)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, Final

import numpy as np

from publius.errors import DataError, UsageError, extra
from publius.vectors.embeddings import Embeddings

with extra("sklearn", "scikit-learn"):
    from scipy.sparse import csr_matrix, issparse
    from sklearn.utils.validation import validate_data

VOCABULARY: Final = "vocabulary"
"""As ``feature_names``: the columns are the first words of the vocabulary."""


def vectors_of(embeddings: Any) -> Embeddings:
    """An `Embeddings` as it is, or what `Embeddings.load` finds under a name."""
    return embeddings if isinstance(embeddings, Embeddings) else Embeddings.load(embeddings)


def texts_or_counts(estimator: Any, X: Any, *, reset: bool) -> tuple[Sequence[str] | None, Any]:
    """``X`` as a list of texts, or as CSR of whole numbers; the other is None. No message holds any of it (R17)."""
    if isinstance(X, str | bytes):
        raise UsageError("one text was given where many are expected: give a list of texts")
    if isinstance(X, Iterator):
        return ([] if reset else _checked_texts(X)), None  # fitting must not use it up
    if _holds_texts(X):
        return _checked_texts(X), None
    return None, _checked_counts(estimator, X, reset=reset)


def _holds_texts(X: Any) -> bool:
    """Whether it is a plain sequence or a one-dimensional array whose first item is text."""
    if issparse(X) or len(getattr(X, "shape", (0,))) != 1 or not hasattr(X, "__len__") or not len(X):
        return False
    return isinstance(next(iter(X)), str | bytes)


def _checked_texts(X: Any) -> list[str]:
    texts = []
    for position, text in enumerate(X, start=1):
        if not isinstance(text, str):
            raise DataError(f"document {position} is of type {type(text).__name__}: give strings")
        texts.append(str(text))
    return texts


def _checked_counts(estimator: Any, X: Any, *, reset: bool) -> Any:
    if not issparse(X):
        X = _numbers(X)
    try:
        found = validate_data(
            estimator, X, reset=reset, accept_sparse="csr", dtype="numeric", ensure_non_negative=True
        )
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


def _numbers(X: Any) -> Any:
    """Cells of any type, without the messages of failed conversions: they would quote the cells (R17)."""
    array = np.asarray(X)
    if array.ndim == 1:
        raise DataError(
            "documents are given as a list of texts or as a matrix of shape (documents, words), and this is neither. "
            "Reshape your data: one row of counts is [[...]]"
        )
    if array.dtype.kind in "OUS" and any(isinstance(cell, str | bytes) for cell in array.ravel().tolist()):
        raise DataError(
            "the matrix holds text where counts are expected; documents are given as a list of texts, a column of a "
            "data frame as frame['text']"
        )
    return X


def column_names(estimator: Any, width: int, embeddings: Embeddings | None) -> list[str]:
    """The words of the columns of a matrix; see `BagPrivatizer.feature_names`."""
    names = estimator.feature_names
    if isinstance(names, str) and names != VOCABULARY:
        raise UsageError(f"feature_names is a list of words, or {VOCABULARY!r}")
    if names is None and (given := getattr(estimator, "feature_names_in_", None)) is not None:
        names = given
    if embeddings is None and isinstance(names, str):
        embeddings = vectors_of(estimator.embeddings)
    if embeddings is not None and (
        (names is None and width == embeddings.size) or (isinstance(names, str) and width <= embeddings.size)
    ):
        names = embeddings.vocabulary[:width]
    if names is None or len(names) != width or isinstance(names, str):
        raise UsageError(
            f"the matrix has {width:,} columns and it is not said which words they are: give "
            "feature_names=vectorizer.get_feature_names_out()"
        )
    return [str(name) for name in names]
