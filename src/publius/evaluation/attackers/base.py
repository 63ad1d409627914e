"""Base of every adversary and classifier: bags and labels in, scores of the labels out."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from contextlib import AbstractContextManager
from typing import Any, ClassVar, Self, final

import numpy as np

from publius.arrays import Float64Array, IndexArray
from publius.errors import DataError, UsageError
from publius.files.user_code import unheard
from publius.noise.randomness import seeded_rng
from publius.settings import Task
from publius.text.bag import Bag


class AbstractAttacker(ABC):
    """Names the label of a bag: its author, or its topic. The same grammar as scikit-learn's classifiers.

    To add one, write ``_learn`` and ``_scores``. Ties between labels are broken at random, from ``seed``, so that
    an adversary who knows nothing is right as often as chance and not as often as the first label is.

    Attributes:
        tasks: what it can be asked to name.
        classes_: the labels seen in fitting, sorted.
        seed: of the tie breaks, and of whatever else an adversary draws.
        facts_: numbers that fitting found out, such as an accuracy on texts held out; they stand in its rows.

    """

    tasks: ClassVar[tuple[Task, ...]] = ("author", "topic")
    classes_: tuple[str, ...] = ()
    seed: int = 0
    facts_: dict[str, Any] = {}  # noqa: RUF012  # replaced, never changed

    @final
    def fit(self, X: Sequence[Bag], y: Sequence[str]) -> Self:
        """Learn from the bags ``X`` with the labels ``y``; `UsageError` when they do not fit together."""
        if len(X) != len(y) or len(set(y)) < 2:
            raise UsageError(
                f"{len(X)} bags with {len(y)} labels, {len(set(y))} of them different: at least 2 are needed"
            )
        if any(bag.size == 0 for bag in X):
            raise DataError("a bag to learn from is empty: leave it out")
        self.classes_ = tuple(sorted(set(y)))
        with self._unheard():
            self._learn(X, y)
        return self

    @final
    def decision_function(self, X: Sequence[Bag]) -> Float64Array:
        """The score of each label for each bag, shape (len(X), labels); higher is likelier."""
        if not self.classes_:
            raise UsageError("fit before you predict")
        if not len(X):
            return np.zeros((0, len(self.classes_)))
        with self._unheard():
            return self._scores(X)

    def _unheard(self) -> AbstractContextManager[None]:
        return unheard(type(self), f"the adversary {type(self).__name__}")

    @final
    def predict(self, X: Sequence[Bag]) -> list[str]:
        """The label with the highest score for each bag; of equals, one at random."""
        return [self.classes_[index] for index in best_columns(self.decision_function(X), self.seed).tolist()]

    @final
    def score(self, X: Sequence[Bag], y: Sequence[str]) -> float:
        """The share of ``X`` whose predicted label is that in ``y``."""
        return sum(a == b for a, b in zip(self.predict(X), y, strict=True)) / len(y)

    @abstractmethod
    def _learn(self, X: Sequence[Bag], y: Sequence[str]) -> None:
        """Learn; ``classes_`` is set."""

    @abstractmethod
    def _scores(self, X: Sequence[Bag]) -> Float64Array:
        """See `decision_function`; ``X`` is not empty."""


def best_columns(scores: Float64Array, seed: int) -> IndexArray:
    """The column of the highest value in each row; of equals, one at random from ``seed``."""
    lots = seeded_rng(seed).random(scores.shape)
    tied = scores == scores.max(axis=1, keepdims=True)
    return np.asarray(np.where(tied, lots, -1.0).argmax(axis=1), np.int64)
