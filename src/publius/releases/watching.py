"""Releasing what arrives in a folder: every file once, into a numbered folder of its own, whatever is killed when.

A file that is complete gets a number, which is on the disk before anything else happens. Then it goes the way of a
resumable run: key, draw, debit, place (`publius.releases.engines.run_folder`). That it has its place is noted between
the last step of that run and the end of its working folder, so at every instant one of three things is true: the number
is noted and nothing was drawn; a working folder holds the key, with which the same draw and the same debit are
finished; or the release is noted.

What is reported names files by their number. Which file has which number is in the record, ``files.jsonl``, in a folder
beside the output that only its owner can read.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack
from dataclasses import dataclass, replace
from pathlib import Path
from types import TracebackType
from typing import Any, Final, Literal, Self, final

from publius.documents.corpus import IS_LINK, open_corpus
from publius.documents.readers import kind_of_file
from publius.errors import BudgetError, DataError, DocumentError, PolicyError, PubliusError, StorageError
from publius.files import open_to_others, os_errors, shown, sync
from publius.files.arrivals import Arrivals, Stamp, stamp_of
from publius.files.record_lines import RecordLines
from publius.noise.randomness import RunKey
from publius.privacy.ledger import Ledger
from publius.releases.engines.run import check_presence, protect_once
from publius.releases.engines.run_folder import SUFFIX, give_up, has_its_place, own_folder, working_path
from publius.releases.plan import Plan
from publius.releases.preflight import look, published_ids
from publius.settings import RunSettings

What = Literal["released", "refused", "missing", "changed"]

RECORD: Final = "files.jsonl"
_BESIDE: Final = ".publius-watch"
_AGAIN: Final = 60.0
"""Seconds after which a file is tried again that the operating system refused."""


@final
@dataclass(frozen=True, slots=True)
class Event:
    """The fate of a file, by its number: it was released, was refused, is missing, or changed after its release.

    Attributes:
        number: of the file; its release is the folder of that number.
        what: what became of it.
        documents: how many were released.
        left_out: how many were left out.
        said: sentences for the curator.

    """

    number: int
    what: What
    documents: int = 0
    left_out: int = 0
    said: tuple[str, ...] = ()


@dataclass(slots=True)
class _File:
    number: int
    released: bool = False
    stamp: Stamp | None = None


def record_folder(output: Path) -> Path:
    """Where the record of a watch is kept: beside its output, its owner's only."""
    target = Path(os.path.realpath(output))
    return target.with_name(target.name + _BESIDE)


