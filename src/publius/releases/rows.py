"""The rows of a release: a worker's private piece of them, the public file of all pieces, and what reads it again.

A line of a piece is a row's JSON behind its id, and with the document's own id where ids leave. The public order of rows
is drawn for the run, from the number of rows alone, but where ids leave: then it is that of the documents.
"""

from __future__ import annotations

import csv
import io
import itertools
import json
import os
import re
import shutil
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO, Final, TextIO, final

import msgspec

from publius.errors import DataError, PolicyError, UsageError, shown
from publius.files.writing import private, write_file
from publius.noise.randomness import RunKey
from publius.releases.manifest import Manifest
from publius.releases.register import whole

if TYPE_CHECKING:
    from publius.mechanisms.mechanism import Outcome
    from publius.settings import Format

RESERVED: Final = ("id", "label", "size", "bag", "position", "word", "count", "words", "counts", "text", "warning")
"""Names that a row has of its own; no kept column may have one."""

_BUCKET: Final = 64 * 2**20
"""Bytes of rows that are put in order at once."""
_GROUP: Final = 1024  # rows of a row group, and of a table at once


# Pieces ---------------------------------------------------------------------------------------------------


def row_of(outcome: Outcome, kept: Mapping[str, Any] | None = None, warning: str | None = None) -> dict[str, Any]:
    """The fields of a released row but its id: label, size, bag or words, warning, kept columns.

    The words of a bag come in the order of the alphabet: nothing else about their order is written.
    """
    row: dict[str, Any] = {}
    if outcome.label is not None:
        row["label"] = outcome.label
    if outcome.words is not None:
        row |= {"size": len(outcome.words), "words": list(outcome.words)}
    elif outcome.bag is not None:
        row |= {"size": outcome.bag.size, "bag": dict(outcome.bag.counts)}  # sorted by word
    if warning is not None:
        row["warning"] = warning
    return {**row, **kept} if kept else row


def write_piece(path: Path, lines: Sequence[bytes], labels: Mapping[str, int]) -> None:
    """A private piece, which has its name when it is whole; its last line says how many rows and labels it has."""
    with write_file(path, 0o600, durable=False) as file:
        file.write(b"".join(lines) + msgspec.json.encode([len(lines), labels]) + b"\n")


def tally_of(path: Path) -> tuple[int, dict[str, int]] | None:
    """The last line of a finished piece; None of one that is not there or that a crash of the machine has torn."""
    if not path.exists():
        return None
    content = path.read_bytes()
    start = content.rfind(b"\n", 0, -1) + 1
    try:
        rows, labels = msgspec.json.decode(content[start:], type=tuple[int, dict[str, int]])
    except msgspec.MsgspecError:
        return None
    return (rows, labels) if content.count(b"\n") == rows + 1 else None


def _lines(pieces: Iterable[Path]) -> Iterator[bytes]:
    for piece in pieces:
        with open(piece, "rb") as file:
            yield from file.readlines()[:-1]  # the last one is the tally


# The public file -------------------------------------------------------------------------------------------


def write_rows(
    pieces: Sequence[Path], folder: Path, key: RunKey, *, rows: int, kind: str, format: Format, ids: bool,
    keep: Sequence[str] = (),
) -> dict[str, Any] | None:  # fmt: skip
    """Write the rows of all pieces as one public file in ``folder``; the first of them, None where there are none."""
    work = pieces[0].parent if pieces else folder
    lines = _public(_lines(pieces) if ids else _in_secret_order(pieces, work, rows, key), ids)
    first = next(lines, None)
    name = f"rows.{format}" if format != "jsonl" else "labels.jsonl" if kind == "labels" else "bags.jsonl"
    with open(folder / name, "xb", opener=private) as file:
        names = ["id", *["label"] * (kind == "labels"), *keep]  # of a file without any row
        _WRITERS[format](file, itertools.chain([] if first is None else [first], lines), names)
    return None if first is None else msgspec.json.decode(first)


def _public(lines: Iterator[bytes], ids: bool) -> Iterator[bytes]:
    if ids:
        return map(b'{"id":%b'.__mod__, lines)
    return map(b'{"id":"%d",%b'.__mod__, zip(itertools.count(1), lines, strict=False))


