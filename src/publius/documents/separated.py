"""Rows of separated values: RFC 4180, or a line each where no field is in quotation marks."""

from __future__ import annotations

import csv
import io
import re
import sys
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import Any, Final, final

from publius.documents.tables import NULLS, Table, head_of, header_of, together, whole_encoding
from publius.errors import DataError, UsageError, how_many
from publius.files.reading import open_binary
from publius.settings import Reading
from publius.text.normal_form import CP1252, Tally, decoded

_RETURN: Final = "\ud800"  # in the place of a carriage return within a field; no text decodes to it
_NO_TEXT: Final = "\ud801"
_ODD: Final = re.compile(f"[\0{_RETURN}\udc80-\udcff]")
_STYLES: Final[dict[str, dict[str, Any]]] = {
    "standard": {}, "backslash": {"doublequote": False, "escapechar": "\\"},
    "none": {"quoting": csv.QUOTE_NONE, "quotechar": None},
}  # fmt: skip


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
        header = header_of(rows[:names])
        while len(header) > 1 and not header[-1]:
            header.pop()
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
        """The cells of each column in each row below the header."""
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
            yield [together([row[at] for at in each]) or "" for each in places] if several else row

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
        """The row in its own encoding, without null characters."""
        self.tally[NULLS] += "\0" in "".join(row)
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
