"""A mechanism as the adversary who knows it sees it: a map of word distributions.

The distribution of an output word, when the input word has the distribution p, is sum_x p(x) K(x): p pushed
through the mechanism. Where K's probabilities are available the push is exact; otherwise they are estimated from
draws of the mechanism that are the adversary's own.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from functools import partial
from typing import final

import numpy as np

from publius.arrays import Float64Array, IndexArray
from publius.mechanisms.kernel import Kernel
from publius.noise.randomness import Generator

LogRows = Callable[[IndexArray], Float64Array]
"""Logarithms of the output probabilities of some input words, shape (words, V)."""

BLOCK_CELLS = 2**23
"""Probabilities held at once: 64 MiB of them."""

DRAWS = 300_000
MOST_DRAWS = 200
FEWEST_DRAWS = 20
"""Draws in all, and the most and the fewest for one input word, where rows have to be estimated."""


class AbstractTransition(ABC):
    """The map p -> sum_x p(x) K(x)."""

    @abstractmethod
    def push(self, distributions: Float64Array, words: IndexArray) -> Float64Array:
        """Output distributions, shape (p, V), of ``distributions``, shape (p, u), over the u inputs ``words``."""


@final
class ExactTransition(AbstractTransition):
    """From the mechanism's own probabilities, a block of rows at a time: never V x V in memory."""

    def __init__(self, log_rows: LogRows, size: int) -> None:
        self._log_rows, self._size = log_rows, size

    def push(self, distributions: Float64Array, words: IndexArray) -> Float64Array:
        """See `AbstractTransition.push`."""
        result = np.zeros((len(distributions), self._size))
        step = max(1, BLOCK_CELLS // self._size)
        for start in range(0, len(words), step):
            rows = np.exp(self._log_rows(words[start : start + step]))
            result += distributions[:, start : start + step] @ rows
        return result


@final
class MechanismTransition(AbstractTransition):
    """From a mechanism that pushes distributions itself, exactly: one pass over the pairs of the vocabulary."""

    def __init__(self, pushed: Callable[[Float64Array], Float64Array], size: int) -> None:
        self._pushed, self._size = pushed, size

    def push(self, distributions: Float64Array, words: IndexArray) -> Float64Array:
        """See `AbstractTransition.push`."""
        whole = np.zeros((len(distributions), self._size))
        for column, word in enumerate(words.tolist()):  # the unknown token may share its place with a word
            whole[:, word] += distributions[:, column]
        return np.asarray(self._pushed(whole))


@final
class EstimatedTransition(AbstractTransition):
    """From draws: what it finds is a lower bound on what an adversary with exact rows would."""

    def __init__(self, mechanism: Kernel, rng: Generator) -> None:
        self._mechanism, self._rng = mechanism, rng

    def push(self, distributions: Float64Array, words: IndexArray) -> Float64Array:
        """See `AbstractTransition.push`."""
        result = np.zeros((len(distributions), self._mechanism.embeddings.size))
        draws = int(np.clip(DRAWS // max(1, len(words)), FEWEST_DRAWS, MOST_DRAWS))
        step = max(1, 8_192 // draws)
        for start in range(0, len(words), step):
            self._add(result, distributions[:, start : start + step], words[start : start + step], draws)
        return result

    def _add(self, result: Float64Array, distributions: Float64Array, words: IndexArray, draws: int) -> None:
        from scipy.sparse import csr_array

        inputs = np.repeat(words, draws)
        outputs = self._mechanism.draw([inputs], [self._rng], threads=1)[0]
        values = np.full(len(inputs), 1 / draws)
        rows = csr_array(
            (values, (np.repeat(np.arange(len(words)), draws), outputs)), (len(words), result.shape[1])
        )
        result += distributions @ rows


def transition_of(mechanism: Kernel, rng: Generator) -> AbstractTransition:
    """Exact where ``mechanism`` gives its probabilities, estimated with ``rng`` otherwise."""
    size = mechanism.embeddings.size
    if pushed := getattr(mechanism, "pushed", None):
        return MechanismTransition(partial(pushed, threads=1), size)
    if log_rows := getattr(mechanism, "log_probabilities", None):
        return ExactTransition(log_rows, size)
    return EstimatedTransition(mechanism, rng)
