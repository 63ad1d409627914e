"""The rows of a file, whatever its kind; names of columns; how the encoding of a file is told; files of plain text.

Every row of a well-formed file is a document (rule 5); what the format lacks is an error with the row's number, and no
message holds a value. An encoding is decided row by row, unless a mark or the curator decides a whole file.
"""

from __future__ import annotations

import codecs
import itertools
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from itertools import islice
from pathlib import Path
from typing import Any, Final

import msgspec

from publius.documents.document import BETWEEN
from publius.errors import DataError, UsageError
from publius.files.reading import open_binary
from publius.settings import Reading
from publius.text.normal_form import Tally, said

UNREADABLE: Final = "files that cannot be read, which count as empty texts"
HEAD: Final = 2**16
MOST_AT_ONCE: Final = 16 * 2**20  # characters of texts after which rows are enough, however few
_PEEKED: Final = 200  # rows that name their own columns whose columns count
_DEEPEST: Final = 4
_MARKS: Final = (
    (codecs.BOM_UTF8, "utf-8-sig"), (codecs.BOM_UTF32_LE, "utf-32"), (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"), (codecs.BOM_UTF16_BE, "utf-16"),
)  # fmt: skip
_TOLD: Final = {b"\1\0\1\0": "utf-16-le", b"\0\1\0\1": "utf-16-be"}  # by which bytes are null


class Table:
    """Rows of one file that name their own columns, held as a whole unless a kind has `records` of its own."""

    encoding: str | None = None  # each row's own
    headed = True  # its names of columns are public, since no row decides them

    def __init__(self, path: Path, name: str, reading: Reading, kind: str) -> None:
        self.path, self.name, self.reading, self.kind = path, name, reading, kind  # the name is what messages call it
        self.header = header_rows(reading)
        self.alone = kind in ("docx", "pdf", "html", "eml", "txt")  # one document
        self.stem = Path(name.strip("'\"")).stem  # the id of its document
        self.told: dict[str, tuple[int, str]] = {}  # what was seen when it was opened: how often, and where
        self.tally = Tally()  # what was seen when its rows were read the last time

    def load(self) -> list[dict[str, Any]]:
        """Its rows."""
        raise NotImplementedError

    @cached_property
    def _held(self) -> list[dict[str, Any]]:
        return self.load()

    def records(self) -> Iterable[dict[str, Any]]:
        """Its rows, one after the other."""
        return self._held

    @cached_property
    def columns(self) -> tuple[str, ...]:
        """Names of the columns, and of nested values: those of its first rows."""
        return columns_of(islice(self.records(), _PEEKED))

    def columns_with(self, wanted: Sequence[str]) -> tuple[str, ...]:
        """The columns, with those of all rows where the first ones lack some of the ``wanted``."""
        if self.headed or all(has_column(self.columns, name) for name in wanted):
            return self.columns
        return columns_of(self.records())

    def rows(self, names: Sequence[str | None]) -> Iterator[Sequence[Any]]:
        """Of each row the values of these columns; None for None."""
        return picked(self.records(), names)

    def chunks(self, names: Sequence[str | None], size: int) -> Iterator[Any]:
        """`rows`, at most ``size`` at a time and fewer where they are long: lists, or `Stored`."""
        return chunked(self.rows(names), size)

    def longest(self) -> str | None:
        """The column with the longest values in the first rows."""
        sizes = Tally()
        for row in islice(self.rows(self.columns), 50):
            sizes.update({name: len(said(value) or "") for name, value in zip(self.columns, row, strict=True)})
        return next((name for name, _ in sizes.most_common(1)), None)

    def header_of(self, rows: Iterable[Sequence[str | None]]) -> list[str]:
        """The name of each column, from the first of these rows that has one, but for columns without any at the end."""
        cells = itertools.zip_longest(*([(cell or "").strip() for cell in row] for row in rows), fillvalue="")
        names = [next(filter(None, each), "") for each in cells]
        while len(names) > 1 and not names[-1]:
            names.pop()
        return names

    def places_of(self, header: Sequence[str]) -> dict[str, list[int]]:
        """Where the cells of each column stand: those of one name count as one column, and are told."""
        places: dict[str, list[int]] = {}
        for place, name in enumerate(header):
            places.setdefault(name, []).append(place)
        if several := {name: len(each) for name, each in places.items() if name and len(each) > 1}:
            listed = ", ".join(f"{name} ({count})" for name, count in several.items())
            self.told["columns of one name, whose cells are read together"] = (sum(several.values()), listed)
        return places

    def together(self, row: Sequence[str | None], places: Sequence[int]) -> str | None:
        """The cells of one column, as several values of a path."""
        return BETWEEN.join(filter(None, (row[at] for at in places))) or row[places[0]]

    def text_column(self, columns: Sequence[str], of: str) -> str:
        """The column of texts: the one asked for, or text, or the only one of a header; no cell chooses what is released."""
        wanted = "text" if self.reading.text_field is None else self.reading.text_field
        if self.reading.text_field is not None or "text" in columns:
            check_columns(columns, [wanted], of)
            return wanted
        if self.headed and len(columns) == 1:
            return columns[0]
        proposed = self.longest()
        notes = [("no column is called text: name it with --text-field", 1, f"looked at: {proposed}")]
        message = _missing("text", columns, of, f" Use --text-field {proposed or 'NAME'}.")
        raise ChoiceError(message, {"text_field": proposed} if proposed else {}, notes)


class Stored(msgspec.Struct):
    """So many rows that are made where they are needed, by who works on them."""

    count: int

    def __len__(self) -> int:
        return self.count

    def read(self, tally: Tally) -> Iterable[Sequence[Any]]:
        """The rows; what is odd about them is counted."""
        raise NotImplementedError


def chunked(rows: Iterable[Sequence[Any]], size: int) -> Iterator[list[Sequence[Any]]]:
    """At most ``size`` rows at a time, fewer where their texts are long."""
    held, total = list[Sequence[Any]](), 0
    for row in rows:
        held.append(row)
        total += len(row[0]) if isinstance(row[0], str) else 0
        if len(held) == size or total > MOST_AT_ONCE:
            yield held
            held, total = [], 0
    if held:
        yield held


def head_of(path: Path, size: int = HEAD) -> bytes:
    """Its first bytes, unpacked; all of them for -1."""
    with open_binary(path, bounded=False) as stream:
        return stream.read(size)


def whole_encoding(head: bytes, reading: Reading, structured: str = "") -> str | None:
    """The encoding that decides a whole file: what was typed, or its byte order mark; None for row by row.

    Text of UTF-16 without a mark is told by the first two characters: no text has a null in every second byte.
    `DataError` where a mark contradicts what was typed, in the file ``structured``, which begins with no author's text.
    """
    marked = next((name for mark, name in _MARKS if head.startswith(mark)), None)
    if reading.encoding is None:
        return marked or _TOLD.get(bytes(map(bool, head[:4])))
    try:
        name = codecs.lookup(reading.encoding).name
        "".encode(name)
        if name.startswith(("iso2022", "hz", "utf-7")):  # what one text begins would go on in the next
            raise ValueError
    except (LookupError, ValueError):
        raise UsageError(f"no encoding {reading.encoding!r:.40}: name one such as utf-16.") from None
    if structured and marked and not name.startswith(kind := marked.removesuffix("-sig")):
        raise DataError(f"{structured}: its byte order mark says {kind}, --encoding {name}; leave --encoding out.")
    if name in ("utf-16", "utf-32") and not marked:  # in the order of most machines, unless the first ones tell another
        return _TOLD.get(bytes(map(bool, head[:4])), f"{name}-le")
    return marked if name == "utf-8" and marked == "utf-8-sig" else name


# Columns of a header --------------------------------------------------------------------------------------


def header_rows(reading: Reading) -> tuple[int, int]:
    """The first row of names of columns, from 0, and how many such rows there are."""
    found = re.fullmatch(r"(\d{1,7})(?:-(\d{1,7}))?", str(1 if reading.header_row is None else reading.header_row))
    first, last = (int(found[1]), int(found[2] or found[1])) if found else (0, 0)
    if not 1 <= first <= last:
        raise UsageError("--header-row counts from 1: 3, or 1-3 where several rows name the columns.")
    return first - 1, last - first + 1


# Columns of rows that name their own ----------------------------------------------------------------------


class Bare(dict[str, Any]):
    """A row that is no object, so that it names no column."""


def columns_of(records: Iterable[Mapping[str, Any]]) -> tuple[str, ...]:
    """The columns of rows that name their own, and paths in the place of what is nested wherever it is there."""
    found: dict[str, bool] = {}

    def walk(value: Any, path: str, depth: int) -> None:
        if isinstance(value, dict) and value and depth < _DEEPEST:
            for name, each in value.items():
                walk(each, f"{path}.{name}" if path else str(name), depth + 1)
        elif isinstance(value, list) and any(isinstance(each, dict) for each in value) and depth < _DEEPEST:
            for each in value[:20]:
                walk(each, f"{path}[]", depth + 1)
        else:
            found[path] = found.get(path, False) or value not in (None, [], {})

    bare = False
    for record in records:
        if isinstance(record, Bare):
            bare = True
        else:
            walk(record, "", 0)
    nested = {path[:at] for path in found for at, sign in enumerate(path) if sign in ".["}
    return tuple(path for path, filled in found.items() if path and (filled or path not in nested)) or ("text",) * bare


def picked(records: Iterable[Mapping[str, Any]], names: Sequence[str | None]) -> Iterator[list[Any]]:
    """Of each row the values at these columns and paths; None where it has none, and for None."""
    wanted: Sequence[Any] = names
    if any(name is not None and ("." in name or "[" in name) for name in names):
        return ([_value_at(record, name) for name in wanted] for record in records)
    return ([record.get(name) for name in wanted] for record in records)


def _value_at(record: Mapping[str, Any], name: str | None) -> Any:
    if name is None or name in record:
        return None if name is None else record[name]
    values: list[Any] = [record]
    for step in _steps(name):
        if step == "[]":
            values = [each for value in values if isinstance(value, list) for each in value]
        else:
            values = [value[step] for value in values if isinstance(value, dict) and step in value]
    found = [each for each in values if each is not None]
    if "[]" not in name:
        return found[0] if found else None
    return BETWEEN.join(filter(None, (said(each) for each in found if not isinstance(each, (dict, list)))))


def _steps(name: str) -> list[str]:
    """Those of a path: ``answers[].a`` is "answers", "[]", "a"."""
    return [step for step in name.replace("[]", ".[]").split(".") if step]


# Columns that somebody wants ------------------------------------------------------------------------------


class ChoiceError(DataError):
    """Only the curator can say which column or sheet is meant; a look takes ``instead``, fields of `Reading`, and notes it."""

    def __init__(
        self, message: str, instead: dict[str, Any] | None = None, notes: Sequence[tuple[str, int, str]] = ()
    ) -> None:
        super().__init__(message)
        self.instead, self.notes = instead or {}, notes


def check_columns(columns: Sequence[str], wanted: Iterable[str | None], of: str = "") -> None:
    """`DataError` unless each of the ``wanted`` is a column ``of`` this file, or a path that begins with one."""
    for name in wanted:
        if name is not None and columns.count(name) > 1:
            raise DataError(f"{columns.count(name)} columns are called {name}: give each a name of its own")
        if name is not None and not has_column(columns, name):
            raise ChoiceError(_missing(name, columns, of))


def has_column(columns: Iterable[str], name: str) -> bool:
    """Whether it is a column, or a path that begins with one."""
    first = _steps(name)[:1]
    return name in columns or (first not in ([], [name]) and any(each.startswith(first[0]) for each in columns))


def _missing(name: str, columns: Sequence[str], of: str, way_out: str = "") -> str:
    """A table without a header begins with somebody's text, which no error shows."""
    found = f"Found: {', '.join(columns[:30])}{f' and {len(columns) - 30} more' * (len(columns) > 30)}.{way_out}"
    if any(len(each) > 48 or len(each.split()) > 5 or each.replace(".", "").isdigit() for each in columns):
        found = (
            "The first row may be no names of columns, so it is not shown: publius inspect lists it; --header-row N "
            "takes another, or write a row of names first."
        )
    several = " Where not all hold documents, name the files or folders that do, or add --subfolders."
    return f"{of}: No column {name}. {found}{several}" if of else f"No column {name}. {found}"
