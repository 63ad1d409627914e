"""Noisy vectors on a public grid: what may be seen of a float (R24; Mironov 2012).

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
    """The grid for one noise law."""

    spacing: float  # L, a power of two
    loss: float  # nats that a vector's exponent can exceed epsilon*d by, rounded up

    @classmethod
    def of(cls, dimension: int, epsilon: float, diagonal: float, reach: float) -> Grid:
        """The cheapest grid for noise of ``dimension`` coordinates at ``epsilon``: nothing of it is private.

        ``diagonal`` is that of the unit cube in the metric, ``reach`` the largest noise times epsilon.
        """
        # Epsilon * L at which the first cost and the third are equal.
        balanced = math.sqrt(4 * dimension * _moved(dimension, reach) / diagonal)
        spacing = 2.0 ** math.floor(math.log2(balanced) - math.log2(epsilon))
        return cls(spacing, loss_of(spacing * epsilon, dimension, diagonal, reach))

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
