"""Office files and mail, read in one process of its own that has limits and is ended when a file takes too long."""

from __future__ import annotations

import atexit
import contextlib
import os
import signal
import subprocess
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from itertools import pairwise
from pathlib import Path
from typing import Any, Final, final

import msgspec

from publius.documents.tables import UNREADABLE, ChoiceError, Table, has_column
from publius.errors import DataError, MissingExtraError
from publius.files.processes import command, environment
from publius.settings import Reading

SECONDS: Final = 60.0  # that a file may take, and again for each 16 MiB that it has
MEMORY: Final = 2**30  # bytes that the process may have beyond those at its start
_KEPT: Final = 2**20  # characters of a document that is held while others are read: a longer one is read again
Sheet = tuple[str, list[list[str | None]]]  # its name and its rows, as wide as its widest


class Office(Table):
    """A file of one document, or a mailbox."""

    def load(self) -> list[dict[str, Any]]:
        """A document that cannot be read counts as an empty text, each mail of a mailbox by itself (rule 5)."""
        if self.alone:
            return [{"id": self.stem, **self._document(None)}]
        starts = asked("mbox", self.path, self.reading) or []
        parts = enumerate(pairwise([*starts, os.stat(self.path).st_size]), start=1)
        return [{"id": f"{self.stem}-{number}", **self._document(part)} for number, part in parts]

    def _document(self, part: tuple[int, int] | None) -> dict[str, Any]:
        found: dict[str, Any] | None = asked("eml" if part else self.kind, self.path, self.reading, part)
        if found is None:
            self.tally[UNREADABLE] += 1
            found = {"text": ""}
            if self.kind in ("eml", "mbox"):  # whose it is, at least
                found = asked("sender", self.path, self.reading, part) or {"text": "", "from": ""}
        self.told |= {what: (count, "") for what, count in found.pop("told", {}).items()}
        return found

    def records(self) -> Iterator[dict[str, Any]]:
        """A mailbox is held as a whole."""
        yield from (held := self._held)
        if self.kind != "mbox" and len(held[0]["text"]) > _KEPT:
            self.__dict__.pop("_held", None)


@final
class Workbook(Table):
    """Sheets of a workbook with one header."""

    def load(self) -> list[dict[str, Any]]:
        """Rows under the names of columns. `ChoiceError` where sheets have different ones."""
        answer = asked("sheets", self.path, self.reading)
        if answer is None:
            raise DataError(f"{self.name} cannot be read as a workbook within its limits, or has a password.")
        sheets, formulas = answer
        wanted = self.reading.sheet
        if missing := [name for name in wanted if name not in [each[0] for each in sheets]]:
            raise DataError(f"No sheet {missing[0]}. Found: {', '.join(each[0] for each in sheets)}.")
        hidden = [name for name, unseen, _ in sheets if unseen and name not in wanted]
        read = [(name, rows) for name, _, rows in sheets if name in wanted or not (wanted or name in hidden)]
        self._tell("hidden sheets, which are left out", hidden)
        self.told["cells that are formulas without a stored value: open the workbook once and save it"] = (formulas, "")
        first, count = self.header
        found: list[dict[str, Any]] = []
        for name, rows in read if wanted else self._tables(read, first, count):
            places = self.places_of(self.header_of(rows[first : first + count]))
            places.pop("", None)
            if not places:
                raise DataError(f"{self.name}, sheet {name}: no names of columns in row {first + 1}: --header-row N.")
            for row in rows[first + count :]:
                found.append({name: self.together(row, each) for name, each in places.items()})
        return found

    def _tables(self, sheets: Sequence[Sheet], first: int, count: int) -> list[Sheet]:
        """All sheets with a row below their names, if these are the same: what is below decides only what is proposed."""
        tables = [(name, rows) for name, rows in sheets if len(rows) > first + count]
        self._tell("sheets that are no table, left out", [name for name, rows in sheets if len(rows) <= first + count])
        if not tables:
            return []
        names = [[*filter(None, self.header_of(rows[first : first + count]))] for _, rows in tables]
        headers = {name: first if self.reading.header_row else _header(rows) for name, rows in tables}
        sure = bool(self.reading.header_row) or has_column(names[0], self.reading.text_field or "text")
        sure = sure or (len(names[0]) > 1 and all(at == first for at in headers.values()))
        if sure and all(each == names[0] for each in names):
            self._tell("sheets with one header, read together", [name for name, _ in tables] if len(tables) > 1 else [])
            return tables
        listed = "; ".join(
            f"{name} (names of columns in row {headers[name] + 1}, {len(rows) - headers[name] - 1} rows below)"
            for name, rows in tables
        )
        name, row = tables[0][0], headers[tables[0][0]] + 1
        raise ChoiceError(
            f"{self.name}: row {first + 1} does not name the same columns in every sheet, that of the texts among them: "
            f"{listed}. Say which: --sheet {name} --header-row {row}.",
            {"sheet": (name,), "header_row": row},
            [("sheets that are not one table: name some with --sheet and --header-row", len(tables), listed),
             ("sheet that is looked at here", 1, f"--sheet {name} --header-row {row}")],
        )  # fmt: skip

    def _tell(self, what: str, sheets: Sequence[str]) -> None:
        self.told[what] = (len(sheets), ", ".join(sheets))


