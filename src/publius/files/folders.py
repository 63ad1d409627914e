"""Whole folders that appear at once: private until they have their place, and removed when their process died."""

from __future__ import annotations

import contextlib
import errno
import fcntl
import itertools
import os
import shutil
import stat
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from publius.errors import PolicyError, UsageError
from publius.files.paths import AnyPath, os_errors, shown, usable
from publius.files.writing import TEMPORARY, sync, temporary_name

# The mode of a folder that is not finished. Who may write around it can give another such a name, but no such mode.
_OURS: Final = 0o1700


@contextlib.contextmanager
def new_folder(path: AnyPath, *, owner_only: bool = False) -> Iterator[Path]:
    """A folder to fill, which appears as ``path`` whole and durably when the block ends well, or not at all.

    The block gets a temporary neighbor of ``path`` that only its owner can read; with ``owner_only`` it stays so.
    Missing parents are made, an existing empty folder is replaced. Raises what `check_new_folder` does.
    """
    with os_errors("make the folder", path):
        target = check_new_folder(path)
        made = make_parents(target.parent)
        try:
            with private_folder(target.parent) as temporary:
                yield temporary
                place_folder(temporary, path, owner_only=owner_only)
            for folder in made:
                sync(folder.parent)
        except BaseException:
            for folder in made:
                _remove_if_empty(folder)
            raise


@contextlib.contextmanager
def private_folder(parent: AnyPath) -> Iterator[Path]:
    """A folder in ``parent`` that only its owner can read, gone when the block ends, or by `remove_leftovers`."""
    temporary = temporary_name(Path(os.path.realpath(usable(parent))))
    with contextlib.ExitStack() as held:
        try:  # entered before the folder is made: a signal in between must not leave it behind
            with os_errors("make a folder in", parent):
                _make_held(temporary, held)
            yield temporary
        finally:
            shutil.rmtree(temporary, ignore_errors=True)


