"""The informed attacker: it knows mechanism and epsilon, and asks under which label the release is likeliest."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final, Self

import numpy as np
from sklearn.feature_extraction.text import CountVectorizer

from publius.arrays import Float64Array, IndexArray
from publius.evaluation.attackers import places_of
from publius.evaluation.attackers.counting import Attacker, class_sums, smoothed_shares
from publius.noise.randomness import Generator

SHARED: Final = 1e-3
"""Weight of the average label in every output distribution: an estimated row may miss words that do occur."""

_CELLS: Final = 2**22
_DRAWS: Final = 150_000
_MOST, _FEWEST = 100, 10
"""Draws in all, and the most and the fewest for one input word, where rows have to be estimated."""


class ExactTransition:
    """From the kernel's own probabilities, a block of rows at a time: never V x V in memory."""

    def __init__(self, kernel: Any) -> None:
        self._kernel, self._size = kernel, kernel.embeddings.size

    def push(self, distributions: Float64Array, words: IndexArray) -> Float64Array:
        """Output distributions, shape (p, V), of ``distributions``, shape (p, u), over the u inputs ``words``."""
        if hasattr(self._kernel, "pushed") and len(words) * 4 > self._size:
            whole = np.zeros((len(distributions), self._size))
            np.add.at(whole.T, words, distributions.T)  # the unknown token may share its place with a word
            return np.asarray(self._kernel.pushed(whole))
        result = np.zeros((len(distributions), self._size))
        step = max(1, _CELLS // self._size)
        for start in range(0, len(words), step):
            rows = np.exp(self._kernel.log_probabilities(words[start : start + step]))
            result += distributions[:, start : start + step] @ rows
        return result

    def sample(self, words: IndexArray, rng: Generator) -> IndexArray:
        """An output word for each of ``words``."""
        return np.asarray(self._kernel.draw([words], [rng], threads=1)[0]) if len(words) else words


class EstimatedTransition:
    """From draws of the attacker's own, kept for all folds: less than who knew the exact rows would find."""

    def __init__(self, kernel: Any, rng: Generator) -> None:
        self._kernel, self._rng = kernel, rng
        self._rows: dict[int, tuple[IndexArray, IndexArray]] = {}

    def push(self, distributions: Float64Array, words: IndexArray) -> Float64Array:
        """Output distributions, shape (p, V), of ``distributions``, shape (p, u), over the u inputs ``words``."""
        from scipy.sparse import csr_array

        self.prepare(words)
        held = [self._rows[word] for word in words.tolist()]
        ends = np.cumsum([0, *(len(places) for places, _ in held)])
        values = np.concatenate([counts / counts.sum() for _, counts in held])
        rows = csr_array(
            (values, np.concatenate([places for places, _ in held]), ends), (len(words), self._kernel.embeddings.size)
        )
        return np.asarray((rows.T @ distributions.T).T)

    def sample(self, words: IndexArray, rng: Generator) -> IndexArray:
        """An output word for each: of the draws that there are, which is as good as new ones and costs no search."""
        self.prepare(words)
        lots = rng.random(len(words))
        rows = (np.repeat(*self._rows[word]) for word in words.tolist())
        return np.array([row[int(lot * len(row))] for row, lot in zip(rows, lots, strict=True)], np.int64)

    def prepare(self, words: IndexArray) -> None:
        """Draw what these input words need and was not drawn yet."""
        new = [word for word in dict.fromkeys(words.tolist()) if word not in self._rows]
        draws = int(np.clip(_DRAWS // max(1, len(new)), _FEWEST, _MOST))
        step = max(1, 8_192 // draws)
        for start in range(0, len(new), step):
            some = np.array(new[start : start + step], np.int64)
            outputs = self._kernel.draw([np.repeat(some, draws)], [self._rng], threads=1)[0]
            for word, row in zip(some.tolist(), outputs.reshape(-1, draws), strict=True):
                self._rows[word] = np.unique(row, return_counts=True)


Transition = ExactTransition | EstimatedTransition
"""A kernel as the attacker who knows it sees it: the map p -> sum_x p(x) K(x) of word distributions."""


def transition_of(kernel: Any, rng: Generator) -> Transition:
    """Exact where the kernel gives its probabilities, estimated with ``rng`` otherwise."""
    if hasattr(kernel, "log_probabilities"):
        return ExactTransition(kernel)
    return EstimatedTransition(kernel, rng)


class Informed(Attacker):
    """Likelihood of a released bag under each label's word distribution pushed through the mechanism.

    Fitted on clear texts, it computes what no attacker that only looks at releases can. Words that
    an experiment lets through unchanged are compared as they stand.
    """

    is_likelihood = True

    def __init__(self, transition: Any = None, embeddings: Any = None, prior_words: float = 300.0) -> None:
        self.transition, self.embeddings, self.prior_words = transition, embeddings, prior_words

    def fit(self, texts: Sequence[str], labels: Sequence[str]) -> Self:
        """Push each label's word distribution through the mechanism."""
        counter = CountVectorizer(analyzer=str.split, dtype=np.float64)
        counts = counter.fit_transform(texts)
        names = counter.get_feature_names_out().tolist()
        self.classes_, rows = np.unique(labels, return_inverse=True)
        shares = smoothed_shares(class_sums(counts, rows), self.prior_words)
        places = np.array([-1 if place is None else place for place in places_of(names, self.embeddings)])
        inside, outside = np.flatnonzero(places >= 0), np.flatnonzero(places < 0)
        self.passed_ = {names[at]: self.embeddings.size + column for column, at in enumerate(outside.tolist())}
        pushed = self.transition.push(np.ascontiguousarray(shares[:, inside]), places[inside])
        outputs = np.concatenate([pushed, shares[:, outside]], axis=1)
        average = outputs.mean(axis=0)
        mixed = (1 - SHARED) * outputs + SHARED * average
        # A word that no label can give has the same, negligible, probability under each: it decides nothing.
        self.log_shares_ = np.log(np.where(average > 0, mixed, 1.0))
        return self

    def decision_function(self, texts: Sequence[str]) -> Float64Array:
        """Ln of the likelihood of each bag under each label."""
        scores = np.zeros((len(texts), len(self.classes_)))
        for row, text in enumerate(texts):
            words = text.split()
            placed = places_of(words, self.embeddings)
            columns = [self.passed_.get(word) if p is None else p for word, p in zip(words, placed, strict=True)]
            found = np.array([column for column in columns if column is not None], np.int64)
            scores[row] = self.log_shares_[:, found].sum(axis=1)
        return scores
