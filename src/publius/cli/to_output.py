"""``--output -``: a whole release on standard output, made and charged before its first byte."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Callable
from pathlib import Path
from tempfile import gettempdir
from typing import TYPE_CHECKING, Final

from publius.cli.log import say
from publius.cli.stopped import MAY_HAVE_LEFT, note_sending
from publius.errors import StorageError, UsageError

if TYPE_CHECKING:
    from publius.releases.engines import RunSummary
    from publius.settings import RunSettings

DASH: Final = "-"
_BAGS: Final = "bags.jsonl"
_MANIFEST: Final = "manifest.json"


def check_to_output(manifest: Path | None, output: Path, run: RunSettings) -> None:
    """`UsageError` for choices that do not go with bags on standard output, or go only with it."""
    if str(output) != DASH:
        if manifest is not None:
            raise UsageError("--manifest goes with --output -: a folder holds its manifest already")
        return
    if sys.stdout.isatty():
        raise UsageError("standard output is a terminal: send the bags on to a program or file")
    if run.format not in (None, "jsonl"):
        raise UsageError(f"standard output takes JSON lines, not {run.format}: name a folder for that format")
    if run.resume or run.engine != "local":
        raise UsageError("standard output cannot be gone on with, nor written by a cluster: name a folder")


def to_output(make: Callable[[Path], RunSummary], manifest: Path | None) -> RunSummary:
    """Let ``make`` fill a folder that only this user can read, then send its bags; the manifest goes first, to a file.

    Everything is drawn and the ledger is debited before the first byte leaves, so that nobody sees a part of a run
    that is refused. `StorageError` where the reader goes away: what was sent is released and stays charged.
    """
    from publius.files import private_folder, remove_leftovers, shown, write_file

    for left in remove_leftovers(Path(gettempdir(), "new")):
        say(f"removed {shown(left)}, which a run that was killed left behind")
    with private_folder(gettempdir()) as private:
        folder = private / "release"
        summary = make(folder)
        if manifest is not None:
            with write_file(manifest) as file:
                file.write((folder / _MANIFEST).read_bytes())
        note_sending()
        try:
            sys.stdout.flush()
            with (folder / _BAGS).open("rb") as bags:
                shutil.copyfileobj(bags, sys.stdout.buffer)
            sys.stdout.flush()
        except OSError as error:
            os.dup2(
                os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno()
            )  # what is buffered has nowhere to go
            raise StorageError(f"standard output failed ({error.strerror}): {MAY_HAVE_LEFT}") from None
    return summary
