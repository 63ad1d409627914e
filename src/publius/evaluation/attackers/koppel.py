"""Koppel, Schler and Argamon 2011, as the paper describes it: many votes, each on half of the character n-grams."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from publius.arrays import Float64Array
from publius.errors import UsageError
from publius.evaluation.attackers import naming
from publius.evaluation.attackers.likelihood import class_sums
from publius.evaluation.attackers.linear import Attacker
from publius.noise.randomness import Generator, seeded_rng


def inner_grams(word: str) -> list[str]:
    """The character 4-grams inside a word; a shorter word whole."""
    return [word] if len(word) < 4 else [word[start : start + 4] for start in range(len(word) - 3)]


class Koppel(Attacker):
    """The author whose known words are nearest by cosine in most of many random halves of the features (DRauth).

    Features are the character 4-grams inside words, the most frequent 20,000 of the known texts. In each of 100 rounds a
    random half of them is used, and the author with the largest cosine wins; of equals each gets a part of the round. A score
    is the share of rounds won. Who has fewer than ``least_words`` known words is no candidate (the paper asks for 400, which
    is judged by the texts before they are cut); by default everybody is one: who gives up on some is the weaker attacker.
    """

    takes_lengths = True

    def __init__(
        self, rounds: int = 100, features: int = 20_000, share: float = 0.5, least_words: int = 0, seed: int = 0
    ) -> None:
        self.rounds, self.features, self.share, self.least_words, self.seed = (
            rounds, features, share, least_words, seed,
        )  # fmt: skip

    def fit(self, texts: Sequence[str], labels: Sequence[str], lengths: Sequence[int] | None = None) -> Self:
        """Count the n-grams of each author; `UsageError` where fewer than two have ``least_words``."""
        self.classes_ = np.array(sorted(set(labels)))
        words = known_words(labels, [len(text.split()) for text in texts] if lengths is None else lengths)
        self.candidates_ = np.array([words[name] >= self.least_words for name in self.classes_])
        if self.candidates_.sum() < 2:
            raise too_few(int(self.candidates_.sum()), len(words), self.least_words)
        counted = [_grams(text) for text in texts]
        totals: Counter[str] = Counter()
        for each in counted:
            totals.update(each)
        ranked = sorted(totals, key=lambda piece: (-totals[piece], piece))[: self.features]
        self.columns_ = {name: column for column, name in enumerate(ranked)}
        self.profiles_ = class_sums(self._counts(counted), labels, self.classes_)
        self.halves_ = random_subsets(seeded_rng(self.seed), self.rounds, len(ranked), self.share)
        return self

    def decision_function(self, texts: Sequence[str]) -> Float64Array:
        """The share of rounds that each author wins, shape (n, authors); minus infinity for who is no candidate."""
        masks = self.halves_.astype(np.float32)
        norms = np.sqrt(masks @ np.square(self.profiles_).T.astype(np.float32)).astype(np.float64)
        counts = self._counts([_grams(text) for text in texts])
        votes = np.zeros((len(texts), len(self.classes_)))
        for row in range(len(texts)):
            start, stop = counts.indptr[row], counts.indptr[row + 1]
            places, values = counts.indices[start:stop], counts.data[start:stop]
            products = masks[:, places].astype(np.float64) @ (self.profiles_[:, places] * values).T
            cosines = np.divide(products, norms, out=np.zeros_like(products), where=norms > 0)
            votes[row] = naming(np.where(self.candidates_, cosines, -np.inf)).mean(axis=0)
        return np.where(self.candidates_, votes, -np.inf)

    def _counts(self, counted: Sequence[Counter[str]]) -> Any:
        from scipy.sparse import csr_array

        found = [[(self.columns_[p], n) for p, n in each.items() if p in self.columns_] for each in counted]
        ends = np.cumsum([0, *map(len, found)])
        columns = np.array([column for each in found for column, _ in each], np.int64)
        values = np.array([count for each in found for _, count in each], np.float64)
        return csr_array((values, columns, ends), (len(counted), len(self.columns_)))


def known_words(labels: Sequence[str], lengths: Sequence[int]) -> Counter[str]:
    """How many known words each author has."""
    words: Counter[str] = Counter()
    for label, length in zip(labels, lengths, strict=True):
        words[label] += length
    return words


def too_few(found: int, authors: int, least: int) -> UsageError:
    """The refusal of ``least`` known words where fewer than two authors have them."""
    return UsageError(f"{found} of {authors} authors have {least:,} known words or more. Use a smaller least_words.")


def random_subsets(rng: Generator, rounds: int, size: int, share: float) -> NDArray[np.bool_]:
    """For each round a uniformly random subset of round(share * size) of ``size``, at least one; (rounds, size)."""
    chosen = max(1, round(share * size))
    order = rng.random((rounds, size)).argpartition(chosen - 1, axis=1)[:, :chosen]
    masks = np.zeros((rounds, size), np.bool_)
    np.put_along_axis(masks, order, True, axis=1)
    return masks


def _grams(text: str) -> Counter[str]:
    grams: Counter[str] = Counter()
    for word, count in Counter(text.split()).items():
        for gram in inner_grams(word):
            grams[gram] += count
    return grams
