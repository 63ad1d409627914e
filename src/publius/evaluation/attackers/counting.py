"""Attackers that count words or letters, and what they share; linear machines are pipelines of scikit-learn."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.feature_extraction.text import CountVectorizer, TfidfVectorizer
from sklearn.pipeline import make_pipeline
from sklearn.svm import LinearSVC

from publius.arrays import Float64Array, IndexArray
from publius.errors import UsageError
from publius.evaluation.attackers import naming
from publius.noise.randomness import seeded_rng


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


class Koppel(Attacker):
    """The author whose known words are nearest by cosine in most of many random halves of the features (DRauth).

    Features are the commonest character 4-grams inside words of the known texts. Of equal authors each gets a part of the
    round; a score is the share of rounds won. Who has fewer than ``least_words`` known words, before any cut, is no candidate
    (the paper asks for 400); by default everybody is one: who gives up on some is the weaker attacker.
    """

    def __init__(
        self, rounds: int = 100, features: int = 20_000, share: float = 0.5, least_words: int = 0, seed: int = 0
    ) -> None:
        self.rounds, self.features, self.share = rounds, features, share
        self.least_words, self.seed = least_words, seed

    def fit(self, texts: Sequence[str], labels: Sequence[str], lengths: Sequence[int] | None = None) -> Self:
        """Count the n-grams of each author; `UsageError` where fewer than two have ``least_words``."""
        self.classes_, rows = np.unique(labels, return_inverse=True)
        lengths = [len(text.split()) for text in texts] if lengths is None else lengths
        self.candidates_ = np.bincount(rows, lengths) >= self.least_words
        if (left := self.candidates_.sum()) < 2:
            said = f"{left} of {len(self.classes_)} authors have {self.least_words:,} known words or more"
            raise UsageError(f"{said}. Use a smaller least_words.")
        self.counter_, counts = commonest(texts, _grams, self.features)
        self.profiles_ = class_sums(counts, rows)
        shape = self.rounds, counts.shape[1]
        chosen = max(1, round(self.share * shape[1]))
        order = seeded_rng(self.seed).random(shape).argpartition(chosen - 1, axis=1)[:, :chosen]
        self.halves_ = np.zeros(shape, np.bool_)
        np.put_along_axis(self.halves_, order, True, axis=1)
        return self

    def decision_function(self, texts: Sequence[str]) -> Float64Array:
        """The share of rounds that each author wins; minus infinity for who is no candidate."""
        masks = self.halves_.astype(np.float32)
        norms = np.sqrt(masks @ np.square(self.profiles_).T.astype(np.float32)).astype(np.float64)
        counts = self.counter_.transform(texts)
        votes = np.zeros((len(texts), len(self.classes_)))
        for row in range(len(texts)):
            start, stop = counts.indptr[row], counts.indptr[row + 1]
            places, values = counts.indices[start:stop], counts.data[start:stop]
            products = masks[:, places].astype(np.float64) @ (self.profiles_[:, places] * values).T
            cosines = np.divide(products, norms, out=np.zeros_like(products), where=norms > 0)
            votes[row] = naming(np.where(self.candidates_, cosines, -np.inf)).mean(axis=0)
        return np.where(self.candidates_, votes, -np.inf)


@lru_cache(2**18)
def inner_grams(word: str) -> tuple[str, ...]:
    """The character 4-grams inside a word; a shorter word whole."""
    return (word,) if len(word) < 4 else tuple(word[start : start + 4] for start in range(len(word) - 3))


def _grams(text: str) -> list[str]:
    return [gram for word in text.split() for gram in inner_grams(word)]


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
