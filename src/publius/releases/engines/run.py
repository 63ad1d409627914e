"""A corpus through `protect`, batch by batch, in bounded memory, on the engine that was chosen.

Every engine hands batches to one operation. Each document's generator is derived from the run key, so neither the
engine, the number of its workers nor the batches change anything, and a run that was killed goes on with the same
noise.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from itertools import islice
from pathlib import Path
from typing import Any, Final

from publius.documents.corpus import BadDocument, Corpus, Document
from publius.errors import DocumentError, PolicyError, StorageError, UnknownWordError, UsageError, how_many
from publius.files import new_folder, remove_leftovers, shown
from publius.files.placed import note_release, signals_wait
from publius.files.progress import Advance, unheard
from publius.privacy.ledger import Ledger
from publius.releases.engines.charges import Charges
from publius.releases.engines.engine import (
    AbstractEngine,
    EngineResult,
    Job,
    RunSummary,
    bad_document_error,
    finish_folder,
)
from publius.releases.engines.local import LocalEngine
from publius.releases.engines.run_folder import ResumedWork, WorkingFolder, claimed, working_folder
from publius.releases.engines.worker_pool import Batch, LocalRunner, batches_of
from publius.releases.layout import Layout
from publius.releases.plan import Plan
from publius.releases.release import Tally
from publius.releases.writers import WRITERS
from publius.settings import RunSettings
from publius.text.bag import Encoding, words_of

ENGINES: Final = ("local", "spark")

_LOG: Final = logging.getLogger("publius.releases")


def default_batch_size(plan: Plan) -> int:
    """Documents a batch: about as many words as the mechanism likes to have together."""
    return plan.mechanism.batch_size()


def shortest_length(corpus: Corpus, encoding: Encoding, vocabulary: Any, *, skip_bad: bool) -> int:
    """The number of words of the shortest document that has any: the paper's N, taken from the documents.

    `DocumentError` when a document cannot be read (unless ``skip_bad``), or none has a word.
    """
    whole = replace(encoding, length=None)
    counts = (_length(item, vocabulary, whole, skip_bad=skip_bad) for item in corpus)
    shortest = min(filter(None, counts), default=None)
    if shortest is None:
        raise DocumentError("every document is empty, so there is no shortest one: give a number")
    return shortest


def _length(item: Document | BadDocument, vocabulary: Any, encoding: Encoding, *, skip_bad: bool) -> int:
    """Words of a document; 0 for one without words, or that is to be skipped: neither has a say."""
    if isinstance(item, Document):
        try:
            return len(words_of(item.text, vocabulary, encoding).words)
        except UnknownWordError as error:
            item = BadDocument(item.position, item.id, str(error))
    if not skip_bad:
        raise bad_document_error(item, encoding)
    return 0


def protect_corpus(
    corpus: Corpus,
    plan: Plan,
    output: Path,
    run: RunSettings = RunSettings(),  # frozen
    *,
    runner: LocalRunner | None = None,
    ledger: Ledger | None = None,
    progress: Advance = unheard,
    notice: Callable[[str], None] = lambda text: None,
    losing: Callable[[int, int], None] = lambda lost, documents: None,
    **options: Any,
) -> RunSummary:
    """Release every document of ``corpus`` into the new folder ``output``: bags and manifest, or nothing.

    ``options`` are those of `publius.settings.RunSettings`, by name, on top of ``run``. The folder appears at once,
    complete and flushed to the disk, or not at all. The ``engine`` "local" writes ``format`` (default: jsonl) in this
    process, or in ``workers`` processes unless the corpus is small, or with a ``runner`` that was started before with
    the same plan. (Worker processes import the main script again: guard it with ``if __name__ == "__main__"``.) The
    ``engine`` "spark" writes Parquet through the cluster at ``master`` (default: this machine). It may also be an
    `AbstractEngine` of your own. ``batch_size`` documents are searched together (default: as many as suit the
    mechanism).

    With ``resume`` what is finished is kept in a working folder beside the output, so that a rerun resumes
    after a kill. What a killed run left otherwise is removed. ``notice`` is told of both in a sentence. The output is
    claimed before anything is drawn, so that of two runs with one output the second is refused and pays nothing.
    ``losing`` is told how many of how many documents are left out, before anything is debited, and may raise. A
    ``ledger`` is debited for all documents, and their subjects, in one durable step before the folder appears. Raises
    `DocumentError` at the first document that cannot be read unless ``skip_bad``, and when no document is left;
    `BudgetError` when a budget would be overspent; `PolicyError` for ``skip_bad`` where a document's words would
    decide whether it is released.
    """
    run = replace(run, **options)
    chosen = engine_of(run.engine, run.master, run.workers, runner)
    job = _job(corpus, plan, run, chosen, ledger, progress, notice, losing)
    for left in remove_leftovers(output):
        notice(f"removed {shown(left)}, which a run that was killed left behind; nothing of it was released")
    if run.resume:
        return _to_the_end(chosen, job, output)
    return _at_once(chosen, job, output)


@contextmanager
def started_early(
    corpus: Corpus, plan: Plan, run: RunSettings, *, forked: bool = False
) -> Iterator[LocalRunner | None]:
    """The runner of `protect_corpus`, whose processes start while its caller looks at the first documents.

    A program of ours may have them ``forked``: see `WorkerPool`.

    None where the run will have no processes, which its number of documents decides, and where they have to wait for
    what the mechanism prepares.
    """
    workers, size = run.workers or 1, run.batch_size or default_batch_size(plan)
    if run.engine != "local" or workers < 2 or not plan.mechanism.is_prepared:
        yield None
        return
    first = _first_of(corpus, size)
    if first is None:
        yield None
        return
    with LocalRunner(plan, workers, forked=forked) as runner:
        runner.start(first)
        yield runner


def _first_of(corpus: Corpus, size: int) -> Batch | None:
    """The first batch of more than ``size`` documents; None where there are no more, or they cannot be read.

    That is said later.
    """
    items = iter(corpus)
    try:
        first = next(batches_of(items, size))
        rest = size + 1 - len(first)
        return first if sum(1 for _ in islice(items, rest)) == rest else None
    except (DocumentError, StorageError):
        return None


def protect_once(
    corpus: Corpus,
    plan: Plan,
    output: Path,
    run: RunSettings,
    *,
    ledger: Ledger,
    placed: Callable[[], None],
    notice: Callable[[str], None] = lambda text: None,
) -> RunSummary:
    """`protect_corpus` with ``resume`` for a caller that keeps a record of its own of many outputs.

    ``placed`` is called when the output has its place and before what tells so is destroyed: a record that is made
    there is right at every instant, and a crash just before it is made good by the same call.
    """
    engine = LocalEngine()
    return _to_the_end(
        engine, _job(corpus, plan, run, engine, ledger, lambda done: None, notice), output, placed
    )


def _job(
    corpus: Corpus, plan: Plan, run: RunSettings, engine: AbstractEngine, ledger: Ledger | None, progress: Advance,
    notice: Callable[[str], None], losing: Callable[[int, int], None] = lambda lost, documents: None,
) -> Job:  # fmt: skip
    """The job for ``engine``, after a look at everything that can be refused before any work."""
    state = corpus.state()
    check_presence(plan, skip_bad=run.skip_bad)
    plan.mechanism.check_documents(item.text for item in corpus if isinstance(item, Document))
    plan.mechanism.check_learned_elsewhere(corpus.sha256)
    if tuple(corpus.keep) != plan.labels:
        raise UsageError("the corpus keeps other fields than the plan's labels: give both the same")
    if run.format not in (None, *engine.formats):
        raise UsageError(
            f"this engine writes {', '.join(engine.formats)}, not {run.format}: leave out the format, or choose the "
            "engine local"
        )
    job = Job(
        corpus, state, plan, run.format or engine.formats[0], run.batch_size or default_batch_size(plan), run.skip_bad,
        Charges(ledger, plan), progress, notice, losing, run.metadata,
    )  # fmt: skip
    WRITERS[job.format].check(Layout.of(plan))  # names that clash, order without room: before any work
    return job


def check_presence(plan: Plan, *, skip_bad: bool) -> None:
    """`PolicyError` where private words would decide which ids appear (R27), unless for an experiment."""
    if skip_bad and plan.encoding.unknown == "reject" and plan.experiment is None:
        raise PolicyError(
            "leaving out the documents that hold unknown words would tell which do: choose unk or drop, or reject "
            "without --skip-bad, which refuses the whole run; or run an experiment (NOT PRIVATE)"
        )


def engine_of(
    engine: str | AbstractEngine, master: str | None, workers: int | None, runner: LocalRunner | None = None
) -> AbstractEngine:
    """The engine called so; `UsageError` where there is none, or for a master that none but Spark has."""
    if isinstance(engine, AbstractEngine):
        return engine
    if engine == "spark":
        from publius.releases.engines.spark import SparkEngine

        return SparkEngine(master, workers)
    if engine != "local":
        raise UsageError(f"no engine is called {engine!r}: choose one of {', '.join(ENGINES)}")
    if master is not None:
        raise UsageError("a master belongs to Spark: choose the engine spark with it")
    return LocalEngine(1 if workers is None else workers, runner)


def _at_once(engine: AbstractEngine, job: Job, output: Path) -> RunSummary:
    """Everything into the new folder ``output``, or nothing; debited before others can read any of it."""
    with claimed(output), ExitStack() as paid, new_folder(output, release=True) as folder:
        outcome = engine.release(job, job.plan.run_key(), folder, None)
        _lose(job, outcome)
        manifest = finish_folder(
            folder,
            job.plan,
            outcome.tally.documents,
            len(outcome.bad),
            _numbers(engine, job),
            metadata=job.metadata,
            labels=outcome.labels,
            digests=outcome.digests,
        )
        _pay(job, outcome, None)
        paid.enter_context(_charged(job, "nothing was released, and a new run is debited anew"))
    _note("the release has its place", outcome)
    return RunSummary(outcome.tally, outcome.bad, manifest)


def _to_the_end(
    engine: AbstractEngine, job: Job, output: Path, placed: Callable[[], None] = lambda: None
) -> RunSummary:
    """A run that can be resumed, or one that was, until its output has its place."""
    with working_folder(output, job.plan, job.corpus) as work:
        if work.placed is None:
            return _resumed(engine, job, work, placed)
        return _already_placed(work, placed)


def _resumed(engine: AbstractEngine, job: Job, work: WorkingFolder, placed: Callable[[], None]) -> RunSummary:
    """The same with the key and the finished part of a working folder, which is kept when this fails."""
    with work.stage() as stage:
        outcome = engine.release(job, work.key, stage, work.path)
        _lose(job, outcome)
        manifest = finish_folder(
            stage,
            job.plan,
            outcome.tally.documents,
            len(outcome.bad),
            _numbers(engine, job),
            metadata=job.metadata,
            labels=outcome.labels,
            digests=outcome.digests,
        )
    _pay(job, outcome, work.key.derive("ledger").hex())
    with signals_wait():
        with _charged(job, "mend that and repeat the same call: it is not debited a second time"):
            work.place(outcome.tally, outcome.bad)
        placed()
        _note("the release has its place", outcome)
        work.destroy()
    return RunSummary(outcome.tally, outcome.bad, manifest, outcome.found if work.resumed else None)


def _lose(job: Job, outcome: EngineResult) -> None:
    """Let whoever asked refuse to leave out so many; where nothing is left there is an error of its own.

    Where a field is released `PolicyError` for any: a row may be unreadable for what stands in the field.
    """
    field = job.plan.mechanism.field
    if outcome.bad and field is not None and job.plan.experiment is None:
        raise PolicyError(
            f"{how_many(len(outcome.bad), 'row')} cannot be read, and leaving them out could tell what stands in "
            f"{field!r}: see them with publius inspect and mend them. Nothing was released"
        )
    if outcome.bad and outcome.tally.documents:
        job.losing(len(outcome.bad), outcome.tally.documents + len(outcome.bad))


def _pay(job: Job, outcome: EngineResult, token: str | None) -> None:
    _note("all documents are drawn", outcome)
    job.corpus.check_unchanged(job.state)
    job.charges.pay(outcome.bad, token=token)
    if job.charges.any:
        _note("the ledger is debited", outcome)


@contextmanager
def _charged(job: Job, so: str) -> Iterator[None]:
    """After a debit: what fails now says that it was made."""
    try:
        yield
    except (UsageError, StorageError) as error:
        if not job.charges.any:
            raise
        raise error.after_debit(so) from None


def _note(step: str, outcome: EngineResult) -> None:
    """A step in the log, with numbers only."""
    numbers = {"documents": outcome.tally.documents, "left_out": len(outcome.bad)}
    _LOG.info("%s: %d documents, %d left out", step, *numbers.values(), extra={"fields": numbers})


def _numbers(engine: AbstractEngine, job: Job) -> str | None:
    """How documents are numbered; None where they have ids of their own."""
    return engine.numbers if job.corpus.id_field is None else None


def _already_placed(work: WorkingFolder, placed: Callable[[], None]) -> RunSummary:
    """A run that was killed when only its working folder was left to destroy."""
    from publius.releases.manifests import read_manifest_of

    note_release(work.output)
    tally, bad = work.placed or (Tally(), ())
    manifest = read_manifest_of(work.output)
    placed()
    work.destroy()
    return RunSummary(tally, bad, manifest, ResumedWork(tally.documents, len(bad)))
