"""The effect of a mechanism on one public word: likely outputs, staying, effective support.

Exact where output probabilities are available, simulated with an interval where not. Words given here are public
examples; nothing of a document is looked at.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, final

import numpy as np

from publius.arrays import IndexArray
from publius.errors import UsageError
from publius.mechanisms.kernel import AbstractExact, Kernel
from publius.noise.randomness import Generator, system_rng

DRAWS = 20_000
REMAINDER = 0.01  # the effective support leaves out at most this probability
_CONFIDENCE = 0.99
_BLOCK_DRAWS = 4096
_ROWS = 16


@final
@dataclass(frozen=True)
class LikelyWord:
    """A likely output of a word: its probability and its distance from the word in the mechanism's metric."""

    word: str
    probability: float
    distance: float


@final
@dataclass(frozen=True)
class WordOutcomes:
    """The distribution of outputs for a word.

    Attributes:
        word: the input.
        stay: N_w, the probability of the word itself.
        stay_low: lower end of a 99 % interval of ``stay`` (Clopper and Pearson); ``stay`` itself where exact.
        stay_high: its upper end.
        support: S_w, the least number of words with probability at least 0.99 together. From draws: of the words
            drawn, so a lower bound.
        expected_distance: mean d(word, output).
        outputs: the likeliest outputs, likeliest first.
        draws: None where exact.
    """

    word: str
    stay: float
    stay_low: float
    stay_high: float
    support: int
    expected_distance: float
    outputs: tuple[LikelyWord, ...]
    draws: int | None

    def record(self) -> dict[str, Any]:
        """As ``publius explain --word --json`` prints it: an interval where it was drawn."""
        exact = self.draws is None
        left_out = ("stay_low", "stay_high") if exact else ()
        facts = {name: value for name, value in vars(self).items() if name not in left_out}
        return {**facts, "exact": exact, "outputs": [vars(output) for output in self.outputs]}


def outcomes(
    mechanism: Kernel, word: str, *, count: int = 10, draws: int = DRAWS, rng: Generator | None = None
) -> WordOutcomes:
    """The outputs of a mechanism for the public ``word``; `UsageError` when it is not in the vocabulary."""
    embeddings = mechanism.embeddings
    index = embeddings.index(word)
    if index is None:
        raise UsageError(
            f"{word!r} is not in the vocabulary {embeddings.name!r}: it would become the unknown token, which stands at "
            f"{embeddings.word(embeddings.unknown_index)!r}"
        )
    exact = isinstance(mechanism, AbstractExact)
    if isinstance(mechanism, AbstractExact):
        row = np.exp(mechanism.log_probabilities(np.array([index]))[0])
        row /= row.sum()
    else:
        row, rng = np.zeros(embeddings.size), rng or system_rng()
        for start in range(0, draws, _BLOCK_DRAWS):
            words = np.full(min(_BLOCK_DRAWS, draws - start), index)
            found, times = np.unique(mechanism.draw([words], [rng])[0], return_counts=True)
            row[found] += times
        row /= draws
    order = np.argsort(-row, kind="stable")
    reached = order[row[order] > 0]
    far = np.zeros(len(row))
    far[reached] = mechanism.metric.pairwise(embeddings.vectors[[index]], embeddings.vectors[reached])[0]
    support = min(1 + int(np.searchsorted(np.cumsum(row[order]), 1 - REMAINDER)), len(reached))
    stay = float(row[index])
    low, high = (stay, stay) if exact else binomial_interval(round(stay * draws), draws)
    likely = [LikelyWord(embeddings.word(i), float(row[i]), float(far[i])) for i in reached[:count].tolist()]
    drawn = None if exact else draws
    return WordOutcomes(embeddings.word(index), stay, low, high, support, float(row @ far), tuple(likely), drawn)


def binomial_interval(successes: int, trials: int, confidence: float = _CONFIDENCE) -> tuple[float, float]:
    """The Clopper-Pearson interval of a probability."""
    from scipy.special import betaincinv  # beta.ppf, without an import of 0.7 s

    tail = (1 - confidence) / 2
    low = betaincinv(successes, trials - successes + 1, tail) if successes else 0.0
    high = betaincinv(successes + 1, trials - successes, 1 - tail) if successes < trials else 1.0
    return float(low), float(high)


@final
@dataclass(frozen=True)
class Distortion:
    """The average effect of a mechanism on a list of public words.

    Attributes:
        unchanged: share that stays.
        mean_distance: mean of d(word, output).
    """

    unchanged: float
    mean_distance: float


def distortion(mechanism: Kernel, words: IndexArray, *, draws: int = 20, rng: Generator | None = None) -> Distortion:
    """Exact where output probabilities are available, from ``draws`` draws a word where not."""
    vectors, metric = mechanism.embeddings.vectors, mechanism.metric
    words = np.asarray(words, np.int64)
    stayed, moved_by = 0.0, 0.0
    if isinstance(mechanism, AbstractExact):
        for start in range(0, len(words), _ROWS):
            part = words[start : start + _ROWS]
            chances = np.exp(mechanism.log_probabilities(part))
            stayed += float(chances[np.arange(len(part)), part].sum())
            moved_by += float(np.einsum("ij,ij->", chances, metric.pairwise(vectors[part], vectors)))
        return Distortion(stayed / len(words), moved_by / len(words))
    rng, repeated = rng or system_rng(), np.tile(words, draws)
    for start in range(0, len(repeated), _BLOCK_DRAWS):
        block = repeated[start : start + _BLOCK_DRAWS]
        found = mechanism.draw([block], [rng])[0]
        moved = np.flatnonzero(found != block)
        stayed += len(block) - len(moved)
        moved_by += float(metric.paired(vectors[block[moved]], vectors[found[moved]]).sum())
    return Distortion(stayed / len(repeated), moved_by / len(repeated))
