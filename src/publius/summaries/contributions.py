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

from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from hashlib import blake2b
from typing import Any, Final, Self, final

import numpy as np
from numpy.typing import NDArray

from publius.arrays import IndexArray
from publius.noise.randomness import RunKey

_PARTS: Final = 16
_SMALLEST_BUFFER: Final = 1024
_HASH_BYTES: Final = 8
_HELD: Final = np.dtype([("tag", np.uint64), ("rank", np.uint64), ("row", np.int64)])
_NEW: Final = np.dtype([("tag", np.uint64), ("row", np.int64)])
NEAR_RECORD: Final = np.dtype([("tag", np.uint64), ("statement", np.int32), ("cosine", np.float32)])

Tags = NDArray[np.uint64]
"""Keyed hashes of authors, shape (n,)."""
_Records = NDArray[np.void]


def tags_of(names: Sequence[str], key: bytes) -> Tags:
    """The tag of each author's key."""
    return _hashed(key, (name.encode("utf-8", "surrogatepass") for name in names))


def _hashed(key: bytes, messages: Iterable[bytes]) -> Tags:
    begun, found = blake2b(key=key, digest_size=_HASH_BYTES), bytearray()
    for message in messages:
        each = begun.copy()
        each.update(message)
        found += each.digest()
    return np.frombuffer(bytes(found), "<u8").astype(np.uint64)


class _Stream(ABC):
    """What stays of records as they stream by; new ones wait until they are many enough to be put in their place."""

    def __init__(self, kind: np.dtype[np.void], per_author: int) -> None:
        self.held = np.zeros(0, kind)
        self._per_author, self._new, self._waiting = per_author, list[_Records](), 0

    def take(self, new: _Records) -> None:
        """More records, in the order of the documents."""
        self._new.append(new)
        self._waiting += len(new)
        if self._waiting >= max(_SMALLEST_BUFFER, len(self.held) // 4):
            self.settled()

    def settled(self) -> Self:
        """With what came since put in its place."""
        if self._new:
            new = np.concatenate(self._new)
            self._new, self._waiting = [], 0
            self._keep(new)
        return self

    @abstractmethod
    def _keep(self, new: _Records) -> None: ...

    def _hold(self, records: _Records) -> None:
        """Keep the first records of each author, of those that are ordered by author."""
        starts = np.searchsorted(records["tag"], records["tag"])
        self.held = records[np.arange(len(records)) - starts < self._per_author]


def _records(kind: np.dtype[np.void], *columns: NDArray[Any]) -> _Records:
    made = np.empty(len(columns[0]), kind)
    for name, column in zip(kind.names or (), columns, strict=True):
        made[name] = column
    return made


@final
class Contributions:
    """The documents of a collection that count, as they stream by; it holds their rows and keyed hashes, no text."""

    def __init__(self, key: RunKey, per_author: int = 1) -> None:
        secret = key.derive("contribution-ranks")
        self._parts = [_Part(per_author, secret) for _ in range(_PARTS)]

    def add(self, tags: Tags, rows: IndexArray) -> None:
        """Documents in their order: whose they are, and their numbers."""
        # The tag's low bits choose a part, so that little is copied when one is put in order.
        parts = tags % np.uint64(_PARTS)
        for place in np.unique(parts).tolist():
            own = parts == place
            self._parts[place].take(_records(_NEW, tags[own], rows[own]))

    @property
    def rows(self) -> IndexArray:
        """The number of each document that counts, in ascending order. Private."""
        return np.sort(np.concatenate([part.settled().held["row"] for part in self._parts]))

    @property
    def authors(self) -> int:
        """How many authors there are."""
        return sum(len(part.settled().tags) for part in self._parts)


@final
class _Part(_Stream):
    """A sixteenth of the authors: their tags in order, how many documents each has, and which count."""

    def __init__(self, per_author: int, secret: bytes) -> None:
        super().__init__(_HELD, per_author)
        self._secret = secret
        self.tags, self.seen = np.zeros(0, np.uint64), np.zeros(0, np.uint32)

    def _keep(self, new: _Records) -> None:
        new = new[np.argsort(new["tag"], kind="stable")]  # an author's documents stay in their order
        tags, counts = np.unique(new["tag"], return_counts=True)
        fresh = np.setdiff1d(tags, self.tags, assume_unique=True)
        at = np.searchsorted(self.tags, fresh)
        self.tags, self.seen = np.insert(self.tags, at, fresh), np.insert(self.seen, at, np.uint32(0))
        own = np.searchsorted(self.tags, tags)
        first = np.cumsum(counts) - counts - self.seen[own].astype(np.int64)
        places = np.arange(len(new)) - np.repeat(first, counts)
        self.seen[own] += counts.astype(np.uint32)
        whole = np.stack([new["tag"], places.astype(np.uint64)], axis=1).astype("<u8").tobytes()
        step = 2 * _HASH_BYTES
        ranks = _hashed(self._secret, (whole[start : start + step] for start in range(0, len(whole), step)))
        both = np.concatenate([self.held, _records(_HELD, new["tag"], ranks, new["row"])])
        self._hold(both[np.lexsort((both["rank"], both["tag"]))])


@final
class Mentions(_Stream):
    """Which statements each author wrote something like: the k nearest of all that the author's documents are near to.

    Each statement is counted once an author, at its nearest document; ties go to the statement that was asked first.
    Replacing an author changes at most k counts down and k up, min(2k, S) in the sum over S statements.
    """

    def __init__(self, per_author: int) -> None:
        super().__init__(NEAR_RECORD, per_author)

    def _keep(self, new: _Records) -> None:
        both = np.concatenate([self.held, new])
        both = both[np.lexsort((-both["cosine"], both["statement"], both["tag"]))]
        again = (both["tag"][1:] == both["tag"][:-1]) & (both["statement"][1:] == both["statement"][:-1])
        both = both[np.concatenate([[True], ~again])] if len(both) else both
        # What drops out here cannot come back with the cosine it had: k others are nearer for good.
        self._hold(both[np.lexsort((both["statement"], -both["cosine"], both["tag"]))])

    def counts(self, statements: int) -> IndexArray:
        """How many authors each of so many statements counts. Private."""
        return np.bincount(self.settled().held["statement"], minlength=statements).astype(np.int64)
