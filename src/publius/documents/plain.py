"""Files of plain text: a text or a text a line; rows of separated values; JSON, an object a line or a list of them."""

from __future__ import annotations

import csv
import io
import json
import re
import sys
from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property
from itertools import islice
from pathlib import Path
from typing import Any, Final, final

import msgspec

from publius.documents.tables import HEAD, MOST_AT_ONCE, UNREADABLE, Bare, Table, head_of, picked, whole_encoding
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
_MARK: Final = 3  # bytes of the mark of utf-8-sig


@final
class TextFile(Table):
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
        self.encoding = whole_encoding(data[:HEAD], self.reading)
        text = decoded(data, self.tally, self.encoding)
        return [{"text": text.removeprefix("\ufeff"), "id": self.stem}]

    def _lines(self) -> list[bytes]:
        """Its lines, in an encoding that was typed or each in its own: whatever stands first is somebody's text."""
        with open_binary(self.path, bounded=False, sniffed=False) as stream:
            data = stream.read()
        self.encoding = whole = whole_encoding(b"", self.reading)
        if whole is None and whole_encoding(data[:HEAD], self.reading) in ("utf-16", "utf-32"):
            self.told["first lines that look like another encoding (--encoding utf-16)"] = (1, "")
        data = data.decode(whole, "replace").encode() if whole else data
        return data.removesuffix(b"\n").split(b"\n") if data else []


# Separated values -----------------------------------------------------------------------------------------


