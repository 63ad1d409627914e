"""Vickrey (Xu, Aggarwal, Feyisetan and Teissier 2021) as a function of the noisy vector alone.

As published, the second-nearest word is taken when the nearest is the *input* word: that looks at the input after the
noise, so it is no post-processing and the guarantee is lost.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import final

import numpy as np

from publius.arrays import Float64Array, FloatArray, IndexArray
from publius.errors import DataError
from publius.files.threads import in_threads
from publius.mechanisms.kernels.laplace import NoisyWords
from publius.noise.laplace import AbstractNoise
from publius.noise.randomness import Generator
from publius.option import Settings, option

_ROWS = 128


@final
class TwoNearest:
    """The two nearest rows of fixed vectors: float32 scores, float64 differences for all that may be among the two."""

    def __init__(self, vectors: FloatArray) -> None:
        self._vectors = vectors
        squares = np.einsum("ij,ij->i", vectors, vectors, dtype=np.float64)
        self._halves = (-0.5 * squares).astype(np.float32)
        self._largest = float(np.sqrt(squares.max()))
        self._unit = 1.01 * (vectors.shape[1] + 6) * 2.0**-24

    def find(self, points: Float64Array, *, threads: int) -> tuple[IndexArray, Float64Array]:
        """Indices, shape (p, 2), nearer first, lower index first at a tie, and their distances, shape (p, 2)."""
        starts = range(0, len(points), _ROWS)
        parts = [*in_threads(lambda a: self._block(points[a : a + _ROWS]), starts, threads)]
        found = [np.empty((0, 2), np.int64), *(part[0] for part in parts)]
        return np.concatenate(found), np.concatenate([np.empty((0, 2)), *(part[1] for part in parts)])

    def _block(self, points: Float64Array) -> tuple[IndexArray, Float64Array]:
        # Scores z.w - |w|^2/2, both scaled by a power of two that keeps the largest noise inside float32.
        shrink = np.exp2(-np.frexp(np.abs(points).max(axis=1, keepdims=True) + 1)[1].astype(np.float64))
        small = (points * shrink).astype(np.float32)
        scores = small @ self._vectors.T
        scores += shrink.astype(np.float32) * self._halves
        lengths = np.sqrt(np.einsum("ij,ij->i", points, points)) * shrink[:, 0]
        bounds = self._unit * (lengths * self._largest + shrink[:, 0] * self._largest**2)
        second = np.partition(scores, -2, axis=1)[:, -2]
        found, gaps = np.empty((len(points), 2), np.int64), np.empty((len(points), 2))
        for row, point in enumerate(points):
            candidates = np.flatnonzero(scores[row] >= second[row] - 2 * bounds[row])
            differences = self._vectors[candidates] - point
            distances = np.sqrt(np.einsum("ij,ij->i", differences, differences))
            nearest = np.argsort(distances, kind="stable")[:2]
            found[row], gaps[row] = candidates[nearest], distances[nearest]
        return found, gaps


@final
class Vickrey(NoisyWords):
    """As laplace, but now and then takes the second-nearest word.

    Of the words w1 and w2 nearest to the noisy vector z, w2 with probability t |z - w1| / (t |z - w1| + (1 - t) |z - w2|).
    """

    name = "vickrey"
    searcher = TwoNearest

    @dataclass(frozen=True, kw_only=True)
    class Parameters(Settings):
        """What it takes."""

        share: float = option(0.5, at_least=0, at_most=1)
        """t: how far the second-nearest word is preferred."""

    def _made_noise(self) -> tuple[AbstractNoise, float]:
        if self.embeddings.size < 2:
            raise DataError("a second-nearest word needs at least two words")
        return super()._made_noise()

    def noise(self, count: int, rng: Generator) -> Float64Array:
        """See `Kernel.noise`; shape (count, n + 1), the last column uniform."""
        return np.concatenate([super().noise(count, rng), rng.random((count, 1))], axis=1)

    def apply(self, words: IndexArray, noise: Float64Array, *, threads: int = 1) -> IndexArray:
        """See `Kernel.apply`."""
        pairs: TwoNearest = self.search
        found, gaps = pairs.find(self.points[words] + noise[:, :-1], threads=threads)
        first, second = self.chosen.share * gaps[:, 0], (1 - self.chosen.share) * gaps[:, 1]
        return np.where(noise[:, -1] * (first + second) < first, found[:, 1], found[:, 0])
