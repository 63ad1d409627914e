"""A corpus through `publius.releases.protect`, batch by batch, in order and in bounded memory.

A runner hands batches to one operation and yields its results in order. Each document's generator is derived from
the run key, so neither the runner, the number of its workers nor the batches change anything, and a run that was
killed goes on with the same noise.
"""

from __future__ import annotations

import itertools
import os
import shutil
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from contextlib import closing, nullcontext
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, final

from publius.accounting import Ledger
from publius.bag import Encoding, words_of
from publius.corpus import BadDocument, Corpus, Document
from publius.engines.bill import Bill
from publius.engines.journal import BAGS, Journal
from publius.engines.local import Batch, LocalRunner, Outcome
from publius.engines.working import Found, WorkingFolder, refuse_unfinished, working_folder
from publius.errors import DocumentError, UnknownWordError
from publius.files import new_folder, read_lines, write_file
from publius.records import import_parquet
from publius.releases import Plan, Release, Tally
from publius.rng import RunKey
from publius.writers import WRITERS, check_labels, json_line, release_of

BATCH_WORDS = 4096  # words searched together: enough for BLAS, 10 MB of noise at 300 dimensions

Progress = Callable[[int], None]


@final
@dataclass(frozen=True, slots=True)
class Summary:
    """What a run did, for the curator; not part of any release. ``found`` tells of a run that was resumed."""

    tally: Tally
    bad: tuple[BadDocument, ...]
    manifest: dict[str, Any]
    found: Found | None = None


def batches_of(items: Iterable[Document | BadDocument], size: int) -> Iterator[Batch]:
    """Consecutive lists of ``size`` items, the last one shorter."""
    iterator = iter(items)
    while batch := list(itertools.islice(iterator, size)):
        yield batch


