"""Pages from templates: autoescaped, undefined names refused, control characters stripped, nothing loaded from outside.

A room with pages of its own keeps a folder ``templates`` whose files begin with ``{% extends "base.html" %}`` and may
``{% import "charts.html" as charts %}``; it calls `write_page` with the path of its template.
"""

from __future__ import annotations

import base64
import contextlib
import hashlib
import math
import os
import re
import sys
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from importlib.util import cache_from_source
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from publius.embeddings.catalogue import home
from publius.errors import AnyPath
from publius.files.writing import write_file
from publius.privacy.promise import between, number, outward, percent, rounded_up

if TYPE_CHECKING:
    from jinja2 import Environment

TEMPLATES: Final = Path(__file__).parent / "templates"
PAGE: Final = "release.html"
READ_ME: Final = "README.txt"
_ROWS: Final = ("labels.jsonl", "bags.jsonl", "rows.csv", "rows.parquet")
# C0 and C1 controls but tab and line feed, line and paragraph separators, marks that turn the direction of writing,
# invisible characters, halves of characters that UTF-8 cannot write.
_CONTROLS: Final = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u00ad\u061c\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb\ud800-\udfff]"
)


def write_release_pages(
    folder: AnyPath, manifest: Any, *, row: Mapping[str, Any] | None, table: Sequence[Mapping[str, Any]] | None
) -> None:
    """Write ``release.html`` and ``README.txt`` of labels or words: ``row`` is a real one, ``table`` that of labels.csv."""
    from publius.pages.facts import facts_of

    there = [name for name in _ROWS if Path(folder, name).exists()]
    facts = facts_of(manifest, row, table) | {"rows_file": " and ".join(there) or "rows"}
    for name in (PAGE, READ_ME):
        write_page(Path(folder) / name, name, facts)


def write_page(path: AnyPath, template: str | Path, facts: Mapping[str, Any], *, mode: int = 0o666) -> None:
    """Write the page durably and in one step; `StorageError` where that fails."""
    content = render(template, facts).encode()
    with write_file(path, mode) as stream:
        stream.write(content)


def render(template: str | Path, facts: Mapping[str, Any]) -> str:
    """The page that ``template`` makes of ``facts``: a name in this room, or the path of another room's template."""
    place = Path(template)
    folder = place.parent if place.is_absolute() else TEMPLATES
    return _environment(folder, _compiled()).get_template(place.name).render(facts)


def stripped(value: Any) -> Any:
    """``value``; a string without control characters, so that no text can drive what shows it."""
    return type(value)(_CONTROLS.sub("", value)) if isinstance(value, str) else value


def _compiled() -> Path | None:
    """Where templates stay compiled: beside Python's compiled modules, or at home; None where nothing can be kept."""
    beside = [] if sys.dont_write_bytecode else [Path(cache_from_source(__file__)).parent]
    for place in (*beside, home() / "templates"):
        with contextlib.suppress(OSError):
            place.mkdir(0o700, parents=True, exist_ok=True)
            if os.access(place, os.W_OK | os.X_OK):
                return place
    return None


@cache
def _environment(folder: Path, compiled: Path | None) -> Environment:
    from jinja2 import Environment, FileSystemBytecodeCache, FileSystemLoader, StrictUndefined, select_autoescape
    from markupsafe import Markup

    style = (TEMPLATES / "style.css").read_text()
    made = Environment(
        loader=FileSystemLoader([folder, TEMPLATES]), undefined=StrictUndefined, finalize=stripped,
        bytecode_cache=None if compiled is None else FileSystemBytecodeCache(str(compiled)),
        autoescape=select_autoescape(disabled_extensions=("txt",), default=True, default_for_string=True),
        trim_blocks=True, lstrip_blocks=True, optimized=False,  # a page is rendered once: not worth the look ahead
    )  # fmt: skip
    digest = base64.b64encode(hashlib.sha256(style.encode()).digest()).decode()
    trusted = Markup(style)  # noqa: S704 - our own style sheet, which is no text of anybody
    made.globals.update(style=trusted, style_digest=digest, ticks=ticks, decades=decades, at=at, log10=math.log10)
    made.filters.update(number=number, percent=percent, between=between, outward=outward, up=rounded_up, cut=cut)
    made.filters.update(columns=columns, readme_row=_cells)
    return made


def _cells(each: Mapping[str, Any]) -> list[str]:
    """A row of ``labels.csv`` for plain text; a label may hold a line feed."""
    return [" ".join(stripped(str(each[name])).split()) for name in ("label", "rows", "low", "high")]


# What charts and tables are drawn with ----------------------------------------------------------------------


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
