"""Attackers that count words or letters, and what they share; linear machines are pipelines of scikit-learn."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.feature_extraction.text import CountVectorizer, TfidfVectorizer
from sklearn.pipeline import make_pipeline
from sklearn.svm import LinearSVC

from publius.arrays import Float64Array, IndexArray


class Attacker(ClassifierMixin, BaseEstimator):  # type: ignore[misc]  # scikit-learn has no types
    """An estimator whose ``decision_function`` scores every label for each text, shape (n, labels): the largest is named."""

    def predict(self, texts: Sequence[str]) -> Any:
        """The label with the largest score of each text."""
        return self.classes_[self.decision_function(texts).argmax(axis=1)]


def letters() -> Any:
    """A linear machine on character 2- to 4-grams, the commonest 50,000; none goes over the end of a word."""
    return _linear(analyzer="char_wb", ngram_range=(2, 4), lowercase=False, max_features=50_000)


def words() -> Any:
    """A linear machine on words."""
    return _linear(analyzer=str.split)


def _linear(**features: Any) -> Any:
    return make_pipeline(TfidfVectorizer(sublinear_tf=True, **features), LinearSVC(random_state=0, max_iter=20_000))


class Likelihood(Attacker):
    """Multinomial likelihood under each label's word frequencies, smoothed towards the average label (Dirichlet).

    Each label's counts get ``prior_words`` words of the mean distribution of all labels. Scores are logarithms of likelihoods,
    to which a prior may be added (``is_likelihood``).
    """

    is_likelihood = True

    def __init__(self, prior_words: float = 1_000.0) -> None:
        self.prior_words = prior_words

    def fit(self, texts: Sequence[str], labels: Sequence[str]) -> Self:
        """Count the words of each label."""
        self.counter_ = CountVectorizer(analyzer=str.split, dtype=np.float64)
        counts = self.counter_.fit_transform(texts)
        self.classes_, rows = np.unique(labels, return_inverse=True)
        self.log_shares_ = np.log(smoothed_shares(class_sums(counts, rows), self.prior_words))
        return self

    def decision_function(self, texts: Sequence[str]) -> Float64Array:
        """Ln of the likelihood under each label; words that no known text has say nothing."""
        return np.asarray(self.counter_.transform(texts) @ self.log_shares_.T)


class Delta(Attacker):
    """Burrows's Delta (2002): the author at the smallest mean difference of z-scores over the ``words`` commonest words.

    An author's z-scores are the mean over the known texts. Bags have no stop words unless the settings keep them, so this is
    a Delta on content words.
    """

    def __init__(self, words: int = 500) -> None:
        self.words = words

    def fit(self, texts: Sequence[str], labels: Sequence[str]) -> Self:
        """Find the commonest words, their spread, and each author's profile."""
        self.counter_, _ = commonest(texts, str.split, self.words)
        shares = self._shares(texts)
        self.mean_, deviation = shares.mean(axis=0), shares.std(axis=0)
        self.deviation_ = np.where(deviation > 0, deviation, np.inf)  # a word of constant share tells nothing
        self.classes_, rows = np.unique(labels, return_inverse=True)
        z = (shares - self.mean_) / self.deviation_
        self.profiles_ = np.array([z[rows == row].mean(axis=0) for row in range(len(self.classes_))])
        return self

    def decision_function(self, texts: Sequence[str]) -> Float64Array:
        """Minus the Delta of each text and author."""
        from scipy.spatial.distance import cdist

        z = (self._shares(texts) - self.mean_) / self.deviation_
        return np.asarray(-cdist(z, self.profiles_, "cityblock") / z.shape[1])

    def _shares(self, texts: Sequence[str]) -> Float64Array:
        sizes = np.array([max(1, len(text.split())) for text in texts], np.float64)
        return np.asarray(self.counter_.transform(texts).toarray() / sizes[:, None])


def commonest(texts: Sequence[str], features: Callable[[str], list[str]], most: int) -> tuple[CountVectorizer, Any]:
    """A counter of the ``most`` commonest features, of equally common ones the first by the alphabet, and their counts."""
    every = CountVectorizer(analyzer=features, dtype=np.float64)
    counts = every.fit_transform(texts)
    often = np.argsort(-np.asarray(counts.sum(axis=0)).ravel(), kind="stable")[:most]
    names = every.get_feature_names_out()[often]
    return CountVectorizer(analyzer=features, dtype=np.float64, vocabulary=names), counts[:, often]


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
