"""Files become rows: JSON lines, JSON, separated values and plain text, each read as its format says.

Every row of a well-formed file is a document (rule 5); what the format lacks is an error with the row's number, and no
message holds a value. An encoding is decided row by row: UTF-8, else cp1252.
"""

from __future__ import annotations

import codecs
import csv
import io
import itertools
import json
import re
import sys
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any, Final, TypeVar, final

import msgspec

from publius.documents.document import (
    CP1252,
    Bare,
    Plan,
    Tally,
    columns_of,
    cp1252,
    decoded,
    has_column,
    pick,
    said,
    together,
)
from publius.errors import DataError, UsageError, how_many
from publius.files.reading import open_binary
from publius.settings import Reading
from publius.text.normal_form import LONGEST_TEXT

CHUNK_LIMIT: Final = 16 * 2**20  # bytes or characters after which a chunk is full, however few rows it has
NULLS: Final = "rows with null characters, which are left out of them"
UNREADABLE: Final = "files that cannot be read, which count as empty texts"
HEAD: Final = 2**16
_LONGEST: Final = 4 * LONGEST_TEXT  # in bytes
_PEEKED: Final = 200  # rows of JSON whose columns count
_MARKS: Final = (
    (b"\xef\xbb\xbf", "utf-8-sig"), (b"\xff\xfe\0\0", "utf-32"), (b"\0\0\xfe\xff", "utf-32"), (b"\xff\xfe", "utf-16"),
    (b"\xfe\xff", "utf-16"),
)  # fmt: skip
_RETURN: Final = "\ud800"  # in the place of a carriage return within a field; no text decodes to it
_ODD: Final = re.compile(f"[\0{_RETURN}\udc80-\udcff]")
_HALF: Final = re.compile("[\ud800-\udfff]")
_NO_BYTE: Final = re.compile("[\ud800-\udc7f\udd00-\udfff]")
_DECODER: Final = msgspec.json.Decoder()
Row = TypeVar("Row")


@final
class Chunk:
    """Rows under way to a worker: values already, or lines of ``json`` that are decoded where they arrive."""

    def __init__(self, rows: list[Any], first: int = 0, name: str = "", *, json: bool = False) -> None:
        self.rows, self._first, self._name, self._json = rows, first, name, json

    def __len__(self) -> int:
        return len(self.rows)

    def records(self, tally: Tally | None) -> list[dict[str, Any]]:
        """The object of each line; `DataError` where one holds none."""
        try:
            found = _DECODER.decode_lines(b"".join(self.rows))
            if len(found) == len(self.rows) and all(map(dict.__instancecheck__, found)):
                return found
        except (ValueError, RecursionError):
            pass
        return [_object(line, tally, self._name, row) for row, line in enumerate(self.rows, start=self._first + 1)]

    def values(self, plan: Plan, tally: Tally | None) -> Iterable[Sequence[Any]]:
        """Of each row the values of `Plan.names`."""
        names: list[Any] = [*plan.names()]
        if not self._json:
            return self.rows
        if any(name is not None and ("." in name or "[" in name) for name in names):
            return [[pick(record, name) for name in names] for record in self.records(tally)]
        return [[record.get(name) for name in names] for record in self.records(tally)]


def _object(line: bytes, tally: Tally | None, name: str, row: int) -> dict[str, Any]:
    """The row of one line that may be odd: another encoding, null characters, half a surrogate pair, NaN."""
    tally = Tally() if tally is None else tally
    if b"\0" in line:
        tally[NULLS] += 1
        line = line.replace(b"\0", b"")
    try:
        return _row(_mended(json.loads(decoded(line, tally), strict=False, parse_int=_whole), tally))
    except RecursionError:
        tally["rows nested too deeply to read, which count as empty texts"] += 1
        return {}
    except ValueError as error:
        column = f" from column {error.colno} on" if isinstance(error, json.JSONDecodeError) else ""
        raise DataError(f"{name}, row {row}: not JSON{column}; write one object a line.") from None


def _row(value: Any) -> dict[str, Any]:
    return value if isinstance(value, dict) else Bare(text=value)


