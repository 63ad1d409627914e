"""The process that reads foreign files: started by `publius.documents.foreign` and by nobody else.

A request is a line of JSON on standard input; what is found goes to standard output, a length and that much JSON at a
time. Before a file is opened the process limits itself: so much memory, so much time of a processor. The kernel ends
it when that is spent, whatever a library is doing, and also when whoever asked is gone.
"""

from __future__ import annotations

import contextlib
import importlib
import json
import os
import select
import signal
import struct
import sys
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any, BinaryIO, Final

from publius.documents.row_readers import Row
from publius.errors import MissingExtraError, PubliusError, place_of
from publius.files import shown

LIBRARIES: Final[Mapping[str, tuple[tuple[str, str, str], ...]]] = {
    ".docx": (("docx", "python-docx", "documents"),),
    ".pdf": (("pypdf", "pypdf", "documents"),),
    ".html": (("selectolax.lexbor", "selectolax", "documents"),),
    ".htm": (("selectolax.lexbor", "selectolax", "documents"),),
    ".xlsx": (("openpyxl", "openpyxl", "documents"), ("defusedxml", "defusedxml", "documents")),
    ".parquet": (("pyarrow.parquet", "pyarrow", "parquet"),),
    ".eml": (),
    ".mbox": (),
}
"""The modules that read a kind of file, with their names for people and the extra that brings them."""

_WANTED: Final = ("selectolax.lexbor", "charset_normalizer")
"""Modules that are used where they are there."""

_AT_ONCE: Final = 2**18  # characters of rows that are sent together
_GROWN: Final = 64 * 2**20  # bytes after which a fresh process is better
_ERROR: Final = "error"


def main() -> None:
    """Answer requests until there are none."""
    with contextlib.suppress(AttributeError, ValueError):
        signal.signal(signal.SIGINT, signal.SIG_IGN)  # whoever asked ends it
    out = os.fdopen(os.dup(1), "wb")
    nowhere = os.open(os.devnull, os.O_RDWR)
    os.dup2(nowhere, 1)  # a library that prints would break the answers, and quote what it reads
    loaded = set[str]()
    while line := sys.stdin.buffer.readline():
        request = json.loads(line)
        base = _load(request["kind"], loaded)
        with _ends_with_asker():
            stay = _answer(request, out)
        stay = stay and _size() - base < _GROWN
        _send(out, ["done", stay])
        if not stay:
            return


def _load(kind: str, loaded: set[str]) -> int:
    """Import what a kind of file takes, before anything is limited; the size of the process then."""
    for name in (*(each[0] for each in LIBRARIES[kind]), *_WANTED):
        if name not in loaded:
            with contextlib.suppress(ImportError):
                importlib.import_module(name)
            loaded.add(name)
    return _size()


def _size() -> int:
    """Bytes of address space that this process has; 0 where the system does not tell."""
    with contextlib.suppress(OSError, ValueError, IndexError):
        return int(Path("/proc/self/statm").read_text().split()[0]) * os.sysconf("SC_PAGE_SIZE")
    return 0


def _limit(seconds: float, memory: int) -> None:
    """So much more memory and time of a processor, and no core of what was read."""
    try:
        import resource
    except ImportError:  # Windows, which has no such limits: whoever asked waits for so long and no longer
        return
    used = resource.getrusage(resource.RUSAGE_SELF)
    spent = used.ru_utime + used.ru_stime
    signal.signal(signal.SIGPROF, signal.SIG_DFL)  # which ends it
    signal.setitimer(signal.ITIMER_PROF, seconds)  # to the millisecond
    _lower(
        resource.RLIMIT_CPU, int(spent + seconds) + 2
    )  # in whole seconds, whatever a library does to signals
    _lower(resource.RLIMIT_CORE, 0)
    if size := _size():
        _lower(resource.RLIMIT_AS, size + memory)


def _lower(what: int, value: int) -> None:
    import resource

    hard = resource.getrlimit(what)[1]
    resource.setrlimit(what, (value if hard == resource.RLIM_INFINITY else min(value, hard), hard))


