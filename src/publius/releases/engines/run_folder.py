"""The working folder of an unfinished run: what a killed run needs to go on, beside its output and its owner's only.

It holds the run secret, a record of the public plan and of what the run reads, and the finished part. A run that cannot
be resumed holds it bare, as its claim on the output. It is there
while a resumable run is open and destroyed when the output has its place, the secret first. Documents are not
kept in it; a keyed digest tells whether the input is still the same, and means nothing without the secret.
"""

from __future__ import annotations

import contextlib
import dataclasses
import errno
import hashlib
import json
import math
import os
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final, final

from publius.documents.corpus import BadDocument, Corpus
from publius.documents.readers import WHOLE
from publius.documents.row_readers import FILE_LIMIT
from publius.errors import DataError, DocumentError, PolicyError, UsageError, how_many
from publius.files import (
    check_new_folder,
    make_parents,
    open_to_others,
    os_errors,
    place_folder,
    private,
    shown,
    sync,
    write_file,
)
from publius.files.placed import signals_wait
from publius.files.reading import is_packed, no_link
from publius.noise.randomness import RunKey
from publius.releases.plan import Plan
from publius.releases.release import Tally

SUFFIX: Final = ".publius-run"
_SECRET, _RECORD, _STAGE, _PLACING, _LOCK = "secret", "record.json", "release", "placing.json", "lock"
_BLOCK: Final = 2**20
_NO_LOCKS: Final = (errno.ENOTSUP, errno.ENOLCK, errno.EBADF)
"""What a network disk says that has no locks."""


def working_path(output: Path) -> Path:
    """Where an unfinished run of ``output`` is kept."""
    target = Path(os.path.realpath(output))
    return target.with_name(target.name + SUFFIX)


def refuse_unfinished(output: Path) -> None:
    """`UsageError` when an unfinished run of ``output`` is kept: a second one would draw a second time."""
    path = working_path(output)
    if os.path.lexists(path) and not _is_bare(path):
        raise UsageError(
            f"an unfinished run of {shown(output)} is kept in {shown(path)}: "
            "go on with --resume, or remove that folder to give it up"
        )


def _is_bare(path: Path) -> bool:
    """Whether a working folder holds nothing of a run: it is a claim, or a run was killed as it began."""
    try:
        return not path.is_symlink() and {entry.name for entry in path.iterdir()} <= {_LOCK}
    except OSError:
        return False


@contextlib.contextmanager
def claimed(output: Path) -> Iterator[None]:
    """``output`` for this run alone: a second one is refused before it draws or pays for anything.

    The claim is a bare working folder, held by a lock and gone with the block. A run that was killed leaves it without
    a holder, and the next run takes it over. `UsageError` where ``output`` is claimed, there already, or kept by a run
    that can be resumed.
    """
    path = working_path(output)
    refuse_unfinished(output)
    check_new_folder(output)
    with os_errors("make the folder", path):
        made = make_parents(path.parent)
        fresh = _made(path)
        for folder in (path, *made):
            sync(folder.parent)
    try:
        _check_owner(path)
        with _locked(path, fresh=fresh):
            try:
                refuse_unfinished(output)  # one that began meanwhile
                check_new_folder(output)  # or came to its end
                yield
            finally:
                with signals_wait(), contextlib.suppress(OSError):
                    (path / _LOCK).unlink(
                        missing_ok=True
                    )  # under the lock: nobody else can have taken it over
                    path.rmdir()
    finally:
        for folder in made:
            with contextlib.suppress(OSError):  # the release is in it, or what another run made
                folder.rmdir()


def _made(path: Path) -> bool:
    """Make a folder for this user's eyes; whether it was not there."""
    try:
        path.mkdir(0o700)
    except FileExistsError:
        return False
    return True


def has_its_place(output: Path) -> bool:
    """Whether a kept run of ``output`` was killed when that had its place, and only its traces were left."""
    path = working_path(output)
    return (path / _PLACING).exists() and not (path / _STAGE).exists()


def give_up(output: Path) -> None:
    """Remove what is kept of a run of ``output``, the secret first: of one that paid for nothing, or is at its end."""
    path = working_path(output)
    with os_errors("remove", path):
        if path.exists():
            _overwrite(path / _SECRET)
            shutil.rmtree(path)
            sync(path.parent)


@final
@dataclasses.dataclass(frozen=True, slots=True)
class ResumedWork:
    """The work of an interrupted run: finished documents, those left out, bytes cut off as unfinished."""

    documents: int
    left_out: int
    torn_bytes: int = 0

    def __str__(self) -> str:
        return (
            f"going on with an unfinished run: {how_many(self.documents, 'document was', 'documents were')} finished"
            + (f", {self.left_out:,} left out" if self.left_out else "")
            + (f"; {self.torn_bytes:,} bytes of an unfinished batch were cut off" if self.torn_bytes else "")
        )


