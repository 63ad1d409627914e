"""The report of a summary: a page with pictures, offline."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import islice, product
from pathlib import Path
from typing import Any, Final

import numpy as np

from publius.collections.strata import stratum_name
from publius.files import read_lines
from publius.releases.drawing import library, pyplot
from publius.releases.pages import template
from publius.releases.summaries import pictures
from publius.releases.summaries.drawn import Drawn
from publius.releases.summaries.names import (
    ALONE,
    COUNTS,
    LIKE_ALL,
    PASSAGES,
    SUBJECTS,
    THEMES,
    TOO_FEW,
    WORDS,
)
from publius.releases.summaries.read_me import SOURCE, chance, columns
from publius.releases.summaries.written import (
    COMPARED,
    NUMBER,
    OF_COUNTS,
    OF_SUBJECTS,
    OF_THEMES,
    OF_WORDS,
    RATIO,
    table,
)
from publius.releases.writers import unmarked

_SHOWN: Final = 15
_MOST_TIMES: Final = 1000
"""No ratio is known so well that more is worth reading."""
_MONTH: Final = re.compile(r"\d{4}-\d{2}")


def check_libraries() -> None:
    """`MissingExtraError` where the page could not be made: before anything is read or spent."""
    _page()
    pyplot()


def _page() -> Any:
    filters = {"number": _number, "percent": _percent, "times": _times}
    return template("publius.releases.summaries", "report.html", **filters)


def libraries() -> dict[str, str]:
    """The version of what draws the pictures: of another one they have other bytes."""
    return {"matplotlib": library().__version__}


def render(folder: Path, manifest: Mapping[str, Any], note: str) -> bytes:
    """The page: it says what the tables in a folder say, and nothing that does not follow from them.

    ``note`` is what has to be said of public texts that are counted one by one. Whatever comes from declared values or
    public texts is escaped. `ValueError` or `LookupError` where the tables cannot be read.
    """
    from markupsafe import Markup

    labels = list(product(*manifest["strata"].values()))
    drawn = Drawn.read(folder, manifest, len(labels))
    themes, quoted = _labels_of_themes(folder, manifest), _quoted(folder, manifest)
    most = manifest["documents_per_author"]
    content = {
        "manifest": manifest,
        "author": "1 document" if most == 1 else f"{most} documents",
        "size": drawn.size,
        "strata": list(_strata(folder, manifest, drawn, labels, quoted)),
        "themes": _table(folder / THEMES, "theme", manifest, [quoted.get((name,), []) for name in themes]),
        "subjects": _table(folder / SUBJECTS, "subject", manifest),
        "compared": manifest["compared_with"]
        or f"the public texts of the reference {manifest['reference']}{note}",
        "rows": "themes" in manifest["tables"],
        "quoted": SOURCE if "passages" in manifest else None,
        "figures": [Markup(figure) for figure in _figures(manifest, drawn, labels)],  # noqa: S704  # made by us
        "chance": chance(manifest),
        "columns": columns(manifest),
    }  # fmt: skip
    return str(_page().render(content)).encode()


def _labels_of_themes(folder: Path, manifest: Mapping[str, Any]) -> list[str]:
    """The label of each theme, by number."""
    if "themes" not in manifest["tables"]:
        return []
    each = manifest["tables"]["themes"]["cells"] // math.prod(map(len, manifest["strata"].values()))
    return [unmarked(row["theme"]) for row in islice(table(folder / COUNTS, OF_COUNTS), each)]


def _quoted(folder: Path, manifest: Mapping[str, Any]) -> dict[tuple[str, ...], list[str]]:
    """The sentences of each theme and of each stratum, by their names."""
    found: dict[tuple[str, ...], list[str]] = {}
    if "passages" in manifest:
        for _, line in read_lines(folder / PASSAGES):
            row = json.loads(line)
            about = (row["theme"],) if "theme" in row else ("", *(row[field] for field in manifest["strata"]))
            found.setdefault(about, []).append(row["passage"])
    return found


def _strata(
    folder: Path,
    manifest: Mapping[str, Any],
    drawn: Drawn,
    labels: Sequence[tuple[str, ...]],
    quoted: Mapping[tuple[str, ...], Sequence[str]],
) -> Iterator[dict[str, Any]]:
    counts = drawn.of_strata
    if counts is None:
        return
    typical = [""] * len(labels)
    if "themes" in manifest["tables"]:
        typical = [unmarked(row["words"]) for row in table(folder / WORDS, OF_WORDS)]
    for place, (values, words) in enumerate(zip(labels, typical, strict=True)):
        yield {
            "name": stratum_name(values),
            "contributed": int(counts.contributed[place]),
            "low": int(counts.low[place]),
            "high": int(counts.high[place]),
            "words": words if words in (TOO_FEW, LIKE_ALL, ALONE) else ", ".join(words.split()),
            "passages": quoted.get(("", *values), ()),
        }


def _table(
    path: Path, number: str, manifest: Mapping[str, Any], passages: Sequence[Sequence[str]] = ()
) -> dict[str, Any] | None:
    if f"{number}s" not in manifest["tables"]:
        return None
    compared = False
    rows = []
    for each in table(path, OF_THEMES if number == "theme" else OF_SUBJECTS):
        cell = int(each[NUMBER])
        row: dict[str, Any] = {
            "words": unmarked(each["words"]), "new": each["new"] == "true", "share": float(each["share"]),
            **{name: int(each[name]) for name in ("contributed", "low", "high")},
            "passages": passages[cell] if passages else (),
        }  # fmt: skip
        compared = each["share_before"] != ""
        if compared:
            row |= {name: float(each[name] or "nan") for name in COMPARED}
            row |= {"before": row["share_before"], "differs": each[RATIO] != ""}
        rows.append(row)
    return {
        "first": rows[:_SHOWN],
        "gone": [row for row in reversed(rows) if row.get("ratio_high", 1) < 1][:_SHOWN],
        "new": sum(row["new"] for row in rows),
        "all": len(rows),
        "compared": compared,
    }


def _figures(manifest: Mapping[str, Any], drawn: Drawn, labels: Sequence[tuple[str, ...]]) -> Iterator[str]:
    counts, fields = drawn.of_strata, [*manifest["strata"].values()]
    if counts is None:
        return
    limits = counts.contributed, counts.low, counts.high
    names = [stratum_name(each) for each in labels]
    if len(names) > 1:
        largest = np.sort(np.argsort(-counts.contributed, kind="stable")[: pictures.MOST_BARS])
        by = stratum_name([*manifest["strata"]])
        yield pictures.bars(
            by, [names[each] for each in largest.tolist()], *(each[largest] for each in limits)
        )
    shape = tuple(map(len, fields))
    for axis, (*values, _) in enumerate(fields):
        if len(fields) > 2 or not all(map(_MONTH.fullmatch, values)):
            continue
        moved = [np.moveaxis(each.reshape(shape), axis, -1)[..., :-1] for each in limits]
        lines = [np.atleast_2d(each) for each in moved]
        yield pictures.trend(values, [""] if len(fields) == 1 else list(fields[1 - axis]), *lines)


def _number(value: float) -> str:
    return f"{value:,.0f}"


def _percent(value: float) -> str:
    return f"{100 * value:.1f}\N{NO-BREAK SPACE}%"


def _times(value: float) -> str:
    if value >= _MOST_TIMES:
        return f"over {_MOST_TIMES:,}" if np.isfinite(value) else "no limit"
    return f"{value:.2g}" if value < 100 else f"{value:,.0f}"
