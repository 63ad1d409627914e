"""Files that arrive in a folder, each named when it is complete: found by looking again and again.

Looking, and not notices of the operating system: those do not come over a network or into many a container, they are
lost when too many come at once, and of what arrived while nobody listened there are none. So a look is needed anyway,
and it costs some ten milliseconds for ten thousand files.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Final, final

from publius.files.paths import AnyPath, os_errors

_OF_SYSTEMS: Final = frozenset({"thumbs.db", "ehthumbs.db", "desktop.ini", "icon\r"})


def passed_over(name: str) -> bool:
    """Whether a name in a folder is a system's or another program's own, and no document of anybody.

    Hidden files, ``_`` markers of programs that write folders, the thumbnails and notes of file managers, and what an
    office program locks with (``~$letter.docx``) while a document is open.
    """
    return name.startswith((".", "_", "~$")) or name.lower() in _OF_SYSTEMS


Stamp = tuple[int, int]
"""Bytes of a file, and when it was last changed, in nanoseconds."""


@final
class Arrivals:
    """The complete files of a folder: those that have not changed for ``settle`` seconds.

    With 0 a file is complete when it is there, as it is where files are renamed into the folder. Names that begin with
    ``.`` or ``_`` are passed over, so that a writer can use one until it renames the file; so are files of the system
    (`passed_over`), and folders.

    Attributes:
        unsettled: how many files the last look found that are not complete yet.

    """

    def __init__(self, folder: AnyPath, settle: float, clock: Callable[[], float] = time.monotonic) -> None:
        self._folder, self._settle, self._clock = Path(folder), settle, clock
        self._since: dict[str, tuple[Stamp, float]] = {}
        self.unsettled = 0

    def look(self) -> list[tuple[Path, Stamp]]:
        """Every complete file, by name, however often it was named before. `StorageError` where nobody can look."""
        now = self._clock()
        seen: dict[str, tuple[Stamp, float]] = {}
        with os_errors("look into the folder", self._folder), os.scandir(self._folder) as entries:
            for entry in entries:
                if passed_over(entry.name):
                    continue
                if _is_file(entry) and (stamp := stamp_of(entry)) is not None:
                    before = self._since.get(entry.name)
                    seen[entry.name] = before if before is not None and before[0] == stamp else (stamp, now)
        self._since = seen
        complete = [(name, stamp) for name, (stamp, since) in seen.items() if now - since >= self._settle]
        self.unsettled = len(seen) - len(complete)
        return [(self._folder / name, stamp) for name, stamp in sorted(complete)]


def stamp_of(path: AnyPath) -> Stamp | None:
    """Size and time of a file now, for whoever was told that it is complete; None where it has gone."""
    with suppress(FileNotFoundError):
        try:
            state = os.stat(path)
        except FileNotFoundError:
            raise
        except OSError:  # a link to itself, say: whoever reads it is told
            state = os.lstat(path)
        return state.st_size, state.st_mtime_ns
    return None


def _is_file(entry: os.DirEntry[str]) -> bool:
    try:
        return entry.is_file()
    except OSError:  # of a link that nobody can follow
        return True
