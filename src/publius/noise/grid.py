"""Noisy vectors on a public grid: what may be seen of a float (R24; Mironov 2012).

In floats x + noise betrays x: the low bits of the sum exclude neighbors outright, however large the noise. So both are
rounded to one grid before they are added. Its spacing L is a power of two and depends on epsilon, n and the metric
alone. x becomes the index X of the cell it lies in, clamped to a public range, and the noise V the index R of its
cell. The output is L*(X + R), a sum of whole numbers below 2^53, which float64 adds without rounding: **its law depends
on x through X alone, and moving x only moves the law of R**. What that costs, for vectors at distance d:

1. Clamping brings no two points further apart; rounding moves each by half a cell's diagonal at most. So L*X and L*X'
   are at most d + L*D apart, D the diagonal of the unit cube in the metric (sqrt(n), or n for Manhattan).
2. For noise with the exact law the probability of a cell is the integral of the density over it. Cells are translates
   of one cube, and the density changes by a factor of exp(epsilon*t) at most over a distance t, so the probabilities
   of two cells differ by a factor of exp(epsilon * their distance) at most. Together: exp(epsilon*d + epsilon*L*D).
3. The sampler is made of floats. **Assumption**: a vector that it draws can be coupled with an exact one (of the law
   that ends at the sampler's reach) from which no coordinate is further than t = 2^-53 * (n/2 + 32) * reach / epsilon.
   Of these units n/2 + 8 cover the rounding of the length, the quotient and the products, which is proven. 24 are
   left for the normals and the gamma, which NumPy makes of uniforms of 52 and 53 bits; for those we know of no proof,
   and the tests of their law (`publius.audit.noise_law`) see errors far larger only. Then R = k comes only from
   exact vectors in the cell widened by t, and surely from those in the cell narrowed by t. That adds a factor of
   ((1 + 2t/L) / (1 - 2t/L))^n * exp(2 * epsilon * t * D).

The three costs together are `Grid.loss`: nats for each vector, whatever d is. Delta is the noise's own, for a distance
larger by one nat at most. L balances the first cost against the third.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Final, final

import numpy as np

from publius.arrays import Float64Array, FloatArray
from publius.errors import UsageError

_ALLOWED_UNITS: Final = 32  # of 2^-53, besides n/2
_LARGEST_INDEX: Final = 2.0**51


@final
@dataclass(frozen=True)
class Grid:
    """The grid for one noise law.

    Attributes:
        spacing: L, a power of two.
        loss: nats that a vector's exponent can exceed epsilon*d by, rounded up.

    """

    spacing: float
    loss: float

    @classmethod
    def of(cls, dimension: int, epsilon: float, diagonal: float, reach: float) -> Grid:
        """The grid for noise of ``dimension`` coordinates at ``epsilon``.

        ``diagonal`` is that of the unit cube in the metric, ``reach`` the largest noise times epsilon. None of it is
        private.
        """
        moved = _moved(dimension, reach)
        balanced = math.sqrt(4 * dimension * moved / diagonal)  # epsilon * L at which both costs are equal
        spacing = 2.0 ** math.floor(math.log2(balanced) - math.log2(epsilon))
        return cls.spaced(spacing, dimension, epsilon, diagonal, reach)

    @classmethod
    def spaced(cls, spacing: float, dimension: int, epsilon: float, diagonal: float, reach: float) -> Grid:
        """The grid of the largest power of two up to ``spacing``, with what it costs; the rest as for `of`.

        `UsageError` for a spacing that is no such number, or so fine that it would not hide the sampler's rounding.
        """
        if not (math.isfinite(spacing) and spacing > 0):
            raise UsageError(f"the spacing of a grid must be a positive number, not {spacing!r}")
        power = 2.0 ** (math.frexp(spacing)[1] - 1)
        moved, scaled = _moved(dimension, reach), power * epsilon
        if not 2 * moved < scaled < math.inf:
            raise UsageError(
                f"a grid of spacing {power:g} is too fine for epsilon {epsilon:g} in {dimension} dimensions, or too "
                f"coarse for any number: leave it out, or give one from {4 * moved / epsilon:.3g}"
            )
        widened = dimension * (math.log1p(2 * moved / scaled) - math.log1p(-2 * moved / scaled))
        loss = diagonal * (scaled + 2 * moved) + widened
        return cls(power, loss * (1 + 2.0**-40))

    def indices(self, values: FloatArray) -> Float64Array:
        """The cell of each value, clamped to 2^51 on either side: whole numbers as float64."""
        with np.errstate(over="ignore", under="ignore"):  # beyond all floats is clamped too
            scaled = np.asarray(values, np.float64) / self.spacing  # exact: the spacing is a power of two
        return np.asarray(np.clip(np.rint(scaled), -_LARGEST_INDEX, _LARGEST_INDEX))

    def sum(self, vectors: FloatArray, noise: FloatArray) -> Float64Array:
        """``vectors`` and ``noise``, each put on the grid, added without rounding."""
        return np.asarray((self.indices(vectors) + self.indices(noise)) * self.spacing)


def _moved(dimension: int, reach: float) -> float:
    """Epsilon * t: how far the sampler's rounding moves a coordinate."""
    return math.ldexp((dimension / 2 + _ALLOWED_UNITS) * reach, -53)
