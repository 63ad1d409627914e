"""Distances between all documents of a corpus, and a document's nearest ones."""

from __future__ import annotations

import heapq
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import final

import numpy as np

from publius.arrays import Float64Array, IndexArray
from publius.distances.ground import Ground, ground_distance, is_line, is_norm, word_distances
from publius.distances.problem import (
    BagPoints,
    points_of,
    points_transport,
    residual,
    transport_problem,
    vectors_at,
)
from publius.errors import UsageError
from publius.settings import EUCLIDEAN
from publius.text.bag import Bag
from publius.embeddings.embeddings import Embeddings

TABLE_BYTES = 256 << 20
"""How large one table of word distances may be; larger corpora are taken in blocks."""


@final
@dataclass(frozen=True, eq=False, slots=True)
class _Block:
    """Some documents of a corpus and the words they use."""

    documents: tuple[int, ...]
    words: IndexArray  # (u,) ascending
    vectors: Float64Array  # (u, n)
    places: tuple[IndexArray, ...]  # of each document's words in ``words``


def _blocks(corpus: Sequence[BagPoints], embeddings: Embeddings, most_words: int) -> Iterator[_Block]:
    """Consecutive documents that use at most ``most_words`` different words together, one document at least."""
    start, words = 0, np.zeros(0, np.int64)
    for end, points in enumerate(corpus):
        grown = np.union1d(words, points.indices)
        if len(grown) > most_words and end > start:
            yield _block(corpus, range(start, end), words, embeddings)
            start, grown = end, points.indices
        words = grown
    if corpus:
        yield _block(corpus, range(start, len(corpus)), words, embeddings)


def _block(
    corpus: Sequence[BagPoints], documents: range, words: IndexArray, embeddings: Embeddings
) -> _Block:
    places = tuple(np.searchsorted(words, corpus[k].indices) for k in documents)
    return _Block(tuple(documents), words, vectors_at(words, embeddings), places)


def pairwise_distances(
    bags: Sequence[Bag],
    embeddings: Embeddings,
    metric: str | Ground = EUCLIDEAN,
    *,
    others: Sequence[Bag] | None = None,
    table_bytes: int = TABLE_BYTES,
) -> Float64Array:
    """Earth Mover's distances between all ``bags``, shape (m, m), or from them to ``others``, shape (m, k).

    Each distance between two words is computed once, in a table of at most ``table_bytes``; where the words of
    the corpus do not fit, in several such tables. Raises `DataError` as `earth_movers_distance` does.
    """
    ground = ground_distance(metric)
    rows = [points_of(bag, embeddings) for bag in bags]
    columns = rows if others is None else [points_of(bag, embeddings) for bag in others]
    if is_line(ground, embeddings.dimension) and len({points.size for points in (*rows, *columns)}) == 1:
        return _line_distances(rows, columns, embeddings)
    result = np.zeros((len(rows), len(columns)))
    most = int(np.sqrt(table_bytes / 8))
    right = list(_blocks(columns, embeddings, most))
    for top in right if others is None else _blocks(rows, embeddings, most):
        for side in right:
            if others is not None or side.documents[0] >= top.documents[0]:
                _fill(result, rows, top, columns, side, ground, symmetric=others is None)
    return result


def _line_distances(
    rows: Sequence[BagPoints], columns: Sequence[BagPoints], embeddings: Embeddings
) -> Float64Array:
    """One dimension and one size: the mean gap of the sorted values."""
    from scipy.spatial.distance import cdist

    def values(corpus: Sequence[BagPoints]) -> Float64Array:
        return np.array(
            [np.sort(np.repeat(vectors_at(p.indices, embeddings)[:, 0], p.masses)) for p in corpus]
        )

    return np.asarray(cdist(values(rows), values(columns), "cityblock") / rows[0].size)


def _fill(
    result: Float64Array,
    rows: Sequence[BagPoints],
    top: _Block,
    columns: Sequence[BagPoints],
    side: _Block,
    ground: Ground,
    *,
    symmetric: bool,
) -> None:
    table = word_distances(top.vectors, side.vectors, ground)
    for i, place in zip(top.documents, top.places, strict=True):
        for j, other in zip(side.documents, side.places, strict=True):
            if symmetric and j <= i:
                continue
            rest = residual(rows[i], columns[j])
            left, right = place[rest.left], other[rest.right]
            transport = transport_problem(
                top.vectors[left], rest.supply, side.vectors[right], rest.demand, ground, rest.total,
                table[np.ix_(left, right)],
            )  # fmt: skip
            result[i, j] = transport.distance
            if symmetric:
                result[j, i] = result[i, j]


