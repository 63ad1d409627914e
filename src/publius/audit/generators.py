"""The generators of releases: fresh in every process and thread, keyed by the system, sealed (R6 to R9)."""

from __future__ import annotations

import copy
import multiprocessing
import os
import pickle
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from functools import partial
from typing import Any, Final

from publius.audit.forking import PROCESSES, in_processes
from publius.audit.implementation import Subject
from publius.audit.outcomes import Check, violations
from publius.errors import EntropyError, PolicyError
from publius.noise.randomness import Generator

_BLOCK_BYTES: Final = 32


def _blocks(generator: Callable[[], Generator], count: int) -> list[bytes]:
    return [generator().bytes(_BLOCK_BYTES) for _ in range(count)]


def _first_block(generator: Callable[[], Generator]) -> None:
    generator().bytes(_BLOCK_BYTES)


def check_streams(subject: Subject, streams: int, methods: tuple[str, ...] = ("fork", "spawn")) -> Check:
    """The first blocks of ``streams`` generators made in forked and spawned processes and threads: none repeats."""
    methods = tuple(method for method in methods if method in multiprocessing.get_all_start_methods())
    each = -(-streams // (len(methods) + 1))
    parts = 4 * PROCESSES
    share = -(-each // parts)
    tasks = [(subject.generator, share)] * parts
    drawn = partial(_first_block, subject.generator)  # a fork must not inherit its parent's place
    found: list[bytes] = []
    for method in methods:
        found += [block for part in in_processes(_blocks, tasks, method, first=drawn) for block in part]
    with ThreadPoolExecutor(PROCESSES) as threads:
        shares = threads.map(_blocks, [subject.generator] * parts, [share] * parts)
        found += [block for part in shares for block in part]
    return violations(
        "generators: no block repeats in processes and threads", len(found), len(found) - len(set(found))
    )


def _fails(count: int) -> bytes:
    raise OSError("no entropy")


def _is_missing(count: int) -> bytes:
    raise NotImplementedError


ENTROPY_FAILURES: Final[tuple[Callable[[int], bytes], ...]] = (
    _fails,
    _is_missing,
    lambda count: b"",
    lambda count: bytes(count - 1),
    lambda count: bytes(count),
    lambda count: b"\xff" * count,
)


@contextmanager
def entropy_source(source: Callable[[int], bytes]) -> Iterator[None]:
    """Put ``source`` in place of the system's entropy for a while."""
    genuine = os.urandom
    os.urandom = source
    try:
        yield
    finally:
        os.urandom = genuine


def _stopped(make: Callable[[], Generator]) -> bool:
    try:
        make().bytes(1)
    except EntropyError:
        return True
    except Exception:  # an untyped error is not the stop that was promised
        return False
    return False


def check_entropy(subject: Subject) -> Check:
    """Each way in which the entropy source can fail ends in `EntropyError`, not in a generator."""
    survived = 0
    for source in ENTROPY_FAILURES:
        with entropy_source(source):
            survived += not _stopped(subject.generator)
    return violations(
        "generators: a failing entropy source stops the release", len(ENTROPY_FAILURES), survived
    )


def check_key(subject: Subject) -> Check:
    """A generator asks the system for 32 bytes, and changing any of them changes its stream."""
    asked: list[int] = []
    key = bytes(range(32))

    def stream(data: bytes) -> bytes:
        def source(count: int) -> bytes:
            asked.append(count)
            return data[:count]

        with entropy_source(source):
            return subject.generator().bytes(_BLOCK_BYTES)

    reference = stream(key)
    same = sum(
        stream(key[:place] + bytes([key[place] ^ 1 << bit]) + key[place + 1 :]) == reference
        for place in range(len(key))
        for bit in (0, 7)
    )
    short = sum(count < len(key) for count in asked)
    return violations("generators: keyed with 32 bytes of the system", len(asked), same + short)


def _refused(attempt: Callable[[Generator], Any], rng: Generator) -> bool:
    """Whether ``attempt`` ends in `PolicyError`; another error is no refusal."""
    try:
        attempt(rng)
    except PolicyError:
        return True
    except Exception:
        return False
    return False


def check_sealed(subject: Subject) -> Check:
    """Neither pickling, copying nor asking for the state gives a second generator with the same future (R9)."""
    attempts: list[Callable[[Generator], Any]] = [
        pickle.dumps,
        copy.copy,
        copy.deepcopy,
        lambda rng: rng.bit_generator.state,
        lambda rng: rng.spawn(1),
        lambda rng: pickle.dumps(rng.bit_generator),
    ]
    leaks = sum(not _refused(attempt, subject.generator()) for attempt in attempts)
    return violations("generators: cannot be copied or pickled", len(attempts), leaks)
