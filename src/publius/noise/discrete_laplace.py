"""The discrete Laplace law on all whole numbers, drawn exactly and without floats.

P(Z = z) = (1 - r) / (1 + r) * r^|z|, r = exp(-1 / scale). Counts that one author moves by at most D, summed over all
cells, with such noise of scale D / epsilon in each cell are epsilon-private with delta 0: the probability of every
output changes by a factor of at most exp(D / scale) = exp(epsilon).

A float sampler has gaps and a finite table has an end, and an output that one collection can give and its neighbor
cannot names the collection. So the noise is made of whole numbers alone, by algorithm 2 of Canonne, Kamath and Steinke,
"The Discrete Gaussian for Differential Privacy" (2020), for a rational scale t / s:

1. U is uniform on 0 ... t - 1 and is kept with probability exp(-U / t). V counts how often a coin of probability
   exp(-1) comes up before it fails. Then U + t V = x with a probability proportional to exp(-x / t), x = 0, 1, 2, ...
2. Y = floor((U + t V) / s) has a probability proportional to exp(-Y s / t).
3. A fair sign makes it two-sided; "minus zero" is drawn again.

A coin of probability exp(-u / t), 0 <= u <= t: with coins of probability u / (t k), k = 1, 2, ..., until one fails, the
last k is odd with that probability (the alternating series of the exponential).

Candidates are drawn many at a time and the ones kept stand in the order they were drawn, so the values are independent.
How long that takes depends on the noise of all cells together, never on the counts.
"""

from __future__ import annotations

import functools
import math
from dataclasses import dataclass
from decimal import Context, Decimal, localcontext
from fractions import Fraction
from typing import Any, Final, final

import numpy as np
from numpy.typing import NDArray

from publius.arrays import Float64Array, IndexArray
from publius.errors import DataError, UsageError
from publius.noise.randomness import Generator

LARGEST_COUNT: Final = 2**53
LARGEST_RESULT: Final = 2**61  # noisy counts are clamped to this on either side
_LARGEST_NOISE: Final = 2**62  # noise is clamped to this, which no noisy count shows: count + noise is clamped before
_SMALLEST_SCALE: Final = Fraction(1, 2**20)
_LARGEST_SCALE: Final = 2**40
_WORD: Final = 2**64
_DECIMALS: Final = Context(prec=60)
_SAFE: Final = Decimal(10) ** -30
_LARGEST_TRANSFORM: Final = 2**22
_TRANSFORM_ERROR: Final = 1e-11


