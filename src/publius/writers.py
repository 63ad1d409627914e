"""Releases to files: JSONL, CSV, Parquet, Matrix Market. A writer sees only released bags (R21).

Words come in vocabulary order and nothing else about their order is written (R11). An experiment's warning is on
every artefact (R10).
"""

from __future__ import annotations

import csv
import io
import json
from abc import ABC, abstractmethod
from collections.abc import Sequence
from pathlib import Path
from types import TracebackType
from typing import Any, BinaryIO, ClassVar, Self, final

from publius.embeddings import Embeddings
from publius.errors import MissingExtraError, UsageError
from publius.releases import Release

RESERVED = ("id", "size", "bag", "word", "count", "words", "counts", "warning", "private")


class AbstractWriter(ABC):
    """Writes releases to a folder, one after another; use it as a context manager."""

    format: ClassVar[str]

    def __init__(
        self, folder: Path, embeddings: Embeddings, labels: Sequence[str], warning: str | None
    ) -> None:
        """Write into ``folder``; ``labels`` are the kept fields; ``warning`` marks an experiment."""
        if clash := sorted(set(labels) & set(RESERVED)):
            raise UsageError(f"a kept field cannot be called {clash[0]!r}: that name is the release's own")
        self.folder = folder
        self.labels = tuple(labels)
        self.warning = warning
        self._embeddings = embeddings
        self._open()

    @abstractmethod
    def _open(self) -> None: ...

    @abstractmethod
    def write(self, release: Release) -> None:
        """Add one release."""

    @abstractmethod
    def close(self) -> None:
        """Finish the files."""

    @final
    def counts(self, release: Release) -> dict[str, int]:
        """The bag's words in vocabulary order; words outside it (an experiment's) last."""
        last = self._embeddings.size

        def place(item: tuple[str, int]) -> tuple[int, str]:
            index = self._embeddings.index(item[0])
            return (last if index is None else index, item[0])

        return dict(sorted(release.bag.counts.items(), key=place))

    @final
    def record(self, release: Release) -> dict[str, Any]:
        """Id, size, an experiment's warning, and exactly the labels that were asked for."""
        if set(release.labels) != set(self.labels):
            raise UsageError("a release has other labels than the plan keeps: give both the same fields")
        warning = {"warning": self.warning} if self.warning else {}
        labels = {label: release.labels[label] for label in self.labels}
        return {"id": release.id, "size": release.bag.size, **warning, **labels}

    @final
    def __enter__(self) -> Self:
        return self

    @final
    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


def _json_line(record: dict[str, Any]) -> bytes:
    return json.dumps(record, ensure_ascii=False, allow_nan=False).encode() + b"\n"


@final
class JsonLines(AbstractWriter):
    """``bags.jsonl``: one object a line with id, size, bag and the kept fields."""

    format = "jsonl"

    def _open(self) -> None:
        self._file: BinaryIO = open(self.folder / "bags.jsonl", "wb")  # noqa: SIM115

    def write(self, release: Release) -> None:
        """See `AbstractWriter.write`."""
        record = self.record(release)
        body = {"id": record.pop("id"), "size": record.pop("size"), "bag": self.counts(release), **record}
        if release.words is not None:
            body["words"] = list(release.words)
        self._file.write(_json_line(body))

    def close(self) -> None:
        """See `AbstractWriter.close`."""
        self._file.close()


@final
class Csv(AbstractWriter):
    """``bags.csv``: one row a word with id, size, the kept fields, word and count.

    A cell that a spreadsheet would run as a formula gets an apostrophe in front.
    """

    format = "csv"

    def _open(self) -> None:
        self._file = open(self.folder / "bags.csv", "w", encoding="utf-8", newline="")  # noqa: SIM115
        self._rows = csv.writer(self._file, lineterminator="\r\n")
        warning = ["warning"] if self.warning else []
        self._rows.writerow(["id", "size", *warning, *map(_spreadsheet_safe, self.labels), "word", "count"])

    def write(self, release: Release) -> None:
        """See `AbstractWriter.write`."""
        head = [_spreadsheet_safe(value) for value in self.record(release).values()]
        for word, count in self.counts(release).items():
            self._rows.writerow([*head, _spreadsheet_safe(word), count])

    def close(self) -> None:
        """See `AbstractWriter.close`."""
        self._file.close()


