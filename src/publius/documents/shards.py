"""A corpus cut into pieces of work that are read independently of each other.

Plain JSON lines are cut at bytes and Parquet at rows; other files are one range each. Consecutive small ranges
share a piece.
"""

from __future__ import annotations

import itertools
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from publius.documents.corpus import Corpus, Range
from publius.documents.row_readers import parquet_groups, read_jsonl, read_parquet
from publius.files import os_errors

Piece = tuple[Range, ...]

LARGEST: Final = 4 * 2**20
"""Bytes of a piece at most, where a file can be cut: some minutes of work, and what a resumed run may repeat."""

SMALLEST: Final = 2**14


def cut(corpus: Corpus, parts: int) -> list[Piece]:
    """Consecutive pieces of at most `LARGEST` bytes, where files can be cut, and some ``parts`` or more of them."""
    sizes = [file_size(path) for path in corpus.paths]
    target = min(LARGEST, max(SMALLEST, sum(sizes) // max(1, parts)))
    ranges = itertools.chain.from_iterable(
        _ranges(corpus, number, size, target) for number, size in enumerate(sizes)
    )
    return list(_packed(ranges, target))


def file_size(path: Path) -> int:
    """Bytes of a file of a corpus, as it is stored; `StorageError` when it cannot be told."""
    with os_errors("open", path):
        return os.stat(path).st_size


def _ranges(corpus: Corpus, number: int, size: int, target: int) -> Iterator[tuple[Range, int]]:
    """The ranges of a file, and the bytes of each."""
    path, reader = corpus.paths[number], corpus.reader_at(number)
    if reader is read_parquet:
        yield from _rows(number, parquet_groups(path), target)
    elif reader is read_jsonl and size > target and not _is_gzip(path):
        edges = [*range(0, size, target), None]
        for start, stop in itertools.pairwise(edges):
            yield Range(number, start or 0, stop), target
    else:
        yield Range(number), size


def _rows(number: int, groups: list[tuple[int, int]], target: int) -> Iterator[tuple[Range, int]]:
    start = 0
    for rows, size in groups:
        step = max(1, rows * target // max(1, size))
        for first in range(0, rows, step):
            count = min(step, rows - first)
            yield Range(number, start + first, start + first + count), size * count // rows
        start += rows


def _is_gzip(path: Path) -> bool:
    if path.name.endswith(".gz"):
        return True
    with os_errors("open", path), open(path, "rb") as file:
        return file.read(2) == b"\x1f\x8b"


def _packed(ranges: Iterator[tuple[Range, int]], target: int) -> Iterator[Piece]:
    piece: list[Range] = []
    total = 0
    for part, size in ranges:
        if piece and total + size > target:
            yield tuple(piece)
            piece, total = [], 0
        piece.append(part)
        total += size
    if piece:
        yield tuple(piece)
