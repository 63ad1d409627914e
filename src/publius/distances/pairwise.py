"""Distances between all documents of a corpus."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import numpy as np

from publius.arrays import Float64Array
from publius.distances.ground import Ground, ground_distance, is_line, word_distances
from publius.distances.problem import BagPoints, points_of, residual, transport_problem, vectors_at
from publius.embeddings.embeddings import Embeddings
from publius.settings import EUCLIDEAN
from publius.text.bag import Bag

TABLE_BYTES: Final = 256 << 20
"""How large a table of all word distances may be; of larger corpora one is made for each pair of documents."""


def pairwise_distances(
    bags: Sequence[Bag],
    embeddings: Embeddings,
    metric: str | Ground = EUCLIDEAN,
    *,
    others: Sequence[Bag] | None = None,
    table_bytes: int = TABLE_BYTES,
) -> Float64Array:
    """Earth Mover's distances between all ``bags``, shape (m, m), or from them to ``others``, shape (m, k).

    Equals `earth_movers_distance` of each pair, whose errors it raises.
    """
    ground = ground_distance(metric)
    rows = [points_of(bag, embeddings) for bag in bags]
    columns = rows if others is None else [points_of(bag, embeddings) for bag in others]
    if not (rows and columns):
        return np.zeros((len(rows), len(columns)))
    if is_line(ground, embeddings.dimension) and len({points.size for points in (*rows, *columns)}) == 1:
        return _line_distances(rows, columns, embeddings)
    words = np.unique(np.concatenate([points.indices for points in (*rows, *columns)]))
    vectors = vectors_at(words, embeddings)
    table = word_distances(vectors, vectors, ground) if 8 * len(words) ** 2 <= table_bytes else None
    places = [np.searchsorted(words, points.indices) for points in (*rows, *columns)]
    result = np.zeros((len(rows), len(columns)))
    for i, a in enumerate(rows):
        for j, b in enumerate(columns):
            if others is None and j <= i:
                result[i, j] = result[j, i]
                continue
            rest = residual(a, b)
            left, right = places[i][rest.left], places[len(rows) + j][rest.right]
            costs = None if table is None else table[np.ix_(left, right)]
            x, y = vectors[left], vectors[right]
            result[i, j] = transport_problem(x, rest.supply, y, rest.demand, ground, rest.total, costs).distance
    return result


def _line_distances(rows: Sequence[BagPoints], columns: Sequence[BagPoints], embeddings: Embeddings) -> Float64Array:
    """One dimension and one size: the mean gap of the sorted values."""
    from scipy.spatial.distance import cdist

    def values(corpus: Sequence[BagPoints]) -> Float64Array:
        return np.array([np.sort(np.repeat(vectors_at(p.indices, embeddings)[:, 0], p.masses)) for p in corpus])

    return np.asarray(cdist(values(rows), values(columns), "cityblock") / rows[0].size)
