"""Word-frequency likelihood: the label under whose word distribution a text is most probable."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Self

import numpy as np
from sklearn.feature_extraction.text import CountVectorizer

from publius.arrays import Float64Array, IndexArray
from publius.evaluation.attackers.linear import Attacker, split


class Likelihood(Attacker):
    """Multinomial likelihood under each label's word frequencies, smoothed towards the average label (Dirichlet).

    Each label's counts get ``prior_words`` words of the mean distribution of all labels. Words that no known text has say
    nothing and are left out. Scores are logarithms of likelihoods, to which a prior may be added (``is_likelihood``).
    """

    is_likelihood = True

    def __init__(self, prior_words: float = 1_000.0) -> None:
        self.prior_words = prior_words

    def fit(self, texts: Sequence[str], labels: Sequence[str]) -> Self:
        """Count the words of each label."""
        self.counter_ = CountVectorizer(analyzer=split, dtype=np.float64)
        counts = self.counter_.fit_transform(texts)
        self.classes_, rows = np.unique(labels, return_inverse=True)
        self.log_shares_ = np.log(smoothed_shares(class_sums(counts, rows), self.prior_words))
        return self

    def decision_function(self, texts: Sequence[str]) -> Float64Array:
        """Ln of the likelihood of each text under each label, shape (n, labels)."""
        return np.asarray(self.counter_.transform(texts) @ self.log_shares_.T)


def class_sums(counts: Any, rows: IndexArray) -> Float64Array:
    """The rows of the sparse ``counts`` added up by the place of their label, dense, shape (labels, features)."""
    from scipy.sparse import csr_array

    members = csr_array((np.ones(len(rows)), (rows, np.arange(len(rows)))))
    return np.asarray((members @ csr_array(counts)).toarray(), np.float64)


def smoothed_shares(counts: Float64Array, prior_words: float) -> Float64Array:
    """Each label's word distribution, shape (labels, words), from its counts and ``prior_words`` average words."""
    totals = np.maximum(counts.sum(axis=1, keepdims=True), 1.0)
    average = (counts / totals).mean(axis=0)
    average = average / max(average.sum(), 1e-300)
    return np.asarray(np.maximum((counts + prior_words * average) / (totals + prior_words), 1e-300))
