"""Shuffling: (epsilon, delta) of n documents that are released as rows without ids and without order.

Each document becomes one of M outcomes, and P(k) >= 1 / Z for every outcome k of every document, Z = e^B + M - 1. So
a row is, with probability M / Z, drawn uniformly whatever its document is: the rows of the others that are drawn so
are the *privacy blanket* in which one document is hidden (Balle, Bell, Gascon and Nissim, "The Privacy Blanket of the
Shuffle Model", 2019). Whoever knows all other documents, and even which of their rows were drawn uniformly and what
the other rows show, is left with the counts of the uniform rows and the target's row together.

The hockey-stick divergence E[(1 - e^epsilon / ratio)_+] is jointly convex in the two laws, so its largest value is at
two documents that always take x and y where they are not drawn uniformly; soft scores are mixtures of such documents.
With c_x, c_y the counts at x and y and N the number of uniform rows and the target's,

    ratio = (N + (e^B - 1) c_x) / (N + (e^B - 1) c_y).

The counts of the other n - 1 rows at x, at y and elsewhere are multinomial with probabilities 1/Z, 1/Z and (M - 2)/Z;
the target's row is at x, y or elsewhere with e^B/Z, 1/Z and (M - 2)/Z. `Shuffling` sums over all of it. Where that would
be too long, counts are put in bins and stand at the edge that raises the ratio: the ratio grows with c_x and falls
with c_y and with the number elsewhere, and with more at x the others are stochastically fewer, so the sum only grows.
What is left out of the sums is added to delta. The results are above the exact ones by less than 1 %.
"""

from __future__ import annotations

import math
from typing import Final, final

import numpy as np

from publius.arrays import Float64Array, IndexArray
from publius.errors import UsageError

MOST_DOCUMENTS: Final = 10_000_000  # more documents are counted as so many: more never hide less
LARGEST_EPSILON: Final = 30.0

_LEFT_OUT: Final = 1e-14  # probability of the counts that are left out, on each side of each count
_NEGLIGIBLE: Final = 1e-21
_ROUNDING: Final = 1e-12
_INACCURACY: Final = 1 + 1e-6  # more than the relative error of the binomial probabilities
_SUMMING: Final = 1e-11  # more than the relative error of sums of so many probabilities
_BINS_A_DEVIATION: Final = 64
_RATIO_ERROR: Final = 1e-3
_LOSS_STEP: Final = 2e-4
_SMALLEST_LOSS: Final = 1e-7
_AT_ONCE: Final = 2**20
_HALVINGS: Final = 48
_GRID: Final = 512


