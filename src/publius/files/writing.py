"""Writing durably: a temporary neighbor, flushed to the disk, takes the final name in one step."""

from __future__ import annotations

import contextlib
import itertools
import os
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO, Final

from publius.files.paths import AnyPath, os_errors, usable

TEMPORARY: Final = ".publius-*.tmp"
"""What the names of temporary files and folders look like."""

_serial = itertools.count()


@contextlib.contextmanager
def write_file(path: AnyPath, mode: int = 0o666, *, durable: bool = True) -> Iterator[BinaryIO]:
    """A stream whose content becomes the file ``path``, durably and in one step, when the block ends well.

    When it raises, what stood there before stays. ``mode`` is the permissions before the umask: 0o600 for what is
    private. What a run needs only while it lasts is not ``durable``: it is not flushed to the disk.
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
            os.replace(temporary, target)
        except BaseException:
            temporary.unlink(missing_ok=True)
            raise
        if durable:
            sync(target.parent)


def _temporary_file(folder: Path, mode: int) -> tuple[Path, BinaryIO]:
    while True:
        temporary = temporary_name(folder)
        flags = os.O_CREAT | os.O_EXCL | os.O_WRONLY | getattr(os, "O_BINARY", 0)
        try:
            descriptor = os.open(temporary, flags, mode)
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


def remove_secret(path: Path) -> None:
    """Remove a secret durably, its bytes overwritten first where the disk does so in place."""
    if not path.exists():
        return
    with os_errors("remove", path):
        with open(path, "r+b") as file:
            file.write(bytes(path.stat().st_size))
            file.flush()
            os.fsync(file.fileno())
        path.unlink()
        sync(path.parent)
