"""What attackers share, and pipelines of scikit-learn: sublinear TF-IDF and a linear support vector machine."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
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


def split(text: str) -> list[str]:
    """The words of a text."""
    return text.split()


def letters() -> Any:
    """A linear machine on character 2- to 4-grams, the commonest 50,000; none goes over the end of a word."""
    pieces = TfidfVectorizer(
        analyzer="char_wb", ngram_range=(2, 4), lowercase=False, sublinear_tf=True, max_features=50_000
    )
    return make_pipeline(pieces, LinearSVC(random_state=0, max_iter=20_000))


def words() -> Any:
    """A linear machine on words."""
    return make_pipeline(TfidfVectorizer(analyzer=split, sublinear_tf=True), LinearSVC(random_state=0, max_iter=20_000))
