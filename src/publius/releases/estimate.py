"""How long work will take and how much memory, by a sample of its documents: nothing of it is kept."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from contextlib import suppress
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from publius.errors import PubliusError, how_many
from publius.files.processes import processors

if TYPE_CHECKING:
    from publius.documents.corpus import Batch, Corpus

_BATCH: Final = 500
_SECONDS: Final = 3.0
"""Of work, after which the other documents are only counted."""


class Estimate(NamedTuple):
    """Documents, workers, seconds by the clock where nothing else runs, and bytes of memory that a worker may use."""

    documents: int
    workers: int
    seconds: float
    bytes: int

    def __str__(self) -> str:
        """One sentence."""
        minutes = f"{self.seconds / 60:,.0f} minutes" if self.seconds >= 120 else f"{self.seconds:,.0f} seconds"
        return (
            f"{how_many(self.documents, 'document')}: about {minutes} with {how_many(self.workers, 'worker')}, "
            f"{self.bytes / 2**20:,.0f} MB each. Nothing was kept."
        )


def estimated(work: Callable[[Batch], Any], corpus: Corpus, workers: int | None) -> Estimate:
    """What ``work`` on every document of a corpus will take, by its first ones; all are read, to count them.

    The first batch fills what later ones find filled, so it counts only where it is the only one. What a worker holds
    may be shared between them, so the memory is the most that each can use.
    """
    count, begin = workers or processors(), time.monotonic()
    documents = sampled = 0
    spent = first = 0.0
    for batch in corpus.batches(_BATCH):
        documents += len(batch)
        if spent < _SECONDS:
            before = time.monotonic()
            work(batch)
            took = time.monotonic() - before
            if first:
                spent, sampled = spent + took, sampled + len(batch)
            else:
                first = took
    read = time.monotonic() - begin - first - spent
    worked = first + (documents * spent / sampled if sampled else 0.0) / count
    return Estimate(documents, count, round(read + worked, 3), _peak())


def by_samples(work: Callable[[int], Any], size: int) -> Estimate:
    """What ``work(1)`` on ``size`` documents will take, by ``work(64)`` on every 64th, 32nd, until one takes a second.

    Time in proportion, memory by as much a document; a sample that is too small to work on is passed over.
    """
    tried = [(0, 0.0, 0)]
    for step in (64, 32, 16, 8, 4, 2, 1):
        begin = time.monotonic()
        with suppress(*[PubliusError] * (step > 1)):
            work(step)
            tried.append((-(-size // step), time.monotonic() - begin, _peak()))
            if len(tried) > 2 and tried[-1][1] >= 1:  # second; the first fills what later ones find filled
                break
    (fewer, _, low), (count, took, high) = tried[-2:]
    memory = high + (high - low) * (size - count) // max(count - fewer, 1)
    return Estimate(size, 1, round(took * size / max(count, 1), 3), memory)


def _peak() -> int:
    import resource

    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * (1 if sys.platform == "darwin" else 1024)
