"""Linear classifiers of scikit-learn over words or over pieces of words."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import Any, final

import numpy as np

from publius.arrays import Float64Array
from publius.errors import extra
from publius.evaluation.attackers.base import AbstractAttacker
from publius.evaluation.features import FeatureCounts, Pieces, bounded_grams, whole_word
from publius.text.bag import Bag


@final
class LinearMachine(AbstractAttacker):
    """A linear support vector machine on sublinear tf-idf weights of the pieces of words."""

    def __init__(self, pieces: Pieces, *, features: int | None = None, seed: int = 0) -> None:
        self.seed = seed
        self._counts = FeatureCounts(pieces, features)
        self._weights: Any = None
        self._machine: Any = None

    def _learn(self, X: Sequence[Bag], y: Sequence[str]) -> None:
        with extra("evaluation", "scikit-learn"):
            from sklearn.feature_extraction.text import TfidfTransformer
            from sklearn.svm import LinearSVC
        counts = self._counts.fit(X).transform(X)
        self._weights = TfidfTransformer(sublinear_tf=True).fit(counts)
        self._machine = LinearSVC(random_state=self.seed % 2**32, max_iter=20_000)
        with warnings.catch_warnings():  # one text a label is what an evaluation has, and no regression
            warnings.filterwarnings("ignore", "The number of unique classes", UserWarning)
            self._machine.fit(self._weights.transform(counts), list(y))

    def _scores(self, X: Sequence[Bag]) -> Float64Array:
        values = self._machine.decision_function(self._weights.transform(self._counts.transform(X)))
        if values.ndim == 1:  # two labels: the sign decides
            return np.stack([-values, values], axis=1)
        return np.asarray(values, np.float64)


def character_machine(seed: int = 0) -> LinearMachine:
    """On character 2- to 4-grams inside words with their ends marked, the commonest 50,000: the adversary "svm"."""
    return LinearMachine(bounded_grams, features=50_000, seed=seed)


def word_machine(seed: int = 0) -> LinearMachine:
    """On whole words: the topic classifier "linear", the default where fastText is not installed."""
    return LinearMachine(whole_word, seed=seed)
