"""Which ids a run has met, in a few bytes each: a hundred million fit in the memory of one machine."""

from __future__ import annotations

import hashlib
from typing import Final, final

_WIDTH: Final = (
    12  # bytes of digest: two of 10^8 ids collide with probability 10^-13, which refuses one of them
)
_EMPTY: Final = bytes(_WIDTH)
_FIRST_SLOTS: Final = 2**10


@final
class IdSet:
    """A set of ids, each kept as 96 bits of BLAKE2b in an open-addressing table of about 25 bytes an id."""

    def __init__(self) -> None:
        self._slots = _FIRST_SLOTS
        self._table = bytearray(self._slots * _WIDTH)
        self._count = 0

    def __len__(self) -> int:
        """How many different ids were added."""
        return self._count

    def add(self, identity: str) -> bool:
        """Add an id; whether it was new."""
        digest = hashlib.blake2b(identity.encode(), digest_size=_WIDTH).digest()
        if digest == _EMPTY:  # stands for a free slot
            digest = b"\x01" + digest[1:]
        at = self._place(self._table, self._slots, digest)
        if self._table[at : at + _WIDTH] == digest:
            return False
        self._table[at : at + _WIDTH] = digest
        self._count += 1
        if 4 * self._count > 3 * self._slots:
            self._grow()
        return True

    @staticmethod
    def _place(table: bytearray, slots: int, digest: bytes) -> int:
        """Where ``digest`` is or belongs: from its own slot on to the first that holds it or is free."""
        slot = int.from_bytes(digest[:8], "little") & (slots - 1)
        while True:
            at = slot * _WIDTH
            found = table[at : at + _WIDTH]
            if found in (digest, _EMPTY):
                return at
            slot = (slot + 1) & (slots - 1)

    def _grow(self) -> None:
        slots = 2 * self._slots
        table = bytearray(slots * _WIDTH)
        for at in range(0, len(self._table), _WIDTH):
            digest = bytes(self._table[at : at + _WIDTH])
            if digest != _EMPTY:
                place = self._place(table, slots, digest)
                table[place : place + _WIDTH] = digest
        self._slots, self._table = slots, table
