"""How far a Parquet file may unpack: what it declares is checked before it is read, what comes while it is read (R28).

What counts is what its pages declare, for a reader makes room for those, whatever the footer says.

A value that stands once in a dictionary may be repeated by a few bytes, and pages of one letter compress to nothing: a
file of kilobytes can hold gigabytes. The ratio is that of gzip. What may be unpacked whatever the ratio is the longest
document four times: whether a file is read must not tell that one of its texts is a long one.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any, Final

from publius.documents.parquet_pages import unpacked_size
from publius.errors import DocumentError
from publius.files import GZIP_FREE, GZIP_RATIO, os_errors, shown

FREE: Final = 64 * 2**20
"""Bytes that a file may unpack to whatever its size; a page of so many is read in less memory than a reader has."""

MOST_ROWS: Final = 64
"""Rows that are unpacked at once."""

_AT_ONCE: Final = 8 * 2**20  # bytes
_COPIES: Final = 5  # so many are in memory while a page is unpacked and read
_SHORT: Final = 256  # characters of a label; repeating those many times is what dictionaries are for


class Allowance:
    """The most that one file may unpack to: 64 MiB or 200 times its size on the disk, whichever is more."""

    def __init__(self, path: Path, metadata: Any, columns: tuple[str, ...]) -> None:
        """Refuse with `DocumentError` what declares more than it may, in ``columns`` or in rows.

        `ValueError` where its pages cannot be found.
        """
        self._path = path
        self._packed = path.stat().st_size
        self._left = max(FREE, GZIP_RATIO * self._packed)
        chunks = [
            group.column(place)
            for group in map(metadata.row_group, range(metadata.num_row_groups))
            for place in range(metadata.num_columns)
            if group.column(place).path_in_schema in columns
        ]
        with os_errors("read", path), path.open("rb") as file:
            sizes = [
                max(int(chunk.total_uncompressed_size), unpacked_size(file.fileno(), chunk))
                for chunk in chunks
            ]
        largest = max(sizes, default=0)
        at_once = max(FREE, self._left // _COPIES)
        rows = max(GZIP_FREE, GZIP_RATIO * self._packed)
        if (
            min(sizes, default=0) < 0
            or largest > at_once
            or sum(sizes) > self._left
            or metadata.num_rows > rows
        ):
            raise self._refused("declares")
        self.rows = max(1, min(MOST_ROWS, _AT_ONCE // max(1, largest)))
        """How many rows to unpack at once: few where a dictionary may hold a long text that they all repeat."""

    def take(self, values: dict[str, object]) -> None:
        """Count a row; `DocumentError` when more has come than the file may unpack to."""
        for value in values.values():
            if isinstance(value, str) and len(value) > _SHORT:
                self.pass_over(len(value))

    def pass_over(self, size: int) -> None:
        """Count a value of so many bytes that nobody takes."""
        self._left -= size
        if self._left < 0:
            raise self._refused("holds")

    def _refused(self, verb: str) -> DocumentError:
        return DocumentError(
            f"{shown(self._path)} has {self._packed:,} bytes and {verb} more than {GZIP_RATIO} times as many, which is "
            "what a file has that is made to fill the memory: if it is yours, write it as .jsonl"
        )