def _mended(value: Any, tally: Tally) -> Any:
    """Each string in its own encoding; half a surrogate pair, which no encoding has, becomes a question mark."""
    if isinstance(value, list):
        return [_mended(each, tally) for each in value]
    if isinstance(value, dict):
        return {_mended(name, tally): _mended(each, tally) for name, each in value.items()}
    if isinstance(value, str) and not value.isascii() and _HALF.search(value):
        return decoded(_NO_BYTE.sub("?", value).encode("utf-8", "surrogateescape"), tally)
    return value


def _whole(digits: str) -> int | str:
    return int(digits) if len(digits) < 400 else digits


# Files ----------------------------------------------------------------------------------------------------


class Table(ABC):
    """Rows of one file. ``encoding`` None is each row's own."""

    encoding: str | None = None
    headed = True
    """Whether its names of columns are public, since no row decides them."""

    def __init__(self, path: Path, name: str, reading: Reading, kind: str) -> None:
        """``name`` is what messages call it."""
        self.path, self.name, self.reading, self.kind = path, name, reading, kind
        self.told: dict[str, tuple[int, str]] = {}
        """What was seen when it was opened: how often, and where."""
        self.tally = Tally()

    @property
    @abstractmethod
    def columns(self) -> tuple[str, ...]:
        """Names of the columns, and of nested values."""

    def columns_with(self, wanted: Sequence[str]) -> tuple[str, ...]:
        """The columns, with those of later rows where some of the ``wanted`` are not among them."""
        return self.columns if all(has_column(self.columns, name) for name in wanted) else self._every_column()

    def _every_column(self) -> tuple[str, ...]:
        return self.columns

    @abstractmethod
    def chunks(self, plan: Plan, size: int) -> Iterator[Chunk]:
        """Its rows, at most ``size`` at a time."""

    def longest(self) -> str | None:
        """The column with the longest values in the first rows."""
        sizes = Tally()
        for record in itertools.islice(self.records(), 50):
            sizes.update({name: len(said(value) or "") for name, value in record.items()})
        return next((name for name, _ in sizes.most_common(1)), None)

    def records(self) -> Iterator[dict[str, Any]]:
        """Its rows whole, for the curator's look."""
        plan = Plan(text=self.columns[0], fields=self.columns)
        for chunk in self.chunks(plan, 500):
            for values in chunk.values(plan, None):
                yield dict(zip(self.columns, values[3:], strict=True))


def whole_encoding(head: bytes, reading: Reading, structured: str = "") -> str | None:
    """The encoding that decides a whole file: what was typed, or its byte order mark; None for row by row.

    Text of UTF-16 without a mark is told by the first two characters: no text has a null in every second byte.
    `DataError` where a mark contradicts what was typed, in the file ``structured``, which begins with no author's text.
    """
    marked = next((name for mark, name in _MARKS if head.startswith(mark)), None)
    if reading.encoding is not None:
        try:
            name = codecs.lookup(reading.encoding).name
            "".encode(name)
            if name.startswith(("iso2022", "hz", "utf-7")):  # what one text begins would go on in the next
                raise ValueError
        except (LookupError, ValueError):
            raise UsageError(f"no encoding {reading.encoding!r:.40}: name one such as utf-16.") from None
        if structured and marked and not name.startswith(kind := marked.removesuffix("-sig")):
            raise DataError(f"{structured}: its byte order mark says {kind}, --encoding {name}; leave --encoding out.")
        return marked if name == "utf-8" and marked == "utf-8-sig" else name
    if marked:
        return marked
    if len(head) >= 4 and head[1] == head[3] == 0 and head[0] and head[2]:
        return "utf-16-le"
    if len(head) >= 4 and head[0] == head[2] == 0 and head[1] and head[3]:
        return "utf-16-be"
    return None


def _grouped(rows: Iterable[Row], weight: Callable[[Row], int], size: int) -> Iterator[list[Row]]:
    """At most ``size`` rows at a time, fewer where they are heavy."""
    held, total = list[Row](), 0
    for row in rows:
        held.append(row)
        total += weight(row)
        if len(held) == size or total > CHUNK_LIMIT:
            yield held
            held, total = [], 0
    if held:
        yield held


