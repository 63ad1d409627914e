"""Work in a process of its own: it tells how far it is, can be stopped, and ends with the process that started it."""

from __future__ import annotations

import errno
import multiprocessing
import multiprocessing.connection
import os
import signal
import sys
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from multiprocessing.connection import Connection
from typing import Any, Final, final

from publius.errors import CancelledError, PubliusError, StorageError, place_of
from publius.files.placed import placed_release, was_debited
from publius.files.workers import spawning

Tell = Callable[[Any], None]
"""Takes an event, which goes to whoever waits for the work."""

_PATIENCE: Final = 15.0
"""Seconds that work gets to end in order once it was cancelled."""

_PAID: Final = "nothing was released, and a new run is debited anew"

_ALONE: Final = 60.0
"""The same once the process that started it is gone."""


@final
@dataclass(frozen=True, slots=True)
class _Returned:
    """The last event: the result."""

    value: Any


@final
@dataclass(frozen=True, slots=True)
class _Raised:
    """The last event: what went wrong, in words that may be shown."""

    error: PubliusError


class _Stopped(SystemExit):
    """The work is to end. Not an `Exception`: it passes through everything that cleans up."""


@final
class Task:
    """``work(*arguments, tell)`` in a process of its own, started when made. Safe in threads.

    ``work`` is a function of a module; its arguments, the events that it tells and its result can be pickled. The
    process imports from our installation only (see `publius.files.workers`), writes to no terminal, and has no
    standard input.
    """

    def __init__(self, work: Callable[..., Any], *arguments: Any) -> None:
        """`StorageError` where no process can be started."""
        context = spawning()
        self._lock = threading.Lock()
        self._cancelled = self._ended = False
        self._killer: threading.Timer | None = None
        self._events, theirs = context.Pipe(duplex=False)
        self._process = context.Process(target=_run, args=(theirs, work, arguments), daemon=False)
        try:
            self._process.start()
        except OSError as error:
            raise StorageError(
                f"no process can be started ({os.strerror(error.errno or errno.EIO)})"
            ) from None
        finally:
            theirs.close()

    def result(self, hear: Tell = lambda event: None) -> Any:
        """The result of the work, once it has ended; ``hear`` is told each event. To be called once.

        Raises what the work raised (`PubliusError` with only the place of what nobody expected), `CancelledError`
        where it was stopped, `StorageError` where the process was ended from outside.
        """
        try:
            while True:
                event = self._next()
                if isinstance(event, _Returned):
                    return event.value
                if isinstance(event, _Raised):
                    raise self._cancellation(debited=event.error.debit_told) or event.error
                hear(event)
        finally:
            self._events.close()  # whatever it still tells, nobody waits any more
            self._process.join()
            with self._lock:
                self._ended = True
                if self._killer is not None:
                    self._killer.cancel()

    def _next(self) -> Any:
        try:
            return self._events.recv()
        except (EOFError, OSError):
            raise self._cancellation() or StorageError(
                "the process that did the work was ended from outside (was it out of memory?): nothing half-made is "
                "kept"
            ) from None

    def cancel(self) -> None:
        """Let the work clean up and end; after some seconds the process is killed."""
        with self._lock:
            first, self._cancelled = not self._cancelled, True
        if first:
            self._send("SIGTERM")
            with self._lock:
                if self._ended:
                    return
                self._killer = threading.Timer(_PATIENCE, self._send, ("SIGKILL",))
                self._killer.daemon = True
                self._killer.start()

    def _cancellation(self, *, debited: bool = False) -> CancelledError | None:
        if not self._cancelled:
            return None
        error = CancelledError("cancelled: nothing half-made is kept")
        return error.after_debit(_PAID) if debited else error

    def _send(self, name: str) -> None:
        """To the process and those that it started, which are a group of their own; Windows has no groups."""
        with self._lock, suppress(ProcessLookupError, PermissionError):
            if self._ended or self._process.pid is None:
                return
            if sys.platform == "win32":
                self._process.kill()
                return
            number = getattr(signal, name)
            try:
                os.killpg(self._process.pid, number)
            except ProcessLookupError:  # it has no group yet: nothing was begun
                os.kill(self._process.pid, number)


def _run(events: Connection, work: Callable[..., Any], arguments: tuple[Any, ...]) -> None:
    """In the process."""
    if sys.platform != "win32":
        os.setsid()
    _write_nowhere()
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, _stop)
    threading.Thread(target=_end_with_starter, name="starter", daemon=True).start()
    last: _Returned | _Raised
    try:
        last = _Returned(work(*arguments, _telling(events)))
    except BaseException as error:  # whatever it is, who waits is told
        last = _Raised(_with_debit(_shown(error)))
    with suppress(OSError):  # nobody waits any more
        events.send(last)


_told_to_stop = threading.Event()


def _telling(events: Connection) -> Tell:
    """Tell an event, or end where a library lost the order to: what a callback raises, Python passes over."""

    def tell(event: Any) -> None:
        if _told_to_stop.is_set() and not isinstance(sys.exception(), _Stopped):
            raise _Stopped(128 + signal.SIGTERM)
        events.send(event)

    return tell


def _stop(number: int, frame: object) -> None:
    signal.signal(signal.SIGTERM, signal.SIG_IGN)  # what cleans up is not stopped again
    if placed_release() is not None:  # too late: it is there, and who waits is told so
        return
    _told_to_stop.set()
    raise _Stopped(128 + number)


def _write_nowhere() -> None:
    """What foreign code prints may quote what it works on."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    for stream in (1, 2):
        os.dup2(nowhere, stream)
    os.close(nowhere)


def _end_with_starter() -> None:
    """End as if cancelled when the process that started this one is gone: nobody is left who could."""
    starter = multiprocessing.parent_process()
    if starter is None:
        return
    multiprocessing.connection.wait([starter.sentinel])
    if sys.platform == "win32":
        os._exit(1)
    for name in ("SIGTERM", "SIGKILL"):  # by name: Windows has not both
        os.killpg(0, getattr(signal, name))
        time.sleep(_ALONE)


def _with_debit(error: PubliusError) -> PubliusError:
    """The same, which says so where a release was paid for in this process and is not there."""
    paid = was_debited() and placed_release() is None
    return error.after_debit(_PAID) if paid and not error.debit_told else error


def _shown(error: BaseException) -> PubliusError:
    """``error`` in words that may be shown; of what nobody expected only its place (R17)."""
    if isinstance(error, PubliusError):
        return error
    if isinstance(error, MemoryError):
        return StorageError("out of memory: try a smaller length")
    if isinstance(error, OSError):
        return StorageError(f"reading or writing failed ({os.strerror(error.errno or errno.EIO)})")
    return PubliusError(f"internal error: {place_of(error)}. Please report it; no document text is shown.")
