"""Releases to files: JSONL, CSV, Parquet, Matrix Market. A writer sees only released bags (R21).

What a record holds says `publius.releases.layout`. An experiment's warning is on every artefact (R10). Files are their
owner's only: who made the folder opens them to others when it has its place.
"""

from __future__ import annotations

import csv
import hashlib
import io
import re
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, BinaryIO, ClassVar, Final, Self, final

from publius.documents.row_readers import import_parquet
from publius.errors import UsageError
from publius.files import EarlyFlush, private
from publius.releases.layout import PROTOTYPE, Layout, json_line
from publius.releases.release import Release

if TYPE_CHECKING:
    import pyarrow

COMPRESSION: Final = "zstd"


class AbstractWriter(ABC):
    """Writes releases to a folder, one after another; use it as a context manager."""

    format: ClassVar[str]
    keeps_order: ClassVar[bool] = True

    def __init__(self, folder: Path, layout: Layout) -> None:
        """Write into ``folder`` as ``layout`` says."""
        self.check(layout)
        self.folder = folder
        self.layout = layout
        self._open()

    @final
    @classmethod
    def check(cls, layout: Layout) -> None:
        """`UsageError` when ``layout`` has what this format cannot hold."""
        if layout.ordered and not cls.keeps_order:
            raise UsageError(
                f"the {cls.format} format has no order: choose jsonl, csv or parquet for ordered text"
            )
        if not layout.bags and not cls.keeps_order:
            raise UsageError(f"the {cls.format} format holds bags only: choose jsonl, csv or parquet")

    @abstractmethod
    def _open(self) -> None: ...

    @classmethod
    @abstractmethod
    def encoded(cls, layout: Layout, releases: Sequence[Release]) -> Any:
        """Finished bytes of ``releases`` for `add`, which a worker makes and which go to another process by pickle."""

    @abstractmethod
    def add(self, encoded: Any) -> None:
        """Add what `encoded` made. Where those parts begin and end is not seen in the files."""

    @property
    def digests(self) -> dict[str, str]:
        """SHA-256 of the files by name, of those of which it is known when all is written."""
        return {}

    @final
    def write(self, release: Release) -> None:
        """Add one release."""
        self.write_all([release])

    @final
    def write_all(self, releases: Sequence[Release]) -> None:
        """Add many."""
        self.add(self.encoded(self.layout, releases))

    @abstractmethod
    def close(self) -> None:
        """Finish the files."""

    @final
    def __enter__(self) -> Self:
        return self

    @final
    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


@final
class JsonLines(AbstractWriter):
    """``bags.jsonl``: one object a line with id, size, bag and the kept fields."""

    format = "jsonl"
    _NAME: ClassVar[str] = "bags.jsonl"

    def _open(self) -> None:
        self._file: BinaryIO = open(self.folder / self._NAME, "xb", opener=private)  # noqa: SIM115
        self._early = EarlyFlush(self._file)
        self._digest = hashlib.sha256()

    @classmethod
    def encoded(cls, layout: Layout, releases: Sequence[Release]) -> bytes:
        """See `AbstractWriter.encoded`."""
        return layout.json_lines(releases)

    def add(self, encoded: bytes) -> None:
        """See `AbstractWriter.add`."""
        self._file.write(encoded)
        self._early.wrote(len(encoded))
        self._digest.update(encoded)

    @property
    def digests(self) -> dict[str, str]:
        """See `AbstractWriter.digests`."""
        return {self._NAME: self._digest.hexdigest()}

    def close(self) -> None:
        """See `AbstractWriter.close`."""
        self._file.close()


