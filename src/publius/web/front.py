"""In front of the application: the guards, the page itself, and what asks for the rest while that is being made.

The page and its scripts need no framework and no view, whose imports take longer than everything else of a start. So
they are served from the first moment, and a request for more waits until the application is there.
"""

from __future__ import annotations

import asyncio
import mimetypes
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final, final

from starlette.responses import Response
from starlette.types import ASGIApp, Receive, Scope, Send

from publius.web.errors import refused
from publius.web.guards.body import After, LimitedBody
from publius.web.guards.limits import ServerLimits
from publius.web.guards.security import Guard, SafeAnswers

STATIC: Final = Path(__file__).parent / "static"
_KINDS: Final = frozenset((".html", ".css", ".js", ".svg", ".png", ".ico", ".woff2"))
_FOLDER: Final = "/static/"


def guarded(app: ASGIApp, *, port: int, token: str, limits: ServerLimits) -> ASGIApp:
    """The page and ``app`` behind the guards, for the address 127.0.0.1:``port`` and the ``token`` printed."""
    return SafeAnswers(Guard(LimitedBody(Pages(app), limits), port=port, token=token))


@final
class Pages:
    """Answers with the page and its files; everything else goes to the application."""

    def __init__(self, app: ASGIApp) -> None:
        """Nothing is read before somebody asks for it."""
        self._app = app
        self._files = {path.name: path for path in STATIC.iterdir() if path.suffix in _KINDS}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """See ASGI."""
        name = _file_asked(scope)
        if name is None:
            await self._app(scope, receive, send)
        elif scope["method"] != "GET":
            other = refused(405, 2, "UsageError", "this address takes another method", {"allow": "GET"})
            await other(scope, receive, send)
        else:
            await _file(self._files.get(name))(scope, receive, send)


def _file_asked(scope: Scope) -> str | None:
    """The name of the file; None where the application answers."""
    path: str = scope.get("path", "")
    if scope["type"] != "http":
        return None
    if path == "/":
        return "index.html"
    name = path.removeprefix(_FOLDER)
    return name if path.startswith(_FOLDER) and name and "/" not in name else None


def _file(path: Path | None) -> Response:
    if path is None:
        return refused(404, 2, "UsageError", "there is no such address")
    kind = "text/javascript" if path.suffix == ".js" else mimetypes.guess_type(path.name)[0]
    return Response(path.read_bytes(), media_type=kind or "application/octet-stream")


@final
class Later:
    """An application that is made in a thread from the start on; whoever asks for it waits until it is there.

    Attributes:
        error: why it could not be made, once that is known.

    """

    def __init__(self, make: Callable[[], ASGIApp], failed: Callable[[], None]) -> None:
        """``failed`` is called where ``make`` raises: then everybody is refused."""
        self._make, self._failed = make, failed
        self._making: asyncio.Task[ASGIApp] | None = None
        self.error: Exception | None = None

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """See ASGI."""
        if scope["type"] == "lifespan":
            await self._live(scope, receive, send)
        elif self._making is not None:
            await (await asyncio.shield(self._making))(scope, receive, send)

    async def _live(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Say at once that the server may start, and start the application when it is made."""
        first = await receive()
        self._making = asyncio.create_task(asyncio.to_thread(self._make))
        await send({"type": "lifespan.startup.complete"})
        try:
            app = await self._making
        except Exception as error:
            self.error = error
            self._failed()
            await receive()
            await send({"type": "lifespan.shutdown.complete"})
            return
        await app(scope, After(first, receive), _Without("lifespan.startup.complete", send))


@final
class _Without:
    """Sends everything but what was said already."""

    def __init__(self, kind: str, send: Send) -> None:
        self._kind, self._send = kind, send

    async def __call__(self, message: Any) -> None:
        if message["type"] != self._kind:
            await self._send(message)
