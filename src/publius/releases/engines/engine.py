"""What every engine is given and what it ends with: a summary, a manifest, or the first document refused."""

from __future__ import annotations

import json
import os
import shutil
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, final

from publius.documents.corpus import BadDocument, Corpus
from publius.documents.shards import file_size
from publius.errors import DocumentError
from publius.files import write_file
from publius.releases.engines.charges import Bill
from publius.releases.engines.run_folder import Found, WorkingFolder
from publius.releases.plan import Plan
from publius.releases.release import Tally


@final
@dataclass(frozen=True, slots=True)
class Summary:
    """What a run did, for the curator; not part of any release. ``found`` tells of a run that was resumed."""

    tally: Tally
    bad: tuple[BadDocument, ...]
    manifest: dict[str, Any]
    found: Found | None = None


Progress = Callable[[int], None]

_REPAID: Final = 32
"""Bytes of corpus for each word of the vocabulary: with fewer, most rows of a prepared table would never be used."""


@final
@dataclass(frozen=True, slots=True)
class Request:
    """What an engine is asked for; ``notice`` is told what a resumed run found, ``progress`` how many are done."""

    corpus: Corpus
    plan: Plan
    batch_size: int
    skip_bad: bool
    bill: Bill
    progress: Progress
    notice: Callable[[Found], None]

    def prepare(self) -> None:
        """Let the mechanism prepare what workers share, if the corpus is large enough to repay it."""
        size = sum(map(file_size, self.corpus.paths))
        if size >= _REPAID * self.plan.mechanism.embeddings.size:
            self.plan.mechanism.prepare()


class AbstractEngine(ABC):
    """A way to run a corpus. To add one, write one class."""

    @abstractmethod
    def at_once(self, output: Path) -> Summary:
        """Release everything into the new folder ``output``, or nothing."""

    @abstractmethod
    def resumable(self, work: WorkingFolder) -> Summary:
        """The same with the key and the finished part of a working folder, which is kept when this fails."""


def left_out(results: Iterable[object], *, skip_bad: bool) -> list[BadDocument]:
    """The documents among ``results`` that cannot be released; `DocumentError` unless they are to be skipped."""
    bad = [result for result in results if isinstance(result, BadDocument)]
    if bad and not skip_bad:
        raise bad_document_error(bad[0])
    return bad


def bad_document_error(bad: BadDocument) -> DocumentError:
    """The error for a document that cannot be released: its position, id and reason, and the way out."""
    return DocumentError(f"{bad.error()}. Nothing was released; leave such documents out with --skip-bad")


def finish_folder(folder: Path, plan: Plan, tally: Tally, bad: Sequence[BadDocument]) -> dict[str, Any]:
    """Write the manifest beside the bags; `DocumentError` when there are none."""
    if not tally.documents:
        raise DocumentError(f"no document could be released: {len(bad)} could not be read")
    manifest = plan.manifest(tally.documents)
    _write_manifest(folder, manifest)
    return manifest


def _write_manifest(folder: Path, manifest: dict[str, Any]) -> None:
    with write_file(folder / "manifest.json") as file:
        file.write(json.dumps(manifest, indent=2, ensure_ascii=False, allow_nan=False).encode() + b"\n")


def link(source: Path, target: Path) -> None:
    """Give a private file a second name in a release, with a new file's permissions; a copy where that fails."""
    with open(target, "wb") as made:  # for the permissions that a new file gets
        mode = os.fstat(made.fileno()).st_mode & 0o777
    target.unlink()
    try:
        os.link(source, target)
    except OSError:
        shutil.copyfile(source, target)
    target.chmod(mode)