@final
class WorkingFolder:
    """An open working folder: ``path``, the run's ``key``, and whether it was ``resumed``; see `working_folder`.

    ``placed`` is what was released when the output already has its place and only the folder is left to destroy.
    """

    def __init__(self, output: Path, plan: Plan, corpus: Corpus) -> None:
        self.output = output
        self.path = working_path(output)
        self._plan, self._corpus = plan, corpus
        self.placed = self._placed()
        self.resumed = (self.path / _RECORD).exists() or self.placed is not None
        if self.placed is None:
            self.key = self._kept_key() if self.resumed else self._begin()

    def _begin(self) -> RunKey:
        """Nothing was drawn here before: a fresh key, and last the record, so that a torn beginning is known."""
        try:
            check_new_folder(self.output)
        except UsageError:
            self._remove_if_empty()  # of a run that was killed between its last file and its folder
            raise
        _empty(self.path)
        key = self._plan.run_key()
        with write_file(self.path / _SECRET, 0o600) as file:
            file.write(key.expose())
        with write_file(self.path / _RECORD, 0o600) as file:
            file.write(json.dumps(self._record(key)).encode())
        return key

    def _remove_if_empty(self) -> None:
        with os_errors("remove", self.path):
            if {entry.name for entry in self.path.iterdir()} == {_LOCK}:
                (self.path / _LOCK).unlink()
                self.path.rmdir()

    def _kept_key(self) -> RunKey:
        """The kept run's key; refuses another plan, another way of reading, another input."""
        with os_errors("read", self.path):
            record = json.loads((self.path / _RECORD).read_bytes())
            if not (self.path / _SECRET).exists():
                raise DataError(f"{self._give_up()}: its secret is gone")
            key = RunKey((self.path / _SECRET).read_bytes(), seeded_run=self._plan.run_is_seeded)
        self._compare(record, self._record(key))
        if self._plan.run_is_seeded and self._plan.run_key().expose() != key.expose():
            raise UsageError(f"{self._give_up()}: it was started with another --seed")
        return key

    def _record(self, key: RunKey) -> dict[str, Any]:
        reading = {
            field.name: getattr(self._corpus, field.name)
            for field in dataclasses.fields(self._corpus)
            if field.name not in ("path", "paths", "left")
        }
        reading["left"] = [reason for _, reason in self._corpus.left]  # not the paths, which may hold words
        record = {
            "plan": self._plan.manifest(0),
            "reading": reading,
            "input": fingerprint(self._corpus, key.derive("input")),
        }
        return dict(json.loads(json.dumps(record)))

    def _compare(self, kept: dict[str, Any], asked: dict[str, Any]) -> None:
        for part in ("plan", "reading"):
            differing = sorted(
                name for name in {*kept[part], *asked[part]} if kept[part].get(name) != asked[part].get(name)
            )
            if differing:
                raise UsageError(
                    f"{self._give_up()}: it was started with another {', '.join(differing)}; "
                    "or repeat the call as it was"
                )
        if kept["input"] != asked["input"]:
            raise DocumentError(f"{self._give_up()}: the input is not what it was when the run was started")

    def _give_up(self) -> str:
        return (
            f"the unfinished run in {shown(self.path)} cannot go on (remove that folder to give it up: "
            "nothing of it was released)"
        )

    def _placed(self) -> tuple[Tally, tuple[BadDocument, ...]] | None:
        """The release, when the run was killed between placing its output and destroying this folder."""
        if not has_its_place(self.output):
            return None
        if not (self.output / "manifest.json").exists():
            raise DataError(
                f"{shown(self.output)} was taken away from an unfinished run: remove {shown(self.path)}"
            )
        with os_errors("read", self.path):
            kept = json.loads((self.path / _PLACING).read_bytes())
        return Tally(*kept["tally"]), tuple(BadDocument(*bad) for bad in kept["bad"])

    @contextlib.contextmanager
    def stage(self) -> Iterator[Path]:
        """An empty folder in which the output is put together."""
        stage = self.path / _STAGE
        with os_errors("write", stage):
            (self.path / _PLACING).unlink(
                missing_ok=True
            )  # first: without a stage it says that all is placed
            sync(self.path)
            shutil.rmtree(stage, ignore_errors=True)
            stage.mkdir(0o700)
            yield stage

    def place(self, tally: Tally, bad: tuple[BadDocument, ...]) -> None:
        """The stage becomes the output in one step; `destroy` is to follow."""
        notes = {"tally": dataclasses.astuple(tally), "bad": [dataclasses.astuple(item) for item in bad]}
        with write_file(self.path / _PLACING, 0o600) as file:
            file.write(json.dumps(notes).encode())
        place_folder(self.path / _STAGE, self.output)

    def destroy(self) -> None:
        """Overwrite and remove the secret, then the rest, and last what tells that the output has its place."""
        with os_errors("remove", self.path):
            open_to_others(self.output)  # a run may have been killed just before that
            _overwrite(self.path / _SECRET)
            _empty(self.path, last=_PLACING)
            self.path.rmdir()
            sync(self.path.parent)