@contextlib.contextmanager
def own_folder(path: AnyPath) -> Iterator[bool]:
    """A folder for this user's eyes, made or found again, which this process alone has while the block lasts.

    Yields whether it is new. It stays when the block ends. `UsageError` where another process has it, `PolicyError`
    where it is not this user's own.
    """
    place = Path(os.path.realpath(usable(path)))
    with os_errors("make the folder", path), contextlib.ExitStack() as held:
        made = make_parents(place.parent)
        for folder in reversed(made):  # what is empty in the end goes, innermost first
            held.callback(_remove_if_empty, folder)
        fresh = True
        try:
            place.mkdir(0o700)
        except FileExistsError:
            fresh = False
        descriptor = os.open(place, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
        held.callback(os.close, descriptor)
        state = os.fstat(descriptor)
        if state.st_uid != os.geteuid() or state.st_mode & 0o077:
            raise PolicyError(
                f"{shown(path)} must be yours alone, for it holds what must not leave: remove it, or choose another output"
            )
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise UsageError(f"another process is at work in {shown(path)}: wait for it") from None
        except OSError:  # a network disk without such locks: enough that this process has made the folder
            if not fresh:
                raise
        yield fresh


def remove_leftovers(path: AnyPath) -> list[Path]:
    """Remove what `new_folder` and `private_folder` left beside ``path`` in processes that are dead; what was removed.

    A living process holds a lock on its folder, so that it is told from a dead one on every machine and in every
    container that shares the disk. What has not the mode of one is somebody's work, whatever it is called.
    """
    parent = Path(os.path.realpath(usable(path))).parent
    with os_errors("look into the folder", parent):
        return [left for left in sorted(parent.glob(TEMPORARY)) if _removed(left)] if parent.is_dir() else []


def check_new_folder(path: AnyPath) -> Path:
    """The real ``path``; `UsageError` unless it is free for a new folder: absent, or an empty folder not in use."""
    with os_errors("make the folder", path):
        target = Path(os.path.realpath(usable(path)))
        if not target.exists():
            return target
        if not target.is_dir():
            raise UsageError(f"{shown(path)} is a file: name a new or an empty folder")
        if any(target.iterdir()):
            raise UsageError(f"the folder {shown(path)} is not empty: name a new or an empty one")
        if target == Path.cwd() or os.path.ismount(target):
            raise UsageError(f"the folder {shown(path)} is in use and cannot be replaced: name a new one inside it")
        return target


def place_folder(filled: Path, path: AnyPath, *, owner_only: bool = False) -> None:
    """Give the folder ``filled``, on the same disk, the name ``path``: durably and in one step.

    Others can read it only when it has its place, and with ``owner_only`` not even then. Raises what
    `check_new_folder` does, and leaves ``filled`` where it is then.
    """
    with os_errors("make the folder", path):
        target = check_new_folder(path)
        umask = 0o077 if owner_only else _umask(filled.parent)  # a kill must leave no probe in what will leave
        mode = stat.S_IMODE(target.stat().st_mode) if target.is_dir() and not owner_only else 0o777 & ~umask
        for parent, folders, names in os.walk(filled):
            for name in names:
                Path(parent, name).chmod(0o666 & ~umask)
            for name in folders:
                Path(parent, name).chmod(0o777 & ~umask)
        sync_tree(filled)
        try:
            filled.rename(target)
        except OSError as error:
            if error.errno in (errno.ENOTEMPTY, errno.EEXIST, errno.ENOTDIR):
                raise UsageError(f"{shown(path)} was filled by someone else meanwhile: name a new folder") from None
            raise
        target.chmod(mode)
        sync(target.parent)


def make_parents(parent: Path) -> list[Path]:
    """Make what is missing of the folder ``parent``; the folders made, innermost first."""
    missing = list(itertools.takewhile(lambda folder: not folder.exists(), (parent, *parent.parents)))
    parent.mkdir(parents=True, exist_ok=True)
    return missing


def _remove_if_empty(folder: Path) -> None:
    with contextlib.suppress(OSError):  # someone else may use it by now
        folder.rmdir()


def sync_tree(folder: Path) -> None:
    """Flush a folder and all that is in it to the disk."""
    for parent, _, names in os.walk(folder):
        for name in names:
            sync(Path(parent, name))
        sync(Path(parent))


def _make_held(temporary: Path, held: contextlib.ExitStack) -> None:
    """Make a folder that others cannot read, under a lock that ends with this process."""
    temporary.mkdir(0o700)
    descriptor = os.open(temporary, os.O_RDONLY)
    held.callback(os.close, descriptor)
    with contextlib.suppress(OSError):  # a network disk without such locks: what is left there stays
        fcntl.flock(descriptor, fcntl.LOCK_EX)
    with contextlib.suppress(OSError):  # a disk without such a mode, as of FAT: what is left there stays
        os.fchmod(descriptor, _OURS)  # last: before the lock another run would take it for a leftover


def _removed(folder: Path) -> bool:
    """Whether ``folder`` was one of this user's that no living process holds; then it is gone."""
    try:
        descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
    except OSError:  # no folder, or none of ours; its maker ended, or another run was quicker
        return False
    try:
        state = os.fstat(descriptor)
        if state.st_uid != os.geteuid() or stat.S_IMODE(state.st_mode) != _OURS:
            return False
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        shutil.rmtree(folder)
    except OSError as error:
        no_locks = (errno.EBADF, errno.ENOTSUP, errno.ENOLCK)  # a disk without them: nobody knows
        if error.errno in (errno.EWOULDBLOCK, *no_locks) or not folder.exists():
            return False  # held, or another run was quicker
        raise
    finally:
        os.close(descriptor)
    return True


def _umask(folder: Path) -> int:
    """What the permissions of new files lack, seen on one: asking the system would set it for all threads."""
    probe = temporary_name(folder)
    descriptor = os.open(probe, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o777)
    try:
        return 0o777 & ~os.fstat(descriptor).st_mode
    finally:
        os.close(descriptor)
        probe.unlink()
