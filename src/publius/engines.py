"""A corpus through `publius.releases.protect`, batch by batch, in order and in bounded memory.

A runner hands batches to one operation and yields its results in order; local processes are one runner. Each
worker opens the memory-mapped vectors itself, uses one BLAS thread, and derives each document's generator from the
run key, so neither the number of workers nor the batches change anything.
"""

from __future__ import annotations

import itertools
import multiprocessing
import os
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import nullcontext
from dataclasses import dataclass, replace
from pathlib import Path
from types import TracebackType
from typing import Any, Self, final

from publius.accounting import Charge, Ledger
from publius.bag import Encoding, words_of
from publius.corpus import BadDocument, Corpus, Document
from publius.errors import DocumentError, PubliusError, UnknownWordError, UsageError
from publius.files import new_folder, write_file
from publius.releases import Plan, Release, Tally, protect
from publius.rng import RunKey
from publius.writers import WRITERS

Batch = list[Document | BadDocument]
Outcome = tuple[list[Release | BadDocument], Tally]
Progress = Callable[[int], None]


@final
@dataclass(frozen=True, slots=True)
class Summary:
    """What a run did, for the curator; not part of any release."""

    tally: Tally
    bad: tuple[BadDocument, ...]
    manifest: dict[str, Any]


@final
class LocalRunner:
    """Runs `protect` on batches in this process or in ``workers`` processes of their own.

    A context manager: worker processes live as long as it does.
    """

    def __init__(self, plan: Plan, key: RunKey, workers: int = 1) -> None:
        self._plan, self._key, self._workers = plan, key, workers
        self._pool: ProcessPoolExecutor | None = None

    def __enter__(self) -> Self:
        if self._workers > 1:
            self._pool = ProcessPoolExecutor(
                self._workers,
                mp_context=multiprocessing.get_context("spawn"),
                initializer=_start_worker,
                initargs=(self._plan, self._key.expose(), self._key.seeded_run),
            )
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._pool is not None:
            self._pool.shutdown(wait=True, cancel_futures=True)
            self._pool = None

    def run(self, batches: Iterable[Batch]) -> Iterator[Outcome]:
        """The outcome of each batch, in order; at most a few batches are under way at once."""
        if self._pool is None:
            for batch in batches:
                yield _protect_batch(batch, self._plan, self._key)
            return
        waiting: deque[Future[Outcome]] = deque()
        try:
            for batch in batches:
                waiting.append(self._pool.submit(_work, batch))
                if len(waiting) > 2 * self._workers:
                    yield waiting.popleft().result()
            while waiting:
                yield waiting.popleft().result()
        except BrokenProcessPool:
            raise PubliusError(
                "a worker process died (was it out of memory?): nothing was released; try fewer --workers"
            ) from None


_worker: tuple[Plan, RunKey] | None = None


def _start_worker(plan: Plan, key: bytes, seeded: bool) -> None:
    global _worker
    from threadpoolctl import threadpool_limits

    threadpool_limits(1)
    plan.mechanism.threads = 1
    _worker = plan, RunKey(key, seeded_run=seeded)


def _work(batch: Batch) -> Outcome:
    if _worker is None:
        raise PubliusError("a worker was used before it was started")
    return _protect_batch(batch, *_worker)


def _protect_batch(batch: Batch, plan: Plan, key: RunKey) -> Outcome:
    outcomes, tally = protect([item for item in batch if isinstance(item, Document)], plan, key)
    released = iter(outcomes)
    return [item if isinstance(item, BadDocument) else next(released) for item in batch], tally


def batches_of(items: Iterable[Document | BadDocument], size: int) -> Iterator[Batch]:
    """Consecutive lists of ``size`` items, the last one shorter."""
    iterator = iter(items)
    while batch := list(itertools.islice(iterator, size)):
        yield batch


