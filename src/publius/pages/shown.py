"""What charts and tables are drawn with; numbers are said by `publius.privacy.promise`."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import Any


def cut(text: str, most: int) -> str:
    """``text`` in at most so many characters, cut after a word where that keeps half of it."""
    if len(text) <= most:
        return text
    space = text.rfind(" ", most // 2, most)
    return text[: space if space > 0 else most - 1].rstrip() + "…"


def ticks(low: float, high: float, about: int = 4) -> list[float]:
    """About so many round numbers from ``low`` to ``high``."""
    if high <= low:
        return [low]
    rough = (high - low) / about
    power = 10.0 ** math.floor(math.log10(rough))
    step = next(each * power for each in (1, 2, 2.5, 5, 10) if each * power >= rough * 0.999)
    first = math.ceil(low / step - 1e-9)
    return [round(place * step, 12) for place in range(first, math.floor(high / step + 1e-9) + 1)]


def decades(first: int, last: int) -> list[float]:
    """The powers of ten between two exponents."""
    return [10.0**power for power in range(first, last + 1)]


def at(value: float, most: float, log: tuple[int, int] | None = None) -> float:
    """Where on an axis from 0 to ``most``, or over these decades, a value lies: from 0 to 1, at an end if beyond."""
    if log is None:
        return min(max(value / most, 0.0), 1.0)
    return min(max((math.log10(max(value, 1e-300)) - log[0]) / (log[1] - log[0]), 0.0), 1.0)


def columns(rows: Iterable[Sequence[Any]]) -> str:
    """A table as plain text: the first column flush left, the others flush right."""
    cells = [[str(cell) for cell in row] for row in rows]
    widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
    return "\n".join(
        "  ".join([row[0].ljust(widths[0])] + [c.rjust(w) for c, w in zip(row[1:], widths[1:], strict=True)]).rstrip()
        for row in cells
    )
