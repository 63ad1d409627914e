"""Documents without ids of their own: numbered anew, in a secret random order, when all of them are written.

While a run lasts a document is called by its position, which keys its noise. What is published is its rank among the
HMACs of all positions under a key derived from the run's (`RunKey.derive`): the order is a uniform one to whoever has
not the key, it is the same when a run is resumed, and no gap tells of a document that was left out. Lines stand in
the order of the numbers, so neither a number nor a place in the file tells the place in the input.
"""

from __future__ import annotations

import csv
import hmac
import io
import itertools
import mmap
from array import array
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Final

import numpy as np

from publius.arrays import IndexArray
from publius.documents.row_readers import import_parquet
from publius.files import write_file
from publius.noise.randomness import RunKey
from publius.releases.writers import COMPRESSION

_ID: Final = b'"id": "'  # within a string of JSON its quotation marks would be escaped
_ROWS: Final = 1024  # of a row group


def shuffle(folder: Path, format: str, key: RunKey) -> None:
    """Number the documents of a finished release in ``folder`` anew and write them in the order of the numbers.

    What is written depends on the key and on what stands there. Parquet is held in memory; of the other formats it is
    16 bytes a document.
    """
    secret = key.derive("numbers")
    if format == "parquet":
        _shuffle_parquet(folder / "bags.parquet", secret)
    elif format == "csv":
        _rewrite(folder / "bags.csv", *_cell(_place_of_id(folder / "bags.csv")), secret, above=1)
    elif format == "mtx":
        order = _rewrite(folder / "documents.jsonl", _id_of, _with_id, secret)
        matrix = folder / "bags.mtx"
        _rewrite(matrix, _head_of(b" "), _with_head(b" "), secret, above=_comments(matrix) + 1, order=order)
    else:
        _rewrite(folder / "bags.jsonl", _id_of, _with_id, secret)


def _ranks(ids: Iterator[bytes], secret: bytes) -> IndexArray:
    """The places of the documents in the order in which they are to stand, shape (documents,)."""
    drawn = array("Q", (int.from_bytes(hmac.digest(secret, id, "sha256")[:8], "big") for id in ids))
    return np.argsort(np.asarray(drawn, np.uint64), kind="stable")


def _rewrite(
    path: Path,
    id_of: Callable[[bytes], bytes],
    with_id: Callable[[bytes, bytes], bytes],
    secret: bytes,
    *,
    above: int = 0,
    order: IndexArray | None = None,
) -> IndexArray:
    """Put the documents of a file of lines into another order, each with its new number; the order.

    A document is a run of lines of one id, below the first ``above`` lines.
    """
    if not path.stat().st_size:
        return np.zeros(0, np.int64)
    with (
        write_file(path, 0o600) as target,
        path.open("rb") as file,
        mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data,
    ):
        lines = _lines(data)
        top = sum(len(line) for _, line in itertools.islice(lines, above))
        starts = array("q")

        def ids() -> Iterator[bytes]:
            last = None
            for at, line in lines:
                if (id := id_of(line)) != last:
                    starts.append(at)
                    last = id
                    yield id

        found = _ranks(ids(), secret)
        starts.append(len(data))
        placed = found if order is None else order
        target.write(data[:top])
        for number, place in enumerate(placed.tolist(), start=1):
            for _, line in _lines(data, starts[place], starts[place + 1]):
                target.write(with_id(line, str(number).encode()))
    return placed


def _lines(data: mmap.mmap, start: int = 0, end: int | None = None) -> Iterator[tuple[int, bytes]]:
    """Where each line begins, and the line with its end."""
    stop = len(data) if end is None else end
    while start < stop:
        after = data.find(b"\n", start, stop) + 1 or stop
        yield start, data[start:after]
        start = after


def _id_of(line: bytes) -> bytes:
    start = line.index(_ID) + len(_ID)
    return line[start : line.index(b'"', start)]


def _with_id(line: bytes, number: bytes) -> bytes:
    start = line.index(_ID) + len(_ID)
    return line[:start] + number + line[line.index(b'"', start) :]


def _place_of_id(path: Path) -> int:
    """Which column of a CSV file holds the id: a label stands before it, where there is one."""
    with path.open(encoding="utf-8", newline="") as file:
        return next(csv.reader(file)).index("id")


def _cell(place: int) -> tuple[Callable[[bytes], bytes], Callable[[bytes, bytes], bytes]]:
    """What reads the cell at ``place`` of a line of CSV, and what puts another there."""
    if not place:
        return _head_of(b","), _with_head(b",")

    def cells(line: bytes) -> list[str]:
        return next(csv.reader([line.decode()]))

    def with_cell(line: bytes, number: bytes) -> bytes:
        row, target = cells(line), io.StringIO()
        row[place] = number.decode()
        csv.writer(target, lineterminator="\r\n").writerow(row)
        return target.getvalue().encode()

    return lambda line: cells(line)[place].encode(), with_cell


def _head_of(mark: bytes) -> Callable[[bytes], bytes]:
    return lambda line: line.split(mark, 1)[0]


def _with_head(mark: bytes) -> Callable[[bytes, bytes], bytes]:
    return lambda line, number: number + mark + line.split(mark, 1)[1]


def _comments(matrix: Path) -> int:
    """How many lines of comments stand above the size of a matrix."""
    with matrix.open("rb") as file:
        return sum(1 for _ in itertools.takewhile(lambda line: line.startswith(b"%"), file))


def _shuffle_parquet(path: Path, secret: bytes) -> None:
    pa, parquet = import_parquet()
    with parquet.ParquetFile(path) as file:
        table = file.read()
    order = _ranks((id.encode() for id in table.column("id").to_pylist()), secret)
    shuffled = table.take(order)
    numbers = pa.array([str(number) for number in range(1, len(order) + 1)], pa.string())
    at = shuffled.schema.get_field_index("id")
    renumbered = shuffled.set_column(at, shuffled.schema.field(at), numbers)
    with write_file(path, 0o600) as target:
        parquet.write_table(renumbered, target, compression=COMPRESSION, row_group_size=_ROWS)
