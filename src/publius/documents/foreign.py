"""Files of foreign formats are read by a process of their own, which can be ended and has limits.

Word, Excel, PDF, HTML, mail and Parquet are taken apart by libraries that were written for files of friends: a few
kilobytes can cost them hours or gigabytes, and while one is busy no signal is heard. So one process reads file after
file, and is ended when a file takes more than it may; the next file gets a new one. What it sends is text and numbers,
so many bytes at a time at most.
"""

from __future__ import annotations

import atexit
import contextlib
import importlib.util
import json
import os
import select
import signal
import struct
import subprocess
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Any, Final, final

from publius.documents.parser import LIBRARIES
from publius.documents.row_readers import RECORD_LIMIT, Row, bad_row
from publius.errors import (
    DataError,
    DocumentError,
    MissingExtraError,
    PubliusError,
    StorageError,
    UsageError,
)
from publius.files import os_errors, shown
from publius.files.child import command, environment
from publius.settings import InputSettings

KINDS: Final = frozenset(LIBRARIES)
"""Kinds of file that are read apart."""

MEMORY_LIMIT: Final = 400 * 2**20
"""Bytes that a file may take beyond what the process has when its libraries are loaded."""

PER_BYTES: Final = 16 * 2**20
"""A file has its seconds for each begun so many bytes of it."""

_FRAME: Final = 8 * RECORD_LIMIT
"""Bytes that are taken from the process at once."""

_PATIENCE: Final = 20.0
"""How many times its processor seconds a file may keep everybody waiting, as on a machine that is busy otherwise."""

_START: Final = 60.0  # seconds on top, for a process to start and load its libraries

_WHOLE: Final = frozenset({".docx", ".pdf", ".html", ".htm", ".eml"})
_MOST_IDLE: Final = 2
_SPENT: Final = [int(getattr(signal, name, 0)) for name in ("SIGPROF", "SIGXCPU")]
_LAST_SECONDS: Final = 5.0  # for a process whose answer broke off to tell how it ended
_ERRORS: Final = {
    kind.__name__: kind for kind in (DocumentError, DataError, StorageError, UsageError, MissingExtraError)
}
_ENVIRONMENT: Final = {
    "LC_ALL": "C.UTF-8",
    "MALLOC_ARENA_MAX": "1",  # else each thread reserves what would count as memory
    "ARROW_DEFAULT_MEMORY_POOL": "system",
    "ARROW_IO_THREADS": "1",
    "OMP_NUM_THREADS": "1",
}


class _Ended(Exception):
    """The process ended, or was ended, before its answer was whole; the message says why."""


def check_library(kind: str) -> None:
    """`MissingExtraError` where what reads files of this kind is not installed; nothing is imported."""
    for module, name, extra in LIBRARIES[kind]:
        try:
            found = importlib.util.find_spec(module.partition(".")[0])
        except ValueError:
            found = None
        if found is None:
            raise MissingExtraError(name, extra)


def read_foreign(
    kind: str,
    path: Path,
    columns: tuple[str, ...],
    start: int = 0,
    stop: int | None = None,
    *,
    seconds: float = InputSettings.reading_seconds,
    links: bool = True,
) -> Iterator[Row]:
    """The rows of a file of ``kind``, as its reader gives them; of Parquet a range can be read.

    A file that is one document and takes more than it may is a bad row; any other is a `DocumentError`.
    """
    read = 0
    try:
        request = {"ask": "rows", "columns": columns, "start": start, "stop": stop}
        for part in _asked(kind, path, request, seconds, links):
            for place, fields, problem in part:
                read += 1
                yield Row(place, fields, problem)
    except _Ended as ended:
        if kind in _WHOLE:
            yield bad_row("", str(ended))
            return
        after = f", after {read:,} {'messages' if kind == '.mbox' else 'rows'}" if read else ""
        raise DocumentError(f"{shown(path)}{after}: {ended}") from None


def columns_of(kind: str, path: Path, *, seconds: float = InputSettings.reading_seconds) -> list[str]:
    """The names of the columns of an Excel sheet or a Parquet file."""
    return [str(name) for name in _one(kind, path, "columns", seconds)]


def unseen_in(path: Path, *, seconds: float = InputSettings.reading_seconds) -> tuple[int, int, list[int]]:
    """Of an Excel workbook how many sheets it has, how many rows of the first are hidden, and the first of these."""
    sheets, count, first = _one(".xlsx", path, "unseen", seconds)
    return int(sheets), int(count), [int(row) for row in first]


def parquet_groups(path: Path, *, seconds: float = InputSettings.reading_seconds) -> list[tuple[int, int]]:
    """Rows and bytes of each row group."""
    return [(int(rows), int(size)) for rows, size in _one(".parquet", path, "groups", seconds)]


def _one(kind: str, path: Path, ask: str, seconds: float) -> list[Any]:
    try:
        return [each for part in _asked(kind, path, {"ask": ask}, seconds, True) for each in part]
    except _Ended as ended:
        raise DocumentError(f"{shown(path)}: {ended}") from None