@contextlib.contextmanager
def working_folder(output: Path, plan: Plan, corpus: Corpus) -> Iterator[WorkingFolder]:
    """The working folder of ``output``, made or found again, for this process alone.

    It stays when the block raises, so that the run can go on. `UsageError` when another process has it open, or it
    was kept for another plan or another way of reading; `DocumentError` when the input has changed; `PolicyError`
    when it is not this user's own; `DataError` when it is damaged.
    """
    path = working_path(output)
    if not os.path.lexists(path):
        check_new_folder(output)
    with own_folder(path):
        yield WorkingFolder(output, plan, corpus)


@contextlib.contextmanager
def own_folder(path: Path) -> Iterator[None]:
    """A folder for this user's eyes, made or found again, which only this process has while the block lasts."""
    with os_errors("make the folder", path):
        path.parent.mkdir(parents=True, exist_ok=True)
        _made(path)
    _check_owner(path)
    with _locked(path):
        yield


def _at_work(path: Path) -> UsageError:
    return UsageError(f"another process is at work in {shown(path)}: wait for it")


def _check_owner(path: Path) -> None:
    if sys.platform == "win32":
        return
    with os_errors("open", path):
        try:
            state = path.lstat()
        except FileNotFoundError:  # who held it has just come to an end
            raise _at_work(path) from None
    if path.is_symlink() or not path.is_dir() or state.st_uid != os.geteuid() or state.st_mode & 0o077:
        raise PolicyError(
            f"{shown(path)} must be a folder that is yours and that only you can read, for it holds what must not "
            "leave: remove it, or choose another output"
        )


@contextlib.contextmanager
def _locked(path: Path, *, fresh: bool | None = None) -> Iterator[None]:
    """Held by one process; the operating system lets go of it when the process ends, however it ends.

    Where there are no such locks it is enough that this process has made the folder (``fresh``), if that is known.
    """
    if sys.platform == "win32" and fresh is not None:
        _check_fresh(path, fresh=fresh)
        yield
        return
    at_work = _at_work(path)
    with os_errors("open", path), contextlib.ExitStack() as held:
        try:
            lock = held.enter_context(open(path / _LOCK, "ab", opener=private))
            if sys.platform != "win32":
                import fcntl

                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                if not os.path.samestat(os.fstat(lock.fileno()), (path / _LOCK).stat()):
                    raise at_work  # who held it has removed it, and a third one has made another
        except (BlockingIOError, FileNotFoundError):
            raise at_work from None
        except OSError as error:
            if error.errno not in _NO_LOCKS or fresh is None:
                raise
            _check_fresh(path, fresh=fresh)
        yield


def _check_fresh(path: Path, *, fresh: bool) -> None:
    if not fresh:
        raise UsageError(
            f"another process is at work in {shown(path)}, or one that was killed has left it: remove that folder once "
            "none is at work"
        )


def fingerprint(corpus: Corpus, key: bytes) -> str:
    """A keyed digest of the files' contents, in order, with their lengths: worthless to who has not the key.

    Of a file that is one document, and too large for one, what tells that it is is enough: it may be of any size.
    """
    whole = hashlib.blake2b(key=key)
    for number, path in enumerate(corpus.paths):
        one, left = hashlib.blake2b(key=key), math.inf
        if corpus.kind_at(number) in WHOLE and not is_packed(path, links=corpus.links):
            left = FILE_LIMIT + 1
        opener = None if corpus.links else no_link
        with os_errors("read", path), open(path, "rb", opener=opener) as file:
            while left > 0 and (block := file.read(_BLOCK)):
                one.update(block)
                left -= len(block)
        whole.update(one.digest())
    return whole.hexdigest()


def _overwrite(path: Path) -> None:
    """Remove a secret, its bytes overwritten first where the disk does so in place."""
    if path.exists():
        with open(path, "r+b") as file:
            file.write(bytes(path.stat().st_size))
            file.flush()
            os.fsync(file.fileno())
        path.unlink()
        sync(path.parent)


def _empty(folder: Path, last: str | None = None) -> None:
    """Remove what is in ``folder`` but the lock that is held; ``last`` after all else, with the lock."""
    entries = [entry for entry in folder.iterdir() if entry.name not in (_LOCK, last)]
    for entry in entries:
        if entry.is_dir() and not entry.is_symlink():
            shutil.rmtree(entry)
        else:
            entry.unlink()
    if last is not None:
        sync(folder)
        (folder / _LOCK).unlink(missing_ok=True)
        (folder / last).unlink(missing_ok=True)
