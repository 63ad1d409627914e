"""One budget whatever name its file is reached by (R25): the file itself is locked, and names that hide are refused.

SQLite keeps the journal of a debit beside the file, under the file's name, and locks what it finds there. So a debit
that was cut short must be found by whoever comes next, under whatever name: symbolic links are resolved; a second hard
link, and a file that is a mount of its own, have no common folder for the journal and are refused. A folder that
is mounted at two places, as for containers, is one folder.
"""

from __future__ import annotations

import contextlib
import os
import re
import stat
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from publius.errors import StorageError
from publius.files import shown, storage_error

_MOUNTS: Final = Path("/proc/self/mountinfo")
_POINT: Final = 4  # the field of a line that holds the mount point
_OCTAL: Final = re.compile(rb"\\([0-7]{3})")


@contextlib.contextmanager
def locked(path: Path, seconds: float) -> Iterator[Path]:
    """The file's one true name, while nobody else has the file: no thread, process or container of this machine.

    Raises `StorageError` when the file cannot be opened, has several names, or is busy for ``seconds``.
    """
    try:
        found = path.resolve(strict=True)
        descriptor = os.open(found, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK)
    except (OSError, RuntimeError) as error:  # RuntimeError: links that go in a circle
        raise storage_error("open the ledger", path, _as_os_error(error)) from None
    try:
        _lock(descriptor, path, seconds)
        try:
            _check_names(descriptor, found, path)
            yield found
        finally:
            _unlock(descriptor)
    finally:
        os.close(descriptor)


def _as_os_error(error: Exception) -> OSError:
    return error if isinstance(error, OSError) else OSError()


def _lock(descriptor: int, path: Path, seconds: float) -> None:
    try:
        import fcntl
    except ImportError:
        raise StorageError("this system cannot lock a ledger: use Linux or macOS") from None
    end, pause = time.monotonic() + seconds, 0.0005
    while True:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            if time.monotonic() > end:
                raise StorageError(
                    f"the ledger {shown(path)} was busy for {seconds:g} s: try again"
                ) from None
        except OSError as error:
            raise storage_error("lock the ledger", path, error) from None
        else:
            return
        time.sleep(pause)
        pause = min(2 * pause, 0.016)


def _unlock(descriptor: int) -> None:
    """Said aloud: a child that was forked meanwhile has the descriptor too, and would keep the lock."""
    import fcntl

    fcntl.flock(descriptor, fcntl.LOCK_UN)


def _check_names(descriptor: int, found: Path, path: Path) -> None:
    """Refuse the file when it can be reached by another name, or is no longer what its name says."""
    ours = os.fstat(descriptor)
    try:
        theirs = os.stat(found)
    except OSError as error:
        raise storage_error("open the ledger", path, error) from None
    if (ours.st_dev, ours.st_ino) != (theirs.st_dev, theirs.st_ino):
        raise StorageError(f"the ledger {shown(path)} was replaced while it was opened: try again")
    if stat.S_ISREG(ours.st_mode) and ours.st_nlink != 1:
        raise StorageError(
            f"the ledger {shown(path)} has {ours.st_nlink} names (hard links), and what is spent under one could be "
            "missed under another: remove all but one (find -samefile shows them), or use symbolic links"
        )
    if os.fsencode(found) in _mount_points():
        raise StorageError(
            f"the ledger {shown(path)} is mounted as a single file, and what is spent here could be missed outside: "
            "mount the folder that holds it instead"
        )


def _mount_points() -> frozenset[bytes]:
    """Where something is mounted, as this process sees it; nothing where the system does not say."""
    try:
        lines = _MOUNTS.read_bytes().splitlines()
    except OSError:
        return frozenset()
    fields = (line.split(b" ") for line in lines)
    return frozenset(
        _OCTAL.sub(lambda code: bytes([int(code[1], 8)]), each[_POINT])
        for each in fields
        if len(each) > _POINT
    )
