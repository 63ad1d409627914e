"""Pages from templates: autoescaped, undefined names refused, control characters stripped, nothing loaded from outside.

A room with pages of its own keeps a folder ``templates`` whose files begin with ``{% extends "base.html" %}`` and may
``{% import "charts.html" as charts %}``; it calls `write_page` with the path of its template.
"""

from __future__ import annotations

import base64
import hashlib
import math
import re
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from publius.files import AnyPath, write_file

if TYPE_CHECKING:
    from jinja2 import Environment

TEMPLATES: Final = Path(__file__).parent / "templates"
# C0 and C1 controls but tab and line feed, line and paragraph separators, marks that turn the direction of writing,
# invisible characters, halves of characters that UTF-8 cannot write.
_CONTROLS: Final = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u00ad\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb\ud800-\udfff]"
)


def stripped(value: Any) -> Any:
    """``value``; a string without control characters, so that no text can drive what shows it."""
    return type(value)(_CONTROLS.sub("", value)) if isinstance(value, str) else value


def render(template: str | Path, facts: Mapping[str, Any]) -> str:
    """The page that ``template`` makes of ``facts``: a name in this room, or the path of another room's template."""
    place = Path(template)
    folder = place.parent if place.is_absolute() else TEMPLATES
    return _environment(folder).get_template(place.name).render(facts)


def write_page(path: AnyPath, template: str | Path, facts: Mapping[str, Any], *, mode: int = 0o666) -> None:
    """Write the page durably and in one step; `StorageError` where that fails."""
    content = render(template, facts).encode()
    with write_file(path, mode) as stream:
        stream.write(content)


@cache
def _environment(folder: Path) -> Environment:
    from jinja2 import Environment, FileSystemLoader, StrictUndefined
    from markupsafe import Markup

    style = (TEMPLATES / "style.css").read_text()
    made = Environment(
        loader=FileSystemLoader([folder, TEMPLATES]), autoescape=True, undefined=StrictUndefined, finalize=stripped,
        trim_blocks=True, lstrip_blocks=True,
    )  # fmt: skip
    digest = base64.b64encode(hashlib.sha256(style.encode()).digest()).decode()
    made.globals.update(style=Markup(style), style_digest=digest, ticks=ticks, log10=math.log10)  # noqa: S704
    made.filters.update(number=number, percent=percent, up=rounded_up, cut=cut)
    return made


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
    return f"{up:,.0f}" if up >= 1000 and up < 1e9 else f"{up:.{digits}g}"


def percent(share: float, *, up: bool = False) -> str:
    """A share as a percentage: finer near 0 and 1; ``up`` for an upper limit, which is never rounded down."""
    near = min(share, 1 - share)
    digits = 0 if near >= 0.1 else 1 if near >= 0.01 else 2 if near >= 0.0005 or near <= 0 else 3
    scaled = share * 100 * 10**digits
    whole = math.ceil(round(scaled, 9)) if up else round(scaled)
    shown = f"{whole / 10**digits:.{digits}f}"
    return (shown.rstrip("0").rstrip(".") if "." in shown else shown) + " %"


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
