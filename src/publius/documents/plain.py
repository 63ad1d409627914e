"""Files of plain text: a text or a text a line; rows of separated values; JSON, an object a line or a list of them."""

from __future__ import annotations

import contextlib
import csv
import io
import json
import re
import sys
from codecs import BOM_UTF8
from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property
from itertools import islice
from pathlib import Path
from typing import Any, Final, final

import msgspec

from publius.documents.tables import (
    HEAD,
    MOST_AT_ONCE,
    UNREADABLE,
    Bare,
    Stored,
    Table,
    head_of,
    picked,
    whole_encoding,
)
from publius.errors import DataError, UsageError, how_many, os_errors
from publius.files.reading import is_packed, open_binary
from publius.settings import Reading
from publius.text.normal_form import CP1252, LONGEST_TEXT, Tally, decoded

_NULLS: Final = "rows with null characters, which are left out of them"
_LONGEST: Final = 4 * LONGEST_TEXT  # in bytes
_RETURN: Final = "\ud800"  # in the place of a carriage return within a field; no text decodes to it
_NO_TEXT: Final = "\ud801"
_ODD: Final = re.compile(f"[\0{_RETURN}\udc80-\udcff]")
_STYLES: Final[dict[str, dict[str, Any]]] = {
    "standard": {}, "backslash": {"doublequote": False, "escapechar": "\\"},
    "none": {"quoting": csv.QUOTE_NONE, "quotechar": None},
}  # fmt: skip
_HALF: Final = re.compile("[\ud800-\udfff]")
_NO_BYTE: Final = re.compile("[\ud800-\udc7f\udd00-\udfff]")
_decoded = msgspec.json.Decoder().decode
_AS_UTF_8: Final = (None, "utf-8", "utf-8-sig")


class ByLines(Table):
    """Rows of whole lines. Here only their places in the file are found, or their bytes; who needs the rows reads them."""

    _before = 0  # records before the first row
    _ends = "\n"
    _sniffed = True

    @cached_property
    def encoding(self) -> str | None:  # type: ignore[override]  # told by the file when it is asked for
        """That of the whole file, if it has one."""
        return whole_encoding(head_of(self.path), self.reading, self.name)

    def rows(self, names: Sequence[str | None]) -> Iterator[Sequence[Any]]:
        """One after the other."""
        for some in self.chunks(names, 500):
            yield from some.read(self.tally)

    def chunks(self, names: Sequence[str | None], size: int) -> Iterator[Lines]:
        """Rows by their places, or with their bytes where a place tells nothing: in a packed file, or another encoding."""
        self.tally, self.state = Tally(), _state(self.path)
        placed = self.encoding in _AS_UTF_8 and self._ends == "\n" and not is_packed(self.path)
        start = end = len(BOM_UTF8) if placed and head_of(self.path, len(BOM_UTF8)) == BOM_UTF8 else 0
        held, count, first = list[bytes](), 0, 1
        for number, (record, is_row) in enumerate(self._cut(self._lines()), start=1):
            end += len(record)
            count += is_row and number > self._before
            if count and not placed:
                held.append(record)
            if not count:
                start, first = end, number + 1
            elif count == size or end - start > MOST_AT_ONCE:
                yield Lines(count, self, (*names,), first, start, end, b"".join(held))
                held, count, first, start = [], 0, number + 1, end
        if count:
            yield Lines(count, self, (*names,), first, start, end, b"".join(held))

    def _lines(self) -> Iterator[bytes]:
        """Its lines, in UTF-8 but for bytes of no encoding that was told."""
        with open_binary(self.path, bounded=False, sniffed=self._sniffed) as raw:
            if raw.peek(len(BOM_UTF8)).startswith(BOM_UTF8) and self.encoding in _AS_UTF_8:
                raw.read(len(BOM_UTF8))
            if self.encoding in _AS_UTF_8 and self._ends:
                yield from raw
            else:
                errors = "replace" if self.encoding else "surrogateescape"
                text = io.TextIOWrapper(raw, self.encoding or "utf-8", errors=errors, newline=self._ends)
                yield from (line.encode("utf-8", errors) for line in text)

    def _cut(self, lines: Iterable[bytes]) -> Iterator[tuple[bytes, bool]]:
        """The lines of each record together, and whether it is a row."""
        return ((line, not line.isspace()) for line in lines)

    def read(self, data: bytes, first: int, names: Sequence[str | None], tally: Tally) -> Iterator[Sequence[Any]]:
        """The rows in these bytes, which begin with record number ``first``; what is odd about them is counted."""
        raise NotImplementedError


