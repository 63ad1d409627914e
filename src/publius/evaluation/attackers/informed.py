"""The informed adversary: it knows mechanism and epsilon, and asks under which label the release is likeliest."""

from __future__ import annotations

from collections.abc import Sequence
from typing import final

import numpy as np

from publius.arrays import Float64Array
from publius.evaluation.attackers.base import AbstractAttacker
from publius.evaluation.attackers.likelihood import smoothed_shares
from publius.evaluation.features import FeatureCounts, class_sums
from publius.evaluation.transition import AbstractTransition
from publius.text.bag import UNKNOWN, Bag
from publius.vectors.embeddings import Embeddings

PRIOR_WORDS = 300.0
SHARED = 1e-3
"""Weight of the average label in every output distribution: an estimated row may miss words that do occur."""


@final
class Informed(AbstractAttacker):
    """Likelihood of a released bag under each label's word distribution pushed through the mechanism.

    Fitted on clean texts, it computes what no adversary that only looks at releases can: for a label with the word
    distribution p, the distribution sum_x p(x) K(x) of a released word (docs/theory.md section 6). Words that an
    experiment lets through unchanged are compared as they stand.
    """

    def __init__(
        self,
        transition: AbstractTransition,
        embeddings: Embeddings,
        *,
        prior_words: float = PRIOR_WORDS,
        seed: int = 0,
    ) -> None:
        self._transition, self._embeddings = transition, embeddings
        self.prior_words, self.seed = prior_words, seed
        self._log_shares = np.zeros((0, 0))
        self._passed: dict[str, int] = {}

    def _learn(self, X: Sequence[Bag], y: Sequence[str]) -> None:
        counts = FeatureCounts().fit(X)
        shares = smoothed_shares(class_sums(counts.transform(X), y, self.classes_), self.prior_words)
        places = np.array([self._place(name) for name in counts.names], np.int64)
        inside = np.flatnonzero(places >= 0)
        outside = np.flatnonzero(places < 0)
        size = self._embeddings.size
        self._passed = {counts.names[at]: size + column for column, at in enumerate(outside.tolist())}
        pushed = self._transition.push(np.ascontiguousarray(shares[:, inside]), places[inside])
        outputs = np.concatenate([pushed, shares[:, outside]], axis=1)
        average = outputs.mean(axis=0)
        mixed = (1 - SHARED) * outputs + SHARED * average
        # A word that no label can give has the same, negligible, probability under each: it decides nothing.
        self._log_shares = np.log(np.where(average > 0, mixed, 1.0))

    def _scores(self, X: Sequence[Bag]) -> Float64Array:
        scores = np.zeros((len(X), len(self.classes_)))
        for row, bag in enumerate(X):
            columns = [self._column(word) for word in bag.counts]
            counts = np.array(
                [count for count, c in zip(bag.counts.values(), columns, strict=True) if c is not None]
            )
            found = np.array([column for column in columns if column is not None], np.int64)
            if len(found):
                scores[row] = self._log_shares[:, found] @ counts
        return scores

    def _place(self, word: str) -> int:
        place = self._embeddings.unknown_index if word == UNKNOWN else self._embeddings.index(word)
        return -1 if place is None else place

    def _column(self, word: str) -> int | None:
        place = self._embeddings.index(word)
        return self._passed.get(word) if place is None else place
