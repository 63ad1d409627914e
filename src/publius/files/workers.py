"""Worker processes that import nothing from the working folder and nothing that the environment names: see `child`.

They are started anew (`spawning`), or are copies of a program of ours (`forking`).
"""

from __future__ import annotations

import os
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from multiprocessing import context as contexts
from multiprocessing.context import BaseContext, SpawnContext, SpawnProcess
from multiprocessing.reduction import ForkingPickler
from pickle import loads
from typing import TYPE_CHECKING, Any, Final

from publius.files.child import SAFE, SEARCH, parted

if TYPE_CHECKING:
    from multiprocessing.queues import SimpleQueue

DIED: Final = (
    "a worker process died (was it out of memory? does a script start this outside of "
    "if __name__ == '__main__'?)"
)

_changing = threading.RLock()


class _Process(SpawnProcess):
    """A worker that starts without the working folder and the environment; what is foreign comes last on its path."""

    @staticmethod
    def _Popen(process_obj: Any) -> Any:
        with _neutral():
            return SpawnProcess._Popen(process_obj)


class _Context(SpawnContext):
    Process = _Process


def spawning() -> SpawnContext:
    """The context of `multiprocessing` for workers of this process; see `child.command` for what is no worker."""
    if sys.platform != "win32":
        from multiprocessing import resource_tracker

        with _neutral():
            resource_tracker.ensure_running()  # a process too, started with the first lock otherwise
    return _Context()


@contextmanager
def carried(context: SpawnContext, what: Any, workers: int) -> Iterator[SimpleQueue[Any]]:
    """A queue from which each of so many ``workers`` is to take ``what``, sent beside whatever the caller does.

    It is more than a pipe holds. With what starts a worker it may not be sent: Python would wait for ever for one that
    died before it had read that. It is packed before the caller goes on: what he works with changes, and workers would
    wait for ever for what could not be packed meanwhile.
    """
    needed = context.SimpleQueue()
    sending = threading.Thread(target=_send, args=(needed, _Packed(what), workers))
    sending.start()
    try:
        yield needed
    finally:
        needed.close()  # where one died before it took what it needs, nobody else will
        sending.join()


class _Packed:
    """What was packed once, and is itself again where it arrives."""

    def __init__(self, what: Any) -> None:
        self._packed = bytes(ForkingPickler.dumps(what))

    def __reduce__(self) -> tuple[Any, ...]:
        return loads, (self._packed,)


def _send(needed: SimpleQueue[Any], what: _Packed, workers: int) -> None:
    with suppress(OSError, TypeError):  # it was closed, perhaps in the middle: nobody waits for it any more
        for _ in range(workers):
            needed.put(what)


def forking(ending: int) -> BaseContext | None:
    """The context for workers that are copies of this process; None where one might find a lock that nobody opens.

    That is so where other threads run: a copy has none of them, but all that they held. Only ``ending`` threads may be
    there, which end themselves before a copy is made. Elsewhere than on Linux libraries of the system have threads.
    """
    if sys.platform != "linux" or threading.active_count() > 1:
        return None
    try:
        threads = len(os.listdir("/proc/self/task"))
    except OSError:
        return None
    return contexts.ForkContext() if threads <= 1 + ending else None


def make_neutral() -> None:
    """In a copy: the environment and the path of a worker that was started anew."""
    own, foreign = parted(sys.path)
    sys.path[:] = own + foreign
    os.environ.pop(SEARCH, None)
    os.environ[SAFE] = "1"


@contextmanager
def _neutral() -> Iterator[None]:
    """Workers inherit the environment and the path that stand while they start; both are as before after that."""
    with _changing:
        path, before = sys.path, {name: os.environ.get(name) for name in (SEARCH, SAFE)}
        own, foreign = parted(path)
        try:
            sys.path = own + foreign
            os.environ.pop(SEARCH, None)
            os.environ[SAFE] = "1"
            yield
        finally:
            sys.path = path
            for name, value in before.items():
                if value is None:
                    os.environ.pop(name, None)
                else:
                    os.environ[name] = value