@final
class Shuffling:
    """The exact trade of epsilon and delta for n rows of M-ary randomized response, rounded up.

    ``epsilon`` is B, ``outcomes`` are M, *every* outcome that a row can show. It holds for a person: if all documents of one
    are replaced one for one, whatever is seen is at most exp(epsilon) times as probable, but for a probability of delta.
    """

    def __init__(self, epsilon: float, outcomes: int, documents: int) -> None:
        if not 0 < epsilon <= LARGEST_EPSILON:
            raise UsageError(f"epsilon must be greater than 0 and at most {LARGEST_EPSILON:g}, not {epsilon!r}")
        _check_count("outcomes", outcomes)
        _check_count("documents", documents)
        self.epsilon, self.outcomes = float(epsilon), outcomes
        self._gain = math.expm1(epsilon) * (1 + 1e-14)
        self._chance = 1 / (self._gain + outcomes)  # 1 / Z: of a uniform row at x
        self._steps = math.ceil(math.log(self.epsilon / min(_SMALLEST_LOSS, self.epsilon / 2)) / _LOSS_STEP)
        self._losses = self.epsilon * np.exp(-_LOSS_STEP * np.arange(self._steps))
        self._masses = np.zeros(self._steps)
        self._missing = _ROUNDING
        if outcomes > 1:
            self._sum(min(documents, MOST_DOCUMENTS) - 1)
        self._above = np.cumsum(self._masses)
        self._scaled = np.cumsum(self._masses * np.exp(-self._losses))

    def delta_at(self, epsilon: float, *, documents_per_author: int = 1) -> float:
        """The smallest delta that holds for a person at ``epsilon``, rounded up; 0 from c times epsilon on.

        A person with c documents has c steps from one collection to the other: delta(epsilon / c) of one document
        times (e^epsilon - 1) / (e^(epsilon / c) - 1), the sum of the factors e^(i epsilon / c), i < c.
        """
        _check_count("documents of an author", documents_per_author)
        if not (math.isfinite(epsilon) and epsilon >= 0):
            raise UsageError(f"epsilon must be a number from 0, not {epsilon!r}")
        share = epsilon / documents_per_author
        if share >= self.epsilon or self.outcomes == 1:
            return 0.0
        delta = self._one(share) * _steps_factor(share, documents_per_author) * (1 + 1e-12)
        return min(1.0, delta)

    def epsilon_at(self, delta: float, *, documents_per_author: int = 1) -> float:
        """The smallest epsilon at which a person's delta is at most ``delta``, rounded up; c times epsilon at most."""
        _check_count("documents of an author", documents_per_author)
        if not 0 <= delta < 1:
            raise UsageError(f"delta must be a number from 0 and below 1, not {delta!r}")
        if self.outcomes == 1:
            return 0.0
        grid = [0.0, *(self.epsilon * np.geomspace(1e-6, 1, _GRID)).tolist()]
        grid[-1] = self.epsilon

        def holds(share: float) -> bool:
            return self.delta_at(share * documents_per_author, documents_per_author=documents_per_author) <= delta

        place = next(place for place, share in enumerate(grid) if holds(share))  # the last one does
        low, high = grid[max(place - 1, 0)], grid[place]
        for _ in range(_HALVINGS):
            middle = (low + high) / 2
            low, high = (low, middle) if holds(middle) else (middle, high)
        return float(high * documents_per_author)

    def _one(self, epsilon: float) -> float:
        """Delta of one document at an ``epsilon`` below that of one."""
        count = len(self._losses) - int(np.searchsorted(self._losses[::-1], epsilon, side="right"))
        if count == 0:
            return self._missing * _INACCURACY
        above, scaled = float(self._above[count - 1]), float(self._scaled[count - 1])
        excess = above - math.exp(epsilon) * scaled + above * _SUMMING
        return (excess + self._missing) * _INACCURACY

    def _sum(self, others: int) -> None:
        """The probability of every privacy loss above 0, each rounded up to the next of ``_losses``."""
        chance, rest = self._chance, (self.outcomes - 2) * self._chance
        steps = [(1, 0, 0, 1 - (self.outcomes - 1) * chance), (0, 1, 0, chance), (0, 0, 1, rest)]
        x, y, left, masses = self._pairs(others, chance)
        elsewhere, shares, place = self._elsewhere(left, x, min(1.0, rest / (1 - 2 * chance)) if rest > 0 else 0.0)
        for start in range(0, len(x), step := max(1, _AT_ONCE // len(elsewhere))):
            part = slice(start, start + step)
            weights = shares[place[part]] * masses[part, None]
            for dx, dy, do, probability in steps:
                if probability > 0:
                    at_x, at_y = x[part, None] + dx, y[part, None] + dy
                    size = at_x + at_y + (elsewhere + do)
                    self._add((size + self._gain * at_x) / (size + self._gain * at_y), weights * probability)
        self._missing += 6 * _LEFT_OUT

    def _pairs(self, others: int, chance: float) -> tuple[IndexArray, IndexArray, IndexArray, Float64Array]:
        """Largest counts at x, smallest at y, what the largest of both leave for elsewhere, and each pair's probability."""
        first_x, last_x = _bins(others, others, chance)
        first_y, last_y = _bins(int(others - last_x[-1]), int(others - first_x[0]), chance / (1 - chance))
        at_x = _shares_of_bins(first_x, last_x, np.array([others]), chance)[0]
        at_y = _shares_of_bins(first_y, last_y, others - last_x, min(1.0, chance / (1 - chance)))
        masses = at_x[:, None] * at_y
        useful = first_y[None, :] < last_x[:, None] + 1  # elsewhere no ratio is above 1
        likely = masses > _NEGLIGIBLE
        self._missing += float(masses[useful & ~likely].sum())
        x, y = np.nonzero(useful & likely)
        return last_x[x], first_y[y], np.maximum(others - last_x[x] - last_y[y], 0), masses[x, y]

    def _elsewhere(self, left: IndexArray, x: IndexArray, chance: float) -> tuple[IndexArray, Float64Array, IndexArray]:
        """Lower edges of bins of the count elsewhere, their probabilities, and which row of those is for which."""
        trials, place = np.unique(left, return_inverse=True)
        if chance == 0 or not len(trials):
            return np.zeros(1, np.int64), np.ones((len(trials), 1)), place
        first, last = likely_counts(int(trials[0]), int(trials[-1]), chance)
        size = first + (2 + self._gain) * float(x.min()) + 1
        bins = max(1, min(last + 1 - first, math.ceil((last + 1 - first) / (_RATIO_ERROR * size))))
        edges = np.unique(np.linspace(first, last + 1, bins + 1).astype(np.int64))
        return edges[:-1], _shares_of_bins(edges[:-1], edges[1:] - 1, trials, chance), place

    def _add(self, ratios: Float64Array, masses: Float64Array) -> None:
        above = ratios > 1
        losses = np.log(ratios[above]) * (1 + 1e-13)
        # A loss between two of the list counts as the larger one, one below all of them as the smallest.
        places = np.floor(np.log(self.epsilon / np.minimum(losses, self.epsilon)) / _LOSS_STEP - 1e-9).astype(np.int64)
        places = np.clip(places, 0, self._steps - 1)
        self._masses += np.bincount(places, masses[above], self._steps)


def likely_counts(fewest: int, most: int, chance: float) -> tuple[int, int]:
    """The counts of Bin(trials, chance), for trials from ``fewest`` to ``most``, but for 1e-14 on each side (Bernstein)."""
    if chance >= 1.0:
        return fewest, most
    rare = -math.log(_LEFT_OUT)

    def width(trials: int) -> float:
        return math.sqrt(2 * rare * trials * chance * (1 - chance)) + rare

    low = max(math.floor(fewest * chance - width(fewest)), 0)
    return low, min(math.ceil(most * chance + width(most)), most)


def _bins(fewest: int, most: int, chance: float) -> tuple[IndexArray, IndexArray]:
    """The first and last count of each bin: single counts unless there are very many."""
    low, high = likely_counts(fewest, most, chance)
    width = max(1, int(math.sqrt(most * chance * max(0.0, 1 - chance)) / _BINS_A_DEVIATION))
    first = np.arange(low, high + 1, width)
    return first, np.minimum(first + width - 1, high)


def _shares_of_bins(first: IndexArray, last: IndexArray, trials: IndexArray, chance: float) -> Float64Array:
    """The probability of each bin for each number of trials, shape (trials, bins)."""
    if (first == last).all():
        return exactly(first, trials[:, None], chance)
    return np.asarray(-np.diff(at_least(np.append(first, last[-1] + 1), trials[:, None], chance), axis=1))


def exactly(k: IndexArray, n: IndexArray | int, chance: float) -> Float64Array:
    """P(Bin(n, chance) = k)."""
    from scipy.special import gammaln, xlog1py, xlogy  # scipy.stats would take a second to import

    inside = np.clip(k, 0, n)
    logs = gammaln(n + 1) - gammaln(inside + 1) - gammaln(n - inside + 1)
    return np.asarray(np.where(k == inside, np.exp(logs + xlogy(inside, chance) + xlog1py(n - inside, -chance)), 0.0))


def at_least(k: IndexArray | int, n: IndexArray | int, chance: float) -> Float64Array:
    """P(Bin(n, chance) >= k)."""
    from scipy.special import betainc

    inside = betainc(np.maximum(k, 1), np.maximum(n - k + 1, 1), chance)
    return np.where(k <= 0, 1.0, np.where(k > n, 0.0, inside))


def _steps_factor(share: float, documents: int) -> float:
    """(e^(c s) - 1) / (e^s - 1)."""
    if share * documents > 700:
        return math.inf
    return float(math.expm1(share * documents) / math.expm1(share)) if share > 1e-9 else documents * (1 + 1e-6)


def _check_count(name: str, value: int) -> None:
    if isinstance(value, bool) or not isinstance(value, int) or value < 1:
        raise UsageError(f"the number of {name} must be a whole number from 1, not {value!r:.40}")
