"""The paper's mechanism: n-dimensional Laplace noise, then the nearest word (Algorithms 1 and 2)."""

from __future__ import annotations

from collections.abc import Iterable
from typing import final

import numpy as np

from publius.arrays import Float64Array, FloatArray, IndexArray
from publius.embeddings.embeddings import Embeddings
from publius.embeddings.nearest import NearestWords
from publius.errors import DataError
from publius.mechanisms.kernel import Kernel
from publius.noise.laplace import checked_epsilon, noise_for
from publius.noise.randomness import Generator, system_rng
from publius.privacy.guarantee import Bound, Guarantee, laplace_delta, total_exponent
from publius.settings import EUCLIDEAN


@final
class Laplace(Kernel):
    """The paper's: adds Laplace noise to a word's vector and takes the word nearest to the result.

    epsilon*d-private for the metric's d by the paper's Algorithm 1 (Euclidean) or coordinate by coordinate
    (Manhattan). The nearest-word step is Euclidean for both and sees the noisy vector only: post-processing.
    """

    name = "laplace"

    def __init__(self, embeddings: Embeddings, *, epsilon: float, metric: str = EUCLIDEAN) -> None:
        """Take the public ``embeddings`` and ``epsilon`` per unit of ``metric``."""
        super().__init__(embeddings, epsilon=epsilon, metric=metric)
        self._search: NearestWords | None = None
        self._make_noise()

    def _make_noise(self) -> None:
        self._noise = noise_for(self.metric.name, self.embeddings.dimension, self.epsilon)
        delta = self._noise.vocabulary_delta(self.embeddings.vectors)
        self._guarantee = Guarantee(self.epsilon, self.metric.name, "proven", delta)

    def at(self, epsilon: float) -> Laplace:
        """See `Kernel.at`; with the same search."""
        other = object.__new__(Laplace)
        kept = {"chosen", "embeddings", "metric"}
        other.__dict__.update({key: value for key, value in self.__dict__.items() if key in kept})
        other._search = self.search
        other.epsilon = checked_epsilon(epsilon)
        other._make_noise()
        return other

    @property
    def utility_dimension(self) -> int | None:
        """See `Kernel.utility_dimension`; the nearest word is at most as far as the input, in Euclid's."""
        return self.embeddings.dimension if self.metric.name == EUCLIDEAN else None

    @property
    def guarantee(self) -> Guarantee:
        """See `Kernel.guarantee`; proven."""
        return self._guarantee

    def noise(self, count: int, rng: Generator) -> Float64Array:
        """See `Kernel.noise`; shape (count, n)."""
        return self._noise.sample(rng, count)

    def apply(self, words: IndexArray, noise: Float64Array, *, threads: int = 1) -> IndexArray:
        """See `Kernel.apply`: the nearest word to vector + noise."""
        return self.search.nearest(self.embeddings.vectors[words] + noise, threads=threads)

    def randomize_vectors(self, vectors: FloatArray, rng: Generator | None = None) -> Float64Array:
        """Algorithm 1 on an array of shape (N, n): each row plus independent noise, for data that is not text.

        The rows lie on the public grid of `AbstractNoise.grid`: a float that is not rounded betrays what it was made
        of. What is promised, the cost of the grid counted, says `vectors_bound`. Vectors beyond 2^51 steps of the
        grid are clamped. The result keeps the rows' order, so the exponents of the rows add up; shuffle or sort
        the rows to release it as a bag. `DataError` for an array that does not fit.
        """
        array = np.asarray(vectors, np.float64)
        if array.ndim != 2 or array.shape[1] != self.embeddings.dimension:
            raise DataError(f"expected an array of shape (N, {self.embeddings.dimension}), not {array.shape}")
        if not np.isfinite(array).all():
            raise DataError("the array holds a value that is not finite")
        return self._noise.grid.sum(array, self.noise(len(array), rng if rng is not None else system_rng()))

    def vectors_bound(self, distances: Iterable[float]) -> Bound:
        """The bound of `randomize_vectors` between two arrays whose rows are at ``distances`` in the metric.

        The exponent is the sum of epsilon*d + `publius.noise.grid.Grid.loss` over the rows, which is derived there,
        under the assumption about the sampler that stands there. Both numbers are rounded up.
        """
        rows = list(distances)
        exponents = [self.guarantee.map(distance) for distance in rows]
        loss = self._noise.grid.loss
        reached = [(1.0, exponent + 1) for exponent in exponents]
        delta = laplace_delta(self.metric.name, self.embeddings.dimension, reached)
        return Bound(total_exponent([*exponents, *[loss] * len(rows)]), delta)

    @property
    def search(self) -> NearestWords:
        """The nearest-word search over the vocabulary, built at first use."""
        if self._search is None:
            self._search = NearestWords(self.embeddings.vectors)
        return self._search

    def __getstate__(self) -> dict[str, object]:
        """Without the search: a worker builds its own from the memory-mapped vectors."""
        return {**self.__dict__, "_search": None}
