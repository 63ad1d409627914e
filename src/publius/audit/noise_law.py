"""The law of the noise (R1): radius Gamma(n, 1/epsilon), direction uniform, independent of each other and in time.

Samples are taken in blocks and only moments are kept, but for the radii and one coordinate, so that millions of
draws in 300 dimensions fit in memory.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Protocol, final

import numpy as np
from threadpoolctl import threadpool_limits

from publius.arrays import Float64Array
from publius.audit.outcomes import Check, surprise, violations
from publius.audit.tests_of_fit import (
    log_p_binomial,
    log_p_chi_square,
    log_p_kolmogorov,
    log_p_normal,
)
from publius.noise.randomness import Generator

_BLOCK_NUMBERS = 2**19
TAILS = (0.0001, 0.001, 0.99, 0.999, 0.9999)


class NoiseLaw(Protocol):
    """A source of noise that claims the Euclidean law: `publius.noise.laplace.AbstractNoise` is one."""

    @property
    def dimension(self) -> int:
        """N."""
        ...

    @property
    def epsilon(self) -> float:
        """Per unit of distance."""
        ...

    def sample(self, rng: Generator, count: int) -> Float64Array:
        """``count`` draws, shape (count, n)."""
        ...


@final
class NoiseSample:
    """Draws of n-dimensional noise, summarized: what the tests below need."""

    def __init__(self, noise: NoiseLaw, count: int, rng: Generator) -> None:
        n = self.dimension = noise.dimension
        self.count = 0
        self.radii = np.empty(count)
        self.squares = np.empty(count)
        self.direction_sum = np.zeros(n)
        self.moment = np.zeros((n, n))
        self.radius_direction = np.zeros(n)
        self.radius_square = np.zeros(n)
        self.successive_radii = self.successive_directions = 0.0
        self.pairs = self.coarse = 0
        with threadpool_limits(1, user_api="blas"):
            for block in _blocks(noise, count, rng):
                self._add(block * noise.epsilon)

    def _add(self, block: Float64Array) -> None:
        n, rows = self.dimension, slice(self.count, self.count + len(block))
        radii = np.sqrt(np.einsum("ij,ij->i", block, block))
        directions = block / np.where(radii > 0, radii, 1.0)[:, None]
        standard = (radii - n) / math.sqrt(n)
        squares = directions**2
        self.radii[rows] = radii
        self.squares[rows] = squares[:, 0]
        self.direction_sum += directions.sum(axis=0)
        self.moment += directions.T @ directions
        self.radius_direction += standard @ directions
        self.radius_square += standard @ squares
        self.successive_radii += float(standard[1:] @ standard[:-1])
        self.successive_directions += float(np.einsum("ij,ij->", directions[1:], directions[:-1]))
        self.pairs += len(block) - 1
        self.coarse += int((block[:, 0] == block[:, 0].astype(np.float32)).sum())
        self.count += len(block)


def _blocks(noise: NoiseLaw, count: int, rng: Generator) -> Iterator[Float64Array]:
    rows = max(2, _BLOCK_NUMBERS // noise.dimension)
    for start in range(0, count, rows):
        yield np.asarray(noise.sample(rng, min(rows, count - start)), np.float64)


def noise_law(noise: NoiseLaw, count: int, rng: Generator, *, label: str = "") -> list[Check]:
    """All tests of the Euclidean law on ``count`` draws: fourteen in two and more dimensions, twelve in one."""
    sample = NoiseSample(noise, count, rng)
    title = f"noise{label} n={noise.dimension}"
    tests = _radius_tests(sample) | _direction_tests(sample) | _independence_tests(sample)
    checks = [surprise(f"{title}: {name}", sample.count, log_p) for name, log_p in tests.items()]
    # A float64 draw fits into 24 bits with probability 2^-29: four among millions is not chance.
    return [*checks, violations(f"{title}: float64 precision", sample.count, max(0, sample.coarse - 3))]


def mean_radius_log_p(radii: Float64Array, dimension: int) -> float:
    """The most sensitive test of the scale: the mean of epsilon * radius is n, its variance n / count."""
    return log_p_normal((float(radii.mean()) - dimension) * math.sqrt(len(radii) / dimension))


def _radius_tests(sample: NoiseSample) -> dict[str, float]:
    from scipy.special import gammainc, gammaincinv

    n, radii = sample.dimension, sample.radii
    tails = {
        f"radius beyond its {100 * quantile:g} % quantile": log_p_binomial(
            int((radii > gammaincinv(n, quantile)).sum()), len(radii), 1 - quantile
        )
        for quantile in TAILS
    }
    return {
        "radius (Kolmogorov-Smirnov)": log_p_kolmogorov(gammainc(n, radii)),
        "mean radius": mean_radius_log_p(radii, n),
        **tails,
    }


def _direction_tests(sample: NoiseSample) -> dict[str, float]:
    """Rayleigh: no preferred way. Bingham: no preferred axis. And the law of one squared coordinate."""
    from scipy.special import betainc

    n, count = sample.dimension, sample.count
    rayleigh = n / count * float(sample.direction_sum @ sample.direction_sum)
    tests = {"direction (Rayleigh)": log_p_chi_square(rayleigh, n)}
    if n > 1:
        spread = sample.moment / count - np.eye(n) / n
        bingham = count * n * (n + 2) / 2 * float((spread**2).sum())
        tests["direction (Bingham)"] = log_p_chi_square(bingham, (n - 1) * (n + 2) / 2)
        tests["direction (squared coordinate)"] = log_p_kolmogorov(
            betainc(0.5, (n - 1) / 2, np.clip(sample.squares, 0, 1))
        )
    return tests


def _independence_tests(sample: NoiseSample) -> dict[str, float]:
    n, count, pairs = sample.dimension, sample.count, max(1, sample.pairs)
    radius_direction = n / count * float(sample.radius_direction @ sample.radius_direction)
    tests = {"radius and direction independent": log_p_chi_square(radius_direction, n)}
    if n > 1:
        centered = sample.radius_square - sample.radius_square.mean()
        statistic = n * (n + 2) / 2 / count * float(centered @ centered)
        tests["radius and direction independent"] = min(
            0.0,
            math.log(2) + min(tests["radius and direction independent"], log_p_chi_square(statistic, n - 1)),
        )
    serial = sample.successive_directions * math.sqrt(n / pairs)
    tests["radius and the one before independent"] = log_p_normal(sample.successive_radii / math.sqrt(pairs))
    tests["direction and the one before independent"] = log_p_normal(serial)
    return tests