def header_rows(reading: Reading) -> tuple[int, int]:
    """The first row of names of columns, from 0, and how many such rows there are."""
    found = re.fullmatch(r"(\d{1,7})(?:-(\d{1,7}))?", str(1 if reading.header_row is None else reading.header_row))
    first, last = (int(found[1]), int(found[2] or found[1])) if found else (0, 0)
    if not 1 <= first <= last:
        raise UsageError("--header-row counts from 1: 3, or 1-3 where several rows name the columns.")
    return first - 1, last - first + 1


def header_of(rows: Iterable[Sequence[str | None]]) -> list[str]:
    """The name of each column, from the first of these rows that has one."""
    cells = itertools.zip_longest(*([(cell or "").strip() for cell in row] for row in rows), fillvalue="")
    return [next(filter(None, each), "") for each in cells]


def head_of(path: Path, size: int = HEAD) -> bytes:
    """Its first bytes, unpacked; all of them for -1."""
    with open_binary(path, bounded=False) as stream:
        return stream.read(size)


@final
class JsonLines(Table):
    """An object a line; lines without anything are none."""

    headed = False

    def __init__(self, path: Path, name: str, reading: Reading, kind: str) -> None:
        super().__init__(path, name, reading, kind)
        self.encoding = whole_encoding(head_of(path), reading, name)

    @cached_property
    def columns(self) -> tuple[str, ...]:
        """Those of its first rows."""
        return columns_of(next(self.chunks(Plan(text=""), _PEEKED), Chunk([])).records(None))

    def _every_column(self) -> tuple[str, ...]:
        return columns_of(each for chunk in self.chunks(Plan(text=""), 1_000) for each in chunk.records(None))

    def chunks(self, plan: Plan, size: int) -> Iterator[Chunk]:
        """Bytes, undecoded, in UTF-8."""
        with open_binary(self.path, bounded=False) as raw:
            lines: Iterable[bytes] = raw
            if self.encoding == "utf-8-sig":
                raw.read(3)
            elif self.encoding not in (None, "utf-8"):
                text = io.TextIOWrapper(raw, self.encoding, errors="replace", newline="\n")
                lines = (line.encode("utf-8", "replace") for line in text)
            first = 0
            for some in _grouped((line for line in lines if not line.isspace()), len, size):
                yield Chunk(some, first, self.name, json=True)
                first += len(some)


class Held(Table):
    """A file that is read as a whole, for its format has no rows to read one by one."""

    @cached_property
    def _records(self) -> list[dict[str, Any]]:
        return self.load()

    @abstractmethod
    def load(self) -> list[dict[str, Any]]:
        """Its rows."""

    @cached_property
    def columns(self) -> tuple[str, ...]:
        """Those of its first rows."""
        return columns_of(self._records[:_PEEKED])

    def _every_column(self) -> tuple[str, ...]:
        return columns_of(self._records)

    def chunks(self, plan: Plan, size: int) -> Iterator[Chunk]:
        """Out of memory."""
        names = plan.names()
        for start in range(0, len(self._records), size):
            yield Chunk([[pick(each, name) for name in names] for each in self._records[start : start + size]])


@final
class Json(Held):
    """A list of objects or of strings, also as the one list of an object; or one object alone."""

    headed = False

    def load(self) -> list[dict[str, Any]]:
        """`DataError` for any other JSON."""
        data = head_of(self.path, -1)
        if not data:
            return []
        self.encoding = whole = whole_encoding(data[:HEAD], self.reading, self.name)
        text = data.decode(whole, "replace") if whole else data.decode("utf-8", "surrogateescape")
        if "\0" in text:
            self.tally[NULLS] += 1
            text = text.replace("\0", "")
        try:
            value = _mended(json.loads(text, strict=False, parse_int=_whole), self.tally)
        except RecursionError:
            raise DataError(f"{self.name} is nested too deeply: write JSON lines, flat objects.") from None
        except ValueError as error:
            column = f" at line {error.lineno}" if isinstance(error, json.JSONDecodeError) else ""
            raise DataError(f"{self.name} is not JSON{column}: write a list of objects.") from None
        if isinstance(value, dict):
            lists = [
                each
                for each in value.values()
                if isinstance(each, list) and any(isinstance(item, dict) for item in each)
            ]
            value = lists[0] if len(lists) == 1 and "text" not in value else [value]
        if not isinstance(value, list):
            raise DataError(f"{self.name} holds no list: write a list of objects, or JSON lines.")
        return [*map(_row, value)]


