"""Whether the files of a summary are what its manifest and its tables say, before anybody signs for them."""

from __future__ import annotations

import csv
import json
import math
from collections import Counter
from collections.abc import Iterator, Mapping
from fractions import Fraction
from itertools import product
from pathlib import Path
from typing import Any

from publius.collections.strata import stratum_name
from publius.files import read_lines
from publius.noise.discrete_laplace import DiscreteLaplace
from publius.releases.summaries.names import (
    ALONE,
    COUNTS,
    LEVEL,
    LIKE_ALL,
    PASSAGES,
    ROWS,
    SUBJECTS,
    THEMES,
    TOO_FEW,
    WORDS,
)
from publius.releases.summaries.read_me import SOURCE
from publius.releases.writers import spreadsheet_safe
from publius.vectors.learning.reference import Reference

MEASURED = (
    "contributed", "low", "high", "share", "share_before", "ratio", "ratio_low", "ratio_high", "excess", "noisy",
)  # fmt: skip
OF_COUNTS = ("stratum", "theme", "contributed", "low", "high")
OF_WORDS = ("stratum", "words")


def of_ranked(number: str) -> tuple[str, ...]:
    """Columns of a table of themes or subjects."""
    return ("words", "new", *MEASURED, number)


def wrong_files(folder: Path, manifest: Mapping[str, Any], public: Reference | None) -> Iterator[str]:
    """The names of the files that others contradict; ``public`` is the reference, where it is stored.

    Raises `ValueError`, `LookupError` or `TypeError` for what cannot be read.
    """
    tables, files = manifest["tables"], manifest["files"]
    wanted = {
        COUNTS: bool({"totals", "themes"} & {*tables}), SUBJECTS: "subjects" in tables,
        **dict.fromkeys((THEMES, WORDS, ROWS), "themes" in tables), PASSAGES: "passages" in manifest,
    }  # fmt: skip
    yield from (name for name, should in wanted.items() if should is not (name in files))
    strata = {spreadsheet_safe(stratum_name(each)): each for each in product(*manifest["strata"].values())}
    if SUBJECTS in files:
        cells = tables["subjects"]["cells"]
        width = _noise(manifest, "subjects").half_width(LEVEL, cells=cells)
        if not _ranked_fit(folder / SUBJECTS, "subject", width):
            yield SUBJECTS
    if THEMES in files:
        number = tables["themes"]["cells"] // len(strata)
        width = _noise(manifest, "themes").half_width_of_sum(len(strata), LEVEL, cells=number)
        if not _ranked_fit(folder / THEMES, "theme", width):
            yield THEMES
    known = None if public is None else {*public.vocabulary, *_words_of_themes(public)}
    if WORDS in files:
        rows = _table(folder / WORDS, OF_WORDS)
        told = [row["words"].removeprefix("'") for row in rows]
        words = [word for each in told if each not in (TOO_FEW, LIKE_ALL, ALONE) for word in each.split()]
        if [row["stratum"] for row in rows] != [*strata] or not (known is None or known.issuperset(words)):
            yield WORDS
    counts = _table(folder / COUNTS, OF_COUNTS) if COUNTS in files else []
    if counts and not all(_limits_fit(row, _width_of_counts(manifest)) for row in counts):
        yield COUNTS
    if ROWS in files and not _rows_fit(folder / ROWS, manifest, counts, known):
        yield ROWS
    if PASSAGES in files and not _passages_fit(folder / PASSAGES, manifest, public):
        yield PASSAGES


def _noise(manifest: Mapping[str, Any], table: str) -> DiscreteLaplace:
    return DiscreteLaplace(Fraction(manifest["tables"][table]["scale"]))


def _width_of_counts(manifest: Mapping[str, Any]) -> int:
    name = "themes" if "themes" in manifest["tables"] else "totals"
    return _noise(manifest, name).half_width(LEVEL, cells=manifest["tables"][name]["cells"])


def _table(path: Path, columns: tuple[str, ...]) -> list[dict[str, str]]:
    with path.open(encoding="utf-8", newline="") as file:
        rows = csv.DictReader(file, strict=True)
        if tuple(rows.fieldnames or ()) != columns:
            raise ValueError
        found = list(rows)
    if any(None in row or None in row.values() for row in found):
        raise ValueError
    return found


def _limits_fit(row: Mapping[str, str], width: int) -> bool:
    """Limits around a count are as wide as its noise, but where they end at 0."""
    contributed, low, high = (int(row[name]) for name in ("contributed", "low", "high"))
    return 0 <= low <= contributed <= high and (low == 0 or high - low >= 2 * width)


def _ranked_fit(path: Path, number: str, width: int) -> bool:
    """Each cell once, its limits those of what was drawn, its numbers numbers."""
    rows = _table(path, of_ranked(number))
    for row in rows:
        drawn, contributed = int(row["noisy"]), int(row["contributed"])
        limits = min(max(drawn - width, 0), contributed), max(drawn + width, 0, contributed)
        if (
            limits != (int(row["low"]), int(row["high"]))
            or contributed < 0
            or row["new"] not in ("true", "false")
        ):
            return False
        if any(math.isnan(float(row[name])) for name in MEASURED if row[name]):
            return False
    return sorted(int(row[number]) for row in rows) == [*range(len(rows))]


def _rows_fit(
    path: Path, manifest: Mapping[str, Any], counts: list[dict[str, str]], known: set[str] | None
) -> bool:
    """As many rows of each stratum and theme as were counted, each with a bag of public words and nothing else."""
    fields, found = [*manifest["strata"]], Counter[tuple[str, str]]()
    for _, line in read_lines(path):
        row = json.loads(line)
        if [*row] != [*fields, "theme", "bag"] or not (known is None or known.issuperset(row["bag"])):
            return False
        if not all(type(count) is int and count > 0 for count in row["bag"].values()):
            return False
        name = spreadsheet_safe(stratum_name([row[field] for field in fields]))
        found[str(name), str(spreadsheet_safe(row["theme"]))] += 1
    wanted = Counter({(row["stratum"], row["theme"]): int(row["contributed"]) for row in counts})
    return found == wanted


def _passages_fit(path: Path, manifest: Mapping[str, Any], public: Reference | None) -> bool:
    """Each is of a theme or of a stratum, and a sentence that the reference may quote."""
    quotable = None
    if public is not None and public.counted is not None:
        quotable = {sentence for each in public.counted.passages for sentence in each}
    strata = manifest["strata"]
    for _, line in read_lines(path):
        row = json.loads(line)
        if [*row] not in (["theme", "passage", "source"], [*strata, "passage", "source"]) or row[
            "source"
        ] != SOURCE:
            return False
        if any(row[field] not in strata[field] for field in strata if "theme" not in row):
            return False
        if not (quotable is None or row["passage"] in quotable):
            return False
    return True


def _words_of_themes(public: Reference) -> tuple[str, ...]:
    return () if public.counted is None else tuple(public.counted.themes.vocabulary)