@final
class Lines(Stored):
    """Rows by the place of their lines in a file, so that few bytes travel, or their bytes, from record ``first`` on."""

    table: ByLines
    names: tuple[str | None, ...]
    first: int
    start: int
    end: int
    held: bytes

    def read(self, tally: Tally) -> Iterator[Sequence[Any]]:
        """Those that are there now."""
        path, data = self.table.path, self.held
        if not data:
            with os_errors("read", path), open(path, "rb") as file:
                file.seek(self.start)
                data = file.read(self.end - self.start)
        same = _state(path) == self.table.state
        rows = [*self.table.read(data, self.first, self.names, tally)] if same else []
        if len(rows) != self.count:  # a row more or less, and every later one would have another one's noise
            raise DataError(f"{self.table.name} was changed while it was read: start again.")
        return iter(rows)


def _state(path: Path) -> tuple[int, int]:
    with os_errors("read", path):
        found = path.stat()
    return found.st_size, found.st_mtime_ns


@final
class TextFile(Table):
    """A text."""

    def load(self) -> list[dict[str, Any]]:
        """One document."""
        try:
            data = head_of(self.path, _LONGEST)
        except DataError:  # of its own packing: the other files of a folder are read all the same
            self.tally[UNREADABLE] += 1
            data = b""
        self.encoding = whole_encoding(data[:HEAD], self.reading)
        text = decoded(data, self.tally, self.encoding)
        return [{"text": text.removeprefix("\ufeff"), "id": self.stem}]


@final
class TextLines(ByLines):
    """A text a line."""

    _sniffed = False

    @cached_property
    def encoding(self) -> str | None:  # type: ignore[override]
        """The one that was typed, or each line's own: whatever stands first is somebody's text."""
        return self.reading.encoding and whole_encoding(head_of(self.path), self.reading)

    def records(self) -> Iterable[dict[str, Any]]:
        """Each line."""
        if whole_encoding(next(self._lines(), b"")[:HEAD], Reading()) in ("utf-16", "utf-32") and not self.encoding:
            self.told["first lines that look like another encoding (--encoding utf-16)"] = (1, "")
        return self._texts(self._lines(), Tally())

    def _cut(self, lines: Iterable[bytes]) -> Iterator[tuple[bytes, bool]]:
        return ((line, True) for line in lines)

    def read(self, data: bytes, first: int, names: Sequence[str | None], tally: Tally) -> Iterator[Sequence[Any]]:
        """A text each."""
        return picked(self._texts(io.BytesIO(data), tally), names)

    def _texts(self, lines: Iterable[bytes], tally: Tally) -> Iterator[dict[str, Any]]:
        for line in lines:
            text = decoded(line.removesuffix(b"\n"), tally, self.encoding and "utf-8")
            yield {"text": text.removeprefix("\ufeff").rstrip("\r")}


# Separated values -----------------------------------------------------------------------------------------