@final
class Separated(Table):
    """RFC 4180 with the delimiter that its header has most; with ``--quotes none`` each line is a row."""

    def __init__(self, path: Path, name: str, reading: Reading, kind: str) -> None:
        super().__init__(path, name, reading, kind)
        head = head_of(path)
        self.encoding = whole_encoding(head, reading, name)
        text = head.decode(self.encoding, "ignore") if self.encoding else decoded(head)
        told = None if reading.header_row else re.match(r"(\"?)sep=([^\r\n\"])\1[\r\n]", text)  # Excel's own first line
        first, self._names = header_rows(reading)
        self._skipped = 1 if told else first
        self.delimiter = _delimiter(reading.delimiter) if reading.delimiter else most_frequent(text, self._skipped)
        if told and not reading.delimiter:
            self.delimiter = told[2]
        end = re.search(r"\r\n?|\n", text)  # an old Macintosh's lines end with a return, others at the newline
        self._ends = "" if end and end[0] == "\r" else "\n"
        csv.field_size_limit(sys.maxsize)
        self.columns  # noqa: B018  # a file without a header is refused when it is opened

    @cached_property
    def columns(self) -> tuple[str, ...]:
        """The header's, each once."""
        rows = [*itertools.islice(self._rows(), self._skipped, self._skipped + max(3, self._names))]
        if self.reading.header_row is None and len(rows) == 3 and _are_import_ids(rows[0], rows[2]):
            self._names = 3
            self.told["further header rows (a survey platform's), which are left out"] = (2, "rows 2 and 3")
        header = header_of(rows[: self._names])
        while len(header) > 1 and not header[-1]:
            header.pop()
        if not any(header):
            raise DataError(f"{self.name} has no row {self._skipped + 1} with names of columns.")
        self._width, self._places = len(header), places_of(header, self.told)
        return (*self._places,)

    def chunks(self, plan: Plan, size: int) -> Iterator[Chunk]:
        """Values, as strings."""
        columns = list(self.columns)
        places = [columns.index(name) if name in columns else None for name in plan.names()]
        rows = ([None if place is None else row[place] for place in places] for row in self._body())
        return map(Chunk, _grouped(rows, lambda row: len(row[0] or ""), size))

    def _body(self) -> Iterator[list[str]]:
        width, places = self._width, [*self._places.values()]
        several = len(places) < width
        first = self._skipped + self._names
        for number, row in enumerate(itertools.islice(self._rows(), first, None), start=first + 1):
            if not row:
                if width > 1:
                    continue
                row = [""]
            if len(row) > width and not any(each.strip() for each in row[width:]):
                row = row[:width]  # delimiters at the end of each line
            if len(row) != width:
                none = self.reading.quotes == "none"
                raise DataError(
                    f"{self.name}, row {number}: {how_many(len(row), 'field')} where the header has {width}. Write it "
                    "again with quotation marks" + (" and leave --quotes out." if none else ", or say --quotes none.")
                )
            yield [together([row[at] for at in each]) or "" for each in places] if several else row

    def _rows(self) -> Iterator[list[str]]:
        """Every record of the file; of a line without anything none."""
        self.tally = Tally()
        style: dict[str, Any] = {"delimiter": self.delimiter, "strict": True}
        if self.reading.quotes == "none":
            style = {"delimiter": self.delimiter, "quoting": csv.QUOTE_NONE, "quotechar": None}
        errors = "replace" if self.encoding else "surrogateescape"
        read = 0
        with open_binary(self.path, bounded=False) as raw:
            lines: Iterable[str] = io.TextIOWrapper(raw, self.encoding or "utf-8", errors=errors, newline=self._ends)
            if self._ends:
                lines = map(_with_returns_within, lines)
            try:
                for row in csv.reader(lines, **style):
                    whole = "".join(row)
                    odd = ("\0" in whole or not whole.isascii()) and _ODD.search(whole)
                    yield self._mended(row) if odd else row
                    read += 1
            except csv.Error as error:
                ends = "unexpected end" in str(error)
                what = "a field is never closed" if ends else "text after a closing quotation mark"
                raise DataError(
                    f"{self.name}, row {read + 1}: {what}. Write it again with marks inside fields doubled, or say "
                    "--quotes none if it is written without quotation marks."
                ) from None

    def _mended(self, row: list[str]) -> list[str]:
        """The row in its own encoding, without null characters."""
        row = [cell.replace(_RETURN, "\r") for cell in row]
        if any("\0" in cell for cell in row):
            self.tally[NULLS] += 1
            row = [cell.replace("\0", "") for cell in row]
        if self.encoding is None and _ODD.search("".join(row)):
            self.tally[CP1252] += 1
            row = [cp1252(cell.encode("utf-8", "surrogateescape")) for cell in row]
        return row


