"""Which documents count: at most c of each author, chosen by a keyed hash of the author's own documents alone.

A document's rank is keyed BLAKE2b (RFC 7693), with a secret of the run, of its author and of its place among that
author's documents (first, second, ...); an author contributes the c documents of the smallest ranks. So the choice
depends on nothing but how many documents the author has: not on rows, batches, workers or anybody else. Replacing all
documents of one author moves c documents out of their cells and c into others, 2c in the sum over all cells.

Memory is that of the authors, however many documents there are: 12 bytes an author (the first 8 of a keyed hash, and
how many documents were seen) and 24 for each document that may count. Two authors of one hash (a chance of 3e-8 among
a million) would contribute c documents together, which breaks no promise.
"""

from __future__ import annotations

from collections.abc import Sequence
from hashlib import blake2b
from typing import Final, final

import numpy as np
from numpy.typing import NDArray

from publius.arrays import IndexArray
from publius.errors import UsageError
from publius.noise.randomness import RunKey

MOST_A_PERSON: Final = 1000
_PARTS: Final = 16
_SMALLEST_BUFFER: Final = 1024
_HASH_BYTES: Final = 8

Tags = NDArray[np.uint64]
"""Keyed hashes of authors, shape (n,)."""


def tags_of(names: Sequence[str], key: bytes) -> Tags:
    """The tag of each author's key."""
    begun = blake2b(key=key, digest_size=_HASH_BYTES)
    found = bytearray()
    for name in names:
        each = begun.copy()
        each.update(name.encode("utf-8", "surrogatepass"))
        found += each.digest()
    return np.frombuffer(bytes(found), "<u8").astype(np.uint64)


@final
class Contributions:
    """The documents of a collection that count, as they stream by; it holds cells and keyed hashes, no text.

    Args:
        key: the run's secret, fresh for each run.
        per_author: c, the most documents of an author that count; fixed before looking.
    """

    def __init__(self, key: RunKey, per_author: int = 1) -> None:
        if isinstance(per_author, bool) or not isinstance(per_author, int) or not 1 <= per_author <= MOST_A_PERSON:
            raise UsageError(
                f"documents per author must be a whole number from 1 to {MOST_A_PERSON:,}, not {per_author!r:.40}"
            )
        secret = key.derive("contribution-ranks")
        self._parts = [_Part(per_author, secret) for _ in range(_PARTS)]

    def add(self, tags: Tags, cells: IndexArray) -> None:
        """Documents in their order: whose they are, and the cell each would count in, a function of it alone."""
        # The tag's low bits choose a part, so that little is copied when one is put in order.
        parts = tags % np.uint64(_PARTS)
        for place in np.unique(parts).tolist():
            own = parts == place
            self._parts[place].take(tags[own], cells[own])

    @property
    def cells(self) -> IndexArray:
        """The cell of each contributed document, in ascending order. Private."""
        return np.sort(np.concatenate([part.settled().held["cell"] for part in self._parts]))

    @property
    def authors(self) -> int:
        """How many authors there are."""
        return sum(len(part.settled().tags) for part in self._parts)


_HELD: Final = np.dtype([("tag", np.uint64), ("rank", np.uint64), ("cell", np.int64)])
_NEW: Final = np.dtype([("tag", np.uint64), ("cell", np.int64)])


