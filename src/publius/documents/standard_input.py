"""Documents from standard input: JSON lines, held in memory that has no name and is never on a disk."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Final

from publius.errors import DataError, UsageError
from publius.files import WHOLE_LIMIT

DASH: Final = "-"
"""What stands for standard input in place of a path."""

_BLOCK: Final = 2**20


def held_input() -> Path:
    """A path to what comes from standard input, until this process ends; worker processes can read it, too.

    A corpus is read more than once, so what comes is held: in memory, for a temporary file would be a copy of the
    private text. Raises `UsageError` for a terminal and where the system has no such memory, `DataError` beyond
    256 MiB.
    """
    if sys.stdin.isatty():
        raise UsageError("standard input is a terminal: send JSON lines to it, or name a file")
    if not hasattr(os, "memfd_create"):
        raise UsageError("this system cannot hold standard input in memory: name a file")
    held = os.memfd_create("documents", os.MFD_CLOEXEC)
    total = 0
    while block := sys.stdin.buffer.read(_BLOCK):
        total += len(block)
        if total > WHOLE_LIMIT:
            os.close(held)
            raise DataError(f"standard input has more than {WHOLE_LIMIT >> 20} MiB: store it in a file")
        while block:
            block = block[os.write(held, block) :]
    return Path(f"/proc/{os.getpid()}/fd/{held}")
