"""Kills by fault injection: the process "dies" at its n-th change of the disk, after which it changes nothing more."""

import os
import sys
from contextlib import contextmanager

_WRITES = {"os.rename", "os.remove", "os.mkdir", "os.rmdir", "os.chmod", "os.truncate", "os.link", "sqlite3.connect"}
_state = {"armed": False, "left": 0, "seen": 0, "under": ""}


class Killed(BaseException):
    """Nothing of ours catches it for good."""


def _hook(event, arguments):
    if not _state["armed"]:
        return
    if event == "open":
        path, mode, flags = arguments
        writes = flags is not None and flags & (os.O_WRONLY | os.O_RDWR | os.O_CREAT)
        writes = writes or (isinstance(mode, str) and {*mode} & {*"wxa+"})
    else:
        path, writes = arguments[0] if arguments else "", event in _WRITES
    if not writes:
        return
    path = os.fspath(path) if isinstance(path, (str, bytes, os.PathLike)) else str(path)
    path = os.fsdecode(path)
    if os.path.isabs(path) and not path.startswith(_state["under"]):
        return
    _state["seen"] += 1
    if _state["seen"] > _state["left"]:
        raise Killed


sys.addaudithook(_hook)


@contextmanager
def killed_after(changes, under):
    """Inside, changes of the disk below ``under`` but for the first so many raise `Killed`."""
    _state.update(armed=True, left=changes, seen=0, under=str(under))
    try:
        yield
    finally:
        _state["armed"] = False


def changes_of(work, under):
    """How often ``work()`` changes the disk below ``under``."""
    with killed_after(10**9, under):
        work()
    return _state["seen"]
