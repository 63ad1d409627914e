"""Whether the files of a summary are what its manifest and its tables say, before anybody signs for them."""

from __future__ import annotations

import csv
import io
import json
import math
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, product
from pathlib import Path
from typing import Any, Final, final

from publius.arrays import IndexArray
from publius.collections.counting import PrototypeThemes, Themes, labels
from publius.collections.strata import Field, Strata, stratum_name
from publius.files import json_of, read_lines
from publius.releases.layout import record_of
from publius.releases.summaries.drawn import NAMES, Counts, Drawn
from publius.releases.summaries.names import (
    ALONE,
    COUNTS,
    LIKE_ALL,
    NOISY,
    PASSAGES,
    ROWS,
    STRATA,
    SUBJECTS,
    THEMES,
    TOO_FEW,
    WORDS,
)
from publius.releases.summaries.read_me import INDEPENDENT, SOURCE, independent
from publius.releases.summaries.report import libraries, render
from publius.releases.summaries.said import Said, Told
from publius.releases.summaries.spaces import Spaces, sha256_of, words_of_subjects, words_of_themes
from publius.releases.summaries.written import (
    COMPARED,
    EVERYWHERE,
    NUMBER,
    OF_COUNTS,
    OF_STRATA,
    OF_SUBJECTS,
    OF_THEMES,
    OF_WORDS,
    RATIO,
    csv_rows_of,
    differs,
    short,
    table,
    tables_of,
)
from publius.releases.writers import spreadsheet_safe, unmarked
from publius.vectors.learning.public_subjects import PublicSubjects
from publius.vectors.learning.public_themes import NO_WORDS
from publius.vectors.learning.reference import Reference

_FLOAT: Final = re.compile(r"-?[0-9]{1,12}\.[0-9]{1,12}(e-[0-9]{2})?|-?[0-9]e-[0-9]{2}")
_LAST_DIGIT: Final = 1e-5


