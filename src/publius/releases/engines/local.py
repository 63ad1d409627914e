"""The engine of one machine: batches through local processes, written in order, journaled when it can be resumed."""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Generator, Iterator
from contextlib import ExitStack, closing
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar, Final, final

from publius.documents.corpus import BadDocument
from publius.documents.row_readers import import_parquet
from publius.documents.seen_ids import IdSet
from publius.errors import UsageError
from publius.files import read_lines
from publius.noise.randomness import RunKey
from publius.releases import read_me
from publius.releases.engines.engine import AbstractEngine, EngineResult, Job, left_out, link
from publius.releases.engines.journal import BAGS, Journal
from publius.releases.engines.numbering import shuffle
from publius.releases.engines.pieces import Piece, is_cut, pieces_of
from publius.releases.engines.run_folder import ResumedWork
from publius.releases.engines.worker_pool import Batch, Encoded, LocalRunner, batches_of, encode_batch
from publius.releases.layout import Layout, release_of
from publius.releases.plan import SHUFFLED
from publius.releases.release import Tally
from publius.releases.writers import WRITERS

_AT_ONCE: Final = 1024


@final
@dataclass(frozen=True)
class LocalEngine(AbstractEngine):
    """``workers`` local processes, or a ``runner`` started before: batches come back in order and are written so.

    Where documents are numbered they are put into a secret order when all are written (`numbering`).
    """

    workers: int = 1
    runner: LocalRunner | None = None

    formats: ClassVar[tuple[str, ...]] = tuple(WRITERS)
    numbers: ClassVar[str] = SHUFFLED

    def release(self, job: Job, key: RunKey, folder: Path, kept: Path | None) -> EngineResult:
        """See `AbstractEngine.release`."""
        if self.runner is not None and self.runner.plan is not job.plan:
            raise UsageError("the runner was started with another plan: start one with this plan")
        outcome = self._at_once(job, key, folder) if kept is None else self._resumed(job, key, folder, kept)
        if job.corpus.id_field is None:
            shuffle(folder, job.format, key)
        return outcome

    def _at_once(self, job: Job, key: RunKey, folder: Path) -> EngineResult:
        tally, bad, labels = Tally(), list[BadDocument](), Counter[str]()
        used = IdSet()
        pieces = self._pieces(job, used.key)
        if pieces is None:
            outcomes = self._encoded(job, batches_of(job.corpus, job.batch_size), key, job.format)
        else:
            outcomes = self._read_elsewhere(job, pieces, key, used)
        layout = Layout.of(job.plan)
        with closing(outcomes), WRITERS[job.format](folder, layout) as writer:
            for number, each in enumerate(outcomes):
                if number == 1 and layout.leading and self._helped:  # the others have begun
                    read_me.prepare()
                tally += each.tally
                bad += left_out(each.bad, job)
                labels += each.labels
                writer.add(each.finished)
                job.progress(each.items)
        digests = {} if job.corpus.id_field is None else writer.digests  # numbered rows are written once more
        return EngineResult(tally, tuple(bad), labels=labels, digests=digests)

    def _resumed(self, job: Job, key: RunKey, folder: Path, kept: Path) -> EngineResult:
        if job.format == "parquet":
            import_parquet()  # now, not when all is done
        with Journal(kept) as journal:
            found = ResumedWork(journal.tally.documents, len(journal.bad), journal.torn_bytes)
            if journal.items:
                job.notice(str(found))
            self._go_on(job, journal, key)
        _replay(job, journal.path, folder)
        return EngineResult(journal.tally, tuple(journal.bad), found)

    @property
    def _helped(self) -> bool:
        """Whether other processes may be at work."""
        return (self.workers if self.runner is None else self.runner.workers) > 1

    def _pieces(self, job: Job, key: bytes) -> Iterator[Piece] | None:
        """What workers read themselves; None where all is read here, as it is where each document is charged.

        As many documents as a batch has are no work for processes. Where so many are more than one piece it is left to
        `_encoded` that their number decides whether processes are seen.
        """
        if not self._helped or job.charges.any or not is_cut(job.corpus):
            return None
        found = pieces_of(job.corpus, job.batch_size, key)
        begun = list(itertools.islice(found, 2))
        if self.runner is None and (len(begun) < 2 or begun[0].size < job.batch_size):
            return None
        return itertools.chain(begun, found)

    def _read_elsewhere(
        self, job: Job, pieces: Iterator[Piece], key: RunKey, used: IdSet
    ) -> Generator[Encoded, None, None]:
        """What came of each piece, in order; of an odd one as it is found to be here."""
        job.prepare()
        with ExitStack() as opened:
            runner = self.runner or opened.enter_context(LocalRunner(job.plan, self.workers))
            for each in runner.read_and_run(pieces, key, job.format):
                if each.encoded is not None and used.add_all(each.digests):
                    yield each.encoded
                else:
                    items = each.piece.read_in(job.corpus, used)
                    yield encode_batch(items, job.plan, key, job.format)

    def _encoded(
        self, job: Job, batches: Iterator[Batch], key: RunKey, format: str
    ) -> Generator[Encoded, None, None]:
        """What came of each batch, in order."""
        batches = job.charges.note(batches)
        if self.runner is not None:
            yield from self.runner.run(batches, key, format)
            return
        first = next(batches, [])
        if first:
            job.prepare()
        batches, done = itertools.chain([first], batches), 0
        if len(first) < job.batch_size:
            # All there is, or long texts. As many documents as a whole batch has are done here, so that it is their
            # number, and not how long they are, that decides whether processes are seen.
            for batch in batches:
                done += len(batch)
                if done > job.batch_size:
                    batches = itertools.chain([batch], batches)
                    break
                yield encode_batch(batch, job.plan, key, format)
        begun = list(itertools.islice(batches, 2))
        more = done > job.batch_size or len(begun) > 1
        with LocalRunner(job.plan, self.workers if more else 1) as running:
            yield from running.run(itertools.chain(begun, batches), key, format)

    def _go_on(self, job: Job, journal: Journal, key: RunKey) -> None:
        """Release what is not in the journal yet, batch by batch into it."""
        left_out(journal.bad, job)
        job.progress(journal.items)
        items = iter(job.corpus)  # it compares ids with those passed over, too
        passed = batches_of(itertools.islice(items, journal.items), job.batch_size)
        for _ in job.charges.note(passed, finished=True):
            pass
        # The journal has lines of JSON, whatever is made of them in the end.
        with closing(self._encoded(job, batches_of(items, job.batch_size), key, "jsonl")) as outcomes:
            for each in outcomes:
                bad = left_out(each.bad, job)
                journal.append(each.items, each.finished, each.tally, bad)
                job.progress(each.items)


def _replay(job: Job, bags: Path, folder: Path) -> None:
    """The journal as the output's file: itself for JSON lines, without a copy where that can be."""
    if job.format == "jsonl":
        link(bags, folder / BAGS)
        return
    with WRITERS[job.format](folder, Layout.of(job.plan)) as writer:
        lines = (line for _, line in read_lines(bags))
        while some := [release_of(line, job.plan) for line in itertools.islice(lines, _AT_ONCE)]:
            writer.write_all(some)
