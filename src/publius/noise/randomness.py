"""The only place where randomness is made.

A release draws from ChaCha20 keyed with bytes of the operating system's entropy source (SECURITY.md, rule 7). One `RunKey` is
made for a run; each document's generator is keyed with HMAC-SHA256(run key, document id), so a document that is
computed twice (a retry, a resume) repeats its noise instead of being released twice, and the result depends
neither on batches nor on workers. Two documents never share a stream; generators that live across a fork are given a
fresh key in the child.

``seed=`` and no argument at all would go through randomgen's 128-bit non-cryptographic pool, so only ``key=``
is used. Generators refuse to be pickled, copied or printed.
"""

from __future__ import annotations

import hashlib
import hmac
import os
import weakref
from collections.abc import Iterable, Sequence
from typing import Any, NoReturn, final

import numpy as np
from randomgen import ChaCha

from publius.errors import EntropyError, PolicyError, UsageError

KEY_BYTES = 32
_ROUNDS = 20
_SHAKE_BLOCK = 136

Generator = np.random.Generator


class _Sealed:
    """Refuses to leave the process."""

    def _refused(self, *_: Any) -> NoReturn:
        raise PolicyError("a release generator cannot be pickled or copied: it would repeat the noise")

    __reduce__ = __getstate__ = __copy__ = __deepcopy__ = _refused

    def __repr__(self) -> str:
        return "ChaCha20(sealed)"

    __str__ = __repr__


class _SealedChaCha(_Sealed, ChaCha):  # type: ignore[misc]  # randomgen has no type information
    """ChaCha20 whose key and position cannot be read, set, copied or pickled."""

    _sealed = False

    def __init__(self, key: bytes) -> None:
        super().__init__(key=int.from_bytes(key, "little"), rounds=_ROUNDS)
        self._sealed = True

    def seed(self, *arguments: Any, **named: Any) -> None:
        """Refused but for the one call that the constructor makes."""
        if self._sealed:
            raise PolicyError("a release generator has no seed")
        super().seed(*arguments, **named)

    @property
    def state(self) -> NoReturn:
        raise PolicyError("the state of a release generator is sealed: it would reveal the noise")


@final
class _SealedGenerator(_Sealed, Generator):
    """A NumPy generator over `_SealedChaCha`."""

    def spawn(self, n_children: int) -> NoReturn:
        raise PolicyError("a release generator has no children: ask RunKey for a generator instead")


def entropy(count: int = KEY_BYTES) -> bytes:
    """``count`` bytes from the operating system; `EntropyError` when it gives none, too few or constant ones."""
    try:
        data = os.urandom(count)
    except (OSError, NotImplementedError) as error:
        raise EntropyError(f"the operating system's entropy source failed ({type(error).__name__})") from error
    if len(data) != count or (count >= KEY_BYTES and len(set(data)) == 1):
        raise EntropyError("the operating system's entropy source gave too few or constant bytes")
    return data


_alive: weakref.WeakSet[_SealedChaCha] = weakref.WeakSet()


def _generator(key: bytes) -> Generator:
    bits = _SealedChaCha(key)
    _alive.add(bits)
    return _SealedGenerator(bits)


def _after_fork() -> None:
    """Both sides of a fork would draw the same noise; the child's generators start anew, or the child ends."""
    try:
        for bits in list(_alive):
            ChaCha.seed(bits, key=int.from_bytes(entropy(), "little"))
    except EntropyError:
        os._exit(EntropyError.exit_code)


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)


def system_rng() -> Generator:
    """A fresh ChaCha20 generator keyed with 32 bytes of the operating system's entropy."""
    return _generator(entropy())


def seeded_rng(seed: int) -> Generator:
    """A reproducible ChaCha20 generator, for experiments and audits only: a release has no seed."""
    return RunKey.seeded(seed).rng("")


def _utf8(document_id: str) -> bytes:
    try:
        return document_id.encode()
    except UnicodeEncodeError:
        raise UsageError("a document's id must be text that UTF-8 can hold") from None


@final
class RunKey:
    """The secret of one run, from which each document's generator is derived.

    A seeded one makes a reproducible experiment, never a release: with the seed known, the noise can be taken away again.
    """

    __slots__ = ("_claimed", "_key", "seeded_run")

    def __init__(self, key: bytes, *, seeded_run: bool = False) -> None:
        if len(key) != KEY_BYTES:
            raise EntropyError(f"a run key has {KEY_BYTES} bytes, not {len(key)}")
        self._key = key
        self.seeded_run = seeded_run
        self._claimed = set[str]()

    @classmethod
    def fresh(cls) -> RunKey:
        """A run key from the operating system's entropy source."""
        return cls(entropy())

    @classmethod
    def seeded(cls, seed: int) -> RunKey:
        """A reproducible run key for an experiment (NOT PRIVATE)."""
        return cls(hashlib.sha256(b"publius/experiment-seed/v1\0" + str(int(seed)).encode()).digest(), seeded_run=True)

    def rng(self, document_id: str) -> Generator:
        """The generator of one document: the same for the same run key and id, independent otherwise."""
        return _generator(hmac.digest(self._key, b"publius/document/v1\0" + _utf8(document_id), "sha256"))

    def claim(self, ids: Sequence[str]) -> None:
        """Note that documents of these ``ids`` are released under this key; `UsageError` for one that was before.

        A second release under it would repeat the noise: of another text it would give away how the two differ, of the
        same text that they are the same. An engine that computes a document again after a retry makes another object of
        the key for it (`expose`), and stands for it that the input is what it was.
        """
        if len({*ids}) < len(ids):
            raise UsageError("two documents have the same id, so they would get the same noise: make ids differ")
        if not self._claimed.isdisjoint(ids):
            raise UsageError(
                "this run key was used for a document of this id before, whose noise would repeat: a key is one "
                "run's, so take a fresh one"
            )
        self._claimed.update(ids)

    def bits(self, document_ids: Iterable[str], size: int) -> list[bytes]:
        """``size`` random bytes for each document, where those are all the randomness that it takes.

        Independent of what `rng` gives: SHAKE-256 (FIPS 202) of the key, filled up to a block of its own as in KMAC
        (NIST SP 800-185), and the id: a tenth of what it costs to key a generator anew.
        """
        keyed = hashlib.shake_256((b"publius/bits/v1\0" + self._key).ljust(_SHAKE_BLOCK, b"\0"))
        found = []
        for document_id in document_ids:
            stream = keyed.copy()
            stream.update(_utf8(document_id))
            found.append(stream.digest(size))
        return found

    def derive(self, purpose: str) -> bytes:
        """32 bytes for another ``purpose`` of the same run, which tell nothing of any document's noise."""
        return hmac.digest(self._key, b"publius/" + purpose.encode() + b"/v1", "sha256")

    def expose(self) -> bytes:
        """The key itself, for an engine that hands it to its own workers; never to be stored or logged."""
        return self._key

    def __reduce__(self) -> NoReturn:
        raise PolicyError("a run key cannot be pickled or copied by accident: an engine calls expose()")

    def __repr__(self) -> str:
        return f"RunKey({'seeded experiment' if self.seeded_run else 'secret'})"
