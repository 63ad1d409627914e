"""The requests that can be followed and stopped, by the ids that who asked chose, while they are answered."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Final, final

from publius.errors import UsageError
from publius.files.progress import Watch
from publius.web.answers import Progress

_NOTHING: Final = Progress(state="none", stage=None, done=0, total=0, seconds=0.0, left=None)


@final
class Watches:
    """Used in the loop of the service alone."""

    def __init__(self) -> None:
        """Nothing is asked yet."""
        self._known: dict[str, tuple[Watch, asyncio.Task[Any]]] = {}

    @contextmanager
    def known(self, id: str | None, watch: Watch, running: asyncio.Task[Any]) -> Iterator[None]:
        """Inside, ``running`` can be followed under ``id``, if it has one."""
        if id is None:
            yield
            return
        if id in self._known:
            running.cancel()
            raise UsageError("another request is followed under this id: choose one at random")
        self._known[id] = watch, running
        try:
            yield
        finally:
            del self._known[id]

    def record(self, id: str) -> Progress:
        """How far it is."""
        if id not in self._known:
            return _NOTHING
        watch = self._known[id][0]
        return Progress.of(state="running" if watch.began else "waiting", **watch.record())

    def cancel(self, id: str) -> None:
        """Stop it: a request that waits for its turn leaves the queue, work ends where it next says how far it is."""
        if id in self._known:
            watch, running = self._known[id]
            watch.cancel()
            if not watch.began:
                running.cancel()