@final
class _Part:
    """A sixteenth of the authors: their tags in order, how many documents each has, which count; and what came since."""

    def __init__(self, per_author: int, secret: bytes) -> None:
        self._per_author = per_author
        self._ranks = blake2b(key=secret, digest_size=_HASH_BYTES)
        self.tags, self.seen = np.zeros(0, np.uint64), np.zeros(0, np.uint32)
        self.held = np.zeros(0, _HELD)
        self._new: list[NDArray[np.void]] = []
        self._waiting = 0

    def take(self, tags: Tags, cells: IndexArray) -> None:
        new = np.empty(len(tags), _NEW)
        new["tag"], new["cell"] = tags, cells
        self._new.append(new)
        self._waiting += len(new)
        if self._waiting >= max(_SMALLEST_BUFFER, len(self.held) // 4):
            self.settled()

    def settled(self) -> _Part:
        """With what came since put in its place."""
        if self._new:
            new = np.concatenate(self._new)
            self._new, self._waiting = [], 0
            self._keep(new[np.argsort(new["tag"], kind="stable")])  # an author's documents stay in their order
        return self

    def _keep(self, new: NDArray[np.void]) -> None:
        tags, counts = np.unique(new["tag"], return_counts=True)
        known = np.searchsorted(self.tags, tags)
        inside = known < len(self.tags)
        inside[inside] = self.tags[known[inside]] == tags[inside]
        before = np.zeros(len(tags), np.uint32)
        before[inside] = self.seen[known[inside]]
        first = np.cumsum(counts) - counts
        places = np.arange(len(new)) - np.repeat(first - before.astype(np.int64), counts)
        self.seen[known[inside]] += counts[inside].astype(np.uint32)
        self.tags = np.insert(self.tags, known[~inside], tags[~inside])
        self.seen = np.insert(self.seen, known[~inside], counts[~inside].astype(np.uint32))
        fresh = np.empty(len(new), _HELD)
        fresh["tag"], fresh["cell"] = new["tag"], new["cell"]
        fresh["rank"] = self._ranked(new["tag"], places)
        both = np.concatenate([self.held, fresh])
        both = both[np.lexsort((both["rank"], both["tag"]))]
        starts = np.searchsorted(both["tag"], both["tag"])  # where each one's author begins
        self.held = both[np.arange(len(both)) - starts < self._per_author]

    def _ranked(self, tags: Tags, places: IndexArray) -> Tags:
        message = np.empty((len(tags), 2), "<u8")
        message[:, 0], message[:, 1] = tags, places
        whole, found = message.tobytes(), bytearray()
        for start in range(0, len(whole), 2 * _HASH_BYTES):
            each = self._ranks.copy()
            each.update(whole[start : start + 2 * _HASH_BYTES])
            found += each.digest()
        return np.frombuffer(bytes(found), "<u8").astype(np.uint64)


@final
class Mentions:
    """Which statements each author wrote something like: the k nearest of all that the author's documents are near to.

    Each statement is counted once an author, at its nearest document; ties go to the statement that was asked first.
    Replacing an author changes at most k counts down and k up, min(2k, S) in the sum over S statements.
    """

    def __init__(self, per_author: int) -> None:
        if isinstance(per_author, bool) or not isinstance(per_author, int) or per_author < 1:
            raise UsageError(f"statements per author must be a whole number from 1, not {per_author!r:.40}")
        self._per_author = per_author
        self._held = np.zeros(0, _NEAR)
        self._new: list[NDArray[np.void]] = []
        self._waiting = 0

    def add(self, tags: Tags, statements: IndexArray, cosines: NDArray[np.float32]) -> None:
        """Documents that are near to a statement: whose they are, to which, and how near."""
        new = np.empty(len(tags), _NEAR)
        new["tag"], new["statement"], new["cosine"] = tags, statements, cosines
        self._new.append(new)
        self._waiting += len(new)
        if self._waiting >= max(_SMALLEST_BUFFER, len(self._held) // 4):
            self._settle()

    def _settle(self) -> None:
        both = np.concatenate([self._held, *self._new])
        self._new, self._waiting = [], 0
        both = both[np.lexsort((-both["cosine"], both["statement"], both["tag"]))]
        again = (both["tag"][1:] == both["tag"][:-1]) & (both["statement"][1:] == both["statement"][:-1])
        both = both[np.concatenate([[True], ~again])] if len(both) else both
        # What drops out here cannot come back with the cosine it had: k others are nearer for good.
        both = both[np.lexsort((both["statement"], -both["cosine"], both["tag"]))]
        starts = np.searchsorted(both["tag"], both["tag"])
        self._held = both[np.arange(len(both)) - starts < self._per_author]

    def counts(self, statements: int) -> IndexArray:
        """How many authors each of so many statements counts. Private."""
        self._settle()
        return np.bincount(self._held["statement"], minlength=statements).astype(np.int64)


_NEAR: Final = np.dtype([("tag", np.uint64), ("statement", np.int32), ("cosine", np.float32)])
