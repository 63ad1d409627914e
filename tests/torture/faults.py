"""One fault at a time: the k-th write, fsync, rename, open, close, mkdir or entropy request of an operation fails.

Every operation is run once to count its requests; then again for each request and each way in which it can fail.
Wanted: a typed error, the target whole or absent, what stood there before untouched, no temporary left behind.
"""

import builtins
import errno
import io
import os
import shutil
import tempfile
from collections import Counter
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from publius.audit.outcomes import Findings, violations
from publius.errors import StorageError
from publius.files import write_file
from publius.vectors.embeddings import Embeddings
from torture import bench

ERRORS = (errno.EIO, errno.ENOSPC, errno.EDQUOT, errno.EACCES)
_RECOVERABLE = ("open", "mkdir")  # a request that was not needed may fail, if all is there in the end
KINDS = ("open", "write", "close", "fsync", "rename", "mkdir", "entropy")


class Injector:
    """Counts requests by kind, and fails the one that is asked for."""

    def __init__(self, folder, kind=None, index=None, number=None):
        self.folder, self.kind, self.index, self.number = str(folder), kind, index, number
        self.seen = Counter()
        self.hit = False

    def step(self, kind, path=None):
        """One request; raises when it is the one. Those for paths elsewhere (of Python itself) do not count."""
        if path is not None and not os.path.abspath(os.fspath(path)).startswith(self.folder):
            return
        self.seen[kind] += 1
        if kind == self.kind and self.seen[kind] == self.index:
            self.hit = True
            raise OSError(self.number, os.strerror(self.number))

    @contextmanager
    def installed(self):
        """Put the faulty functions in place of the system's."""
        saved = [(module, name, getattr(module, name)) for module, name in _PATCHED]
        for module, name, genuine in saved:
            setattr(module, name, _WRAPPERS[name](self, genuine))
        try:
            yield self
        finally:
            for module, name, genuine in saved:
                setattr(module, name, genuine)


