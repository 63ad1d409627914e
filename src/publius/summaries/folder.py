"""The folder of a summary: tables, made-up rows, the raw counts, a page and a README."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, cast

import msgspec

from publius.classifiers.classifier import OTHER
from publius.classifiers.store import PARTS
from publius.files import write_file
from publius.noise.randomness import Generator
from publius.pages.facts import command_of, shares_of
from publius.pages.page import PAGE, READ_ME, write_page
from publius.privacy.promise import meaning, yardstick
from publius.releases.manifest import SummaryManifest
from publius.releases.rows import csv_table
from publius.summaries.told import Row, Told

if TYPE_CHECKING:
    from publius.classifiers.clusters import Clusters

NOISY: Final = "noisy.json"
SYNTHETIC: Final = "synthetic.jsonl"
_TEMPLATES: Final = Path(__file__).parent / "templates"
_PLAIN: Final = re.compile(r"\w[\w .-]{0,80}")
"""A field's name that can be a folder's."""
_BARS: Final = 10
_GROUPS: Final = 8
_CHANGED: Final = 6
_NAMED: Final = 3
_CHANGES: Final = ("change", "share_before", "times_low", "times_high")


def fill_folder(folder: Path, told: Told, manifest: SummaryManifest, *, synthetic: int | None, rng: Generator) -> None:
    """Write every file of a summary but the manifest, from noisy counts and public things alone."""
    _write(folder / NOISY, [told.noisy()])
    counted = ("documents", "low", "high", "share")
    changes = _CHANGES if told.earlier is not None else ()
    if told.groups:
        _table(folder / "groups.csv", ("group", *counted), told.groups)
    if "topics" in told.tables:
        _table(folder / "counts.csv", ("group", "label", *counted), told.counts)
        said = [{"group": name, "words": words} for name, words in told.words_by_group.items()]
        _table(folder / "words.csv", ("group", "words"), said)
        if told.summary.classifier is not told.summary.subjects:
            _table(folder / "topics.csv", ("label", "words", *counted, *changes), told.topics)
    if "subjects" in told.tables:
        _table(folder / "subjects.csv", ("words", *counted, "label", *changes), told.subjects)
    if "statements" in told.tables:
        _table(folder / "statements.csv", ("statement", "authors", "low", "high"), told.statements)
    _write(folder / SYNTHETIC, (msgspec.json.encode(row) + b"\n" for row in told.synthetic(rng, synthetic)))
    _classifiers(folder / PARTS, told)
    facts = page_facts(told, manifest)
    write_page(folder / PAGE, _TEMPLATES / "summary.html", facts, mode=0o600)
    write_page(folder / READ_ME, _TEMPLATES / "summary.txt", facts, mode=0o600)


def _write(path: Path, parts: Iterable[bytes]) -> None:
    with write_file(path, 0o600, durable=False) as file:  # the folder is flushed whole before it has its place
        for part in parts:
            file.write(part)


def _table(path: Path, columns: Sequence[str], rows: Iterable[Row]) -> None:
    csv_table(path, columns, ([_cell(row.get(column)) for column in columns] for row in rows))


def _cell(value: Any) -> Any:
    return float(f"{value:.6g}") if isinstance(value, float) else "" if value is None else value


def _classifiers(folder: Path, told: Told) -> None:
    """Of each field of ``--by`` a classifier out of its labels' noisy counts, where the topics are of texts."""
    table, topics, groups = told.tables.get("topics"), told.summary.classifier, told.summary.groups
    if table is None or topics is None or topics.kind != "clusters" or not groups.fields:
        return
    from publius.classifiers.summary import from_counts

    shaped = table.values.reshape(*groups.shape, -1)
    for place, each in enumerate(groups.fields):
        others = tuple(axis for axis in range(len(groups.fields)) if axis != place)
        summed = table.values.size // (len(each.labels) * table.values.shape[1])
        home = folder / (each.name if _PLAIN.fullmatch(each.name) else f"field {place + 1}")
        home.mkdir(0o700, parents=True)
        deviation = table.noise.deviation * summed**0.5
        from_counts(cast("Clusters", topics), each.name, each.labels, shaped.sum(axis=others), deviation).write(home)


# The page and the README ------------------------------------------------------------------------------------


def page_facts(told: Told, manifest: SummaryManifest) -> dict[str, Any]:
    """What the page and the README say, as numbers and lists."""
    grouped = told.summary.groups.size > 1
    ranked = told.subjects or told.topics
    first = sorted((row for row in ranked if row["label"] != OTHER), key=lambda row: -row["documents"])
    changed = [row for row in [*told.topics, *told.subjects] if row.get("change")]
    groups = told.groups if grouped else []
    return {
        "m": manifest, "kind": "summary", "warning": manifest.warning, "meaning": meaning(manifest),
        "yardstick": yardstick(manifest), "command": command_of(manifest),
        "shares": shares_of(manifest),
        "groups": groups, "fields": [each.name for each in told.summary.groups.fields],
        "words": told.words_by_group if grouped else {}, "grouped": grouped and "topics" in told.tables,
        "topics": told.topics, "subjects": told.subjects, "has_subjects": "subjects" in told.tables,
        "ranked": ranked, "of": "subjects" if told.subjects or not told.topics else "topics",
        "named": [row["label"] for row in first[:_NAMED]], "example": first[0] if first else None,
        "group_bars": _bars(groups, "group", _GROUPS),
        "subject_bars": _bars([row for row in first if row["low"]], "label", _BARS),
        "statements": told.statements, "statement_bars": _bars(told.statements, "statement", _GROUPS, "authors"),
        "earlier": None if told.earlier is None else told.earlier.name,
        "grown": [row for row in changed if row["change"] in ("new", "more")][:_CHANGED],
        "fallen": [row for row in changed if row["change"] in ("gone", "less")][:_CHANGED],
        "documents": told.documents,
        "classifiers": bool(told.summary.groups.fields) and getattr(told.summary.classifier, "kind", "") == "clusters",
        "sizes": {name: table.values.size for name, table in told.tables.items()},
    }  # fmt: skip


def _bars(rows: Sequence[Row], name: str, most: int, counted: str = "documents") -> list[Row]:
    """Bars of the largest, with their limits, in the order given."""
    kept = sorted(sorted(range(len(rows)), key=lambda at: -rows[at][counted])[:most])
    return [
        {"label": row[name], "value": row[counted], "low": row["low"], "high": row["high"]}
        for row in map(rows.__getitem__, kept)
    ]
