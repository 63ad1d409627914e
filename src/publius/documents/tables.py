"""The rows of a file, whatever its kind; how the encoding of a file is told; and files of plain text.

Every row of a well-formed file is a document (rule 5); what the format lacks is an error with the row's number, and no
message holds a value. An encoding is decided row by row, unless a mark or the curator decides a whole file.
"""

from __future__ import annotations

import codecs
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Sequence, Sized
from functools import cached_property
from itertools import islice
from pathlib import Path
from typing import Any, Final, Protocol, final

from publius.documents.columns import columns_of, has_column, picked
from publius.documents.document import Tally, decoded, said
from publius.errors import DataError, UsageError
from publius.files.reading import open_binary
from publius.settings import Reading
from publius.text.normal_form import LONGEST_TEXT

NULLS: Final = "rows with null characters, which are left out of them"
UNREADABLE: Final = "files that cannot be read, which count as empty texts"
HEAD: Final = 2**16
MOST_AT_ONCE: Final = 16 * 2**20  # characters of texts after which rows are enough, however few
_LONGEST: Final = 4 * LONGEST_TEXT  # in bytes
_PEEKED: Final = 200  # rows that name their own columns whose columns count
_MARKS: Final = (
    (codecs.BOM_UTF8, "utf-8-sig"), (codecs.BOM_UTF32_LE, "utf-32"), (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"), (codecs.BOM_UTF16_BE, "utf-16"),
)  # fmt: skip
_TOLD: Final = {b"\1\0\1\0": "utf-16-le", b"\0\1\0\1": "utf-16-be"}  # by which bytes are null


class Rows(Sized, Iterable[Sequence[Any]], Protocol):
    """The values of some rows, in order."""


class Table(ABC):
    """Rows of one file. ``encoding`` None is each row's own."""

    encoding: str | None = None
    headed = True
    """Whether its names of columns are public, since no row decides them."""

    def __init__(self, path: Path, name: str, reading: Reading, kind: str) -> None:
        """``name`` is what messages call it."""
        self.path, self.name, self.reading, self.kind = path, name, reading, kind
        self.alone = kind in ("docx", "pdf", "html", "eml") or (kind == "txt" and not reading.lines)
        """Whether the file is one document."""
        self.told: dict[str, tuple[int, str]] = {}
        """What was seen when it was opened: how often, and where."""
        self.tally = Tally()
        """What was seen when its rows were read the last time."""

    @property
    @abstractmethod
    def columns(self) -> tuple[str, ...]:
        """Names of the columns, and of nested values."""

    def columns_with(self, wanted: Sequence[str]) -> tuple[str, ...]:
        """The columns, with those of later rows where some of the ``wanted`` are not among them."""
        return self.columns

    @abstractmethod
    def rows(self, names: Sequence[str | None]) -> Iterator[Sequence[Any]]:
        """Of each row the values of these columns; None for None."""

    def chunks(self, names: Sequence[str | None], size: int) -> Iterator[Rows]:
        """`rows`, at most ``size`` at a time and fewer where they are long; what can be sent away."""
        return chunked(self.rows(names), size)

    def longest(self) -> str | None:
        """The column with the longest values in the first rows."""
        sizes = Tally()
        for row in islice(self.rows(self.columns), 50):
            sizes.update({name: len(said(value) or "") for name, value in zip(self.columns, row, strict=True)})
        return next((name for name, _ in sizes.most_common(1)), None)


class Records(Table):
    """A file whose rows name their own columns."""

    @abstractmethod
    def records(self) -> Iterable[dict[str, Any]]:
        """Its rows."""

    @cached_property
    def columns(self) -> tuple[str, ...]:
        """Those of its first rows."""
        return columns_of(islice(self.records(), _PEEKED))

    def columns_with(self, wanted: Sequence[str]) -> tuple[str, ...]:
        """Those of all rows where the first ones lack some."""
        return self.columns if all(has_column(self.columns, name) for name in wanted) else columns_of(self.records())

    def rows(self, names: Sequence[str | None]) -> Iterator[Sequence[Any]]:
        """One after the other."""
        return picked(self.records(), names)


class Held(Records):
    """A file that is read as a whole, for its format has no rows to read one by one."""

    @cached_property
    def _held(self) -> list[dict[str, Any]]:
        return self.load()

    @abstractmethod
    def load(self) -> list[dict[str, Any]]:
        """Its rows."""

    def records(self) -> Iterable[dict[str, Any]]:
        """Out of memory."""
        return self._held


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
        self.encoding = whole_encoding(data[:HEAD], self.reading)
        text = decoded(data, self.tally, self.encoding)
        return [{"text": text.removeprefix("\ufeff"), "id": stem_of(self.name)}]

    def _lines(self) -> list[bytes]:
        """Its lines, in an encoding that was typed or each in its own: whatever stands first is somebody's text."""
        with open_binary(self.path, bounded=False, sniffed=False) as stream:
            data = stream.read()
        self.encoding = whole = whole_encoding(b"", self.reading)
        if whole is None and whole_encoding(data[:HEAD], self.reading) in ("utf-16", "utf-32"):
            self.told["first lines that look like another encoding (--encoding utf-16)"] = (1, "")
        data = data.decode(whole, "replace").encode() if whole else data
        return data.removesuffix(b"\n").split(b"\n") if data else []


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


def stem_of(name: str) -> str:
    """What a file is called in messages, without folder and suffix: the id of its document."""
    return Path(name.strip("'\"")).stem


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
    return marked if name == "utf-8" and marked == "utf-8-sig" else name
