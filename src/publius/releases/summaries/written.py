"""The tables and sentences of a summary as they are written, and read back."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Final

from publius.collections.strata import Strata
from publius.releases.summaries.names import COUNTS, PASSAGES, STRATA, SUBJECTS, THEMES, WORDS
from publius.releases.summaries.read_me import SOURCE
from publius.releases.summaries.said import Passages, Ranked, Said
from publius.releases.writers import spreadsheet_safe

JSON: Final = json.JSONEncoder(ensure_ascii=False)

OF_COUNTS: Final = ("stratum", "theme", "contributed", "low", "high")
OF_STRATA: Final = ("stratum", "contributed", "low", "high")
OF_WORDS: Final = ("stratum", "words")
COMPARED: Final = ("share_before", "ratio", "ratio_low", "ratio_high", "excess")
"""Columns that are empty where there is nothing to compare with; the ratio is where no difference is shown, too."""
RATIO: Final = COMPARED[1]
EVERYWHERE: Final = "all documents"
"""What stands for a theme where themes are not counted."""


NUMBER: Final = "number"
OF_SUBJECTS: Final = ("words", "new", "contributed", "low", "high", "share", *COMPARED, "noisy", NUMBER)
OF_THEMES: Final = (*OF_SUBJECTS[:-1], "theme", NUMBER)
"""With the label that a theme has in the other tables."""


def short(value: float) -> float:
    """With six digits, and a number still: as a text a negative one would be marked as no formula."""
    return float(f"{value:.6g}")


def differs(*, new: bool, high: float) -> bool:
    """Whether a share is shown to be larger (``new``), or smaller: ``high`` is the upper limit of the ratio.

    Only then a ratio is written, or printed: what may be chance alone would be quoted, whatever stands beside it.
    """
    return new or high < 1


def table(path: Path, columns: tuple[str, ...]) -> Iterator[dict[str, str]]:
    """The rows of a table of these columns; `ValueError` where it is none."""
    with path.open(encoding="utf-8", newline="") as file:
        rows = csv.DictReader(file, strict=True)
        if tuple(rows.fieldnames or ()) != columns:
            raise ValueError
        for row in rows:
            if None in row or None in row.values():
                raise ValueError
            yield row


def tables_of(said: Said) -> Iterator[tuple[str, bytes]]:
    """All that a folder says of a summary in tables and sentences, by name: no noise is drawn for it."""
    if said.counts is not None:
        yield COUNTS, _csv(OF_COUNTS, _counts(said))
    if said.totals is not None:
        found = said.totals
        columns = (each.tolist() for each in (found.contributed, found.low, found.high))
        yield STRATA, _csv(OF_STRATA, zip(said.strata, *columns, strict=True))
    if said.told.themes is not None:
        words = ((name, said.words_of(place)) for place, name in enumerate(said.strata))
        yield WORDS, _csv(OF_WORDS, words)
    if said.subjects is not None:
        yield SUBJECTS, _csv(OF_SUBJECTS, _ranked(said.subjects))
    if said.themes is not None:
        yield THEMES, _csv(OF_THEMES, _ranked(said.themes, said.theme_labels))
    if said.passages is not None:
        yield PASSAGES, b"".join(_passages(said, said.passages))


def _csv(header: Sequence[str], rows: Iterable[Sequence[object]]) -> bytes:
    return csv_rows_of([header, *([spreadsheet_safe(value) for value in row] for row in rows)])


def csv_rows_of(rows: Iterable[Sequence[object]]) -> bytes:
    """The bytes of a table."""
    text = io.StringIO(newline="")
    csv.writer(text, lineterminator="\n").writerows(rows)
    return text.getvalue().encode()


def _counts(said: Said) -> Iterator[tuple[object, ...]]:
    counts = said.counts
    if counts is None:
        return
    columns = [each.tolist() for each in (counts.contributed, counts.low, counts.high)]
    labels = said.theme_labels if said.told.themes is not None else (EVERYWHERE,)
    for place, stratum in enumerate(said.strata):
        for theme, name in enumerate(labels):
            yield (stratum, name, *(column[place][theme] for column in columns))


def _ranked(ranked: Ranked, labels: Sequence[str] = ()) -> Iterator[tuple[object, ...]]:
    compared, counts = ranked.compared, ranked.counts
    for cell in ranked.cells.tolist():
        more: tuple[object, ...] = ("",) * 5
        new = compared is not None and bool(compared.new[cell])
        if compared is not None and ranked.before is not None:
            parts = (ranked.before, compared.ratio, compared.low, compared.high, compared.excess)
            before, ratio, *others = (short(float(part[cell])) for part in parts)
            more = (before, ratio if differs(new=new, high=float(others[1])) else "", *others)
        label = (labels[cell],) if labels else ()
        yield (
            ranked.words[cell], str(new).lower(), int(counts.contributed[cell]), int(counts.low[cell]),
            int(counts.high[cell]), short(float(ranked.shares[cell])), *more, int(ranked.noisy[cell]), *label, cell,
        )  # fmt: skip


def head(strata: Strata, place: int) -> str:
    """The fields of a stratum, as a row begins with them."""
    values = zip(strata.fields, strata.labels(place), strict=True)
    return "".join(f"{JSON.encode(field.name)}: {JSON.encode(value)}, " for field, value in values)


def _passages(said: Said, passages: Passages) -> Iterator[bytes]:
    """A line for each quoted sentence: of which stratum or theme it is typical, and that nobody here wrote it."""
    strata = said.told.by.strata
    heads = [head(strata, place) for place in range(strata.size)]
    labels = [f'"theme": {JSON.encode(name)}, ' for name in said.theme_labels]
    for begins, quoted in ((heads, passages.strata), (labels, passages.themes)):
        for begin, some in zip(begins, quoted, strict=False):  # what is of no theme has no passages
            for passage in some:
                yield f'{{{begin}"passage": {JSON.encode(passage)}, "source": {JSON.encode(SOURCE)}}}\n'.encode()
