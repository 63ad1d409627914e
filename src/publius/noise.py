"""n-dimensional Laplace noise: the paper's Algorithm 1, and the Manhattan variant (theory.md section 3).

Everything is drawn in float64. A float64 normal from NumPy's ziggurat stops at 12.2 standard deviations, so the
radius has a largest value; `AbstractNoise.truncation_delta` states what that costs instead of claiming an
unqualified pure bound (R2).
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import ClassVar, final

import numpy as np

from publius.errors import UsageError
from publius.metrics import Euclidean, Float64Array, FloatArray, Manhattan
from publius.rng import Generator

SMALLEST_EPSILON = 1e-100
LARGEST_EPSILON = 1e6
# NumPy's ziggurat accepts a tail value r + x when y + y > x * x with y <= 53 ln 2, so x <= sqrt(106 ln 2).
_ZIGGURAT_R = 3.6541528853610088
LARGEST_NORMAL = _ZIGGURAT_R + math.sqrt(106 * math.log(2))


def checked_epsilon(epsilon: float) -> float:
    """``epsilon`` as a float; `UsageError` unless it is a number between 1e-100 and 1e6.

    Above, float64 rounding of a noisy vector would no longer be negligible beside the noise.
    """
    if isinstance(epsilon, bool) or not isinstance(epsilon, (int, float, np.floating, np.integer)):
        raise UsageError(f"epsilon must be a number, not {type(epsilon).__name__}")
    value = float(epsilon)
    if not SMALLEST_EPSILON <= value <= LARGEST_EPSILON:
        raise UsageError(
            f"epsilon must be a positive number from {SMALLEST_EPSILON:g} to {LARGEST_EPSILON:g}, not {value!r}"
        )
    return value


def _standard_gamma(shape: int, count: int, rng: Generator) -> Float64Array:
    """Gamma(shape, 1) variates, shape (count,).

    For shape 1 NumPy would use its exponential, which stops at 44; Gamma(2) times a uniform has the same law
    (beta-gamma algebra) and reaches 119, as the other shapes do.
    """
    if shape > 1:
        return rng.standard_gamma(shape, count)
    return rng.standard_gamma(2.0, count) * rng.random(count)


def _largest_gamma(shape: int) -> float:
    """The largest Gamma(shape, 1) variate that Marsaglia and Tsang's method makes from `LARGEST_NORMAL`."""
    d = max(shape, 2) - 1 / 3
    return float(d * (1 + LARGEST_NORMAL / math.sqrt(9 * d)) ** 3)


def _tail_beyond_reach(shape: int, distance: float) -> float:
    """P(Gamma(shape, 1) > largest variate - distance): what one shifted radius cannot reach of another."""
    from scipy.special import gammaincc

    return float(gammaincc(shape, max(_largest_gamma(shape) - distance, 0.0)))


@dataclass(frozen=True)
class AbstractNoise(ABC):
    """A noise law on R^n that makes epsilon*metric-private vectors when added to a vector.

    Attributes:
        dimension: n, at least 1.
        epsilon: per unit of distance; the scale is 1/epsilon.

    """

    dimension: int
    epsilon: float
    metric_name: ClassVar[str]

    def __post_init__(self) -> None:
        if self.dimension < 1:
            raise UsageError(f"the dimension must be at least 1, not {self.dimension}")
        object.__setattr__(self, "epsilon", checked_epsilon(self.epsilon))

    @abstractmethod
    def sample(self, rng: Generator, count: int) -> Float64Array:
        """``count`` independent noise vectors, shape (count, n), float64."""

    @abstractmethod
    def log_density(self, noise: FloatArray) -> Float64Array:
        """Natural logarithm of the density at each row of ``noise``, shape (count, n) -> (count,)."""

    @abstractmethod
    def truncation_delta(self, epsilon_distance: float = 10.0) -> float:
        """Probability, per vector, by which the bound exp(epsilon*d) can be exceeded for the truncated tail.

        For two vectors at distance d with epsilon*d at most ``epsilon_distance``. The sampler's radius ends at a
        finite value; of the noise round one vector, the part beyond that value less d round the other is at
        most this probable, and elsewhere the pure bound holds.
        """


@final
@dataclass(frozen=True)
class EuclideanLaplace(AbstractNoise):
    """Density c_n exp(-epsilon ||v||), c_n = epsilon^n / ((n-1)! S_n), S_n = 2 pi^(n/2) / Gamma(n/2).

    Radius Gamma(n, 1/epsilon), direction uniform on the unit sphere, independent of each other. (The paper's
    Definition of the uniform density prints n pi^(n/2) for the area S_n; its appendix has the right one.)
    """

    metric_name = Euclidean.name

    def sample(self, rng: Generator, count: int) -> Float64Array:
        """See `AbstractNoise.sample`. Mean length n/epsilon."""
        directions = rng.standard_normal((count, self.dimension))
        lengths = np.sqrt(np.einsum("ij,ij->i", directions, directions))
        while not lengths.all():  # a zero normal has no direction; in one dimension that is conceivable
            zero = np.flatnonzero(lengths == 0)
            directions[zero] = rng.standard_normal((len(zero), self.dimension))
            lengths[zero] = np.sqrt(np.einsum("ij,ij->i", directions[zero], directions[zero]))
        radii = _standard_gamma(self.dimension, count, rng) / self.epsilon
        directions *= (radii / lengths)[:, None]
        return directions

    def log_density(self, noise: FloatArray) -> Float64Array:
        """See `AbstractNoise.log_density`."""
        n = self.dimension
        log_area = math.log(2) + n / 2 * math.log(math.pi) - math.lgamma(n / 2)
        log_constant = n * math.log(self.epsilon) - math.lgamma(n) - log_area
        return np.asarray(log_constant - self.epsilon * np.linalg.norm(np.asarray(noise, np.float64), axis=1))

    def truncation_delta(self, epsilon_distance: float = 10.0) -> float:
        """See `AbstractNoise.truncation_delta`; P(Gamma(n) > largest radius - epsilon*d)."""
        return _tail_beyond_reach(self.dimension, epsilon_distance)


@final
@dataclass(frozen=True)
class ManhattanLaplace(AbstractNoise):
    """n independent coordinates with density epsilon/2 exp(-epsilon |x|): epsilon*Manhattan-private."""

    metric_name = Manhattan.name

    def sample(self, rng: Generator, count: int) -> Float64Array:
        """See `AbstractNoise.sample`. Mean Manhattan length n/epsilon."""
        size = count * self.dimension
        signs = np.where(rng.random(size) < 0.5, -1.0, 1.0)
        return (signs * _standard_gamma(1, size, rng) / self.epsilon).reshape(count, self.dimension)

    def log_density(self, noise: FloatArray) -> Float64Array:
        """See `AbstractNoise.log_density`."""
        lengths = np.abs(np.asarray(noise, np.float64)).sum(axis=1)
        return np.asarray(self.dimension * math.log(self.epsilon / 2) - self.epsilon * lengths)

    def truncation_delta(self, epsilon_distance: float = 10.0) -> float:
        """See `AbstractNoise.truncation_delta`; a union over the n coordinates."""
        return min(1.0, self.dimension * _tail_beyond_reach(1, epsilon_distance))


NOISES: dict[str, type[AbstractNoise]] = {
    noise.metric_name: noise for noise in (EuclideanLaplace, ManhattanLaplace)
}
