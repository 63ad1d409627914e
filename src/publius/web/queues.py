"""Turns: at most a few requests compute at once, the others wait; long ones do not stop short ones."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from threading import Thread
from typing import Any, TypeVar, final

from publius.errors import StorageError
from publius.web.guards.limits import ServerLimits

T = TypeVar("T")


class BusyError(StorageError):
    """Too many requests are waiting."""


@final
class Lane:
    """Calls in at most so many threads, and a queue of limited length before them.

    The threads do not keep the process alive: who interrupts it need not wait for a certificate.
    """

    def __init__(self, workers: int, limits: ServerLimits) -> None:
        """Nothing is started yet."""
        self._turns = asyncio.Semaphore(workers)
        self._limits = limits
        self._waiting = 0

    async def run(self, function: Callable[..., T], *arguments: Any) -> T:
        """The result of ``function(*arguments)`` when its turn has come; `BusyError` when that takes too long."""
        if self._waiting >= self._limits.waiting:
            raise BusyError("too many requests are waiting: try again")
        self._waiting += 1
        try:
            async with asyncio.timeout(self._limits.waiting_seconds):
                await self._turns.acquire()
        except TimeoutError:
            raise BusyError("other requests took too long: try again") from None
        finally:
            self._waiting -= 1
        call: asyncio.Future[T] = asyncio.get_running_loop().create_future()
        call.add_done_callback(self._finished)  # even when the one who asked has gone
        _start(call, partial(function, *arguments))
        return await asyncio.shield(call)

    def _finished(self, call: asyncio.Future[Any]) -> None:
        self._turns.release()
        if not call.cancelled():
            call.exception()  # seen, so that asyncio does not log what nobody waits for


@final
class Work:
    """Computations under way for somebody: releases, which are finished, and the rest, which is given up."""

    def __init__(self) -> None:
        """Nothing yet."""
        self._must_end: set[asyncio.Task[Any]] = set()
        self._may_stop: set[asyncio.Task[Any]] = set()
        self._given_up = False

    def add(self, task: asyncio.Task[Any], *, must_end: bool) -> None:
        """Note a task until it is done."""
        (self._must_end if must_end else self._may_stop).add(task)
        task.add_done_callback(self._done)
        if self._given_up and not must_end:
            task.cancel()

    def give_up(self) -> None:
        """Cancel what need not end, now and from now on; who asked for it is told."""
        self._given_up = True
        for task in self._may_stop:
            task.cancel()

    async def ended(self) -> None:
        """Wait for what must end."""
        if self._must_end:
            await asyncio.wait(self._must_end)

    def _done(self, task: asyncio.Task[Any]) -> None:
        self._must_end.discard(task)
        self._may_stop.discard(task)
        if not task.cancelled():
            task.exception()  # seen, so that asyncio does not log what nobody waits for


def _start(call: asyncio.Future[T], function: Callable[[], T]) -> None:
    try:
        Thread(target=_work, args=(call, function), name="lane", daemon=True).start()
    except RuntimeError:
        call.cancel()
        raise BusyError("no thread can be started now: try again") from None


def _work(call: asyncio.Future[T], function: Callable[[], T]) -> None:
    """In a thread: the outcome of ``function`` is handed to the loop that waits for it."""
    settle: Callable[[], None]
    try:
        settle = partial(call.set_result, function())
    except StopIteration as error:  # a future holds none, and the one who waits would never be told
        settle = partial(call.set_exception, RuntimeError(f"an iteration ended: {type(error).__name__}"))
    except BaseException as error:  # whatever it is, the one who waits is told
        settle = partial(call.set_exception, error)
    with suppress(RuntimeError):  # the loop is closed: nobody waits any more
        call.get_loop().call_soon_threadsafe(settle)
