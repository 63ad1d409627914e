"""Noisy tables: exact noise in every cell, empty ones too, and limits; how epsilon is divided among them."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Final, Literal, cast, final

import numpy as np

from publius.arrays import Float64Array, IndexArray
from publius.errors import UsageError
from publius.noise.discrete_laplace import DiscreteLaplace, LaplaceSum, sum_of
from publius.privacy.guarantee import exact_number

Table = Literal["totals", "topics", "subjects", "statements"]
CountNoise = DiscreteLaplace | LaplaceSum
LARGEST_TABLE: Final = 50_000_000
LEVEL: Final = 0.95
"""With which all limits of a table hold together."""

Shares = Mapping[Table, Fraction]
"""How epsilon is divided among the tables: each sees all contributed documents, so their epsilons add up."""

_USUAL: Final = {"totals": 2, "topics": 5, "subjects": 3, "statements": 5}


def exact_share(value: float | str | Fraction, what: str) -> Fraction:
    """`exact_number`, of a size that noise can be drawn for."""
    exact = exact_number(value, what)
    if exact > 10**6 or exact.denominator > 10**12:
        raise UsageError(f"{what} must be a number up to a million, of at most twelve decimals, not {value!r:.40}")
    return exact


def shares_of(given: Mapping[str, float | str | Fraction] | str | None, made: tuple[Table, ...]) -> Shares:
    """Shares of the tables that are ``made``: as ``given`` (``topics=0.7,subjects=0.3``), else the usual ones.

    `UsageError` unless they are of these tables, positive and sum to at most 1; a table without a share is not made.
    """
    if given is None:
        whole = sum(_USUAL[name] for name in made)
        return {name: Fraction(_USUAL[name], whole) for name in made}
    pairs = [*given.items()] if isinstance(given, Mapping) else [_pair(item) for item in given.split(",")]
    found = {name: exact_share(value, "a share of epsilon") for name, value in pairs}
    if len(found) < len(pairs):
        raise UsageError("a share of epsilon is given twice")
    if not set(found) <= {*made}:
        wrong = next(name for name in found if name not in made)
        raise UsageError(f"no table {wrong!r:.40} in this summary: shares of epsilon are for {', '.join(made)}")
    if sum(found.values()) > 1:
        raise UsageError(f"the shares of epsilon sum to {float(sum(found.values())):g}: they may sum to 1 at most")
    return {name: found[name] for name in made if name in found}


def _pair(item: str) -> tuple[str, str]:
    name, equals, value = (piece.strip() for piece in item.partition("="))
    if not equals:
        raise UsageError("shares of epsilon are written as --share topics=0.7,subjects=0.3")
    return cast("Table", name), value


@final
@dataclass(frozen=True, eq=False)
class NoisyTable:
    """Counts with noise, independent in each cell: public."""

    values: IndexArray  # raw, so some may be negative
    noise: CountNoise
    most: int  # no true count is larger

    def limits(self) -> tuple[IndexArray, IndexArray]:
        """The lowest and highest true count of each cell; all of them hold together with 95 %."""
        width = self.noise.half_width(LEVEL, cells=self.values.size)
        return np.clip(self.values - width, 0, self.most), np.clip(self.values + width, 0, self.most)

    def summed(self, axis: int) -> NoisyTable:
        """The sums of a drawn table along an axis."""
        values = self.values.sum(axis=axis)
        noise = sum_of(cast("DiscreteLaplace", self.noise), self.values.size // values.size)
        return NoisyTable(values, noise, self.most)


def histogram(cells: IndexArray, shape: tuple[int, ...]) -> IndexArray:
    """How many documents fall in each cell of a table. Private. `UsageError` for a table too large."""
    size = math.prod(shape)
    if size > LARGEST_TABLE:
        raise UsageError(f"a table of {size:,} cells is larger than {LARGEST_TABLE:,}: declare fewer groups")
    return np.bincount(cells, minlength=size).reshape(shape)


# What may be made of it -------------------------------------------------------------------------------------


def whole_rows(values: IndexArray, totals: IndexArray) -> IndexArray:
    """Whole numbers from 0 whose rows add up to ``totals``: the nearest point of each simplex {x >= 0, sum x = total}.

    Setting negative cells to 0 one by one would add documents that nobody wrote: half of the noise of all empty cells.
    """
    rows = _on_simplex(values.astype(np.float64), totals.astype(np.float64))
    below = np.floor(rows)
    missing = totals - below.sum(axis=1).astype(np.int64)
    order = np.argsort(below - rows, axis=1, kind="stable")  # the largest remainders are rounded up
    more = np.arange(rows.shape[1])[None, :] < missing[:, None]
    whole = below.astype(np.int64)
    np.put_along_axis(whole, order, np.take_along_axis(whole, order, axis=1) + more, axis=1)
    return whole


def _on_simplex(rows: Float64Array, totals: Float64Array) -> Float64Array:
    """max(x - t, 0) for the t at which each row has its total (Held, Wolfe and Crowder 1974)."""
    ordered = -np.sort(-rows, axis=1)
    excess = np.cumsum(ordered, axis=1) - totals[:, None]
    used = np.maximum((ordered > excess / np.arange(1, rows.shape[1] + 1)).sum(axis=1), 1)
    threshold = np.take_along_axis(excess / np.arange(1, rows.shape[1] + 1), used[:, None] - 1, axis=1)
    return np.asarray(np.maximum(rows - threshold, 0))
