"""How far a release lies from its document: the bounds of docs/theory.md section 4.

All are about the distance E between a bag of N words and its release by the n-dimensional Laplace mechanism with
Euclidean distance. The noise of one word has a Gamma(n, 1/epsilon) length, so that of all words together is
Gamma(nN, 1/epsilon), and E is at most their mean. The Manhattan mechanism's noise has the same law in Manhattan
length, so the bounds before the nearest-word step hold for it too.
"""

from __future__ import annotations

import math

from publius.errors import UsageError
from publius.noise.laplace import checked_epsilon

_LARGEST_EXPONENT = 709.0  # of a float64


def lower_bound(epsilon: float, size: int, dimension: int, distance: float) -> float:
    """P(E <= ``distance``) before the nearest-word step is at least this: P(nN, epsilon*N*distance).

    P is the regularised lower incomplete gamma function. Equality holds for a bag that repeats one word.
    Raises `UsageError` for arguments out of range, as all functions here.
    """
    return _gamma_cdf(size * dimension, _scaled(epsilon, size, dimension, distance))


def lower_bound_after_nearest(epsilon: float, size: int, dimension: int, distance: float) -> float:
    """P(E <= ``distance``) of the released words is at least this: P(nN, epsilon*N*distance/2).

    A noisy vector's nearest word is no farther from it than the word it came from, so each word moves by at most
    twice its noise.
    """
    return _gamma_cdf(size * dimension, _scaled(epsilon, size, dimension, distance) / 2)


def paper_bound_refuted(epsilon: float, size: int, dimension: int, distance: float) -> float:
    """The bound printed in the paper, which is false for N >= 2: 1 - exp(-y) e_{n-1}(y), y = epsilon*N*distance.

    e_k is the k-th partial sum of the exponential series, so this is the probability that Gamma(n), the noise of
    one word, is at most y; but the noise of N words is Gamma(nN). Offered to compare with the paper, never to rely
    on: see docs/refuted-bound.md for the slip and a counterexample. For N = 1 it is `lower_bound`.
    """
    return _gamma_cdf(dimension, _scaled(epsilon, size, dimension, distance))


def density_times_volume(epsilon: float, dimension: int, radius: float) -> float:
    """c_n V_n: the largest density of the noise of a word times the volume of a ball, (epsilon*radius)^n / n!.

    It bounds from above the probability that the noise of a word is at most ``radius`` long.
    """
    scaled = _scaled(epsilon, 1, dimension, radius)
    if scaled == 0:
        return 0.0
    exponent = dimension * math.log(scaled) - math.lgamma(dimension + 1)
    return math.exp(exponent) if exponent < _LARGEST_EXPONENT else math.inf


def paper_bound_applies(epsilon: float, size: int, dimension: int, distance: float) -> bool:
    """Whether the paper states its bound here: epsilon*N*distance <= n/e."""
    return _scaled(epsilon, size, dimension, distance) <= dimension / math.e


def mean_noise_norm(epsilon: float, dimension: int) -> float:
    """Mean length of the noise of one word: n/epsilon, in units of the word distance."""
    _scaled(epsilon, 1, dimension, 0.0)
    return dimension / epsilon


def displacement_quantile(epsilon: float, size: int, dimension: int, probability: float) -> float:
    """The mean noise length of the N words that holds with ``probability``; Gamma(nN) / (epsilon*N).

    E before the nearest-word step stays under it with at least that probability; after it, under twice as much.
    """
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
