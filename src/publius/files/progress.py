"""Progress and cancellation of long work.

Who waits makes a `Watch` and lets it run the work. The work says with `stage` what it does and with `advance` how far
it is, in the thread that it was called in; where nobody watches both do nothing.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any, Final, TypeVar, final

from publius.errors import UsageError

T = TypeVar("T")


@final
class Watch:
    """Follows one piece of work, which ends where it next says how far it is once another thread sets ``cancelled``."""

    def __init__(self) -> None:
        self.cancelled, self._depth = False, 0
        self._title: str | None = None
        self._begin(0, 0)

    def _begin(self, done: int, total: int) -> None:
        self._since, self._before, self._done, self._total = time.monotonic(), done, done, total

    def _check(self) -> None:
        if self.cancelled:
            raise UsageError("cancelled: nothing half-made is kept")

    def run(self, work: Callable[..., T], *arguments: Any) -> T:
        """``work(*arguments)``, watched; `UsageError` where it was stopped before its end."""
        before = _WATCH.set(self)
        try:
            self._check()
            return work(*arguments)
        finally:
            _WATCH.reset(before)

    def record(self) -> dict[str, Any]:
        """The stage, how many of its parts are done, seconds since it began, and those left at this speed if known."""
        seconds, done, total = time.monotonic() - self._since, self._done, self._total
        fresh = done - self._before
        left = round(seconds / fresh * (total - done), 1) if fresh > 0 and done < total else None
        return {"stage": self._title, "done": done, "total": total, "seconds": round(seconds, 1), "left": left}


_WATCH: Final = ContextVar("watch", default=Watch())  # noqa: B039  # that one nobody reads


@contextmanager
def stage(title: str) -> Iterator[None]:
    """Name the stage of work done inside, for the progress bar; inside another stage it is a part of that one."""
    watch = _WATCH.get()
    watch._check()
    watch._depth += 1
    if watch._depth == 1:
        watch._title = title
        watch._begin(0, 0)
    try:
        yield
    finally:
        watch._depth -= 1
        watch._title = watch._title if watch._depth else None


def advance(done: int, total: int) -> None:
    """``done`` of ``total`` equal parts of the stage (0: unknown); with fewer, or another total, something else began."""
    watch = _WATCH.get()
    watch._check()
    if watch._depth == 1:
        if done < watch._done or total != watch._total:
            watch._begin(done, total)
        watch._done = min(done, total) if total else done


def counted(parts: Iterable[T], total: int) -> Iterator[T]:
    """The ``parts`` of a stage as they are, each told when it is done."""
    advance(0, total)
    for done, part in enumerate(parts, start=1):
        yield part
        advance(done, total)
