"""Processes of our own, which import nothing from the working folder, and batches through copies of this one.

Python looks into the working folder before its own modules: whoever can leave a file beside the documents could run
code with the curator's rights. What the user names as ``python:MODULE:NAME`` is imported all the same, last.
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
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, TypeVar

from publius.errors import PubliusError, StorageError, UsageError, place_of

if TYPE_CHECKING:
    from concurrent.futures import Future

State = TypeVar("State")
Batch = TypeVar("Batch")
Result = TypeVar("Result")

_AHEAD: Final = 3  # batches that each worker has been given, so that it waits for none
_FREED: Final = 24 * 2**20  # bytes: glibc, having given so many back, keeps what smaller arrays had, in copies too
_share = 0  # in a worker: the processors that its share is; 0 where nobody shares
_held: list[Any] = []  # in a worker: the work and what it works with
_ROOT: Final = str(Path(__file__).parents[2])
_START: Final = (
    "import runpy, sys; root, name = sys.argv[1:3]; del sys.argv[1:3]; sys.path += [root] * (root not in sys.path); "
    "runpy.run_module(name, run_name='__main__', alter_sys=True)"
)
SAFE: Final = "PYTHONSAFEPATH"


def command(module: str, *arguments: str) -> list[str]:
    """The command that starts a module of ours in a process of its own, to be given `environment`."""
    return [sys.executable, "-P", "-X", "utf8", "-c", _START, _ROOT, module, *arguments]


def environment(**more: str) -> dict[str, str]:
    """Our environment for a process that looks into no working folder, and ``more``."""
    return {**os.environ, SAFE: "1", **more}


@contextlib.contextmanager
def safe_start() -> Iterator[None]:
    """Inside, processes that a library starts look into no working folder either."""
    before = {SAFE: os.environ[SAFE]} if SAFE in os.environ else {}
    os.environ[SAFE] = "1"
    try:
        yield
    finally:
        del os.environ[SAFE]
        os.environ.update(before)


def searched() -> list[str]:
    """The folders that the user lets Python search, in ``PYTHONPATH``; an empty entry is the working folder."""
    found = os.environ.get("PYTHONPATH")
    return [os.path.abspath(each or here()) for each in found.split(os.pathsep)] if found else []


def forget_foreign_folders() -> None:
    """Let this process, which is a command, import from our own installation only, and its workers too."""
    from sysconfig import get_paths

    installed = {os.path.abspath(path) for path in get_paths().values()} | {_ROOT}
    foreign = {*searched(), here()} - installed
    sys.path[:] = [each for each in sys.path if os.path.abspath(each or here()) not in foreign]


def here() -> str:
    """The working folder."""
    try:
        return os.getcwd()
    except FileNotFoundError:  # it was removed
        return os.sep


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

    if workers is not None and workers < 1:
        raise UsageError(f"--workers must be at least 1, not {workers}")
    count = workers or processors()
    waiting = iter(batches)
    first = [*itertools.islice(waiting, 2)]
    with threadpool_limits(1):  # before the copies: several of them on several threads each take longer than one
        if count == 1 or len(first) < 2:
            for batch in itertools.chain(first, waiting):
                with one_processor():
                    done = work(state, batch)
                yield done
            return
        yield from _in_processes(work, state, itertools.chain(first, waiting), count, meanwhile)


@contextlib.contextmanager
def one_processor() -> Iterator[None]:
    """Inside, this process works beside others: one processor is its share, and memory that it frees stays at hand."""
    global _share
    before, _share = _share, 1
    bytes(_FREED)  # never touched
    try:
        yield
    finally:
        _share = before


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
    bytes(_FREED)
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
