"""Run as a script by test_ledger: many processes on one ledger, and one that is killed over and over.

A process of its own, because it forks: pytest's has threads.
"""

import contextlib
import os
import signal
import sys
import time
from pathlib import Path

from publius.errors import BudgetError, StorageError
from publius.noise.randomness import seeded_rng
from publius.privacy.ledger import Ledger


def spend_many(path, processes, spends):
    """Each process spends 1 on one document ``spends`` times; prints how often it was admitted in all."""
    children = []
    for _ in range(processes):
        reader, writer = os.pipe()
        if not os.fork():
            os.write(writer, str(_admitted(path, spends)).encode())
            os._exit(0)
        os.close(writer)
        children.append(reader)
    print(sum(int(os.read(reader, 20)) for reader in children))


def _admitted(path, spends):
    ledger, admitted = Ledger(path), 0
    for _ in range(spends):
        with contextlib.suppress(BudgetError):
            ledger.spend({"doc": 1})
            admitted += 1
    return admitted


def spend_by_names(processes, spends, names):
    """As `spend_many`, but each process goes round ``names``, from one of its own on; a refused name admits nothing."""
    children = []
    for place in range(processes):
        reader, writer = os.pipe()
        if not os.fork():
            chosen = [names[(place + step) % len(names)] for step in range(spends)]
            os.write(writer, str(sum(map(_admitted_once, chosen))).encode())
            os._exit(0)
        os.close(writer)
        children.append(reader)
    print(sum(int(os.read(reader, 20)) for reader in children))


def _admitted_once(name):
    with contextlib.suppress(BudgetError, StorageError):
        Ledger(name).spend({"doc": 1})
        return True
    return False


def kill_often(path, released, kills):
    """A child debits, then releases (one byte, flushed to the disk), until it is killed; ``kills`` times."""
    rng = seeded_rng(5)
    start = time.perf_counter()
    Ledger(path).spend({"other": 1})
    longest = 4 * (time.perf_counter() - start)
    for _ in range(kills):
        child = os.fork()
        if not child:
            _release_forever(path, released)
        time.sleep(longest * rng.random())
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)


def _release_forever(path, released):
    ledger = Ledger(path)
    file = os.open(released, os.O_WRONLY | os.O_CREAT | os.O_APPEND)
    while True:
        ledger.spend({"doc": 1})
        os.write(file, b"r")
        os.fsync(file)


if __name__ == "__main__":
    match sys.argv[1:]:
        case ["spend", path, processes, spends]:
            spend_many(Path(path), int(processes), int(spends))
        case ["names", processes, spends, *names]:
            spend_by_names(int(processes), int(spends), names)
        case ["kill", path, released, kills]:
            kill_often(Path(path), Path(released), int(kills))