@final
class FolderWatch:
    """Releases each file that arrives in ``folder`` into ``output/NUMBER``, once; a context manager.

    ``plan`` and ``ledger`` are those of `publius.releases.engines.protect_corpus`, ``reading`` the options of
    `publius.documents.corpus.open_corpus`, ``settle`` as in `publius.files.arrivals.Arrivals`. A file whose name was
    released before is not released again, whatever is in it then. A symbolic link is refused unless ``reading`` says
    ``follow_links``: whoever may put a link there need not be allowed to read what it leads to.
    `UsageError` when another process watches for the same output, `PolicyError` for a plan under which words, or the
    values of a field, would decide what is released.
    """

    def __init__(
        self,
        folder: Path,
        output: Path,
        plan: Plan,
        ledger: Ledger,
        *,
        settle: float,
        run: RunSettings = RunSettings(),  # frozen
        reading: Mapping[str, Any] | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        check_presence(plan, skip_bad=True)
        _check_field(plan)
        plan.charges(ledger, ())
        self._output, self._plan, self._ledger, self._run = output, plan, ledger, run
        self._reading, self._clock = dict(reading or {}), clock
        self._links = bool(self._reading.get("follow_links", False))
        self._arrivals = Arrivals(folder, settle, clock)
        self._files: dict[str, _File] = {}
        self._refused: dict[str, tuple[Stamp, float]] = {}
        self._told: set[str] = set()
        self._next = 1

    @property
    def unsettled(self) -> int:
        """How many files the last look found that are not complete yet."""
        return self._arrivals.unsettled

    def __enter__(self) -> Self:
        with ExitStack() as held:
            beside = record_folder(self._output)
            held.enter_context(own_folder(beside))
            with os_errors("make the folder", self._output):
                self._output.mkdir(parents=True, exist_ok=True)
            self._record = held.enter_context(RecordLines(beside / RECORD))
            with os_errors("write", beside):
                sync(beside)
                sync(beside.parent)
            for line in self._record.kept:
                self._take_up(line)
            self._finish_placed()
            self._held = held.pop_all()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._held.close()

    def _take_up(self, line: dict[str, Any]) -> None:
        """A line of the record: a file got its number, or was released."""
        number, name, stamp = line["number"], line["name"], line.get("released")
        self._next = max(self._next, number + 1)
        file = self._files.setdefault(name, _File(number))
        if "released" in line:
            file.released, file.stamp = True, None if stamp is None else (stamp[0], stamp[1])

    def _finish_placed(self) -> None:
        """Note what had its place when the last process was killed, and remove the traces of what is noted."""
        kept = {path.name.removesuffix(SUFFIX) for path in self._output.glob(f"*{SUFFIX}")}
        for name, file in self._files.items():
            if _folder_name(file.number) not in kept:
                continue
            place = self._place(file.number)
            if not file.released and has_its_place(place):
                if place.exists():  # unless whoever waits for it has taken it away
                    open_to_others(place)
                self._note_released(name, file, None)
            if file.released:
                give_up(place)

    def look(self) -> Iterator[Event]:
        """Look once: release every complete file that has not been, in a random order, and say what became of each.

        What is refused is tried again when it has changed, after a minute where the operating system refused it, and
        by the next process. `StorageError` where the folder cannot be looked into.
        """
        complete = self._arrivals.look()
        order = (
            RunKey.fresh().rng("arrivals").permutation(len(complete))
        )  # that of names would tell whose is whose
        for path, stamp in (complete[place] for place in order):
            file = self._files.get(path.name)
            if file is None or not file.released:
                if (
                    self._is_due(path.name, stamp) and stamp_of(path) == stamp
                ):  # it may be written again by now
                    yield self._release(path, stamp, file or self._number(path.name))
            elif file.stamp not in (None, stamp) and path.name not in self._told:
                self._told.add(path.name)
                said = "it has changed since its release, which stays as it is: give a new text a name of its own"
                yield Event(file.number, "changed", said=(said,))
        yield from self._missing({path.name for path, _ in complete})

    def _is_due(self, name: str, stamp: Stamp) -> bool:
        before, again = self._refused.get(name, (None, 0.0))
        return before != stamp or self._clock() >= again

    def _missing(self, there: set[str]) -> Iterator[Event]:
        """Files with a number and no release that have gone; told once."""
        if self.unsettled:
            return
        for name, file in self._files.items():
            if not file.released and name not in there and name not in self._told:
                self._told.add(name)
                yield Event(file.number, "missing", said=("it is not there any more, and was not released",))

    def _number(self, name: str) -> _File:
        """A new file's number, durably."""
        file = _File(self._next)
        self._record.append({"number": file.number, "name": name})
        self._next += 1
        self._files[name] = file
        return file

    def _release(self, path: Path, stamp: Stamp, file: _File) -> Event:
        place = self._place(file.number)
        begun_before = os.path.lexists(working_path(place))
        try:
            if kind_of_file(path.name) is None:
                raise DataError("it is of no kind that can be read: see publius inspect")
            if path.is_symlink() and not self._links:
                raise DataError(IS_LINK)
            corpus = replace(open_corpus(path, **self._reading), links=self._links)
            ids = () if corpus.id_field is None else (published_ids(corpus.id_field),)
            warnings = (*ids, *look(corpus, self._plan).warnings())
            summary = protect_once(
                corpus, self._plan, place, self._run, ledger=self._ledger,
                placed=lambda: self._note_released(path.name, file, stamp),
            )  # fmt: skip
        except PubliusError as error:  # whatever is wrong with one file, the others go on
            if isinstance(error, (DocumentError, BudgetError)) and not begun_before:
                give_up(place)  # nothing was paid, so that it can be mended
            again = self._clock() + _AGAIN if isinstance(error, StorageError) else float("inf")
            self._refused[path.name] = (stamp, again)
            what: What = (
                "released" if file.released else "refused"
            )  # only traces could not be removed, or all
            return Event(file.number, what, said=(_without_name(str(error), path, file.number),))
        return Event(file.number, "released", summary.tally.documents, len(summary.bad), warnings)

    def _note_released(self, name: str, file: _File, stamp: Stamp | None) -> None:
        self._record.append({"number": file.number, "name": name, "released": stamp})
        file.released, file.stamp = True, stamp

    def _place(self, number: int) -> Path:
        return self._output / _folder_name(number)


def _check_field(plan: Plan) -> None:
    """`PolicyError` for a field: `obfuscate` refuses all rows for one value, here a file would be refused alone."""
    field = plan.mechanism.field
    if field is not None and plan.experiment is None:
        raise PolicyError(
            f"each file is released by itself, so one that is missing would tell what stands in {field!r}: gather the "
            "rows in one file and release them together with publius obfuscate"
        )


def _folder_name(number: int) -> str:
    return f"{number:08d}"


def _without_name(message: str, path: Path, number: int) -> str:
    """A file's name may hold a document's words; who keeps the record finds it by its number.

    One of no kind that can be read was not opened, and stands in no message; it may be a word of any.
    """
    if kind_of_file(path.name) is None:
        return message
    return message.replace(shown(path), f"file {number}").replace(path.name, f"file {number}")