@final
class Csv(AbstractWriter):
    """``bags.csv``: one row a word with id, size, the kept fields, word and count.

    Ordered text has a row a place instead: position (from 1), word, and whether it is kept (0 or 1). What a spreadsheet
    would run as a formula gets an apostrophe in front.
    """

    format = "csv"

    def _open(self) -> None:
        self._file: BinaryIO = open(self.folder / "bags.csv", "xb", opener=private)  # noqa: SIM115
        self._early = EarlyFlush(self._file)
        kind = ["kind"] if self.layout.ordered else []
        warning = ["warning"] if self.layout.warning else []
        last = (
            ["position", "word", "kept"]
            if self.layout.ordered
            else ["word", "count"]
            if self.layout.bags
            else []
        )
        named = PROTOTYPE if self.layout.prototypes else ()
        labels = map(spreadsheet_safe, self.layout.labels)
        size = ["size"] if self.layout.bags else []
        header = [*self.layout.leading, "id", *size, *kind, *warning, *named, *labels, *last]
        self.add(csv_rows([header]))

    @classmethod
    def encoded(cls, layout: Layout, releases: Sequence[Release]) -> bytes:
        """See `AbstractWriter.encoded`."""
        return csv_rows(row for release in releases for row in cls._rows_of(layout, release))

    def add(self, encoded: bytes) -> None:
        """See `AbstractWriter.add`."""
        self._file.write(encoded)
        self._early.wrote(len(encoded))

    @classmethod
    def _rows_of(cls, layout: Layout, release: Release) -> Iterator[list[Any]]:
        head = [spreadsheet_safe(value) for value in layout.record(release).values()]
        for cells in cls._cells(layout, release):
            yield [*head, *map(spreadsheet_safe, cells)]

    @staticmethod
    def _cells(layout: Layout, release: Release) -> Iterator[Sequence[Any]]:
        if not layout.bags:
            yield ()
            return
        if release.words is None:
            yield from layout.counts(release).items()
            return
        kept = set(release.kept)
        for place, word in enumerate(release.words):
            yield place + 1, word, int(place in kept)

    def close(self) -> None:
        """See `AbstractWriter.close`."""
        self._file.close()


def csv_rows(rows: Iterable[Sequence[Any]]) -> bytes:
    """Rows of a table as they are written."""
    lines = io.StringIO()
    csv.writer(lines, lineterminator="\r\n").writerows(rows)
    return lines.getvalue().encode()


_CELL: Final = r'((?:^|[;\t\r\n])[ "]*)'
"""Where a cell begins, also for a spreadsheet that separates cells by semicolons, as in German, or by tabs.

Such a one takes quotation marks in front for those of a cell, as which they are doubled in the file.
"""

_FORMULA: Final = "(?='*[=+\\-@\t\r\uff1d\uff0b\uff0d\uff20])"
"""What a spreadsheet calculates, or had an apostrophe before: `unmarked` takes away the one of `spreadsheet_safe`."""

_TO_MARK: Final = re.compile(_CELL + _FORMULA)
_MARKED: Final = re.compile(f"{_CELL}'{_FORMULA}")


def spreadsheet_safe(value: Any) -> Any:
    """``value``, with an apostrophe where a spreadsheet would read a formula: in front, and behind a separator."""
    return _TO_MARK.sub(r"\1'", value) if isinstance(value, str) else value


def unmarked(text: str) -> str:
    """A text of a table without the apostrophes of `spreadsheet_safe`."""
    return _MARKED.sub(r"\1", text)


