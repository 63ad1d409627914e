"""Algorithm 1 as the paper states it: a bag of vectors in, a bag of noisy vectors out, of whatever the vectors mean."""

from __future__ import annotations

import math

import numpy as np

from publius.arrays import Float64Array, FloatArray
from publius.errors import DataError, UsageError
from publius.noise.laplace import noise_for
from publius.noise.randomness import Generator, system_rng
from publius.privacy.guarantee import Bound, Guarantee, total_exponent
from publius.settings import EUCLIDEAN


def randomize_bag(
    vectors: FloatArray, metric: str = EUCLIDEAN, epsilon: float = 1.0, *, rng: Generator | None = None
) -> Float64Array:
    """Each vector of a bag plus independent n-dimensional Laplace noise: a bag again, shape (N, n), float64.

    A bag has no order, so the rows come back sorted by their coordinates, whatever order they were given in. What is
    promised between two bags of N vectors says `bag_bound`: epsilon*N*E for the Earth Mover's distance E, and the
    cost of the public grid on which all vectors are placed (`publius.noise.laplace.Grid`). Without ``rng``, fresh randomness of
    the operating system. `DataError` for an array that is no bag of finite vectors, `UsageError` for a metric that has
    no noise or an epsilon out of range.

    >>> import publius
    >>> publius.randomize_bag([[0.0, 1.0], [2.0, 3.0], [2.0, 3.0]], "euclidean", 5.0).shape
    (3, 2)
    """
    try:
        array = np.asarray(vectors, np.float64)
    except (TypeError, ValueError):
        raise DataError("a bag of vectors is an array of numbers, one row a vector, all of one dimension") from None
    if array.ndim != 2 or not array.size:
        raise DataError(f"a bag of vectors has the shape (N, n), at least one vector, not {array.shape}")
    if not np.isfinite(array).all():
        raise DataError("the bag holds a value that is not finite")
    noise = noise_for(metric, array.shape[1], epsilon)
    drawn = noise.sample(rng if rng is not None else system_rng(), len(array))
    found = noise.grid.sum(array, drawn) + 0.0  # one zero, of either sign
    return np.asarray(found[np.lexsort(found.T[::-1])])


def bag_bound(distance: float, size: int, dimension: int, metric: str = EUCLIDEAN, epsilon: float = 1.0) -> Bound:
    """The bound of `randomize_bag` between two bags of ``size`` vectors at Earth Mover's ``distance``; rounded up.

    The exponent is epsilon*N*distance and, for each vector, the loss of the grid.

    >>> import publius
    >>> round(publius.bag_bound(0.1, size=3, dimension=2, epsilon=5.0).exponent, 3)
    1.5
    """
    noise = noise_for(metric, dimension, epsilon)
    exponent = Guarantee(noise.epsilon, metric, "proven").lifted(size).map(distance)
    if math.isinf(exponent):
        raise UsageError("the exponent is beyond all numbers: give a smaller distance")
    delta = min(1.0, size * noise.truncation_delta(exponent) * (1 + 1e-12))  # one vector may have moved all of it
    return Bound(total_exponent([exponent, *[noise.grid.loss] * size]), delta)
