"""Mechanisms in the m leading principal components of the vocabulary.

A projection P brings no two points farther apart, so epsilon*d_P-privacy is epsilon*d-privacy (Corollary 1). That d_P <= d
holds for the numbers in memory is not assumed but certified over all pairs: noise is scaled by the largest ratio found.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial
from typing import Any, final

import numpy as np

from publius.arrays import Float64Array, FloatArray
from publius.embeddings.catalogue import computed
from publius.errors import DataError, UsageError
from publius.files.threads import one_blas_thread
from publius.mechanisms.finite import sweep
from publius.mechanisms.finite.base import AbstractFinite
from publius.mechanisms.finite.certificate import Constant, Law
from publius.mechanisms.finite.word_weights import DistinctRows, Shape, uniform
from publius.mechanisms.kernels.laplace import NoisyWords
from publius.noise.laplace import AbstractNoise, EuclideanLaplace, noise_for
from publius.option import Settings, option

_VARIANCE = 1 / 3  # share that the default number of components explains


@final
class ProjectedLaplace(NoisyWords):
    """As laplace, on the principal components of the vectors: less noise for the same epsilon."""

    name = "projected-laplace"

    @dataclass(frozen=True, kw_only=True)
    class Parameters(Settings):
        """What it takes."""

        project: int | None = option(None, at_least=1)
        """Principal components kept. Default: the fewest that explain a third of the variance."""

    def _made_noise(self) -> tuple[AbstractNoise, float]:
        noise_for(self.metric.name, self.embeddings.dimension, self.epsilon)  # refuses a metric of one's own
        self._inner = projected(self.embeddings.vectors, self.chosen.project)
        shape = Shape(self.embeddings, self.metric, uniform(self.embeddings), self._inner)
        facts, law = {**shape.facts(), "ratio": 1}, shape.law
        ratio = computed(facts, Constant, partial(_ratio_holds, law), partial(largest_ratio, law)).epsilon
        noise = EuclideanLaplace(self._inner.shape[1], self.epsilon / ratio)
        return noise, noise.vocabulary_delta(self._inner)

    @property
    def points(self) -> FloatArray:
        """The principal components."""
        return self._inner

    @property
    def parameters(self) -> dict[str, Any]:
        """See `Kernel.parameters`."""
        return {"project": self.points.shape[1], "noise_epsilon": self._noise.epsilon}


@final
class ProjectedExponential(AbstractFinite):
    """As exponential, on the principal components of the vectors, certified for the whole distance."""

    name = "projected-exponential"
    Parameters = ProjectedLaplace.Parameters

    def _shape(self) -> Shape:
        return replace(super()._shape(), inner=projected(self.embeddings.vectors, self.chosen.project))

    @property
    def parameters(self) -> dict[str, Any]:
        """See `Kernel.parameters`."""
        return {**super().parameters, "project": 0 if self.shape.inner is None else self.shape.inner.shape[1]}


def projected(vectors: FloatArray, count: int | None) -> Float64Array:
    """The ``count`` leading principal components of ``vectors``; None keeps the fewest that explain a third of the variance."""
    values, axes = principal_axes(vectors)
    if count is None:
        count = 1 + int(np.searchsorted(np.cumsum(values) / values.sum(), _VARIANCE))
    if not 1 <= count <= vectors.shape[1]:
        raise UsageError(f"project must be from 1 to the dimension {vectors.shape[1]}, not {count}")
    return rotated(vectors, axes[:, :count])


def principal_axes(vectors: FloatArray) -> tuple[Float64Array, Float64Array]:
    """Variances, descending, shape (n,), and the axes as columns, shape (n, n), in float64."""
    with one_blas_thread():  # the same numbers whatever the processors
        mean = np.mean(vectors, axis=0, dtype=np.float64)
        covariance = np.zeros((vectors.shape[1], vectors.shape[1]))
        for start in range(0, len(vectors), 2**13):
            block = vectors[start : start + 2**13] - mean
            covariance += block.T @ block
        values, axes = np.linalg.eigh(covariance / len(vectors))
    return np.maximum(values[::-1], 0.0), np.ascontiguousarray(axes[:, ::-1])


def rotated(vectors: FloatArray, axes: Float64Array) -> Float64Array:
    """Coordinates of ``vectors`` along the columns of ``axes``, shape (V, m); equal vectors get equal ones."""
    points = DistinctRows.of(vectors)
    with one_blas_thread():
        starts = range(0, len(points.first), 2**13)
        rows = (vectors[points.first[start : start + 2**13]] for start in starts)
        blocks = [np.asarray(block, np.float64) @ axes for block in rows]
    return np.asarray(np.concatenate(blocks)[points.of_word])


def largest_ratio(law: Law) -> Constant:
    """An upper bound, within rounding, of d_inner / d_outer over all pairs, as the epsilon of a constant."""
    slack = 1 + 4 * (law.delta.relative_error + law.outer.relative_error) + 2.0**-40
    found = sweep.steepest_pairs(law.outer, law.delta, lambda far, near, *_: near / far * slack)
    if not len(found.pairs):
        raise DataError("all words have the same projection: keep more dimensions with --set project=N")
    first, second = found.pairs[0].tolist()
    return Constant(float(max(found.bounds[0], found.others)), 1.0, (first, second), found.smallest_distance)


def _ratio_holds(law: Law, found: Constant) -> bool:
    """Whether a stored ratio agrees with that of its worst pair, computed again."""
    first, second = found.worst
    if not (0 <= first < law.outer.size and 0 <= second < law.outer.size and first != second):
        return False
    pair = np.array([first]), np.array([second])
    ratio = float(law.delta.exact(*pair)[0, 0] / law.outer.exact(*pair)[0, 0])
    return ratio <= found.epsilon <= ratio * (1 + 1e-6)