class _Stream:
    """A file opened for writing whose write and close are requests; a failed write leaves half of it."""

    def __init__(self, file, injector):
        self._file, self._injector = file, injector

    def write(self, data):
        try:
            self._injector.step("write")
        except OSError:
            self._file.write(data[: len(data) // 2])
            raise
        return self._file.write(data)

    def writelines(self, lines):
        for line in lines:
            self.write(line)

    def close(self):
        if not self._file.closed:
            self._file.close()
            self._injector.step("close")

    def __enter__(self):
        return self

    def __exit__(self, *error):
        self.close()

    def __getattr__(self, name):
        return getattr(self._file, name)


def _opened(injector, genuine):
    def faulty(file, mode="r", *rest, **named):
        writes = any(letter in mode for letter in "wax+")
        if not isinstance(file, int):
            injector.step("open", file)
        stream = genuine(file, mode, *rest, **named)
        return _Stream(stream, injector) if writes else stream

    return faulty


def _before(kind, *, named_by_path=False):
    def wrap(injector, genuine):
        def faulty(*arguments, **named):
            injector.step(kind, arguments[0] if named_by_path else None)
            return genuine(*arguments, **named)

        return faulty

    return wrap


_PATCHED = (
    (builtins, "open"),
    (io, "open"),
    (os, "fdopen"),
    (os, "open"),
    (os, "fsync"),
    (os, "replace"),
    (os, "rename"),
    (os, "mkdir"),
    (os, "urandom"),
)


def _os_open(injector, genuine):
    def faulty(path, flags, *rest, **named):
        injector.step("open", path)
        return genuine(path, flags, *rest, **named)

    return faulty


_WRAPPERS = {
    "open": lambda injector, genuine: (
        _os_open(injector, genuine) if genuine is _GENUINE_OS_OPEN else _opened(injector, genuine)
    ),
    "fdopen": _opened,
    "fsync": _before("fsync"),
    "replace": _before("rename", named_by_path=True),
    "rename": _before("rename", named_by_path=True),
    "mkdir": _before("mkdir", named_by_path=True),
    "urandom": _before("entropy"),
}
_GENUINE_OS_OPEN = os.open


class Release:
    """A corpus is released into a new folder."""

    def __init__(self, format, documents):
        self.format, self.documents = format, documents
        self.name = f"release as {format} of {documents} documents"

    def prepare(self, folder):
        bench.write_corpus(folder / "corpus.jsonl", self.documents)

    def run(self, folder):
        bench.obfuscate(folder / "corpus.jsonl", folder / "out", self.format)

    def whole(self, folder):
        return (folder / "out").exists() and bench.whole(folder / "out", self.format, self.documents)

    def untouched(self, folder):
        return not (folder / "out").exists()


class Save:
    """Embeddings are stored."""

    name = "store embeddings"

    def prepare(self, folder):
        pass

    def run(self, folder):
        bench.EMBEDDINGS.save(folder / "store")

    def whole(self, folder):
        if not (folder / "store").exists():
            return False
        Embeddings.open(folder / "store").verify()
        return True

    def untouched(self, folder):
        return not (folder / "store").exists()


class Replace:
    """A file that is there is replaced by a longer one."""

    name = "replace a file"
    old, new = b"before\n" * 10, b"after that\n" * 40

    def prepare(self, folder):
        (folder / "file").write_bytes(self.old)

    def run(self, folder):
        with write_file(folder / "file") as file:
            for start in range(0, len(self.new), 11):
                file.write(self.new[start : start + 11])

    def whole(self, folder):
        return (folder / "file").read_bytes() == self.new

    def untouched(self, folder):
        return (folder / "file").read_bytes() == self.old


def operations(documents):
    """What is tortured; the release in every format."""
    return [*(Release(format, documents) for format in bench.FORMATS), Save(), Replace()]


def torture_faults(least, documents=24):
    """At least ``least`` faults that hit, over all operations, kinds, places and errors."""
    hits, torn, silent, untyped, left = 0, [], [], [], []
    kinds = Counter()
    for operation in _endless(documents):
        for kind, index, number in _plans(operation):
            hit, outcome, found = _attempt(operation, kind, index, number)
            if not hit:
                continue
            hits, kinds[kind] = hits + 1, kinds[kind] + 1
            place = f"{operation.name}: {kind} {index}, {errno.errorcode[number]}"
            torn += [place] if found.torn else []
            silent += [place] if outcome is None and not (kind in _RECOVERABLE and found.whole) else []
            untyped += [f"{place}: {outcome!r}"] if outcome and not isinstance(outcome, StorageError) else []
            left += [f"{place}: {found.left}"] if found.left else []
        if hits >= least:
            break
    checks = (
        violations("faults: torn files", hits, len(torn)),
        violations("faults: silent successes", hits, len(silent)),
        violations("faults: untyped errors", hits, len(untyped)),
        violations("faults: temporaries left behind", hits, len(left)),
    )
    problems = (torn + silent + untyped + left)[:20]
    return Findings(checks, {"faults that hit": hits, "faults by kind": dict(kinds), "problems": problems})


def _endless(documents):
    while True:
        yield from operations(documents)
        documents *= 2


def _plans(operation):
    injector, outcome, _ = _attempt(operation)
    if outcome is not None:
        raise outcome
    for kind in KINDS:
        for index in range(1, injector.seen[kind] + 1):
            for number in ERRORS if injector.seen[kind] < 30 else ERRORS[:2]:
                yield kind, index, number


@dataclass(frozen=True)
class State:
    """What is there after a run: the target whole, or neither whole nor as before (torn), and temporaries."""

    whole: bool
    torn: bool
    left: list[str]


def _attempt(operation, kind=None, index=None, number=None):
    """The injector after the run, the error (None for success), and what is there."""
    folder = Path(tempfile.mkdtemp()).resolve()
    injector = Injector(folder, kind, index, number)
    try:
        operation.prepare(folder)
        outcome = None
        with injector.installed():
            try:
                operation.run(folder)
            except Exception as error:
                outcome = error
        whole = operation.whole(folder)
        state = State(whole, not whole and not operation.untouched(folder), bench.leftovers(folder))
        return injector if kind is None else injector.hit, outcome, state
    finally:
        shutil.rmtree(folder)