def _in_secret_order(pieces: Sequence[Path], work: Path, rows: int, key: RunKey) -> Iterator[bytes]:
    """All lines in an order that depends on the run key and the number of rows alone; memory holds one bucket."""
    order = RunKey(key.derive("order")).rng("").permutation(rows)
    size = sum(piece.stat().st_size for piece in pieces)
    if size <= _BUCKET:
        placed = [*_lines(pieces)]
        yield from map(placed.__getitem__, order.argsort().tolist())
        return
    folder = work / "order"
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(0o700)
    count = min(-(-size // _BUCKET), 512)
    with ExitStack() as opened:
        buckets = [opened.enter_context(open(folder / str(n), "xb", opener=private)) for n in range(count)]
        for place, line in zip(order, _lines(pieces), strict=True):
            buckets[int(place) * count // rows].write(b"%020d" % place + line)
    for number in range(count):
        path = folder / str(number)
        yield from (line[20:] for line in sorted(path.read_bytes().splitlines(keepends=True)))
        path.unlink()
    folder.rmdir()


def _write_json(file: BinaryIO, lines: Iterator[bytes], names: Sequence[str]) -> None:
    file.writelines(lines)


def _write_csv(file: BinaryIO, lines: Iterator[bytes], names: Sequence[str]) -> None:
    """A row a document, or a row for each of its words; what a spreadsheet would calculate gets an apostrophe."""
    header: list[str] = []
    text = io.TextIOWrapper(file, "utf-8", newline="", write_through=True)
    made = csv.writer(text)
    for line in lines:
        row = msgspec.json.decode(line)
        cells = {name: _cell(value) for name, value in row.items() if name not in ("bag", "words")}
        if not header:
            last = ["word", "count"] if "bag" in row else ["position", "word"] if "words" in row else []
            header = [*cells, *last]
            made.writerow(map(spreadsheet_safe, header))
        words = row["bag"].items() if "bag" in row else enumerate(row["words"], 1) if "words" in row else [()]
        for more in words:
            made.writerow([*cells.values(), *map(spreadsheet_safe, more)])
    if not header:
        made.writerow(names)
    text.detach()


def _write_parquet(file: BinaryIO, lines: Iterator[bytes], names: Sequence[str]) -> None:
    """A row a document; a bag is a map of its words to their counts. Kept values are texts."""
    from publius.errors import extra

    with extra("parquet", "pyarrow"):
        import pyarrow as pa
        from pyarrow import parquet

    kinds = {"size": pa.int64(), "words": pa.list_(pa.string()), "bag": pa.map_(pa.string(), pa.int64())}
    writer: Any = None
    while group := [msgspec.json.decode(line) for line in itertools.islice(lines, _GROUP)]:
        if writer is None:
            schema = pa.schema([(name, kinds.get(name, pa.string())) for name in group[0]])
            writer = parquet.ParquetWriter(file, schema, compression="zstd")
        for row in group:
            row |= {name: _text(value) for name, value in row.items() if name not in kinds and value is not None}
            if "bag" in row:
                row["bag"] = [*row["bag"].items()]
        writer.write_table(pa.Table.from_pylist(group, schema=schema))
    if writer is None:
        writer = parquet.ParquetWriter(file, pa.schema([(name, pa.string()) for name in names]), compression="zstd")
    writer.close()


_WRITERS: Final = {"jsonl": _write_json, "csv": _write_csv, "parquet": _write_parquet}


def _text(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def _cell(value: Any) -> Any:
    return "" if value is None else spreadsheet_safe(_text(value))


_BEGINS: Final = r'((?:^|[;\t\r\n])[ "]*)'
"""Where a cell begins, also for a spreadsheet that separates cells by semicolons, as in German, or by tabs."""

_TO_MARK: Final = re.compile(_BEGINS + "(?='*[=+\\-@\t\r\uff1d\uff0b\uff0d\uff20])")


def spreadsheet_safe(value: Any) -> Any:
    """``value``, with an apostrophe where a spreadsheet would read a formula: in front, and behind a separator."""
    return _TO_MARK.sub(r"\1'", value) if isinstance(value, str) else value


def unmarked(text: str) -> str:
    """A text of a table without the apostrophes of `spreadsheet_safe`."""
    return re.sub(_BEGINS + "'(?='*[=+\\-@\t\r\uff1d\uff0b\uff0d\uff20])", r"\1", text)


def csv_table(path: Path, columns: Sequence[str], rows: Iterable[Sequence[Any]]) -> None:
    """Write a small public table."""
    with open(path, "x", encoding="utf-8", newline="", opener=private) as file:
        made = csv.writer(file)
        made.writerow(columns)
        made.writerows([spreadsheet_safe(cell) for cell in row] for row in rows)


def read_rows(folder: Path) -> Iterator[dict[str, Any]]:
    """The rows of a release in whichever format, as they are in JSON lines."""
    if lines := [*folder.glob("*.jsonl")]:  # one: labels, bags, or the made-up rows of a summary
        with lines[0].open("rb") as file:
            yield from map(msgspec.json.decode, file)
    elif (folder / "rows.csv").exists():
        yield from _read_csv(folder / "rows.csv")
    elif (folder / "rows.parquet").exists():
        from pyarrow import parquet

        with parquet.ParquetFile(folder / "rows.parquet") as file:
            for batch in file.iter_batches(_GROUP):
                for row in batch.to_pylist():
                    if "bag" in row:
                        row["bag"] = dict(row["bag"])
                    yield row


def records(file: TextIO) -> csv.DictReader[str]:
    """The rows of a table that Publius wrote; a kept cell may be of any length."""
    csv.field_size_limit(sys.maxsize)
    return csv.DictReader(file)


def _read_csv(path: Path) -> Iterator[dict[str, Any]]:
    with path.open(encoding="utf-8", newline="") as file:
        read = ({unmarked(name): unmarked(value) for name, value in row.items()} for row in records(file))
        for row in read:
            rows, left = [row], int(row["size"]) - int(row.get("count", 1)) if "word" in row else 0
            while left > 0:  # documents may share an id, so their words end where there are as many as their size
                rows.append(next(read))
                left -= int(rows[-1].get("count", 1))
            found: dict[str, Any] = {k: v for k, v in rows[0].items() if k not in ("word", "count", "position")}
            if "size" in found:
                found["size"] = int(found["size"])
            if "count" in rows[0]:
                found["bag"] = {row["word"]: int(row["count"]) for row in rows}
            elif "position" in rows[0]:
                found["words"] = [row["word"] for row in rows]
            yield found


@final
@dataclass(frozen=True, slots=True)
class ReleasedFolder:
    """A finished release: its manifest, its rows and its tables.

    Attributes:
        folder: where it is.
        manifest: a `LabelManifest`, `WordManifest` or `SummaryManifest`.
    """

    folder: Path
    manifest: Manifest

    def rows(self) -> Iterator[dict[str, Any]]:
        """The rows, one after another, whatever their format; the synthetic ones of a summary."""
        return read_rows(self.folder)

    @property
    def tables(self) -> tuple[str, ...]:
        """The names of its tables, such as ``labels`` or ``topics``."""
        return tuple(sorted(name[:-4] for name in self.manifest.files if name.endswith(".csv") and name != "rows.csv"))

    def table(self, name: str) -> list[dict[str, str]]:
        """A table, row by row; `DataError` where there is none of that name."""
        if name not in self.tables:
            raise DataError(f"{shown(self.folder)} has no table {name!r}: {', '.join(self.tables) or 'none at all'}")
        with (self.folder / f"{name}.csv").open(encoding="utf-8", newline="") as file:
            return [{key: unmarked(cell) for key, cell in row.items()} for row in records(file)]


def read_release(folder: str | os.PathLike[str]) -> ReleasedFolder:
    """A finished release; anybody's code may work on it, since what is made of a release alone keeps its promise.

    `DataError` unless ``folder`` holds exactly the files that its manifest names, as they were drawn.
    """
    return ReleasedFolder(Path(folder), whole(folder)[0])


def check_kept(keep: Sequence[str], ids: str | None = None, private: Sequence[str | None] = ()) -> None:
    """Refuse kept columns that are named twice or like a row's own fields, and any that holds what must not leave.

    A path that begins with one of the ``private`` columns or contains one counts as it (rule 12).
    """
    if clash := next((name for name in keep if name in RESERVED or keep.count(name) > 1), None):
        raise UsageError(f"a kept column cannot be called {clash!r} here, or is named twice: rename it in the file")
    for name in (*keep, *([] if ids is None else [ids])):
        if any(hidden is not None and _overlap(name, hidden) for hidden in private):
            raise PolicyError(
                f"the column {name!r} holds the texts or their authors, and these never leave: keep another"
            )


def _overlap(one: str, other: str) -> bool:
    """Whether one of two paths is the other, or a part of it: user and user.name, answers[].a and answers."""
    first, second = (re.findall(r"[^.\[\]]+|\[\]", name) for name in (one, other))
    shared = min(len(first), len(second))
    return first[:shared] == second[:shared]
