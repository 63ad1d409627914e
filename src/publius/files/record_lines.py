"""An append-only file of JSON objects, one a line, each on the disk before the next thing is done."""

from __future__ import annotations

import json
import os
from pathlib import Path
from types import TracebackType
from typing import Any, BinaryIO, Self, final

from publius.errors import DataError
from publius.files.paths import os_errors, shown
from publius.files.writing import private


@final
class RecordLines:
    """An append-only file of lines; a last line that a crash tore is cut off at opening. A context manager.

    `DataError` for a file that is damaged otherwise.

    Attributes:
        kept: the objects that were there.
        torn_bytes: how much was cut off.

    """

    def __init__(self, path: Path) -> None:
        self._path = path
        with os_errors("open", path):
            self._file: BinaryIO = open(path, "a+b", opener=private)  # noqa: SIM115  # closed in __exit__
            self._file.seek(0)
            lines = self._file.read().splitlines(keepends=True)
            torn = lines.pop() if lines and not lines[-1].endswith(b"\n") else b""
            self.kept: list[dict[str, Any]] = [self._parsed(line) for line in lines]
            self.torn_bytes = cut(self._file, sum(map(len, lines))) if torn else 0

    def _parsed(self, line: bytes) -> dict[str, Any]:
        try:
            record = json.loads(line)
        except ValueError:
            record = None
        if not isinstance(record, dict):
            self._file.close()
            raise DataError(
                f"{shown(self._path)} is damaged: restore it, or give up what it is the record of"
            )
        return record

    def append(self, record: dict[str, Any]) -> None:
        """Add an object durably."""
        with os_errors("write", self._path):
            append(self._file, json.dumps(record).encode() + b"\n")

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._file.close()


def cut(file: BinaryIO, size: int) -> int:
    """Shorten ``file`` to ``size`` bytes durably; how many were cut off."""
    beyond = os.fstat(file.fileno()).st_size - size
    if beyond:
        file.truncate(size)
        os.fsync(file.fileno())
    return beyond


def append(file: BinaryIO, data: bytes) -> None:
    """Write ``data`` at the end of ``file``, durably."""
    file.write(data)
    file.flush()
    os.fsync(file.fileno())
