"""The engine of one machine: batches through local processes, written in order, journaled when it can be resumed."""

from __future__ import annotations

import itertools
from collections.abc import Generator, Iterable, Iterator
from contextlib import closing, nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import final

from publius.documents.corpus import BadDocument
from publius.documents.row_readers import import_parquet
from publius.files import new_folder, read_lines
from publius.noise.randomness import RunKey
from publius.releases.engines.engine import AbstractEngine, Request, Summary, finish_folder, left_out, link
from publius.releases.engines.journal import BAGS, Journal
from publius.releases.engines.run_folder import Found, WorkingFolder
from publius.releases.engines.worker_pool import Batch, LocalRunner, Outcome, batches_of
from publius.releases.release import Release, Tally
from publius.releases.writers import WRITERS, Layout, release_of


@final
@dataclass(frozen=True)
class LocalEngine(AbstractEngine):
    """Local processes: batches come back in order and are written one after another."""

    request: Request
    format: str
    workers: int = 1
    runner: LocalRunner | None = None

    def at_once(self, output: Path) -> Summary:
        """See `AbstractEngine.at_once`."""
        asked, plan = self.request, self.request.plan
        outcomes = self._outcomes(batches_of(asked.corpus, asked.batch_size), plan.run_key())
        tally, bad = Tally(), list[BadDocument]()
        with closing(outcomes), new_folder(output) as folder:
            with WRITERS[self.format](folder, Layout.of(plan)) as writer:
                for results, batch_tally in outcomes:
                    tally += batch_tally
                    bad += left_out(results, skip_bad=asked.skip_bad)
                    for release in _released(results):
                        writer.write(release)
                    asked.progress(len(results))
            manifest = finish_folder(folder, plan, tally, bad)
            asked.bill.pay(bad)
        return Summary(tally, tuple(bad), manifest)

    def resumable(self, work: WorkingFolder) -> Summary:
        """See `AbstractEngine.resumable`."""
        if self.format == "parquet":
            import_parquet()  # now, not when all is done
        with Journal(work.path) as journal:
            found = _found(journal) if work.resumed else None
            if found is not None:
                self.request.notice(found)
            self._go_on(journal, work.key)
        tally, bad = journal.tally, tuple(journal.bad)
        with work.stage() as stage:
            self._replay(journal.path, stage)
            manifest = finish_folder(stage, self.request.plan, tally, bad)
        self.request.bill.pay(bad, token=work.key.derive("ledger").hex())
        work.place(tally, bad)
        return Summary(tally, bad, manifest, found)

    def _outcomes(self, batches: Iterator[Batch], key: RunKey) -> Generator[Outcome, None, None]:
        """The outcome of each batch, in order."""
        batches = self.request.bill.note(batches)
        first = list(itertools.islice(batches, 2))
        workers = 1 if len(first) < 2 else self.workers
        if first and self.runner is None:
            self.request.prepare()
        own = LocalRunner(self.request.plan, workers) if self.runner is None else nullcontext(self.runner)
        with own as running:
            yield from running.run(itertools.chain(first, batches), key)

    def _go_on(self, journal: Journal, key: RunKey) -> None:
        """Release what is not in the journal yet, batch by batch into it."""
        asked = self.request
        left_out(journal.bad, skip_bad=asked.skip_bad)
        asked.progress(journal.items)
        items = iter(asked.corpus)  # it compares ids with those passed over, too
        layout = Layout.of(asked.plan)
        passed = batches_of(itertools.islice(items, journal.items), asked.batch_size)
        for _ in asked.bill.note(passed, finished=True):
            pass
        with closing(self._outcomes(batches_of(items, asked.batch_size), key)) as outcomes:
            for results, tally in outcomes:
                bad = left_out(results, skip_bad=asked.skip_bad)
                lines = map(layout.json_line, _released(results))
                journal.append(len(results), lines, tally, bad)
                asked.progress(len(results))

    def _replay(self, bags: Path, folder: Path) -> None:
        """The journal as the output's file: itself for JSON lines, without a copy where that can be."""
        plan = self.request.plan
        if self.format == "jsonl":
            link(bags, folder / BAGS)
            return
        with WRITERS[self.format](folder, Layout.of(plan)) as writer:
            for _, line in read_lines(bags):
                writer.write(release_of(line, plan))


def _released(results: Iterable[Release | BadDocument]) -> Iterator[Release]:
    return (result for result in results if isinstance(result, Release))


def _found(journal: Journal) -> Found:
    return Found(journal.tally.documents, len(journal.bad), journal.torn_bytes)