@final
@dataclass(frozen=True)
class DiscreteLaplace:
    """Two-sided geometric noise of a rational ``scale``: P(Z = z) proportional to exp(-|z| / scale)."""

    scale: Fraction  # D / epsilon, where D is what one author can move all cells together by

    def __post_init__(self) -> None:
        if not isinstance(self.scale, Fraction):
            raise UsageError("the scale of discrete Laplace noise must be a Fraction: floats are not exact")
        if not _SMALLEST_SCALE <= self.scale <= _LARGEST_SCALE:
            raise UsageError(
                f"the scale of the noise is {float(self.scale):.3g} and must be from 2^-20 to 2^40: give "
                f"{'a larger' if self.scale > 1 else 'a smaller'} epsilon"
            )

    @classmethod
    def protecting(cls, sensitivity: int, epsilon: Fraction) -> DiscreteLaplace:
        """The noise that makes counts epsilon-private which one author moves by at most ``sensitivity`` in total."""
        if epsilon <= 0 or sensitivity < 1:
            raise UsageError("epsilon must be greater than 0 and the sensitivity a whole number from 1")
        return cls(Fraction(sensitivity) / epsilon)

    # Drawing ------------------------------------------------------------------------------------------------

    def sample(self, rng: Generator, count: int) -> IndexArray:
        """``count`` independent values, shape (count,); clamped to 2^62, so use `noisy`, whose law is the unbounded one."""
        numbers = _WholeNumbers(rng)
        parts: list[IndexArray] = []
        missing = count
        while missing > 0:
            parts.append(self._candidates(numbers, 2 * missing + 16)[:missing])
            missing -= len(parts[-1])
        return np.concatenate([np.zeros(0, np.int64), *parts])

    def noisy(self, counts: IndexArray, rng: Generator) -> IndexArray:
        """``counts``, of any shape, each with noise of its own, empty ones too; the *sums* are clamped to 2^61.

        Clamping a sum is post-processing. Noise that `sample` clamps gives a sum beyond 2^61, so that the result is the
        same as that of unbounded noise.
        """
        counts = np.asarray(counts)
        if counts.dtype.kind not in "iu" or (counts.size and not 0 <= counts.min() <= counts.max() <= LARGEST_COUNT):
            raise DataError("counts must be whole numbers from 0 to 2^53")
        noise = self.sample(rng, counts.size).reshape(counts.shape)
        return np.asarray(np.clip(counts.astype(np.int64) + noise, -LARGEST_RESULT, LARGEST_RESULT))

    def _candidates(self, numbers: _WholeNumbers, count: int) -> IndexArray:
        """Values of the exact law, about half as many as ``count``."""
        t, s = self.scale.numerator, self.scale.denominator
        rest = numbers.below(t, count)
        rest = rest[numbers.decays(rest, t)]
        whole = numbers.runs(len(rest))
        if (int(whole.max(initial=0)) + 1) * t > _LARGEST_NOISE:
            whole = whole.astype(object)
        magnitudes = np.minimum((rest + t * whole) // s, _LARGEST_NOISE).astype(np.int64)
        negative = numbers.below(2, len(rest)) == 1
        return np.asarray(np.where(negative, -magnitudes, magnitudes)[~negative | (magnitudes > 0)])

    # The law ------------------------------------------------------------------------------------------------

    @functools.cached_property
    def _ratio(self) -> Decimal:
        with localcontext(_DECIMALS):
            return (Decimal(-self.scale.denominator) / self.scale.numerator).exp()

    def probability(self, value: int) -> float:
        """P(Z = value), rounded up."""
        with localcontext(_DECIMALS):
            return _up((1 - self._ratio) / (1 + self._ratio) * self._ratio ** abs(value))

    def above(self, value: int) -> float:
        """P(Z > value), rounded up."""
        with localcontext(_DECIMALS):
            return _up(self._above(value) if value >= 0 else 1 - self._above(-value - 1))

    def beyond(self, width: int) -> float:
        """P(abs(Z) > width) for a whole number from 0, rounded up."""
        with localcontext(_DECIMALS):
            return _up(2 * self._above(width))

    def _above(self, value: int) -> Decimal:
        return self._ratio ** (value + 1) / (1 + self._ratio)

    @property
    def deviation(self) -> float:
        """The standard deviation, sqrt(2 r) / (1 - r)."""
        half = float(1 / (2 * self.scale))
        return math.sqrt(0.5) / math.sinh(half) if half < 700 else math.sqrt(2) * math.exp(-half)

    def half_width(self, level: float = 0.95, *, cells: int = 1) -> int:
        """The smallest w such that the noise of all of ``cells`` cells is within -w ... w with probability ``level``."""
        with localcontext(_DECIMALS):  # 2 r^(w + 1) / (1 + r) <= allowed
            rest = -(_allowed(level, cells) * (1 + self._ratio) / 2).ln()
            steps = rest * self.scale.numerator / self.scale.denominator
            return max(0, math.ceil(steps * (1 + _SAFE)) - 1)


@final
@dataclass(frozen=True)
class LaplaceSum:
    """The sum of ``terms`` independent draws of one `DiscreteLaplace`: what noise is left in a sum of noisy counts.

    Its law comes from its characteristic function, ((1 - r)^2 / (1 - 2 r cos a + r^2))^terms, by a discrete Fourier
    transform; 1e-11 is added to each tail for its rounding.
    """

    noise: DiscreteLaplace
    terms: int

    def __post_init__(self) -> None:
        if self.terms < 1:
            raise UsageError(f"a sum needs at least one cell, not {self.terms}")

    @property
    def deviation(self) -> float:
        """The standard deviation."""
        return self.noise.deviation * math.sqrt(self.terms)

    def half_width(self, level: float = 0.95, *, cells: int = 1) -> int:
        """As `DiscreteLaplace.half_width`; beyond 2^22 points by Chernoff's bound, which is never too narrow."""
        if self.terms == 1:
            return self.noise.half_width(level, cells=cells)
        allowed = float(_allowed(level, cells)) * (1 - 1e-12)
        if allowed <= 4 * _TRANSFORM_ERROR or self._points > _LARGEST_TRANSFORM:
            return self._chernoff(allowed)
        return int(np.flatnonzero(self._tails <= allowed)[0])

    def above(self, value: int) -> float:
        """P(sum > value), rounded up."""
        if value < 0:
            return min(1.0, 1 - self.beyond(-value - 1) / 2 + _TRANSFORM_ERROR)
        return self.beyond(value) / 2

    def beyond(self, width: int) -> float:
        """P(abs(sum) > width) for a whole number from 0, rounded up."""
        return float(self._tails[min(width, len(self._tails) - 1)])

    @property
    def _points(self) -> int:  # of the transform
        return 1 << math.ceil(math.log2(2 * (64 + 16 * self.deviation + 64 * float(self.noise.scale))))

    @functools.cached_property
    def _tails(self) -> Float64Array:
        """P(abs(sum) > w), for w from 0 to points / 2 - 1."""
        points, noise = min(_LARGEST_TRANSFORM, self._points), self.noise
        ratio, angles = float(noise._ratio), np.arange(points // 2 + 1) * (2 * np.pi / points)
        # 1 - 2 r cos a + r^2 without cancellation: (1 - r)^2 + 4 r sin^2(a / 2)
        rest = -math.expm1(-float(1 / noise.scale))
        law = np.fft.irfft((1 + 4 * ratio * np.sin(angles / 2) ** 2 / rest**2) ** -float(self.terms), points)
        upper = np.cumsum(np.maximum(law[points // 2 : 0 : -1], 0))[::-1]  # P(sum >= 1), P(sum >= 2), ...
        return np.asarray(2 * upper + _TRANSFORM_ERROR)

    def _chernoff(self, allowed: float) -> int:
        """The smallest w with 2 exp(terms ln M(a) - a (w + 1)) <= allowed for some a; M(a) = E exp(a Z)."""
        rate = float(1 / self.noise.scale)
        steps = rate * np.linspace(0.001, 0.999, 999)
        # M(a) = (1 - r)^2 / ((1 - r e^a)(1 - r e^-a)) = sinh(rate / 2)^2 / (sinh((rate - a) / 2) sinh((rate + a) / 2))
        logarithms = 2 * _log_sinh(np.full(1, rate / 2)) - _log_sinh((rate - steps) / 2) - _log_sinh((rate + steps) / 2)
        needed = (self.terms * logarithms + math.log(2 / allowed)) / steps
        return max(0, math.ceil(float(needed.min()) * (1 + 1e-9)))


@functools.lru_cache(32)
def sum_of(noise: DiscreteLaplace, terms: int) -> LaplaceSum:
    """The law of a sum; a summary asks the same several times, of public numbers alone."""
    return LaplaceSum(noise, terms)


@final
class _WholeNumbers:
    """Exact draws of whole numbers and coins, from 64-bit words of a generator."""

    def __init__(self, rng: Generator) -> None:
        self._raw = rng.bit_generator.random_raw

    def _words(self, count: int) -> NDArray[np.uint64]:
        return np.asarray(self._raw(count), np.uint64)

    def below(self, n: int, count: int) -> NDArray[Any]:
        """``count`` whole numbers, uniform on 0 ... n - 1; Python's own where n is beyond 2^62."""
        if n == 1:
            return np.zeros(count, np.int64)
        if n > _LARGEST_NOISE:
            return np.array([self._large(n) for _ in range(count)], object)
        last = np.uint64(_WORD - _WORD % n - 1)
        found = self._words(count)
        rejected = np.flatnonzero(found > last)
        while len(rejected):
            found[rejected] = self._words(len(rejected))
            rejected = rejected[found[rejected] > last]
        return (found % np.uint64(n)).astype(np.int64)

    def _large(self, n: int) -> int:
        bits = (n - 1).bit_length()
        while True:
            words = self._words(-(-bits // 64))
            value = int.from_bytes(words.astype("<u8").tobytes(), "little") >> (-bits % 64)
            if value < n:
                return value

    def decays(self, numerators: NDArray[Any], denominator: int) -> NDArray[np.bool_]:
        """A coin of probability exp(-u / t) for each u of ``numerators``, t the ``denominator``, 0 <= u <= t."""
        heads = np.ones(len(numerators), bool)
        running, k = np.arange(len(numerators)), 1
        while len(running):
            first = self.below(denominator, len(running)) < numerators[running]
            running = running[first.astype(bool) & (self.below(k, len(running)) == 0)]
            k += 1
            heads[running] = k % 2 == 1
        return heads

    def runs(self, count: int) -> NDArray[Any]:
        """How often a coin of probability exp(-1) comes up before it fails, ``count`` times."""
        lengths, running = np.zeros(count, np.int64), np.arange(count)
        while len(running):
            running = running[self.decays(np.ones(len(running), np.int64), 1)]
            lengths[running] += 1
        return lengths


def _allowed(level: float, cells: int) -> Decimal:
    """The probability that may be missed in each of ``cells`` independent cells, rounded down (Sidak, here exact)."""
    if not 0 < level < 1:
        raise UsageError(f"a level must be a number between 0 and 1, not {level!r}")
    if cells < 1:
        raise UsageError(f"an interval needs at least one cell, not {cells}")
    with localcontext(_DECIMALS):
        return (1 - (Decimal(repr(float(level))).ln() / cells).exp()) * (1 - _SAFE)


def _log_sinh(values: Float64Array) -> Float64Array:
    return np.asarray(values + np.log(-np.expm1(-2 * values)) - math.log(2))


def _up(value: Decimal) -> float:
    """A float64 that is at least ``value``, a probability whose relative error is below 1e-30."""
    exact = Fraction(value * (1 + _SAFE))
    nearest = float(exact)
    return min(1.0, nearest if Fraction(nearest) >= exact else math.nextafter(nearest, math.inf))
