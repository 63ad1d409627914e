"""Reading with limits: gzip is unpacked as a stream, lines have a longest length."""

from __future__ import annotations

import errno
import gzip
import hashlib
import io
import itertools
import json
import os
import stat
import zlib
from collections.abc import Iterable, Iterator
from typing import IO, Any, Final, final

from publius.errors import DataError
from publius.files.paths import AnyPath, os_errors, shown, storage_error, usable

LINE_LIMIT: Final = 64 * 2**20
"""Longest line in bytes: a document of some ten million words."""

WHOLE_LIMIT: Final = 256 * 2**20
"""Largest file in bytes that is read as a whole."""

GZIP_RATIO: Final = 200
"""A gzip stream may unpack to this many times its size: text reaches about 10, a bomb about 1,000."""

GZIP_FREE: Final = 16 * 2**20
"""A gzip stream may unpack to this many bytes whatever its ratio: small repetitive files are harmless."""

GZIP_MEMBERS: Final = 1_000
"""A gzip stream may have this many members, and one more for each KiB: each costs time, also where it holds nothing."""

_BUFFER: Final = 2**20
_PACKED_BLOCK: Final = 2**16
_GZIP_MAGIC: Final = b"\x1f\x8b"


@final
class _Counted(io.BufferedIOBase):
    """A stream that knows how many bytes were read from it (a pipe has no position)."""

    def __init__(self, file: IO[bytes]) -> None:
        self._file = file
        self.count = 0

    def read(self, size: int | None = -1, /) -> bytes:
        data = self._file.read(-1 if size is None else size)
        self.count += len(data)
        return data


@final
class _Members:
    """The content of gzip: its members one after another, bounded in number."""

    def __init__(self, packed: _Counted, path: AnyPath) -> None:
        self._packed, self._path, self._rest = packed, path, b""
        self._member: Any = None
        self._members = self._unpacked = 0

    def readinto(self, buffer: memoryview) -> int:
        """As of a file. `EOFError`, `zlib.error` and `gzip.BadGzipFile` for what is no whole gzip."""
        while True:
            if self._member is None and not self._begin():
                return 0
            data = self._member.decompress(self._rest, len(buffer))
            self._rest = self._member.unused_data or self._member.unconsumed_tail
            if self._member.eof:
                self._member = None
            elif not data and not self._rest and not self._more():
                raise EOFError
            if data:
                buffer[: len(data)] = data
                self._unpacked += len(data)
                return len(data)

    def _more(self) -> bool:
        self._rest += self._packed.read(_PACKED_BLOCK)
        return bool(self._rest)

    def _begin(self) -> bool:
        """Open the next member; False where none follows. Zeros may stand between them, as gzip has it."""
        while not (rest := self._rest.lstrip(b"\0") if self._members else self._rest):
            self._rest = b""
            if not self._more():
                return False
        self._rest, self._members = rest, self._members + 1
        if len(rest) < len(_GZIP_MAGIC):
            self._more()
        if not self._rest.startswith(_GZIP_MAGIC):
            raise gzip.BadGzipFile
        if self._members > GZIP_MEMBERS + self._unpacked // 1024:
            raise DataError(
                f"{shown(self._path)} is packed in pieces that hold nearly nothing, which take long to unpack: "
                "unpack it yourself if you trust it"
            )
        self._member = zlib.decompressobj(wbits=31)
        return True


@final
class _Source(io.RawIOBase):
    """The bytes of a file, unpacked when they are gzip; whatever goes wrong is a typed error."""

    def __init__(self, path: AnyPath, start: int, links: bool) -> None:
        self._path = path
        self._unpacked = 0
        try:
            opener = None if links else no_link
            self._file = open(usable(path), "rb", opener=opener)  # noqa: SIM115  # closed in close()
        except OSError as error:
            raise storage_error("open", path, error) from None
        self._packed = _Counted(self._file)
        self._stream: IO[bytes] | _Members = self._file
        if start:
            self._file.seek(start)
        elif self._is_gzip():
            self._stream = _Members(self._packed, self._path)

    def _is_gzip(self) -> bool:
        try:
            start = self._file.peek(len(_GZIP_MAGIC))
        except OSError as error:
            self.close()
            raise storage_error("read", self._path, error) from None
        if start.startswith(_GZIP_MAGIC):
            return True
        if os.fspath(self._path).endswith(".gz"):
            self.close()
            raise DataError(
                f"{shown(self._path)} is named .gz but is not gzip: rename it or compress it again"
            )
        return False

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: memoryview, /) -> int:  # type: ignore[override]  # the only buffer it is given
        try:
            size = int(self._stream.readinto(buffer))  # type: ignore[union-attr]  # without a copy of each block
        except (EOFError, zlib.error, gzip.BadGzipFile):
            raise DataError(
                f"{shown(self._path)} is damaged or cut short: gzip fails after {self._unpacked} bytes; "
                "fetch or compress it again"
            ) from None
        except OSError as error:
            raise storage_error("read", self._path, error) from None
        self._count(size)
        return size

    def _count(self, size: int) -> None:
        self._unpacked += size
        if self._stream is not self._file and self._unpacked > max(
            GZIP_FREE, GZIP_RATIO * self._packed.count
        ):
            raise DataError(
                f"{shown(self._path)} unpacks to more than {GZIP_RATIO} times its size: "
                "unpack it yourself if you trust it"
            )

    def close(self) -> None:
        if not self.closed:
            self._file.close()
        super().close()


