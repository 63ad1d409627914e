"""The effect of a mechanism on one public word: likely outputs, staying, effective support.

Exact where output probabilities are available, simulated with an interval where not. Words given here are public
examples; nothing of a document is looked at.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, final

import numpy as np

from publius.arrays import Float64Array, IndexArray
from publius.errors import UsageError
from publius.mechanisms.kernel import AbstractExact, Kernel
from publius.noise.randomness import Generator, system_rng

DRAWS = 20_000
REMAINDER = 0.01  # the effective support leaves out at most this probability
_CONFIDENCE = 0.99
_BLOCK_DRAWS = 4096
_BLOCK = 8192


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
        """As printed by ``publius words --json``."""
        outputs = [vars(output) for output in self.outputs]
        interval = {} if self.draws is None else {"stay_low": self.stay_low, "stay_high": self.stay_high}
        return {
            "word": self.word,
            "stay": self.stay,
            **interval,
            "support": self.support,
            "expected_distance": self.expected_distance,
            "exact": self.draws is None,
            "draws": self.draws,
            "outputs": outputs,
        }


def outcomes(
    mechanism: Kernel, word: str, *, count: int = 10, draws: int = DRAWS, rng: Generator | None = None
) -> WordOutcomes:
    """The outputs of a mechanism for the public ``word``; `UsageError` when it is not in the vocabulary."""
    index = mechanism.embeddings.index(word)
    if index is None:
        raise UsageError(
            f"{word!r} is not in the vocabulary {mechanism.embeddings.name!r}: it would become the unknown token, "
            f"which stands at {mechanism.embeddings.word(mechanism.embeddings.unknown_index)!r}"
        )
    if isinstance(mechanism, AbstractExact):
        row = np.exp(mechanism.log_probabilities(np.array([index]))[0])
        return _outcomes(mechanism, index, row / row.sum(), count, None)
    row = _frequencies(mechanism, index, draws, rng or system_rng())
    return _outcomes(mechanism, index, row, count, draws)


def _outcomes(
    mechanism: Kernel, index: int, row: Float64Array, count: int, draws: int | None
) -> WordOutcomes:
    embeddings = mechanism.embeddings
    order = np.argsort(-row, kind="stable")
    reached = order[row[order] > 0]
    distances = np.zeros(len(row))
    distances[reached] = mechanism.metric.pairwise(embeddings.vectors[[index]], embeddings.vectors[reached])[
        0
    ]
    support = 1 + int(np.searchsorted(np.cumsum(row[order]), 1 - REMAINDER))
    stay = float(row[index])
    low, high = (stay, stay) if draws is None else binomial_interval(round(stay * draws), draws)
    likely = tuple(
        LikelyWord(embeddings.word(i), float(row[i]), float(distances[i])) for i in reached[:count].tolist()
    )
    return WordOutcomes(
        embeddings.word(index),
        stay,
        low,
        high,
        min(support, len(reached)),
        float(row @ distances),
        likely,
        draws,
    )


def _frequencies(mechanism: Kernel, index: int, draws: int, rng: Generator) -> Float64Array:
    counts = np.zeros(mechanism.embeddings.size)
    for start in range(0, draws, _BLOCK_DRAWS):
        words = np.full(min(_BLOCK_DRAWS, draws - start), index)
        found, times = np.unique(mechanism.draw([words], [rng])[0], return_counts=True)
        counts[found] += times
    return np.asarray(counts / draws)


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


def distortion(
    mechanism: Kernel, words: IndexArray, *, draws: int = 20, rng: Generator | None = None
) -> Distortion:
    """Exact where output probabilities are available, from ``draws`` draws a word where not."""
    if isinstance(mechanism, AbstractExact):
        words = np.asarray(words, np.int64)
        vectors, metric = mechanism.embeddings.vectors, mechanism.metric
        return expected_distortion(
            words,
            lambda part: mechanism.log_probabilities(words[part]),
            lambda part: metric.pairwise(vectors[words[part]], vectors),
        )
    rng = rng or system_rng()
    repeated = np.tile(np.asarray(words, np.int64), draws)
    changed, total = 0, 0.0
    for start in range(0, len(repeated), _BLOCK_DRAWS):
        block = repeated[start : start + _BLOCK_DRAWS]
        found = mechanism.draw([block], [rng])[0]
        moved = np.flatnonzero(found != block)
        changed += len(moved)
        total += displacement(mechanism, block[moved], found[moved])
    return Distortion(1 - changed / len(repeated), total / len(repeated))


def displacement(mechanism: Kernel, words: IndexArray, outputs: IndexArray) -> float:
    """Sum of d(word, output) over pairs of words."""
    vectors = mechanism.embeddings.vectors
    return float(mechanism.metric.paired(vectors[words], vectors[outputs]).sum())


def expected_distortion(
    words: IndexArray, rows: Callable[[slice], Float64Array], distances: Callable[[slice], Float64Array]
) -> Distortion:
    """From exact rows, a few at a time.

    ``rows`` gives the log-probabilities of a part of ``words``, ``distances`` their distances to all, shape (words, V).
    """
    stay, distance = [], []
    for start in range(0, len(words), 16):
        part = slice(start, start + 16)
        probabilities = np.exp(rows(part))
        stay += probabilities[np.arange(len(probabilities)), words[part]].tolist()
        distance += np.einsum("ij,ij->i", probabilities, distances(part)).tolist()
    return Distortion(float(np.mean(stay)), float(np.mean(distance)))
