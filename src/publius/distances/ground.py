"""Distances between words, as the transport problem and the certificates need them."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import nullcontext

import numpy as np
from threadpoolctl import ThreadpoolController

from publius.arrays import Float64Array, FloatArray, IndexArray
from publius.distances.metrics import AbstractMetric, Distances, Euclidean, Manhattan, ground_metric
from publius.embeddings.embeddings import Embeddings
from publius.errors import DataError
from publius.text.bag import UNKNOWN

Ground = AbstractMetric | Distances
"""A metric, or a function of vectors (p, n) and (q, n) that gives their distances (p, q)."""

CLOSE = 2.0**-10
"""Pairs whose squared distance is below this share of squared norms are computed by differences: a product cancels."""

_ROWS = 512
_BLAS = ThreadpoolController()

ground_distance = ground_metric


def is_line(ground: Ground, dimension: int) -> bool:
    """Whether the distance is |x - y| of numbers, where sorting solves the transport problem."""
    return dimension == 1 and isinstance(ground, (Euclidean, Manhattan))


def word_distances(x: Float64Array, y: Float64Array, ground: Ground) -> Float64Array:
    """Distances between the rows of ``x`` (p, n) and of ``y`` (q, n), shape (p, q), float64."""
    if not isinstance(ground, Euclidean):
        return ground_distance(ground).pairwise(x, y)
    # Two documents are too small a product to share: BLAS's threads would mostly wait for each other.
    with _BLAS.limit(limits=1, user_api="blas") if len(x) <= _ROWS else nullcontext():
        return by_product(widened(x), widened(y))


def widened(vectors: FloatArray) -> Float64Array:
    """Each row in float64, and after it 1 and its squared norm: shape (p, n) -> (p, n + 2)."""
    wide = np.empty((len(vectors), vectors.shape[1] + 2))
    wide[:, :-2], wide[:, -2] = vectors, 1.0
    wide[:, -1] = np.einsum("ij,ij->i", wide[:, :-2], wide[:, :-2])
    return wide


def by_product(x: Float64Array, y: Float64Array) -> Float64Array:
    """Euclidean distances between rows that are `widened`, shape (p, q), by one matrix product.

    Each of the n + 2 products and sums of a squared distance errs by a unit of 2(|x|^2 + |y|^2), and the square root
    halves a relative error: so they are within 1.01 (n + 6) 2^-53 / `CLOSE` of the true ones.
    """
    left = x * -2.0
    left[:, -2], left[:, -1] = x[:, -1], 1.0
    squares = left @ y.T
    close = squares < (CLOSE * (x[:, -1] + y[:, -1].max(initial=0.0)))[:, None]
    if close.any():
        rows, columns = np.nonzero(close)
        step = max(1, 2**22 // x.shape[1])  # pairs at a time: bounded memory
        for start in range(0, len(rows), step):
            i, j = rows[start : start + step], columns[start : start + step]
            squares[i, j] = Euclidean().paired(x[i, :-2], y[j, :-2]) ** 2
    return np.sqrt(squares, out=squares)


def word_indices(words: Sequence[str], embeddings: Embeddings) -> IndexArray:
    """Vocabulary indices; the unknown token stands at `Embeddings.unknown_index`. `DataError` for other words."""
    indices = [embeddings.unknown_index if word == UNKNOWN else embeddings.index(word) for word in words]
    if missing := sum(index is None for index in indices):
        raise DataError(
            f"{missing} of {len(indices)} words are not in the vocabulary {embeddings.name!r}: make the bag with "
            "Bag.from_text, which replaces, drops or rejects unknown words"
        )
    return np.array(indices, np.int64)
