"""The adversary of the paper's "same representation": nearest known texts by Earth Mover's distance."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import final

import numpy as np

from publius.arrays import Float64Array
from publius.distances.ground import Ground
from publius.errors import DataError
from publius.evaluation.attackers.base import AbstractAttacker
from publius.noise.randomness import seeded_rng
from publius.settings import VectorSettings
from publius.text.bag import UNKNOWN, Bag
from publius.vectors.embeddings import Embeddings

Distances = Callable[[Sequence[Bag], Sequence[Bag]], Float64Array]
"""Distances from each bag of the first to each of the second, shape (p, q)."""


@final
class NearestTexts(AbstractAttacker):
    """The commonest label among the ``neighbors`` nearest texts (SRauth with 1, SRtopic with 5 neighbours).

    Ties between labels go to the one whose nearest text is nearest.
    """

    def __init__(self, distances: Distances, neighbors: int = 1, seed: int = 0) -> None:
        self._distances, self.neighbors, self.seed = distances, neighbors, seed
        self._X: Sequence[Bag] = ()
        self._y: np.ndarray[tuple[int], np.dtype[np.int64]] = np.zeros(0, np.int64)

    def _learn(self, X: Sequence[Bag], y: Sequence[str]) -> None:
        self._X = X
        self._y = np.array([self.classes_.index(label) for label in y], np.int64)

    def _scores(self, X: Sequence[Bag]) -> Float64Array:
        """Votes, plus less than one vote for nearness: 1/2 for the nearest label of all, falling with its distance."""
        table = self._distances(X, self._X)
        count = min(self.neighbors, table.shape[1])
        lots = seeded_rng(self.seed).random(table.shape)  # for texts at the same distance
        nearest = np.lexsort((lots, table), axis=1)[:, :count]
        votes = np.zeros((len(X), len(self.classes_)))
        np.add.at(votes, (np.arange(len(X))[:, None], self._y[nearest]), 1.0)
        closest = np.full(votes.shape, np.inf)
        for column in range(table.shape[1]):
            np.minimum(closest[:, self._y[column]], table[:, column], out=closest[:, self._y[column]])
        return votes + 1 / (2 + closest)


@final
class EarthMovers:
    """Earth Mover's distances between lists of bags, each pair of lists computed once.

    Words outside the vocabulary have no distance and are left out; a bag of such words only is infinitely far.
    """

    def __init__(self, embeddings: Embeddings, metric: str | Ground = VectorSettings.metric) -> None:
        self._embeddings, self._metric = embeddings, metric
        self._known: list[tuple[Sequence[Bag], Sequence[Bag], Float64Array]] = []

    def __call__(self, left: Sequence[Bag], right: Sequence[Bag]) -> Float64Array:
        """The distances, shape (p, q)."""
        for a, b, table in self._known:
            if a is left and b is right:
                return table
        table = self._compute([self._inside(bag) for bag in left], [self._inside(bag) for bag in right])
        self._known.append((left, right, table))
        return table

    def _compute(self, left: list[Bag], right: list[Bag]) -> Float64Array:
        from publius.distances import pairwise_distances

        rows = [index for index, bag in enumerate(left) if bag.size]
        columns = [index for index, bag in enumerate(right) if bag.size]
        if not columns:
            raise DataError("no text to compare with has a word of the vocabulary: choose other embeddings")
        table = np.full((len(left), len(right)), np.inf)
        if rows:
            table[np.ix_(rows, columns)] = pairwise_distances(
                [left[row] for row in rows],
                self._embeddings,
                self._metric,
                others=[right[column] for column in columns],
            )
        return table

    def _inside(self, bag: Bag) -> Bag:
        if all(word == UNKNOWN or word in self._embeddings for word in bag.counts):
            return bag
        return Bag({w: c for w, c in bag.counts.items() if w == UNKNOWN or w in self._embeddings})
