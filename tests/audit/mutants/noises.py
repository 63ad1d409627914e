"""Broken noise laws. Each claims to be the n-dimensional Laplace at its epsilon."""

from __future__ import annotations

import functools
from abc import abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import final

import numpy as np

from audit.mutants.mutant import Mutant, Probe
from audit.mutants.rewired import with_noise
from publius.arrays import Float64Array, FloatArray
from publius.audit.implementation import GENUINE, Subject
from publius.audit.noise_law import noise_law
from publius.audit.outcomes import Check
from publius.noise.laplace import AbstractNoise, EuclideanLaplace, ManhattanLaplace
from publius.noise.randomness import Generator, RunKey

_EPSILON = 2.5
_FEW_DIMENSIONS = 10
_MUCH = 400_000


@dataclass(frozen=True)
class AbstractBrokenNoise(AbstractNoise):
    """A law that states the genuine density and tail, and samples otherwise."""

    metric_name = EuclideanLaplace.metric_name

    def log_density(self, noise: FloatArray) -> Float64Array:
        """See `AbstractNoise.log_density`: the claim."""
        return self.genuine.log_density(noise)

    def truncation_delta(self, epsilon_distance: float) -> float:
        """See `AbstractNoise.truncation_delta`: the claim."""
        return self.genuine.truncation_delta(epsilon_distance)

    def vocabulary_delta(self, vectors: FloatArray) -> float:
        """See `AbstractNoise.vocabulary_delta`: the claim."""
        return self.genuine.vocabulary_delta(vectors)

    def _gamma_shape(self) -> int:
        return self.dimension

    def _diagonal(self) -> float:
        return float(np.sqrt(self.dimension))

    @property
    def genuine(self) -> EuclideanLaplace:
        """The law that is claimed."""
        return EuclideanLaplace(self.dimension, self.epsilon)

    @abstractmethod
    def sample(self, rng: Generator, count: int) -> Float64Array:
        """See `AbstractNoise.sample`: not the claim."""


Transform = Callable[[Float64Array, AbstractBrokenNoise, Generator], Float64Array]


@final
@dataclass(frozen=True)
class Spoiled(AbstractBrokenNoise):
    """Genuine draws, spoiled by ``transform``."""

    transform: Transform

    def sample(self, rng: Generator, count: int) -> Float64Array:
        """See `AbstractBrokenNoise.sample`."""
        return self.transform(self.genuine.sample(rng, count), self, rng)


@final
@dataclass(frozen=True)
class Polar(AbstractBrokenNoise):
    """Radius from ``radius``, a genuine direction."""

    radius: Callable[[int, int, Generator], Float64Array]

    def sample(self, rng: Generator, count: int) -> Float64Array:
        """See `AbstractBrokenNoise.sample`; ``radius`` takes n, the count, and the generator, epsilon being 1."""
        radii = self.radius(self.dimension, count, rng) / self.epsilon
        return np.asarray(_directions(self.genuine.sample(rng, count)) * radii[:, None])


def _directions(noise: Float64Array) -> Float64Array:
    return np.asarray(noise / np.linalg.norm(noise, axis=1)[:, None])


def _lengths(noise: Float64Array) -> Float64Array:
    return np.asarray(np.linalg.norm(noise, axis=1))


def _scaled(factor: float) -> Transform:
    return lambda noise, law, rng: noise * factor


def _gaussian(noise: Float64Array, law: AbstractBrokenNoise, rng: Generator) -> Float64Array:
    """The mean length is right, the law is not."""
    return np.asarray(rng.standard_normal(noise.shape) * np.sqrt(law.dimension) / law.epsilon)


def _by_coordinate(noise: Float64Array, law: AbstractBrokenNoise, rng: Generator) -> Float64Array:
    return ManhattanLaplace(law.dimension, law.epsilon).sample(rng, len(noise))


def _cube(noise: Float64Array, law: AbstractBrokenNoise, rng: Generator) -> Float64Array:
    """Direction: a point of the cube, normalized. The corners are favored."""
    return np.asarray(_directions(rng.uniform(-1, 1, noise.shape)) * _lengths(noise)[:, None])