@final
class Separated(ByLines):
    """RFC 4180 with the delimiter that its header has most, or as ``--quotes`` says; with none each line is a row."""

    def __init__(self, path: Path, name: str, reading: Reading, kind: str) -> None:
        super().__init__(path, name, reading, kind)
        text = decoded(head_of(path), whole=self.encoding)
        told = None if reading.header_row else re.match(r"(\"?)sep=([^\r\n\"])\1[\r\n]", text)  # Excel's own first line
        first, names = self.header
        skipped = 1 if told else first
        own = told[2] if told else most_frequent(text, first)
        self.delimiter = {"tab": "\t", r"\t": "\t"}.get(reading.delimiter or own, reading.delimiter or own)
        if len(self.delimiter) != 1 or self.delimiter in '"\r\n':
            raise UsageError("--delimiter takes one character, or tab.")
        end = re.search(r"\r\n?|\n", text)  # an old Macintosh's lines end with a return, others at the newline
        self._ends = "" if end and end[0] == "\r" else "\n"
        self._width = 1
        top = b"".join(record for record, _ in islice(self._cut(self._lines()), skipped + max(3, names)))
        rows = [*self._parsed(top, 1, self.tally)][skipped:]
        if reading.header_row is None and len(rows) == 3 and _are_import_ids(rows[0], rows[2]):
            names = 3
            self.told["further header rows (a survey platform's), which are left out"] = (2, "rows 2 and 3")
        header = self.header_of(rows[:names])
        if not any(header):
            raise DataError(f"{self.name} has no row {skipped + 1} with names of columns.")
        self._before, self._width, self._places = skipped + names, len(header), self.places_of(header)
        self.columns = (*self._places,)

    def _cut(self, lines: Iterable[bytes]) -> Iterator[tuple[bytes, bool]]:
        """One has a line or, within quotation marks, several; one without anything is no row of several columns."""
        record = list[bytes]()
        for empty in self._ended(lines, record):
            yield b"".join(record), not empty or self._width == 1
            record.clear()
        if rest := b"".join([*record, *lines]):
            yield rest, True  # something is wrong in it, which is said where it is read

    def _ended(self, lines: Iterable[bytes], record: list[bytes]) -> Iterator[bool]:
        """Take lines into ``record`` up to its end; whether it has nothing. The csv reader knows, but for most it is slow."""
        marks, mark, within = self.reading.quotes, re.escape(self.delimiter), '(?:[^"]++|"")*+'
        if marks == "backslash" or not (self.delimiter.isascii() or self.delimiter == _NO_TEXT):

            def taken() -> Iterator[str]:
                for line in lines:
                    record.append(line)
                    yield line.decode("utf-8", "surrogateescape")

            with contextlib.suppress(csv.Error):
                yield from (not row for row in self._reader(taken()))
            return
        closed = "" if self.delimiter == _NO_TEXT else rf'(?:(?:"{within}"|(?!")[^{mark}\n]*+){mark})*+'
        still_open = re.compile(f'{closed}"{within}'.encode()).fullmatch
        inside = False
        for line in lines:
            record.append(line)
            inside = marks == "standard" and still_open(b'"' + line if inside else line) is not None
            if not inside:
                yield line in (b"\n", b"\r\n", self._ends.encode() or b"\r") and len(record) == 1

    def _reader(self, lines: Iterable[str], *, plain: bool = False) -> Iterator[list[str]]:
        csv.field_size_limit(sys.maxsize)  # here, in whichever process reads
        lines = map(_with_returns_within, lines) if self._ends and not plain else lines
        return csv.reader(lines, delimiter=self.delimiter, strict=True, **_STYLES[self.reading.quotes])

    def read(self, data: bytes, first: int, names: Sequence[str | None], tally: Tally) -> Iterator[Sequence[Any]]:
        """Of each row the cells of these columns."""
        columns = list(self.columns)
        places = [columns.index(name) if name in columns else None for name in names]
        rows = self._body(self._parsed(data, first, tally), first)
        return ([None if place is None else row[place] for place in places] for row in rows)

    def _body(self, records: Iterable[list[str]], first: int) -> Iterator[list[str]]:
        width, places = self._width, [*self._places.values()]
        several = len(places) < width
        for number, row in enumerate(records, start=first):
            if not row:
                if width > 1:
                    continue
                row = [""]
            if len(row) > width and not any(each.strip() for each in row[width:]):
                row = row[:width]  # delimiters at the end of each line
            if len(row) != width:
                way_out = " and leave --quotes out." if self.reading.quotes == "none" else ", or say --quotes none."
                fields = f"{how_many(len(row), 'field')} where the header has {width}"
                raise DataError(f"{self.name}, row {number}: {fields}. Write it again with quotation marks{way_out}")
            yield [self.together(row, each) or "" for each in places] if several else row

    def _parsed(self, data: bytes, first: int, tally: Tally) -> Iterator[list[str]]:
        """Records from number ``first`` on; of a line without anything an empty one."""
        plain = data.isascii() and b"\0" not in data and data.count(b"\r") == data.count(b"\r\n")
        errors = "replace" if self.encoding else "surrogateescape"
        lines = io.TextIOWrapper(io.BytesIO(data), "utf-8", errors=errors, newline=self._ends)
        number = first
        try:
            for row in self._reader(lines, plain=plain):
                whole = "" if plain else "".join(row)
                odd = ("\0" in whole or not whole.isascii()) and _ODD.search(whole)
                yield self._mended(row, tally) if odd else row
                number += 1
        except csv.Error as error:
            ends = "unexpected end" in str(error)
            what = "a field is never closed" if ends else "text after a closing quotation mark"
            raise DataError(
                f"{self.name}, row {number}: {what}. Write it again with marks inside fields doubled, or say "
                "--quotes none if it is written without quotation marks, --quotes backslash if one stands before them."
            ) from None

    def _mended(self, row: list[str], tally: Tally) -> list[str]:
        tally[_NULLS] += "\0" in "".join(row)
        cells = [cell.replace(_RETURN, "\r").replace("\0", "") for cell in row]
        if self.encoding is None and _ODD.search("".join(cells)):
            tally[CP1252] += 1
            return [decoded(cell.encode("utf-8", "surrogateescape")) for cell in cells]  # one cell decides no other
        return cells


def _with_returns_within(line: str) -> str:
    """The csv reader takes a carriage return that ends no line for an end all the same."""
    body = line.removesuffix("\r\n")
    return body.replace("\r", _RETURN) + line[len(body) :]


