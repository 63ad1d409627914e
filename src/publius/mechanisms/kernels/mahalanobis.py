"""Elliptical noise (Xu, Aggarwal, Feyisetan and Teissier 2020), with the metric it is private in by name."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, final

import numpy as np

from publius.arrays import Float64Array, FloatArray, IndexArray
from publius.distances.metrics import AbstractMetric, Euclidean
from publius.embeddings.embeddings import Embeddings
from publius.embeddings.nearest import NearestWords
from publius.errors import DataError, UsageError
from publius.mechanisms.kernel import Kernel
from publius.mechanisms.kernels.projected import principal_axes, rotated
from publius.noise.laplace import EuclideanLaplace
from publius.noise.randomness import Generator
from publius.option import Settings, option
from publius.privacy.guarantee import Guarantee

_ROUNDING = 1e-9  # share of epsilon kept for the rounding of rotated vectors


@final
class RegularizedMahalanobis(AbstractMetric):
    """sqrt(v' (lambda S + (1 - lambda) I)^-1 v) of the difference v; S: covariance of the vocabulary, trace n.

    Stretches the directions in which the vocabulary varies little. At lambda 0 it is the Euclidean metric.
    """

    def __init__(self, vectors: FloatArray, share: float) -> None:
        """Take the public ``vectors``, shape (V, n), and lambda, from 0 to below 1."""
        if not 0 <= share < 1:
            raise UsageError(f"lambda must be from 0 to below 1, not {share!r}")
        variances, self.axes = principal_axes(vectors)
        if not variances.sum() > 0:
            raise DataError("all words have the same vector: their covariance is zero")
        spread = variances * (len(variances) / variances.sum())
        self.radii = np.sqrt(share * spread + (1 - share))
        self.name = f"mahalanobis-{share:g}"

    def pairwise(self, a: FloatArray, b: FloatArray) -> Float64Array:
        """See `AbstractMetric.pairwise`."""
        whitened = [np.asarray(points, np.float64) @ (self.axes / self.radii) for points in (a, b)]
        return Euclidean().pairwise(*whitened)


@dataclass(frozen=True, kw_only=True)
class MahalanobisParameters(Settings):
    """Of the Mahalanobis mechanism."""

    share: float = option(
        0.5, help="lambda: how much of the vocabulary's covariance shapes the noise.", at_least=0, below=1
    )


@final
class Mahalanobis(Kernel):
    """As laplace, with more noise in the directions in which the vocabulary spreads.

    The density is proportional to exp(-epsilon ||v||) in the regularized Mahalanobis norm. Private in that
    metric, which the guarantee names; it is not the Euclidean one, so epsilons do not compare. In the
    Euclidean metric its constant is epsilon divided by the smallest radius of the ellipsoid (see
    `parameters`).
    """

    name = "mahalanobis"

    Parameters = MahalanobisParameters
    metrics = ()

    def __init__(self, embeddings: Embeddings, *, epsilon: float, **parameters: Any) -> None:
        """Take the public ``embeddings``, ``epsilon`` per unit of the metric, and ``share``: lambda."""
        share = self.parameters_from(parameters).share
        self._ellipsoid = RegularizedMahalanobis(embeddings.vectors, share)
        super().__init__(embeddings, epsilon=epsilon, metric=self._ellipsoid, **parameters)
        self._noise = EuclideanLaplace(embeddings.dimension, self.epsilon * (1 - _ROUNDING))
        self._known_vectors: Float64Array | None = None
        farthest = self.epsilon * self.metric.diameter_bound(embeddings.vectors)
        delta = self._noise.truncation_delta(farthest)
        self._guarantee = Guarantee(self.epsilon, self.metric.name, "proven", delta)
        self._search: NearestWords | None = None

    @property
    def parameters(self) -> dict[str, Any]:
        """See `Kernel.parameters`."""
        return {
            "lambda": self.chosen.share,
            "epsilon_euclidean": self.epsilon / float(self._ellipsoid.radii.min()),
        }

    @property
    def guarantee(self) -> Guarantee:
        """See `Kernel.guarantee`; proven, in the metric it names."""
        return self._guarantee

    @property
    def _vectors(self) -> Float64Array:
        """In the ellipsoid's axes the noise is scaled coordinate by coordinate, and nearest words stay nearest."""
        if self._known_vectors is None:
            self._known_vectors = rotated(self.embeddings.vectors, self._ellipsoid.axes)
        return self._known_vectors

    def noise(self, count: int, rng: Generator) -> Float64Array:
        """See `Kernel.noise`; shape (count, n), along the ellipsoid's axes before stretching."""
        return self._noise.sample(rng, count)

    def apply(self, words: IndexArray, noise: Float64Array, *, threads: int = 1) -> IndexArray:
        """See `Kernel.apply`."""
        if self._search is None:
            self._search = NearestWords(self._vectors)
        return self._search.nearest(self._vectors[words] + noise * self._ellipsoid.radii, threads=threads)

    def __getstate__(self) -> dict[str, object]:
        """Without the search and its vectors: a worker builds its own."""
        return {**self.__dict__, "_search": None, "_known_vectors": None}
