"""Tables of separated values become rows (RFC 4180), so that what one author wrote decides his own row alone.

A quotation mark opens a field that may go on over the end of its line; but a table may have been written by a program
that quotes nothing, where it is a letter. Nothing in the texts may tell which: one of them would take other people's
rows into it. So a field is followed over the end of a line only while no further line could be a row, unless
somebody says how the table is written, or its header, which no author wrote, has each of its names quoted.
"""

from __future__ import annotations

import csv
import io
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO, Final, final

from publius.documents.long_rows import NOT_TOLD, SHORT, LongRow
from publius.documents.row_readers import (
    OTHER_COLUMN,
    RECORD_LIMIT,
    TOO_LONG,
    Row,
    check_filled,
    check_width,
)
from publius.documents.table_form import TableForm
from publius.errors import DocumentError
from publius.files import open_binary, shown

_TOGETHER: Final = 2**12  # lines of a row that are held as one
_AT_ONCE: Final = 2**13  # characters that are read
_BLANK: Final = 2**10  # lines that are looked for
_PART: Final = 2**20  # of a row that is too long to be held
_BROKEN: Final = 'quoting is broken: put " around the field and write "" for each " in it'


@final
class UnsaidQuotesError(DocumentError):
    """A field goes on over a line that could be a row of its own, and nobody has said how the table is written."""


class _LongRowError(Exception):
    """A row of separated values is longer than may be held; never leaves this module."""