def batch_size(plan: Plan) -> int:
    """Documents a batch: about as many words as the mechanism likes to have together."""
    return max(1, plan.mechanism.batch_words // plan.size)


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


@final
class _Bill:
    """What the documents of a run cost: noted as they go by, refused early, debited as one before the release.

    It holds the ids of the run's documents and nothing else of them.
    """

    def __init__(self, ledger: Ledger, plan: Plan) -> None:
        plan.charges(ledger, ())  # refuses what no budget covers before any work is done
        self._ledger, self._plan = ledger, plan
        self._charges: dict[str, Charge] = {}

    def note(self, batches: Iterable[Batch]) -> Iterator[Batch]:
        """The same batches; `BudgetError` at the first with a document that has not enough left."""
        for batch in batches:
            documents = [item for item in batch if isinstance(item, Document)]
            new = self._plan.charges(self._ledger, [(_account(item), item.subject) for item in documents])
            self._ledger.admit(new)
            self._charges.update(zip([item.id for item in documents], new, strict=True))
            yield batch

    def leave_out(self, bad: Sequence[BadDocument]) -> None:
        """Nothing of these is released."""
        for item in bad:
            self._charges.pop(item.id or "", None)

    def pay(self) -> None:
        """Debit everything in one durable step, or nothing: `BudgetError`."""
        self._ledger.spend(self._charges.values())


def _account(document: Document) -> str:
    if document.account is None:
        raise UsageError(
            "a ledger charges documents by their ids, and numbered rows have none that last: name an id field"
        )
    return document.account


def protect_corpus(
    corpus: Corpus,
    plan: Plan,
    output: Path,
    *,
    format: str = "jsonl",
    workers: int | None = None,
    runner: LocalRunner | None = None,
    skip_bad: bool = False,
    ledger: Ledger | None = None,
    progress: Progress = lambda done: None,
) -> Summary:
    """Release every document of ``corpus`` into the new folder ``output``: bags and manifest, or nothing.

    The folder appears at once, complete and flushed to the disk, or not at all. ``workers`` is the number of
    processes (default: one a processor, and this process alone for a small corpus); a ``runner`` that was started
    before, with the same plan, is used instead. A ``ledger`` is debited for all documents, and their subjects, in
    one durable step before the folder appears. Raises `DocumentError` at the first document that cannot be read
    unless ``skip_bad``, and when no document is left; `BudgetError` when a budget would be overspent.
    """
    bill = None if ledger is None else _Bill(ledger, plan)
    batches = batches_of(corpus, batch_size(plan))
    batches = batches if bill is None else bill.note(batches)
    first = list(itertools.islice(batches, 2))
    if workers is None:
        workers = 1 if len(first) < 2 else os.cpu_count() or 1
    tally, bad = Tally(), list[BadDocument]()
    own = LocalRunner(plan, plan.run_key(), workers) if runner is None else nullcontext(runner)
    with new_folder(output) as folder, own as running:
        with WRITERS[format](folder, plan.mechanism.embeddings, plan.labels, plan.warning) as writer:
            for results, batch_tally in running.run(itertools.chain(first, batches)):
                tally += batch_tally
                _write(results, writer.write, bad, skip_bad=skip_bad)
                progress(len(results))
        if not tally.documents:
            raise DocumentError(f"no document could be released: {len(bad)} could not be read")
        manifest = plan.manifest(tally.documents)
        _write_manifest(folder, manifest)
        if bill is not None:
            bill.leave_out(bad)
            bill.pay()
    return Summary(tally, tuple(bad), manifest)


def _write(
    results: Sequence[Release | BadDocument],
    write: Callable[[Release], None],
    bad: list[BadDocument],
    *,
    skip_bad: bool,
) -> None:
    for result in results:
        if isinstance(result, Release):
            write(result)
        elif skip_bad:
            bad.append(result)
        else:
            raise bad_document_error(result)


def _write_manifest(folder: Path, manifest: dict[str, Any]) -> None:
    import json

    with write_file(folder / "manifest.json") as file:
        file.write(json.dumps(manifest, indent=2, ensure_ascii=False, allow_nan=False).encode() + b"\n")
