"""n-dimensional Laplace noise: the paper's Algorithm 1, and the Manhattan variant (docs/theory.md, words).

Everything is drawn in float64 with tails that reach a probability of 2^-990 (`tails`). What lies beyond is stated
by `AbstractNoise.truncation_delta` instead of claiming an unqualified pure bound.
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
from publius.noise.randomness import Generator
from publius.noise.tails import StandardGamma, standard_normal

SMALLEST_EPSILON = 1e-100
LARGEST_EPSILON = 1e6
_ALLOWED_UNITS = 32  # of 2^-53, besides n/2
_LARGEST_INDEX = 2.0**51


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


@final
@dataclass(frozen=True)
class Grid:
    """Noisy vectors on a public grid: what may be seen of a float (Mironov 2012).

    In floats x + noise betrays x: the low bits of the sum exclude neighbors outright, however large the noise. So both are
    rounded to one grid, whose spacing L is a power of two and depends on epsilon, n and the metric alone. The index X of
    the cell of x, clamped to a public range, and the index R of the noise's cell are whole numbers that float64 adds without
    rounding: **the law of L*(X + R) depends on x through X alone, and moving x only moves the law of R**. What that costs,
    for vectors at distance d:

    1. Clamping brings no two points further apart; rounding moves each by half a cell's diagonal at most. So L*X and L*X'
       are at most d + L*D apart, D the diagonal of the unit cube in the metric (sqrt(n), or n for Manhattan).
    2. For noise with the exact law the probability of a cell is the integral of the density over it. Cells are translates
       of one cube, and the density changes by a factor of exp(epsilon*t) at most over a distance t, so the probabilities
       of two cells differ by a factor of exp(epsilon * their distance) at most. Together: exp(epsilon*d + epsilon*L*D).
    3. The sampler is made of floats. **Assumption**: a vector that it draws can be coupled with an exact one (of the law
       that ends at the sampler's reach) from which no coordinate is further than t = 2^-53 * (n/2 + 32) * reach / epsilon.
       Of these units n/2 + 8 cover the rounding of the length, the quotient and the products, which is proven. 24 are
       left for the normals and the gamma, which NumPy makes of uniforms of 52 and 53 bits; for those we know of no proof,
       and the tests of their law (tests/noise/test_tails.py) see errors far larger only. Then R = k comes only from
       exact vectors in the cell widened by t, and surely from those in the cell narrowed by t. That adds a factor of
       ((1 + 2t/L) / (1 - 2t/L))^n * exp(2 * epsilon * t * D).

    The three costs together are `Grid.loss`: nats for each vector, whatever d is. Delta is the noise's own, for a distance
    larger by one nat at most. L balances the first cost against the third.
    """

    spacing: float  # L, a power of two
    loss: float  # nats that a vector's exponent can exceed epsilon*d by, rounded up

    def indices(self, values: FloatArray) -> Float64Array:
        """The cell of each value, clamped to 2^51 on either side: whole numbers as float64."""
        with np.errstate(over="ignore", under="ignore"):  # beyond all floats is clamped too
            scaled = np.asarray(values, np.float64) / self.spacing  # exact: the spacing is a power of two
        return np.asarray(np.clip(np.rint(scaled), -_LARGEST_INDEX, _LARGEST_INDEX))

    def sum(self, vectors: FloatArray, noise: FloatArray) -> Float64Array:
        """``vectors`` and ``noise``, each put on the grid, added without rounding."""
        return np.asarray((self.indices(vectors) + self.indices(noise)) * self.spacing)


def loss_of(scaled: float, dimension: int, diagonal: float, reach: float) -> float:
    """The loss of a grid whose spacing times epsilon is ``scaled``; a finer one must hide the sampler's rounding."""
    moved = _moved(dimension, reach)
    if not 2 * moved < scaled < math.inf:
        raise UsageError(f"no grid hides the rounding of noise in {dimension:,} dimensions: use fewer")
    widened = dimension * (math.log1p(2 * moved / scaled) - math.log1p(-2 * moved / scaled))
    return (diagonal * (scaled + 2 * moved) + widened) * (1 + 2.0**-40)


def _moved(dimension: int, reach: float) -> float:
    """Epsilon * t: how far the sampler's rounding moves a coordinate."""
    return math.ldexp((dimension / 2 + _ALLOWED_UNITS) * reach, -53)


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
        """The cheapest public grid on which a noisy vector may be seen, and what that costs."""
        n, reach, cube = self.dimension, self._gamma.reach, np.ones((1, self.dimension))
        diagonal = float(ground_metric(self.metric_name).paired(cube, np.zeros_like(cube))[0])
        # Epsilon * L at which the first cost and the third are equal.
        balanced = math.sqrt(4 * n * _moved(n, reach) / diagonal)
        spacing = 2.0 ** math.floor(math.log2(balanced) - math.log2(self.epsilon))
        return Grid(spacing, loss_of(spacing * self.epsilon, n, diagonal, reach))


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
