"""How large a count can be told from none: from public numbers, before anything is read, drawn or spent."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, final

from publius.summaries.tables import LEVEL, Table

if TYPE_CHECKING:
    from publius.summaries.summary import Summary

FEW: Final = "every count would be noise"


@final
@dataclass(frozen=True)
class Expected:
    """The precision that a table will have.

    Attributes:
        table: its name.
        cells: how many counts it has.
        epsilon: its share.
        scale: of the noise in each count.
        within: each true count lies within so much of the noisy one, all together with 95 %.
        told: the smallest true count that is told from none, all together, with about 95 %.
    """

    table: Table
    cells: int
    epsilon: float
    scale: float
    within: int
    told: int


def expected(summary: Summary) -> list[Expected]:
    """The precision of each table, from epsilon, its shares, cells and contribution bounds alone."""
    found = []
    for name, shape in summary.shapes.items():
        noise, cells = summary.noise(name), math.prod(shape)
        within = noise.half_width(LEVEL, cells=cells)
        epsilon = summary.epsilon * summary.shares[name]
        found.append(Expected(name, cells, float(epsilon), float(noise.scale), within, 2 * within + 1))
    return found


def too_few(summary: Summary, authors: int) -> str | None:
    """Why no count of so many authors could be told from none, though all of them were in one cell; None where it could.

    Only the number of authors is used, which is public.
    """
    most = {"statements": authors}
    if any(each.told <= most.get(each.table, authors * summary.documents_per_author) for each in expected(summary)):
        return None
    who = "1 author is" if authors == 1 else f"{authors:,} authors are"
    return f"{who} too few at epsilon {float(summary.epsilon):g}: {FEW}"
