"""Every exception that Publius raises on purpose, with the exit code of the command line.

A message says what was found, where, and the way out; it never holds a word of a document (SECURITY.md, rule 17).
"""

from __future__ import annotations

import errno
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import ClassVar, Final

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


class PubliusError(Exception):
    """Base of all; raised itself only for what can only be a bug."""

    exit_code: ClassVar[int] = 70


class UsageError(PubliusError, ValueError):
    """The caller asked for something that does not exist or does not fit together."""

    exit_code = 2


class MissingExtraError(UsageError):
    """An optional dependency is needed and absent; the message names the extra to install."""

    def __init__(self, module: str, extra: str) -> None:
        super().__init__(f"this needs {module}, which is not installed: pip install 'publius[{extra}]'")
        self._arguments = (module, extra)

    def __reduce__(self) -> tuple[type[MissingExtraError], tuple[str, str]]:
        """A worker's error reaches the parent process by pickle, with both arguments."""
        return type(self), self._arguments


@contextmanager
def extra(name: str, module: str) -> Iterator[None]:
    """The gate of what an extra brings: `MissingExtraError` for ``module`` where an import inside fails."""
    try:
        yield
    except ImportError:
        raise MissingExtraError(module, name) from None


class DataError(PubliusError, ValueError):
    """An input was read and cannot be accepted."""

    exit_code = 65


class StorageError(PubliusError, OSError):
    """Reading or writing failed; nothing half-written was left under the final name."""

    exit_code = 74


class EntropyError(StorageError):
    """The operating system gave no randomness; nothing was released."""


class PolicyError(PubliusError):
    """The request would break a promise, so it is refused."""

    exit_code = 77


class BudgetError(PolicyError):
    """A privacy budget would be overspent; nothing was released and nothing debited.

    ``account`` is whose, as the ledger names it. It may be a person's name, so it is in no message.
    """

    account: str | None = None


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


@contextmanager
def os_errors(action: str, path: AnyPath) -> Iterator[None]:
    """Turn refusals of the operating system in the block into a `StorageError` that names ``path``."""
    try:
        yield
    except PubliusError:
        raise
    except OSError as error:
        raise storage_error(action, path, error) from None


def place_of(error: BaseException) -> str:
    """Type and place of a bug, without its message: a message may hold the text that was being worked on."""
    frame = error.__traceback__
    while frame is not None and frame.tb_next is not None:
        frame = frame.tb_next
    if frame is None:
        return f"{type(error).__name__} at unknown place"
    return f"{type(error).__name__} at {os.path.basename(frame.tb_frame.f_code.co_filename)}:{frame.tb_lineno}"


def how_many(count: float, one: str, more: str = "") -> str:
    """A number and what it counts, for messages: ``1 document``, ``1,234 documents``; ``more`` where no s is added."""
    return f"{count:,.0f} {one if count == 1 else more or one + 's'}"