def most_frequent(text: str, skipped: int = 0) -> str:
    """The delimiter that the header has most, outside of quotation marks; one that no text has where it has none."""
    lines = text.splitlines()[skipped : skipped + 1] or [""]
    bare = re.sub(r'"[^"]*"', "", lines[0])
    return max(",;\t|", key=bare.count) if re.search("[,;\t|]", bare) else _NO_TEXT


def _are_import_ids(header: Sequence[str], row: Sequence[str]) -> bool:
    """Whether a row is Qualtrics' own third header: told by its cell under ResponseId, which no respondent writes."""
    place = header.index("ResponseId") if "ResponseId" in header else None
    return place is not None and len(row) > place and row[place].lower().startswith('{"importid"')


# JSON -----------------------------------------------------------------------------------------------------


@final
class JsonLines(ByLines):
    """An object a line; lines without anything are none."""

    headed = False

    def records(self) -> Iterator[dict[str, Any]]:
        """One after the other; `DataError` where a line holds no JSON."""
        return self._objects(self._lines(), 1, Tally())

    def read(self, data: bytes, first: int, names: Sequence[str | None], tally: Tally) -> Iterator[Sequence[Any]]:
        """Of each object the values of these names."""
        return picked(self._objects(io.BytesIO(data), first, tally), names)

    def _objects(self, lines: Iterable[bytes], first: int, tally: Tally) -> Iterator[dict[str, Any]]:
        for at, line in enumerate(lines, start=first):
            if line.isspace():
                continue
            try:
                found = _decoded(line)
            except (ValueError, RecursionError):  # another encoding, null characters, half a surrogate pair, NaN
                try:
                    text = line.decode("utf-8", "surrogateescape")
                    found = _value(text, tally, f"{self.name}, line {at}", "write one object a line")
                except RecursionError:
                    tally["rows nested too deeply to read, which count as empty texts"] += 1
                    found = {}
            yield found if isinstance(found, dict) else Bare(text=found)


@final
class Json(Table):
    """A list of objects or of strings, also as the list of an object that has its texts; or one object alone."""

    headed = False

    def load(self) -> list[dict[str, Any]]:
        """`DataError` for any other JSON."""
        data = head_of(self.path, -1)
        if not data:
            return []
        self.encoding = whole = whole_encoding(data[:HEAD], self.reading, self.name)
        text = data.decode(whole, "replace") if whole else data.decode("utf-8", "surrogateescape")
        try:
            value = _value(text, self.tally, self.name, "write a list of objects")
        except RecursionError:
            raise DataError(f"{self.name} is nested too deeply: write JSON lines, flat objects.") from None
        if isinstance(value, dict):  # whatever else its author lists in it, it is one document (rule 5)
            text = re.split(r"[.\[]", self.reading.text_field or "text", maxsplit=1)[0]
            lists = [each for each in value.values() if isinstance(each, list)]
            tables = [each for each in lists if any(isinstance(item, dict) and text in item for item in each)]
            self.alone = len(tables) != 1 or text in value
            value = [value] if self.alone else tables[0]
        if not isinstance(value, list):
            raise DataError(f"{self.name} holds no list: write a list of objects, or JSON lines.")
        return [each if isinstance(each, dict) else Bare(text=each) for each in value]

    def longest(self) -> str | None:
        """By the name that makes the list in an object a table."""
        return (super().longest() or "").rpartition("[].")[2] or None


def _value(text: str, tally: Tally, name: str, way_out: str) -> Any:
    """What the JSON says; a number of more digits than Python takes stays as it is written."""
    if "\0" in text:
        tally[_NULLS] += 1
        text = text.replace("\0", "")

    def whole(digits: str) -> int | str:
        return int(digits) if len(digits) < 400 else digits

    try:
        return _mended(json.loads(text, strict=False, parse_int=whole), tally)
    except ValueError as error:
        place = ""
        if isinstance(error, json.JSONDecodeError):
            place = f" from {f'line {error.lineno}, ' if error.lineno > 1 else ''}column {error.colno} on"
        raise DataError(f"{name}: not JSON{place}; {way_out}.") from None


def _mended(value: Any, tally: Tally) -> Any:
    """Each string in its own encoding; half a surrogate pair, which no encoding has, becomes a question mark."""
    if isinstance(value, list):
        return [_mended(each, tally) for each in value]
    if isinstance(value, dict):
        return {_mended(name, tally): _mended(each, tally) for name, each in value.items()}
    if isinstance(value, str) and not value.isascii() and _HALF.search(value):
        return decoded(_NO_BYTE.sub("?", value).encode("utf-8", "surrogateescape"), tally)
    return value
