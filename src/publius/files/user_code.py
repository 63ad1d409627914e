"""Objects of the user's own code, named ``python:package.module:Name``; importing them runs that code."""

from __future__ import annotations

import os
import sys
from importlib import import_module
from importlib.machinery import PathFinder
from typing import Any, Final

from publius.errors import UsageError, place_of
from publius.files.child import searched

PYTHON: Final = "python:"


def object_at(name: str, *, working_folder: bool = False) -> Any:
    """The object at ``python:package.module:Name``; `UsageError` where nothing does.

    What is not installed is looked for in the folders of ``PYTHONPATH``, then in the ``working_folder`` if wished; the
    one that has it is searched from then on, by this process and its workers, after all others.
    """
    module, _, attribute = name.removeprefix(PYTHON).partition(":")
    search_for(module, working_folder=working_folder)
    if not all(module.split(".")):
        raise UsageError(f"{name} is not python:MODULE:NAME")
    try:
        found = import_module(module)
    except ModuleNotFoundError as error:
        missing = str(error.name)
        if not f"{module}.".startswith(f"{missing}."):
            raise UsageError(f"{name} needs the module {missing:.80}, which is not installed here") from None
        raise UsageError(
            f"{name} is not python:MODULE:NAME of something that can be imported: is it on PYTHONPATH?"
        ) from None
    except SyntaxError as error:
        place = f"{os.path.basename(error.filename or module)}:{error.lineno}"
        raise UsageError(f"{name}: the module {module} is no Python at {place}") from None
    except (Exception, SystemExit) as error:  # whatever the user's module does when it is imported
        raise UsageError(f"{name}: importing the module {module} ended with {place_of(error)}") from None
    try:
        return getattr(found, attribute)
    except AttributeError:
        raise UsageError(
            f"{name}: the module {module} was found, and has no {attribute or 'name after it'}"
        ) from None


def search_for(module: str, *, working_folder: bool = False) -> None:
    """Let this process import a module that the user has named from the folder of ``PYTHONPATH`` that has it."""
    top = module.partition(".")[0]
    if not top or top in sys.modules or PathFinder.find_spec(top) is not None:
        return
    for folder in [*searched(), *([os.getcwd()] if working_folder else [])]:
        if PathFinder.find_spec(top, [folder]) is not None:
            sys.path.append(folder)
            return
