"""Reading with limits and writing durably: every file that Publius opens or makes goes through here.

Reading: gzip is unpacked as a stream, with a cap on how far it may expand; lines end at the newline byte only
(U+0085 and U+2028 occur inside words) and have a longest length. Writing: a temporary neighbor, flushed to
the disk, takes the final name in one step, so that a reader sees the whole or nothing, after a crash too.

`StorageError` is raised for what the operating system refuses, `DataError` for what is beyond a limit or
damaged. Messages name the path as the user gave it, unprintable characters escaped, and never any content.
"""

from __future__ import annotations

import contextlib
import errno
import gzip
import io
import itertools
import os
import shutil
import stat
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import IO, BinaryIO, Final, cast, final

from publius.errors import DataError, PubliusError, StorageError, UsageError

AnyPath = str | os.PathLike[str]

LINE_LIMIT: Final = 64 * 2**20
"""Longest line in bytes: a document of some ten million words."""

WHOLE_LIMIT: Final = 256 * 2**20
"""Largest file in bytes that is read as a whole."""

GZIP_RATIO: Final = 200
"""A gzip stream may unpack to this many times its size: text reaches about 10, a bomb about 1,000."""

GZIP_FREE: Final = 16 * 2**20
"""A gzip stream may unpack to this many bytes whatever its ratio: small repetitive files are harmless."""

_BUFFER: Final = 2**20
_GZIP_MAGIC: Final = b"\x1f\x8b"
_WAYS_OUT: Final = {
    errno.ENOENT: "check the name and that its folder exists",
    errno.ENOTDIR: "a part of the path is a file, not a folder",
    errno.EEXIST: "a part of the path is a file, not a folder",
    errno.EISDIR: "it is a folder: name a file",
    errno.EACCES: "check the permissions",
    errno.EPERM: "check the permissions",
    errno.EROFS: "choose a place that can be written",
    errno.ENOSPC: "free some space or choose another disk",
    errno.EDQUOT: "free some space or choose another disk",
    errno.ENAMETOOLONG: "choose a shorter name",
}
_serial = itertools.count()


def _usable(path: AnyPath) -> Path:
    if "\0" in os.fspath(path):
        raise UsageError(f"{shown(path)} holds a null character, which no file name can")
    return Path(path)


def shown(path: AnyPath) -> str:
    """The path for a message: as given, quoted, with characters escaped that could drive a terminal."""
    return repr(os.fspath(path))


def storage_error(action: str, path: AnyPath, error: OSError) -> StorageError:
    """What the operating system refused, where, and the way out."""
    reason = os.strerror(error.errno).lower() if error.errno else "it failed"
    way_out = _WAYS_OUT.get(error.errno or 0, "check the disk and try again")
    return StorageError(f"cannot {action} {shown(path)}: {reason}; {way_out}")


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
class _Source(io.RawIOBase):
    """The bytes of a file, unpacked when they are gzip; whatever goes wrong is a typed error."""

    def __init__(self, path: AnyPath) -> None:
        self._path = path
        self._unpacked = 0
        try:
            self._file = open(_usable(path), "rb")  # noqa: SIM115  # closed in close()
        except OSError as error:
            raise storage_error("open", path, error) from None
        self._packed = _Counted(self._file)
        self._stream: IO[bytes] = self._file
        if self._is_gzip():
            self._stream = cast("IO[bytes]", gzip.GzipFile(fileobj=self._packed, mode="rb"))

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
            data = self._stream.read(len(buffer))
        except (EOFError, zlib.error, gzip.BadGzipFile):
            raise DataError(
                f"{shown(self._path)} is damaged or cut short: gzip fails after {self._unpacked} bytes; "
                "fetch or compress it again"
            ) from None
        except OSError as error:
            raise storage_error("read", self._path, error) from None
        buffer[: len(data)] = data
        self._count(len(data))
        return len(data)

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


def open_binary(path: AnyPath) -> io.BufferedReader:
    """The bytes of a file as a buffered stream, unpacked when the file is gzip (told by its first bytes).

    A pipe works too. Reading raises `StorageError` when the operating system fails and `DataError` when gzip
    is damaged, cut short, missing from a file named ``.gz``, or expands more than `GZIP_RATIO` times.
    """
    return io.BufferedReader(_Source(path), _BUFFER)


def largest_content(path: AnyPath) -> int | None:
    """The most bytes that `open_binary` can give for this file; None when it is not a regular file (a pipe)."""
    try:
        with open(_usable(path), "rb") as file:
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


