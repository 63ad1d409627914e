"""Naming the document behind a release where the mechanism's probabilities are not available, only its draws.

How likely word w is to come from word x is modelled by their distance: exp(-t d^p). The adversary tries shapes and
widths on releases that it makes itself of the candidates, whose texts it holds, and keeps what works best there. A
factor that belongs to w alone is the same for every candidate, so it is left out.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, final

import numpy as np

from publius.arrays import Float64Array, IndexArray
from publius.evaluation.attackers.base import best_columns
from publius.mechanisms.kernel import Kernel
from publius.noise.randomness import Generator

TRIED_ON: Final = 20
"""Candidates, at most, whose releases are made to choose a kernel."""

Decay = tuple[int, float]
"""The power p of the distance and the factor t."""


@final
class DistanceAttack:
    """Scores of candidate documents for released bags, from distances between words."""

    def __init__(self, mechanism: Kernel, documents: Sequence[IndexArray], rng: Generator) -> None:
        self._mechanism, self._documents = mechanism, documents
        self.kernel = self._chosen(rng)

    def scores(self, released: Sequence[IndexArray]) -> Float64Array:
        """Log likelihoods but for a constant of each bag, shape (bags, candidates)."""
        return self._scores(released, self._documents, [self.kernel])[0]

    def _chosen(self, rng: Generator) -> Decay:
        places = rng.permutation(len(self._documents))[:TRIED_ON]
        documents = [self._documents[place] for place in places.tolist()]
        mechanism = self._mechanism
        released = mechanism.draw(documents, [rng] * len(documents), threads=1)
        kernels = _kernels(mechanism)
        found = self._scores(released, documents, kernels)
        truth = np.arange(len(documents))
        right = [(best_columns(scores, 0) == truth).mean() for scores in found]
        return kernels[int(np.argmax(right))]

    def _scores(
        self, released: Sequence[IndexArray], documents: Sequence[IndexArray], kernels: Sequence[Decay]
    ) -> list[Float64Array]:
        from scipy.sparse import csr_array

        seen, columns = np.unique(np.concatenate(list(released)), return_inverse=True)
        rows = np.repeat(np.arange(len(released)), [len(bag) for bag in released])
        counts = csr_array((np.ones(len(rows)), (rows, columns)), (len(released), len(seen)))
        vectors, metric = self._mechanism.embeddings.vectors, self._mechanism.metric
        scores = [np.zeros((len(released), len(documents))) for _ in kernels]
        for column, document in enumerate(documents):
            words, times = np.unique(document, return_counts=True)
            distances = metric.pairwise(vectors[seen], vectors[words])
            for table, (power, factor) in zip(scores, kernels, strict=True):
                table[:, column] = counts @ _log_mixture(-factor * distances**power, times)
        return scores


def _log_mixture(logs: Float64Array, times: IndexArray) -> Float64Array:
    """Ln of the mean over the words of a document, each so many ``times`` in it, of exp(``logs``)."""
    most = logs.max(axis=1)
    return np.asarray(most + np.log(np.exp(logs - most[:, None]) @ (times / times.sum())))


def _kernels(mechanism: Kernel) -> list[Decay]:
    """Exponential ones round epsilon, and Gaussian ones round the variance (n + 1) / epsilon^2 of a coordinate."""
    epsilon, dimension = mechanism.epsilon, mechanism.embeddings.dimension
    width = epsilon**2 / (2 * (dimension + 1))
    return [(1, epsilon * part) for part in (1.5, 1.0, 0.6, 0.3)] + [(2, width * part) for part in (1.0, 4.0)]
