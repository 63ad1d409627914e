"""Rows of JSON: an object a line, or a list of them. Each string is read in its own encoding."""

from __future__ import annotations

import io
import json
import re
from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property
from typing import Any, Final, final

import msgspec

from publius.documents.tables import HEAD, MOST_AT_ONCE, NULLS, Bare, Table, head_of, picked, whole_encoding
from publius.errors import DataError, os_errors
from publius.files.reading import is_packed, open_binary
from publius.text.normal_form import UNHEARD, Tally, decoded

_HALF: Final = re.compile("[\ud800-\udfff]")
_NO_BYTE: Final = re.compile("[\ud800-\udc7f\udd00-\udfff]")
_decoded = msgspec.json.Decoder().decode
_AS_UTF_8: Final = (None, "utf-8", "utf-8-sig")
_MARK: Final = 3  # bytes of the mark of utf-8-sig


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
        """In UTF-8 where a whole file has one encoding."""
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

    def __iter__(self) -> Iterator[Sequence[Any]]:
        return self.read(UNHEARD)

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
        tally[NULLS] += 1
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
