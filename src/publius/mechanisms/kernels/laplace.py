"""The paper's mechanism: n-dimensional Laplace noise, then the nearest word (Algorithms 1 and 2)."""

from __future__ import annotations

from functools import cached_property
from typing import Any, ClassVar, final

from publius.arrays import Float64Array, FloatArray, IndexArray
from publius.embeddings.nearest import NearestWords
from publius.mechanisms.kernel import Kernel
from publius.noise.laplace import AbstractNoise, noise_for
from publius.noise.randomness import Generator
from publius.privacy.guarantee import Guarantee


class NoisyWords(Kernel):
    """Noise on a word's vector, then a search that sees the noisy vector only: post-processing."""

    searcher: ClassVar[Any] = NearestWords

    def _prepare(self) -> None:
        self._noise, self._delta = self._made_noise()

    def _made_noise(self) -> tuple[AbstractNoise, float]:
        """The noise, and the delta of its sampler on the vocabulary."""
        noise = noise_for(self.metric.name, self.embeddings.dimension, self.epsilon)
        return noise, noise.vocabulary_delta(self.embeddings.vectors)

    def at(self, epsilon: float) -> Kernel:
        """See `Kernel.at`; with the same search."""
        other = super().at(epsilon)
        other.search = self.search
        return other

    @property
    def guarantee(self) -> Guarantee:
        """See `Kernel.guarantee`; proven, whatever follows the noise."""
        return Guarantee(self.epsilon, self.metric.name, "proven", self._delta)

    @property
    def points(self) -> FloatArray:
        """What noise is added to, and the words are searched among: a row a word."""
        return self.embeddings.vectors

    @cached_property
    def search(self) -> Any:
        """The search over the vocabulary, built at first use."""
        return self.searcher(self.points)

    def noise(self, count: int, rng: Generator) -> Float64Array:
        """See `Kernel.noise`; shape (count, n)."""
        return self._noise.sample(rng, count)

    def apply(self, words: IndexArray, noise: Float64Array, *, threads: int = 1) -> IndexArray:
        """See `Kernel.apply`: the nearest word to point + noise."""
        found: IndexArray = self.search.nearest(self.points[words] + noise, threads=threads)
        return found

    def __getstate__(self) -> dict[str, object]:
        """Without the search and what it was built on: a worker builds its own from the memory-mapped vectors."""
        return {name: value for name, value in self.__dict__.items() if name not in ("search", "points")}


@final
class Laplace(NoisyWords):
    """The paper's: adds Laplace noise to a word's vector and takes the word nearest to the result.

    epsilon*d-private for the metric's d by the paper's Algorithm 1 (Euclidean) or coordinate by coordinate
    (Manhattan). The nearest-word step is Euclidean for both.

    >>> import publius
    >>> toy = publius.Embeddings.from_arrays(["north", "south"], [[0.0], [1.0]], name="toy")
    >>> publius.Laplace(toy, epsilon=2.0).guarantee.map(0.5)
    1.0
    """

    name = "laplace"
