"""Distances on word vectors: the ``d`` of epsilon*d-privacy, which may be any pseudometric on the vocabulary.

``Euclidean`` is the default because the n-dimensional Laplace mechanism satisfies epsilon*Euclidean-privacy
and, by Corollary 1, also epsilon*Manhattan-privacy (Euclidean <= Manhattan).
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from contextlib import nullcontext
from typing import final

import numpy as np

from publius.arrays import Float64Array, FloatArray
from publius.errors import DataError, UsageError
from publius.files.threads import one_blas_thread
from publius.files.user_code import PYTHON, keep_unheard, object_at, unheard
from publius.settings import EUCLIDEAN, MANHATTAN

Distances = Callable[[FloatArray, FloatArray], Float64Array]
"""A function of vectors (p, n) and (q, n) that gives their distances (p, q)."""

CLOSE = 2.0**-10
"""Pairs whose squared distance is below this share of squared norms are computed by differences: a product cancels."""
_BLOCK = 8192
_ROWS = 512
_SAMPLE = 48


class AbstractMetric(ABC):
    """A pseudometric on R^n, computed in float64."""

    name: str

    def __init_subclass__(cls) -> None:
        super().__init_subclass__()
        keep_unheard(cls, "metric", ("pairwise", "paired"))

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
        center = np.asarray(vectors.mean(axis=0, keepdims=True, dtype=np.float64))
        blocks = (vectors[start : start + _BLOCK] for start in range(0, len(vectors), _BLOCK))
        if type(self).paired is AbstractMetric.paired:  # which goes row by row
            largest = max(float(self.pairwise(block, center).max()) for block in blocks)
        else:  # without scipy, whose import is half of a first draw
            largest = max(float(self.paired(block, np.broadcast_to(center, block.shape)).max()) for block in blocks)
        return 2 * (1 + 1e-12) * largest


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


@final
class FunctionMetric(AbstractMetric):
    """A function of somebody's own as a metric; that it is one is its author's word."""

    def __init__(self, function: Distances) -> None:
        self.function = function
        module, name = (getattr(function, each, "") for each in ("__module__", "__qualname__"))
        self.name = f"{PYTHON}{module}:{name or type(function).__qualname__}"

    def pairwise(self, a: FloatArray, b: FloatArray) -> Float64Array:
        """See `AbstractMetric.pairwise`; `DataError` for distances of another shape."""
        vectors = np.asarray(a, np.float64), np.asarray(b, np.float64)
        with unheard(self.function, f"the metric {self.name}"):
            found = np.asarray(self.function(*vectors), np.float64)
        if found.shape != (len(a), len(b)):
            raise DataError(
                f"the metric {self.name} gives distances of the shape {found.shape} for {len(a)} and {len(b)} vectors: "
                "it must take the vectors of two sets at once, shapes (p, n) and (q, n), and give (p, q)"
            )
        return found


METRICS: dict[str, type[AbstractMetric]] = {Euclidean.name: Euclidean, Manhattan.name: Manhattan}


def metric_asked(name: str) -> str | AbstractMetric:
    """What a command's own ``--metric`` names; never for a name that a file states: importing runs code."""
    if not name.startswith(PYTHON):
        return name
    found = object_at(name)
    return ground_metric(found() if isinstance(found, type) and issubclass(found, AbstractMetric) else found)


def ground_metric(metric: str | AbstractMetric | Distances) -> AbstractMetric:
    """The metric called ``metric``, or one of somebody's own: a function, or a metric without the name of one of ours.

    It must be a pseudometric: else mass that two bags share could not be left in place.
    """
    if isinstance(metric, str):
        if metric not in METRICS:
            raise UsageError(f"no metric is called {metric!r}: choose one of {', '.join(sorted(METRICS))}")
        return METRICS[metric]()
    if not isinstance(metric, AbstractMetric) and callable(metric) and not isinstance(metric, type):
        metric = FunctionMetric(metric)
    if not isinstance(metric, AbstractMetric):
        raise UsageError(
            "a metric is a name, a function of two sets of vectors, or derives from "
            f"publius.distances.metrics.AbstractMetric; it is not a {type(metric).__name__}"
        )
    name = getattr(metric, "name", None)
    if not isinstance(name, str) or (is_own(metric) and name in METRICS):
        raise UsageError(f"a metric of one's own needs a name of its own, not {name!r:.40}")
    return metric


