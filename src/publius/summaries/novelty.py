"""What changed: counts against an earlier summary or public texts, with limits for all cells together.

Three things make a share differ: the noise, the chance of which authors wrote now, and that of which wrote before. A
cell is ordered by its standardized excess, and called *new* or *more* only where the ratio of both shares has a lower
limit above 1, for all three and for all cells at once (*less*, *gone*: an upper limit below 1).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final, final

import numpy as np
from numpy.typing import NDArray

from publius.arrays import Float64Array, IndexArray
from publius.errors import UsageError
from publius.summaries.tables import CountNoise

_MOST_STEPS: Final = 90
_CLOSE: Final = 1e-10
_BESIDE: Final = 0.005
_MOST_ATOMS: Final = 256


@final
@dataclass(frozen=True, eq=False)
class Sample:
    """Counts of cells in a collection: of public texts as they are, of a summary with its noise, so below 0, too."""

    counts: IndexArray
    documents: tuple[int, int]  # the lowest and the highest number in all cells together
    noise: CountNoise | None = None
    per_author: int = 1  # at most so many documents are one author's


@final
@dataclass(frozen=True, eq=False)
class Novelty:
    """How each cell compares with what was known before."""

    excess: Float64Array  # of the count above what was expected, in standard deviations
    before: Float64Array  # its share, as estimated
    seen: NDArray[np.bool_]  # whether it was told from none before
    low: Float64Array  # limits of its share now over its share before; each of the two holds for all cells together
    high: Float64Array


def novelty(now: Sample, before: Sample, *, level: float = 0.95) -> Novelty:
    """Compare counts ``now`` with those ``before``, cell by cell; `UsageError` unless both have the same cells.

    Expected is (b + 1) / (N + K) of the documents now, b of N documents before in K cells (an empty cell is not taken
    to be impossible). Its variance: the noise now, the count's own (Poisson), that of b, and the noise before. The
    limits take ``level`` for all K cells together by the union bound, half of what may be missed for each share.
    """
    cells = len(now.counts)
    if cells != len(before.counts) or cells < 1:
        raise UsageError("only tables of the same cells can be compared")
    size, known = sum(now.documents) / 2, max(sum(before.documents) / 2, 1.0)
    b = np.maximum(before.counts.astype(np.float64), 0)
    expected = (b + 1) / (known + cells) * size
    noise, old_noise = (0.0 if each.noise is None else each.noise.deviation for each in (now, before))
    variance = noise**2 + now.per_author * np.maximum(expected, 1)
    variance += before.per_author * expected**2 / (b + 1) + (old_noise * size / known) ** 2
    tail = (1 - level) / (2 * cells)
    (now_low, now_high), (before_low, before_high) = (share_limits(sample, tail) for sample in (now, before))
    with np.errstate(divide="ignore", invalid="ignore"):
        high = np.where(before_low > 0, now_high / before_low, math.inf)
        # Noise that is rarely so far below 0 leaves no share that explains a count: then nothing is known of the ratio.
        low = np.where(before_high > 0, now_low / before_high, 0.0)
    excess = (now.counts - expected) / np.sqrt(variance)
    return Novelty(excess, b / known, before_low > 0, np.asarray(low), np.asarray(high))


def share_limits(sample: Sample, tail: float) -> tuple[Float64Array, Float64Array]:
    """The lowest and the highest share of each cell in what the collection is a sample of.

    Each of the two is missed with a probability of at most ``tail``. As Clopper and Pearson: the lowest share is the
    one at which a noisy count of at least the one seen has that probability, count = binomial + noise, summed over the
    noise. With c documents an author the authors are the sample, so the counts are c times those of n / c trials at
    most: that is the widest they can spread.
    """
    c, (fewest, most) = sample.per_author, sample.documents
    counts, places = np.unique(sample.counts, return_inverse=True)  # equal counts have equal limits
    values, chances, left_out = _atoms(sample.noise, tail)
    allowed = tail - left_out
    # Noise is moved to the farther edge of its bin, so that both limits only move outwards.
    least = np.ceil((counts[:, None] - values[1][None, :]) / c)
    largest = np.floor((counts[:, None] - values[0][None, :]) / c)
    low = _solve(lambda share: _at_least(least, max(1, math.ceil(most / c)), share) @ chances, len(counts), allowed)
    trials = max(1, fewest // c)
    high = 1 - _solve(lambda share: _at_least(trials - largest, trials, share) @ chances, len(counts), allowed)
    return low[places], high[places]


def _at_least(least: Float64Array, trials: int, share: Float64Array) -> Float64Array:
    """P(Bin(trials, share) >= least) for each row's share."""
    from scipy.special import betainc

    inside = np.clip(least, 1, trials)
    found = betainc(inside, trials - inside + 1, share[:, None])
    return np.where(least <= 0, 1.0, np.where(least > trials, 0.0, found))


def _solve(probability: Callable[[Float64Array], Float64Array], cells: int, allowed: float) -> Float64Array:
    """The largest share from 0 at which a probability that grows with it is at most ``allowed``; rounded down.

    In the scale asin(sqrt(share)), where the quantile of a binomial probability is nearly a line: the two ends close in
    on where that passes ``allowed``, and every third step halves. An end moves only to where it was computed.
    """
    from scipy.special import ndtri

    wanted = ndtri(allowed)
    low, high = np.zeros(cells), np.full(cells, np.pi / 2)
    at_low, at_high = np.full(cells, -np.inf), np.full(cells, np.inf)
    for step in range(_MOST_STEPS):
        width = high - low
        if (width <= _CLOSE).all():
            break
        with np.errstate(invalid="ignore"):
            line = (wanted - at_low) / (at_high - at_low) + (0, -_BESIDE, _BESIDE)[step % 3]
        along = np.where((step % 3 > 0) & np.isfinite(line), np.clip(line, 0, 1), 0.5)
        at = low + width * along
        found = ndtri(probability(np.sin(at) ** 2))
        fits = found <= wanted
        low, at_low = np.where(fits, at, low), np.where(fits, found, at_low)
        high, at_high = np.where(fits, high, at), np.where(fits, at_high, found)
    return np.asarray(np.sin(low) ** 2)


def _atoms(noise: CountNoise | None, tail: float) -> tuple[tuple[IndexArray, IndexArray], Float64Array, float]:
    """The lower and upper edge of bins of the noise, their probabilities, and what is beyond all of them."""
    if noise is None:
        return (np.zeros(1, np.int64), np.zeros(1, np.int64)), np.ones(1), 0.0
    reach = noise.half_width(1 - tail / 1000)
    width = max(1, -(-(2 * reach + 1) // _MOST_ATOMS))
    first = np.arange(-reach, reach + 1, width)
    last = np.minimum(first + width - 1, reach)
    chances = np.array(
        [noise.above(int(one) - 1) - noise.above(int(two)) for one, two in zip(first, last, strict=True)]
    )
    return (first, last), np.maximum(chances, 0), noise.beyond(reach) + 1e-14
