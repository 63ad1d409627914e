"""Office files and mail, read in one process of its own that has limits and is ended when a file takes too long."""

from __future__ import annotations

import atexit
import contextlib
import json
import os
import select
import struct
import subprocess
from pathlib import Path
from typing import Any, Final, final

import msgspec

from publius.documents.tables import Held
from publius.errors import DataError, MissingExtraError
from publius.files.child import command, environment
from publius.settings import Reading

SECONDS: Final = 60.0
"""What a file may take, and again for each 16 MiB that it has."""
MEMORY: Final = 2**30
"""Bytes that the process may have beyond those at its start."""
UNREADABLE: Final = "files that cannot be read, which count as empty texts"
PICTURES: Final = "files that are pictures, which count as empty texts: recognise their text first"
PICTURE_PAGES: Final = "pages that are pictures, which count as empty"
FORMULAS: Final = "cells that are formulas without a stored value: open the workbook once and save it"
HIDDEN: Final = "hidden sheets, which are left out"
NO_TABLES: Final = "sheets that are no table, left out"
TOGETHER: Final = "sheets with one header, read together"
_ROWS_LOOKED_AT: Final = 20


class SheetsError(DataError):
    """Nobody but the curator can say which sheets are meant; ``choices`` are what can be said."""

    choices: tuple[tuple[str, int, int], ...] = ()
    """Of each sheet its name, the row of its names of columns from 1, and how many rows follow."""


class Office(Held):
    """A file of one document, or a mailbox."""

    def __init__(self, path: Path, name: str, reading: Reading, kind: str) -> None:
        super().__init__(path, name, reading)
        self.kind = kind

    def load(self) -> list[dict[str, Any]]:
        """A file that is one document and cannot be read counts as an empty text; `DataError` for a mailbox."""
        answer = asked(self.kind, self.path, self.reading)
        stem = Path(self.name.strip("'\"")).stem
        if answer is None:
            if self.kind == "mbox":
                raise DataError(f"{self.name} cannot be read as a mailbox within its limits: save it again.")
            self.tally[UNREADABLE] += 1
            return [{"text": "", "id": stem}]
        if self.kind == "pdf":
            text, pictures, pages = answer
            if pictures:
                self.tally[PICTURES if pictures == pages else PICTURE_PAGES] += (
                    1 if pictures == pages else pictures
                )
            return [{"text": text, "id": stem}]
        if self.kind in ("eml", "mbox"):
            return [
                {"id": f"{stem}-{number}" if self.kind == "mbox" else stem, **each}
                for number, each in enumerate(answer)
            ]
        return [{"text": answer[0], "id": stem}]


@final
class Workbook(Held):
    """Sheets of a workbook with one header."""

    def load(self) -> list[dict[str, Any]]:
        """Rows under the names of columns. `SheetsError` where sheets have different ones."""
        answer = asked("sheets", self.path, self.reading)
        if answer is None:
            raise DataError(
                f"{self.name} cannot be read as a workbook within its limits: save it again, without a password."
            )
        sheets, formulas = answer
        if formulas:
            self.tally[FORMULAS] = formulas
        wanted = self.reading.sheet
        if missing := [name for name in wanted if name not in [each[0] for each in sheets]]:
            raise DataError(f"No sheet {missing[0]}. Found: {', '.join(each[0] for each in sheets)}.")
        hidden = [name for name, unseen, _ in sheets if unseen and name not in wanted]
        if hidden:
            self.told[HIDDEN] = (len(hidden), ", ".join(hidden))
        read = [
            (name, rows) for name, _, rows in sheets if (name in wanted if wanted else name not in hidden)
        ]
        if not wanted:
            read = self._tables(read)
        first = (self.reading.header_row or 1) - 1
        found: list[dict[str, Any]] = []
        for name, rows in read:
            header = [(cell or "").strip() for cell in rows[first]] if len(rows) > first else []
            named = [place for place, cell in enumerate(header) if cell]
            if not named:
                raise DataError(
                    f"{self.name}, sheet {name}: row {first + 1} has no names of columns. Say --header-row N."
                )
            for row in rows[first + 1 :]:
                if any(cell is not None for cell in row):
                    found.append({header[place]: row[place] if place < len(row) else None for place in named})
        return found

    def _tables(
        self, sheets: list[tuple[str, list[list[str | None]]]]
    ) -> list[tuple[str, list[list[str | None]]]]:
        """The sheets that are read where none was named: all that are tables, if their header is one."""
        first = (self.reading.header_row or 1) - 1
        headers = {name: first if self.reading.header_row else _header(rows) for name, rows in sheets}
        tables = [(name, rows) for name, rows in sheets if len(rows) > headers[name] + 1 and len(rows) > 1]
        if len(tables) < len(sheets):
            left = [name for name, _ in sheets if name not in [each for each, _ in tables]]
            self.told[NO_TABLES] = (len(left), ", ".join(left))
        names = {tuple(rows[first]) if len(rows) > first else () for _, rows in tables}
        if tables and len(names) == 1 and all(headers[name] == first for name, _ in tables):
            if len(tables) > 1:
                self.told[TOGETHER] = (len(tables), ", ".join(name for name, _ in tables))
            return tables
        if not tables:
            raise DataError(f"{self.name} holds no document: check that it is the right file.")
        choices = [(name, headers[name] + 1, len(rows) - headers[name] - 1) for name, rows in tables]
        listed = "; ".join(
            f"{name} (names of columns in row {row}, {count} rows below)" for name, row, count in choices
        )
        name, row, _ = choices[0]
        error = SheetsError(
            f"{self.name} has {len(sheets)} sheets that are not one table: {listed}. Say which: --sheet {name}"
            + (f" --header-row {row}." if row > 1 else ".")
        )
        error.choices = (*choices,)
        raise error


