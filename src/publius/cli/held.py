"""Commands that end in order when the program that started them is gone, however it ended."""

from __future__ import annotations

import os
import signal
import sys
import time
from threading import Thread
from typing import Final

HELD: Final = "PUBLIUS_HELD"
"""Set to 1 in the environment of a command whose standard input is a pipe that its starter alone can write to."""

_PATIENCE: Final = 60.0
"""Seconds to end in order."""


def end_with_starter() -> None:
    """Where `HELD` is set, end as by SIGTERM when standard input ends: nobody is left who could cancel."""
    if os.environ.pop(HELD, None) == "1":  # not of the processes that this one starts
        Thread(target=_wait, name="held", daemon=True).start()


def _wait() -> None:
    while os.read(0, 1):
        pass
    if sys.platform != "win32" and os.getpgid(0) == os.getpid():
        os.killpg(0, signal.SIGTERM)  # with the workers, as the starter itself would
        time.sleep(_PATIENCE)
        os.killpg(0, getattr(signal, "SIGKILL"))  # noqa: B009
    else:
        os.kill(os.getpid(), signal.SIGTERM)
