"""Pipelines of scikit-learn: sublinear TF-IDF and a linear support vector machine, on pieces of words or on words."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.pipeline import make_pipeline
from sklearn.svm import LinearSVC


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
    return make_pipeline(
        TfidfVectorizer(analyzer=split, sublinear_tf=True), LinearSVC(random_state=0, max_iter=20_000)
    )
