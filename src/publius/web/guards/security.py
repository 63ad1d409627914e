"""Who may ask: this machine's browser and programs that know the token. Pure ASGI, before anything is read.

A page of another site can send requests to 127.0.0.1, and by DNS rebinding under a name of its own. So the Host must
be ours exactly, an Origin must be ours, and every answer that is not the bare page needs the token, which no other
site knows and no browser adds by itself. There are no cookies and no CORS headers.
"""

from __future__ import annotations

import asyncio
import hmac
from dataclasses import dataclass
from typing import Any, Final, final

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from publius.web.errors import answer_to, refused
from publius.web.guards.limits import HEAD_BYTES

POLICY: Final = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; "
    "font-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; frame-src 'self'"
)
HEADERS: Final = {
    "content-security-policy": POLICY,
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
    "referrer-policy": "no-referrer",
    "cache-control": "no-store",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "permissions-policy": "camera=(), microphone=(), geolocation=()",
}
_NAMES: Final = ("127.0.0.1", "localhost")
_HTTP_PORT: Final = 80  # browsers leave it out
_VERSIONS: Final = ("1.0", "1.1")
_OPEN: Final = ("/", "/health")
_OPEN_FOLDERS: Final = ("/static/", "/report/")
_CLOSE: Final = {"connection": "close"}  # what was not read of a body is not waited for


@final
@dataclass(frozen=True)
class SafeAnswers:
    """The outermost layer: headers on every answer that does not bring its own, and an answer to every bug."""

    app: ASGIApp

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """See ASGI."""
        started = False

        async def guarded(message: Message) -> None:
            nonlocal started
            if message["type"] == "http.response.start":
                started = True
                message = {**message, "headers": _with_defaults(message.get("headers", []))}
            await send(message)

        try:
            await self.app(scope, receive, guarded)
        except Exception as error:  # nothing of it may reach a log (R17)
            if scope["type"] == "http" and not started:
                await answer_to(error)(scope, receive, guarded)
        except asyncio.CancelledError:
            if scope["type"] == "http" and not started:
                ending = refused(503, 74, "StorageError", "the explorer is ending: start it again", _CLOSE)
                await ending(scope, receive, guarded)
            raise


def _with_defaults(given: Any) -> list[tuple[bytes, bytes]]:
    headers = [(bytes(name).lower(), bytes(value)) for name, value in given]
    present = {name for name, _ in headers}
    added = [(name.encode(), value.encode()) for name, value in HEADERS.items()]
    return headers + [header for header in added if header[0] not in present]


@final
class Guard:
    """Lets pass what names this host, comes from no other origin, and knows the token where it must."""

    def __init__(self, app: ASGIApp, *, port: int, token: str) -> None:
        """``port`` is where we listen; ``token`` what was printed."""
        self._app = app
        names = [f"{name}:{port}" for name in _NAMES] + ([*_NAMES] if port == _HTTP_PORT else [])
        self._hosts = frozenset(name.encode() for name in names)
        self._origins = frozenset(b"http://" + host for host in self._hosts)
        self._expected = f"Bearer {token}".encode()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """See ASGI."""
        if scope["type"] == "lifespan":
            await self._app(scope, receive, send)
        elif scope["type"] == "http":
            await (self._refusal(scope) or self._app)(scope, receive, send)

    def _refusal(self, scope: Scope) -> ASGIApp | None:
        if scope["http_version"] not in _VERSIONS:
            return refused(400, 2, "UsageError", "this service speaks HTTP/1.1", _CLOSE)
        if sum(len(key) + len(value) for key, value in scope["headers"]) > HEAD_BYTES:
            return refused(431, 2, "UsageError", "the headers are too long", _CLOSE)

        def values(name: bytes) -> list[bytes]:
            return [value for key, value in scope["headers"] if key.lower() == name]

        hosts = values(b"host")
        if len(hosts) != 1 or hosts[0] not in self._hosts:
            message = "this service answers only to the address that was printed"
            return refused(421, 77, "PolicyError", message, _CLOSE)
        if not all(origin in self._origins for origin in values(b"origin")):
            message = "a page of another origin may not call this service"
            return refused(403, 77, "PolicyError", message, _CLOSE)
        if not _is_open(scope["path"]) and not self._knows_token(values(b"authorization")):
            message = "the token is missing or wrong: send 'Authorization: Bearer TOKEN' with the one printed"
            challenge = {**_CLOSE, "www-authenticate": "Bearer"}
            return refused(401, 77, "PolicyError", message, challenge)
        return None

    def _knows_token(self, given: list[bytes]) -> bool:
        return len(given) == 1 and hmac.compare_digest(given[0], self._expected)


def _is_open(path: str) -> bool:
    return path in _OPEN or path.startswith(_OPEN_FOLDERS)