def no_link(path: AnyPath, flags: int) -> int:
    """Open a plain file, as the ``opener`` of `open`; `OSError`, and no waiting, for a link or a pipe in its place."""
    descriptor = os.open(path, flags | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0), 0o666)
    if stat.S_ISREG(os.fstat(descriptor).st_mode):
        return descriptor
    os.close(descriptor)
    raise OSError(errno.ENODEV, "no plain file")


def open_binary(path: AnyPath, start: int = 0, *, links: bool = True) -> io.BufferedReader:
    """The bytes of a file as a buffered stream, unpacked when the file is gzip (told by its first bytes).

    A pipe works too. A plain file can be read from its byte ``start`` on. Without ``links`` a symbolic link is not
    followed: `StorageError`. Reading raises `StorageError` when the
    operating system fails and `DataError` when gzip is damaged, cut short, missing from a file named ``.gz``, or
    expands more than `GZIP_RATIO` times.
    """
    return io.BufferedReader(_Source(path, start, links), _BUFFER)


def largest_content(path: AnyPath) -> int | None:
    """The most bytes that `open_binary` can give for this file; None when it is not a regular file (a pipe)."""
    try:
        with open(usable(path), "rb") as file:
            state = os.fstat(file.fileno())
            if not stat.S_ISREG(state.st_mode):
                return None
            packed = file.read(len(_GZIP_MAGIC)) == _GZIP_MAGIC
    except OSError as error:
        raise storage_error("open", path, error) from None
    return max(GZIP_FREE, GZIP_RATIO * state.st_size) if packed else state.st_size


def read_bytes_limited(path: AnyPath, limit: int = WHOLE_LIMIT) -> bytes:
    """The whole file, unpacked; `DataError` when it has more than ``limit`` bytes."""
    content = bytearray()
    with open_binary(path) as stream:
        while data := stream.read(_BUFFER):  # read(limit) would allocate the limit
            content += data
            if len(content) > limit:
                raise DataError(
                    f"{shown(path)} has more than {limit} bytes, the most that is read whole: split it"
                )
    return bytes(content)


def json_of(content: bytes) -> Any:
    """The value of JSON that can be read in one way alone; `ValueError` for a key that is there twice.

    Of a key that is there twice one reader takes the first value, another the last.
    """
    try:
        return json.loads(content.decode(), object_pairs_hook=_once)
    except RecursionError:
        raise ValueError("nested too deeply") from None


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        raise ValueError("a key is there twice")
    return found


def files_sha256(paths: Iterable[AnyPath]) -> str:
    """SHA-256 over files, one after the other; `StorageError` where one cannot be read."""
    state = hashlib.sha256()
    for path in paths:
        with os_errors("read", path), open(path, "rb") as stream:
            for block in iter(lambda: stream.read(2**20), b""):
                state.update(block)
    return state.hexdigest()


def is_packed(path: AnyPath, *, links: bool = True) -> bool:
    """Whether a file is gzip, whatever it is called: `open_binary` would unpack it."""
    try:
        with open(usable(path), "rb", opener=None if links else no_link) as file:
            return file.read(len(_GZIP_MAGIC)) == _GZIP_MAGIC
    except OSError as error:
        raise storage_error("open", path, error) from None


def read_lines(path: AnyPath, limit: int = LINE_LIMIT) -> Iterator[tuple[int, bytes]]:
    """Pairs (line number from 1, bytes without the newline); a carriage return before it is kept.

    Lines end at the newline byte only. The last one needs none; an empty file has no lines. `DataError` at a
    line of more than ``limit`` bytes.
    """
    with open_binary(path) as stream:
        for number in itertools.count(1):
            line = stream.readline(limit + 1)
            if not line:
                return
            if line.endswith(b"\n"):
                line = line[:-1]
            elif len(line) > limit:
                raise DataError(f"{shown(path)}, line {number}: more than {limit} bytes; is it a text file?")
            yield number, line
