"""Gradient-boosted trees on an embedding of the release: a learner that is not linear in the words."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import Any, final

import numpy as np

from publius.arrays import Float64Array
from publius.errors import extra
from publius.evaluation.attackers.base import AbstractAttacker
from publius.evaluation.features import FeatureCounts
from publius.text.bag import Bag

DIRECTIONS = 20
ROUNDS = 30
FEATURES = 20_000


@final
class BoostedTrees(AbstractAttacker):
    """Trees in `ROUNDS` rounds over the strongest singular directions of the words' tf-idf weights.

    The embedding is learned from the texts to learn from, so that the adaptive form has one of protected texts.
    """

    def __init__(self, *, seed: int = 0) -> None:
        self.seed = seed
        self._counts = FeatureCounts(limit=FEATURES)
        self._weights: Any = None
        self._directions: Any = None
        self._trees: Any = None

    def _learn(self, X: Sequence[Bag], y: Sequence[str]) -> None:
        with extra("evaluation", "scikit-learn"):
            from sklearn.decomposition import TruncatedSVD
            from sklearn.ensemble import HistGradientBoostingClassifier
            from sklearn.feature_extraction.text import TfidfTransformer
        counts = self._counts.fit(X).transform(X)
        self._weights = TfidfTransformer(sublinear_tf=True).fit(counts)
        size = max(1, min(DIRECTIONS, counts.shape[0] - 1, counts.shape[1] - 1))
        self._directions = TruncatedSVD(size, random_state=self.seed % 2**32)
        self._directions.fit(self._weights.transform(counts))
        self._trees = HistGradientBoostingClassifier(
            max_iter=ROUNDS, min_samples_leaf=max(1, len(X) // (10 * len(self.classes_))), early_stopping=False,
            random_state=self.seed % 2**32,
        )  # fmt: skip
        with warnings.catch_warnings():  # scikit-learn takes many labels with few texts each for a regression
            warnings.filterwarnings("ignore", "The number of unique classes", UserWarning)
            self._trees.fit(self._embedded(X), list(y))

    def _scores(self, X: Sequence[Bag]) -> Float64Array:
        return np.asarray(np.log(np.maximum(self._trees.predict_proba(self._embedded(X)), 1e-12)))

    def _embedded(self, X: Sequence[Bag]) -> Float64Array:
        found = self._directions.transform(self._weights.transform(self._counts.transform(X)))
        lengths = np.linalg.norm(found, axis=1, keepdims=True)
        return np.asarray(found / np.where(lengths > 0, lengths, 1.0), np.float64)