@contextlib.contextmanager
def _ends_with_asker() -> Iterator[None]:
    """Let the kernel end this process when nobody holds the other end of standard input, however busy it is."""
    try:
        import fcntl

        flags = fcntl.fcntl(0, fcntl.F_GETFL)
        fcntl.fcntl(0, fcntl.F_SETOWN, os.getpid())
        fcntl.fcntl(0, fcntl.F_SETFL, flags | os.O_ASYNC)
    except (ImportError, AttributeError, OSError):
        yield
        return
    poll = select.poll()
    poll.register(0, 0)
    if any(event & select.POLLHUP for _, event in poll.poll(0)):
        sys.exit(1)
    try:
        yield
    finally:
        fcntl.fcntl(0, fcntl.F_SETFL, flags)


def _answer(request: Mapping[str, Any], out: BinaryIO) -> bool:
    """Send what was asked for; whether this process is as good as before."""
    path = Path(request["path"])
    name = str(path)
    try:
        with _held(path, links=request["links"]) as held:
            name = str(held)
            _limit(request["seconds"], request["memory"])
            for part in _ASKED[request["ask"]](held, request):
                _send(out, part)
        return True
    except MissingExtraError as error:
        _send(out, [_ERROR, type(error).__name__, list(error.__reduce__()[1])])
    except PubliusError as error:
        message = str(error).replace(shown(name), shown(request["shown"]))
        _send(out, [_ERROR, type(error).__name__, [message]])
    except MemoryError:
        _send(out, ["memory"])
        return False
    except Exception as error:
        _send(out, ["bug", place_of(error)])
        return False
    finally:
        _stop_timer()
    return True


def _stop_timer() -> None:
    """What comes after a file is not its own time."""
    with contextlib.suppress(AttributeError):  # Windows
        signal.setitimer(signal.ITIMER_PROF, 0)


@contextlib.contextmanager
def _held(path: Path, *, links: bool) -> Iterator[Path]:
    """The file under a name that stays this very file, whatever becomes of its path meanwhile."""
    from publius.files import storage_error
    from publius.files.reading import no_link

    try:
        held = (os.open if links else no_link)(path, os.O_RDONLY | getattr(os, "O_BINARY", 0))
    except OSError as error:
        raise storage_error("open", path, error) from None
    try:
        kept = Path(f"/proc/self/fd/{held}")
        yield kept if kept.exists() else path
    finally:
        os.close(held)


def _rows(path: Path, request: Mapping[str, Any]) -> Iterator[list[Any]]:
    from publius.documents import mail, office, row_readers

    readers: dict[str, Callable[..., Iterator[Row]]] = {
        ".docx": office.read_docx, ".pdf": office.read_pdf, ".html": office.read_html, ".htm": office.read_html,
        ".xlsx": office.read_xlsx, ".eml": mail.read_eml, ".mbox": mail.read_mbox,
        ".parquet": row_readers.read_parquet,
    }  # fmt: skip
    kind = request["kind"]
    part = (request["start"], request["stop"]) if kind == ".parquet" else ()
    held: list[list[Any]] = []
    size = 0
    for row in readers[kind](path, tuple(request["columns"]), *part):
        held.append([row.place, dict(row.fields), row.problem])
        size += sum(len(value) if isinstance(value, str) else 8 for value in row.fields.values()) + 32
        if size >= _AT_ONCE:
            yield ["rows", held]
            held, size = [], 0
    yield ["rows", held]


def _columns(path: Path, request: Mapping[str, Any]) -> Iterator[list[Any]]:
    from publius.documents import office, row_readers

    read = office.xlsx_header if request["kind"] == ".xlsx" else row_readers.parquet_columns
    yield ["answer", read(path)]


def _groups(path: Path, request: Mapping[str, Any]) -> Iterator[list[Any]]:
    from publius.documents.row_readers import parquet_groups

    yield ["answer", parquet_groups(path)]


def _unseen(path: Path, request: Mapping[str, Any]) -> Iterator[list[Any]]:
    from publius.documents.office import xlsx_unseen

    yield ["answer", xlsx_unseen(path)]


_ASKED: Final = {"rows": _rows, "columns": _columns, "groups": _groups, "unseen": _unseen}


def _send(out: BinaryIO, record: list[Any]) -> None:
    data = json.dumps(record, ensure_ascii=False).encode("utf-8", "surrogatepass")
    out.write(struct.pack(">Q", len(data)))
    out.write(data)
    out.flush()


if __name__ == "__main__":
    main()
