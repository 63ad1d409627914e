"""The one protocol of engines: what each is given, and what it gives back. To add an engine, write one class."""

from __future__ import annotations

import itertools
import os
import shutil
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType
from typing import Any, ClassVar, Final, final

from publius.documents.corpus import BadDocument, Corpus
from publius.errors import DocumentError
from publius.files import private, write_file
from publius.files.progress import Advance
from publius.noise.randomness import RunKey
from publius.privacy.promise import crowd_promise
from publius.releases.contents import FILES
from publius.releases.digests import file_digests
from publius.releases.engines.charges import Charges
from publius.releases.engines.run_folder import ResumedWork
from publius.releases.manifests import manifest_bytes
from publius.releases.metadata import write_metadata
from publius.releases.plan import AS_READ, SHUFFLED, Plan
from publius.releases.read_me import READ_ME, label_counts, read_me
from publius.releases.release import Tally
from publius.text.bag import Encoding


@final
@dataclass(frozen=True, slots=True)
class RunSummary:
    """The summary of a run, for the curator; not part of any release. ``found`` tells of a run that was resumed."""

    tally: Tally
    bad: tuple[BadDocument, ...]
    manifest: dict[str, Any]
    found: ResumedWork | None = None


_REPAID: Final = 5
"""Words drawn for each word of the vocabulary: with fewer, most rows of a prepared table would never be used."""


@final
@dataclass(frozen=True, slots=True)
class Job:
    """A job for an engine; ``notice`` is told what a person should know, ``progress`` how many are done.

    ``losing`` is told how many of how many documents are left out before anything has its place, and may refuse.
    ``state`` is that of the corpus before any of it was read.
    """

    corpus: Corpus
    state: tuple[tuple[int, ...], ...]
    plan: Plan
    format: str
    batch_size: int
    skip_bad: bool
    charges: Charges
    progress: Advance
    notice: Callable[[str], None]
    losing: Callable[[int, int], None]
    metadata: bool = False

    def prepare(self) -> None:
        """Let the mechanism prepare what workers share, if there are documents enough to repay it.

        Their number is public; the size of the input is not, and that something was prepared is seen on the disk.
        """
        mechanism = self.plan.mechanism
        if mechanism.is_prepared:
            return
        needed = _REPAID * self.plan.vocabulary.size // self.plan.size
        known = self.corpus.count_hint
        if (sum(1 for _ in itertools.islice(self.corpus, needed)) if known is None else known) >= needed:
            mechanism.prepare()


@final
@dataclass(frozen=True, slots=True)
class EngineResult:
    """The result of an engine: counts, the documents left out, and what it found of an interrupted run.

    Who has written all at once knows how often each of the ``labels`` is printed, and the ``digests`` of files.
    """

    tally: Tally
    bad: tuple[BadDocument, ...]
    found: ResumedWork | None = None
    labels: Mapping[str, int] | None = None
    digests: Mapping[str, str] = field(default_factory=dict)


class AbstractEngine(ABC):
    """A way to do the work of a run: local processes, a cluster.

    Attributes:
        formats: the file formats it can write, the usual one first.
        numbers: how documents without ids of their own are numbered: `SHUFFLED` or `AS_READ`.

    """

    formats: ClassVar[tuple[str, ...]]
    numbers: ClassVar[str] = AS_READ

    @abstractmethod
    def release(self, job: Job, key: RunKey, folder: Path, kept: Path | None) -> EngineResult:
        """Write the release of every document of ``job`` into ``folder``, which is empty, and say what was done.

        Each document goes through `protect` with ``key``, so that every engine gives the same bags; what is written
        depends on public numbers and on the bags alone. Documents are noted in ``job.charges`` as they go by.
        ``kept`` is a private folder in which a run that can be resumed keeps what is finished, and finds what an
        interrupted one finished; None when nothing is to be kept. Raises `DocumentError` at the first document that
        cannot be released, unless ``job.skip_bad``.
        """


def left_out(bad: Sequence[BadDocument], job: Job) -> Sequence[BadDocument]:
    """``bad``, documents that cannot be released; `DocumentError` unless ``job`` skips them."""
    if bad and not job.skip_bad:
        raise bad_document_error(bad[0], job.plan.encoding)
    return bad


def bad_document_error(bad: BadDocument, encoding: Encoding) -> DocumentError:
    """The error for a document that cannot be released: its position and reason, and the way out."""
    way_out = "" if encoding.unknown == "reject" else "; leave such documents out with --skip-bad"
    return DocumentError(f"{bad.error()}. Nothing was released{way_out}").of(bad.id)


def finish_folder(
    folder: Path,
    plan: Plan,
    documents: int,
    missing: int = 0,
    numbers: str | None = None,
    *,
    metadata: bool = False,
    labels: Mapping[str, int] | None = None,
    digests: Mapping[str, str] = MappingProxyType({}),
) -> dict[str, Any]:
    """Write the manifest beside the bags, with the digest of each file; `DocumentError` when there are none.

    ``numbers`` says how documents without ids of their own are numbered; with ``metadata`` the folder says what it is
    to data tools, too. The bags are read for what is not known of them: see `EngineResult`. Nothing is flushed to the
    disk yet: who gives the folder its place flushes all of it.
    """
    if not documents:
        raise DocumentError(f"no document could be released: {missing} could not be read")
    numbered = {"numbers": numbers} if numbers else {}
    facts = {**plan.manifest(documents, missing, numbers), **numbered}
    if numbers == SHUFFLED and (crowd := plan.crowd(documents)):
        facts |= {"crowd": crowd.as_json, "promise": f"{facts['promise']} {crowd_promise(crowd)}"}
    with write_file(folder / READ_ME, 0o600, durable=False) as file:
        file.write(read_me(facts, label_counts(folder) if labels is None else labels).encode())
    manifest = {**facts, FILES: file_digests(folder, digests)}
    with write_file(folder / "manifest.json", 0o600, durable=False) as file:
        file.write(manifest_bytes(manifest))
    if metadata:
        write_metadata(folder, manifest)
    return manifest


def link(source: Path, target: Path) -> None:
    """Give a private file a second name; a copy, as private, where that fails."""
    try:
        os.link(source, target)
    except OSError:
        with open(target, "xb", opener=private) as copy, open(source, "rb") as file:
            shutil.copyfileobj(file, copy)
