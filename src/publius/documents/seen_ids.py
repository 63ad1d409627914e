"""Which ids a run has met, in a few bytes each: a hundred million fit in the memory of one machine."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Sequence
from functools import lru_cache
from typing import Final, final

_WIDTH: Final = (
    12  # bytes of digest: two of 10^8 ids collide with probability 10^-13, which refuses one of them
)
_EMPTY: Final = bytes(_WIDTH)
_TABLES: Final = 64  # each grows by itself, so that growing never needs the memory of the whole set again
_FIRST_SLOTS: Final = 2**6
_FIRST: Final = 2**19
"""So many ids are held in a set, which is quicker and takes some 50 MB; the tables hold the others.

A file of rows that are nearly empty may have no more (`publius.documents.row_readers.ROWS_LIMIT`).
"""


@final
class IdSet:
    """A set of ids, each kept as 96 bits of BLAKE2b in open-addressing tables of about 25 bytes an id.

    The hash has a key of its own: ids could be made that all belong to one place, and looking there would take the
    square of their number. Who reads for this process takes digests with the same ``key`` (`id_digest`).
    """

    def __init__(self) -> None:
        self.key = os.urandom(16)  # no noise: nothing of it leaves our processes
        self._first: set[bytes] = set()
        self._tables = [_Table() for _ in range(_TABLES)]

    def __len__(self) -> int:
        """How many different ids were added."""
        return len(self._first) + sum(table.count for table in self._tables)

    def add(self, identity: str) -> bool:
        """Add an id; whether it was new."""
        return self._add(id_digest(identity, self.key))

    def add_all(self, digests: Sequence[bytes]) -> bool:
        """Add ids by their digests where all of them are new and differ; else none of them."""
        new = {*digests}
        if len(new) < len(digests) or not new.isdisjoint(self._first):
            return False
        if len(self._first) + len(new) <= _FIRST:
            self._first |= new
            return True
        if any(digest in self._tables[digest[-1] % _TABLES] for digest in digests):
            return False
        for digest in digests:
            self._add(digest)
        return True

    def _add(self, digest: bytes) -> bool:
        if digest in self._first:
            return False
        if len(self._first) < _FIRST:
            self._first.add(digest)
            return True
        return self._tables[digest[-1] % _TABLES].add(digest)


@lru_cache(maxsize=1)
def _keyed(key: bytes) -> hashlib.blake2b:
    """Before any id: a copy of it takes half the time of a new one, which takes in the key."""
    return hashlib.blake2b(digest_size=_WIDTH, key=key)


def id_digest(identity: str, key: bytes) -> bytes:
    """The digest of an id under the key of an `IdSet`."""
    hashed = _keyed(key).copy()
    hashed.update(identity.encode())
    digest = hashed.digest()
    return b"\x01" + digest[1:] if digest == _EMPTY else digest  # that stands for a free slot


@final
class _Table:
    """Digests at the slots that their first bytes name, or the next free ones."""

    def __init__(self) -> None:
        self.count = 0
        self._slots = _FIRST_SLOTS
        self._bytes = bytearray(self._slots * _WIDTH)

    def __contains__(self, digest: bytes) -> bool:
        at = self._place(digest)
        return self._bytes[at : at + _WIDTH] == digest

    def add(self, digest: bytes) -> bool:
        at = self._place(digest)
        if self._bytes[at : at + _WIDTH] == digest:
            return False
        self._bytes[at : at + _WIDTH] = digest
        self.count += 1
        if 4 * self.count > 3 * self._slots:
            self._grow()
        return True

    def _place(self, digest: bytes) -> int:
        """Where ``digest`` is or belongs: from its own slot on to the first that holds it or is free."""
        slot = int.from_bytes(digest[:8], "little") & (self._slots - 1)
        while True:
            at = slot * _WIDTH
            found = self._bytes[at : at + _WIDTH]
            if found in (digest, _EMPTY):
                return at
            slot = (slot + 1) & (self._slots - 1)

    def _grow(self) -> None:
        before = self._bytes
        self._slots *= 2
        self._bytes = bytearray(self._slots * _WIDTH)
        for start in range(0, len(before), _WIDTH):
            digest = bytes(before[start : start + _WIDTH])
            if digest != _EMPTY:
                at = self._place(digest)
                self._bytes[at : at + _WIDTH] = digest
