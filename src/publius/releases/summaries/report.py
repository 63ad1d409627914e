"""The report of a summary: a page with pictures, offline."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

import numpy as np

from publius.errors import extra
from publius.releases.drawing import pyplot
from publius.releases.summaries import pictures
from publius.releases.summaries.read_me import SOURCE, chance, columns, independent
from publius.releases.summaries.said import Ranked, Said

_SHOWN: Final = 15
_MONTH: Final = re.compile(r"\d{4}-\d{2}")


def check_libraries() -> None:
    """`MissingExtraError` where the page could not be made: before anything is read or spent."""
    _environment()
    pyplot()


def _environment() -> Any:
    with extra("evaluation", "jinja2"):
        import jinja2
    environment = jinja2.Environment(
        loader=jinja2.PackageLoader("publius.releases.summaries"), autoescape=True, undefined=jinja2.StrictUndefined,
        trim_blocks=True, lstrip_blocks=True,
    )  # fmt: skip
    environment.filters |= {"number": _number, "percent": _percent, "times": _times}
    return environment


def render(said: Said, manifest: Mapping[str, Any]) -> bytes:
    """The page. Whatever comes from declared values or public texts is escaped."""
    from markupsafe import Markup

    content = {
        "manifest": manifest,
        "by": said.told.by,
        "author": "1 document" if said.told.by.documents_per_author == 1
        else f"{said.told.by.documents_per_author} documents",
        "size": said.size,
        "strata": list(_strata(said)),
        "themes": _table(said.themes, () if said.passages is None else said.passages.themes),
        "subjects": _table(said.subjects),
        "compared": _compared(said),
        "rows": said.told.themes is not None,
        "quoted": None if said.passages is None else SOURCE,
        "figures": [Markup(figure) for figure in _figures(said)],  # noqa: S704  # made by us
        "chance": chance(manifest),
        "columns": columns(manifest),
    }  # fmt: skip
    return str(_environment().get_template("report.html").render(content)).encode()


def _compared(said: Said) -> str | None:
    """What shares are compared with, in words."""
    ranked = [each for each in (said.themes, said.subjects) if each is not None and each.compared is not None]
    if not ranked:
        return None
    if said.earlier is not None:
        return said.earlier.name
    reference = said.told.by.spaces.reference
    return f"the public texts of the reference {reference.name}{independent(reference)}"


def _strata(said: Said) -> Iterator[dict[str, Any]]:
    totals = said.totals
    if totals is None:
        return
    for place, name in enumerate(said.strata):
        yield {
            "name": name,
            "contributed": int(totals.contributed[place]),
            "low": int(totals.low[place]),
            "high": int(totals.high[place]),
            "words": said.words_of(place, ", ") if said.told.themes is not None else "",
            "passages": said.passages.strata[place] if said.passages is not None else (),
        }


def _table(ranked: Ranked | None, passages: Sequence[Sequence[str]] = ()) -> dict[str, Any] | None:
    if ranked is None:
        return None

    def row(cell: int) -> dict[str, Any]:
        found: dict[str, Any] = {
            "words": ranked.words[cell], "contributed": int(ranked.counts.contributed[cell]),
            "low": int(ranked.counts.low[cell]), "high": int(ranked.counts.high[cell]),
            "share": float(ranked.shares[cell]), "new": cell in ranked.new,
            "passages": passages[cell] if passages else (),
        }  # fmt: skip
        if ranked.compared is not None and ranked.before is not None:
            compared = ranked.compared
            found |= {
                "before": float(ranked.before[cell]), "ratio": float(compared.ratio[cell]),
                "ratio_low": float(compared.low[cell]), "ratio_high": float(compared.high[cell]),
            }  # fmt: skip
        return found

    return {
        "first": [row(cell) for cell in ranked.cells[:_SHOWN].tolist()],
        "gone": [row(cell) for cell in list(ranked.gone)[:_SHOWN]],
        "new": len(ranked.new),
        "all": len(ranked.cells),
        "compared": ranked.compared is not None,
    }


def _figures(said: Said) -> Iterator[str]:
    totals = said.totals
    if totals is None:
        return
    fields = said.told.by.strata.fields
    limits = totals.contributed, totals.low, totals.high
    if len(said.strata) > 1:
        largest = np.argsort(-totals.contributed, kind="stable")[: pictures.MOST_BARS]
        yield pictures.bars(
            [said.strata[each] for each in largest.tolist()], *(each[largest] for each in limits)
        )
    shape = tuple(len(field.labels) for field in fields)
    for axis, field in enumerate(fields):
        if not field.monthly or len(fields) > 2:
            continue
        moved = [np.moveaxis(each.reshape(shape), axis, -1)[..., :-1] for each in limits]
        lines = [np.atleast_2d(each) for each in moved]
        names = [""] if len(fields) == 1 else list(fields[1 - axis].labels)
        yield pictures.trend(list(field.values), names, *lines)


def _number(value: float) -> str:
    return f"{value:,.0f}"


def _percent(value: float) -> str:
    return f"{100 * value:.1f}\N{NO-BREAK SPACE}%"


def _times(value: float) -> str:
    return "no limit" if not np.isfinite(value) else f"{value:.2g}" if value < 100 else f"{value:,.0f}"
