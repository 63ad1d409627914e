"""Burrows's Delta (2002): the mean difference of the standardized frequencies of the commonest words."""

from __future__ import annotations

from collections.abc import Sequence
from typing import final

import numpy as np

from publius.arrays import Float64Array
from publius.evaluation.attackers.base import AbstractAttacker
from publius.evaluation.features import FeatureCounts
from publius.text.bag import Bag


@final
class Delta(AbstractAttacker):
    """The author at the smallest mean absolute difference of z-scores over the ``words`` commonest words.

    The z-scores are those of a word's relative frequency over the known texts; an author's is the mean over their
    texts. Bags have no stop words unless the encoding keeps them, so this is a Delta on content words.
    """

    def __init__(self, *, words: int = 500, seed: int = 0) -> None:
        self.words, self.seed = words, seed
        self._counts = FeatureCounts(limit=words)
        self._mean = self._deviation = self._profiles = np.zeros(0)

    def _learn(self, X: Sequence[Bag], y: Sequence[str]) -> None:
        shares = self._shares(X, fit=True)
        self._mean, deviation = shares.mean(axis=0), shares.std(axis=0)
        self._deviation = np.where(deviation > 0, deviation, np.inf)  # a word of constant share tells nothing
        z = (shares - self._mean) / self._deviation
        labels = np.array(y)
        self._profiles = np.array([z[labels == name].mean(axis=0) for name in self.classes_])

    def _scores(self, X: Sequence[Bag]) -> Float64Array:
        from scipy.spatial.distance import cdist

        z = (self._shares(X) - self._mean) / self._deviation
        return np.asarray(-cdist(z, self._profiles, "cityblock") / z.shape[1])

    def _shares(self, X: Sequence[Bag], *, fit: bool = False) -> Float64Array:
        if fit:
            self._counts.fit(X)
        sizes = np.array([max(1, bag.size) for bag in X], np.float64)
        return np.asarray(self._counts.transform(X).toarray() / sizes[:, None])