@final
class _Lines:
    """The decoded lines of a table for `csv.reader`, and how much its current row has taken."""

    def __init__(self, path: Path, stream: BinaryIO, form: TableForm) -> None:
        # Bytes that are not UTF-8 become lone surrogates, which no text holds: only their own row is bad. So does half
        # of a pair of UTF-16 that a form cut in two.
        wide = form.encoding.startswith(("utf-16", "utf-32"))
        errors = "surrogatepass" if wide else "surrogateescape"
        self._text = io.TextIOWrapper(stream, form.encoding, errors, newline="\n")
        self._path, self._form = path, form
        self._first = True
        self._after = io.StringIO()  # what was read of what comes after a long row
        self._row: list[str] = []  # its first line, and the others, many as one
        self._apart = 1
        self._count = 0  # of its lines
        self._passed = 0  # lines of a long row
        self._separators = 0  # of the line of a long row that is passed over
        self.between = 0
        """How many delimiters a line has at least that could be a row: those of the header."""
        self.row_start = 1
        self.row_size = 0
        self.is_long = False

    def __iter__(self) -> Iterator[str]:
        while line := self._line():
            if self._first:
                line, self._first = line.removeprefix("\ufeff"), False
            self._count += 1
            if line == "\n" and self._count > 1:  # within quotes: masses of blank lines are taken as one
                line += (more := self._blank_lines())
                self._count += len(more)
            self._row.append(line)
            self.row_size += len(line)
            if len(self._row) > self._apart + _TOGETHER:
                self._row[self._apart :] = [self._checked()]
                self._apart += 1
            if self.row_size > RECORD_LIMIT:
                self.is_long = True
                raise _LongRowError
            yield line

    def check(self) -> None:
        """`UnsaidQuotesError` where a further line of the row could be one, and nobody said what quotation marks do."""
        if self._count > 1 and not self.is_long:  # one that is long was looked at as it was passed over
            self._checked()

    def _checked(self) -> str:
        """The lines of a row since those that are held as one, many at once: one by one takes as long as reading."""
        lines, delimiter = "".join(self._row[self._apart :]), self._form.delimiter
        unsaid = self._form.quotes is None
        if unsaid and lines.count(delimiter) >= self.between and lines.strip("\r\n"):
            for line in lines.split("\n"):
                if line.strip("\r"):
                    self._check_line(line.count(delimiter))
        return lines

    def next_row(self) -> None:
        """Begin another row."""
        self.row_start += self._passed + self._count
        self._row.clear()
        self.row_size, self._passed, self.is_long = 0, 0, False
        self._apart, self._count = 1, 0

    def told(self) -> str:
        """The first line of the row where it stands on one line, else what can belong to no other field of it."""
        first = next(iter(self._row), "")
        return first if self._count + self._passed <= 1 else first[: first.find('"') + 1]

    def _check_line(self, delimiters: int) -> None:
        """`UnsaidQuotesError` where a further line of a row has so many and nobody said that it belongs to that row."""
        if self._form.quotes is None and delimiters >= self.between:
            raise UnsaidQuotesError(
                f"{shown(self._path)}: the row at line {self.row_start} opens a quotation mark that is not closed "
                "before a line that could be a row of its own, and no text may decide where rows end. Say it: "
                "--quotes fields where the program that wrote the table puts fields in quotation marks, which may hold "
                "line breaks; --quotes letters where it quotes nothing, and each line is a row. Or give JSON lines"
            )

    def broken(self) -> None:
        """`DocumentError` where fields are said to be quoted and a row is not: nobody knows where the next begins."""
        if self._form.quotes == "fields":
            raise DocumentError(
                f"{shown(self._path)}: quoting is broken in the row at line {self.row_start}, so it cannot be told "
                'where the next one begins: put " around fields that hold one and write "" for it, or give JSON lines; '
                "where each line is a row, say --quotes letters"
            )

    def long_row(self) -> list[str] | None:
        """The cells of a row that is too long, no text for those that are long; None where its quoting is broken."""
        row, part, end = LongRow(self._form.delimiter, letters=self._form.quotes == "letters"), "", None
        part = "".join(self._row)
        del self._row[1:]
        self._count = self._separators = 0
        while part and (end := row.take(part)) is None:
            self._pass_over(part)
            part = self._more()
        cells = row.told()
        if cells is None and end is not None:  # its line has more, which belongs to no row
            while (stop := part.find("\n", end - 1) + 1) == 0 and part:
                self._pass_over(part)
                part, end = self._more(), 1
            end = stop
        self._pass_over(part[:end])
        self._after = io.StringIO(part[end:] + self._after.read() if end is not None else "", newline="\n")
        return cells

    def _pass_over(self, text: str) -> None:
        """Count the lines of a long row, and look at them as at those of any other."""
        delimiter = self._form.delimiter
        for start in range(0, len(text), _PART):  # many lines are held as a list of a part of them
            part = text[start : start + _PART]
            if self._form.quotes is not None or self._separators + part.count(delimiter) < self.between:
                self._passed += part.count("\n")
                last = part.rfind("\n") + 1
                self._separators = part.count(delimiter, last) + (0 if last else self._separators)
                continue
            for number, piece in enumerate(part.split("\n")):
                if number:
                    self._passed += 1
                    self._separators = 0
                self._separators += piece.count(delimiter)
                if self._passed and piece.strip("\r"):
                    self._check_line(self._separators)

    def refused(self) -> DocumentError:
        """The error of a row that is too long."""
        return DocumentError(
            f"{shown(self._path)}, the row from line {self.row_start} has more than "
            f"{RECORD_LIMIT >> 20} MiB: close its quotes or split the text into documents"
        )

    def _line(self) -> str:
        """The next line, or as much of it as may be held; some thousand characters are read at once."""
        line = self._after.readline(RECORD_LIMIT + 1)
        while not line.endswith("\n") and len(line) <= RECORD_LIMIT:
            try:
                more = self._text.read(min(max(_AT_ONCE, len(line)), _PART))
            except UnicodeError:
                raise self._not_decoded() from None
            if not more:
                break
            self._after = io.StringIO(line + more, newline="\n")
            line = self._after.readline(RECORD_LIMIT + 1)
        return line

    def _blank_lines(self) -> str:
        """Those that come next, some of them."""
        place = self._after.tell()
        ahead = self._after.read(_BLANK)
        found = ahead[: len(ahead) - len(ahead.lstrip("\n"))]
        self._after.seek(place + len(found))
        return found

    def _more(self) -> str:
        try:
            return self._after.read(_PART) or self._text.read(_PART)
        except UnicodeError:
            raise self._not_decoded() from None

    def _not_decoded(self) -> DocumentError:
        return DocumentError(
            f"{shown(self._path)} is not {self._text.encoding} from the row at line {self.row_start} on: "
            "name another encoding"
        )


def read_csv(
    path: Path, columns: tuple[str, ...], form: TableForm = TableForm(), *, links: bool = True
) -> Iterator[Row]:
    """One row a record of separated values; the header has each of ``columns`` once.

    Raises `UnsaidQuotesError` where ``form.quotes`` does not say how to read a row, `DocumentError` for a row that is
    not quoted as it says.
    """
    csv.field_size_limit(max(csv.field_size_limit(), RECORD_LIMIT))  # the default is less than a document
    with open_binary(path, links=links) as stream:
        lines = _Lines(path, stream, form)
        indices: dict[str, int] | None = None
        width = size = 0
        for number, cells in enumerate(_csv_rows(lines, form), start=1):
            lines.check()
            place, is_long = f"line {lines.row_start}", lines.is_long
            size += lines.row_size
            check_filled(path, number, size)
            if indices is None:
                indices, width = _header(path, _short_header(lines, cells), columns, form), len(cells or ())
                lines.between = max(0, width - 1)
            elif cells is None:
                lines.broken()
                yield Row(place, _told_of(lines.told(), indices, width, form.delimiter), _BROKEN)
            elif cells:
                yield _csv_row(place, cells, indices, width, form, is_long=is_long)
            lines.next_row()


