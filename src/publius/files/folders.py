"""Whole folders that appear at once: private until they have their place, and removed when their process died."""

from __future__ import annotations

import contextlib
import errno
import itertools
import os
import shutil
import stat
import sys
from collections.abc import Collection, Iterator
from pathlib import Path
from typing import Final

from publius.errors import UsageError
from publius.files.paths import AnyPath, os_errors, shown, usable
from publius.files.placed import note_release, signals_wait
from publius.files.writing import TEMPORARY, sync, temporary_name

_HELD: Final = (errno.EWOULDBLOCK, errno.EBADF, errno.ENOTSUP, errno.ENOLCK)
"""Held by another process, or on a disk that has no such locks: nobody knows then."""

_OURS: Final = 0o1700
"""The mode of a folder that is not finished: its owner's only, with the mark by which it is told from any other folder.

Whoever may write in the folder around it can give another folder of ours such a name, but no such mode.
"""

_unfinished: Final[set[Path]] = set()
"""Folders of this process whose block has not ended."""


@contextlib.contextmanager
def new_folder(
    path: AnyPath, private: Collection[str] = (), *, owner_only: bool = False, release: bool = False
) -> Iterator[Path]:
    """A folder to fill, which appears as ``path`` whole and durably when the block ends well, or not at all.

    The block gets a temporary neighbor of ``path`` that only its owner can read; files and folders get the usual
    permissions when all has its place, but for what is called ``private`` in it, folders with all that is in them;
    with ``owner_only`` all of it, and the folder itself, stays its owner's. A ``release`` is noted, see
    `publius.files.placed`. Missing parents are made. An existing empty folder is replaced, its permissions kept.
    `UsageError` when ``path`` exists and is not an empty folder, or cannot be replaced (the current folder, a mount
    point); `StorageError` when writing fails.
    """
    target = Path(os.path.realpath(usable(path)))
    with os_errors("make the folder", path), contextlib.ExitStack() as held:
        _check_new(target, path)
        made = make_parents(target.parent)
        temporary = _free_name(target.parent)
        try:  # entered before the folder is made: a signal in between must not leave it behind
            _make_held(temporary, held)
            yield temporary
            kept = _made_ready(temporary, target, private, owner_only=owner_only)
            with signals_wait():
                _named(temporary, target, path, kept, owner_only=owner_only)
                if release:
                    _note(target, path)
                for folder in (target, *made):
                    sync(folder.parent)
        except BaseException:
            _remove(temporary, made)
            raise


@contextlib.contextmanager
def private_folder(parent: AnyPath) -> Iterator[Path]:
    """A folder in ``parent`` that only its owner can read, gone when the block ends.

    Of a process that was killed it stays, until `remove_leftovers` finds it. `StorageError` when it cannot be made.
    """
    place = Path(os.path.realpath(usable(parent)))
    with contextlib.ExitStack() as held:
        temporary = _free_name(place)
        try:
            with os_errors("make a folder in", parent):
                _make_held(temporary, held)
            yield temporary
        finally:
            _remove(temporary, [])


def remove_leftovers(path: AnyPath) -> list[Path]:
    """Remove what `new_folder` and `private_folder` left beside ``path`` in processes that are dead; what was removed.

    A living process holds a lock on its folder, so that it is told from a dead one on every machine and in every
    container that shares the disk. What has not the mode of one is somebody's work, whatever it is called.
    """
    parent = Path(os.path.realpath(usable(path))).parent
    with os_errors("look into the folder", parent):
        if sys.platform == "win32" or not parent.is_dir():  # Windows has no locks on folders
            return []
        return [left for left in sorted(parent.glob(TEMPORARY)) if _removed(left)]


def remove_unfinished() -> None:
    """Remove what `new_folder` and `private_folder` have made here and not finished.

    For a program that ends without waiting for its threads, whose blocks never end.
    """
    for folder in [*_unfinished]:
        _remove(folder, [])


def _make_held(temporary: Path, held: contextlib.ExitStack) -> None:
    """Make a folder that others cannot read, under a lock that ends with this process."""
    _unfinished.add(temporary)
    held.callback(_unfinished.discard, temporary)
    temporary.mkdir(0o700)
    if sys.platform == "win32":
        return
    import fcntl

    descriptor = os.open(temporary, os.O_RDONLY)
    held.callback(os.close, descriptor)
    with contextlib.suppress(OSError):  # a network disk without such locks: what is left there stays
        fcntl.flock(descriptor, fcntl.LOCK_EX)
    with contextlib.suppress(OSError):  # a disk without such a mode, as of FAT: what is left there stays
        os.fchmod(descriptor, _OURS)  # last: before the lock another run would take it for a leftover


def _removed(folder: Path) -> bool:
    """Whether ``folder`` was one of this user's that no living process holds; then it is gone."""
    import fcntl

    try:
        descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
    except OSError:  # no folder, or none of ours; its maker ended, or another run was quicker
        return False
    try:
        state = os.fstat(descriptor)
        if state.st_uid != os.geteuid() or stat.S_IMODE(state.st_mode) != _OURS:
            return False
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        for name in os.listdir(descriptor):  # of this folder, whatever has its name by now
            if stat.S_ISDIR(os.lstat(name, dir_fd=descriptor).st_mode):
                shutil.rmtree(name, dir_fd=descriptor)
            else:
                os.unlink(name, dir_fd=descriptor)
        folder.rmdir()
    except OSError as error:
        if error.errno in (*_HELD, errno.ENOTEMPTY, errno.ENOTDIR) or not folder.exists():
            return False  # held, or it has gone elsewhere and another has its name
        raise
    finally:
        os.close(descriptor)
    return True


