"""Sizes of the pages of a Parquet file, from their own headers: they decide how much memory a reader takes.

The footer may say less. A header is a struct in Thrift's compact protocol (parquet.thrift, PageHeader): field 2 is
the size unpacked, field 3 the size in the file. Nothing else of it is needed, so nothing else is kept.
"""

from __future__ import annotations

import os
from typing import Any, Final

_UNPACKED, _PACKED = 2, 3
_BLOCKS: Final = (2**10, 2**24)  # bytes of a header that are read, at first and then at most
_DEEPEST: Final = 8
_BYTE, _DOUBLE, _BINARY, _LIST, _SET, _MAP, _STRUCT = 3, 7, 8, 9, 10, 11, 12
_BOOLEANS, _NUMBERS = (1, 2), (4, 5, 6)


def unpacked_size(file: int, chunk: Any) -> int:
    """Bytes that the pages of a column chunk unpack to, read from the descriptor ``file``.

    `ValueError` where there is no header in the place of one.
    """
    start = int(chunk.data_page_offset)
    if chunk.has_dictionary_page and chunk.dictionary_page_offset:
        start = min(start, int(chunk.dictionary_page_offset))
    end, total = start + int(chunk.total_compressed_size), 0
    while 0 <= start < end:
        length, unpacked, packed = _header(file, start)
        total += unpacked
        start += length + packed
    return total


def _header(file: int, start: int) -> tuple[int, int, int]:
    """Length of the page header at ``start``, and what it says of the page: unpacked and packed size."""
    for size in _BLOCKS:
        header = _Header(os.pread(file, size, start))
        try:
            sizes = header.sizes()
        except IndexError:  # it is longer
            continue
        if min(sizes) < 0:
            break
        return header.at, *sizes
    raise ValueError("a page without a header")


class _Header:
    """Reads a struct; `IndexError` where it goes on beyond what was read."""

    def __init__(self, data: bytes) -> None:
        self._data, self.at = data, 0

    def sizes(self) -> tuple[int, int]:
        found = self._struct(0)
        return found.get(_UNPACKED, -1), found.get(_PACKED, -1)

    def _struct(self, depth: int) -> dict[int, int]:
        numbers, field = dict[int, int](), 0
        while (head := self._byte()) != 0:
            kind = head & 15
            field = field + (head >> 4) if head >> 4 else self._number()
            if kind in _NUMBERS:
                numbers[field] = self._number()
            elif kind not in _BOOLEANS:  # whose value is their kind
                self._skip(kind, depth)
        return numbers

    def _skip(self, kind: int, depth: int) -> None:
        if depth > _DEEPEST:
            raise ValueError("a header that is nested too deeply")
        if kind in (*_BOOLEANS, _BYTE):
            self._byte()
        elif kind in _NUMBERS:
            self._number()
        elif kind == _DOUBLE:
            self._pass(8)
        elif kind == _BINARY:
            self._pass(self._varint())
        elif kind in (_LIST, _SET):
            head = self._byte()
            count = head >> 4 if head >> 4 < 15 else self._varint()
            for _ in range(count):
                self._skip(head & 15, depth + 1)
        elif kind == _MAP:
            count = self._varint()
            kinds = self._byte() if count else 0
            for _ in range(count):
                self._skip(kinds >> 4, depth + 1)
                self._skip(kinds & 15, depth + 1)
        elif kind == _STRUCT:
            self._struct(depth + 1)
        else:
            raise ValueError("a header of unknown fields")

    def _number(self) -> int:
        value = self._varint()
        return (value >> 1) ^ -(value & 1)

    def _varint(self) -> int:
        value = shift = 0
        while True:
            byte = self._byte()
            value |= (byte & 127) << shift
            if byte < 128:
                return value
            shift += 7
            if shift > 63:
                raise ValueError("a number without end")

    def _byte(self) -> int:
        self.at += 1
        return self._data[self.at - 1]

    def _pass(self, count: int) -> None:
        self.at += count
        if self.at > len(self._data):
            raise IndexError