@final
class Separated(Table):
    """RFC 4180 with the delimiter that its header has most, or as ``--quotes`` says; with none each line is a row."""

    def __init__(self, path: Path, name: str, reading: Reading, kind: str) -> None:
        super().__init__(path, name, reading, kind)
        csv.field_size_limit(sys.maxsize)
        head = head_of(path)
        self.encoding = whole_encoding(head, reading, name)
        text = decoded(head, whole=self.encoding)
        told = None if reading.header_row else re.match(r"(\"?)sep=([^\r\n\"])\1[\r\n]", text)  # Excel's own first line
        first, names = self.header
        skipped = 1 if told else first
        own = told[2] if told else most_frequent(text, first)
        self.delimiter = {"tab": "\t", r"\t": "\t"}.get(reading.delimiter or own, reading.delimiter or own)
        if len(self.delimiter) != 1 or self.delimiter in '"\r\n':
            raise UsageError("--delimiter takes one character, or tab.")
        end = re.search(r"\r\n?|\n", text)  # an old Macintosh's lines end with a return, others at the newline
        self._ends = "" if end and end[0] == "\r" else "\n"
        rows = [*islice(self._lines(), skipped, skipped + max(3, names))]
        if reading.header_row is None and len(rows) == 3 and _are_import_ids(rows[0], rows[2]):
            names = 3
            self.told["further header rows (a survey platform's), which are left out"] = (2, "rows 2 and 3")
        header = self.header_of(rows[:names])
        if not any(header):
            raise DataError(f"{self.name} has no row {skipped + 1} with names of columns.")
        self._first, self._width, self._places = skipped + names, len(header), self.places_of(header)
        self.columns = (*self._places,)

    def rows(self, names: Sequence[str | None]) -> Iterator[Sequence[Any]]:
        """One after the other, as strings."""
        columns = list(self.columns)
        places = [columns.index(name) if name in columns else None for name in names]
        return ([None if place is None else row[place] for place in places] for row in self._body())

    def _body(self) -> Iterator[list[str]]:
        width, places = self._width, [*self._places.values()]
        several = len(places) < width
        for number, row in enumerate(islice(self._lines(), self._first, None), start=self._first + 1):
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

    def _lines(self) -> Iterator[list[str]]:
        """Every record of the file; of a line without anything none."""
        self.tally = Tally()
        errors = "replace" if self.encoding else "surrogateescape"
        read = 0
        with open_binary(self.path, bounded=False) as raw:
            lines: Iterable[str] = io.TextIOWrapper(raw, self.encoding or "utf-8", errors=errors, newline=self._ends)
            if self._ends:
                lines = map(_with_returns_within, lines)
            try:
                for row in csv.reader(lines, delimiter=self.delimiter, strict=True, **_STYLES[self.reading.quotes]):
                    whole = "".join(row)
                    odd = ("\0" in whole or not whole.isascii()) and _ODD.search(whole)
                    yield self._mended(row) if odd else row
                    read += 1
            except csv.Error as error:
                ends = "unexpected end" in str(error)
                what = "a field is never closed" if ends else "text after a closing quotation mark"
                raise DataError(
                    f"{self.name}, row {read + 1}: {what}. Write it again with marks inside fields doubled, or say "
                    "--quotes none if it is written without quotation marks, --quotes backslash if one stands before them."
                ) from None

    def _mended(self, row: list[str]) -> list[str]:
        self.tally[_NULLS] += "\0" in "".join(row)
        cells = [cell.replace(_RETURN, "\r").replace("\0", "") for cell in row]
        if self.encoding is None and _ODD.search("".join(cells)):
            self.tally[CP1252] += 1
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
class JsonLines(Table):
    """An object a line; lines without anything are none."""

    headed = False

    @cached_property
    def encoding(self) -> str | None:  # type: ignore[override]  # told by the file when it is asked for
        """That of the whole file, if it has one."""
        return whole_encoding(head_of(self.path), self.reading, self.name)

    def records(self) -> Iterator[dict[str, Any]]:
        """One after the other; `DataError` where a line holds no JSON."""
        self.tally = Tally()
        return self.read(self._lines(), 1, self.tally)

    def chunks(self, names: Sequence[str | None], size: int) -> Iterator[Any]:
        """Of a plain file the places of the lines alone."""
        if self.encoding not in _AS_UTF_8 or is_packed(self.path):
            yield from super().chunks(names, size)
            return
        self.tally = Tally()
        with open_binary(self.path, bounded=False) as raw:
            row, count = 1, 0
            start = end = len(raw.read(_MARK if self.encoding == "utf-8-sig" else 0))
            for line in raw:
                end += len(line)
                count += not line.isspace()
                if not count:
                    start = end
                elif count == size or end - start > MOST_AT_ONCE:
                    yield Lines(self, (*names,), row, start, end, count)
                    row, start, count = row + count, end, 0
            if count:
                yield Lines(self, (*names,), row, start, end, count)

    def read(self, lines: Iterable[bytes], first: int, tally: Tally) -> Iterator[dict[str, Any]]:
        """What the lines hold, the first of which is row number ``first``; what is odd is counted."""
        for row, line in enumerate(lines, start=first):
            try:
                found = _decoded(line)
            except (ValueError, RecursionError):  # another encoding, null characters, half a surrogate pair, NaN
                try:
                    text = line.decode("utf-8", "surrogateescape")
                    found = _value(text, tally, f"{self.name}, row {row}", "write one object a line")
                except RecursionError:
                    tally["rows nested too deeply to read, which count as empty texts"] += 1
                    found = {}
            yield found if isinstance(found, dict) else Bare(text=found)

    def _lines(self) -> Iterator[bytes]:
        with open_binary(self.path, bounded=False) as raw:
            raw.read(_MARK if self.encoding == "utf-8-sig" else 0)
            if self.encoding in _AS_UTF_8:
                yield from (line for line in raw if not line.isspace())
            else:
                text = io.TextIOWrapper(raw, self.encoding, errors="replace", newline="\n")
                yield from (line.encode("utf-8", "replace") for line in text if not line.isspace())


@final
class Lines(msgspec.Struct):
    """Rows by the place of their lines in a file: they are read where they are needed, so that few bytes travel."""

    table: JsonLines
    names: tuple[str | None, ...]
    row: int
    start: int
    end: int
    count: int

    def __len__(self) -> int:
        return self.count

    def read(self, tally: Tally) -> Iterator[Sequence[Any]]:
        """The rows; what is odd about them is counted."""
        path = self.table.path
        with os_errors("read", path), open(path, "rb") as file:
            file.seek(self.start)
            data = file.read(self.end - self.start)
        lines = [line for line in io.BytesIO(data) if not line.isspace()]
        if len(lines) != self.count:  # a row more or less, and every later one would have another one's noise
            raise DataError(f"{self.table.name} was changed while it was read: start again.")
        return picked(self.table.read(lines, self.row, tally), self.names)


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
        place = f" from line {error.lineno}, column {error.colno} on" if isinstance(error, json.JSONDecodeError) else ""
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