@final
class Parquet(AbstractWriter):
    """``bags.parquet``: one row a document with id, size, the kept fields, words and counts (lists)."""

    format = "parquet"
    _BATCH: ClassVar[int] = 1024

    def _open(self) -> None:
        parquet = import_parquet()[1]
        self._stream: BinaryIO = open(self.folder / "bags.parquet", "xb", opener=private)  # noqa: SIM115
        self._file = parquet.ParquetWriter(self._stream, self.layout.schema(), compression=COMPRESSION)
        self._waiting: list[pyarrow.RecordBatch] = []
        self._rows = 0

    @classmethod
    def encoded(cls, layout: Layout, releases: Sequence[Release]) -> pyarrow.RecordBatch:
        """See `AbstractWriter.encoded`."""
        return layout.rows(releases)

    def add(self, encoded: pyarrow.RecordBatch) -> None:
        """See `AbstractWriter.add`; groups of rows are of one size, however many come at once."""
        self._waiting.append(encoded)
        self._rows += encoded.num_rows
        if self._rows >= self._BATCH:
            self._flush()

    def _flush(self) -> None:
        pa = import_parquet()[0]
        whole = pa.Table.from_batches(self._waiting, self.layout.schema()).combine_chunks()
        while len(whole) >= self._BATCH:
            self._write_group(whole.slice(0, self._BATCH))
            whole = whole.slice(self._BATCH)
        self._waiting, self._rows = whole.to_batches(), len(whole)

    def _write_group(self, rows: pyarrow.Table) -> None:
        for batch in rows.to_batches():
            self._file.write_batch(batch)

    def close(self) -> None:
        """See `AbstractWriter.close`."""
        with self._stream, self._file:
            if self._rows:
                whole = import_parquet()[0].Table.from_batches(self._waiting, self.layout.schema())
                self._write_group(whole.combine_chunks())


@final
class MatrixMarket(AbstractWriter):
    """``bags.mtx`` (documents x vocabulary, coordinates), ``vocabulary.txt``, ``documents.jsonl``.

    The counts are whole numbers under a header that says real: gensim reads no other.
    """

    format = "mtx"
    keeps_order = False
    _WIDTH: ClassVar[int] = 20  # room for each number of the size line, which is known only at the end

    def _open(self) -> None:
        self._matrix: BinaryIO = open(self.folder / "bags.mtx", "xb", opener=private)  # noqa: SIM115
        self._documents: BinaryIO = open(self.folder / "documents.jsonl", "xb", opener=private)  # noqa: SIM115
        self._rows = self._entries = 0
        warning = f"% {self.layout.warning}\n" if self.layout.warning else ""
        self._matrix.write(f"%%MatrixMarket matrix coordinate real general\n{warning}".encode())
        self._size_line_at = self._matrix.tell()
        self._write_size_line()

    def _write_size_line(self) -> None:
        sizes = (self._rows, len(self.layout.vocabulary.vocabulary), self._entries)
        self._matrix.write((" ".join(str(size).rjust(self._WIDTH) for size in sizes) + "\n").encode())

    @classmethod
    def encoded(cls, layout: Layout, releases: Sequence[Release]) -> tuple[bytes, list[list[bytes]]]:
        """See `AbstractWriter.encoded`: lines of documents, and of each the ends of its entries' lines.

        A word outside the vocabulary (an experiment's) has no column: refused.
        """
        records, entries = io.BytesIO(), []
        for release in releases:
            ends = []
            for word, count in layout.counts(release).items():
                index = layout.vocabulary.index(word)
                if index is None:
                    raise UsageError(
                        "the mtx format has columns for the vocabulary only: choose jsonl, csv or parquet"
                    )
                ends.append(b" %d %d\n" % (index + 1, count))
            entries.append(ends)
            records.write(json_line(layout.record(release)))
        return records.getvalue(), entries

    def add(self, encoded: tuple[bytes, list[list[bytes]]]) -> None:
        """See `AbstractWriter.add`; which row a document has is known here only."""
        records, entries = encoded
        for ends in entries:
            self._rows += 1
            self._entries += len(ends)
            row = b"%d" % self._rows
            self._matrix.write(b"".join([part for end in ends for part in (row, end)]))
        self._documents.write(records)

    def close(self) -> None:
        """See `AbstractWriter.close`."""
        self._matrix.seek(self._size_line_at)
        self._write_size_line()
        self._matrix.close()
        self._documents.close()
        with open(
            self.folder / "vocabulary.txt", "x", encoding="utf-8", newline="\n", opener=private
        ) as file:
            file.writelines(f"{word}\n" for word in self.layout.vocabulary.vocabulary)


WRITERS: dict[str, type[AbstractWriter]] = {
    writer.format: writer for writer in (JsonLines, Csv, Parquet, MatrixMarket)
}