def _csv_rows(lines: _Lines, form: TableForm) -> Iterator[list[str] | None]:
    """The rows, None for one that breaks the rules of quoting; a blank line is an empty row."""
    letters = form.quotes == "letters"
    while True:
        reader = csv.reader(
            lines,
            strict=True,
            delimiter=form.delimiter,
            quoting=csv.QUOTE_NONE if letters else csv.QUOTE_MINIMAL,
        )
        try:
            yield from reader
        except csv.Error:
            yield None
        except _LongRowError:
            yield lines.long_row()
        else:
            return


def csv_header(path: Path, form: TableForm) -> list[str]:
    """The cells of the first row; none where it breaks the rules of quoting or the file is empty."""
    with open_binary(path) as stream:
        lines = _Lines(path, stream, form)
        header = _short_header(lines, next(_csv_rows(lines, form), None)) or []
        lines.check()
    check_width(path, len(header))
    return header


def _short_header(lines: _Lines, cells: list[str] | None) -> list[str] | None:
    """The first row; `DocumentError` for one that is too long."""
    if lines.is_long:
        raise lines.refused()
    return cells


def _header(path: Path, cells: list[str] | None, columns: tuple[str, ...], form: TableForm) -> dict[str, int]:
    """Where each column stands. The header is not shown: a file without one starts with a document."""
    check_width(path, len(cells or []))
    counts = Counter(cells or [])
    for column in columns:
        if counts[column] != 1:
            raise DocumentError(
                f"{shown(path)}: the first line has {counts[column] or 'no'} columns called {column!r} among "
                f"{len(cells or [])}, separated by {form.separator}: it must be a header that names each once. "
                f"{OTHER_COLUMN}"
            )
    places = {column: place for place, column in enumerate(cells or [])}
    return {column: places[column] for column in columns}


def _csv_row(
    place: str,
    cells: list[str],
    indices: dict[str, int],
    width: int,
    form: TableForm,
    *,
    is_long: bool,
) -> Row:
    if len(cells) != width:
        problem = f"{len(cells)} fields where the header has {width}: quote fields that hold {form.separator}"
        return Row(place, _around(cells, indices, width), problem)
    fields = {column: cells[index] for column, index in indices.items()}
    if not is_long and _is_text("".join(cells)):
        return Row(place, fields)
    whole = {
        column: cell for column, cell in fields.items() if _is_text(cell)
    }  # who wrote it can still be told
    name = form.encoding.upper()
    not_read = f"not {name}: name the --encoding of the file; publius inspect tells it by its letters"
    return Row(place, whole, TOO_LONG if is_long else not_read)


def _told_of(line: str, indices: dict[str, int], width: int, delimiter: str) -> dict[str, object]:
    """What can be told of a row whose quoting is broken, by its first line: who wrote it, say.

    The text, which is the first of the columns, is not. Where the quoting begins in it, quotation marks may be letters.
    """
    line = line.rstrip("\r\n")
    mark = line.find('"')
    before = line.split(delimiter, width) if mark < 0 else line[:mark].split(delimiter, width)[:-1]
    text = next(iter(indices.values()), 0)
    found = {column: before[place] for column, place in indices.items() if text != place < len(before)}
    if text <= len(before) and text < width - 1 <= line.count(delimiter):
        behind = line.rsplit(delimiter, width - 1 - text)
        found |= {column: behind[place - text] for column, place in indices.items() if place > text}
    return _short_ones(found)


def _around(cells: list[str], indices: dict[str, int], width: int) -> dict[str, object]:
    """What stands before and behind the text, the first of the columns, in a row with more cells than columns.

    It is the text that holds what separates cells: its author wrote it, and no name or value.
    """
    if len(cells) < width:
        return {}
    text = next(iter(indices.values()), 0)
    places = {column: place if place < text else place - width for column, place in indices.items()}
    return _short_ones({column: cells[place] for column, place in places.items() if indices[column] != text})


def _short_ones(fields: dict[str, str]) -> dict[str, object]:
    return {
        name: cell
        for name, cell in fields.items()
        if len(cell) <= SHORT and '"' not in cell and cell != NOT_TOLD and _is_text(cell)
    }


def _is_text(cell: str) -> bool:
    """Whether no byte of it is missing: one that its encoding has not stands there as a lone surrogate."""
    try:
        return cell.isascii() or bool(cell.encode("utf-8"))
    except UnicodeEncodeError:
        return False
