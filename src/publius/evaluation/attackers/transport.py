"""The attacker of the paper's "same representation": nearest known texts by Earth Mover's distance."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Self

import numpy as np

from publius.arrays import Float64Array
from publius.distances.earth_mover import BagPoints, residual
from publius.errors import DataError, UsageError
from publius.evaluation.attackers import inside
from publius.evaluation.attackers.counting import Attacker


class Transport(Attacker):
    """The commonest label among the ``neighbors`` nearest known texts; of equally common ones that of the nearest text.

    Exactly the nearest, without most distances: in the relaxed problem every word goes to its nearest word, which no flow can
    undercut, so a text whose relaxed distance is beyond the last neighbour's is never solved. Words outside the vocabulary are
    left out; a text of such words only is near nobody. Known texts are cut to their first ``cut`` words.
    """

    def __init__(self, embeddings: Any = None, metric: Any = "euclidean", neighbors: int = 1, cut: int = 0) -> None:
        self.embeddings, self.metric, self.neighbors, self.cut = embeddings, metric, neighbors, cut

    def fit(self, texts: Sequence[str], labels: Sequence[str]) -> Self:
        """Keep the texts as points."""
        from publius.distances.metrics import ground_metric

        if self.embeddings is None:
            raise UsageError("the attacker transport needs word vectors: set_params(embeddings=...)")
        self.ground_ = ground_metric(self.metric)
        found = [self._points(text.split()[: self.cut or None]) for text in texts]
        kept = [place for place, points in enumerate(found) if points.size]
        if not kept:
            raise DataError("no known text has a word of the vocabulary. Use other --embeddings.")
        self.known_ = [found[place] for place in kept]
        self.classes_, rows = np.unique(labels, return_inverse=True)
        self.labels_ = rows[kept]
        self.words_ = np.unique(np.concatenate([points.indices for points in self.known_]))
        self.columns_ = [np.searchsorted(self.words_, points.indices) for points in self.known_]
        return self

    def nearest(self, texts: Sequence[str], count: int) -> list[list[tuple[float, int]]]:
        """For each text the ``count`` nearest known ones, as distance and place, nearest first; more where they tie."""
        return [self._nearest(self._points(text.split()), count) for text in texts]

    def decision_function(self, texts: Sequence[str]) -> Float64Array:
        """Votes of the nearest texts, and less than one part in a million for nearness."""
        return np.array([self.votes(found, self.neighbors) for found in self.nearest(texts, self.neighbors)])

    def votes(self, found: Sequence[tuple[float, int]], count: int) -> Float64Array:
        """The score of each label from a text's `nearest`; texts that are equally far share the last votes."""
        scores, closest = np.zeros(len(self.classes_)), np.full(len(self.classes_), np.inf)
        if not found:
            return scores
        last = found[min(count, len(found)) - 1][0]
        sooner = sum(distance < last for distance, _ in found)
        tied = sum(distance == last for distance, _ in found)
        for distance, place in found:
            if distance <= last:
                label = self.labels_[place]
                scores[label] += 1.0 if distance < last else (min(count, len(found)) - sooner) / tied
                closest[label] = min(closest[label], distance)
        return np.asarray(scores + 1e-6 / (1 + closest))

    def _points(self, words: Sequence[str]) -> BagPoints:
        return BagPoints(*np.unique(inside(words, self.embeddings), return_counts=True))

    def _nearest(self, points: BagPoints, count: int) -> list[tuple[float, int]]:
        from publius.distances.metrics import word_distances

        if not points.size:
            return []
        vectors = self.embeddings.vectors
        table = word_distances(
            np.asarray(vectors[points.indices], np.float64), np.asarray(vectors[self.words_], np.float64), self.ground_
        )
        bounds = [self._relaxed(points, place, table) for place in range(len(self.known_))]
        best: list[tuple[float, int]] = []
        for place in np.argsort(bounds, kind="stable").tolist():
            if len(best) >= count and bounds[place] * (1 - 1e-9) > best[count - 1][0]:
                break
            best.append((self._solved(points, place, table), place))
            best.sort()
            if len(best) > count:
                best = [each for each in best if each[0] <= best[count - 1][0]]
        return best

    def _relaxed(self, points: BagPoints, place: int, table: Float64Array) -> float:
        known, costs = self.known_[place], table[:, self.columns_[place]]
        there = float(points.masses @ costs.min(axis=1)) / points.size
        return max(there, float(known.masses @ costs.min(axis=0)) / known.size)

    def _solved(self, points: BagPoints, place: int, table: Float64Array) -> float:
        from publius.distances.solver import optimal_flow

        known = self.known_[place]
        rest = residual(points, known)
        if not len(rest.left):
            return 0.0
        costs = table[np.ix_(rest.left, self.columns_[place][rest.right])]
        flow = optimal_flow(costs, rest.supply, rest.demand)
        return float(flow.masses @ costs[flow.rows, flow.columns]) / rest.total
