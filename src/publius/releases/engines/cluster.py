"""Engines of clusters: a corpus is surveyed, and released shard by shard into one Parquet file each."""

from __future__ import annotations

import shutil
from abc import abstractmethod
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, ClassVar, Final, Self, final

from publius.documents.shards import reading_ranges
from publius.noise.randomness import RunKey
from publius.releases.engines.engine import AbstractEngine, EngineResult, Job, left_out, link
from publius.releases.engines.run_folder import ResumedWork
from publius.releases.engines.shard_job import (
    ShardJob,
    ShardResult,
    ShardTask,
    perform,
    refused_path,
    result_path,
    stop_path,
)
from publius.releases.engines.survey import SURVEYS, survey, surveyed
from publius.releases.engines.worker_pool import batches_of
from publius.releases.release import Tally

BAGS: Final = "bags.parquet"
_NOTES: Final = ".notes"


class AbstractClusterEngine(AbstractEngine):
    """An engine whose workers read the corpus themselves. To add a cluster, write `carry`."""

    formats: ClassVar[tuple[str, ...]] = ("parquet",)

    @abstractmethod
    def carry(self, task: ShardTask[Any], numbers: Sequence[int]) -> None:
        """Have workers call ``task(number)`` for each of ``numbers``, in any order, as often as it takes.

        Raises the `PubliusError` that a call raised.
        """

    def __enter__(self) -> Self:
        """Make the workers ready."""
        return self

    def __exit__(self, *error: object) -> None:
        """Let them go."""

    @final
    def release(self, job: Job, key: RunKey, folder: Path, kept: Path | None) -> EngineResult:
        """See `AbstractEngine.release`."""
        parts, notes = (folder / BAGS, folder / _NOTES) if kept is None else (kept / "parts", kept / "notes")
        for made in (parts, notes):
            made.mkdir(0o700, exist_ok=True)
        with self:
            shards = self._surveyed(job, key, parts, notes, resumed=any(notes.glob("[0-9]*.json")))
            finished = dict(_results(shards))
            found = _found(finished)
            if finished:
                job.notice(str(found))
            results = self._release(job, shards, key, finished)
        if kept is None:
            shutil.rmtree(notes)
        else:
            _hand_over(shards, folder / BAGS)
        bad = (*shards.bad, *(item for result in results for item in result.bad))
        tally = sum((result.tally for result in results), Tally())
        return EngineResult(tally, tuple(sorted(bad, key=lambda item: item.position)), found)

    def _surveyed(self, job: Job, key: RunKey, parts: Path, notes: Path, *, resumed: bool) -> ShardJob:
        """The work for the workers, after a survey that refuses what must not be released."""
        for old in (stop_path(notes), *notes.glob("refused-*")):
            old.unlink(missing_ok=True)
        corpus = replace(job.corpus, paths=tuple(path.resolve() for path in job.corpus.paths))
        if job.charges.any:
            for _ in job.charges.note(batches_of(corpus, job.batch_size), finished=resumed):
                pass
        asked = ShardJob(
            job.plan, corpus, tuple(reading_ranges(corpus)), parts.resolve(), notes.resolve(), job.batch_size,
            job.skip_bad,
        )  # fmt: skip
        self.carry(ShardTask(survey, asked, key), range(SURVEYS))
        found = surveyed(asked)
        left_out(found.bad, job)
        return found

    def _release(
        self, job: Job, shards: ShardJob, key: RunKey, finished: dict[int, ShardResult]
    ) -> list[ShardResult]:
        """The results of all shards, in order, after those that are not ``finished`` have been released."""
        done = sum(result.tally.documents for result in finished.values())
        job.progress(done)
        pending = [number for number in range(len(shards.shards)) if number not in finished]
        if pending:
            job.prepare()
            self.carry(ShardTask(perform, shards, key), pending)
        for number in pending:
            if (refused := refused_path(shards.notes, number)).exists():
                left_out(ShardResult.from_json(refused.read_bytes()).bad, job)
        results = dict(_results(shards))
        job.progress(sum(result.tally.documents for result in results.values()) - done)
        return [results[number] for number in range(len(shards.shards))]


def _results(job: ShardJob) -> Iterator[tuple[int, ShardResult]]:
    """The results of the shards that are finished."""
    for number in range(len(job.shards)):
        path = result_path(job.notes, number)
        if path.exists():
            yield number, ShardResult.from_json(path.read_bytes())


def _found(finished: dict[int, ShardResult]) -> ResumedWork:
    results = finished.values()
    return ResumedWork(sum(each.tally.documents for each in results), sum(len(each.bad) for each in results))


def _hand_over(job: ShardJob, folder: Path) -> None:
    folder.mkdir(0o700)
    for number in range(len(job.shards)):
        name = f"part-{number:05d}.parquet"
        link(job.parts / name, folder / name)
