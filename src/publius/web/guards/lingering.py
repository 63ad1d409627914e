"""The end of a connection: what was answered can be read, even while the request is still being sent.

A socket that is closed with unread data resets the connection, and the client loses the answer that it was about to
read. So after an early answer (a body that is too large, a wrong token) our side is closed for writing only, and
what still comes is read and thrown away, up to a limit, until the client closes too.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any, final

from publius.web.guards.limits import ServerLimits


@final
class LingeringTransport:
    """A transport whose ``close`` half-closes and waits for the other side; all else is the transport's own."""

    def __init__(self, transport: asyncio.Transport, limits: ServerLimits, ended: Callable[[], None]) -> None:
        """Wrap ``transport``; ``ended`` is called once, when our side is closed and the rest is thrown away."""
        self._transport, self._limits, self._ended = transport, limits, ended
        self._left: int | None = None
        self._timer: asyncio.TimerHandle | None = None

    def __getattr__(self, name: str) -> Any:
        return getattr(self._transport, name)

    @property
    def lingers(self) -> bool:
        """Whether our side is closed and the other is waited for."""
        return self._left is not None

    def is_closing(self) -> bool:
        """Whether nothing can be written any more."""
        return self.lingers or self._transport.is_closing()

    def close(self) -> None:
        """Send what is left to send and the end, then wait for the client's end, within the limits."""
        if self.is_closing():
            return
        self._left = self._limits.drained_bytes
        self._ended()
        try:
            self._transport.write_eof()
            self._transport.resume_reading()
        except (OSError, RuntimeError):  # the client was quicker
            self.close_at_once()
            return
        loop = asyncio.get_running_loop()
        self._timer = loop.call_later(self._limits.drained_seconds, self._give_up)

    def throw_away(self, data: bytes) -> None:
        """Throw away the rest that still came."""
        self._left = (self._left or 0) - len(data)
        if self._left < 0:
            self.close_at_once()

    def _give_up(self) -> None:
        """The other side has had its time: what it did not read by now is not kept for it."""
        if self._transport.get_write_buffer_size():
            self._transport.abort()
        self.close_at_once()

    def close_at_once(self) -> None:
        """Without waiting."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        self._transport.close()
