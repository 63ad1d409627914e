"""Writing durably: a temporary neighbor, flushed to the disk, takes the final name in one step, after a crash too.

Folders are private until they have their place, and what a dead process left of them is removed.
"""

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
from typing import BinaryIO, Final

from publius.errors import AnyPath, PolicyError, UsageError, os_errors, shown, usable

_OURS: Final = 0o1700  # of an unfinished folder: who may write around it can give another its name, but not its mode
_serial = itertools.count()


@contextlib.contextmanager
def write_file(path: AnyPath, mode: int = 0o666, *, durable: bool = True) -> Iterator[BinaryIO]:
    """A stream whose content becomes the file ``path`` in one step when the block ends well; ``mode`` is before the umask."""
    target = usable(path)
    with os_errors("write", path):
        temporary = _temporary_name(target.parent)
        try:
            with open(temporary, "xb", opener=lambda name, flags: os.open(name, flags, mode)) as stream:
                yield stream
                stream.flush()
                if durable:  # not what a run needs only while it lasts
                    os.fsync(stream.fileno())
            os.replace(temporary, target)
        except BaseException:
            temporary.unlink(missing_ok=True)
            raise
        if durable:
            sync(target.parent)


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


def sync_tree(folder: Path) -> None:
    """Flush a folder and all that is in it to the disk."""
    for place in (*folder.rglob("*"), folder):
        sync(place)


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


@contextlib.contextmanager
def new_folder(path: AnyPath, *, owner_only: bool = False) -> Iterator[Path]:
    """A private folder to fill, which appears as ``path`` whole and durably when the block ends well, or not at all."""
    with os_errors("make the folder", path):
        parent = check_new_folder(path).parent
        made = make_parents(parent)
        try:
            with private_folder(parent) as temporary:
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
    temporary = _temporary_name(Path(os.path.realpath(usable(parent))))
    with contextlib.ExitStack() as held:
        try:  # entered before the folder is made: a signal in between must not leave it behind
            with os_errors("make a folder in", parent):
                temporary.mkdir(0o700)
                descriptor = os.open(temporary, os.O_RDONLY)
                held.callback(os.close, descriptor)
                with contextlib.suppress(OSError):  # a network disk without such locks: what is left there stays
                    fcntl.flock(descriptor, fcntl.LOCK_EX)  # which ends with this process
                with contextlib.suppress(OSError):  # a disk without such a mode, as of FAT: what is left there stays
                    os.fchmod(descriptor, _OURS)  # last: before the lock another run would take it for a leftover
            yield temporary
        finally:
            shutil.rmtree(temporary, ignore_errors=True)


@contextlib.contextmanager
def own_folder(path: AnyPath) -> Iterator[bool]:
    """A folder for this user's eyes, which this process alone has while the block lasts; whether it is new. It stays."""
    place = Path(os.path.realpath(usable(path)))
    with os_errors("make the folder", path), contextlib.ExitStack() as held:
        for folder in reversed(make_parents(place.parent)):  # what is empty in the end goes, innermost first
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


def remove_leftovers(path: AnyPath) -> None:
    """Remove what `new_folder` and `private_folder` left beside ``path`` in processes that are dead.

    A living process holds a lock on its folder, so that it is told from a dead one on every machine and in every
    container that shares the disk. What has not the mode of one is somebody's work, whatever it is called.
    """
    parent = Path(os.path.realpath(usable(path))).parent
    with os_errors("look into the folder", parent):
        for left in [*parent.glob(".publius-*.tmp")]:
            _remove_dead(left)


def _remove_dead(folder: Path) -> None:
    try:
        descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
    except OSError:  # no folder, or none of ours; its maker ended, or another run was quicker
        return
    try:
        state = os.fstat(descriptor)
        if state.st_uid == os.geteuid() and stat.S_IMODE(state.st_mode) == _OURS:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            shutil.rmtree(folder)
    except OSError as error:
        held = (errno.EWOULDBLOCK, errno.EBADF, errno.ENOTSUP, errno.ENOLCK)  # or a disk without locks: nobody knows
        if error.errno not in held and folder.exists():  # else another run was quicker
            raise
    finally:
        os.close(descriptor)


def check_new_folder(path: AnyPath) -> Path:
    """The real ``path``; `UsageError` unless it is free for a new folder: absent, or an empty folder not in use."""
    with os_errors("make the folder", path):
        target = Path(os.path.realpath(usable(path)))
        if target.exists():
            if not target.is_dir():
                raise UsageError(f"{shown(path)} is a file: name a new or an empty folder")
            if any(target.iterdir()):
                raise UsageError(f"the folder {shown(path)} is not empty: name a new or an empty one")
            if target == Path.cwd() or os.path.ismount(target):
                raise UsageError(f"the folder {shown(path)} is in use and cannot be replaced: name a new one inside it")
        return target


def place_folder(filled: Path, path: AnyPath, *, owner_only: bool = False) -> None:
    """Give a folder on the same disk its name in one step; others can read it only then, with ``owner_only`` never."""
    with os_errors("make the folder", path):
        target = check_new_folder(path)
        umask = 0o077 if owner_only else _umask(filled.parent)  # a kill must leave no probe in what will leave
        mode = stat.S_IMODE(target.stat().st_mode) if target.is_dir() and not owner_only else 0o777 & ~umask
        for place in filled.rglob("*"):
            place.chmod((0o777 if place.is_dir() else 0o666) & ~umask)
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


def _temporary_name(folder: Path) -> Path:
    """A name that no file in ``folder`` has, and that no other process gives to one."""
    names = (folder / f".publius-{os.getpid()}-{number}.tmp" for number in _serial)
    return next(name for name in names if not name.exists())


def _umask(folder: Path) -> int:
    """What the permissions of new files lack, seen on one: asking the system would set it for all threads."""
    probe = _temporary_name(folder)
    descriptor = os.open(probe, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o777)
    try:
        return 0o777 & ~os.fstat(descriptor).st_mode
    finally:
        os.close(descriptor)
        probe.unlink()
