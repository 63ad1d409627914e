"""The files that were given to the explorer, in a private folder that goes when it ends, and the one run on them.

Of an explorer that was killed it goes when the next one starts: see `publius.files.private_folder`.
"""

from __future__ import annotations

import hashlib
import os
import shlex
import threading
import unicodedata
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import gettempdir
from typing import Any, BinaryIO, Final, Literal, final

from publius.documents.inspection import FORM, Inspection, inspect
from publius.documents.readers import READERS, UNNAMED, kind_of_file
from publius.errors import PubliusError, UsageError
from publius.evaluation.steps.older import SAMPLES
from publius.files import private, private_folder
from publius.noise.randomness import entropy
from publius.web.guards.limits import MOST_FILES
from publius.web.mechanism_cache import Cache
from publius.web.run import StepProgress, WorkflowProcess

Role = Literal["texts", "older"]
"""The texts to be released, or the public or older ones."""

_UNSAID: Final = {
    "encoding": "the table is not in UTF-8, and its letters alone propose an encoding, where one text must not decide "
    "how all are read: choose it in step 1",
    "quotes": "a text in the table opens a quotation mark that is not closed before a line that could be a row of its "
    "own, and one text must not decide where rows end, so somebody has to say what quotation marks are: choose it in "
    "step 1",
}


def check_form(found: Inspection) -> None:
    """`UsageError` where nobody has said how a table is written, and its texts propose it."""
    for name in found.guessed:
        if name in _UNSAID:
            raise UsageError(_UNSAID[name])


_UNSEEN: Final = frozenset({"Cc", "Cf", "Cs", "Zl", "Zp"})
"""Kinds of characters that end a line, or let a command look like another."""

_NAMES: Final = {"texts": "your texts", "older": "the public or older texts"}


@final
@dataclass(slots=True)
class Upload:
    """The files of one corpus: their own names for the page, names of ours on the disk, what was found in them.

    ``key`` is another one for other files: whoever was shown these says by it which ones he means.
    """

    role: Role
    folder: Path
    names: list[str] = field(default_factory=list)
    size: int = 0
    found: Inspection | None = None
    form: dict[str, Any] = field(default_factory=dict)
    packaged: bool = False
    key: str = field(default_factory=lambda: entropy(8).hex())
    _digest: tuple[str, str] = ("", "")

    @property
    def public(self) -> str:
        """The value for the answers of `publius start`."""
        return SAMPLES if self.packaged else str(self.path)

    @property
    def path(self) -> Path:
        """The file, or the folder of several."""
        return self.folder if len(self.names) > 1 else next(self.folder.iterdir())

    @property
    def digest(self) -> str:
        """Of the bytes of the files, in their order."""
        key, digest = self._digest
        if key != self.key:
            state = hashlib.blake2b(digest_size=16)
            for path in sorted(self.folder.iterdir()):
                with path.open("rb") as file:
                    state.update(hashlib.file_digest(file, "sha256").digest())
            self._digest = self.key, (digest := state.hexdigest())
        return digest

    @property
    def name(self) -> str:
        """The name that stands for it in commands and messages."""
        if len(self.names) != 1:
            return f"FOLDER-OF-{len(self.names)}-FILES"
        return f"./{self.names[0]}" if self.names[0].startswith("-") else self.names[0]

    @property
    def command(self) -> str:
        """The command that looks into it."""
        return shlex.join(["publius", "inspect", self.name])


