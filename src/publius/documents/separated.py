"""Rows of separated values: RFC 4180, or a line each where no field is in quotation marks."""

from __future__ import annotations

import csv
import io
import re
import sys
from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property
from itertools import islice
from pathlib import Path
from typing import Any, Final, final

from publius.documents.columns import header_of, header_rows, places_of, together
from publius.documents.document import CP1252, Tally, decoded
from publius.documents.tables import NULLS, Table, head_of, whole_encoding
from publius.errors import DataError, UsageError, how_many
from publius.files.reading import open_binary
from publius.settings import Reading

_RETURN: Final = "\ud800"  # in the place of a carriage return within a field; no text decodes to it
_STYLES: Final[dict[str, dict[str, Any]]] = {
    "standard": {}, "backslash": {"doublequote": False, "escapechar": "\\"},
    "none": {"quoting": csv.QUOTE_NONE, "quotechar": None},
}  # fmt: skip
_NO_TEXT: Final = "\ud801"
_ODD: Final = re.compile(f"[\0{_RETURN}\udc80-\udcff]")


@final
class Separated(Table):
    """RFC 4180 with the delimiter that its header has most, or as ``--quotes`` says; with none each line is a row."""

    def __init__(self, path: Path, name: str, reading: Reading, kind: str) -> None:
        super().__init__(path, name, reading, kind)
        head = head_of(path)
        self.encoding = whole_encoding(head, reading, name)
        text = decoded(head, whole=self.encoding)
        told = None if reading.header_row else re.match(r"(\"?)sep=([^\r\n\"])\1[\r\n]", text)  # Excel's own first line
        first, self._names = header_rows(reading)
        self._skipped = 1 if told else first
        own = told[2] if told else most_frequent(text, first)
        self.delimiter = _delimiter(reading.delimiter) if reading.delimiter else own
        end = re.search(r"\r\n?|\n", text)  # an old Macintosh's lines end with a return, others at the newline
        self._ends = "" if end and end[0] == "\r" else "\n"
        csv.field_size_limit(sys.maxsize)
        self.columns  # noqa: B018  # a file without a header is refused when it is opened

    @cached_property
    def columns(self) -> tuple[str, ...]:
        """The header's, each once."""
        rows = [*islice(self._lines(), self._skipped, self._skipped + max(3, self._names))]
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

    def rows(self, names: Sequence[str | None]) -> Iterator[Sequence[Any]]:
        """One after the other, as strings."""
        columns = list(self.columns)
        places = [columns.index(name) if name in columns else None for name in names]
        return ([None if place is None else row[place] for place in places] for row in self._body())

    def _body(self) -> Iterator[list[str]]:
        """The cells of each column in each row below the header."""
        width, places = self._width, [*self._places.values()]
        several = len(places) < width
        first = self._skipped + self._names
        for number, row in enumerate(islice(self._lines(), first, None), start=first + 1):
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

    def _lines(self) -> Iterator[list[str]]:
        """Every record of the file; of a line without anything none."""
        self.tally = Tally()
        style = _STYLES[self.reading.quotes]
        errors = "replace" if self.encoding else "surrogateescape"
        read = 0
        with open_binary(self.path, bounded=False) as raw:
            lines: Iterable[str] = io.TextIOWrapper(raw, self.encoding or "utf-8", errors=errors, newline=self._ends)
            if self._ends:
                lines = map(_with_returns_within, lines)
            try:
                for row in csv.reader(lines, delimiter=self.delimiter, strict=True, **style):
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
        """The row in its own encoding, without null characters."""
        whole = "".join(row)
        self.tally[NULLS] += "\0" in whole
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


def _delimiter(said: str) -> str:
    named = {"tab": "\t", r"\t": "\t"}.get(said, said)
    if len(named) != 1 or named in '"\r\n':
        raise UsageError("--delimiter takes one character, or tab.")
    return named


def _are_import_ids(header: Sequence[str], row: Sequence[str]) -> bool:
    """Whether a row is Qualtrics' own third header: told by its cell under ResponseId, which no respondent writes."""
    place = header.index("ResponseId") if "ResponseId" in header else None
    return place is not None and len(row) > place and row[place].lower().startswith('{"importid"')
