"""A process without threads to fork from: a fork beside threads can inherit a lock that nobody releases."""

from __future__ import annotations

import multiprocessing
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from typing import Any, Final

from publius.audit.checkout import attach
from publius.files.workers import spawning

PROCESSES: Final = 4


def apart(function: Callable[..., Any], *arguments: Any) -> Any:
    """``function(*arguments)`` in a new process, spawned for it; all must be picklable.

    They may come from the checkout's own modules: a new process finds these too.
    """
    with ProcessPoolExecutor(1, spawning(), attach) as process:
        return process.submit(function, *arguments).result()


def in_processes(
    work: Callable[..., Any],
    jobs: list[Any],
    method: str = "fork",
    *,
    first: Callable[[], Any] | None = None,
) -> list[Any]:
    """``work(*job)`` for every job in `PROCESSES` children of a process of their own, made by ``method``.

    ``first`` is called in that process before it has children, so that a fork can inherit what it left. Where there
    is no fork, children are spawned.
    """
    if method not in multiprocessing.get_all_start_methods():
        method = "spawn"
    found: list[Any] = apart(_call, method, first, work, jobs)
    return found


def _call(
    method: str, first: Callable[[], Any] | None, work: Callable[..., Any], jobs: list[Any]
) -> list[Any]:
    if first is not None:
        first()
    context = spawning() if method == "spawn" else multiprocessing.get_context(method)
    with context.Pool(PROCESSES, attach) as pool:
        return pool.starmap(work, jobs)