@contextlib.contextmanager
def write_file(path: AnyPath, mode: int = 0o666) -> Iterator[BinaryIO]:
    """A stream whose content becomes the file ``path``, durably and in one step, when the block ends well.

    When the block raises, or the disk fails, nothing appears and what stood there before stays. ``mode`` is
    the permissions before the umask: 0o600 for what is private. `StorageError` when writing fails.
    """
    target = _usable(path)
    with _os_errors("write", path):
        temporary, stream = _temporary_file(target.parent, mode)
        try:
            with stream:
                yield stream
                stream.flush()
                os.fsync(stream.fileno())
            os.replace(temporary, target)
        except BaseException:
            temporary.unlink(missing_ok=True)
            raise
        _sync(target.parent)


def _temporary_file(folder: Path, mode: int) -> tuple[Path, BinaryIO]:
    while True:
        temporary = _temporary_name(folder)
        try:
            descriptor = os.open(
                temporary, os.O_CREAT | os.O_EXCL | os.O_WRONLY | getattr(os, "O_BINARY", 0), mode
            )
        except FileExistsError:  # left by a process of the same number that was killed
            continue
        return temporary, os.fdopen(descriptor, "wb")


def _temporary_name(folder: Path) -> Path:
    return folder / f".publius-{os.getpid()}-{next(_serial)}.tmp"


@contextlib.contextmanager
def new_folder(path: AnyPath, mode: int = 0o777) -> Iterator[Path]:
    """A folder to fill, which appears as ``path`` whole and durably when the block ends well, or not at all.

    The block gets a temporary neighbor of ``path``. Missing parents are made. An existing empty folder is
    replaced, its permissions kept. `UsageError` when ``path`` exists and is not an empty folder, or cannot be
    replaced (the current folder, a mount point); `StorageError` when writing fails.
    """
    target = Path(os.path.realpath(_usable(path)))
    with _os_errors("make the folder", path):
        _check_new(target, path)
        made = _make_parents(target.parent)
        temporary = _free_name(target.parent)
        try:  # entered before the folder is made: a signal in between must not leave it behind
            temporary.mkdir(mode)
            yield temporary
            _sync_tree(temporary)
            _put_in_place(temporary, target, path)
        except BaseException:
            _remove(temporary, made)
            raise
        for folder in (target, *made):
            _sync(folder.parent)


def _check_new(target: Path, path: AnyPath) -> None:
    if not target.exists():
        return
    if not target.is_dir():
        raise UsageError(f"{shown(path)} is a file: name a new or an empty folder")
    if any(target.iterdir()):
        raise UsageError(f"the folder {shown(path)} is not empty: name a new or an empty one")
    if target == Path.cwd() or os.path.ismount(target):
        raise UsageError(
            f"the folder {shown(path)} is in use and cannot be replaced: name a new one inside it"
        )


def _make_parents(parent: Path) -> list[Path]:
    """Make what is missing of ``parent``; the folders made, innermost first."""
    missing = list(itertools.takewhile(lambda folder: not folder.exists(), (parent, *parent.parents)))
    parent.mkdir(parents=True, exist_ok=True)
    return missing


def _free_name(parent: Path) -> Path:
    """A name that no file has; no other process makes names of this one's number."""
    return next(name for _ in itertools.count() if not (name := _temporary_name(parent)).exists())


def _put_in_place(temporary: Path, target: Path, path: AnyPath) -> None:
    if target.is_dir():
        shutil.copymode(target, temporary)
        if os.name == "nt":  # only POSIX renames onto an empty folder
            target.rmdir()
    try:
        temporary.rename(target)
    except OSError as error:
        if error.errno in (errno.ENOTEMPTY, errno.EEXIST, errno.ENOTDIR):
            raise UsageError(
                f"{shown(path)} was filled by someone else meanwhile: name a new folder"
            ) from None
        raise


def _remove(temporary: Path, made: list[Path]) -> None:
    shutil.rmtree(temporary, ignore_errors=True)
    for folder in made:
        with contextlib.suppress(OSError):  # someone else may use it by now
            folder.rmdir()


def _sync_tree(folder: Path) -> None:
    for parent, _, names in os.walk(folder):
        for name in names:
            _sync(Path(parent, name))
        _sync(Path(parent))


def _sync(path: Path) -> None:
    """Flush a file or a folder's entries to the disk."""
    if os.name == "nt" and path.is_dir():
        return
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


@contextlib.contextmanager
def _os_errors(action: str, path: AnyPath) -> Iterator[None]:
    try:
        yield
    except PubliusError:
        raise
    except OSError as error:
        raise storage_error(action, path, error) from None
