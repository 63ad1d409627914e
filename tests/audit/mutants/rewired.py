"""A Laplace mechanism with one wire moved: its noise, its search, or what it does with the input word."""

from __future__ import annotations

from collections.abc import Callable
from typing import final

import numpy as np

from publius.arrays import Float64Array, FloatArray, IndexArray
from publius.audit.implementation import Search
from publius.mechanisms.kernel import Kernel
from publius.mechanisms.kernels.laplace import Laplace
from publius.noise.laplace import AbstractNoise
from publius.noise.randomness import Generator
from publius.privacy.guarantee import Guarantee
from publius.vectors.embeddings import Embeddings

Draw = Callable[[Laplace, int, Generator], Float64Array]
Map = Callable[[Laplace, IndexArray, Float64Array], IndexArray]


@final
class Rewired(Kernel):
    """Claims what ``inner`` claims and does something else."""

    name = Laplace.name

    def __init__(self, inner: Laplace, draw: Draw = Laplace.noise, map: Map = Laplace.apply) -> None:
        self.embeddings, self.metric, self.epsilon = inner.embeddings, inner.metric, inner.epsilon
        self.chosen = inner.chosen
        self._inner, self._draw, self._map = inner, draw, map

    @property
    def guarantee(self) -> Guarantee:
        """See `Kernel.guarantee`: the claim."""
        return self._inner.guarantee

    def noise(self, count: int, rng: Generator) -> Float64Array:
        """See `Kernel.noise`."""
        return self._draw(self._inner, count, rng)

    def apply(self, words: IndexArray, noise: Float64Array, *, threads: int = 1) -> IndexArray:
        """See `Kernel.apply`."""
        return self._map(self._inner, words, noise)


Maker = Callable[[Embeddings, float], Kernel]


def with_draw(draw: Draw) -> Maker:
    """Mechanisms whose noise is ``draw``."""
    return lambda embeddings, epsilon: Rewired(Laplace(embeddings, epsilon=epsilon), draw=draw)


def with_map(map: Map) -> Maker:
    """Mechanisms whose deterministic part is ``map``."""
    return lambda embeddings, epsilon: Rewired(Laplace(embeddings, epsilon=epsilon), map=map)


def with_noise(law: Callable[[int, float], AbstractNoise]) -> Maker:
    """Mechanisms whose noise has this law."""
    return with_draw(
        lambda inner, count, rng: law(inner.embeddings.dimension, inner.epsilon).sample(rng, count)
    )


def with_search(search: Callable[[FloatArray], Search]) -> Maker:
    """Mechanisms that look for the nearest word with ``search``."""
    return with_map(
        lambda inner, words, noise: search(inner.embeddings.vectors).nearest(
            np.asarray(inner.embeddings.vectors[words] + noise)
        )
    )
