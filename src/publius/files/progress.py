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
from dataclasses import dataclass
from typing import Any, Final, TypeVar, final

from publius.errors import CancelledError

T = TypeVar("T")

Progress = Callable[[str, int, int], object]
"""Hears which part is done, how many are, and of how many (0 where nobody knows)."""

Advance = Callable[[int], object]
"""Hears how many more are done."""


def unheard(*told: object) -> None:
    """`Progress` and `Advance` where nobody waits."""


@final
@dataclass(slots=True)
class Pace:
    """How many parts are done, and how fast: what is left is told from the parts done alone."""

    done: int = 0
    total: int = 0
    first: tuple[float, int] = (0.0, 0)
    last: float = 0.0

    def advance(self, done: int, total: int) -> None:
        """Record progress; with fewer parts than before, or another total, something else has begun."""
        self.last = time.monotonic()
        if done < self.done or total != self.total:
            self.first = (self.last, done)
        self.done, self.total = min(done, total), total

    def left(self) -> float | None:
        """Seconds for what is missing, at the speed of the parts done.

        None before the first and after the last, and when the next takes longer than all that were missing.
        """
        at, before = self.first
        fresh = self.done - before
        if fresh <= 0 or self.done >= self.total:
            return None
        needed = (self.last - at) / fresh * (self.total - self.done)
        left = needed - (time.monotonic() - self.last)
        return left if left > 0 else None


@final
class Watch:
    """Follows one piece of work and can stop it. Safe in threads."""

    def __init__(self) -> None:
        """Nothing is done yet."""
        self._lock = threading.Lock()
        self._made = self._since = time.monotonic()
        self._stages: list[str] = []
        self._pace = Pace()
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
            left = self._pace.left()
            return {
                "stage": self._stages[0] if self._stages else None,
                "done": self._pace.done, "total": self._pace.total,
                "seconds": round(time.monotonic() - (self._since if self._stages else self._made), 1),
                "left": None if left is None else round(left, 1),
            }  # fmt: skip

    def enter(self, title: str) -> None:
        """A stage begins; one inside another is a part of it and is not told apart."""
        self.check()
        with self._lock:
            if not self._stages:
                self._since, self._pace = time.monotonic(), Pace()
            self._stages.append(title)

    def leave(self) -> None:
        """It ends."""
        with self._lock:
            self._stages.pop()

    def advance(self, done: int, total: int) -> None:
        """The innermost stage is so far."""
        self.check()
        with self._lock:
            if len(self._stages) == 1:
                self._pace.advance(done, total)


_WATCH: Final[ContextVar[Watch | None]] = ContextVar("watch", default=None)


def is_watched() -> bool:
    """Whether somebody waits for what this thread does, so that it is worth counting what is to be done."""
    return _WATCH.get() is not None


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
    """``done`` of ``total`` equal parts of the stage; `CancelledError` where who waits has cancelled."""
    watch = _WATCH.get()
    if watch is not None:
        watch.advance(done, total)


def counted(parts: Iterable[T], total: int) -> Iterator[T]:
    """The ``parts`` of a stage as they are, each told when it is done."""
    advance(0, total)
    for done, part in enumerate(parts, start=1):
        yield part
        advance(done, total)
