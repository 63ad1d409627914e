"""Code of the user's own: objects named ``python:package.module:Name``, and what is heard of it while it works.

Importing them runs that code. Where it works on documents, nothing that it says of them is shown (`unheard`).
"""

from __future__ import annotations

import os
import sys
import threading
import warnings
from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from functools import wraps
from importlib import import_module
from importlib.machinery import PathFinder
from types import TracebackType
from typing import Any, Final, final

from publius.errors import PolicyError, PubliusError, UsageError, place_of
from publius.files.child import searched

PYTHON: Final = "python:"
_OURS: Final = "publius"


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


def is_foreign(kind: Any) -> bool:
    """Whether the class or function is not one of Publius's own."""
    return not str(getattr(kind, "__module__", "")).startswith(f"{_OURS}.")


# While it works on documents ------------------------------------------------------------------------------


def unheard(kind: Any, name: str) -> AbstractContextManager[None]:
    """Inside, the class or function ``kind`` works on documents; ``name`` is what it is called in an error.

    Of one that is not ours type and place of what it raises are told, as a `PolicyError`; what it prints and what it
    warns of goes nowhere. Either may hold words of a document. That is so in the thread that enters; threads, streams
    and files that the code opens are its author's.
    """
    return _unheard(name) if is_foreign(kind) else nullcontext()


def keep_unheard(kind: Any, what: str, names: Iterable[str]) -> None:
    """Let these methods of a class, where it is not ours, be `unheard` whoever calls them: they work on documents."""
    for name in names if is_foreign(kind) else ():
        if name in vars(kind):
            setattr(kind, name, _unheard_method(vars(kind)[name], what))


def _unheard_method(method: Callable[..., Any], what: str) -> Callable[..., Any]:
    @wraps(method)
    def called(self: Any, *arguments: Any, **named: Any) -> Any:
        with unheard(type(self), f"the {what} {getattr(self, 'name', type(self).__name__)}"):
            return method(self, *arguments, **named)

    return called


@contextmanager
def _unheard(name: str) -> Iterator[None]:
    try:
        with _silence:
            yield
    except (KeyboardInterrupt, MemoryError) as error:  # which mean something to whoever called
        raise (KeyboardInterrupt if isinstance(error, KeyboardInterrupt) else MemoryError) from None
    except BaseException as error:
        if _is_ours(error):
            raise
        raise PolicyError(
            f"{name} failed: {place_of(error)}; what it said is not shown, for that may hold words of a document"
        ) from None


def _is_ours(error: BaseException) -> bool:
    """Whether Publius alone raised it: an error with no foreign code on its way, or the order of a signal to stop."""
    modules = [*_modules(error.__traceback__)]
    if isinstance(error, Exception):
        known = {_OURS, *sys.stdlib_module_names}
        return isinstance(error, PubliusError) and known.issuperset(modules)
    return modules[-1:] == [_OURS]


def _modules(trace: TracebackType | None) -> Iterator[str]:
    while trace is not None:
        yield str(trace.tb_frame.f_globals.get("__name__")).partition(".")[0]
        trace = trace.tb_next


@final
class _Silence:
    """Inside, what a thread prints and warns of goes nowhere; other threads go on as before."""

    def __init__(self) -> None:
        self._changing = threading.RLock()
        self._threads: list[int] = []
        self._before: tuple[Any, Any, Any] = (None, None, None)
        self._nowhere: Any = None

    def __enter__(self) -> None:
        with self._changing:
            if not self._threads:
                self._nowhere = open(os.devnull, "w", encoding="utf-8", errors="replace")
                self._before = sys.stdout, sys.stderr, warnings.showwarning
                sys.stdout, sys.stderr = _Stream(self, 0), _Stream(self, 1)
                warnings.showwarning = self._warn
            self._threads.append(threading.get_ident())

    def __exit__(self, *error: object) -> None:
        with self._changing:
            self._threads.remove(threading.get_ident())
            if self._threads:
                return
            stdout, stderr, showwarning = self._before  # but for what somebody has put there since
            sys.stdout = stdout if isinstance(sys.stdout, _Stream) else sys.stdout
            sys.stderr = stderr if isinstance(sys.stderr, _Stream) else sys.stderr
            warnings.showwarning = showwarning if warnings.showwarning == self._warn else warnings.showwarning
            self._nowhere.close()

    def stream(self, number: int) -> Any:
        """Standard output or error, as this thread has it."""
        return self._nowhere if threading.get_ident() in self._threads else self._before[number]

    def _warn(self, *warning: Any, **more: Any) -> None:
        if threading.get_ident() not in self._threads:
            self._before[2](*warning, **more)


@final
class _Stream:
    """Standard output or error while some thread is silent. Whoever keeps it, as a log may, has the same later."""

    def __init__(self, silence: _Silence, number: int) -> None:
        self._silence, self._number = silence, number

    def __getattr__(self, name: str) -> Any:
        return getattr(self._silence.stream(self._number), name)


_silence: Final = _Silence()