def check_new_folder(path: AnyPath) -> None:
    """`UsageError` unless ``path`` is free for a new folder: absent, or an empty folder not in use."""
    with os_errors("make the folder", path):
        _check_new(Path(os.path.realpath(usable(path))), path)


def place_folder(filled: Path, path: AnyPath) -> None:
    """Give the folder ``filled``, a release on the same disk, the name ``path``: durably and in one step.

    Raises what `new_folder` does, and leaves ``filled`` where it is then.
    """
    target = Path(os.path.realpath(usable(path)))
    with os_errors("make the folder", path):
        _check_new(target, path)
        kept = _made_ready(filled, target)
        with signals_wait():
            _named(filled, target, path, kept)
            _note(target, path)
            sync(target.parent)


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


def make_parents(parent: Path) -> list[Path]:
    """Make what is missing of the folder ``parent``; the folders made, innermost first."""
    missing = list(itertools.takewhile(lambda folder: not folder.exists(), (parent, *parent.parents)))
    parent.mkdir(parents=True, exist_ok=True)
    return missing


def _free_name(parent: Path) -> Path:
    """A name that no file has; no other process makes names of this one's number."""
    return next(name for _ in itertools.count() if not (name := temporary_name(parent)).exists())


def _made_ready(
    temporary: Path, target: Path, private: Collection[str] = (), *, owner_only: bool = False
) -> int | None:
    """Flush what is to be called ``target``, with its permissions; those of an empty folder whose place it takes."""
    kept = stat.S_IMODE(target.stat().st_mode) if target.is_dir() else None
    if owner_only:
        _close_to_others(temporary)
        with contextlib.suppress(OSError):
            temporary.chmod(_OURS)  # until it has its name
    else:
        _set_modes(temporary, private)
    _sync_tree(temporary)
    return kept


def _named(
    temporary: Path, target: Path, path: AnyPath, kept: int | None, *, owner_only: bool = False
) -> None:
    """In one step; others can read it only when it has its place, and not at all with ``owner_only``."""
    if kept is not None and os.name == "nt":  # only POSIX renames onto an empty folder
        target.rmdir()
    try:
        temporary.rename(target)
    except OSError as error:
        if error.errno in (errno.ENOTEMPTY, errno.EEXIST, errno.ENOTDIR):
            raise UsageError(
                f"{shown(path)} was filled by someone else meanwhile: name a new folder"
            ) from None
        raise
    if owner_only:
        target.chmod(0o700)
    else:
        open_to_others(target, kept)


def _note(target: Path, path: AnyPath) -> None:
    """A release has its name; within a folder that is not finished it is a part of another one."""
    if not any(target.is_relative_to(folder) for folder in _unfinished):
        note_release(Path(path))


def open_to_others(folder: Path, mode: int | None = None) -> None:
    """Give a folder that was filled in private the permissions that a new one gets, or ``mode``."""
    if stat.S_IMODE(folder.stat().st_mode) in (0o700, _OURS):
        folder.chmod(0o777 & ~_umask(folder) if mode is None else mode)


def _close_to_others(folder: Path) -> None:
    """Leave what is in a folder, and the folder, to its owner."""
    folder.chmod(0o700)
    for parent, folders, names in os.walk(folder):
        for name in names:
            Path(parent, name).chmod(0o600)
        for name in folders:
            Path(parent, name).chmod(0o700)


def _set_modes(folder: Path, private: Collection[str]) -> None:
    """Give what is in a private folder the permissions that new files and folders get, its ``private`` ones apart."""
    umask = _umask(folder)
    for parent, folders, names in os.walk(folder):
        if Path(parent) == folder:
            for name in {*folders} & {
                *private
            }:  # what was made in it by somebody else has the usual ones by now
                _close_to_others(folder / name)
            folders[:] = [name for name in folders if name not in private]
            names = [name for name in names if name not in private]
        for name in names:
            Path(parent, name).chmod(0o666 & ~umask)
        for name in folders:
            Path(parent, name).chmod(0o777 & ~umask)


def _umask(folder: Path) -> int:
    """What the permissions of new files lack, seen on one: asking the system would set it for all threads."""
    probe = _free_name(folder)
    descriptor = os.open(probe, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o777)
    try:
        return 0o777 & ~os.fstat(descriptor).st_mode
    finally:
        os.close(descriptor)
        probe.unlink()


def _remove(temporary: Path, made: list[Path]) -> None:
    shutil.rmtree(temporary, ignore_errors=True)
    for folder in made:
        with contextlib.suppress(OSError):  # someone else may use it by now
            folder.rmdir()


def _sync_tree(folder: Path) -> None:
    for parent, _, names in os.walk(folder):
        for name in names:
            sync(Path(parent, name))
        sync(Path(parent))
