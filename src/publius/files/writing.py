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
        temporary = temporary_name(target.parent)
        try:
            with open(temporary, "xb", opener=lambda name, flags: os.open(name, flags, mode)) as stream:
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


def temporary_name(folder: Path) -> Path:
    """A name that no file in ``folder`` has, and that no other process gives to one."""
    names = (folder / f".publius-{os.getpid()}-{number}.tmp" for number in _serial)
    return next(name for name in names if not name.exists())


def private(path: str, flags: int) -> int:
    """An ``opener`` for `open`: a file that it makes is readable by its owner only."""
    return os.open(path, flags, 0o600)


def sync(path: Path) -> None:
    """Flush a file or a folder's entries to the disk."""
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