def _header(rows: Sequence[Sequence[str | None]]) -> int:
    """The first row that is filled as far as any of the first ones; one name may be missing, as above row numbers."""
    filled = [sum(cell is not None for cell in row) for row in rows[:20]]
    most = max(filled, default=0)
    full = (at for at, n in enumerate(filled) if n == most or (n == most - 1 and rows[at][0] is None))
    return next(full, 0)


# The process ----------------------------------------------------------------------------------------------


class _Process:
    def __init__(self) -> None:
        from multiprocessing import Pipe  # slow to start

        self.owner = os.getpid()
        self._pipe, theirs = Pipe()
        place = theirs.fileno()
        with theirs:
            self._process = subprocess.Popen(  # noqa: S603  # our own interpreter on our own module
                command("publius.documents.apart", str(MEMORY), str(place)), cwd=os.sep, pass_fds=[place],
                stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, process_group=0,
                env=environment(LC_ALL="C.UTF-8", MALLOC_ARENA_MAX="1", OMP_NUM_THREADS="1"),
            )  # fmt: skip

    def answer(self, request: dict[str, Any], seconds: float) -> dict[str, Any] | None:
        """None where it ended, or did not answer in time."""
        with contextlib.suppress(OSError, EOFError):
            self._pipe.send_bytes(msgspec.msgpack.encode(request))
            if self._pipe.poll(seconds):
                return msgspec.msgpack.decode(self._pipe.recv_bytes(), type=dict)
        return None

    def end(self) -> None:
        if self.owner == os.getpid():
            with contextlib.suppress(ProcessLookupError):
                os.killpg(self._process.pid, signal.SIGKILL)  # the fork that reads, too
            self._process.wait()
        self._pipe.close()


_running: list[_Process] = []


@atexit.register
def _end_all() -> None:
    while _running:
        _running.pop().end()


def asked(kind: str, path: Path, reading: Reading, part: tuple[int, int] | None = None) -> Any:
    """What the process made of a file, or of a ``part`` of it; None where it cannot be read within its limits."""
    while _running and _running[-1].owner != os.getpid():
        _running.pop()
    process = _running.pop() if _running else _Process()
    start, stop = part or (0, os.stat(path).st_size)
    allowed = SECONDS * (1 + (stop - start) // 2**24)
    request = {"kind": kind, "path": os.fsencode(os.path.abspath(path)), "part": [start, stop], **asdict(reading)}
    answer = None
    try:
        answer = process.answer(request, allowed)
    finally:
        if answer is None:
            process.end()
        else:
            _running.append(process)
    if answer and "missing" in answer:
        raise MissingExtraError(*answer["missing"])
    return answer.get("found") if answer else None
