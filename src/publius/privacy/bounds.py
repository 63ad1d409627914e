"""How far a release lies from its document: the bounds of docs/theory.md, utility of words.

All are about the Earth Mover's distance E of a bag of N words and its release by the n-dimensional Laplace mechanism, whose
noise has a Gamma(n, 1/epsilon) length for one word and a Gamma(nN, 1/epsilon) length for all words together: E is at most
their mean. The Manhattan mechanism's noise has the same law in Manhattan length. All raise `UsageError` for arguments out
of range.
"""

from __future__ import annotations

import math

from publius.errors import UsageError
from publius.noise.laplace import checked_epsilon


def lower_bound(epsilon: float, size: int, dimension: int, distance: float) -> float:
    """P(E <= ``distance``) before the nearest-word step is at least this; exactly this for a bag that repeats one word."""
    return _gamma_cdf(size * dimension, _scaled(epsilon, size, dimension, distance))


def lower_bound_after_nearest(epsilon: float, size: int, dimension: int, distance: float) -> float:
    """P(E <= ``distance``) of the released words is at least this: each moves by at most twice its noise."""
    return _gamma_cdf(size * dimension, _scaled(epsilon, size, dimension, distance) / 2)


def paper_bound_refuted(epsilon: float, size: int, dimension: int, distance: float) -> float:
    """The bound printed in the paper, which is false for N >= 2: it takes the noise of one word for that of all N.

    1 - exp(-y) e_{n-1}(y), y = epsilon*N*distance, e_k the k-th partial sum of the exponential series. To compare with.
    """
    return _gamma_cdf(dimension, _scaled(epsilon, size, dimension, distance))


def displacement_quantile(epsilon: float, size: int, dimension: int, probability: float) -> float:
    """What the mean noise of the N words, hence E before the nearest-word step, stays under with ``probability``."""
    from scipy.special import gammaincinv

    _scaled(epsilon, size, dimension, 0.0)
    if not 0 <= probability < 1:
        raise UsageError(f"a probability must be at least 0 and less than 1, not {probability!r}")
    return float(gammaincinv(size * dimension, probability)) / (epsilon * size)


def _gamma_cdf(shape: int, value: float) -> float:
    from scipy.special import gammainc

    return float(gammainc(shape, value))


def _scaled(epsilon: float, size: int, dimension: int, distance: float) -> float:
    """epsilon*N*distance of arguments that are in range."""
    for name, value in (("size N", size), ("dimension", dimension)):
        if isinstance(value, bool) or not isinstance(value, int) or value < 1:
            raise UsageError(f"the {name} must be a whole number from 1, not {value!r}")
    if not (math.isfinite(distance) and distance >= 0):
        raise UsageError(f"the distance must be a finite number from 0, not {distance!r}")
    return checked_epsilon(epsilon) * size * distance
