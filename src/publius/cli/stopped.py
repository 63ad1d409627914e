"""A signal ends a command in order, and what is said then is so: what was released by then stays released."""

from __future__ import annotations

import os
import signal
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

from publius.files import shown
from publius.files.placed import STOPPING, note_release, placed_release, was_debited

MAY_HAVE_LEFT: Final = "some of the bags may have left, so all of them count as released and stay charged"
_PATIENCE: Final = 15.0
"""Seconds in which a second signal is not heard: what cleans up is not stopped again."""

_sending: list[bool] = []


class Stopped(SystemExit):
    """A signal asked the command to end. Not an `Exception`: it passes through everything that cleans up."""


def note_sending() -> None:
    """From now on bags leave by standard output."""
    _sending.append(True)


def interrupted() -> str:
    """The sentence that holds after a stop: an evaluation releases nothing, and keeps what it has found."""
    command = next((each for each in sys.argv[1:] if not each.startswith("-")), "")
    if command in ("evaluate", "calibrate"):
        return "interrupted; what was found so far is kept, and the same command goes on from there"
    if _sending:
        return f"interrupted; {MAY_HAVE_LEFT}"
    if (placed := placed_release()) is not None:
        return f"interrupted; {shown(placed)} is complete"
    nothing = "interrupted; nothing was released under the final name"
    return f"{nothing}, but the ledger is debited" if was_debited() else nothing


def _stop(number: int, frame: object) -> None:
    began = time.monotonic()

    def again(number: int, frame: object) -> None:
        if time.monotonic() - began > _PATIENCE:
            os._exit(128 + number)

    for each in STOPPING:
        signal.signal(each, again)
    raise Stopped(128 + number)


@contextmanager
def signals_stop() -> Iterator[None]:
    """Let SIGINT, SIGTERM and SIGHUP end the command in order, so that nothing half-made stays behind.

    After one of them the others stay unheard, since the process still waits for its workers when it exits.
    """
    _sending.clear()
    note_release(None)
    before = {number: signal.signal(number, _stop) for number in STOPPING}
    try:
        yield
    finally:
        for number, handler in before.items():
            if signal.getsignal(number) is _stop:
                signal.signal(number, handler)