def _header(rows: list[list[str | None]]) -> int:
    """The place of the first row that is filled as far as any of the first ones: names of columns stand there."""
    filled = [sum(cell is not None for cell in row) for row in rows[:_ROWS_LOOKED_AT]]
    return filled.index(max(filled)) if filled else 0


# The process ----------------------------------------------------------------------------------------------


class _Process:
    def __init__(self) -> None:
        self.owner = os.getpid()
        self._process = subprocess.Popen(  # noqa: S603  # our own interpreter on our own module
            command("publius.documents.apart", str(MEMORY)), cwd=os.sep, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL, env=environment(LC_ALL="C.UTF-8", MALLOC_ARENA_MAX="1", OMP_NUM_THREADS="1"),
        )  # fmt: skip

    def answer(self, request: dict[str, Any], seconds: float) -> dict[str, Any] | None:
        """None where it ended, or did not answer in time."""
        stdin, stdout = self._process.stdin, self._process.stdout
        if stdin is None or stdout is None:
            return None
        try:
            stdin.write(json.dumps(request).encode() + b"\n")
            stdin.flush()
            data = b""
            while len(data) < 8 or len(data) < 8 + struct.unpack(">Q", data[:8])[0]:
                if not select.select([stdout], [], [], seconds)[0] or not (
                    part := os.read(stdout.fileno(), 2**20)
                ):
                    return None
                data += part
        except OSError:
            return None
        return msgspec.msgpack.decode(data[8:], type=dict)

    def end(self) -> None:
        """End it, whatever it is doing."""
        if self.owner == os.getpid():
            self._process.kill()
            for pipe in (self._process.stdin, self._process.stdout):
                with contextlib.suppress(OSError):
                    pipe.close()  # type: ignore[union-attr]
            self._process.wait()


_running: list[_Process] = []


@atexit.register
def _end_all() -> None:
    while _running:
        _running.pop().end()


def asked(kind: str, path: Path, reading: Reading) -> list[Any] | None:
    """What the process made of a file; None where it cannot be read within its limits."""
    while _running and _running[-1].owner != os.getpid():
        _running.pop()
    process = _running.pop() if _running else _Process()
    allowed = SECONDS * (1 + os.stat(path).st_size // 2**24)
    request = {
        "kind": kind,
        "path": os.path.abspath(path),
        "sheets": reading.sheet,
        "encoding": reading.encoding,
    }
    try:
        answer = process.answer(request, allowed)
    except BaseException:
        process.end()
        raise
    if answer is None:
        process.end()
        return None
    _running.append(process)
    if missing := answer.get("missing"):
        raise MissingExtraError(*missing)
    return answer.get("rows")
