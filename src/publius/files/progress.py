"""Progress and cancellation of long work.

Who waits makes a `Watch` and lets it run the work. The work says with `stage` what it does and with `advance` how far
it is, in the thread that it was called in; where nobody watches both do nothing. Once the watch is cancelled the next
`advance` raises `CancelledError`, which passes through everything that cleans up.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any, Final, TypeVar, final

from publius.errors import CancelledError

T = TypeVar("T")

Advance = Callable[[int], object]
"""Hears how many more are done."""


def unheard(*told: object) -> None:
    """`Advance` where nobody waits."""


@final
class Watch:
    """Follows one piece of work and can stop it. Safe in threads."""

    def __init__(self) -> None:
        """Nothing is done yet."""
        self._lock = threading.Lock()
        self._since = time.monotonic()
        self._stages: list[str] = []
        self._done = self._total = 0
        self._first = (self._since, 0)
        self._last = self._since
        self.cancelled = self.began = False

    def run(self, work: Callable[..., T], *arguments: Any) -> T:
        """``work(*arguments)``, watched; `CancelledError` where it was stopped before its end."""
        before = _WATCH.set(self)
        try:
            self.began = True
            self.check()
            return work(*arguments)
        finally:
            _WATCH.reset(before)

    def cancel(self) -> None:
        """Stop the work where it next says how far it is."""
        self.cancelled = True

    def check(self) -> None:
        """`CancelledError` once it is to stop."""
        if self.cancelled:
            raise CancelledError("cancelled: nothing half-made is kept")

    def record(self) -> dict[str, Any]:
        """The stage, how many of its parts are done, seconds since it began, and those left if known."""
        with self._lock:
            now = time.monotonic()
            at, before = self._first
            fresh = self._done - before
            left = None
            if fresh > 0 and self._done < self._total:  # at the speed of the parts done
                left = (self._last - at) / fresh * (self._total - self._done) - (now - self._last)
            return {
                "stage": self._stages[0] if self._stages else None,
                "done": self._done, "total": self._total,
                "seconds": round(now - self._since, 1),
                "left": round(left, 1) if left is not None and left > 0 else None,
            }  # fmt: skip

    def enter(self, title: str) -> None:
        """A stage begins; one inside another is a part of it and is not told apart."""
        self.check()
        with self._lock:
            if not self._stages:
                self._since = self._last = time.monotonic()
                self._done = self._total = 0
                self._first = (self._since, 0)
            self._stages.append(title)

    def leave(self) -> None:
        """It ends."""
        with self._lock:
            self._stages.pop()

    def advance(self, done: int, total: int) -> None:
        """The innermost stage is so far; with fewer parts than before, or another total, something else has begun."""
        self.check()
        with self._lock:
            if len(self._stages) != 1:
                return
            self._last = time.monotonic()
            if done < self._done or total != self._total:
                self._first = (self._last, done)
            self._done, self._total = (min(done, total) if total else done), total


_WATCH: Final[ContextVar[Watch | None]] = ContextVar("watch", default=None)


@contextmanager
def stage(title: str) -> Iterator[None]:
    """Name the stage of work done inside, for the progress bar; inside another stage it is a part of that one."""
    watch = _WATCH.get()
    if watch is None:
        yield
        return
    watch.enter(title)
    try:
        yield
    finally:
        watch.leave()


def advance(done: int, total: int) -> None:
    """``done`` of ``total`` equal parts of the stage (0: unknown); `CancelledError` where who waits has cancelled."""
    watch = _WATCH.get()
    if watch is not None:
        watch.advance(done, total)


def counted(parts: Iterable[T], total: int) -> Iterator[T]:
    """The ``parts`` of a stage as they are, each told when it is done."""
    advance(0, total)
    for done, part in enumerate(parts, start=1):
        yield part
        advance(done, total)
