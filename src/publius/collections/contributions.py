"""Which documents count: at most c of each author, chosen by a keyed hash of the author and that document alone.

A document's rank is keyed BLAKE2b (RFC 7693), with a secret of the run, of the author, the cell and the text; an author
contributes the c documents of the smallest ranks. So the choice depends on nothing but the author's own documents: not
on the order of rows, not on batches or workers, not on anybody else. Replacing all documents of one author moves c
documents out of their cells and c into others, 2c in the sum over all cells; leaving an author out moves c.

**The same document twice** (same author, same cell, same text) has the same rank and counts as one: an author's
documents are a set. Otherwise a text that is sent fifty times would be chosen fifty times as easily, and telling the
copies apart would need their order or the memory of all of them. The union of such choices is again one, whatever is
joined first and however often: workers may do parts of a collection, and a part that is done twice changes nothing.

**Memory** is that of the authors, whatever the number of documents: of each document that may count 24 bytes, the
first 8 of a keyed hash of the author, the first 8 of its rank, and its cell. Two authors of one hash (a chance of
3e-8 among a million) would contribute c documents together, which breaks no promise.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Sequence
from hashlib import blake2b
from typing import Final, final

import numpy as np
from numpy.typing import NDArray

from publius.arrays import IndexArray
from publius.errors import DataError, UsageError
from publius.noise.randomness import RunKey

MOST_A_PERSON: Final = 1000
_PARTS: Final = 16
_SMALLEST_BUFFER: Final = 1024
_COLUMNS: Final = 3
_HASH_BYTES: Final = 8
_DIGEST_BYTES: Final = 64


Chosen = tuple[NDArray[np.uint64], ...]


@final
class Contributions:
    """The documents of a collection that count, as they stream by; it holds cells and keyed hashes, no text.

    Args:
        key: the run's secret. Fresh for each run; workers of one run use the same.
        per_author: c, the most documents of an author that count; fixed before looking.
    """

    def __init__(self, key: RunKey, per_author: int = 1) -> None:
        if (
            isinstance(per_author, bool)
            or not isinstance(per_author, int)
            or not 1 <= per_author <= MOST_A_PERSON
        ):
            raise UsageError(
                f"documents per author must be a whole number from 1 to {MOST_A_PERSON:,}, not {per_author!r:.40}"
            )
        self.per_author = per_author
        self._authors = _Keyed(key.derive("contribution-authors"))
        self._ranks = _Keyed(key.derive("contribution-ranks"))
        self._parts = [_Part(per_author) for _ in range(_PARTS)]

    def add(self, author: str, document: str, cell: int) -> None:
        """A document of ``author`` (see `publius.collections.authors.author_key`) that would count in ``cell``.

        The cell, a whole number from 0, must be a function of the document alone, made with public things only. A
        document that cannot be read has a cell of its own and an empty text.
        """
        self.add_all([(author, document, cell)])

    def add_all(self, documents: Iterable[tuple[str, str, int]]) -> None:
        """Add documents of any authors, each with its author and its cell."""
        tags, ranks, cells = list[bytes](), list[bytes](), list[int]()
        for author, document, cell in documents:
            if not author:
                raise DataError("a document without an author cannot be counted: no promise would cover it")
            if not 0 <= cell < 2**63:
                raise UsageError("a cell must be a whole number from 0 and below 2^63")
            tag = self._tag(author)
            text = document.encode("utf-8", "surrogatepass")
            ranks.append(self._ranks.of(tag + cell.to_bytes(_HASH_BYTES, "big") + text))
            tags.append(tag)
            cells.append(cell)
        columns = np.array([_numbers(tags), _numbers(ranks), np.array(cells, np.uint64)])
        parts = np.frombuffer(b"".join(tags), np.uint8)[_HASH_BYTES::_DIGEST_BYTES] % _PARTS
        for place in np.unique(parts).tolist():
            self._parts[place].take(columns[:, parts == place])

    def chosen(self) -> Chosen:
        """The result that a worker hands over: keyed hashes of authors and of documents, and cells. Private."""
        return tuple(part.chosen() for part in self._parts)

    def take(self, chosen: Chosen) -> None:
        """Take the result of another worker, chosen with this key and this c."""
        for mine, theirs in zip(self._parts, chosen, strict=True):
            mine.take(theirs)

    def keep_only(self, authors: Iterable[str]) -> None:
        """Drop what others contributed, as if they had written nothing; the choice of nobody who is kept changes.

        Whoever is charged is named here, so that who came between the charge and the counting is not counted.
        """
        tags: list[list[int]] = [[] for _ in self._parts]
        for author in authors:
            tag = self._tag(author)
            tags[tag[_HASH_BYTES] % _PARTS].append(_number(tag))
        for part, some in zip(self._parts, tags, strict=True):
            part.keep_only(np.array(some, np.uint64))

    def _tag(self, author: str) -> bytes:
        return self._authors.of(author.encode("utf-8", "surrogatepass"))

    @property
    def cells(self) -> IndexArray:
        """The cell of each contributed document, in ascending order. Private."""
        cells = np.concatenate([part.chosen()[2] for part in self._parts]).view(np.int64)
        cells.sort()
        return cells

    @property
    def authors(self) -> int:
        """How many authors there are. Public only where one author is replaced; private where one is left out."""
        return sum(len(np.unique(part.chosen()[0])) for part in self._parts)

    def __repr__(self) -> str:
        return f"Contributions(per_author={self.per_author})"


@final
class _Part:
    """A sixteenth of the authors: three columns (author, rank, cell), in order, and what came since."""

    def __init__(self, per_author: int) -> None:
        self._per_author = per_author
        self._held = np.zeros((_COLUMNS, 0), np.uint64)
        self._new = array("Q")

    def take(self, columns: NDArray[np.uint64]) -> None:
        self._new.frombytes(np.ascontiguousarray(columns.T).tobytes())
        self._settle_if_many()

    def keep_only(self, tags: NDArray[np.uint64]) -> None:
        self._settle()
        self._held = self._held[:, np.isin(self._held[0], tags)]

    def chosen(self) -> NDArray[np.uint64]:
        self._settle()
        return self._held

    def _settle_if_many(self) -> None:
        if len(self._new) >= _COLUMNS * max(_SMALLEST_BUFFER, self._held.shape[1] // 4):
            self._settle()

    def _settle(self) -> None:
        if self._new:
            new = np.frombuffer(self._new, np.uint64).reshape(-1, _COLUMNS).T
            self._keep(np.concatenate([self._held, new], axis=1))
            self._new = array("Q")

    def _keep(self, columns: NDArray[np.uint64]) -> None:
        """Of each author the c smallest ranks, one document each."""
        tags, ranks, cells = columns
        columns = columns[:, np.lexsort((cells, ranks, tags))]
        repeated = (columns[:2, 1:] == columns[:2, :-1]).all(axis=0)
        columns = columns[:, np.concatenate([[True], ~repeated])] if columns.shape[1] else columns
        starts = np.searchsorted(columns[0], columns[0])  # where each one's author begins
        self._held = columns[:, np.arange(columns.shape[1]) - starts < self._per_author]


@final
class _Keyed:
    """BLAKE2b under one key, which is taken in once for all messages."""

    def __init__(self, key: bytes) -> None:
        self._begun = blake2b(key=key)

    def of(self, message: bytes) -> bytes:
        begun = self._begun.copy()
        begun.update(message)
        return begun.digest()


def _numbers(digests: Sequence[bytes]) -> NDArray[np.uint64]:
    """The first 8 bytes of each."""
    whole = np.frombuffer(b"".join(digests), ">u8")
    return whole[:: _DIGEST_BYTES // _HASH_BYTES].astype(np.uint64)


def _number(digest: bytes) -> int:
    return int.from_bytes(digest[:_HASH_BYTES], "big")
