"""Inputs of an estimator: texts, or a matrix of counts with words for columns. No message holds any of it."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence
from numbers import Real
from typing import Any, Final

import numpy as np

from publius.documents.document import text_of
from publius.embeddings.embeddings import Embeddings
from publius.errors import DataError, UsageError, extra
from publius.text.bag import UNKNOWN

with extra("sklearn", "scikit-learn"):
    from scipy.sparse import csr_matrix, issparse
    from sklearn.utils.validation import validate_data

VOCABULARY: Final = "vocabulary"
"""As ``feature_names``: the columns are the first words of the vocabulary."""


def texts_of(X: Any, *, numbers: bool = True) -> list[str] | None:
    """``X`` as a list of texts; None where it is a matrix by its shape. What is no text counts as empty (rule 5).

    Without ``numbers``, an array of numbers is none of texts.
    """
    if isinstance(X, str | bytes):
        raise UsageError("one text was given where many are expected: give a list of texts")
    if issparse(X) or len(getattr(X, "shape", (0,))) != 1 or not isinstance(X, Iterable):
        return None
    items = [*X]
    if items and all(isinstance(each, list | tuple | np.ndarray) for each in items):
        return None
    if not numbers and getattr(getattr(X, "dtype", None), "kind", "O") in "biuf":
        return None
    return [str(text_of(each)) if isinstance(each, str | Real) else "" for each in items]


def only_texts(X: Any) -> list[str]:
    """``X`` as a list of texts; `DataError` where it is a matrix."""
    if (texts := texts_of(X)) is None:
        raise DataError("a matrix was given where texts are expected: give a list of texts")
    return texts


def checked_counts(estimator: Any, X: Any, *, reset: bool) -> Any:
    """A matrix as CSR of whole numbers; `DataError` where it holds text or anything that is no count."""
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


def column_names(estimator: Any, width: int, embeddings: Embeddings) -> list[str]:
    """The words of the columns of a matrix; see `BagPrivatizer.feature_names`."""
    names = estimator.feature_names
    if names is None:
        names = getattr(estimator, "feature_names_in_", VOCABULARY if width == embeddings.size else None)
    if isinstance(names, str) and names == VOCABULARY:
        names = embeddings.vocabulary[:width]
    if names is None or isinstance(names, str) or len(names) != width:
        raise UsageError(
            f"the matrix has {width:,} columns and it is not said which words they are: give "
            "feature_names=vectorizer.get_feature_names_out(), of a vectorizer that was given a public vocabulary"
        )
    return [str(name) for name in names]


def texts_of_counts(counts: Any, names: Sequence[str], embeddings: Embeddings, length: int) -> list[str]:
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
