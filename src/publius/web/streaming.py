"""A request that is answered while it comes: lines of JSON in, lines of JSON out, a few of them in memory.

Lines are answered together by their numbers, so how the answer is cut tells nothing of any text. Where long lines are
released in parts, to keep memory small, their answers wait for each other.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import aclosing
from typing import Final, TypeVar, final

from pydantic import ValidationError
from starlette.requests import ClientDisconnect
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from publius.errors import StorageError, UsageError
from publius.web import requests
from publius.web.errors import refused, wrong_form
from publius.web.guards.body import LINES
from publius.web.guards.limits import MOST_STREAMED, ServerLimits
from publius.web.queues import BusyError, Work
from publius.web.views.stream import Line, ReleaseStream, StopError

T = TypeVar("T")
_CLOSE: Final = {"connection": "close"}  # what was not read of the request is not waited for
_HEAD: Final = [(name.encode(), value.encode()) for name, value in {"content-type": LINES, **_CLOSE}.items()]


@final
class StreamedAnswer(Response):
    """Reads documents line by line and sends bags as they are made, `ReleaseStream.rows` lines at a time.

    ``begin`` makes the stream that the first line asks for; ``draw`` calls it, in its turn; ``turns`` are as many as
    may be under way. Until the first bags are sent an error has a status of its own, afterwards it is the last line.
    """

    media_type = LINES

    def __init__(
        self,
        limits: ServerLimits,
        work: Work,
        turns: asyncio.Semaphore,
        begin: Callable[[requests.Stream], Awaitable[ReleaseStream]],
        draw: Callable[[Callable[[], bytes]], Awaitable[bytes]],
    ) -> None:
        """Nothing is read yet."""
        super().__init__()
        self._limits, self._work, self._turns, self._begin, self._draw = limits, work, turns, begin, draw

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """See ASGI."""
        started = False
        try:
            if self._turns.locked():
                raise BusyError("too many streams are under way: try again")
            lines = _Lines(receive, self._limits, self._work)
            async with self._turns, aclosing(self._answers(lines)) as batches:
                async for answers in batches:
                    async with asyncio.timeout(self._limits.stream_seconds):  # drop slow readers
                        if not started:
                            started = True
                            await send({"type": "http.response.start", "status": 200, "headers": _HEAD})
                        await send({"type": "http.response.body", "body": answers, "more_body": True})
            await send({"type": "http.response.body", "body": b"", "more_body": False})
        except ClientDisconnect:
            return
        except Exception as error:
            if started:
                raise
            stop = error if isinstance(error, StopError) else StopError(1, error)
            fault = stop.fault
            answer = refused(stop.status, fault["code"], fault["type"], fault["message"], _CLOSE)
            await answer(scope, receive, send)

    async def _answers(self, lines: _Lines) -> AsyncGenerator[bytes]:
        """What is sent together, one piece after another; `StopError` when it ends before the first."""
        stream = await self._begun(lines)
        nothing, more = True, True
        while more:
            made, more, stop = await self._batch(stream, lines)
            if stop is not None:
                if nothing and not made:
                    raise stop
                made += stop.answer()
            elif not more:
                made += await self._drawn(stream.end)
            nothing = False
            yield made

    async def _begun(self, lines: _Lines) -> ReleaseStream:
        """The stream that the first line asks for."""
        first = await lines.next()
        if first is None or first[1] is None:
            raise UsageError("the first line holds the choice, such as {}, and the documents come after it")
        try:
            asked = requests.Stream.model_validate_json(first[1])
        except ValidationError as error:
            wrong = wrong_form(error.errors(include_url=False, include_input=False), requests.FIELDS)
            raise UsageError(f"line 1, which holds the choice: {wrong}") from None
        return await _ended(self._begin(asked), self._work, must_end=False)

    async def _batch(self, stream: ReleaseStream, lines: _Lines) -> tuple[bytes, bool, StopError | None]:
        """The answers to the lines that belong together, whether more may come, and what ended the stream.

        Whatever ends it, the lines that came whole before are answered.
        """
        made, part, size, stop, more = b"", list[Line](), 0, None, True
        left = stream.rows
        while left and more:
            line = None
            try:
                line = await lines.next()
            except StopError as found:
                stop = found
            more = line is not None
            if line is not None:
                part.append(line)
                size += len(line[1] or b"")
                left -= 1
            if part and (size >= self._limits.part_bytes or not left or not more):
                try:
                    made += await self._drawn(lambda part=part: stream.answers(part))  # type: ignore[misc]
                except StopError as found:
                    return made + found.lines, False, found
                part, size = [], 0
        return made, more, stop

    async def _drawn(self, draw: Callable[[], bytes]) -> bytes:
        return await _ended(self._draw(draw), self._work, must_end=True)


@final
class _Lines:
    """The lines of a request's body as it comes."""

    def __init__(self, receive: Receive, limits: ServerLimits, work: Work) -> None:
        self._receive, self._limits, self._work = receive, limits, work
        self._whole: deque[bytes | None] = deque()
        self._begun = bytearray()
        self._too_long = self._over = False
        self._left, self._number, self._count = limits.stream_bytes, 0, 0

    async def next(self) -> Line | None:
        """The next line that is not blank, None at the end; `StopError` where the limits end the stream."""
        while True:
            while self._whole:
                line = self._whole.popleft()
                self._number += 1
                if line is None or line.strip():
                    self._count += 1
                    if self._count > MOST_STREAMED + 1:  # the choice is not counted
                        message = f"more than {MOST_STREAMED:,} documents: send the rest in another request"
                        raise StopError(self._number, UsageError(message), status=413)
                    return self._number, line
            if self._over:
                return None
            await self._read()

    async def _read(self) -> None:
        """Wait for more."""
        seconds, following = self._limits.stream_seconds, self._number + 1
        if self._left < 0:
            most = f"more than {self._limits.stream_bytes >> 20:,} MiB: send the rest in another request"
            raise StopError(following, UsageError(most), status=413)
        try:
            message = await _ended(
                self._receive(), self._work, must_end=False, seconds=seconds, line=following
            )
        except TimeoutError:
            late = UsageError(f"nothing came for {seconds:g} s")
            raise StopError(following, late, status=408) from None
        if message["type"] == "http.disconnect":
            raise ClientDisconnect
        data: bytes = message.get("body", b"")
        data, self._left = data[: self._left], self._left - len(data)
        *whole, rest = data.split(b"\n")
        for part in whole:
            self._add(part)
            self._end()
        self._add(rest)
        self._over = self._left >= 0 and not message.get("more_body")
        if self._over and (self._begun or self._too_long):
            self._end()

    def _add(self, part: bytes) -> None:
        if self._too_long or len(self._begun) + len(part) > self._limits.line_bytes:
            self._too_long = True
            self._begun.clear()
        else:
            self._begun += part

    def _end(self) -> None:
        self._whole.append(None if self._too_long else bytes(self._begun))
        self._begun.clear()
        self._too_long = False


async def _ended(
    coming: Awaitable[T], work: Work, *, must_end: bool, seconds: float | None = None, line: int = 1
) -> T:
    """What is waited for; `StopError` when the service ends first, `TimeoutError` after ``seconds``."""
    task: asyncio.Future[T] = asyncio.ensure_future(coming)
    work.add(task, must_end=must_end)  # type: ignore[arg-type]  # a coroutine becomes a task
    await asyncio.wait([task], timeout=seconds)
    if not task.done():
        task.cancel()
        raise TimeoutError
    if task.cancelled():
        raise StopError(line, StorageError("the explorer is ending: start it again"))
    return task.result()
