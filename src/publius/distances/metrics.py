"""Distances on word vectors: the ``d`` of epsilon*d-privacy.

The theorem holds for any pseudometric on the vocabulary (docs/theory.md sections 1 and 7). Two come with Publius;
``Euclidean`` is the default because the n-dimensional Laplace mechanism satisfies epsilon*Euclidean-privacy
and, by Corollary 1, also epsilon*Manhattan-privacy (Euclidean <= Manhattan).
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import final

import numpy as np

from publius.arrays import Float64Array, FloatArray
from publius.errors import UsageError
from publius.settings import EUCLIDEAN, MANHATTAN

_BLOCK = 8192


class AbstractMetric(ABC):
    """A pseudometric on R^n, computed in float64."""

    name: str

    @abstractmethod
    def pairwise(self, a: FloatArray, b: FloatArray) -> Float64Array:
        """Distances between the rows of ``a``, shape (p, n), and of ``b``, shape (q, n); shape (p, q)."""

    def paired(self, a: FloatArray, b: FloatArray) -> Float64Array:
        """The distance of each row of ``a``, shape (k, n), to the same row of ``b``; shape (k,)."""
        rows = zip(np.asarray(a, np.float64), np.asarray(b, np.float64), strict=True)
        return np.array([self.pairwise(x[None], y[None])[0, 0] for x, y in rows], np.float64)

    @final
    def diameter_bound(self, vectors: FloatArray) -> float:
        """At least the largest distance between two rows of ``vectors``: twice the largest to their mean."""
        center = np.asarray(vectors, np.float64).mean(axis=0, keepdims=True)
        blocks = (vectors[start : start + _BLOCK] for start in range(0, len(vectors), _BLOCK))
        if type(self).paired is AbstractMetric.paired:  # which goes row by row
            return 2 * (1 + 1e-12) * max(float(self.pairwise(block, center).max()) for block in blocks)
        # Without scipy, whose import is half of a first draw.
        return (
            2
            * (1 + 1e-12)
            * max(float(self.paired(block, np.broadcast_to(center, block.shape)).max()) for block in blocks)
        )


@final
class Euclidean(AbstractMetric):
    """The square root of the sum of squared coordinate differences."""

    name = EUCLIDEAN

    def pairwise(self, a: FloatArray, b: FloatArray) -> Float64Array:
        """See `AbstractMetric.pairwise`. Differences are taken before squaring: no cancellation."""
        from scipy.spatial.distance import cdist

        return np.asarray(cdist(np.asarray(a, np.float64), np.asarray(b, np.float64)))

    def paired(self, a: FloatArray, b: FloatArray) -> Float64Array:
        """See `AbstractMetric.paired`."""
        differences = np.asarray(a, np.float64) - b
        return np.asarray(np.sqrt(np.einsum("ij,ij->i", differences, differences)))


@final
class Manhattan(AbstractMetric):
    """The sum of absolute coordinate differences."""

    name = MANHATTAN

    def pairwise(self, a: FloatArray, b: FloatArray) -> Float64Array:
        """See `AbstractMetric.pairwise`."""
        from scipy.spatial.distance import cdist

        return np.asarray(cdist(np.asarray(a, np.float64), np.asarray(b, np.float64), "cityblock"))

    def paired(self, a: FloatArray, b: FloatArray) -> Float64Array:
        """See `AbstractMetric.paired`."""
        return np.asarray(np.abs(np.asarray(a, np.float64) - b).sum(axis=1))


METRICS: dict[str, type[AbstractMetric]] = {Euclidean.name: Euclidean, Manhattan.name: Manhattan}


def metric_named(name: str) -> AbstractMetric:
    """The metric called ``name``; `UsageError` when there is none."""
    try:
        return METRICS[name]()
    except KeyError:
        raise UsageError(
            f"no metric is called {name!r}: choose one of {', '.join(sorted(METRICS))}"
        ) from None
