"""A corpus cut for reading and for writing: ranges are read independently, shards are what one task releases.

Ranges follow the input: plain JSON lines are cut at bytes and Parquet at rows; other files are one range each. They
are private. Shards follow the number of documents and of their words, which are public, and nothing else (R23): part
files cut at bytes of the input would tell how long the documents are.
"""

from __future__ import annotations

import bisect
import itertools
import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final, final

from publius.documents.corpus import Corpus, FilePart
from publius.documents.foreign import parquet_groups
from publius.documents.readers import RANGES
from publius.files import os_errors

LARGEST: Final = 2**20
"""Bytes of a range at most, where a file can be cut: what a task may have to read before its first document."""

SMALLEST: Final = 2**12
_RANGES: Final = 256  # of a corpus that needs no more

_SHARDS: Final = 64  # of a corpus that needs no more; the same on every cluster, for resume
_FEWEST_WORDS: Final = 2**10
_MOST_WORDS: Final = 2**20  # some minutes of work, and what a resumed run may repeat


@final
@dataclass(frozen=True, slots=True)
class Shard:
    """``count`` consecutive documents: those after the first ``skip`` good ones from range number ``first`` on."""

    first: int
    skip: int
    count: int


def shard_size(documents: int, words: int) -> int:
    """Documents a shard, for ``documents`` of ``words`` words each: a function of these two public numbers."""
    most, fewest = max(1, _MOST_WORDS // words), max(1, _FEWEST_WORDS // words)
    return min(most, max(fewest, -(-documents // _SHARDS)))


def shards(counts: Sequence[int], words: int) -> list[Shard]:
    """Equal shards of a corpus whose ranges hold ``counts`` good documents; only the last has fewer, none is empty."""
    ends = list(itertools.accumulate(counts))
    documents = ends[-1] if ends else 0
    size = shard_size(documents, words)
    return [_shard(start, min(size, documents - start), ends) for start in range(0, documents, size)]


def _shard(start: int, count: int, ends: list[int]) -> Shard:
    first = bisect.bisect_right(ends, start)
    return Shard(first, start - (ends[first - 1] if first else 0), count)


def reading_ranges(corpus: Corpus) -> list[FilePart]:
    """Consecutive ranges of at most `LARGEST` bytes, where files can be cut."""
    sizes = [file_size(path) for path in corpus.paths]
    target = min(LARGEST, max(SMALLEST, sum(sizes) // _RANGES))
    found = (_ranges(corpus, number, size, target) for number, size in enumerate(sizes))
    left = [FilePart(len(corpus.paths))] if corpus.left else []
    return [*itertools.chain.from_iterable(found), *left]


def file_size(path: Path) -> int:
    """Bytes of a file of a corpus, as it is stored; `StorageError` when it cannot be told."""
    with os_errors("open", path):
        return os.stat(path).st_size


def _ranges(corpus: Corpus, number: int, size: int, target: int) -> Iterator[FilePart]:
    path, kind = corpus.paths[number], corpus.kind_at(number)
    if kind == ".parquet":
        yield from _rows(number, parquet_groups(path, seconds=corpus.reading_seconds), target)
    elif kind in RANGES and size > target and not _is_gzip(path):
        for start, stop in itertools.pairwise([*range(0, size, target), None]):
            yield FilePart(number, start or 0, stop)
    else:
        yield FilePart(number)


def _rows(number: int, groups: list[tuple[int, int]], target: int) -> Iterator[FilePart]:
    start = 0
    for rows, size in groups:
        step = max(1, rows * target // max(1, size))
        for first in range(0, rows, step):
            yield FilePart(number, start + first, start + min(first + step, rows))
        start += rows


def _is_gzip(path: Path) -> bool:
    if path.name.endswith(".gz"):
        return True
    with os_errors("open", path), open(path, "rb") as file:
        return file.read(2) == b"\x1f\x8b"
