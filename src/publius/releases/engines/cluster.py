"""The engine of a cluster: a corpus is surveyed, released piece by piece, and put in place as a whole."""

from __future__ import annotations

import bisect
import itertools
import shutil
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final, final

from publius.documents.corpus import BadDocument, Document
from publius.documents.shards import cut
from publius.files import new_folder
from publius.noise.randomness import RunKey
from publius.releases.engines.engine import AbstractEngine, Request, Summary, finish_folder, left_out, link
from publius.releases.engines.run_folder import Found, WorkingFolder
from publius.releases.engines.shard_job import (
    AbstractRunner,
    Done,
    Order,
    Survey,
    done_path,
    repeated,
    stop_path,
)
from publius.releases.engines.worker_pool import batches_of
from publius.releases.release import Tally

PIECES: Final = 64
"""Pieces of a small corpus, if it can be cut so far; a large one has more. The same on every cluster, for resume."""

BAGS: Final = "bags.parquet"
_NOTES: Final = ".notes"


@final
@dataclass(frozen=True)
class ClusterEngine(AbstractEngine):
    """Pieces of the corpus on a cluster's workers, one Parquet file each, one manifest for all."""

    request: Request
    runner: AbstractRunner

    def at_once(self, output: Path) -> Summary:
        """See `AbstractEngine.at_once`."""
        with new_folder(output) as folder, self.runner:
            parts, notes = folder / BAGS, folder / _NOTES
            order = self._order(parts, notes)
            tally, bad = self._release(order, self.request.plan.run_key(), {})
            shutil.rmtree(notes)
            manifest = finish_folder(folder, self.request.plan, tally, bad)
            self.request.bill.pay(bad)
        return Summary(tally, bad, manifest)

    def resumable(self, work: WorkingFolder) -> Summary:
        """See `AbstractEngine.resumable`."""
        parts, notes = work.path / "parts", work.path / "notes"
        with self.runner:
            order = self._order(parts, notes, resumed=work.resumed)
            done = dict(_finished(order))
            found = _found(done) if work.resumed else None
            if found is not None:
                self.request.notice(found)
            tally, bad = self._release(order, work.key, done)
        with work.stage() as stage:
            (stage / BAGS).mkdir()
            for part in sorted(parts.glob("part-*.parquet")):
                link(part, stage / BAGS / part.name)
            manifest = finish_folder(stage, self.request.plan, tally, bad)
        self.request.bill.pay(bad, token=work.key.derive("ledger").hex())
        work.place(tally, bad)
        return Summary(tally, bad, manifest, found)

    def _order(self, parts: Path, notes: Path, *, resumed: bool = False) -> Order:
        """What workers are to do, after a survey that refuses what must not be released."""
        asked = self.request
        parts.mkdir(exist_ok=True)
        notes.mkdir(0o700, exist_ok=True)
        stop_path(notes).unlink(missing_ok=True)
        corpus = replace(asked.corpus, paths=tuple(path.resolve() for path in asked.corpus.paths))
        if asked.bill.charges:
            for _ in asked.bill.note(batches_of(corpus, asked.batch_size), finished=resumed):
                pass
        order = Order(
            asked.plan, corpus, tuple(cut(corpus, PIECES)), (), frozenset(), parts.resolve(), notes.resolve(),
            asked.batch_size, asked.skip_bad,
        )  # fmt: skip
        return surveyed(order, self.runner.survey(order))

    def _release(
        self, order: Order, key: RunKey, done: dict[int, Done]
    ) -> tuple[Tally, tuple[BadDocument, ...]]:
        self.request.progress(_documents(done))
        pending = [number for number in range(len(order.pieces)) if number not in done]
        if pending:
            self.request.prepare()
        made = self.runner.release(order, key, pending)
        self.request.progress(_documents(made))
        pieces = [piece for _, piece in sorted((done | made).items())]
        bad = left_out((item for piece in pieces for item in piece.bad), skip_bad=self.request.skip_bad)
        return sum((piece.tally for piece in pieces), Tally()), tuple(bad)


def _finished(order: Order) -> Iterator[tuple[int, Done]]:
    for number in range(len(order.pieces)):
        path = done_path(order.notes, number)
        if path.exists():
            yield number, Done.from_json(path.read_bytes())


def _documents(done: dict[int, Done]) -> int:
    return sum(piece.tally.documents for piece in done.values())


def _found(done: dict[int, Done]) -> Found:
    return Found(_documents(done), sum(len(piece.bad) for piece in done.values()))


def surveyed(order: Order, surveys: list[Survey]) -> Order:
    """``order`` with the positions of documents, and of those whose id was there before.

    Raises `DocumentError` for the first document that cannot be read, or has another's id, unless such are skipped.
    """
    counts = [count for survey in surveys for count in survey.items]
    starts = itertools.accumulate(counts, initial=1)
    firsts = tuple(tuple(itertools.islice(starts, len(survey.items))) for survey in surveys)
    order = replace(order, firsts=firsts)
    order = replace(order, repeats=frozenset(_repeats(order, surveys)))
    if not order.skip_bad:
        _refuse_bad(order, surveys)
    return order


def _repeats(order: Order, surveys: list[Survey]) -> Iterator[int]:
    """Positions whose id was there before, told by the ids themselves."""
    groups = repeated(surveys)
    wanted = {position for group in groups for position in group}
    ids = {
        item.position: item.id
        for number in sorted({_piece(order, position) for position in wanted})
        for item in order.items(number)
        if item.position in wanted
    }
    for group in groups:
        met = set[str | None]()
        for position in group:
            if ids[position] in met:
                yield position
            met.add(ids[position])


def _piece(order: Order, position: int) -> int:
    return bisect.bisect_right([firsts[0] for firsts in order.firsts], position) - 1


def _refuse_bad(order: Order, surveys: list[Survey]) -> None:
    repeats = {_piece(order, position) for position in order.repeats}
    for number in sorted(repeats | {number for number, survey in enumerate(surveys) if survey.bad}):
        left_out((item for item in order.items(number) if not isinstance(item, Document)), skip_bad=False)
