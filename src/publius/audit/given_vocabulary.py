"""The user's own vocabulary and mechanism: what can be checked where no exact kernel is to be had."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, final

import numpy as np

from publius.arrays import Float64Array, IndexArray
from publius.audit.levels import Level
from publius.audit.nearest import check_own_search
from publius.audit.noise_law import noise_law
from publius.audit.outcomes import Check, Findings, surprise
from publius.audit.tests_of_fit import log_p_pearson
from publius.audit.timing import check_timing
from publius.audit.words import check_ratios_of, word_counts
from publius.distances.metrics import Euclidean
from publius.mechanisms.kernel import Kernel
from publius.mechanisms.kernels.laplace import Laplace
from publius.noise.randomness import Generator, RunKey

_PAIRS: Final = 4
_TIMED_WORDS: Final = 64
_NAME: Final = "the given vocabulary"
_ROUNDING: Final = 1e-9


@final
@dataclass(frozen=True)
class OwnNoise:
    """The noise of a Laplace mechanism as it is drawn in a release."""

    mechanism: Laplace

    @property
    def dimension(self) -> int:
        """N of the vocabulary."""
        return self.mechanism.embeddings.dimension

    @property
    def epsilon(self) -> float:
        """As given."""
        return self.mechanism.epsilon

    def sample(self, rng: Generator, count: int) -> Float64Array:
        """``count`` draws, shape (count, n)."""
        return self.mechanism.noise(count, rng)


def neighboring_pairs(mechanism: Kernel, count: int, key: RunKey) -> IndexArray:
    """``count`` random words, each with the nearest other word at a distance; shape (count, 2)."""
    vectors = mechanism.embeddings.vectors
    chosen = key.rng("own/pairs").integers(0, len(vectors), count)
    distances = mechanism.metric.pairwise(vectors[chosen], vectors)
    distances[distances == 0] = np.inf
    return np.stack([chosen, distances.argmin(axis=1)], axis=1)


def check_own(mechanism: Kernel, level: Level, key: RunKey) -> Findings:
    """Noise law, search, ratio bounds and, where they are stated, probabilities."""
    pairs = neighboring_pairs(mechanism, _PAIRS, key)
    checks = [check_ratios_of(mechanism, pairs, level.own_points, key, _NAME)]
    if isinstance(mechanism, Laplace):
        vectors = mechanism.embeddings.vectors
        search = mechanism.search
        checks.append(check_own_search(lambda points: search.nearest(points), vectors, level.own_points, key))
        if mechanism.metric.name == Euclidean.name:
            draws = max(1000, min(level.draws, 2 * 10**8 // vectors.shape[1]))
            checks += noise_law(OwnNoise(mechanism), draws, key.rng("own/noise"), label=" as given")
    elif hasattr(mechanism, "log_probabilities"):
        checks += _stated(mechanism, pairs, level.own_points, key)
    return Findings(tuple(checks))


def _stated(mechanism: Kernel, pairs: IndexArray, samples: int, key: RunKey) -> list[Check]:
    """The probabilities that a finite mechanism states: within the bound, and those that come out."""
    vectors = mechanism.embeddings.vectors
    excess, worst = -np.inf, 0.0
    for number, pair in enumerate(pairs):
        logs: Float64Array = mechanism.log_probabilities(pair)  # type: ignore[attr-defined]
        bound = mechanism.epsilon * float(
            mechanism.metric.pairwise(vectors[pair[:1]], vectors[pair[1:]])[0, 0]
        )
        excess = max(excess, float(np.abs(logs[0] - logs[1]).max()) - bound)
        counts = word_counts(mechanism, pair, samples, key, f"own/stated/{number}")
        worst = min(worst, *map(log_p_pearson, counts, np.exp(logs) * samples))
    cells = len(pairs) * mechanism.embeddings.size
    return [
        Check(f"stated probabilities on {_NAME}: excess over epsilon*d (nats)", cells, excess, _ROUNDING),
        surprise(f"words against stated probabilities: {_NAME}", samples * pairs.size, worst, pairs.size),
    ]


def check_own_timing(mechanism: Kernel, level: Level, key: RunKey) -> Findings:
    """The time of a release by class of input word."""
    return Findings(tuple(check_timing(mechanism, level.timing_repeats, _TIMED_WORDS, key, _NAME)))
