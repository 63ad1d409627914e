"""Normal and gamma variates whose tails reach as far as float64 does.

NumPy's normals stop at 12.2 standard deviations, its exponentials at 44, and what noise cannot reach is a hole in a
privacy guarantee. Here a value that falls beyond a tail probability of 2^-30 is drawn again from its exact conditional
law, by inverting the tail function at a uniform with a random exponent: so tails reach a probability of 2^-990.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import Final, final

import numpy as np

from publius.arrays import Float64Array
from publius.noise.randomness import Generator

BODY: Final = 2.0**-30  # values beyond this tail probability are drawn again
_SHALLOWEST: Final = 960
DEEPEST: Final = BODY * 2.0**-_SHALLOWEST  # the tail probability that the variates reach
_INACCURACY: Final = 1 + 2e-9  # more than the relative error of a tail probability here, and of scipy's
_NOTHING: Final = 1e-18
_STEPS: Final = 200
_NORMAL_EDGE: Final = 6.2  # normals beyond this are drawn again; their probability is 5.6e-10


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
        from scipy.special import log_ndtr, ndtri_exp

        far = np.abs(values) > _NORMAL_EDGE
        # Their magnitudes, by inverting the logarithm of the tail function.
        tails = ndtri_exp(log_ndtr(-_NORMAL_EDGE) + np.log(deep_uniform(rng, int(far.sum()))))
        values[far] = np.copysign(tails, values[far])
    return values


@final
@dataclass(frozen=True)
class StandardGamma:
    """Gamma(shape, 1) for a whole number ``shape`` from 1, with both tails reaching `DEEPEST`."""

    shape: int

    @property
    def reach(self) -> float:
        """The value that is exceeded with the probability `DEEPEST`; what would be beyond it is put there."""
        return upper_quantile(self.shape, DEEPEST)

    def sample(self, rng: Generator, count: int) -> Float64Array:
        """``count`` independent variates, shape (count,)."""
        values = rng.standard_gamma(self.shape, count)
        above, below = values > upper_quantile(self.shape, BODY), values < lower_quantile(self.shape, BODY)
        if above.any():  # else scipy, whose import is a quarter of a first draw, is not asked
            values[above] = self.upper_tail(rng, int(above.sum()))
        if below.any():
            values[below] = self.lower_tail(rng, int(below.sum()))
        return values

    def upper_tail(self, rng: Generator, count: int) -> Float64Array:
        """Variates that have no more than the probability `BODY` above them."""
        from scipy.special import gammainccinv

        drawn = gammainccinv(self.shape, BODY * deep_uniform(rng, count))
        return np.minimum(np.asarray(drawn, np.float64), self.reach)

    def lower_tail(self, rng: Generator, count: int) -> Float64Array:
        """Variates that have no more than the probability `BODY` below them."""
        from scipy.special import gammaincinv

        return np.asarray(gammaincinv(self.shape, BODY * deep_uniform(rng, count)))

    def beyond_reach(self, distance: float) -> float:
        """P(variate > reach - distance), rounded up: what a radius shifted by ``distance`` cannot reach of another."""
        return min(1.0, upper_probability(self.shape, max(self.reach - distance, 0.0)) * _INACCURACY)


def upper_probability(shape: int, value: float) -> float:
    """P(Gamma(shape, 1) > value) for a whole number ``shape``: exp(-x) (1 + x + ... + x^(n-1) / (n-1)!)."""
    if value >= shape:
        return math.exp(_log_density(shape, value)) * _upper_sum(shape, value)
    return 1.0 - (math.exp(_log_density(shape, value)) * _lower_sum(shape, value) if value > 0 else 0.0)


@cache
def upper_quantile(shape: int, probability: float) -> float:
    """The value that Gamma(shape, 1) exceeds with a ``probability`` of at most 1e-3.

    By Newton's method on the logarithm of the tail, which is concave: from a value beyond it comes down to it.
    """
    wanted, value = math.log(probability), 2.0 * shape
    while _log_density(shape, value) + math.log(_upper_sum(shape, value)) > wanted:
        value *= 2
    return _quantile(shape, wanted, value, _upper_sum, -1)


@cache
def lower_quantile(shape: int, probability: float) -> float:
    """The value that Gamma(shape, 1) stays below with a ``probability`` of at most 1e-3, as `upper_quantile`."""
    wanted = math.log(probability)  # from where x^n / n!, which is more than the tail, is that, it goes up
    return _quantile(shape, wanted, math.exp((wanted + math.lgamma(shape + 1)) / shape), _lower_sum, 1)


def _quantile(shape: int, wanted: float, value: float, tail: Callable[[int, float], float], way: int) -> float:
    for _ in range(_STEPS):
        total = tail(shape, value)
        following = value + way * (wanted - _log_density(shape, value) - math.log(total)) * total
        if not way * (following - value) > 0:
            break
        value = following
    return value


def _log_density(shape: int, value: float) -> float:
    return (shape - 1) * math.log(value) - math.lgamma(shape) - value


def _upper_sum(shape: int, value: float) -> float:
    """The upper tail over the density: 1 + (n-1)/x + (n-1)(n-2)/x^2 + ..., for x from n."""
    total, term = 1.0, 1.0
    for below in range(shape - 1, 0, -1):
        term *= below / value
        total += term
        if term < _NOTHING * total:
            break
    return total


def _lower_sum(shape: int, value: float) -> float:
    """The lower tail over the density: x/n + x^2/(n(n+1)) + ..., for x below n."""
    total = term = value / shape
    above = shape + 1
    while term > _NOTHING * total:
        term *= value / above
        total += term
        above += 1
    return total