def wrong_files(folder: Path, manifest: Mapping[str, Any], public: Reference | None) -> Iterator[str]:
    """The names of the files that others contradict; ``public`` is the reference, where it is stored.

    All numbers of the tables follow from the counts that were drawn, but for comparisons; words and labels from public
    things. Raises `ValueError`, `LookupError`, `TypeError` or `ArithmeticError` for what cannot be read.
    """
    tables, files = manifest["tables"], manifest["files"]
    wanted = {
        **dict.fromkeys((COUNTS, STRATA), bool({"totals", "themes"} & {*tables})), SUBJECTS: "subjects" in tables,
        **dict.fromkeys((THEMES, WORDS, ROWS), "themes" in tables), PASSAGES: "passages" in manifest, NOISY: True,
    }  # fmt: skip
    if lacking := [name for name, should in wanted.items() if should is not (name in files)]:
        yield from lacking
        return
    strata = [stratum_name(each) for each in product(*manifest["strata"].values())]
    try:
        drawn = Drawn.read(folder, manifest, len(strata))
    except (ValueError, TypeError, ArithmeticError):
        yield NOISY
        return
    if (said := _said_again(drawn, manifest, public)) is not None:
        compared = (
            () if manifest["compared_with"] is None else (SUBJECTS, THEMES)
        )  # with what does not lie here
        for name, content in tables_of(said):
            if name in files and name not in compared and not _same(content, (folder / name).read_bytes()):
                yield name
    themes, subjects = themes_of(public), subjects_of(public, manifest)
    if not _ranked_fit(folder / SUBJECTS, OF_SUBJECTS, drawn, drawn.of_subjects, 1, subjects):
        yield SUBJECTS
    words_of = None if themes is None else words_of_themes(themes)
    if not _ranked_fit(folder / THEMES, OF_THEMES, drawn, drawn.of_themes, 2, words_of):
        yield THEMES
    known = None if public is None or themes is None else {*public.vocabulary, *themes.vocabulary}
    if WORDS in files:
        rows = list(table(folder / WORDS, OF_WORDS))
        told = [unmarked(row["words"]) for row in rows]
        words = [word for each in told if each not in (TOO_FEW, LIKE_ALL, ALONE) for word in each.split()]
        if [unmarked(row["stratum"]) for row in rows] != strata or not _all_in(words, known):
            yield WORDS
    counted = list(table(folder / COUNTS, OF_COUNTS)) if COUNTS in files else []
    if drawn.counts is not None and not _counts_fit(counted, strata, drawn, drawn.counts, themes):
        yield COUNTS
    if drawn.of_strata is not None and not _strata_fit(folder / STRATA, strata, drawn.of_strata):
        yield STRATA
    labels_of = [unmarked(row["theme"]) for row in counted[: len(counted) // len(strata)]]
    if THEMES in files and not _labelled(folder / THEMES, labels_of):
        yield THEMES
    if not _named(folder, manifest, strata, labels_of):
        yield NOISY
    if ROWS in files and not _rows_fit(folder / ROWS, manifest, counted, known):
        yield ROWS
    if PASSAGES in files and not _passages_fit(folder / PASSAGES, manifest, counted, public):
        yield PASSAGES


@final
@dataclass(frozen=True)
class _By:
    """What a summary was counted by, from its manifest."""

    strata: Strata
    spaces: Spaces
    documents_per_author: int


def _said_again(drawn: Drawn, manifest: Mapping[str, Any], public: Reference | None) -> Said | None:
    """All that a summary says but for comparisons with an earlier one; None where it takes more than is stored here.

    That is so without its reference, and where it counts in subjects of other word vectors.
    """
    if public is None:
        return None
    spaces = Spaces.of(public)
    if spaces.subjects_sha256 != manifest["subjects_sha256"]:
        return None
    fields = [Field(name, tuple(values)) for name, (*values, _) in manifest["strata"].items()]
    by = _By(Strata(tuple(fields)), spaces, manifest["documents_per_author"])
    return Said(Told(by, drawn.totals, drawn.themes, drawn.subjects))


def _same(one: bytes, other: bytes) -> bool:
    """Whether two tables say the same, but for the last digit of a number that another library computed."""
    if one == other:
        return True
    cells = [list(csv.reader(io.StringIO(each.decode(), newline=""))) for each in (one, other)]
    if csv_rows_of(cells[1]) != other or [*map(len, cells[0])] != [*map(len, cells[1])]:
        return False
    return all(map(_alike, chain.from_iterable(cells[0]), chain.from_iterable(cells[1])))


def _alike(one: str, other: str) -> bool:
    if one == other:
        return True
    numbers = [_FLOAT.fullmatch(each) for each in (one, other)]
    return None not in numbers and math.isclose(float(one), float(other), rel_tol=_LAST_DIGIT)


def is_page(page: bytes, folder: Path, manifest: Mapping[str, Any], public: Reference | None) -> bool:
    """Whether a page says what the tables in a folder say, drawn as it is drawn here."""
    notes = (INDEPENDENT, "") if public is None else (independent(public),)
    return page in [render(folder, manifest, note) for note in notes]


def drawn_by(manifest: Mapping[str, Any]) -> str:
    """By which version a page was drawn and is drawn here, for a message."""
    (name, here), *_ = libraries().items()
    stated = manifest.get("versions")
    there = stated.get(name) if isinstance(stated, dict) else None
    return f"{name} {here} here, {there!r:.20} there"


def themes_of(public: Reference | None) -> Themes | None:
    """The themes that a summary with this reference counts in."""
    if public is None:
        return None
    return PrototypeThemes(public) if public.counted is None else public.counted.themes


def subjects_of(public: Reference | None, manifest: Mapping[str, Any]) -> Sequence[str] | None:
    """The words of each subject; None where the subjects are not those of the reference."""
    found: PublicSubjects | None = (
        None if public is None or public.counted is None else public.counted.subjects
    )
    if found is None or sha256_of(found) != manifest["subjects_sha256"]:
        return None
    return words_of_subjects(found)


def _all_in(words: Sequence[str], known: set[str] | None) -> bool:
    return known is None or known.issuperset(words)


def _counts_fit(
    rows: Sequence[Mapping[str, str]],
    strata: Sequence[str],
    drawn: Drawn,
    counts: Counts,
    themes: Themes | None,
) -> bool:
    """A row for each cell, in order, with its numbers; the themes have one label each, the same in every stratum."""
    size = counts.contributed.shape[1]
    names = [EVERYWHERE] if drawn.themes is None else [unmarked(row["theme"]) for row in rows[:size]]
    if drawn.themes is not None and themes is not None and tuple(names) != labels(themes):
        return False
    columns = [each.ravel().tolist() for each in (counts.contributed, counts.low, counts.high)]
    wanted = zip(product(strata, names), zip(*columns, strict=True), strict=True)
    found = (
        ((unmarked(row["stratum"]), unmarked(row["theme"])), tuple(int(row[name]) for name in OF_COUNTS[2:]))
        for row in rows
    )
    return list(found) == list(wanted)


def _strata_fit(path: Path, strata: Sequence[str], counts: Counts) -> bool:
    """A row for each stratum, in order, with its numbers."""
    columns = [each.tolist() for each in (counts.contributed, counts.low, counts.high)]
    rows = table(path, OF_STRATA)
    found = [(unmarked(row["stratum"]), *(int(row[name]) for name in OF_STRATA[1:])) for row in rows]
    return found == list(zip(strata, *columns, strict=True))


def _labelled(path: Path, labels_of: Sequence[str]) -> bool:
    """Whether each theme has the label that it has among the counts."""
    return all(unmarked(row["theme"]) == labels_of[int(row[NUMBER])] for row in table(path, OF_THEMES))


def _named(
    folder: Path, manifest: Mapping[str, Any], strata: Sequence[str], labels_of: Sequence[str]
) -> bool:
    """Whether the counts as they were drawn have the names that the tables have."""
    tables, wanted = manifest["tables"], dict[str, Any]()
    if {"totals", "themes"} & {*tables}:
        wanted["strata"] = list(strata)
    if "themes" in tables:
        wanted["themes"] = list(labels_of)
    if "subjects" in tables:
        rows = table(folder / SUBJECTS, OF_SUBJECTS)
        words = {int(row[NUMBER]): unmarked(row["words"]) for row in rows}
        wanted["subjects"] = [*(words[each] for each in sorted(words)), NO_WORDS]
    found = json_of((folder / NOISY).read_bytes())[NAMES]
    return json.dumps(found) == json.dumps(wanted)  # in this order, too


def _ranked_fit(
    path: Path,
    names: tuple[str, ...],
    drawn: Drawn,
    counts: tuple[IndexArray, Counts] | None,
    beside: int,
    words: Sequence[str] | None,
) -> bool:
    """Each cell once, but for those ``beside``: its words, its numbers those that were drawn; all compared, or none."""
    if counts is None:
        return True
    noisy, of_cells = counts
    shares = drawn.shares(noisy)
    columns = (of_cells.contributed, of_cells.low, of_cells.high, noisy)
    cells, compared = list[int](), set[bool]()
    for row in table(path, names):
        cell = int(row[NUMBER])
        cells.append(cell)
        if not 0 <= cell < len(noisy) or row["new"] not in ("true", "false"):
            return False
        if [int(row[name]) for name in ("contributed", "low", "high", "noisy")] != [
            int(each[cell]) for each in columns
        ] or float(row["share"]) != short(float(shares[cell])):
            return False
        if words is not None and unmarked(row["words"]) != words[cell]:
            return False
        compared |= {row[name] != "" for name in COMPARED if name != RATIO}
        if any(math.isnan(float(row[name])) for name in COMPARED if row[name]):
            return False
        high = float(row["ratio_high"] or 1)
        if (row[RATIO] != "") is not differs(new=row["new"] == "true", high=high):
            return False
    return sorted(cells) == [*range(len(noisy) - beside)] and len(compared) < 2


def _rows_fit(
    path: Path, manifest: Mapping[str, Any], counts: Sequence[Mapping[str, str]], known: set[str] | None
) -> bool:
    """As many rows of each stratum and theme as were counted, each with a bag of public words and nothing else."""
    fields, found = [*manifest["strata"]], Counter[tuple[str, str]]()
    for _, line in read_lines(path):
        row = record_of(line)
        if [*row] != [*fields, "theme", "bag"] or not _all_in([*row["bag"]], known):
            return False
        if not all(type(count) is int and count > 0 for count in row["bag"].values()):
            return False
        name = spreadsheet_safe(stratum_name([row[field] for field in fields]))
        found[str(name), str(spreadsheet_safe(row["theme"]))] += 1
    wanted = Counter({(row["stratum"], row["theme"]): int(row["contributed"]) for row in counts})
    return found == wanted


def _passages_fit(
    path: Path, manifest: Mapping[str, Any], counts: Sequence[Mapping[str, str]], public: Reference | None
) -> bool:
    """Each is of a theme or of a stratum, and a sentence that the reference may quote."""
    themes = {unmarked(row["theme"]) for row in counts}
    quotable = None
    if public is not None and public.counted is not None:
        quotable = {sentence for each in public.counted.passages for sentence in each}
    strata = manifest["strata"]
    for _, line in read_lines(path):
        row = record_of(line)
        if [*row] not in (["theme", "passage", "source"], [*strata, "passage", "source"]) or row[
            "source"
        ] != SOURCE:
            return False
        if (
            row["theme"] not in themes
            if "theme" in row
            else any(row[field] not in strata[field] for field in strata)
        ):
            return False
        if not (quotable is None or row["passage"] in quotable):
            return False
    return True
