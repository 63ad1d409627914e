"""Batches through processes of this machine: in order, few under way at once, each worker on one thread.

On Linux workers are copies of this process, so that what they work with is not sent. Several of them on several
threads each would take longer than one, so BLAS is on one thread before the copies are made.
"""

from __future__ import annotations

import contextlib
import itertools
import os
import sys
import threading
import warnings
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING, Any, Final, TypeVar

from publius.errors import PubliusError, StorageError, UsageError, place_of
from publius.files.child import safe_start

if TYPE_CHECKING:
    from concurrent.futures import Future

State = TypeVar("State")
Batch = TypeVar("Batch")
Result = TypeVar("Result")

_AHEAD: Final = 3  # batches that each worker has been given, so that it waits for none
_FREED: Final = 24 * 2**20
"""Bytes: glibc, which has given so many back, keeps the memory of smaller arrays for the next ones, in copies too."""
_share = 0  # in a worker: the processors that its share is; 0 where nobody shares
_held: list[Any] = []  # in a worker: the work and what it works with


def mapped(
    work: Callable[[State, Batch], Result], state: State, batches: Iterable[Batch], *, workers: int | None,
    meanwhile: Callable[[], object] = bool,
) -> Iterator[Result]:  # fmt: skip
    """``work(state, batch)`` of each batch, in order; ``workers`` 1 works here, None takes one a CPU.

    Where several work and this process would only wait, a thread calls ``meanwhile``: what it finds it keeps for later,
    when it would be found all the same, and so would its errors. Errors of ours come out as they are; of any other its
    type and place alone, since its message may hold words of a document.
    """
    from threadpoolctl import threadpool_limits

    global _share
    if workers is not None and workers < 1:
        raise UsageError(f"--workers must be at least 1, not {workers}")
    count = workers or processors()
    waiting = iter(batches)
    first = [*itertools.islice(waiting, 2)]
    bytes(_FREED)  # never touched
    with threadpool_limits(1):
        if count == 1 or len(first) < 2:
            for batch in itertools.chain(first, waiting):
                before, _share = _share, 1
                try:
                    done = work(state, batch)
                finally:
                    _share = before
                yield done
            return
        yield from _in_processes(work, state, itertools.chain(first, waiting), count, meanwhile)


def processors() -> int:
    """The processors that work may use: those of this process, but one for a worker, however many workers there are."""
    return _share or (len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1)


def _in_processes(
    work: Callable[[State, Batch], Result], state: State, batches: Iterable[Batch], count: int,
    meanwhile: Callable[[], object],
) -> Iterator[Result]:  # fmt: skip
    import multiprocessing  # slow to start, and a single process needs none of it
    from concurrent.futures import ProcessPoolExecutor
    from concurrent.futures.process import BrokenProcessPool

    # A copy has none of the other threads but the locks they held: only the main thread, whose painter of progress
    # holds nothing that a worker uses, makes copies.
    forks = sys.platform == "linux" and threading.current_thread() is threading.main_thread()
    context = multiprocessing.get_context("fork" if forks else "spawn")
    under_way: deque[Future[Result]] = deque()
    executor = ProcessPoolExecutor(count, context, _begin, (work, state, os.getpid()))
    beside = threading.Thread(target=_quietly, args=(meanwhile,), daemon=True)
    try:
        for batch in batches:
            with safe_start(), warnings.catch_warnings():
                warnings.simplefilter("ignore", DeprecationWarning)  # of Python 3.12, about copies beside threads
                under_way.append(executor.submit(_do, batch))
            if beside.ident is None:  # all copies are made by now
                beside.start()
            if len(under_way) > _AHEAD * count:
                yield under_way.popleft().result()
        while under_way:
            yield under_way.popleft().result()
        beside.join()
    except BrokenProcessPool:
        raise StorageError(
            "a worker process died (was it out of memory? does a script start this outside of "
            "if __name__ == '__main__'?): use fewer --workers"
        ) from None
    finally:
        executor.shutdown(wait=True, cancel_futures=True)


def _quietly(meanwhile: Callable[[], object]) -> None:
    with contextlib.suppress(Exception):
        meanwhile()


def _begin(work: Callable[..., Any], state: Any, parent: int) -> None:
    """In a worker: one thread, nothing on the terminal, and an end when the process that started it has ended."""
    import signal

    from threadpoolctl import threadpool_limits

    signal.signal(signal.SIGINT, signal.SIG_IGN)  # who started it decides
    sys.stdout = sys.stderr = open(os.devnull, "w")  # noqa: SIM115  # foreign code may print what it works on
    threadpool_limits(1)
    global _share
    _share = 1
    _held[:] = [work, state]
    threading.Thread(target=_end_with, args=(parent,), daemon=True).start()


def _end_with(parent: int) -> None:
    import time

    while os.getppid() == parent:
        time.sleep(0.5)
    os._exit(1)


def _do(batch: Any) -> Any:
    try:
        return _held[0](_held[1], batch)
    except (PubliusError, MemoryError):
        raise
    except OSError as error:
        raise StorageError(f"{os.strerror(error.errno or 5)} ({place_of(error)})") from None
    except Exception as error:
        raise PubliusError(f"a bug in Publius: {place_of(error)}. Please report this line.") from None
