"""Koppel, Schler and Argamon 2011, as the paper describes it: many votes, each on half of the character n-grams."""

from __future__ import annotations

from collections.abc import Sequence
from typing import final

import numpy as np
from numpy.typing import NDArray

from publius.arrays import Float64Array
from publius.errors import UsageError
from publius.evaluation.attackers.base import AbstractAttacker, best_columns
from publius.evaluation.features import FeatureCounts, class_sums
from publius.noise.randomness import Generator, seeded_rng
from publius.text.bag import Bag
from publius.text.character_grams import inner_grams


@final
class Koppel(AbstractAttacker):
    """The author whose known words are nearest by cosine in most of many random halves of the features (DRauth).

    Features are the character 4-grams inside words, shorter words whole, the most frequent 20,000 of the known
    texts. In each of 100 rounds a random half of them is used, and the candidate with the largest cosine to the
    text wins; ties, in a round and of rounds, are broken at random from ``seed``. A score is the share of rounds
    won.

    Who has fewer than ``least_words`` words of known text is no candidate (the paper asks for 400); `UsageError` where
    fewer than two are left. By default everybody is one: an adversary who gives up on some is the weaker.

    Words are cut one by one, as in the paper. The public reimplementation of the method joins the words of a test
    text without spaces, which makes n-grams across words that no known text has.
    """

    def __init__(
        self,
        *,
        rounds: int = 100,
        features: int = 20_000,
        share: float = 0.5,
        least_words: int = 0,
        seed: int = 0,
    ) -> None:
        self.rounds, self.features, self.share, self.seed = rounds, features, share, seed
        self.least_words = least_words
        self._candidates = np.zeros(0, np.bool_)
        self._counts = FeatureCounts(inner_grams, features)
        self._profiles = np.zeros((0, 0))

    @property
    def feature_names(self) -> tuple[str, ...]:
        """The features in use, most frequent first."""
        return self._counts.names

    def halves(self) -> NDArray[np.bool_]:
        """Which features each round uses, shape (rounds, features)."""
        return random_subsets(seeded_rng(self.seed), self.rounds, len(self.feature_names), self.share)

    def _learn(self, X: Sequence[Bag], y: Sequence[str]) -> None:
        words = dict.fromkeys(self.classes_, 0)
        for bag, label in zip(X, y, strict=True):
            words[label] += bag.size
        self._candidates = np.array([words[name] >= self.least_words for name in self.classes_])
        if self._candidates.sum() < 2:
            raise UsageError(
                f"{self._candidates.sum()} of {len(words)} candidates have {self.least_words:,} known words or more: "
                "give more text, or ask for fewer words"
            )
        self._counts.fit(X)
        self._profiles = class_sums(self._counts.transform(X), y, self.classes_).toarray()

    def _scores(self, X: Sequence[Bag]) -> Float64Array:
        masks = self.halves().astype(np.float64)
        norms = np.sqrt(masks @ np.square(self._profiles).T)  # (rounds, candidates)
        counts = self._counts.transform(X)
        votes = np.zeros((len(X), len(self.classes_)))
        for row in range(len(X)):
            start, stop = counts.indptr[row], counts.indptr[row + 1]
            places, values = counts.indices[start:stop], counts.data[start:stop]
            products = masks[:, places] @ (self._profiles[:, places] * values).T
            cosines = np.divide(products, norms, out=np.zeros_like(products), where=norms > 0)
            winners = best_columns(np.where(self._candidates, cosines, -np.inf), self.seed + row + 1)
            votes[row] = np.bincount(winners, minlength=len(self.classes_)) / self.rounds
        return np.where(self._candidates, votes, -np.inf)


def random_subsets(rng: Generator, rounds: int, size: int, share: float) -> NDArray[np.bool_]:
    """For each round a uniformly random subset of round(share * size) of ``size``, at least one; (rounds, size)."""
    chosen = max(1, round(share * size))
    order = rng.random((rounds, size)).argpartition(chosen - 1, axis=1)[:, :chosen]
    masks = np.zeros((rounds, size), np.bool_)
    np.put_along_axis(masks, order, True, axis=1)
    return masks
