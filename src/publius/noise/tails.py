"""Normal and gamma variates whose tails reach as far as float64 does.

A float64 sampler has a finite range: NumPy's normals stop at 12.2 standard deviations, its exponentials at 44, and
what noise cannot reach is a hole in a privacy guarantee. Here a value that falls beyond a tail probability of 2^-30
is drawn again from its exact conditional law, by inverting the tail function at a uniform with a random exponent.
So tails reach down to a probability of 2^-990, which costs next to nothing: one value in 10^9 is drawn again.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final, final

import numpy as np

from publius.arrays import Float64Array
from publius.noise.randomness import Generator

BODY: Final = 2.0**-30
"""Values beyond this tail probability are drawn again."""

_SHALLOWEST: Final = 960
DEEPEST: Final = BODY * 2.0**-_SHALLOWEST
"""The tail probability that the variates reach."""

_INACCURACY: Final = 1 + 1e-9  # more than the incomplete gamma function's relative error

_NORMAL_EDGE: Final = 6.2
"""Normals beyond this are drawn again; their probability is 5.6e-10."""


def deep_uniform(rng: Generator, count: int) -> Float64Array:
    """Uniforms on (0, 1) with full precision near 0: a mantissa times 2^-G, G geometric, down to 2^-960."""
    exponents = np.zeros(count)
    open_ended = np.arange(count)
    while len(open_ended):
        heads = rng.random(len(open_ended)) < 0.5
        exponents[open_ended] += 1
        open_ended = open_ended[heads]
        open_ended = open_ended[exponents[open_ended] < _SHALLOWEST]
    return (1.0 + rng.random(count)) * np.exp2(-exponents)


def standard_normal(rng: Generator, shape: tuple[int, ...]) -> Float64Array:
    """Standard normals that reach 37 standard deviations."""
    values = rng.standard_normal(shape)
    if values.size and max(values.max(), -values.min()) > _NORMAL_EDGE:
        far = np.abs(values) > _NORMAL_EDGE
        values[far] = np.copysign(_normal_tail(rng, int(far.sum())), values[far])
    return values


def _normal_tail(rng: Generator, count: int) -> Float64Array:
    """Magnitudes of normals beyond the edge, by inverting the logarithm of the tail function."""
    from scipy.special import log_ndtr, ndtri_exp

    return np.asarray(-ndtri_exp(log_ndtr(-_NORMAL_EDGE) + np.log(deep_uniform(rng, count))))


@final
@dataclass(frozen=True)
class StandardGamma:
    """Gamma(shape, 1) for a whole number ``shape`` from 1, with both tails reaching `DEEPEST`.

    Attributes:
        shape: n.
        low, high: the values between which NumPy's draw is kept.
        reach: the largest value that can come.
    """

    shape: int
    low: float = field(init=False)
    high: float = field(init=False)
    reach: float = field(init=False)

    def __post_init__(self) -> None:
        from scipy.special import gammainccinv, gammaincinv

        object.__setattr__(self, "low", float(gammaincinv(self.shape, BODY)))
        object.__setattr__(self, "high", float(gammainccinv(self.shape, BODY)))
        object.__setattr__(self, "reach", float(gammainccinv(self.shape, DEEPEST)))

    def sample(self, rng: Generator, count: int) -> Float64Array:
        """``count`` independent variates, shape (count,)."""
        values = rng.standard_gamma(self.shape, count)
        if len(values) and (values.max() > self.high or values.min() < self.low):
            above, below = values > self.high, values < self.low
            values[above] = self.upper_tail(rng, int(above.sum()))
            values[below] = self.lower_tail(rng, int(below.sum()))
        return values

    def upper_tail(self, rng: Generator, count: int) -> Float64Array:
        """Variates given that they exceed `high`."""
        from scipy.special import gammainccinv

        return np.asarray(gammainccinv(self.shape, BODY * deep_uniform(rng, count)))

    def lower_tail(self, rng: Generator, count: int) -> Float64Array:
        """Variates given that they are below `low`."""
        from scipy.special import gammaincinv

        return np.asarray(gammaincinv(self.shape, BODY * deep_uniform(rng, count)))

    def beyond_reach(self, distance: float) -> float:
        """P(variate > reach - distance), rounded up: what a radius shifted by ``distance`` cannot reach of another."""
        from scipy.special import gammaincc

        return min(1.0, float(gammaincc(self.shape, max(self.reach - distance, 0.0))) * _INACCURACY)
