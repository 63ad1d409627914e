"""Numbers as people read them on a page: grouped, rounded to the safe side where they are limits."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import Any


def number(value: float) -> str:
    """A number for people: thousands grouped, at most four significant digits of a fraction."""
    if isinstance(value, int) or float(value).is_integer():
        return f"{value:,.0f}"
    return f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.4g}"


def rounded_up(value: float, digits: int = 3) -> str:
    """A limit for people: so many significant digits, rounded up."""
    if value <= 0 or not math.isfinite(value):
        return number(value) if math.isfinite(value) else "without limit"
    step = 10.0 ** (math.floor(math.log10(value)) - digits + 1)
    up = float(f"{math.ceil(round(value / step, 9)) * step:.{digits}g}")
    if 1e-9 < up < 1e-3:
        return f"{up:.15f}".rstrip("0")
    return f"{up:,.0f}" if 1000 <= up < 1e9 else f"{up:.{digits}g}"


def percent(share: float, *, up: bool = False) -> str:
    """A share as a percentage: finer near 0 and 1; ``up`` for an upper limit, which is never rounded down."""
    near = min(abs(share), abs(1 - share))
    digits = 0 if near >= 0.1 else 1 if near >= 0.01 else 2 if near >= 0.0005 or near <= 0 else 3
    scaled = share * 100 * 10**digits
    whole = math.ceil(round(scaled, 9)) if up else round(scaled)
    said = f"{whole / 10**digits:.{digits}f}"
    return (said.rstrip("0").rstrip(".") if "." in said else said) + " %"


def cut(text: str, most: int) -> str:
    """``text`` in at most so many characters."""
    return text if len(text) <= most else text[: most - 1].rstrip() + "…"


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
        "  ".join(
            [row[0].ljust(widths[0])] + [c.rjust(w) for c, w in zip(row[1:], widths[1:], strict=True)]
        ).rstrip()
        for row in cells
    )
