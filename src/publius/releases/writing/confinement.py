"""Confinement of this process, once and for good: Landlock and seccomp, which the kernel of Linux enforces.

A process that has confined itself can open what it named and nothing else; no code in it, compiled or not, can take
that back. It can connect by TCP to one port at most (Linux 6.7), and to anything else by nothing. What neither can
refuse: asking whether a file of a known path is there, how large and how old it is, and where a link points. Other
systems have no such doors: `confine` says what holds.
"""

from __future__ import annotations

import ctypes
import os
import stat
import sys
from collections.abc import Iterable
from typing import Final

from publius.releases.writing.system_calls import refuse_calls

_CREATE, _ADD, _RESTRICT = 444, 445, 446  # the same on every architecture
_READ_FILE, _READ_DIR = 1 << 2, 1 << 3
_PATH, _PORT = 1, 2
_CONNECT: Final = 1 << 1
_NO_NEW_PRIVILEGES: Final = 38

FILES: Final = "files"
PORTS: Final = "ports"
CALLS: Final = "calls"
HOLDS: Final = {
    FILES: "it can open the release, public copies, the Python installation and the system's libraries (with a server "
    "also its names and certificates), and nothing else",
    PORTS: "it can connect by TCP to the server that was named, or to none",
    CALLS: "it reaches nobody by another socket, shares no memory or queue with another process and does nothing to "
    "one, starts no process or program, and changes no mode, owner, date, attribute or lock of a file",
}
"""What the kernel can hold a confined process to, each in words."""
NOT_HELD: Final = (
    "it can still ask whether a file of a path that it knows is there, how large and how old it is, and where a link "
    "points"
)
"""What no kernel can refuse it."""

Rule = tuple[str, str]
"""A path, and what may be done there and below: "list" a folder, "read" files too, or "write" and all else."""


class _Ruleset(ctypes.Structure):
    _fields_ = [("files", ctypes.c_uint64), ("network", ctypes.c_uint64), ("scoped", ctypes.c_uint64)]


class _Path(ctypes.Structure):
    _pack_ = 1
    _layout_ = "ms"
    _fields_ = [("allowed", ctypes.c_uint64), ("descriptor", ctypes.c_int32)]


class _Port(ctypes.Structure):
    _fields_ = [("allowed", ctypes.c_uint64), ("port", ctypes.c_uint64)]


def confine(rules: Iterable[Rule], port: int | None = None) -> tuple[str, ...]:
    """Let this process open what ``rules`` name and nothing else from now on; what of `HOLDS` the system can hold.

    To be called before there are other threads. TCP connections go to ``port`` only, where the kernel can tell.
    """
    files = _confine_files(rules, port)
    calls = refuse_calls(internet=port is not None)
    return (*([FILES] if files else []), *([PORTS] if files >= 4 else []), *([CALLS] if calls else []))


def _confine_files(rules: Iterable[Rule], port: int | None) -> int:
    """The version of Landlock that holds from now on, 0 for none."""
    if sys.platform != "linux":
        return 0
    libc = ctypes.CDLL(None, use_errno=True)
    version = libc.syscall(_CREATE, None, 0, 1)
    if version < 1:
        return 0
    ruleset = _made(libc, version)
    try:
        for path, way in rules:
            _allow(libc, ruleset, path, way, _rights(version))
        if port is not None and version >= 4:
            rule = _Port(_CONNECT, port)
            _checked(libc.syscall(_ADD, ruleset, _PORT, ctypes.byref(rule), 0))
        _checked(libc.prctl(_NO_NEW_PRIVILEGES, 1, 0, 0, 0))
        _checked(libc.syscall(_RESTRICT, ruleset, 0))
    finally:
        os.close(ruleset)
    return int(version)


def _made(libc: ctypes.CDLL, version: int) -> int:
    """A set of rules that forbids all that the kernel's version knows."""
    rules = _Ruleset(_rights(version), 3 if version >= 4 else 0, 3 if version >= 6 else 0)
    size = 24 if version >= 6 else 16 if version >= 4 else 8
    return _checked(libc.syscall(_CREATE, ctypes.byref(rules), size, 0))


def _rights(version: int) -> int:
    """All that can be done with files, as far as the kernel's version knows it: a bit each."""
    return (1 << (13 + (version >= 2) + (version >= 3) + (version >= 5))) - 1


def _allow(libc: ctypes.CDLL, ruleset: int, path: str, way: str, everything: int) -> None:
    try:
        descriptor = os.open(path, os.O_PATH | os.O_CLOEXEC)  # type: ignore[attr-defined,unused-ignore]
    except OSError:  # what is not there need not be allowed
        return
    try:
        folder = stat.S_ISDIR(os.fstat(descriptor).st_mode)
        allowed = everything if way == "write" else (_READ_FILE * (way == "read")) | (_READ_DIR * folder)
        rule = _Path(allowed, descriptor)
        _checked(libc.syscall(_ADD, ruleset, _PATH, ctypes.byref(rule), 0))
    finally:
        os.close(descriptor)


def _checked(answer: int) -> int:
    if answer < 0:
        raise OSError(ctypes.get_errno(), "the kernel refused to confine the writer")
    return int(answer)