@final
class Workplace:
    """The files of one curator. Safe in threads; `close` leaves nothing of the texts on the disk."""

    def __init__(self) -> None:
        """Nothing is given yet; the folder is made with the first file."""
        self._lock = threading.RLock()
        self._place: Path | None = None
        self._held = ExitStack()
        self.run_on: tuple[str, ...] = ()
        self._given: dict[Role, Upload] = {}
        self._count = 0
        self.run: WorkflowProcess | None = None
        self.plans = Cache(4)
        self._tries: dict[str, int] = {}

    @property
    def folder(self) -> Path:
        """The private folder, 0700."""
        with self._lock:
            if self._place is None:
                self._place = self._held.enter_context(private_folder(gettempdir()))
            return self._place

    def given(self, role: Role) -> Upload | None:
        """The corpus in this role, if there is one."""
        return self._given.get(role)

    def needed(self, role: Role) -> Upload:
        """The same; `UsageError` where it is missing."""
        found = self._given.get(role)
        if found is None:
            raise UsageError(f"{_NAMES[role]} are not here yet: choose a file")
        return found

    def check_shown(self, **keys: str | None) -> None:
        """`UsageError` unless the files of these roles are still those of the keys: others may be given since."""
        for role, key in keys.items():
            found = self._given.get(role)  # type: ignore[call-overload]  # the names are roles
            if key != (None if found is None else found.key):
                raise UsageError(
                    "other files were given meanwhile, perhaps in another window: open the page anew"
                )

    @property
    def tries(self) -> int:
        """By what the level of the next verdict on these public texts is divided, as in `ReleaseWorkflow.again_at`."""
        return self._tries.get(self._measured_on, 1)

    def tried(self, tries: int) -> None:
        """A verdict at this level was shown: the next one on the same texts, given again or not, is stricter."""
        self._tries[self._measured_on] = 2 * tries

    @property
    def _measured_on(self) -> str:
        older = self._given.get("older")
        return "" if older is None or older.packaged else older.digest

    @property
    def texts_read(self) -> tuple[str, ...]:
        """Which texts these are, and how they are read: another one for other texts."""
        corpus = self._given.get("texts")
        form = None if corpus is None or corpus.found is None else corpus.found.form
        return () if corpus is None else (corpus.key, str(form))

    def receive(self, name: str) -> tuple[Path, BinaryIO]:
        """A private file to write what is sent as ``name`` into; `UsageError` for a kind that cannot be read."""
        self._not_while_running()
        if any(unicodedata.category(character) in _UNSEEN for character in name):
            raise UsageError("the name of this file holds characters that nobody sees: rename it")
        suffix = _suffix(name)
        with self._lock:
            self._count += 1
            path = self.folder / f"{self._count:06}{suffix}"
        return path, open(path, "xb", opener=private)

    def keep(self, role: Role, name: str, path: Path, *, more: bool) -> Upload:
        """Take a file that has arrived, in place of those of this role or as one ``more`` of them."""
        self._not_while_running()
        with self._lock:
            corpus = self._given.get(role)
            if corpus is None or not more:
                self.forget(role)
                corpus = self._given[role] = Upload(role, self._new_folder(role))
            if len(corpus.names) >= MOST_FILES:
                raise UsageError(f"more than {MOST_FILES:,} files: use publius start on the command line")
            if corpus.names and not {_kind(name), _kind(corpus.names[0])} <= UNNAMED:
                raise UsageError(
                    "several files must be a document each (text, Word, PDF, HTML, mail): give one table"
                )
            corpus.size += path.stat().st_size
            path.rename(corpus.folder / path.name)
            corpus.names.append(name)
            corpus.found, corpus.key = None, entropy(8).hex()
            return corpus

    def take_samples(self) -> None:
        """Let the packaged texts be the public ones, to try with."""
        self.forget("older")
        self._given["older"] = Upload("older", self._new_folder("older"), [SAMPLES], packaged=True)

    def look(self, role: Role, **form: Any) -> Inspection:
        """Look into the files of a role, read as ``form`` says: see `publius.documents.inspection.inspect`."""
        corpus = self.needed(role)
        if self._running and corpus.found is not None and _as_read(corpus.found, form):
            return corpus.found
        self._not_while_running()
        if corpus.packaged:
            raise UsageError("the packaged texts are read as they are: choose a file to look into another")
        before, guessed = corpus.found, () if corpus.found is None else corpus.found.guessed
        corpus.found = self.named(lambda: inspect(corpus.path, **form))
        corpus.form = {
            name: form[name]
            for name in FORM
            if form.get(name)
            and (name in corpus.form or form[name] != getattr(before, name, None) or name in guessed)
        }
        return corpus.found

    def named(self, work: Callable[[], object]) -> Any:
        """The result of ``work``; errors name files as the curator does, not where they lie."""
        try:
            return work()
        except PubliusError as error:
            error.args = (self.shown(str(error)),)
            raise

    def shown(self, text: str) -> str:
        """``text`` with the names of the files in place of where they lie."""
        for corpus in self._given.values():
            for path in () if corpus.packaged else (corpus.path, corpus.folder):
                text = text.replace(str(path), corpus.name)
        return text

    def forget(self, role: Role) -> None:
        """Remove the files of a role."""
        import shutil

        self._not_while_running()
        with self._lock:
            corpus = self._given.pop(role, None)
            if corpus is not None:
                shutil.rmtree(corpus.folder)

    def begin(
        self,
        kind: str,
        stages: Sequence[StepProgress],
        facts: Mapping[str, Any],
        work: Callable[..., Any],
        arguments: Sequence[Any],
        shown: Callable[[Any], dict[str, Any]],
    ) -> None:
        """Start a run; `UsageError` while another is under way."""
        with self._lock:
            self._not_while_running()
            self.run = WorkflowProcess(kind, stages, facts, work, arguments, shown=shown, named=self.shown)
            self.run_on = self.texts_read

    def close(self) -> None:
        """Stop what runs, remove everything."""
        if self.run is not None:
            self.run.cancel()
            self.run.wait()
        with self._lock:
            self._given.clear()
            self._held.close()
            self._place = None

    def _new_folder(self, role: Role) -> Path:
        self._count += 1
        folder = self.folder / f"{role}-{self._count}"
        os.mkdir(folder, 0o700)
        return folder

    @property
    def _running(self) -> bool:
        return self.run is not None and self.run.is_running

    def _not_while_running(self) -> None:
        if self._running:
            raise UsageError("a run is under way on these files: wait for its end, or cancel it")


def _as_read(found: Inspection, form: Mapping[str, str | None]) -> bool:
    """Whether what is asked for is what was read: a page that is opened anew asks so."""
    return all(value in (None, getattr(found, name)) for name, value in form.items())


def _kind(name: str) -> str:
    return kind_of_file(name) or ""


def _suffix(name: str) -> str:
    kind = kind_of_file(name)
    if kind is None:
        raise UsageError(f"this kind of file cannot be read: choose one of {', '.join(sorted(READERS))}")
    return f"{kind}.gz" if name.lower().endswith(".gz") else kind