def _spreadsheet_safe(value: Any) -> Any:
    """``value``, with an apostrophe in front where a spreadsheet would read a formula."""
    return (
        f"'{value}"
        if isinstance(value, str) and value.startswith(("=", "+", "-", "@", "\t", "\r"))
        else value
    )


@final
class Parquet(AbstractWriter):
    """``bags.parquet``: one row a document with id, size, the kept fields, words and counts (lists)."""

    format = "parquet"
    _BATCH: ClassVar[int] = 1024

    def _open(self) -> None:
        try:
            import pyarrow as pa
            import pyarrow.parquet as pq
        except ImportError:
            raise MissingExtraError("pyarrow", "parquet") from None
        warning = [("warning", pa.string())] if self.warning else []
        fields = [("id", pa.string()), ("size", pa.int64()), *warning]
        fields += [(label, pa.string()) for label in self.labels]
        fields += [("words", pa.list_(pa.string())), ("counts", pa.list_(pa.int64()))]
        self._schema = pa.schema(fields, metadata={"warning": self.warning} if self.warning else None)
        self._file = pq.ParquetWriter(self.folder / "bags.parquet", self._schema, compression="zstd")
        self._rows: list[dict[str, Any]] = []

    def write(self, release: Release) -> None:
        """See `AbstractWriter.write`."""
        counts = self.counts(release)
        labels = {label: _text(release.labels.get(label)) for label in self.labels}
        self._rows.append(
            {**self.record(release), **labels, "words": list(counts), "counts": list(counts.values())}
        )
        if len(self._rows) == self._BATCH:
            self._flush()

    def _flush(self) -> None:
        import pyarrow as pa

        self._file.write_batch(pa.RecordBatch.from_pylist(self._rows, schema=self._schema))
        self._rows = []

    def close(self) -> None:
        """See `AbstractWriter.close`."""
        if self._rows:
            self._flush()
        self._file.close()


def _text(value: object) -> str | None:
    return value if isinstance(value, str) or value is None else json.dumps(value)


@final
class MatrixMarket(AbstractWriter):
    """``bags.mtx`` (documents x vocabulary, integer coordinates), ``vocabulary.txt``, ``documents.jsonl``."""

    format = "mtx"
    _WIDTH: ClassVar[int] = 20  # room for each number of the size line, which is known only at the end

    def _open(self) -> None:
        self._matrix: BinaryIO = open(self.folder / "bags.mtx", "wb")  # noqa: SIM115
        self._documents: BinaryIO = open(self.folder / "documents.jsonl", "wb")  # noqa: SIM115
        self._rows = self._entries = 0
        warning = f"% {self.warning}\n" if self.warning else ""
        self._matrix.write(f"%%MatrixMarket matrix coordinate integer general\n{warning}".encode())
        self._size_line_at = self._matrix.tell()
        self._write_size_line()

    def _write_size_line(self) -> None:
        sizes = (self._rows, self._embeddings.size, self._entries)
        self._matrix.write((" ".join(str(size).rjust(self._WIDTH) for size in sizes) + "\n").encode())

    def write(self, release: Release) -> None:
        """See `AbstractWriter.write`; a word outside the vocabulary (an experiment's) has no column: refused."""
        self._rows += 1
        lines = io.StringIO()
        for word, count in self.counts(release).items():
            index = self._embeddings.index(word)
            if index is None:
                raise UsageError(
                    "the mtx format has columns for the vocabulary only: choose jsonl, csv or parquet"
                )
            lines.write(f"{self._rows} {index + 1} {count}\n")
            self._entries += 1
        self._matrix.write(lines.getvalue().encode())
        self._documents.write(_json_line(self.record(release)))

    def close(self) -> None:
        """See `AbstractWriter.close`."""
        self._matrix.seek(self._size_line_at)
        self._write_size_line()
        self._matrix.close()
        self._documents.close()
        with open(self.folder / "vocabulary.txt", "w", encoding="utf-8", newline="\n") as file:
            file.writelines(f"{word}\n" for word in self._embeddings.vocabulary)


WRITERS: dict[str, type[AbstractWriter]] = {
    writer.format: writer for writer in (JsonLines, Csv, Parquet, MatrixMarket)
}
