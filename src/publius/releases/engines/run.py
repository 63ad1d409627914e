"""A corpus through `protect`, batch by batch, in bounded memory, on the engine that was chosen.

Every engine hands batches to one operation. Each document's generator is derived from the run key, so neither the
engine, the number of its workers nor the batches change anything, and a run that was killed goes on with the same
noise.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

from publius.documents.corpus import BadDocument, Corpus, Document
from publius.errors import DocumentError, UnknownWordError, UsageError
from publius.privacy.ledger import Ledger
from publius.releases.engines.charges import Bill
from publius.releases.engines.engine import AbstractEngine, Progress, Request, Summary, bad_document_error
from publius.releases.engines.local import LocalEngine
from publius.releases.engines.run_folder import Found, WorkingFolder, refuse_unfinished, working_folder
from publius.releases.engines.worker_pool import LocalRunner
from publius.releases.plan import Plan
from publius.releases.protect import NO_WORDS
from publius.releases.release import Tally
from publius.releases.writers import WRITERS, Layout
from publius.text.bag import Encoding, words_of

ENGINES: Final = ("local", "spark")


def default_batch_size(plan: Plan) -> int:
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
                item = BadDocument(item.position, item.id, NO_WORDS)
        if not skip_bad:
            raise bad_document_error(item)
    if shortest is None:
        raise DocumentError("no document could be read, so there is no shortest one")
    return shortest


def protect_corpus(
    corpus: Corpus,
    plan: Plan,
    output: Path,
    *,
    format: str | None = None,
    engine: str = "local",
    master: str | None = None,
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

    The folder appears at once, complete and flushed to the disk, or not at all. The ``engine`` "local" writes
    ``format`` (default: jsonl) in this process, or in ``workers`` processes unless the corpus is small, or with a
    ``runner`` that was started before with the same plan. (Worker processes import the main script again: guard it
    with ``if __name__ == "__main__"``.) The ``engine`` "spark" writes
    Parquet through the cluster at ``master`` (default: this machine). ``batch_size`` documents are searched together
    (default: as many as suit the mechanism).

    With ``resume`` what is finished is kept in a working folder beside the output, so that the same call goes on
    after a kill; ``notice`` is told what it found. A ``ledger`` is debited for all documents, and their subjects, in
    one durable step before the folder appears. Raises `DocumentError` at the first document that cannot be read
    unless ``skip_bad``, and when no document is left; `BudgetError` when a budget would be overspent.
    """
    if engine not in ENGINES:
        raise UsageError(f"no engine is called {engine!r}: choose one of {', '.join(ENGINES)}")
    if tuple(corpus.keep) != plan.labels:
        raise UsageError("the corpus keeps other fields than the plan's labels: give both the same")
    if runner is not None and runner.plan is not plan:
        raise UsageError("the runner was started with another plan: start one with this plan")
    if format is not None and format not in WRITERS:
        raise UsageError(f"no format is called {format!r}: choose one of {', '.join(WRITERS)}")
    WRITERS[format or "jsonl"].check(Layout.of(plan))  # names that clash, order without room: before any work
    request = Request(
        corpus, plan, batch_size or default_batch_size(plan), skip_bad, Bill(ledger, plan), progress, notice
    )
    chosen = _engine(engine, request, format, master, workers, runner)
    if resume:
        with working_folder(output, plan, corpus) as work:
            return chosen.resumable(work) if work.placed is None else _already_placed(work, plan)
    refuse_unfinished(output)
    return chosen.at_once(output)


def _engine(
    name: str,
    request: Request,
    format: str | None,
    master: str | None,
    workers: int | None,
    runner: LocalRunner | None,
) -> AbstractEngine:
    if name == "local":
        if master is not None:
            raise UsageError("a master belongs to Spark: choose the engine spark with it")
        return LocalEngine(request, format or "jsonl", 1 if workers is None else workers, runner)
    if format not in (None, "parquet"):
        raise UsageError(
            f"Spark writes Parquet, not {format}: leave out the format, or choose the engine local"
        )
    from publius.releases.engines.cluster import ClusterEngine
    from publius.releases.engines.spark import SparkRunner

    return ClusterEngine(request, SparkRunner(master, workers))


def _already_placed(work: WorkingFolder, plan: Plan) -> Summary:
    """A run that was killed when only its working folder was left to destroy."""
    tally, bad = work.placed or (Tally(), ())
    work.destroy()
    return Summary(tally, bad, plan.manifest(tally.documents), Found(tally.documents, len(bad)))
