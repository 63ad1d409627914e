"""Paths in messages, and what the operating system refuses as typed errors."""

from __future__ import annotations

import contextlib
import errno
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from publius.errors import PubliusError, StorageError, UsageError

AnyPath = str | os.PathLike[str]

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


def usable(path: AnyPath) -> Path:
    """``path``; `UsageError` for one that no file can have."""
    if "\0" in os.fspath(path):
        raise UsageError(f"{shown(path)} holds a null character, which no file name can")
    return Path(path)


def shown(path: AnyPath) -> str:
    """The path for a message: as given, quoted, with characters escaped that could drive a terminal."""
    return repr(os.fspath(path))


def storage_error(action: str, path: AnyPath, error: OSError) -> StorageError:
    """An error of the operating system: its reason, the place, and the way out."""
    reason = os.strerror(error.errno).lower() if error.errno else "it failed"
    way_out = _WAYS_OUT.get(error.errno or 0, "check the disk and try again")
    return StorageError(f"cannot {action} {shown(path)}: {reason}; {way_out}")


@contextlib.contextmanager
def os_errors(action: str, path: AnyPath) -> Iterator[None]:
    """Turn refusals of the operating system in the block into a `StorageError` that names ``path``."""
    try:
        yield
    except PubliusError:
        raise
    except OSError as error:
        raise storage_error(action, path, error) from None
