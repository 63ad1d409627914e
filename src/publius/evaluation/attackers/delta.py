"""Burrows's Delta (2002): the mean difference of the standardized frequencies of the commonest words."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Self

import numpy as np
from sklearn.feature_extraction.text import CountVectorizer

from publius.arrays import Float64Array
from publius.evaluation.attackers.linear import Attacker, split


class Delta(Attacker):
    """The author at the smallest mean absolute difference of z-scores over the ``words`` commonest words.

    An author's z-scores are the mean over the known texts. Bags have no stop words unless the settings keep them, so this is
    a Delta on content words.
    """

    def __init__(self, words: int = 500) -> None:
        self.words = words

    def fit(self, texts: Sequence[str], labels: Sequence[str]) -> Self:
        """Find the commonest words, their spread, and each author's profile."""
        every = CountVectorizer(analyzer=split)
        often = np.argsort(-np.asarray(every.fit_transform(texts).sum(axis=0)).ravel(), kind="stable")[: self.words]
        names = every.get_feature_names_out()[
            often
        ]  # of equally common words the first by the alphabet, on any processor
        self.counter_ = CountVectorizer(analyzer=split, dtype=np.float64, vocabulary=names)
        shares = self._shares(texts)
        self.mean_, deviation = shares.mean(axis=0), shares.std(axis=0)
        self.deviation_ = np.where(deviation > 0, deviation, np.inf)  # a word of constant share tells nothing
        self.classes_, rows = np.unique(labels, return_inverse=True)
        z = (shares - self.mean_) / self.deviation_
        self.profiles_ = np.array([z[rows == row].mean(axis=0) for row in range(len(self.classes_))])
        return self

    def decision_function(self, texts: Sequence[str]) -> Float64Array:
        """Minus the Delta of each text and author, shape (n, authors)."""
        from scipy.spatial.distance import cdist

        z = (self._shares(texts) - self.mean_) / self.deviation_
        return np.asarray(-cdist(z, self.profiles_, "cityblock") / z.shape[1])

    def _shares(self, texts: Sequence[str]) -> Float64Array:
        sizes = np.array([max(1, len(text.split())) for text in texts], np.float64)
        return np.asarray(self.counter_.transform(texts).toarray() / sizes[:, None])
