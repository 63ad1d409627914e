"""The release that got its final name here last, whether a ledger was debited, and signals that wait meanwhile.

Whoever is stopped has to be told whether a release is there, from the step that names it on, and what it has cost.
"""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

STOPPING: Final = tuple(
    number for name in ("SIGINT", "SIGTERM", "SIGHUP") if (number := getattr(signal, name, None)) is not None
)
"""The signals that end a command in order."""

_placed: list[Path] = []
_debits: list[bool] = []


def placed_release() -> Path | None:
    """The last release of this process that has its final name."""
    return _placed[-1] if _placed else None


def note_release(path: Path | None) -> None:
    """A release has its final name: to be called while signals wait. None where a command begins."""
    _placed[:] = [] if path is None else [path]
    if path is None:
        _debits.clear()


def was_debited() -> bool:
    """Whether this command has debited a ledger."""
    return bool(_debits)


def note_debit() -> None:
    """A ledger is debited for good: to be called while signals wait."""
    _debits.append(True)


@contextmanager
def signals_wait() -> Iterator[None]:
    """Let a signal that would end this process wait until the block ends: what is in it is done as a whole."""
    if threading.current_thread() is not threading.main_thread():  # others get no signals
        yield
        return
    waiting: list[int] = []
    before: dict[int, Callable[[int, Any], Any]] = {}
    try:
        for number in STOPPING:
            if callable(handler := signal.getsignal(number)):
                before[number] = handler
                signal.signal(number, lambda number, frame: waiting.append(number))
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
        if waiting:
            before[waiting[0]](waiting[0], None)