def _with_returns_within(line: str) -> str:
    """The csv reader takes a carriage return that ends no line for an end all the same."""
    body = line.removesuffix("\r\n")
    return body.replace("\r", _RETURN) + line[len(body) :]


def most_frequent(text: str, skipped: int = 0) -> str:
    """The delimiter that the header has most, outside of quotation marks; a comma where it has none."""
    lines = text.splitlines()[skipped : skipped + 1] or [""]
    bare = re.sub(r'"[^"]*"', "", lines[0])
    return max(",;\t|", key=bare.count)


def _delimiter(said: str) -> str:
    named = {"tab": "\t", r"\t": "\t"}.get(said, said)
    if len(named) != 1 or named in '"\r\n':
        raise UsageError("--delimiter takes one character, or tab.")
    return named


def places_of(header: Sequence[str], told: dict[str, tuple[int, str]]) -> dict[str, list[int]]:
    """Where the cells of each column stand: those of one name count as one column, and are ``told``."""
    places: dict[str, list[int]] = {}
    for place, name in enumerate(header):
        places.setdefault(name, []).append(place)
    if several := {name: len(each) for name, each in places.items() if name and len(each) > 1}:
        listed = ", ".join(f"{name} ({count})" for name, count in several.items())
        told["columns of one name, whose cells are read together"] = (sum(several.values()), listed)
    return places


def _are_import_ids(header: Sequence[str], row: Sequence[str]) -> bool:
    """Whether a row is Qualtrics' own third header: told by its cell under ResponseId, which no respondent writes."""
    place = header.index("ResponseId") if "ResponseId" in header else None
    return place is not None and len(row) > place and row[place].lower().startswith('{"importid"')


@final
class TextFile(Held):
    """A text, or a text a line."""

    def load(self) -> list[dict[str, Any]]:
        """One document; with ``--lines`` one a line."""
        if self.reading.lines:
            return [{"text": decoded(each, self.tally).removeprefix("\ufeff").rstrip("\r")} for each in self._lines()]
        try:
            data = head_of(self.path, _LONGEST)
        except DataError:  # of its own packing: the other files of a folder are read all the same
            self.tally[UNREADABLE] += 1
            data = b""
        self.encoding = whole = whole_encoding(data[:HEAD], self.reading)
        text = data.decode(whole, "replace") if whole else decoded(data, self.tally)
        return [{"text": text.removeprefix("\ufeff"), "id": Path(self.name.strip("'\"")).stem}]

    def _lines(self) -> list[bytes]:
        """Its lines, in an encoding that was typed or each in its own: whatever stands first is somebody's text."""
        with open_binary(self.path, bounded=False, sniffed=False) as stream:
            data = stream.read()
        self.encoding = whole = whole_encoding(b"", self.reading)
        if whole is None and whole_encoding(data[:HEAD], self.reading) in ("utf-16", "utf-32"):
            self.told["first lines that look like another encoding (--encoding utf-16)"] = (1, "")
        data = data.decode(whole, "replace").encode() if whole else data
        return data.removesuffix(b"\n").split(b"\n") if data else []
