"""The survey of a cluster before anything is drawn: how many documents there are, which are bad, which ids repeat.

Each task of the survey looks at a part of the ranges and writes what it finds into a private file. Their number is
always the same, and nothing of what they find goes through the cluster: sizes of answers are in its logs.
"""

from __future__ import annotations

import bisect
import hashlib
import itertools
import pickle
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final, Self, final

import numpy as np

from publius.documents.corpus import REPEATED, BadDocument, Corpus, FilePart
from publius.documents.shards import shards
from publius.files import write_file
from publius.noise.randomness import RunKey
from publius.releases.engines.shard_job import ShardJob

SURVEYS: Final = 64
"""Tasks of a survey, whatever the corpus."""

_DIGEST: Final = 8


@final
@dataclass(frozen=True, slots=True)
class Survey:
    """Contents of a range: how many items, the bad ones (the first item at position 1), a digest of each id in order.

    There are no digests where documents are numbered.
    """

    items: int
    bad: tuple[BadDocument, ...]
    digests: bytes

    @classmethod
    def of(cls, corpus: Corpus, part: FilePart) -> Self:
        """Read the range. The digest of an id that cannot be read is random-like, so that it repeats no other's."""
        count, bad, digests = 0, list[BadDocument](), bytearray()
        for item in corpus.read_range(part, 1):
            count += 1
            if isinstance(item, BadDocument):
                bad.append(item)
            if corpus.id_field is not None:
                name = f"{count}/{part}\0" if item.id is None else item.id
                digests += hashlib.blake2b(name.encode(), digest_size=_DIGEST).digest()
        return cls(count, tuple(bad), bytes(digests))


def survey(job: ShardJob, key: RunKey, number: int) -> None:
    """Task ``number`` of a survey: `Survey.of` every `SURVEYS`-th range, into a private file."""
    found = [Survey.of(job.corpus, part) for part in job.ranges[number::SURVEYS]]
    with write_file(_path(job.notes, number), 0o600, durable=False) as file:
        pickle.dump([(each.items, each.bad, each.digests) for each in found], file)


def surveyed(job: ShardJob) -> ShardJob:
    """``job`` with what its survey found: positions, documents that are bad or repeat an id, and the shards."""
    surveys = _read(job)
    starts = itertools.accumulate((each.items for each in surveys), initial=1)
    firsts = tuple(itertools.islice(starts, len(surveys)))
    unread = [
        replace(bad, position=bad.position + first - 1)
        for each, first in zip(surveys, firsts, strict=True)
        for bad in each.bad
    ]
    known = {bad.position for bad in unread}
    repeats = [bad for bad in _repeats(replace(job, firsts=firsts), surveys) if bad.position not in known]
    counts = [each.items - len(each.bad) for each in surveys]
    for bad in repeats:
        counts[_range(firsts, bad.position)] -= 1
    return replace(
        job,
        firsts=firsts,
        bad=tuple(sorted((*unread, *repeats), key=lambda bad: bad.position)),
        repeats=frozenset(bad.position for bad in repeats),
        shards=tuple(shards(counts, job.plan.size)),
    )


def _path(notes: Path, number: int) -> Path:
    return notes / f"survey-{number:05d}"


def _read(job: ShardJob) -> list[Survey]:
    """The surveys of all ranges, in order."""
    found: dict[int, Survey] = {}
    for number in range(SURVEYS):
        kept = pickle.loads(_path(job.notes, number).read_bytes())  # noqa: S301  # our own task's, in a private folder
        found |= {number + SURVEYS * place: Survey(*each) for place, each in enumerate(kept)}
    return [found[number] for number in range(len(job.ranges))]


def repeated(surveys: Iterable[Survey]) -> list[list[int]]:
    """Groups of positions (from 1) whose ids have equal digests: repeated ids, and rarely a coincidence."""
    digests = np.frombuffer(b"".join(survey.digests for survey in surveys), np.uint64)
    order = np.argsort(digests, kind="stable")
    same = np.flatnonzero(np.diff(digests[order]) == 0)
    groups: dict[int, set[int]] = {}
    for at in same.tolist():
        first, second = order[at : at + 2].tolist()
        groups.setdefault(int(digests[first]), set()).update((first + 1, second + 1))
    return [sorted(group) for group in groups.values()]


def _repeats(job: ShardJob, surveys: list[Survey]) -> Iterator[BadDocument]:
    """Documents whose id was there before, told by the ids themselves."""
    groups = repeated(surveys)
    wanted = {position for group in groups for position in group}
    ids = {
        item.position: item.id
        for number in sorted({_range(job.firsts, position) for position in wanted})
        for item in job.corpus.read_range(job.ranges[number], job.firsts[number])
        if item.position in wanted
    }
    for group in groups:
        met = set[str | None]()
        for position in group:
            if ids[position] in met:
                yield BadDocument(position, ids[position], REPEATED)
            met.add(ids[position])


def _range(firsts: tuple[int, ...], position: int) -> int:
    return bisect.bisect_right(firsts, position) - 1
