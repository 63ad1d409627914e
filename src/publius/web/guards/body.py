"""The body of a request: of one type, of limited size and time, read whole before anything looks at it.

A file of texts and a stream of documents are the exceptions: they are not held in memory, so who answers reads them,
within limits of their own.
"""

from __future__ import annotations

import asyncio
from typing import Final, final

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from publius.web.errors import Json, refused
from publius.web.guards.limits import STREAM, UPLOAD, ServerLimits

OCTETS: Final = "application/octet-stream"
LINES: Final = "application/x-ndjson"

_CLOSE: Final = {"connection": "close"}
_DIGITS: Final = 18  # of a length; Python refuses to read numbers of thousands


class _TooLarge(Exception):
    """More than the limit has arrived."""


class _Gone(Exception):
    """The client has hung up."""


@final
class LimitedBody:
    """Reads a body of at most so many bytes within so many seconds, chunked or not, then calls the application."""

    def __init__(self, app: ASGIApp, limits: ServerLimits) -> None:
        """Limit what reaches ``app``."""
        self._app, self._limits = app, limits

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """See ASGI."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        if refusal := self._refusal(scope):
            await refusal(scope, receive, send)
            return
        if scope.get("path") in (UPLOAD, STREAM):
            await self._app(scope, receive, send)
            return
        try:
            async with asyncio.timeout(self._limits.body_seconds):
                body = await self._read(receive)
        except TimeoutError:
            message = f"the body took more than {self._limits.body_seconds:g} s to arrive"
            await refused(408, 2, "UsageError", message, _CLOSE)(scope, receive, send)
        except _TooLarge:
            await self._too_large()(scope, receive, send)
        except _Gone:
            return
        else:
            whole = {"type": "http.request", "body": body, "more_body": False}
            await self._app(scope, After(whole, receive), send)

    def _refusal(self, scope: Scope) -> Json | None:
        headers = {key.lower(): value for key, value in scope["headers"]}
        path, limits = scope.get("path"), self._limits
        length = headers.get(b"content-length", b"0").lstrip(b"0") or b"0"
        has_length = length.isdigit() and len(length) <= _DIGITS

        def fits(most: int) -> bool:
            return has_length and int(length) <= most

        if path == UPLOAD:
            wanted, form = OCTETS, "the bytes of the file"
            large = None if fits(limits.upload_bytes) else file_too_large(limits.upload_bytes)
        elif path == STREAM:
            wanted, form = LINES, "a line of JSON for each document"
            large = None if fits(limits.stream_bytes) else stream_too_large(limits.stream_bytes)
        else:
            wanted, form = "application/json", "JSON"
            large = None if fits(limits.body_bytes) else self._too_large()
        kind = headers.get(b"content-type", b"").split(b";")[0].strip().lower()
        has_body = length != b"0" or b"transfer-encoding" in headers
        if large is None and has_body and kind != wanted.encode():
            return refused(415, 2, "UsageError", f"send {form}, with 'Content-Type: {wanted}'", _CLOSE)
        return large

    def _too_large(self) -> Json:
        message = f"the body has more than {self._limits.body_bytes:,} bytes: send fewer documents at once"
        return refused(413, 2, "UsageError", message, _CLOSE)

    async def _read(self, receive: Receive) -> bytes:
        body = bytearray()
        while True:
            message = await receive()
            if message["type"] == "http.disconnect":
                raise _Gone
            body += message.get("body", b"")
            if len(body) > self._limits.body_bytes:
                raise _TooLarge
            if not message.get("more_body"):
                return bytes(body)


def file_too_large(most: int) -> Json:
    """The answer to files that together have more than ``most`` bytes."""
    message = f"the files have more than {most >> 20:,} MiB together: use publius start on the command line"
    return refused(413, 2, "UsageError", message, _CLOSE)


def stream_too_large(most: int) -> Json:
    """The answer to lines that together have more than ``most`` bytes."""
    message = f"the lines have more than {most >> 20:,} MiB together: send the rest in another request"
    return refused(413, 2, "UsageError", message, _CLOSE)


@final
class After:
    """Receiver that has a message back which was taken already; see ASGI."""

    def __init__(self, first: Message, receive: Receive) -> None:
        """Take the first message, and where the others come from."""
        self._first: Message | None = first
        self._receive = receive

    async def __call__(self) -> Message:
        """See ASGI."""
        first, self._first = self._first, None
        return await self._receive() if first is None else first
