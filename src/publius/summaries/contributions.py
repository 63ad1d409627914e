"""Which documents count, at most c of each author, and in which cells.

A document's rank is keyed BLAKE2b (RFC 7693), with a secret of the run, of its author and of its place among that
author's documents (first, second, ...); an author contributes the c documents of the smallest ranks. So the choice
depends on nothing but how many documents the author has: not on rows, batches, workers or anybody else. Replacing all
documents of one author moves c documents out of their cells and c into others, 2c in the sum over all cells. The cells
of a document are a function of it alone and of public things, to the last bit.

Memory is that of the authors, however many documents there are: 12 bytes an author (the first 8 of a keyed hash, and
how many documents were seen) and 24 for each document that may count. Two authors of one hash (a chance of 3e-8 among
a million) would contribute c documents together, which breaks no promise.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from hashlib import blake2b
from typing import TYPE_CHECKING, Any, Final, NamedTuple, Self, final

import numpy as np
from numpy.typing import NDArray

from publius.arrays import Float64Array, IndexArray
from publius.classifiers.features import meaning
from publius.errors import UsageError
from publius.files.progress import advance
from publius.noise.randomness import RunKey
from publius.summaries.groups import Groups
from publius.text.normal_form import author_key

if TYPE_CHECKING:
    from publius.classifiers.classifier import Classifier
    from publius.classifiers.encoder import Encoder
    from publius.documents.corpus import Batch
    from publius.documents.document import Document

BATCH: Final = 1000
NEAR: Final = 0.3
"""The cosine from which a text counts as something like a statement.

