"""Word-frequency likelihood: the label under whose word distribution a bag is most probable."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, final

import numpy as np

from publius.arrays import Float64Array
from publius.evaluation.attackers.base import AbstractAttacker
from publius.evaluation.features import FeatureCounts, class_sums
from publius.text.bag import Bag

if TYPE_CHECKING:
    from scipy.sparse import csr_array

PRIOR_WORDS = 1_000.0
"""How many words of the average label are mixed into each label's counts."""


@final
class Likelihood(AbstractAttacker):
    """Multinomial likelihood of a bag under each label's word frequencies, smoothed towards the average label.

    Each label's counts get `PRIOR_WORDS` words of the mean distribution of all labels (Dirichlet smoothing). Words
    that no text to learn from has say nothing and are left out.
    """

    def __init__(self, *, prior_words: float = PRIOR_WORDS, seed: int = 0) -> None:
        self.prior_words, self.seed = prior_words, seed
        self._counts = FeatureCounts()
        self._log_shares = np.zeros((0, 0))

    def _learn(self, X: Sequence[Bag], y: Sequence[str]) -> None:
        sums = class_sums(self._counts.fit(X).transform(X), y, self.classes_)
        self._log_shares = np.log(smoothed_shares(sums, self.prior_words))

    def _scores(self, X: Sequence[Bag]) -> Float64Array:
        return np.asarray(self._counts.transform(X) @ self._log_shares.T)


def smoothed_shares(sums: csr_array, prior_words: float) -> Float64Array:
    """Each label's word distribution, shape (labels, words), from its counts and ``prior_words`` average words."""
    counts = sums.toarray()
    totals = counts.sum(axis=1, keepdims=True)
    average = (counts / totals).mean(axis=0)
    return np.asarray((counts + prior_words * average) / (totals + prior_words))
