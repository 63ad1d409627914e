"""The server: bound to the loopback address only, silent, impatient with clients that stall."""

from __future__ import annotations

import asyncio
import base64
import logging
import os
import re
import signal
import socket
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, final

import h11
import uvicorn
from uvicorn.protocols.http.h11_impl import H11Protocol

from publius.errors import DataError, PolicyError, StorageError
from publius.files import os_errors, shown, write_file
from publius.noise.randomness import entropy
from publius.web.front import Later, guarded
from publius.web.guards.limits import HEAD_BYTES, ServerLimits
from publius.web.guards.lingering import LingeringTransport
from publius.web.queues import Work

if TYPE_CHECKING:
    from starlette.types import ASGIApp

    from publius.web.state import State

HOST: Final = "127.0.0.1"
_BACKLOG: Final = 256
_LONGEST_TOKEN: Final = 200
_TOKEN: Final = re.compile(rb"[A-Za-z0-9_-]{43,200}")


def new_token() -> str:
    """256 bits of the operating system's entropy, as a word."""
    return base64.urlsafe_b64encode(entropy(32)).decode().rstrip("=")


def kept_token(path: Path) -> str:
    """The token in a file, which is made with a new one where there is none.

    `PolicyError` where others may read or change the file, or it belongs to somebody else, who knows the token;
    `DataError` where it holds no token of ours.
    """
    with os_errors("read", path):
        try:
            with path.open("rb") as file:
                status = os.fstat(file.fileno())
                if status.st_uid != os.geteuid():
                    raise PolicyError(
                        f"{shown(path)} belongs to somebody else, who knows the token in it: name a new file"
                    )
                if status.st_mode & 0o077:
                    raise PolicyError(
                        f"others may read or change {shown(path)}, which holds a token: chmod 600, or name a new file"
                    )
                found = file.read(_LONGEST_TOKEN + 2).strip()
        except FileNotFoundError:
            found = new_token().encode()
            with write_file(path, 0o600) as made:
                made.write(found + b"\n")
    if not _TOKEN.fullmatch(found):
        raise DataError(
            f"{shown(path)} holds no token of 43 or more letters, digits, - and _: remove it, and the next start "
            "makes one"
        )
    return found.decode()


def listening_socket(port: int) -> socket.socket:
    """Bound to 127.0.0.1:``port``, or to a free port for 0; `StorageError` when it is taken or not allowed."""
    # Named as TCP, or asyncio lets an answer's second packet wait for the first one's receipt, some 40 ms.
    listener = socket.socket(socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listener.bind((HOST, port))
    except OSError as error:
        listener.close()
        reason = (error.strerror or "refused").lower()
        raise StorageError(
            f"cannot listen on {HOST}:{port}: {reason}; leave out --port for a free one"
        ) from None
    return listener


def serve(
    made: Callable[[], State],
    listener: socket.socket,
    token: str,
    started: Callable[[], None],
    limits: ServerLimits | None = None,
) -> None:
    """Serve until a signal; ``started`` is called when requests are answered.

    First with the page, while the state is ``made`` and the application, for which other requests wait. What is raised
    there ends the service and is raised here.
    """
    limits = limits or ServerLimits()
    logging.getLogger("asyncio").setLevel(logging.CRITICAL)  # it would log errors with their messages (R17)
    work = Work()
    states: list[State] = []

    def make() -> ASGIApp:
        from publius.web.app import application

        states.append(made())
        return application(states[-1], limits, work)

    later = Later(make, lambda: server.stop())
    config = uvicorn.Config(
        guarded(later, port=listener.getsockname()[1], token=token, limits=limits),
        http=_impatient(limits),
        ws="none",
        loop="asyncio",
        interface="asgi3",
        lifespan="on",
        log_config=None,
        log_level="critical",
        access_log=False,
        server_header=False,
        date_header=False,
        proxy_headers=False,
        backlog=_BACKLOG,
        h11_max_incomplete_event_size=HEAD_BYTES,
        timeout_keep_alive=5,
        timeout_graceful_shutdown=60,
    )
    server = _Server(config, started, work)
    try:
        server.run([listener])
    finally:  # after a second signal the application is not told that it ends
        for state in states:
            state.workplace.close()
    if later.error is not None:
        raise later.error


@final
class _Server(uvicorn.Server):  # type: ignore[misc]  # uvicorn is not followed by mypy here
    """A server that says when it has started, and at the end waits for releases only."""

    def __init__(self, config: Any, started: Callable[[], None], work: Work) -> None:
        super().__init__(config)
        self._say_started, self._work = started, work

    def stop(self) -> None:
        """End as after a signal."""
        self.should_exit = True

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """See `uvicorn.Server.startup`. The end of a terminal is a signal like others."""
        for name in ("SIGHUP", "SIGQUIT"):
            if hasattr(signal, name):
                asyncio.get_running_loop().add_signal_handler(getattr(signal, name), self.stop)
        await super().startup(sockets)
        if self.started:
            self._say_started()

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """See `uvicorn.Server.shutdown`."""
        self._work.give_up()
        await super().shutdown(sockets)


def _impatient(limits: ServerLimits) -> type[H11Protocol]:
    """The protocol with what uvicorn has not: a time limit on the head of a request, and a last word that is heard."""

    class Impatient(H11Protocol):  # type: ignore[misc]
        """Closes a connection on which a head does not arrive in time; lets an answer be read before it closes."""

        _patience: asyncio.TimerHandle | None = None

        def connection_made(self, transport: asyncio.Transport) -> None:
            super().connection_made(LingeringTransport(transport, limits, self._forget_request))
            self._watch()

        def data_received(self, data: bytes) -> None:
            if self.transport.lingers:
                self.transport.throw_away(data)
                return
            super().data_received(data)
            self._watch()

        def connection_lost(self, exc: Exception | None) -> None:
            self._forget()
            self.transport.close_at_once()
            super().connection_lost(exc)

        def shutdown(self) -> None:
            if self.transport.lingers:
                self.transport.close_at_once()
            elif not self.transport.is_closing():
                super().shutdown()

        def timeout_keep_alive_handler(self) -> None:
            """Between two requests there is nothing to be read, and nobody to wait for."""
            self.transport.close_at_once()

        def _forget_request(self) -> None:
            """Of a request that is thrown away nothing more comes; whoever waits for its body is told."""
            self._forget()
            if self.cycle is not None and not self.cycle.response_complete:
                self.cycle.disconnected = True
                self.cycle.message_event.set()

        def _watch(self) -> None:
            if self.conn.their_state is not h11.IDLE or self.transport.is_closing():
                self._forget()
            elif self._patience is None:
                self._patience = self.loop.call_later(limits.head_seconds, self._give_up)

        def _forget(self) -> None:
            if self._patience is not None:
                self._patience.cancel()
                self._patience = None

        def _give_up(self) -> None:
            self._patience = None
            if self.conn.their_state is h11.IDLE and not self.transport.is_closing():
                self.transport.close_at_once()

    return Impatient
