"""Elliptical noise (Xu, Aggarwal, Feyisetan and Teissier 2020), with the metric it is private in by name."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, final

import numpy as np

from publius.arrays import Float64Array, FloatArray, IndexArray
from publius.distances.metrics import AbstractMetric, Euclidean
from publius.embeddings.embeddings import Embeddings
from publius.errors import DataError
from publius.mechanisms.kernels.laplace import NoisyWords
from publius.mechanisms.kernels.projected import principal_axes, rotated
from publius.noise.laplace import AbstractNoise, EuclideanLaplace
from publius.option import Settings, option

_ROUNDING = 1e-9  # share of epsilon kept for the rounding of rotated vectors


@final
class RegularizedMahalanobis(AbstractMetric):
    """sqrt(v' (lambda S + (1 - lambda) I)^-1 v) of the difference v; S: covariance of the vocabulary, trace n."""

    def __init__(self, vectors: FloatArray, share: float) -> None:
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


@final
class Mahalanobis(NoisyWords):
    """As laplace, with more noise in the directions in which the vocabulary spreads.

    Private in the regularized Mahalanobis metric, so epsilons do not compare with others. In the Euclidean metric its
    constant is epsilon divided by the smallest radius of the ellipsoid (see `parameters`).
    """

    name = "mahalanobis"
    metrics = ()
    metric: RegularizedMahalanobis

    @dataclass(frozen=True, kw_only=True)
    class Parameters(Settings):
        """What it takes."""

        share: float = option(0.5, at_least=0, below=1)
        """lambda: how much of the vocabulary's covariance shapes the noise."""

    def __init__(self, embeddings: Embeddings, *, epsilon: float, **parameters: Any) -> None:
        metric = RegularizedMahalanobis(embeddings.vectors, self.parameters_from(parameters).share)
        super().__init__(embeddings, epsilon=epsilon, metric=metric, **parameters)

    def _made_noise(self) -> tuple[AbstractNoise, float]:
        noise = EuclideanLaplace(self.embeddings.dimension, self.epsilon * (1 - _ROUNDING))
        return noise, noise.truncation_delta(self.epsilon * self.metric.diameter_bound(self.embeddings.vectors))

    @property
    def parameters(self) -> dict[str, Any]:
        """See `Kernel.parameters`."""
        euclidean = self.epsilon / float(self.metric.radii.min())
        return {**super().parameters, "epsilon_euclidean": euclidean}

    @cached_property
    def points(self) -> FloatArray:
        """In the ellipsoid's axes the noise is scaled coordinate by coordinate, and nearest words stay nearest."""
        return rotated(self.embeddings.vectors, self.metric.axes)

    def apply(self, words: IndexArray, noise: Float64Array, *, threads: int = 1) -> IndexArray:
        """See `Kernel.apply`; the noise is along the axes and is stretched here."""
        return super().apply(words, noise * self.metric.radii, threads=threads)
