"""What attackers share, and pipelines of scikit-learn: sublinear TF-IDF and a linear support vector machine."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from functools import lru_cache
from typing import Any

from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.pipeline import make_pipeline
from sklearn.svm import LinearSVC

from publius.arrays import Float64Array


class Attacker(ClassifierMixin, BaseEstimator):  # type: ignore[misc]  # scikit-learn has no types
    """An estimator that scores every label, and names the one with the largest score."""

    classes_: Any

    @abstractmethod
    def decision_function(self, texts: Sequence[str]) -> Float64Array:
        """The score of each label for each text, shape (n, labels)."""

    def predict(self, texts: Sequence[str]) -> Any:
        """The label with the largest score of each text."""
        return self.classes_[self.decision_function(texts).argmax(axis=1)]


@lru_cache(2**18)
def bounded_grams(word: str, shortest: int = 2, longest: int = 4) -> tuple[str, ...]:
    """The character n-grams of a word with its two ends marked by a blank."""
    padded = f" {word} "
    return tuple(
        padded[start : start + length]
        for length in range(shortest, longest + 1)
        for start in range(len(padded) - length + 1)
    )


def grams_of(text: str) -> list[str]:
    """The bounded n-grams of all words of a text; none goes over the end of a word, as a bag has no order."""
    return [gram for word in text.split() for gram in bounded_grams(word)]


def split(text: str) -> list[str]:
    """The words of a text."""
    return text.split()


def letters() -> Any:
    """A linear machine on character 2- to 4-grams, the commonest 50,000."""
    pieces = TfidfVectorizer(analyzer=grams_of, sublinear_tf=True, max_features=50_000)
    return make_pipeline(pieces, LinearSVC(random_state=0, max_iter=20_000))


def words() -> Any:
    """A linear machine on words."""
    return make_pipeline(TfidfVectorizer(analyzer=split, sublinear_tf=True), LinearSVC(random_state=0, max_iter=20_000))
