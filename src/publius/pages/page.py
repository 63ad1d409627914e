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
from collections.abc import Mapping, Sequence
from functools import cache
from importlib.util import cache_from_source
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from publius.embeddings.catalogue import home
from publius.errors import AnyPath
from publius.files.writing import write_file
from publius.pages.shown import at, columns, cut, decades, ticks
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
    """Write ``release.html`` and ``README.txt`` of a release of labels or words into its folder.

    Args:
        folder: of the release; the pages are two more of its files.
        manifest: what the pages say, all but
        row: one real row, as it leaves; None where there is none.
        table: the rows of ``labels.csv``: label, rows, low, high; None for words.
    """
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
