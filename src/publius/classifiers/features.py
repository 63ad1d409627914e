"""Texts as rows of TF-IDF: our tokenizer and counts, sublinear, of unit length; a row is a function of its own text.

No product here depends on what stands beside a row: sparse products go row by row, in the order of the columns, without
BLAS, and lengths are summed one number after the other. So a row is the same to the last bit alone and in any batch.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Sequence
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from publius.arrays import Float64Array, IndexArray
from publius.errors import DataError

if TYPE_CHECKING:
    from publius.classifiers.encoder import Encoder

WEIGHT: Final = 0.5  # of an encoder's vector beside the words of a trained classifier
LOGS: Final = np.array([0.0, *(1 + math.log(count) for count in range(1, 4096))])  # a word counts at most 4,095 times
_TYPICAL: Final = 50  # public words of a label, at most


def meaning(texts: Sequence[str], encoder: Encoder | None) -> Float64Array:
    """The encoder's vectors, of unit length, shape (n, d)."""
    if encoder is None:
        return np.zeros((len(texts), 0))
    return unit(np.asarray(encoder.encode(texts), np.float64))


def public_input(name: str, sha256: str, kind: str = "classifier", **known: str | None) -> dict[str, str | None]:
    """What a manifest states of a public input; its licence and when it was trained where they are ``known``."""
    return {"name": name, "kind": kind, "sha256": sha256, "licence": None, "trained": None} | known


def weighted(counts: Any, idf: Float64Array) -> Any:
    """Counts as TF-IDF rows of unit length."""
    from scipy.sparse import csr_array

    data = LOGS[np.minimum(counts.data, len(LOGS) - 1)] * idf[counts.indices]
    rows = np.repeat(np.arange(counts.shape[0]), np.diff(counts.indptr))
    lengths = np.sqrt(np.bincount(rows, weights=data * data, minlength=counts.shape[0]))
    indices, starts = counts.indices.astype(np.int32), counts.indptr.astype(np.int32)
    return csr_array((data / np.maximum(lengths, 1e-12)[rows], indices, starts), shape=counts.shape)


def beside(words: Any, vectors: Float64Array) -> Any:
    """Sparse rows with an encoder's vectors beside them, as CSR."""
    from scipy.sparse import hstack

    return hstack([words, _sparse(vectors * WEIGHT)], format="csr") if vectors.shape[1] else words


def _sparse(dense: Float64Array) -> Any:
    """Dense rows as CSR, of which products are taken row by row."""
    from scipy.sparse import csr_array

    n, width = dense.shape
    indices = np.tile(np.arange(width, dtype=np.int32), n)
    kind = np.int32 if n * width < 2**31 else np.int64
    return csr_array((dense.ravel(), indices, np.arange(n + 1, dtype=kind) * width), shape=(n, width))


def product(rows: Any, matrix: Float64Array) -> Float64Array:
    """Rows, sparse or dense, times a matrix: each row by itself, to the last bit."""
    if isinstance(rows, np.ndarray):
        rows = _sparse(rows)
    return np.asarray(rows @ np.ascontiguousarray(matrix, np.float64))


def unit(rows: Float64Array) -> Float64Array:
    """Rows of unit length; zero stays zero."""
    n, width = rows.shape
    squares = np.bincount(np.repeat(np.arange(n), width), weights=(rows * rows).ravel(), minlength=n)
    return np.asarray(rows / np.maximum(np.sqrt(squares), 1e-12)[:, None])


def inverse_frequencies(counts: Any) -> Float64Array:
    """ln((1 + n) / (1 + n_w)) + 1 of each word w that n_w of n texts use, shape (V,); 0 where none does."""
    used = np.bincount(counts.indices, minlength=counts.shape[1])
    return np.where(used > 0, np.log((1 + counts.shape[0]) / (1 + used)) + 1, 0.0)


def typical_words(
    rows: Any, labels: IndexArray, size: int, vocabulary: Sequence[str], kept: Collection[str]
) -> tuple[tuple[str, ...], ...]:
    """Of each of ``size`` labels the words whose mean weight exceeds that of all texts most, of those in ``kept``."""
    from scipy.sparse import csr_array

    n = rows.shape[0]
    belongs = csr_array((np.ones(n), (labels, np.arange(n))), shape=(size, n))
    texts = np.bincount(labels, minlength=size)
    means = (belongs @ rows).toarray() / np.maximum(texts, 1)[:, None]
    allowed = np.array([word in kept for word in vocabulary], np.bool_)
    excess = np.where(allowed, means - rows.sum(axis=0) / max(n, 1), 0.0)
    found = []
    for row in excess:
        best = np.argsort(-row, kind="stable")[:_TYPICAL]
        found.append(tuple(vocabulary[place] for place in best.tolist() if row[place] > 0))
    return tuple(found)


def checked_texts(texts: Sequence[str], labels: Sequence[Any] | None, authors: Sequence[Any] | None) -> None:
    """`DataError` unless there are as many of each."""
    for others, what in ((labels, "labels"), (authors, "authors")):
        if others is not None and len(others) != len(texts):
            raise DataError(f"{len(texts):,} public texts and {len(others):,} {what}: give one for each text")