def default_batch_size(plan: Plan) -> int:
    """Documents a batch: about `BATCH_WORDS` words."""
    return max(1, BATCH_WORDS // plan.size)


def shortest_length(corpus: Corpus, encoding: Encoding, vocabulary: Any, *, skip_bad: bool) -> int:
    """The number of words of the shortest readable document: the paper's N, taken from the documents.

    `DocumentError` when a document cannot be read (unless ``skip_bad``) or none can.
    """
    whole = replace(encoding, length=None)
    shortest: int | None = None
    for item in corpus:
        if isinstance(item, Document):
            try:
                count = len(words_of(item.text, vocabulary, whole).words)
            except UnknownWordError as error:
                item = BadDocument(item.position, item.id, str(error))
            else:
                if count:
                    shortest = count if shortest is None else min(shortest, count)
                    continue
                item = BadDocument(
                    item.position, item.id, "no word is left to protect: it has only stop words"
                )
        if not skip_bad:
            raise bad_document_error(item)
    if shortest is None:
        raise DocumentError("no document could be read, so there is no shortest one")
    return shortest


def bad_document_error(bad: BadDocument) -> DocumentError:
    """The error for a document that cannot be released: its position, id and reason, and the way out."""
    return DocumentError(f"{bad.error()}. Nothing was released; leave such documents out with --skip-bad")


def protect_corpus(
    corpus: Corpus,
    plan: Plan,
    output: Path,
    *,
    format: str = "jsonl",
    workers: int | None = None,
    runner: LocalRunner | None = None,
    batch_size: int | None = None,
    skip_bad: bool = False,
    resume: bool = False,
    ledger: Ledger | None = None,
    progress: Progress = lambda done: None,
    notice: Callable[[Found], None] = lambda found: None,
) -> Summary:
    """Release every document of ``corpus`` into the new folder ``output``: bags and manifest, or nothing.

    The folder appears at once, complete and flushed to the disk, or not at all. ``workers`` is the number of
    processes (default: one a processor, and this process alone for a small corpus); a ``runner`` that was started
    before, with the same plan, is used instead. ``batch_size`` documents are searched together (default: some
    4,096 words). With ``resume`` finished batches are kept in a working folder beside the output, so that the same
    call goes on after a kill; ``notice`` is told what it found. A ``ledger`` is debited for all documents, and their
    subjects, in one durable step before the folder appears. Raises `DocumentError` at the
    first document that cannot be read unless ``skip_bad``, and when no document is left; `BudgetError` when a budget
    would be overspent.
    """
    size = batch_size or default_batch_size(plan)
    job = _Job(plan, workers, runner, skip_bad, progress, Bill(ledger, plan))
    if resume:
        _check_format(format, plan)
        with working_folder(output, plan, corpus) as work:
            return _resumable(corpus, work, job, size, format, notice)
    refuse_unfinished(output)
    outcomes = job.outcomes(batches_of(corpus, size), plan.run_key())
    with closing(outcomes), new_folder(output) as folder:
        summary = _at_once(outcomes, folder, job, format)
        job.bill.pay(summary.bad)
    return summary


@final
@dataclass(frozen=True)
class _Job:
    """What stays the same for every batch of a run."""

    plan: Plan
    workers: int | None
    runner: LocalRunner | None
    skip_bad: bool
    progress: Progress
    bill: Bill

    def outcomes(self, batches: Iterator[Batch], key: RunKey) -> Generator[Outcome, None, None]:
        """The outcome of each batch, in order."""
        batches = self.bill.note(batches)
        first = list(itertools.islice(batches, 2))
        workers = self.workers or (1 if len(first) < 2 else os.cpu_count() or 1)
        own = LocalRunner(self.plan, key, workers) if self.runner is None else nullcontext(self.runner)
        with own as running:
            yield from running.run(itertools.chain(first, batches))

    def left_out(self, results: Sequence[Release | BadDocument]) -> list[BadDocument]:
        """The documents of a batch that cannot be released; `DocumentError` unless they are to be skipped."""
        bad = [result for result in results if isinstance(result, BadDocument)]
        if bad and not self.skip_bad:
            raise bad_document_error(bad[0])
        return bad


def _at_once(outcomes: Iterator[Outcome], folder: Path, job: _Job, format: str) -> Summary:
    tally, bad = Tally(), list[BadDocument]()
    plan = job.plan
    with WRITERS[format](folder, plan.mechanism.embeddings, plan.labels, plan.warning) as writer:
        for results, batch_tally in outcomes:
            tally += batch_tally
            bad += job.left_out(results)
            for release in _released(results):
                writer.write(release)
            job.progress(len(results))
    return Summary(tally, tuple(bad), _finish_folder(folder, plan, tally, bad))


def _resumable(
    corpus: Corpus, work: WorkingFolder, job: _Job, size: int, format: str, notice: Callable[[Found], None]
) -> Summary:
    if work.placed is not None:
        tally, bad = work.placed
        work.destroy()
        return Summary(tally, bad, job.plan.manifest(tally.documents), Found(tally.documents, len(bad)))
    with Journal(work.path) as journal:
        found = Found(journal.tally.documents, len(journal.bad), journal.torn_bytes) if work.resumed else None
        if found is not None:
            notice(found)
        _go_on(corpus, journal, work.key, job, size)
    tally, bad = journal.tally, tuple(journal.bad)
    with work.stage() as stage:
        _replay(journal.path, stage, job.plan, format)
        manifest = _finish_folder(stage, job.plan, tally, bad)
    job.bill.pay(bad, token=work.key.derive("ledger").hex())
    work.place(tally, bad)
    return Summary(tally, bad, manifest, found)


def _go_on(corpus: Corpus, journal: Journal, key: RunKey, job: _Job, size: int) -> None:
    """Release what is not in the journal yet, batch by batch into it."""
    job.left_out(journal.bad)
    job.progress(journal.items)
    items = iter(corpus)  # it compares ids with those passed over, too
    for _ in job.bill.note(batches_of(itertools.islice(items, journal.items), size), finished=True):
        pass
    embeddings = job.plan.mechanism.embeddings
    with closing(job.outcomes(batches_of(items, size), key)) as outcomes:
        for results, tally in outcomes:
            bad = job.left_out(results)
            lines = (json_line(release, embeddings) for release in _released(results))
            journal.append(len(results), lines, tally, bad)
            job.progress(len(results))


def _replay(bags: Path, folder: Path, plan: Plan, format: str) -> None:
    """The journal's releases as the output's file: the same file for JSON lines, without a copy where it can be."""
    if format == "jsonl":
        _link(bags, folder / BAGS)
        return
    with WRITERS[format](folder, plan.mechanism.embeddings, plan.labels, plan.warning) as writer:
        for _, line in read_lines(bags):
            writer.write(release_of(line, plan))


def _link(source: Path, target: Path) -> None:
    with open(target, "wb") as made:  # for the permissions that a new file gets
        mode = os.fstat(made.fileno()).st_mode & 0o777
    target.unlink()
    try:
        os.link(source, target)
    except OSError:
        shutil.copyfile(source, target)
    target.chmod(mode)


def _released(results: Iterable[Release | BadDocument]) -> Iterator[Release]:
    return (result for result in results if isinstance(result, Release))


def _check_format(format: str, plan: Plan) -> None:
    """What the writer would refuse at the end of a resumable run is refused at its beginning."""
    check_labels(plan.labels)
    if format == "parquet":
        import_parquet()


def _finish_folder(folder: Path, plan: Plan, tally: Tally, bad: Sequence[BadDocument]) -> dict[str, Any]:
    if not tally.documents:
        raise DocumentError(f"no document could be released: {len(bad)} could not be read")
    manifest = plan.manifest(tally.documents)
    _write_manifest(folder, manifest)
    return manifest


def _write_manifest(folder: Path, manifest: dict[str, Any]) -> None:
    import json

    with write_file(folder / "manifest.json") as file:
        file.write(json.dumps(manifest, indent=2, ensure_ascii=False, allow_nan=False).encode() + b"\n")
