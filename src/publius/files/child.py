"""Processes of our own, which import nothing from the working folder and nothing that the environment names.

Python puts the working folder, or what ``PYTHONPATH`` names, before its own modules; whoever can leave a file beside
the documents could so run code with the curator's rights. What the user names himself, as ``python:MODULE:NAME``, is
imported all the same (`publius.files.user_code`), after everything else was looked for elsewhere.
"""

from __future__ import annotations

import os
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

_ROOT: Final = str(Path(__file__).parents[2])
_START: Final = (
    "import runpy, sys; root, name = sys.argv[1:3]; del sys.argv[1:3]; sys.path += [root] * (root not in sys.path); "
    "runpy.run_module(name, run_name='__main__', alter_sys=True)"
)
_MOVING: Final = threading.Lock()
_MODULES: Final = ("stdlib", "platstdlib", "purelib", "platlib")
SEARCH: Final = "PYTHONPATH"
SAFE: Final = "PYTHONSAFEPATH"


def command(module: str, *arguments: str) -> list[str]:
    """The command that starts a module in a process of its own, ``python -m module``, from our own installation only.

    To be given `environment`. The working folder is where the process starts and nothing that it imports from.
    """
    flags = ["-P", "-E", "-X", "utf8"]
    flags += ["-s"] if sys.flags.no_user_site else []
    flags += ["-B"] if sys.dont_write_bytecode else []
    return [sys.executable, *flags, "-c", _START, _ROOT, module, *arguments]


def environment(**more: str) -> dict[str, str]:
    """Ours without what it tells Python, for a process and those that it starts; and ``more``."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}
    return {**kept, SAFE: "1", **more}


@contextmanager
def own_environment() -> Iterator[None]:
    """Inside, our environment tells Python nothing, for a process that a library starts and that takes it from us."""
    told = {name: value for name, value in os.environ.items() if name.startswith("PYTHON")}
    ours = {SAFE: "1", **({SEARCH: _ROOT} if _ROOT in searched() else {})}
    for name in told:
        del os.environ[name]
    os.environ.update(ours)
    try:
        yield
    finally:
        for name in ours:
            del os.environ[name]
        os.environ.update(told)


def named_folders() -> tuple[str, ...]:
    """The folders of ``PYTHONPATH`` that this process searches, since the user named a module of theirs."""
    there = {*searched()}
    return tuple(each for each in sys.path if os.path.abspath(each or _here()) in there)


def searched() -> list[str]:
    """The folders that the user lets Python search, in ``PYTHONPATH``; an empty entry is the working folder."""
    found = os.environ.get(SEARCH)
    return [os.path.abspath(each or _here()) for each in found.split(os.pathsep)] if found else []


def forget_foreign_folders() -> None:
    """Let this process, which is a command, import from our own installation only, and its workers too."""
    own, foreign = parted(sys.path)
    sys.path[:] = own + [each for each in foreign if os.path.abspath(each or _here()) == _ROOT]


def parted(folders: list[str]) -> tuple[list[str], list[str]]:
    """Folders to import from: first those of the installation, then the working folder and what the user named."""
    named = {*searched(), _here()}
    foreign = [each for each in folders if os.path.abspath(each or _here()) in named]
    if foreign:  # rarely: it takes a while
        installed = installation()
        foreign = [each for each in foreign if os.path.abspath(each or _here()) not in installed]
    return [each for each in folders if each not in foreign], foreign


def installation() -> set[str]:
    """The folders of Python's modules. The prefix is not one: an environment may be made among the documents."""
    from sysconfig import get_paths

    return {os.path.abspath(path) for name, path in get_paths().items() if name in _MODULES}


@contextmanager
def away() -> Iterator[None]:
    """Inside, the working folder is our own: for the import of a library that looks there for settings.

    Whoever can leave a file beside the documents would so choose them, and some of a library's settings run code. The
    paths that a user gave lead elsewhere meanwhile, so that nothing else is done inside.
    """
    with _MOVING:
        before = _here()
        os.chdir(_ROOT)
        try:
            yield
        finally:
            os.chdir(before)


def _here() -> str:
    try:
        return os.getcwd()
    except FileNotFoundError:  # it was removed
        return os.sep
