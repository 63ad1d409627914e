"""Reading with limits: gzip is unpacked as a stream; values that somebody declares, on the command line or in a file."""

from __future__ import annotations

import csv
import gzip
import hashlib
import io
import os
import stat
import zlib
from pathlib import Path
from typing import IO, Final, final

from publius.errors import AnyPath, DataError, UsageError, os_errors, shown, storage_error, usable

WHOLE_LIMIT: Final = 256 * 2**20  # bytes of the largest file that is read as a whole
GZIP_RATIO: Final = 200  # gzip may unpack to this many times its size: text reaches about 10, a bomb about 1,000
GZIP_FREE: Final = 16 * 2**20  # bytes to which it may unpack whatever its ratio: small repetitive files are harmless
LISTED: Final[set[str]] = set()  # digests of files whose lines are public values here: none is released (rule 11)
_BUFFER: Final = 2**20
_MAGIC: Final = b"\x1f\x8b"


@final
class _Source(io.RawIOBase):
    """The bytes of a file, unpacked when they are gzip; whatever goes wrong is a typed error."""

    def __init__(self, path: AnyPath, *, bounded: bool, sniffed: bool) -> None:
        self._path, self._unpacked, self._packed, self._bounded = path, 0, 0, bounded
        with os_errors("open", path):
            self._file = open(usable(path), "rb")  # noqa: SIM115  # closed in close()
        self._stream: IO[bytes] | gzip.GzipFile = self._file
        with os_errors("read", path):
            named, packed = os.fspath(path).endswith(".gz"), self._file.peek(len(_MAGIC)).startswith(_MAGIC)
        if packed and (named or sniffed):
            self._stream = gzip.GzipFile(fileobj=_Counted(self._file, self))
        elif named:
            self.close()
            raise DataError(f"{shown(path)} is named .gz but is not gzip: rename it or compress it again")

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: memoryview, /) -> int:  # type: ignore[override]  # the only buffer it is given
        try:
            size = int(self._stream.readinto(buffer))  # type: ignore[union-attr]  # both have it
        except (EOFError, zlib.error, gzip.BadGzipFile):
            what = f"gzip fails after {self._unpacked} bytes; fetch or compress it again"
            raise DataError(f"{shown(self._path)} is damaged or cut short: {what}") from None
        except OSError as error:
            raise storage_error("read", self._path, error) from None
        self._unpacked += size
        packed = self._bounded and self._stream is not self._file
        if packed and self._unpacked > max(GZIP_FREE, GZIP_RATIO * self._packed):
            what = f"more than {GZIP_RATIO} times its size: unpack it yourself if you trust it"
            raise DataError(f"{shown(self._path)} unpacks to {what}")
        return size

    def close(self) -> None:
        if not self.closed:
            self._file.close()
        super().close()


@final
class _Counted(io.RawIOBase):
    """The packed bytes, counted for their source (a pipe has no position)."""

    def __init__(self, file: IO[bytes], source: _Source) -> None:
        self._file, self._source = file, source

    def read(self, size: int = -1, /) -> bytes:
        data = self._file.read(size)
        self._source._packed += len(data)
        return data


def open_binary(path: AnyPath, *, bounded: bool = True, sniffed: bool = True) -> io.BufferedReader:
    """The bytes of a file or pipe as a buffered stream, unpacked when it is gzip (told by its first bytes).

    Reading raises `StorageError` and `DataError`. Of documents, whose authors decide how far they expand, it is not
    ``bounded``; where an author's text is first, it is not ``sniffed``.
    """
    return io.BufferedReader(_Source(path, bounded=bounded, sniffed=sniffed), _BUFFER)


def largest_content(path: AnyPath) -> int | None:
    """The most bytes that `open_binary` can give for this file; None when it is not a regular file (a pipe)."""
    with os_errors("open", path):
        state = usable(path).stat()
    if not stat.S_ISREG(state.st_mode):
        return None
    return max(GZIP_FREE, GZIP_RATIO * state.st_size) if is_packed(path) else state.st_size


def read_bytes_limited(path: AnyPath, limit: int = WHOLE_LIMIT) -> bytes:
    """The whole file, unpacked; `DataError` when it has more than ``limit`` bytes."""
    content = bytearray()
    with open_binary(path) as stream:
        while data := stream.read(_BUFFER):  # read(limit) would allocate the limit
            content += data
            if len(content) > limit:
                raise DataError(f"{shown(path)} has more than {limit} bytes, the most that is read whole: split it")
    return bytes(content)


def is_packed(path: AnyPath) -> bool:
    """Whether a file is gzip, told by its first bytes; `StorageError` where it cannot be read."""
    with os_errors("open", path), open(usable(path), "rb") as stream:
        return stream.read(len(_MAGIC)) == _MAGIC


def file_sha256(path: AnyPath) -> str:
    """SHA-256 of a file as it lies there; `StorageError` where it cannot be read."""
    with os_errors("read", path), open(path, "rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def listed(path: AnyPath, limit: int = WHOLE_LIMIT) -> bytes:
    """`read_bytes_limited` for a file of public values."""
    content = read_bytes_limited(path, limit)
    LISTED.add(file_sha256(path))
    return content


def value_list(given: str, what: str) -> list[str]:
    """The values in ``A,B,"C, D"`` or, one a line, of ``@FILE``; ``what`` names them in an error."""
    if given.startswith("@"):
        path = Path(given[1:])
        try:
            lines = listed(path).decode("utf-8-sig").split("\n")
        except UnicodeDecodeError:
            raise DataError(f"{path.name} is not in UTF-8: it must have one value a line") from None
        return [value for line in lines if (value := line.strip())]
    try:
        (values,) = csv.reader([given], strict=True, skipinitialspace=True)
    except (csv.Error, ValueError):
        raise UsageError(
            f'the values of {what} are not quoted as in CSV: write "a, b" for a value with a comma, and "" for a '
            "quotation mark in it"
        ) from None
    return [value.strip() for value in values]