def _asked(
    kind: str, path: Path, request: dict[str, Any], seconds: float, links: bool
) -> Iterator[list[Any]]:
    """What a process answers, part by part; it is kept for the next request when all was well, and ended otherwise."""
    check_library(kind)
    with os_errors("open", path):
        size = path.stat().st_size
    allowed = seconds * max(1, -(-size // PER_BYTES))
    request |= {
        "kind": kind,
        "path": os.path.abspath(path),
        "shown": str(path),
        "seconds": allowed,
        "links": links,
        "memory": MEMORY_LIMIT,
    }
    process = _taken()
    try:
        process.ask(request)
        while True:
            tag, *said = process.heard(allowed)
            if tag == "done":
                break
            if tag in ("rows", "answer"):
                yield said[0]
            else:
                _raise(tag, said)
    except _Ended:
        raise _Ended(process.why(allowed)) from None
    except GeneratorExit:
        process.end()
        raise
    except BaseException:
        process.end()
        raise
    if said[0]:
        _give_back(process)
    else:
        process.end()


def _raise(tag: str, said: list[Any]) -> None:
    if tag == "memory":
        raise _Ended
    if tag == "error" and said[0] in _ERRORS:
        raise _ERRORS[said[0]](*said[1])
    where = str(said[0]) if tag == "bug" else "an answer of no known kind"
    raise PubliusError(f"internal error: {where}. Please report it; no document text is shown")


# The process ----------------------------------------------------------------------------------------------


@final
class _Process:
    """A process that reads, for one request at a time."""

    def __init__(self) -> None:
        self.owner = os.getpid()
        self._late = self._full = False
        self._process = subprocess.Popen(  # noqa: S603  # our own interpreter on our own module
            command("publius.documents.parser"), cwd=os.sep, env=environment(**_ENVIRONMENT), close_fds=True,
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
        )  # fmt: skip

    def ask(self, request: dict[str, Any]) -> None:
        """Send a request; that nobody takes it is seen when the answer does not come."""
        with contextlib.suppress(BrokenPipeError):
            stdin = _pipe(self._process.stdin)
            stdin.write(json.dumps(request).encode() + b"\n")
            stdin.flush()

    def heard(self, seconds: float) -> list[Any]:
        """The next part of the answer; `_Ended` where it does not come."""
        (length,) = struct.unpack(">Q", self._read(8, seconds))
        if length > _FRAME:
            self._full = True
            raise _Ended
        try:
            part = json.loads(self._read(length, seconds).decode("utf-8", "surrogatepass"))
        except ValueError:
            raise _Ended from None
        if not isinstance(part, list) or not part:
            raise _Ended
        return part

    def _read(self, count: int, seconds: float) -> bytes:
        stdout = _pipe(self._process.stdout)
        data = bytearray()
        while len(data) < count:
            if not _comes(stdout.fileno(), _START + _PATIENCE * seconds):
                self._late = True
                raise _Ended
            found = os.read(stdout.fileno(), min(count - len(data), 2**20))
            if not found:
                raise _Ended
            data += found
        return bytes(data)

    def why(self, seconds: float) -> str:
        """Why it ended, for the curator; it is ended for good."""
        code = None
        if not (self._late or self._full):
            with contextlib.suppress(subprocess.TimeoutExpired):
                code = self._process.wait(_LAST_SECONDS)
        self.end()
        if self._late or (code is not None and -code in _SPENT):
            return (
                f"reading it takes more than {seconds:g} seconds of a processor, as files do that are made to keep it "
                "busy: save it as plain text, or give it longer with --reading-seconds"
            )
        return (
            f"reading it takes more than {MEMORY_LIMIT >> 20} MiB of memory, or ends in a crash, as with files that "
            "are damaged or made to fill the memory: save it as plain text"
        )

    def end(self) -> None:
        """End it, whatever it is doing."""
        if self.owner != os.getpid():  # a copy of the process that asked has no say over it
            return
        self._process.kill()
        for pipe in (self._process.stdin, self._process.stdout):
            if pipe is not None:
                with contextlib.suppress(OSError):
                    pipe.close()
        self._process.wait()


def _comes(descriptor: int, seconds: float) -> bool:
    """Whether something can be read within that time; always where the system cannot wait so."""
    if not hasattr(select, "poll"):
        return True
    poll = select.poll()
    poll.register(descriptor, select.POLLIN)
    return bool(poll.poll(seconds * 1_000))


def _pipe(end: IO[bytes] | None) -> IO[bytes]:
    if end is None:
        raise StorageError("the process that reads files has no standard input and output")
    return end


_idle: list[_Process] = []
_lock = threading.Lock()


def _taken() -> _Process:
    """A process that waits for work, or a new one."""
    with _lock:
        while _idle:
            process = _idle.pop()
            if process.owner == os.getpid():
                return process
            _forgotten.append(process)
    return _Process()


def _give_back(process: _Process) -> None:
    with _lock:
        if len(_idle) < _MOST_IDLE:
            _idle.append(process)
            return
    process.end()


_forgotten: list[_Process] = []
"""Those of the process that this one is a copy of: they are its own to end."""


@atexit.register
def _end_all() -> None:
    while _idle:
        _idle.pop().end()
