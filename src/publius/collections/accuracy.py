"""How far counts may be off, from public numbers only and before anything is spent."""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass
from fractions import Fraction
from typing import Any, Final, final

from publius.errors import UsageError
from publius.noise.discrete_laplace import DiscreteLaplace

LEVEL: Final = 0.95
LARGE: Final = 10
"""A cell of so many times the average share is large; where not even such a one shows, nothing does."""


@final
@dataclass(frozen=True)
class Accuracy:
    """The precision that a noisy table of ``cells`` cells will have.

    Attributes:
        authors: expected.
        cells: of the table.
        epsilon: of this table, its share already taken.
        documents_per_author: c.
        count_95: half-width of the 95 % interval of one cell.
        all_95: that of all cells together, by the exact law of independent noise.
        difference_95: by so much two cells must differ to be told apart, all pairs with one cell together.
        share_95: the same as a share of all contributed documents.
        smallest_95: the smallest count at which a cell can be told from an empty one, all cells together.
    """

    authors: int
    cells: int
    epsilon: Fraction
    documents_per_author: int
    count_95: int
    all_95: int
    difference_95: int
    share_95: float
    smallest_95: int

    @property
    def says_nothing(self) -> bool:
        """Whether not even a cell of ten times the average count could be told from an empty one."""
        documents = self.authors * self.documents_per_author
        return documents * min(1.0, LARGE / self.cells) < self.smallest_95


def accuracy(authors: int, cells: int, epsilon: Fraction, *, documents_per_author: int = 1) -> Accuracy:
    """The precision of a table of ``cells`` cells at ``epsilon``; `UsageError` for numbers that do not exist.

    The average author is taken to contribute c documents: with fewer, shares are told apart less well.
    """
    _check(authors, "authors")
    _check(cells, "cells")
    _check(documents_per_author, "documents per author")
    noise = DiscreteLaplace.protecting(2 * documents_per_author, epsilon)
    together = noise.half_width(LEVEL, cells=cells)
    difference = noise.half_width_of_sum(2, LEVEL, cells=cells)
    share = min(1.0, (difference + 1) / (authors * documents_per_author))
    return Accuracy(
        authors, cells, epsilon, documents_per_author, noise.half_width(LEVEL), together, difference, share,
        2 * together + 1,
    )  # fmt: skip


def said_beforehand(
    found: Accuracy, epsilon: Fraction, *, strata: int = 1, wanted: int | None = None
) -> dict[str, Any]:
    """All that can be told before anything is spent, by the names of ``publius summarize --accuracy --json``."""
    facts: dict[str, Any] = {
        **asdict(found),
        "epsilon": float(epsilon),
        "epsilon_added_or_left_out": float(epsilon / 2),
        "says_nothing": found.says_nothing,
        "strata": strata,
        "themes_that_pay": themes_that_pay(epsilon, found.authors, strata),
    }
    if wanted is not None:
        needed = epsilon_for(wanted, documents_per_author=found.documents_per_author)
        facts |= {"wanted": wanted, "epsilon_for_wanted": float(f"{float(needed):.6g}")}
    return facts


def sums_say_something(
    authors: int, shape: tuple[int, int], epsilon: Fraction, *, documents_per_author: int = 1
) -> bool:
    """Whether a row or a column of ten times the average sum could be told from an empty one.

    Sums of many cells can be told apart where no single cell can. A table of one row (or column) has nothing to tell
    it from.
    """
    noise = DiscreteLaplace.protecting(2 * documents_per_author, epsilon)
    documents = authors * documents_per_author
    return any(
        sums > 1
        and documents * min(1.0, LARGE / sums) >= 2 * noise.half_width_of_sum(terms, LEVEL, cells=sums) + 1
        for sums, terms in (shape, shape[::-1])
    )


def epsilon_for(half_width: int, *, cells: int = 1, documents_per_author: int = 1) -> Fraction:
    """The smallest epsilon, to three digits, at which ``cells`` cells together are within ``half_width`` at 95 %.

    `UsageError` for a half-width below 1: an exact count has no epsilon.
    """
    _check(half_width, "half-width")

    def fits(epsilon: Fraction) -> bool:
        noise = DiscreteLaplace.protecting(2 * documents_per_author, epsilon)
        return noise.half_width(LEVEL, cells=cells) <= half_width

    low, high = Fraction(1, 10**8), Fraction(1)
    while not fits(high):
        high *= 2
    for _ in range(40):
        middle = (low + high) / 2
        low, high = (low, middle) if fits(middle) else (middle, high)
    digits = 2 - math.floor(math.log10(high))
    return Fraction(math.ceil(high * Fraction(10) ** digits), 1) / Fraction(10) ** digits


def themes_that_pay(epsilon: Fraction, authors: int, strata: int) -> int:
    """About how many themes a table of so many strata should have: epsilon * authors / (2 * strata), at least 2.

    Then a cell of average count is as large as the noise of scale 2 / epsilon: more themes are finer than what the
    noise lets through.
    """
    _check(authors, "authors")
    _check(strata, "strata")
    return max(2, round(epsilon * authors / (2 * strata)))


def _check(value: int, name: str) -> None:
    if isinstance(value, bool) or not isinstance(value, int) or value < 1:
        raise UsageError(f"the number of {name} must be a whole number from 1, not {value!r:.40}")
