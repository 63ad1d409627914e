"""The counting of a summary shared out: to processes of this machine, or to the workers of a cluster.

Processes are handed documents and give back what their authors contribute. Workers of a cluster read a part of the
input themselves; what they find goes through a private folder beside the output, as keyed hashes of authors and of
documents with their cells: 24 bytes for each contributed document, and no text, name or value. Which documents count is
decided by keyed hashes, so it is the same whoever counts which part, and a part that is counted twice changes nothing.
"""

from __future__ import annotations

import pickle
import shutil
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import chain, islice
from pathlib import Path
from typing import Final, final

from publius.collections.contributions import Chosen, Contributions
from publius.documents.corpus import Corpus, FilePart
from publius.documents.row_readers import Row
from publius.documents.shards import reading_ranges
from publius.files import write_file
from publius.files.progress import Advance
from publius.noise.randomness import RunKey
from publius.releases.engines.cluster import AbstractClusterEngine
from publius.releases.engines.shard_job import ShardTask, packed
from publius.releases.engines.worker_pool import WorkerPool
from publius.releases.summaries.summary import Seen, Summary, Written
from publius.vectors.learning.reference import Reference

TASKS: Final = 64
"""Parts of the input on a cluster, whatever the input."""

_NOTES: Final = ".counts"
_FEW: Final = 16
"""So many batches are counted here before processes are started, which takes longer than to count them."""


def count_here(
    summary: Summary,
    rows: Iterable[tuple[int, Row]],
    key: RunKey,
    workers: int,
    *,
    author: Callable[[str], object],
    progress: Advance,
) -> tuple[Contributions, Seen]:
    """`Summary.count` in this process, or in ``workers`` of its own; this one reads."""
    contributions, seen = Contributions(key, summary.documents_per_author), Seen()
    read = summary.read(rows, seen, author, progress)
    for written in read if workers == 1 else islice(read, _FEW):
        summary.contribute(written, contributions)
    if workers > 1 and (more := next(read, None)) is not None:
        with WorkerPool(_contributed, summary, workers) as pool:
            for chosen in pool.run(chain([more], read), key):
                contributions.take(chosen)
    seen.check_any()
    return contributions, seen


def _contributed(summary: Summary, written: Sequence[Written], key: RunKey) -> Chosen:
    contributions = Contributions(key, summary.documents_per_author)
    summary.contribute(written, contributions)
    return contributions.chosen()


@final
@dataclass(frozen=True, slots=True)
class CountJob:
    """The counting job of a cluster's workers: every `TASKS`-th of ``ranges``; ``notes`` is private."""

    summary: Summary
    corpus: Corpus
    ranges: tuple[FilePart, ...]
    notes: Path

    @property
    def vocabulary(self) -> Reference:
        """The vocabulary that documents are counted with."""
        return self.summary.spaces.reference

    def pack(self) -> bytes:
        """As bytes; a stored reference is named, not copied."""
        return packed(self)


def count_on_cluster(
    engine: AbstractClusterEngine, summary: Summary, corpus: Corpus, key: RunKey, folder: Path
) -> tuple[Contributions, Seen]:
    """`Summary.count` by an engine's workers, which see ``folder``; nothing is left there."""
    notes = folder / _NOTES
    notes.mkdir(0o700)
    corpus = replace(corpus, paths=tuple(path.resolve() for path in corpus.paths))
    job = CountJob(summary, corpus, tuple(reading_ranges(corpus)), notes.resolve())
    with engine:
        engine.carry(ShardTask(count_part, job, key), range(TASKS))
    contributions, seen = Contributions(key, summary.documents_per_author), Seen()
    for number in range(TASKS):
        chosen, part = pickle.loads(_path(notes, number).read_bytes())  # noqa: S301  # our own task's, in a private folder
        contributions.take(chosen)
        seen += part
    shutil.rmtree(notes)
    seen.check_any()
    return contributions, seen


def count_part(job: CountJob, key: RunKey, number: int) -> None:
    """Count every `TASKS`-th range from ``number`` on into a private file; the same whenever it is done again."""
    contributions, seen = Contributions(key, job.summary.documents_per_author), Seen()
    for part in job.ranges[number::TASKS]:
        for written in job.summary.read(((0, row) for row in job.corpus.rows_of(part)), seen):
            job.summary.contribute(written, contributions)
    with write_file(_path(job.notes, number), 0o600, durable=False) as file:
        pickle.dump((contributions.chosen(), seen), file)


def _path(notes: Path, number: int) -> Path:
    return notes / f"{number:05d}"
