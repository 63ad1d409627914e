"""Broken generators: repeated, guessable, copied, or made although the system gave no randomness."""

from __future__ import annotations

import itertools
import os
import time
from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Final, final

from audit.mutants.mutant import Mutant, Probe
from publius.audit.generators import check_entropy, check_key, check_sealed, check_streams
from publius.audit.implementation import GENUINE, Subject
from publius.audit.outcomes import Check
from publius.errors import EntropyError
from publius.noise.randomness import Generator, RunKey, entropy, seeded_rng, system_rng

_STREAMS: Final = 240
_counter = itertools.count()


def _of_the_process() -> Generator:
    """Seeded with a counter of the module: a fork takes its place along."""
    return seeded_rng(next(_counter))


def _of_twelve_bits() -> Generator:
    return seeded_rng(int.from_bytes(os.urandom(2), "little") % 4096)


def _of_the_clock() -> Generator:
    return seeded_rng(int(time.time()))


def _of_the_process_id() -> Generator:
    return seeded_rng(os.getpid())


def _half_a_key() -> Generator:
    return RunKey(entropy()[:16] + bytes(16)).rng("")


def _clock_when_all_else_fails() -> Generator:
    try:
        return system_rng()
    except EntropyError:
        return _of_the_clock()


def _unchecked() -> Generator:
    """Whatever the system gave, filled up with zeros."""
    try:
        given = os.urandom(32)
    except (OSError, NotImplementedError):
        given = b""
    return RunKey(given.ljust(32, b"\0")[:32]).rng("")


@final
class _Copied(Generator):
    """A generator that can be pickled and copied: its noise could be drawn again."""

    def __init__(self, key: bytes) -> None:
        super().__init__(RunKey(key).rng("").bit_generator)
        self._key = key

    def __reduce__(self) -> Any:
        return _Copied, (self._key,)


def _copied() -> Generator:
    return _Copied(entropy())


def probe_streams(subject: Subject, key: RunKey) -> Sequence[Check]:
    """No block repeats in forked processes and threads."""
    return [check_streams(subject, _STREAMS, methods=("fork",))]


def probe_source(subject: Subject, key: RunKey) -> Sequence[Check]:
    """What is asked of the system, what happens when it fails, and whether copies can be made."""
    return [check_entropy(subject), check_key(subject), check_sealed(subject)]


def generator_mutants() -> list[Mutant]:
    """Eight broken ways to make a generator."""
    repeats = "generators: no block repeats in processes and threads"
    rows: tuple[tuple[str, Any, Probe, str], ...] = (
        ("seeded with a counter that forks inherit", _of_the_process, probe_streams, repeats),
        ("seeded with twelve bits", _of_twelve_bits, probe_streams, repeats),
        ("seeded with the clock", _of_the_clock, probe_streams, repeats),
        ("seeded with the process id", _of_the_process_id, probe_streams, repeats),
        ("half a key", _half_a_key, probe_source, "generators: keyed with 32 bytes of the system"),
        ("clock when the entropy fails", _clock_when_all_else_fails, probe_source, _STOPS),
        ("entropy not checked", _unchecked, probe_source, _STOPS),
        ("can be copied", _copied, probe_source, "generators: cannot be copied or pickled"),
    )
    return [
        Mutant(f"generator: {name}", replace(GENUINE, generator=generator), probe, check)
        for name, generator, probe, check in rows
    ]


_STOPS: Final = "generators: a failing entropy source stops the release"
