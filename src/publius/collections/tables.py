"""Noisy tables: exact noise in every cell, and what may be made of it afterwards.

Only `noisy_table` sees counts. All other functions see its result and public numbers, so they cost nothing.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from types import MappingProxyType
from typing import Final, Literal, cast, final, get_args

import numpy as np

from publius.arrays import Float64Array, IndexArray
from publius.errors import DataError, UsageError
from publius.noise.discrete_laplace import DiscreteLaplace
from publius.noise.randomness import Generator

Statistic = Literal["totals", "themes", "subjects"]
STATISTICS: Final[tuple[Statistic, ...]] = get_args(Statistic)
LARGEST_TABLE: Final = 50_000_000


@final
@dataclass(frozen=True)
class Shares:
    """How epsilon is divided among the statistics: exact fractions greater than 0 that sum to 1 at most.

    Each statistic sees all contributed documents, so their epsilons add up.
    """

    parts: Mapping[Statistic, Fraction]

    def __post_init__(self) -> None:
        """Refuse shares that are not positive, sum to more than 1 or name no statistic: `UsageError`."""
        parts = dict(self.parts)
        if not parts or not set(parts) <= {*STATISTICS}:
            raise UsageError(f"shares of epsilon are for {', '.join(STATISTICS)}: at least one of them")
        if not all(isinstance(part, Fraction) and part > 0 for part in parts.values()):
            raise UsageError(
                "a share of epsilon must be greater than 0: leave out a statistic that is not wanted"
            )
        if sum(parts.values()) > 1:
            raise UsageError(
                f"the shares of epsilon sum to {float(sum(parts.values())):g}: they may sum to 1 at most"
            )
        object.__setattr__(self, "parts", MappingProxyType(parts))

    @classmethod
    def parse(cls, text: str) -> Shares:
        """Shares of ``themes=0.7,subjects=0.3``: decimals or fractions, taken exactly as they are written."""
        parts: dict[Statistic, Fraction] = {}
        for item in text.split(","):
            name, _, value = (piece.strip() for piece in item.partition("="))
            try:
                share = Fraction(value)
            except (ValueError, ZeroDivisionError):
                raise UsageError("shares of epsilon are written as themes=0.7,subjects=0.3") from None
            if name in parts:
                raise UsageError(f"the share of {name} is given twice")
            parts[cast("Statistic", name)] = share
        return cls(parts)

    def epsilon(self, total: Fraction, statistic: Statistic) -> Fraction | None:
        """The share of the ``total`` epsilon that one statistic gets; None where it is not made."""
        share = self.parts.get(statistic)
        return None if share is None else total * share


@final
@dataclass(frozen=True)
class NoisyTable:
    """Counts with noise, of shape (strata, cells): public.

    Attributes:
        values: raw noisy counts, which may be negative.
        noise: its law, independent in each cell.
    """

    values: IndexArray
    noise: DiscreteLaplace

    def intervals(self, level: float = 0.95, *, simultaneous: bool = True) -> tuple[IndexArray, IndexArray]:
        """The lowest and highest true count of each cell; all of them hold together with probability ``level``.

        From the raw values, whose noise has an exact law: reconciled ones have none. A true count is never below 0.
        """
        width = self.noise.half_width(level, cells=self.values.size if simultaneous else 1)
        return np.maximum(self.values - width, 0), np.maximum(self.values + width, 0)

    def sums(self, level: float = 0.95, *, axis: int) -> tuple[IndexArray, IndexArray, IndexArray]:
        """Sums along an axis with the lowest and highest true sum; all of them hold together."""
        sums = self.values.sum(axis=axis)
        width = self.noise.half_width_of_sum(self.values.shape[axis], level, cells=max(1, sums.size))
        return sums, np.maximum(sums - width, 0), np.maximum(sums + width, 0)


def histogram(cells: IndexArray, shape: tuple[int, ...]) -> IndexArray:
    """How many documents fall in each cell of a table. Private. `DataError` for a cell beyond the table."""
    size = math.prod(shape)
    if size > LARGEST_TABLE:
        raise UsageError(f"a table of {size:,} cells is larger than {LARGEST_TABLE:,}: declare fewer strata")
    if len(cells) and not 0 <= cells.min() <= cells.max() < size:
        raise DataError("a document counts in a cell that the table does not have")
    return np.bincount(cells, minlength=size).reshape(shape)


def noisy_table(counts: IndexArray, *, epsilon: Fraction, per_author: int, rng: Generator) -> NoisyTable:
    """``counts`` of contributed documents, at most ``per_author`` an author, under a pure ``epsilon``; delta is 0.

    Replacing an author moves the counts by 2c in all, so the noise has the scale 2c / epsilon. Adding an author or
    leaving one out moves them by c: that is epsilon / 2. Every cell gets noise, empty ones too.
    """
    noise = DiscreteLaplace.protecting(2 * per_author, epsilon)
    return NoisyTable(noise.noisy(counts, rng), noise)


# What may be made of it ---------------------------------------------------------------------------------------------


def estimated_totals(table: NoisyTable, totals: NoisyTable | None = None) -> IndexArray:
    """The number of documents in each stratum: whole numbers from 0.

    From the sum of its cells and, where the totals have a share of epsilon, from those too, weighted by their
    precision: the best linear estimate of two independent measurements.
    """
    sums = table.values.sum(axis=1).astype(np.float64)
    if totals is not None:
        if totals.values.shape != (len(table.values),):
            raise UsageError("there must be one total for each stratum of the table")
        cells = table.values.shape[1] * table.noise.deviation**2
        own = totals.noise.deviation**2
        sums = (
            (sums * own + totals.values * cells) / (own + cells) if own + cells > 0 else totals.values * 1.0
        )
    return np.asarray(np.maximum(np.rint(sums), 0), np.int64)


def reconciled(table: NoisyTable, totals: NoisyTable | None = None) -> IndexArray:
    """Whole numbers from 0 whose rows add up to `estimated_totals`: what synthetic rows are made of.

    Each row is the point of the simplex {x >= 0, sum x = total} next to the noisy row (least squares), rounded so that
    the sum stays. Setting negative cells to 0 one by one would add documents that nobody wrote: half of the noise of
    all empty cells.
    """
    wanted = estimated_totals(table, totals)
    return _whole(_on_simplex(table.values.astype(np.float64), wanted.astype(np.float64)), wanted)


def _on_simplex(rows: Float64Array, totals: Float64Array) -> Float64Array:
    """max(x - t, 0) for the t at which each row has its total (Held, Wolfe and Crowder 1974)."""
    ordered = -np.sort(-rows, axis=1)
    excess = np.cumsum(ordered, axis=1) - totals[:, None]
    thresholds = excess / np.arange(1, rows.shape[1] + 1)
    used = np.maximum((ordered > thresholds).sum(axis=1), 1)
    threshold = np.take_along_axis(thresholds, used[:, None] - 1, axis=1)
    return np.asarray(np.maximum(rows - threshold, 0))


def _whole(rows: Float64Array, totals: IndexArray) -> IndexArray:
    """Rows rounded to whole numbers with the given sums: the largest remainders are rounded up."""
    below = np.floor(rows)
    missing = totals - below.sum(axis=1).astype(np.int64)
    order = np.argsort(below - rows, axis=1, kind="stable")
    places = np.arange(rows.shape[1])
    whole = below.astype(np.int64)
    # A row may miss as much as it has cells by rounding alone: never more.
    np.put_along_axis(
        whole, order, np.take_along_axis(whole, order, axis=1) + (places[None, :] < missing[:, None]), axis=1
    )
    return whole
