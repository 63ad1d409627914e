"""n-dimensional Laplace noise: the paper's Algorithm 1, and the Manhattan variant (theory, 3).

Everything is drawn in float64 with tails that reach a probability of 2^-990 (`tails`). What lies beyond is stated
by `AbstractNoise.truncation_delta` instead of claiming an unqualified pure bound (R2).
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import ClassVar, final

import numpy as np

from publius.arrays import Float64Array, FloatArray
from publius.distances.metrics import Euclidean, Manhattan, ground_metric
from publius.errors import UsageError
from publius.noise.grid import Grid
from publius.noise.randomness import Generator
from publius.noise.tails import StandardGamma, standard_normal

SMALLEST_EPSILON = 1e-100
LARGEST_EPSILON = 1e6


def checked_epsilon(epsilon: float) -> float:
    """``epsilon`` as a float; `UsageError` unless it is a number between 1e-100 and 1e6.

    Above, float64 rounding of a noisy vector would no longer be negligible beside the noise.
    """
    if isinstance(epsilon, bool) or not isinstance(epsilon, (int, float, np.floating, np.integer)):
        raise UsageError(f"epsilon must be a number, not {type(epsilon).__name__}")
    value = float(epsilon) if epsilon <= LARGEST_EPSILON else math.inf  # a huge integer has no float
    if not SMALLEST_EPSILON <= value <= LARGEST_EPSILON:
        raise UsageError(
            f"epsilon must be a positive number from {SMALLEST_EPSILON:g} to {LARGEST_EPSILON:g}, not {value!r}"
        )
    return value


@dataclass(frozen=True)
class AbstractNoise(ABC):
    """A noise law on R^n that makes epsilon*metric-private vectors when added to a vector."""

    dimension: int
    epsilon: float  # per unit of distance; the scale is 1/epsilon
    metric_name: ClassVar[str]

    def __post_init__(self) -> None:
        if self.dimension < 1:
            raise UsageError(f"the dimension must be at least 1, not {self.dimension}")
        object.__setattr__(self, "epsilon", checked_epsilon(self.epsilon))

    @property
    @abstractmethod
    def _gamma(self) -> StandardGamma:
        """The gamma law that the noise is made of."""

    @abstractmethod
    def sample(self, rng: Generator, count: int) -> Float64Array:
        """``count`` independent noise vectors, shape (count, n), float64."""

    @abstractmethod
    def truncation_delta(self, epsilon_distance: float) -> float:
        """Probability, per vector, by which the bound exp(epsilon*d) can be exceeded for the truncated tail; rounded up.

        The sampler's radius ends at a finite value; of the noise round one vector, the part beyond that value less d
        round the other is at most this probable, and elsewhere the pure bound holds. It counts the truncation, not the
        rounding of float64.
        """

    def vocabulary_delta(self, vectors: FloatArray) -> float:
        """`truncation_delta` for whichever two rows of ``vectors``, shape (V, n): the delta of a word."""
        return self.truncation_delta(self.epsilon * ground_metric(self.metric_name).diameter_bound(vectors))

    @property
    def grid(self) -> Grid:
        """The public grid on which a noisy vector may be seen, and what that costs: `Grid.of`."""
        cube = np.ones((1, self.dimension))
        diagonal = float(ground_metric(self.metric_name).paired(cube, np.zeros_like(cube))[0])
        return Grid.of(self.dimension, self.epsilon, diagonal, self._gamma.reach)


@final
@dataclass(frozen=True)
class EuclideanLaplace(AbstractNoise):
    """Density c_n exp(-epsilon ||v||), c_n = epsilon^n / ((n-1)! S_n), S_n = 2 pi^(n/2) / Gamma(n/2).

    Radius Gamma(n, 1/epsilon), direction uniform on the unit sphere, independent of each other. (The paper's
    Definition of the uniform density prints n pi^(n/2) for the area S_n; its appendix has the right one.)
    """

    metric_name = Euclidean.name

    @property
    def _gamma(self) -> StandardGamma:
        return StandardGamma(self.dimension)

    def sample(self, rng: Generator, count: int) -> Float64Array:
        """See `AbstractNoise.sample`. Mean length n/epsilon."""
        directions = standard_normal(rng, (count, self.dimension))
        lengths = np.sqrt(np.einsum("ij,ij->i", directions, directions))
        while not lengths.all():  # a zero normal has no direction; in one dimension that is conceivable
            zero = np.flatnonzero(lengths == 0)
            directions[zero] = standard_normal(rng, (len(zero), self.dimension))
            lengths[zero] = np.sqrt(np.einsum("ij,ij->i", directions[zero], directions[zero]))
        radii = self._gamma.sample(rng, count) / self.epsilon
        directions *= (radii / lengths)[:, None]
        return directions

    def truncation_delta(self, epsilon_distance: float) -> float:
        """See `AbstractNoise.truncation_delta`; P(Gamma(n) > largest radius - epsilon*d)."""
        return self._gamma.beyond_reach(epsilon_distance)


@final
@dataclass(frozen=True)
class ManhattanLaplace(AbstractNoise):
    """n independent coordinates with density epsilon/2 exp(-epsilon |x|): epsilon*Manhattan-private."""

    metric_name = Manhattan.name
    _gamma = StandardGamma(1)

    def sample(self, rng: Generator, count: int) -> Float64Array:
        """See `AbstractNoise.sample`. Mean Manhattan length n/epsilon."""
        size = count * self.dimension
        signs = np.where(rng.random(size) < 0.5, -1.0, 1.0)
        return (signs * self._gamma.sample(rng, size) / self.epsilon).reshape(count, self.dimension)

    def truncation_delta(self, epsilon_distance: float) -> float:
        """See `AbstractNoise.truncation_delta`; a union over the n coordinates."""
        return min(1.0, self.dimension * self._gamma.beyond_reach(epsilon_distance))

    def vocabulary_delta(self, vectors: FloatArray) -> float:
        """See `AbstractNoise.vocabulary_delta`; no coordinate is shifted by more than its range."""
        shifts = self.epsilon * np.ptp(vectors, axis=0).astype(np.float64) * (1 + 1e-6)  # of float32 vectors
        return min(1.0, math.fsum(map(self._gamma.beyond_reach, shifts.tolist())) * (1 + 1e-12))


NOISES: dict[str, type[AbstractNoise]] = {noise.metric_name: noise for noise in (EuclideanLaplace, ManhattanLaplace)}


def noise_for(metric: str, dimension: int, epsilon: float) -> AbstractNoise:
    """The noise for the metric called ``metric``; `UsageError` with the reason where there is none."""
    if metric not in NOISES:
        raise UsageError(
            f"there is no noise for the metric {metric!r}: its density would have to fall with a norm. Choose one of "
            f"{', '.join(NOISES)}, or a finite mechanism such as exponential, which takes any metric"
        )
    return NOISES[metric](dimension, epsilon)
