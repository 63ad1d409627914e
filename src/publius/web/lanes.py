"""Turns: at most a few requests compute at once, the others wait; long ones do not stop short ones."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Any, TypeVar, final

from publius.errors import StorageError
from publius.web.limits import Limits

T = TypeVar("T")


class BusyError(StorageError):
    """Too many requests are waiting."""


@final
class Lane:
    """Calls in ``workers`` threads, and a queue of limited length before them."""

    def __init__(self, workers: int, limits: Limits) -> None:
        """Threads start when they are needed."""
        self._pool = ThreadPoolExecutor(workers, "lane")
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
        call = asyncio.get_running_loop().run_in_executor(self._pool, partial(function, *arguments))
        call.add_done_callback(self._finished)  # even when the one who asked has gone
        return await asyncio.shield(call)

    def _finished(self, call: asyncio.Future[Any]) -> None:
        self._turns.release()
        if not call.cancelled():
            call.exception()  # seen, so that asyncio does not log what nobody waits for

    def close(self) -> None:
        """Begin nothing more."""
        self._pool.shutdown(wait=False, cancel_futures=True)