@final
@dataclass(frozen=True, order=True, slots=True)
class Neighbor:
    """A document of a corpus, by its position, and its distance."""

    distance: float
    position: int


# Lower bounds are lowered by this share, far more than their rounding: a bound never excludes a true neighbour.
_SLACK = 1e-9


@final
class NearestDocuments:
    """The documents of a corpus nearest to a document, exactly as from all distances, without most of them.

    Two lower bounds spare the rest: the distance of the documents' means (where the metric is a norm), and the
    relaxed problem in which every word goes to its nearest word of the other document. Documents are taken by
    the best bound known for them, and a document is dropped only when its bound is above the k-th distance found.
    """

    def __init__(
        self,
        bags: Sequence[Bag],
        embeddings: Embeddings,
        metric: str | Ground = EUCLIDEAN,
        *,
        table_bytes: int = TABLE_BYTES,
    ) -> None:
        """Prepare the corpus ``bags``; raises `DataError` as `earth_movers_distance` does."""
        self._embeddings = embeddings
        self._ground = ground_distance(metric)
        self._corpus = [points_of(bag, embeddings) for bag in bags]
        # A query's table has a row for each of its words; 512 is more than most documents have.
        self._blocks = list(_blocks(self._corpus, embeddings, max(1, table_bytes // 8 // 512)))
        self._means = np.array([_mean(points, embeddings) for points in self._corpus])
        self.solved = 0
        """How many distances were computed in full so far."""

    def query(self, bag: Bag, count: int = 1) -> list[Neighbor]:
        """The ``count`` nearest documents (all, if there are fewer), nearest first, equal distances by position."""
        if count < 1:
            raise UsageError(f"the number of neighbors must be at least 1, not {count}")
        points = points_of(bag, self._embeddings)
        bounds = self._mean_bounds(points)
        best: list[Neighbor] = []
        for block in self._blocks:
            self._search(points, block, bounds, best, count)
        return best

    def _mean_bounds(self, points: BagPoints) -> Float64Array:
        if not self._corpus or not is_norm(self._ground):
            return np.zeros(len(self._corpus))
        mean = _mean(points, self._embeddings)
        return word_distances(mean[None, :], self._means, self._ground).ravel()

    def _search(
        self, points: BagPoints, block: _Block, bounds: Float64Array, best: list[Neighbor], count: int
    ) -> None:
        """Best bound first; the relaxed bound only once the mean's bound has come to the front."""
        queue = [(bounds[k], False, k) for k in block.documents]
        heapq.heapify(queue)
        table: Float64Array | None = None
        while queue:
            bound, relaxed, k = heapq.heappop(queue)
            if len(best) == count and bound * (1 - _SLACK) > best[-1].distance:
                return
            if relaxed:
                self._solve(points, k, best, count)
                continue
            if table is None:
                table = word_distances(
                    vectors_at(points.indices, self._embeddings), block.vectors, self._ground
                )
            place = block.places[k - block.documents[0]]
            heapq.heappush(
                queue, (max(bound, _relaxed_bound(points, self._corpus[k], place, table)), True, k)
            )

    def _solve(self, points: BagPoints, k: int, best: list[Neighbor], count: int) -> None:
        _, transport = points_transport(points, self._corpus[k], self._embeddings, self._ground)
        self.solved += 1
        best.append(Neighbor(transport.distance, k))
        best.sort()
        del best[count:]


def _mean(points: BagPoints, embeddings: Embeddings) -> Float64Array:
    return np.asarray(points.masses @ vectors_at(points.indices, embeddings) / points.size)


def _relaxed_bound(a: BagPoints, b: BagPoints, place: IndexArray, table: Float64Array) -> float:
    """The larger of both one-sided problems on the mass that the bags do not share.

    Dropping one side's constraint lets every word go whole to its nearest: no flow can be cheaper.
    """
    rest = residual(a, b)
    if not len(rest.left):
        return 0.0
    costs = table[np.ix_(rest.left, place[rest.right])]
    return float(max(rest.supply @ costs.min(axis=1), rest.demand @ costs.min(axis=0)) / rest.total)
