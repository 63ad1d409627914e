"""Progress and cancellation of long work.

Who waits makes a `Watch` and lets it run the work. The work says with `stage` what it does and with `advance` how far
it is, in the thread that it was called in; where nobody watches both do nothing. Once the watch is cancelled the next
`advance` raises `UsageError`, which passes through everything that cleans up.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager, contextmanager
from contextvars import ContextVar
from typing import Any, Final, TypeVar, final

from publius.errors import UsageError

T = TypeVar("T")


@final
class Watch:
    """Follows one piece of work and can stop it; another thread may look at it and stop it."""

    def __init__(self) -> None:
        self.cancelled, self._depth = False, 0
        self._title: str | None = None
        self._begin(0, 0)

    def _begin(self, done: int, total: int) -> None:
        self._since, self._before, self._done, self._total = time.monotonic(), done, done, total

    def run(self, work: Callable[..., T], *arguments: Any) -> T:
        """``work(*arguments)``, watched; `UsageError` where it was stopped before its end."""
        before = _WATCH.set(self)
        try:
            self.check()
            return work(*arguments)
        finally:
            _WATCH.reset(before)

    def cancel(self) -> None:
        """Stop the work where it next says how far it is."""
        self.cancelled = True

    def check(self) -> None:
        """`UsageError` once it is to stop."""
        if self.cancelled:
            raise UsageError("cancelled: nothing half-made is kept")

    def record(self) -> dict[str, Any]:
        """The stage, how many of its parts are done, seconds since it began, and those left at this speed if known."""
        seconds, done, total = time.monotonic() - self._since, self._done, self._total
        fresh = done - self._before
        left = round(seconds / fresh * (total - done), 1) if fresh > 0 and done < total else None
        return {"stage": self._title, "done": done, "total": total, "seconds": round(seconds, 1), "left": left}

    @contextmanager
    def stage(self, title: str) -> Iterator[None]:
        """A stage; one inside another is a part of it and is not told apart."""
        self.check()
        self._depth += 1
        if self._depth == 1:
            self._title = title
            self._begin(0, 0)
        try:
            yield
        finally:
            self._depth -= 1
            self._title = self._title if self._depth else None

    def advance(self, done: int, total: int) -> None:
        """The stage is so far; with fewer parts than before, or another total, something else has begun."""
        self.check()
        if self._depth == 1:
            if done < self._done or total != self._total:
                self._begin(done, total)
            self._done = min(done, total) if total else done


_UNREAD: Final = Watch()  # where nobody waits
_WATCH: Final = ContextVar("watch", default=_UNREAD)


def stage(title: str) -> AbstractContextManager[None]:
    """Name the stage of work done inside, for the progress bar; inside another stage it is a part of that one."""
    return _WATCH.get().stage(title)


def advance(done: int, total: int) -> None:
    """``done`` of ``total`` equal parts of the stage (0: unknown); `UsageError` where who waits has cancelled."""
    _WATCH.get().advance(done, total)


def counted(parts: Iterable[T], total: int) -> Iterator[T]:
    """The ``parts`` of a stage as they are, each told when it is done."""
    advance(0, total)
    for done, part in enumerate(parts, start=1):
        yield part
        advance(done, total)
