"""The finished part of a resumable run: an append-only file of releases and a record of how far it is whole.

A batch is appended in two durable steps: its lines to ``bags.jsonl``, then one line to ``progress.jsonl`` that
says how many documents were read and where the lines end. What comes after the last whole line of progress was
never finished: it is cut off, and its documents are computed again with the same noise.
"""

from __future__ import annotations

import contextlib
import dataclasses
import os
from collections.abc import Sequence
from pathlib import Path
from types import TracebackType
from typing import Any, Final, Self, final

from publius.documents.corpus import BadDocument
from publius.errors import DataError
from publius.files import os_errors, private, shown
from publius.files.record_lines import RecordLines, append, cut
from publius.releases.release import Tally

BAGS: Final = "bags.jsonl"
_PROGRESS: Final = "progress.jsonl"


@final
class Journal:
    """Finished batches in a working folder; a context manager.

    Attributes:
        path: the file of releases, one a line as in ``bags.jsonl``.
        items: documents read in the finished batches, those left out counted.
        tally: counts over the finished batches.
        bad: the documents that were left out.
        torn_bytes: what was cut off at opening because it was not finished.

    """

    def __init__(self, folder: Path) -> None:
        self.path = folder / BAGS
        self.items = self.torn_bytes = self._end = 0
        self.tally, self.bad = Tally(), list[BadDocument]()
        with os_errors("open", folder), contextlib.ExitStack() as files:
            self._bags = files.enter_context(open(self.path, "a+b", opener=private))
            self._progress = files.enter_context(RecordLines(folder / _PROGRESS))
            for entry in self._progress.kept:
                self._take(entry)
            if os.fstat(self._bags.fileno()).st_size < self._end:
                raise DataError(
                    f"{shown(self.path)} is shorter than it was: remove its folder and start again; nothing was "
                    "released"
                )
            self.torn_bytes = cut(self._bags, self._end) + self._progress.torn_bytes
            self._files = files.pop_all()

    def _take(self, entry: dict[str, Any]) -> None:
        self.items += entry["items"]
        self._end = entry["end"]
        self.tally += Tally(*entry["tally"])
        self.bad += [BadDocument(*item) for item in entry["bad"]]

    def append(self, items: int, data: bytes, tally: Tally, bad: Sequence[BadDocument]) -> None:
        """Make a batch of ``items`` documents durable: ``data``, the lines of its releases, and what was left out."""
        entry = {
            "items": items,
            "end": self._end + len(data),
            "tally": dataclasses.astuple(tally),
            "bad": [dataclasses.astuple(item) for item in bad],
        }
        with os_errors("write", self.path):
            append(self._bags, data)
        self._progress.append(entry)
        self._take(entry)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._files.close()
