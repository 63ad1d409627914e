"""Processes of our own, which import nothing from the working folder.

Python looks there before its own modules: whoever can leave a file beside the documents could run code with the
curator's rights. What the user names as ``python:MODULE:NAME`` is imported all the same (`publius.files.user_code`).
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

_ROOT: Final = str(Path(__file__).parents[2])
_START: Final = (
    "import runpy, sys; root, name = sys.argv[1:3]; del sys.argv[1:3]; sys.path += [root] * (root not in sys.path); "
    "runpy.run_module(name, run_name='__main__', alter_sys=True)"
)
SAFE: Final = "PYTHONSAFEPATH"


def command(module: str, *arguments: str) -> list[str]:
    """The command that starts a module of ours in a process of its own, to be given `environment`."""
    return [sys.executable, "-P", "-X", "utf8", "-c", _START, _ROOT, module, *arguments]


def environment(**more: str) -> dict[str, str]:
    """Our environment for a process that looks into no working folder, and ``more``."""
    return {**os.environ, SAFE: "1", **more}


@contextmanager
def safe_start() -> Iterator[None]:
    """Inside, processes that a library starts look into no working folder either."""
    before = {SAFE: os.environ[SAFE]} if SAFE in os.environ else {}
    os.environ[SAFE] = "1"
    try:
        yield
    finally:
        del os.environ[SAFE]
        os.environ.update(before)


def searched() -> list[str]:
    """The folders that the user lets Python search, in ``PYTHONPATH``; an empty entry is the working folder."""
    found = os.environ.get("PYTHONPATH")
    return [os.path.abspath(each or here()) for each in found.split(os.pathsep)] if found else []


def forget_foreign_folders() -> None:
    """Let this process, which is a command, import from our own installation only, and its workers too."""
    from sysconfig import get_paths

    installed = {os.path.abspath(path) for path in get_paths().values()} | {_ROOT}
    foreign = {*searched(), here()} - installed
    sys.path[:] = [each for each in sys.path if os.path.abspath(each or here()) not in foreign]


def here() -> str:
    """The working folder."""
    try:
        return os.getcwd()
    except FileNotFoundError:  # it was removed
        return os.sep
