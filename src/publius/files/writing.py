"""Writing durably: a temporary neighbor, flushed to the disk, takes the final name in one step."""

from __future__ import annotations

import contextlib
import itertools
import os
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO, Final, final

from publius.files.paths import AnyPath, os_errors, usable
from publius.files.placed import note_release, signals_wait

TEMPORARY: Final = ".publius-*.tmp"
"""What the names of temporary files and folders look like."""

_STRETCH: Final = 8 * 2**20
"""Bytes of a file that the disk begins with at a time."""

_serial = itertools.count()


@contextlib.contextmanager
def write_file(
    path: AnyPath, mode: int = 0o666, *, durable: bool = True, release: bool = False
) -> Iterator[BinaryIO]:
    """A stream whose content becomes the file ``path``, durably and in one step, when the block ends well.

    When the block raises, or the disk fails, nothing appears and what stood there before stays. ``mode`` is
    the permissions before the umask: 0o600 for what is private. What a run needs only while it lasts is not
    ``durable``: it is not flushed to the disk. A ``release`` is noted, see `publius.files.placed`. `StorageError` when
    writing fails.
    """
    target = usable(path)
    with os_errors("write", path):
        temporary, stream = _temporary_file(target.parent, mode)
        try:
            with stream:
                yield stream
                stream.flush()
                if durable:
                    os.fsync(stream.fileno())
            with signals_wait():
                os.replace(temporary, target)
                if release:
                    note_release(Path(path))
        except BaseException:
            temporary.unlink(missing_ok=True)
            raise
        if durable:
            sync(target.parent)


@final
class EarlyFlush:
    """Has the disk begin with a large file while it is made, so that little of it is waited for at its end.

    It is for speed alone, and only where the system knows the way: what is to be durable is flushed as ever.
    """

    def __init__(self, stream: BinaryIO) -> None:
        self._stream, self._begun, self._written = stream, 0, 0

    def wrote(self, size: int) -> None:
        """So many bytes more were written to the stream."""
        self._written += size
        if self._written - self._begun >= _STRETCH and hasattr(os, "posix_fadvise"):
            self._stream.flush()
            with contextlib.suppress(OSError):  # a disk that knows no such thing
                os.posix_fadvise(
                    self._stream.fileno(), self._begun, self._written - self._begun, os.POSIX_FADV_DONTNEED
                )
            self._begun = self._written


def _temporary_file(folder: Path, mode: int) -> tuple[Path, BinaryIO]:
    while True:
        temporary = temporary_name(folder)
        try:
            descriptor = os.open(
                temporary, os.O_CREAT | os.O_EXCL | os.O_WRONLY | getattr(os, "O_BINARY", 0), mode
            )
        except FileExistsError:  # left by a process of the same number that was killed
            continue
        return temporary, os.fdopen(descriptor, "wb")


def temporary_name(folder: Path) -> Path:
    """A name that no other process gives to a file in ``folder``."""
    return folder / f".publius-{os.getpid()}-{next(_serial)}.tmp"


def private(path: str, flags: int) -> int:
    """An ``opener`` for `open`: a file that it makes is readable by its owner only."""
    return os.open(path, flags, 0o600)


def sync(path: Path) -> None:
    """Flush a file or a folder's entries to the disk."""
    if os.name == "nt" and path.is_dir():
        return
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
