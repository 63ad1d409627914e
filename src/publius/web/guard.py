"""Who may ask: this machine's browser and programs that know the token. Pure ASGI, before anything is read.

A page of another site can send requests to 127.0.0.1, and by DNS rebinding under a name of its own. So the Host must
be ours exactly, an Origin ours or none, a body within one limit, and all but the bare page needs the token, which no
other site knows and no browser adds by itself. There are no cookies and no CORS headers (rule 15).
"""

from __future__ import annotations

import hmac
from typing import Final, final

from starlette.datastructures import Headers, MutableHeaders
from starlette.requests import Request
from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from publius.errors import PubliusError, place_of

POLICY: Final = (
    "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; "
    "connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'self'; frame-src 'self'"
)
HEADERS: Final = {
    "content-security-policy": POLICY, "x-content-type-options": "nosniff", "referrer-policy": "no-referrer",
    "cache-control": "no-store", "cross-origin-resource-policy": "same-origin",
}  # fmt: skip
LARGEST_BODY: Final = 4 << 20
_STATUS: Final = {2: 400, 65: 422, 70: 500, 74: 503, 77: 403}
_OPEN: Final = ("/", "/static/explorer.js", "/static/explorer.css", "/v1/health")


@final
class Guard:
    """Lets pass what may ask; an error becomes one line of JSON: a refusal's message, of a bug its type and place alone."""

    def __init__(self, app: ASGIApp, *, port: int, token: str) -> None:
        self._app = app
        self._hosts = frozenset(f"{name}:{port}" for name in ("127.0.0.1", "localhost"))
        self._origins = frozenset(f"http://{host}" for host in self._hosts)
        self._expected = f"Bearer {token}".encode()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """See ASGI."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        begun = False

        async def guarded(message: Message) -> None:
            nonlocal begun
            if message["type"] == "http.response.start":
                begun = True
                headers = MutableHeaders(scope=message)
                for name, value in HEADERS.items():
                    headers.setdefault(name, value)
            await send(message)

        async def answer(status: int, code: int, said: str) -> None:
            if not begun:
                response = JSONResponse({"error": said, "exit_code": code}, status, {"connection": "close"})
                await response(scope, receive, guarded)

        try:
            if (refusal := self._refusal(scope)) is not None:
                await answer(*refusal)
            elif (body := await _body(Request(scope, receive))) is None:
                await answer(413, 2, f"a request has at most {LARGEST_BODY >> 20} MiB")
            else:
                await self._app(scope, _again(body, receive), guarded)
        except PubliusError as error:
            await answer(_STATUS.get(error.exit_code, 500), error.exit_code, str(error))
        except Exception as error:  # a bug: its message may hold a text
            await answer(500, 70, f"a bug in Publius: {place_of(error)}. Please report this line.")

    def _refusal(self, scope: Scope) -> tuple[int, int, str] | None:
        headers = Headers(scope=scope)
        hosts, given = headers.getlist("host"), headers.getlist("authorization")
        if len(hosts) != 1 or hosts[0] not in self._hosts:
            return 421, 77, "this service answers only to the address that was printed"
        if not self._origins.issuperset(headers.getlist("origin")):
            return 403, 77, "a page of another origin may not call this service"
        known = len(given) == 1 and hmac.compare_digest(given[0].encode("latin-1"), self._expected)
        if scope["path"] not in _OPEN and not known:
            return 401, 77, "the token is missing or wrong: send 'Authorization: Bearer TOKEN' with the one printed"
        return None


async def _body(request: Request) -> bytes | None:
    """The whole body; None where it is larger than is taken."""
    body = b""
    async for part in request.stream():
        body += part
        if len(body) > LARGEST_BODY:
            return None
    return body


def _again(body: bytes, receive: Receive) -> Receive:
    """The body in one message, then what else comes: that the asker has gone."""
    waiting: list[Message] = [{"type": "http.request", "body": body, "more_body": False}]

    async def received() -> Message:
        return waiting.pop() if waiting else await receive()

    return received
