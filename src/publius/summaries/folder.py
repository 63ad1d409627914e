"""The folder of a summary: tables, made-up rows, the raw counts, a page and a README."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, cast

import msgspec

from publius.classifiers.classifier import OTHER
from publius.files import write_file
from publius.noise.randomness import Generator
from publius.releases.manifest import SummaryManifest
from publius.releases.rows import csv_table
from publius.summaries.told import Row, Told

if TYPE_CHECKING:
    from publius.classifiers.clusters import Clusters

NOISY: Final = "noisy.json"
SYNTHETIC: Final = "synthetic.jsonl"
CLASSIFIER: Final = "classifier"
_TEMPLATES: Final = Path(__file__).parent / "templates"
_KINDS: Final = ("clusters",)
"""Classifiers whose counts teach another one."""
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
    if told.groups:
        _table(folder / "groups.csv", ("group", "documents", "low", "high", "share"), told.groups)
    if "topics" in told.tables:
        _table(folder / "counts.csv", ("group", "label", "documents", "low", "high", "share"), told.counts)
        said = [{"group": name, "words": told.words_said(at)} for at, name in enumerate(told.summary.groups.names)]
        _table(folder / "words.csv", ("group", "words"), said)
    changes = _CHANGES if told.earlier is not None else ()
    if "topics" in told.tables and told.summary.classifier is not told.summary.subjects:
        _table(folder / "topics.csv", ("label", "words", "documents", "low", "high", "share", *changes), told.topics)
    if "subjects" in told.tables:
        _table(
            folder / "subjects.csv", ("words", "documents", "low", "high", "share", "label", *changes), told.subjects
        )
    if "statements" in told.tables:
        _table(folder / "statements.csv", ("statement", "authors", "low", "high"), told.statements)
    rows = (msgspec.json.encode(row) + b"\n" for row in told.synthetic(rng, synthetic))
    _write(folder / SYNTHETIC, rows)
    _classifiers(folder / CLASSIFIER, told)
    _pages(folder, told, manifest)


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
    if table is None or topics is None or topics.kind not in _KINDS or not groups.fields:
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


def _pages(folder: Path, told: Told, manifest: SummaryManifest) -> None:
    from publius.pages.page import PAGE, READ_ME, write_page

    facts = page_facts(told, manifest)
    write_page(folder / PAGE, _TEMPLATES / "summary.html", facts, mode=0o600)
    write_page(folder / READ_ME, _TEMPLATES / "summary.txt", facts, mode=0o600)


def page_facts(told: Told, manifest: SummaryManifest) -> dict[str, Any]:
    """What the page and the README say, as numbers and lists."""
    from publius.pages.facts import command_of
    from publius.privacy.promise import meaning, yardstick

    grouped = told.summary.groups.size > 1
    ranked = told.subjects or told.topics
    first = sorted(ranked, key=lambda row: -row["documents"])
    changed = [row for row in [*told.topics, *told.subjects] if row.get("change")]
    first = [row for row in first if row["label"] != OTHER]
    example = first[0] if first else None
    groups = told.groups if grouped else []
    return {
        "manifest": manifest,
        "m": manifest,
        "warning": manifest.warning,
        "meaning": meaning(manifest),
        "yardstick": yardstick(manifest) if manifest.private else None,
        "command": command_of(manifest),
        "kind": "summary",
        "groups": groups,
        "fields": [each.name for each in told.summary.groups.fields],
        "words": {name: told.words_said(at) for at, name in enumerate(told.summary.groups.names)} if grouped else {},
        "grouped": grouped and "topics" in told.tables,
        "subjects": told.subjects,
        "has_subjects": "subjects" in told.tables,
        "topics": told.topics,
        "named": [row["label"] for row in first[:_NAMED]],
        "ranked": ranked,
        "of": "subjects" if told.subjects or not told.topics else "topics",
        "example": example,
        "group_bars": _bars(groups, "group", _GROUPS),
        "subject_bars": _bars([row for row in first if row["low"]], "label", _BARS),
        "statements": told.statements,
        "statement_bars": _bars(
            [{**row, "documents": row["authors"]} for row in told.statements], "statement", _GROUPS
        ),
        "earlier": None if told.earlier is None else told.earlier.name,
        "grown": [row for row in changed if row["change"] in ("new", "more")][:_CHANGED],
        "fallen": [row for row in changed if row["change"] in ("gone", "less")][:_CHANGED],
        "documents": told.documents,
        "classifiers": bool(told.summary.groups.fields) and getattr(told.summary.classifier, "kind", "") in _KINDS,
        "sizes": {name: table.values.size for name, table in told.tables.items()},
    }  # fmt: skip


def _bars(rows: Sequence[Row], name: str, most: int) -> list[Row]:
    """Bars of the largest, with their limits, in the order given."""
    kept = sorted(sorted(range(len(rows)), key=lambda at: -rows[at]["documents"])[:most])
    return [
        {"label": rows[at][name], "value": rows[at]["documents"], "low": rows[at]["low"], "high": rows[at]["high"]}
        for at in kept
    ]