Of packaged made-up answers and statements about *other* concerns at most one pair in a hundred is as near (a test has
it); of those about the same concern half are.
"""
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


# In which cells a document counts ------------------------------------------------------------------------


@final
class Statements:
    """Public statements, and the texts that are near to them by a sentence encoder."""

    def __init__(self, statements: Sequence[str], encoder: Encoder) -> None:
        self.texts = tuple(" ".join(text.split()) for text in statements)
        if not all(self.texts) or len({*self.texts}) < len(self.texts):
            raise UsageError("a statement of --ask is empty or given twice")
        self.encoder = encoder
        self._vectors = [self._placed(text) for text in self.texts]

    def _placed(self, text: str) -> Float64Array:
        return np.asarray(meaning([text], self.encoder)[0])

    def near(self, text: str) -> list[tuple[int, float]]:
        """The statements that a text is near to, with their cosines; none for a text without words."""
        if not any(map(str.isalnum, text)):
            return []
        vector = self._placed(text)
        cosines = [float(np.dot(vector, each)) for each in self._vectors]
        return [(place, cosine) for place, cosine in enumerate(cosines) if cosine > NEAR]


class Whose(NamedTuple):
    """Who wrote the documents of a batch; private: how many there are, the rows that name an author, whose they are."""

    documents: int
    rows: IndexArray
    tags: Tags
    names: frozenset[str]


def authors_of(given: tuple[bytes, bool], batch: Batch) -> Whose:
    """What a worker finds in the first reading, with the key of the tags; the names only where a ledger needs them."""
    secret, wanted = given
    keys = batch.authors()
    names = [key for key in keys if key is not None]
    rows = [row for row, key in enumerate(keys, start=batch.first) if key is not None]
    return Whose(len(keys), np.array(rows, np.int64), tags_of(names, secret), frozenset(names if wanted else ()))


class Counted(NamedTuple):
    """What a worker gives back of a batch in the second reading; private."""

    cells: IndexArray
    near: NDArray[np.void]


@final
@dataclass(frozen=True)
class Cells:
    """What a worker counts by, None where there is no such table; public, but for the key of the authors' tags."""

    groups: Groups
    topics: Classifier | None
    subjects: Classifier | None
    statements: Statements | None
    secret: bytes = field(default=b"", repr=False)

    @property
    def shape(self) -> tuple[int, int, int]:
        """How many groups, topics and subjects; 1 where there are none."""
        topics = 1 if self.topics is None else len(self.topics.labels)
        return self.groups.size, topics, 1 if self.subjects is None else len(self.subjects.labels)

    def of(self, texts: Sequence[str], groups: Sequence[Mapping[str, object]]) -> IndexArray:
        """The cell of each document: its group, topic and subject as one number."""
        topics = subjects = np.zeros(len(texts), np.int64)
        if self.topics is not None:
            topics = np.asarray(self.topics.answers(texts), np.int64)
        if self.subjects is not None:
            subjects = topics if self.subjects is self.topics else np.asarray(self.subjects.answers(texts), np.int64)
        _, t, u = self.shape
        of_groups = np.array([self.groups.place(each) for each in groups], np.int64)
        return (of_groups * t + topics) * u + subjects

    def counted(self, given: tuple[Batch, IndexArray]) -> Counted:
        """What the documents of these rows of a batch count as, and which statements any of it are near to."""
        batch, chosen = given[0], {*given[1].tolist()}
        documents = batch.documents(only=chosen if self.statements is None else None)
        near = [*self._near(documents)]
        documents = [each for each in documents if each.row in chosen]
        cells = self.of([each.text for each in documents], [each.fields for each in documents])
        return Counted(cells, np.array(near, NEAR_RECORD))

    def _near(self, documents: Iterable[Document]) -> Iterator[tuple[int, int, float]]:
        if self.statements is None:
            return
        for each in documents:
            if (key := author_key(each.author)) is not None:
                for found in self.statements.near(each.text):
                    yield (int(tags_of([key], self.secret)[0]), *found)

    def undeclared(self, cells: IndexArray) -> dict[str, int]:
        """Of each field how many of these documents have no declared value, where there are any."""
        if not self.groups.fields:
            return {}
        _, t, u = self.shape
        places = np.unravel_index(cells // (t * u), self.groups.shape)
        fields = zip(self.groups.fields, places, strict=True)
        found = {each.name: int((at == len(each.values)).sum()) for each, at in fields}
        return {name: count for name, count in found.items() if count}


@final
class Collected:
    """What a collection contributes, as it is read twice: keyed hashes, cells and cosines, no text. Private.

    First who wrote what, by which each author's documents are chosen; then where the chosen ones count, so that no
    other is classified.
    """

    def __init__(self, key: RunKey, documents_per_author: int, statements_per_author: int) -> None:
        self.contributions = Contributions(key, documents_per_author)
        self.mentions = Mentions(statements_per_author)
        self.left_out = 0
        self.names: set[str] = set()
        self._cells: list[IndexArray] = []

    def meet(self, found: Iterable[Whose], total: int = 0) -> None:
        """The first reading, in the order of the documents; ``total``: how many there are, for whoever waits."""
        done = 0
        for each in found:
            self.left_out += each.documents - len(each.rows)
            self.contributions.add(each.tags, each.rows)
            self.names |= each.names
            advance(done := done + each.documents, total)

    @cached_property
    def rows(self) -> IndexArray:
        """The number of each document that counts, after the first reading. Private."""
        return self.contributions.rows

    def chosen(self, batches: Iterable[Batch], *, every: bool) -> Iterator[tuple[Batch, IndexArray]]:
        """The batches of the second reading with the rows that were chosen, those without any only for ``every``."""
        for batch in batches:
            low, high = np.searchsorted(self.rows, (batch.first, batch.first + len(batch)))
            if every or low < high:
                yield batch, self.rows[low:high]

    def take(self, counted: Iterable[Counted]) -> None:
        """The second reading."""
        done, total = 0, len(self.rows)
        for each in counted:
            self._cells.append(each.cells)
            self.mentions.take(each.near)
            advance(done := done + len(each.cells), total)

    @property
    def cells(self) -> IndexArray:
        """The cell of each document that counts. Private."""
        return np.concatenate([np.zeros(0, np.int64), *self._cells])

    @property
    def authors(self) -> int:
        """How many authors there are: public."""
        return self.contributions.authors