def _clipped(noise: Float64Array, law: AbstractBrokenNoise, rng: Generator) -> Float64Array:
    """No radius beyond the 99.9 % quantile: words cannot show it."""
    from scipy.special import gammaincinv

    longest = gammaincinv(law.dimension, 0.999) * (1 - 1e-12) / law.epsilon
    return np.asarray(noise * np.minimum(1.0, longest / _lengths(noise))[:, None])


def _one_side(noise: Float64Array, law: AbstractBrokenNoise, rng: Generator) -> Float64Array:
    noise[:, 0] = np.abs(noise[:, 0])
    return noise


def _flat(noise: Float64Array, law: AbstractBrokenNoise, rng: Generator) -> Float64Array:
    """The last coordinate gets none, the radius is right."""
    lengths = _lengths(noise)
    noise[:, -1] = 0
    return _directions(noise) * lengths[:, None]


def _repeated(noise: Float64Array, law: AbstractBrokenNoise, rng: Generator) -> Float64Array:
    """Every other vector is the one before."""
    noise[1::2] = noise[: 2 * (len(noise) // 2) : 2]
    return noise


def _one_for_all(noise: Float64Array, law: AbstractBrokenNoise, rng: Generator) -> Float64Array:
    return np.repeat(noise[:1], len(noise), axis=0)


def _antithetic(noise: Float64Array, law: AbstractBrokenNoise, rng: Generator) -> Float64Array:
    """Every other vector is the one before turned round: half the randomness."""
    noise[1::2] = -noise[: 2 * (len(noise) // 2) : 2]
    return noise


def _shared_radius(noise: Float64Array, law: AbstractBrokenNoise, rng: Generator) -> Float64Array:
    """Directions of their own, the radius of the one before."""
    lengths = _lengths(noise)
    lengths[1::2] = lengths[: 2 * (len(noise) // 2) : 2]
    return _directions(noise) * lengths[:, None]


def _longer_upwards(noise: Float64Array, law: AbstractBrokenNoise, rng: Generator) -> Float64Array:
    """Radii and directions each have their law, but the longer radii go with the larger first coordinate."""
    directions, lengths = _directions(noise), np.sort(_lengths(noise))
    mixed = directions[:, 0] + 5 * rng.standard_normal(len(noise))
    return np.asarray(directions * lengths[np.argsort(np.argsort(mixed))][:, None])


def _longer_along_axis(noise: Float64Array, law: AbstractBrokenNoise, rng: Generator) -> Float64Array:
    directions, lengths = _directions(noise), np.sort(_lengths(noise))
    mixed = directions[:, 0] ** 2 + rng.standard_normal(len(noise))
    return np.asarray(directions * lengths[np.argsort(np.argsort(mixed))][:, None])


def _sometimes_none(noise: Float64Array, law: AbstractBrokenNoise, rng: Generator) -> Float64Array:
    """One vector in five hundred gets no noise to speak of."""
    noise[rng.random(len(noise)) < 0.002] *= 1e-6
    return noise


def _sometimes_long(noise: Float64Array, law: AbstractBrokenNoise, rng: Generator) -> Float64Array:
    """One vector in two thousand is three times as long."""
    noise[rng.random(len(noise)) < 0.0005] *= 3
    return noise


def _float32(noise: Float64Array, law: AbstractBrokenNoise, rng: Generator) -> Float64Array:
    return noise.astype(np.float32).astype(np.float64)


def _on_grid(noise: Float64Array, law: AbstractBrokenNoise, rng: Generator) -> Float64Array:
    """Rounded to multiples of 2^-12: the last bits of a noisy vector would show those of the word."""
    return np.asarray(np.round(noise * 2**12) / 2**12)


def _spoiled(transform: Transform) -> Callable[[int, float], AbstractNoise]:
    return lambda dimension, epsilon: Spoiled(dimension, epsilon, transform)


def _polar(radius: Callable[[int, int, Generator], Float64Array]) -> Callable[[int, float], AbstractNoise]:
    return lambda dimension, epsilon: Polar(dimension, epsilon, radius)


def _ball(n: int, count: int, rng: Generator) -> Float64Array:
    """Uniform in a ball of the same mean radius."""
    return np.asarray((n + 1) * rng.random(count) ** (1 / n))


@functools.cache
def probe_noise(dimension: int) -> Probe:
    """All tests of the noise law in ``dimension``; a vector of many dimensions says more about the scale."""
    draws = 100_000 if dimension <= _FEW_DIMENSIONS else 20_000

    def probe(subject: Subject, key: RunKey) -> Sequence[Check]:
        return noise_law(subject.noise(dimension, _EPSILON), draws, key.rng(f"mutants/noise/{dimension}"))

    return probe


def probe_much_noise(subject: Subject, key: RunKey) -> Sequence[Check]:
    """The tests in two and in ten dimensions, on draws enough for what is a little off, or rarely."""
    rng = key.rng("mutants/noise/much")
    return [check for n in (2, 10) for check in noise_law(subject.noise(n, _EPSILON), _MUCH, rng)]


_KS = "radius (Kolmogorov-Smirnov)"

_LAWS: tuple[tuple[str, int, Callable[[int, float], AbstractNoise], str], ...] = (
    ("scale 2 % too small", 2, _spoiled(_scaled(0.98)), "mean radius"),
    ("scale 2 % too large", 10, _spoiled(_scaled(1.02)), "mean radius"),
    ("scale half a percent too small in 300 dimensions", 300, _spoiled(_scaled(0.995)), "mean radius"),
    ("radius Gamma(n-1)", 10, _polar(lambda n, count, rng: rng.standard_gamma(n - 1, count)), _KS),
    ("radius Gamma(n+1)", 10, _polar(lambda n, count, rng: rng.standard_gamma(n + 1, count)), _KS),
    ("radius exponential", 10, _polar(lambda n, count, rng: n * rng.standard_exponential(count)), _KS),
    ("radius constant", 50, _polar(lambda n, count, rng: np.full(count, float(n))), _KS),
    ("uniform in a ball", 10, _polar(_ball), _KS),
    ("Gaussian of the same mean length", 10, _spoiled(_gaussian), _KS),
    ("Laplace by coordinate", 10, _spoiled(_by_coordinate), "direction (squared coordinate)"),
    ("direction from a cube", 10, _spoiled(_cube), "direction (squared coordinate)"),
    ("radius clipped at its 99.9 % quantile", 10, _spoiled(_clipped), "radius beyond its 99.9 % quantile"),
    ("one radius in two thousand too long", 10, _spoiled(_sometimes_long), "radius beyond its 99.99 % quantile"),
    ("one vector in five hundred without noise", 10, _spoiled(_sometimes_none), "radius beyond its 0.01 % quantile"),
    ("first coordinate always positive", 10, _spoiled(_one_side), "direction (Rayleigh)"),
    ("last coordinate without noise", 50, _spoiled(_flat), "direction (Bingham)"),
    ("every vector twice", 10, _spoiled(_repeated), "direction and the one before independent"),
    ("one vector for the whole batch", 10, _spoiled(_one_for_all), "direction and the one before independent"),
    ("antithetic pairs", 10, _spoiled(_antithetic), "direction and the one before independent"),
    ("radius used twice", 10, _spoiled(_shared_radius), "radius and the one before independent"),
    ("radius longer upwards", 10, _spoiled(_longer_upwards), "radius and direction independent"),
    ("radius longer along an axis", 10, _spoiled(_longer_along_axis), "radius and direction independent"),
    ("float32 sampling", 10, _spoiled(_float32), "float64 precision"),
    ("rounded to a grid", 10, _spoiled(_on_grid), "float64 precision"),
)  # fmt: skip

_RARE = ("scale 2 % too small", "one radius in two thousand too long")
"""Those that fewer draws catch by luck only: `test_none_escapes_by_luck` computes their chance to escape."""


def noise_mutants() -> list[Mutant]:
    """Twenty-four broken laws, each seen in the noise itself."""
    return [
        Mutant(
            f"noise: {name}",
            replace(GENUINE, noise=law, mechanism=with_noise(law)),
            probe_much_noise if name in _RARE else probe_noise(dimension),
            f"noise n={dimension}: {check}",
        )
        for name, dimension, law, check in _LAWS
    ]