def is_own(metric: AbstractMetric) -> bool:
    """Whether the metric is somebody's own: nothing computed with it is kept, and its laws are checked on a sample."""
    return type(metric) not in METRICS.values()


def check_laws(metric: AbstractMetric, vectors: FloatArray) -> None:
    """`DataError` where a metric is seen not to be one on a sample of the vectors: by sign, symmetry or triangle."""
    sample = np.asarray(vectors[:: max(1, len(vectors) // _SAMPLE)][:_SAMPLE], np.float64)
    found = np.asarray(metric.pairwise(sample, sample), np.float64)
    if found.shape != (len(sample), len(sample)) or not np.isfinite(found).all() or (found < 0).any():
        raise DataError(f"the metric {metric.name} must give a number from 0 for each pair, shape (p, q)")
    room = 1e-9 * (1.0 + found.max())
    shortcut = (found[:, :, None] + found[None, :, :]).min(axis=1)
    if max(np.diag(found).max(), np.abs(found - found.T).max(), (found - shortcut).max()) > room:
        raise DataError(
            f"the metric {metric.name} is none: it is not 0 from a word to itself, not symmetric, or longer than a "
            "way round (triangle inequality)"
        )


def is_line(metric: AbstractMetric, dimension: int) -> bool:
    """Whether the distance is |x - y| of numbers, where sorting solves the transport problem."""
    return dimension == 1 and isinstance(metric, (Euclidean, Manhattan))


def word_distances(x: Float64Array, y: Float64Array, metric: AbstractMetric) -> Float64Array:
    """As `AbstractMetric.pairwise`, but Euclidean ones by a product: as close as `by_product` is."""
    if not isinstance(metric, Euclidean):
        return metric.pairwise(x, y)
    # Two documents are too small a product to share: BLAS's threads would mostly wait for each other.
    with one_blas_thread() if len(x) <= _ROWS else nullcontext():
        return by_product(widened(x), widened(y))


def widened(vectors: FloatArray) -> Float64Array:
    """Each row in float64, and after it 1 and its squared norm: shape (p, n) -> (p, n + 2)."""
    wide = np.empty((len(vectors), vectors.shape[1] + 2))
    wide[:, :-2], wide[:, -2] = vectors, 1.0
    wide[:, -1] = np.einsum("ij,ij->i", wide[:, :-2], wide[:, :-2])
    return wide


def by_product(x: Float64Array, y: Float64Array) -> Float64Array:
    """Euclidean distances between rows that are `widened`, shape (p, q), by one matrix product.

    Each of the n + 2 products and sums of a squared distance errs by a unit of 2(|x|^2 + |y|^2), and the square root
    halves a relative error: so they are within 1.01 (n + 6) 2^-53 / `CLOSE` of the true ones.
    """
    left = x * -2.0
    left[:, -2], left[:, -1] = x[:, -1], 1.0
    squares = left @ y.T
    close = squares < (CLOSE * (x[:, -1] + y[:, -1].max(initial=0.0)))[:, None]
    if close.any():
        rows, columns = np.nonzero(close)
        step = max(1, 2**22 // x.shape[1])  # pairs at a time: bounded memory
        for start in range(0, len(rows), step):
            i, j = rows[start : start + step], columns[start : start + step]
            squares[i, j] = Euclidean().paired(x[i, :-2], y[j, :-2]) ** 2
    return np.sqrt(squares, out=squares)
