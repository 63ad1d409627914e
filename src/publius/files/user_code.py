"""Code of the user's own: objects named ``python:package.module:Name``, and what is told of it when it fails.

Importing them runs that code; whoever names it trusts it. An error of it may hold words of a document, so only its
type and place are told (`unheard`).
"""

from __future__ import annotations

import contextlib
import hashlib
import inspect
import os
import sys
import threading
from collections.abc import Callable, Iterable, Iterator
from importlib import import_module
from importlib.machinery import PathFinder
from pathlib import Path
from traceback import walk_tb
from typing import Any, Final, TypeVar

from publius.errors import PolicyError, PubliusError, UsageError, place_of
from publius.files.processes import here, searched

T = TypeVar("T")

PYTHON: Final = "python:"
_OURS: Final = "publius"


def object_at(name: str) -> Any:
    """The object at ``python:package.module:Name``; `UsageError` where nothing is.

    What is not installed is looked for in the folders of ``PYTHONPATH``, then in the working folder; the one that has
    it is searched from then on, by this process and its workers, after all others.
    """
    module, _, attribute = name.removeprefix(PYTHON).partition(":")
    if not all(module.split(".")):
        raise UsageError(f"{name} is not python:MODULE:NAME")
    top = module.partition(".")[0]
    if top not in sys.modules and PathFinder.find_spec(top) is None:
        sys.path += [each for each in (*searched(), here()) if PathFinder.find_spec(top, [each])][:1]
    try:
        with silent():  # so that no log that it opens has our streams
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
        raise UsageError(f"{name}: the module {module} was found, and has no {attribute or 'name after it'}") from None


def tried(name: str, trial: Callable[[Any], T], does: str) -> tuple[Any, T]:
    """The object at ``name``, or what its class makes without arguments, and what a trial with public text gives."""
    found = object_at(name)
    try:
        with silent():
            made = found() if isinstance(found, type) else found
            return made, trial(made)
    except Exception as error:  # of foreign code, whatever it is
        raise UsageError(f"{name} does not {does}: {place_of(error)}") from None


def is_foreign(kind: Any) -> bool:
    """Whether the class or function is not one of Publius's own."""
    return not str(getattr(kind, "__module__", "")).startswith(f"{_OURS}.")


def origin(kind: type) -> dict[str, str | None]:
    """Where a class of the user's comes from, for a manifest."""
    from importlib import metadata  # slow to start

    packages = metadata.packages_distributions().get(kind.__module__.partition(".")[0], ())
    distribution = packages[0] if packages else None
    return {
        "module": kind.__module__, "class": kind.__qualname__, "distribution": distribution,
        "version": metadata.version(distribution) if distribution else None, "sha256": source_digest(kind),
    }  # fmt: skip


def source_digest(made: Any) -> str:
    """SHA-256 of the files that hold the code of an object of the user's, or of its class and what that derives from."""
    kind = made if isinstance(made, type) or inspect.isroutine(made) else type(made)
    digest = hashlib.sha256()
    for each in filter(is_foreign, getattr(kind, "__mro__", (kind,))):
        with contextlib.suppress(OSError):  # built in, or made where no file is
            digest.update(Path(getattr(sys.modules.get(each.__module__), "__file__", None) or "").read_bytes())
    return digest.hexdigest()


@contextlib.contextmanager
def unheard(kind: Any, name: str) -> Iterator[None]:
    """Inside, ``kind`` works on documents: of what foreign code raises only type and place are told, as a `PolicyError`."""
    if not is_foreign(kind):
        yield
        return
    try:
        with silent():
            yield
    except (KeyboardInterrupt, MemoryError) as error:  # which mean something to whoever called
        raise (KeyboardInterrupt if isinstance(error, KeyboardInterrupt) else MemoryError) from None
    except BaseException as error:
        if _is_ours(error):
            raise
        raise PolicyError(
            f"{name} failed: {place_of(error)}; what it said is not shown, for that may hold words of a document"
        ) from None


def keep_unheard(kind: Any, what: str, names: Iterable[str]) -> None:
    """Let these methods of a class, where it is not ours, be `unheard` whoever calls them: they work on documents."""
    called = getattr(kind, "name", None)
    known = called if isinstance(called, str) else kind.__name__
    for name in vars(kind).keys() & names if is_foreign(kind) else ():
        setattr(kind, name, unheard(kind, f"the {what} {known}")(vars(kind)[name]))


@contextlib.contextmanager
def silent() -> Iterator[None]:
    """What foreign code prints of a text stands in no output and no log."""
    if threading.current_thread() is not threading.main_thread():
        yield  # a server's other threads write into no release, and the streams are the first one's
        return
    with open(os.devnull, "w") as nowhere, contextlib.redirect_stdout(nowhere), contextlib.redirect_stderr(nowhere):
        yield


def _is_ours(error: BaseException) -> bool:
    """Whether Publius alone raised it: an error with no foreign code on its way, or the order of a signal to stop."""
    modules = [str(frame.f_globals.get("__name__")).partition(".")[0] for frame, _ in walk_tb(error.__traceback__)]
    if isinstance(error, Exception):
        known = {_OURS, *sys.stdlib_module_names}
        return isinstance(error, PubliusError) and known.issuperset(modules)
    return modules[-1:] == [_OURS]
