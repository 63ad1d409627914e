"""Objects of the user's own code, named ``python:package.module:Name``; importing them runs that code."""

from __future__ import annotations

import os
import sys
from contextlib import suppress
from importlib import import_module
from importlib.machinery import PathFinder
from pathlib import Path
from typing import Any, Final

from publius.errors import UsageError
from publius.files.child import searched

PYTHON: Final = "python:"

_INSTALLED: Final = {"site-packages", "dist-packages"}


def object_at(name: str, *, working_folder: bool = False) -> Any:
    """The object at ``python:package.module:Name``; `UsageError` where nothing does.

    What is not installed is looked for in the folders of ``PYTHONPATH``, then in the ``working_folder`` if wished; the
    one that has it is searched from then on, by this process and its workers, after all others.
    """
    module, _, attribute = name.removeprefix(PYTHON).partition(":")
    search_for(module, working_folder=working_folder)
    try:
        return getattr(import_module(module), attribute)
    except (ImportError, AttributeError, ValueError):
        raise UsageError(
            f"{name} is not python:MODULE:NAME of something that can be imported: is it on PYTHONPATH?"
        ) from None


def own_object(name: str) -> Any:
    """What stands at ``python:module:Name`` where that is code of the user's own; None, importing nothing, for other.

    The user's own lies in a folder of ``PYTHONPATH`` that he set: neither the standard library, nor where packages are
    installed, nor the working folder, where anybody's files may lie. A name there for something of elsewhere is not it.
    """
    module, _, _ = name.removeprefix(PYTHON).partition(":")
    top = module.partition(".")[0]
    if not name.startswith(PYTHON) or top == "publius" or not _is_own(top):
        return None
    found = object_at(name)
    made = getattr(found, "__module__", None)
    return found if isinstance(made, str) and made.partition(".")[0] == top else None


def _is_own(top: str) -> bool:
    own = {os.path.realpath(folder) for folder in searched()} - _of_others()
    own = {folder for folder in own if not _INSTALLED & {*Path(folder).parts} and not _has_packages(folder)}
    if not top or not own:
        return False
    spec = getattr(sys.modules[top], "__spec__", None) if top in sys.modules else PathFinder.find_spec(top)
    if spec is None and top not in sys.modules:
        found = (PathFinder.find_spec(top, [folder]) for folder in searched())
        spec = next((each for each in found if each is not None), None)
    if spec is None:
        return False
    if spec.submodule_search_locations is not None:
        places = [*spec.submodule_search_locations]
    else:
        places = [spec.origin or ""] if spec.has_location else []
    return bool(places) and all(os.path.dirname(os.path.realpath(place)) in own for place in places)


def _of_others() -> set[str]:
    from sysconfig import get_paths  # it takes a while

    others = {os.path.realpath(each) for each in get_paths().values()}
    with suppress(OSError):
        others.add(os.path.realpath(os.getcwd()))
    return others


def _has_packages(folder: str) -> bool:
    return next(Path(folder).glob("*.dist-info"), None) is not None


def search_for(module: str, *, working_folder: bool = False) -> None:
    """Let this process import a module that the user has named from the folder of ``PYTHONPATH`` that has it."""
    top = module.partition(".")[0]
    if not top or top in sys.modules or PathFinder.find_spec(top) is not None:
        return
    for folder in [*searched(), *([os.getcwd()] if working_folder else [])]:
        if PathFinder.find_spec(top, [folder]) is not None:
            sys.path.append(folder)
            return
