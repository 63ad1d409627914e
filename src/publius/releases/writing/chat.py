"""A language model of the user's own, asked over HTTP: the chat interface that Ollama, llama.cpp and vLLM share.

Nothing is sent to an address off this machine unless that was allowed: the name is resolved once, every address it
has must be loopback, and the connection goes to the address that was looked at. No redirect and no proxy is
followed. No error repeats what was sent or answered.
"""

from __future__ import annotations

import contextlib
import http.client
import ipaddress
import json
import socket
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, Self, final
from urllib.parse import urlsplit

from publius.errors import PolicyError, StorageError, UsageError

PREFIX: Final = "llm:"
LONGEST_ANSWER: Final = 2**22
"""Bytes of an answer, at most."""

_AGAIN: Final = frozenset({408, 409, 425, 429, 500, 502, 503, 504, 529})
_PORTS: Final = {"http": 80, "https": 443}
_LONGEST_WAIT: Final = 60.0

Message = Mapping[str, str]
"""``role`` ("system", "user", "assistant") and ``content``."""


class ChatError(StorageError):
    """A language model gave no answer that can be read.

    Attributes:
        again: whether the same question may be answered later.
        wait: seconds that the server asked to wait; None where it said nothing.

    """

    def __init__(self, message: str, *, again: bool = True, wait: float | None = None) -> None:
        super().__init__(message)
        self.again, self.wait = again, wait


@final
@dataclass(frozen=True, slots=True)
class ChatModel:
    """A model at an address.

    Attributes:
        url: such as ``http://127.0.0.1:11434/v1``; ``/chat/completions`` is added.
        name: the model's, as the server knows it.
        remote_ok: whether the address may be on another machine.
        timeout: seconds for a whole exchange, from connecting to the last byte.
        key: sent as a bearer token where the server wants one.

    """

    url: str
    name: str
    remote_ok: bool = False
    timeout: float = 120.0
    key: str | None = field(default=None, repr=False)

    def __post_init__(self) -> None:
        """Refuse what is no address: `UsageError`."""
        try:
            parts = urlsplit(self.url)
            port = parts.port
        except ValueError:
            parts, port = urlsplit(""), None
        if parts.scheme not in _PORTS or not parts.hostname or port == 0 or not self.name:
            raise UsageError(
                "a language model is named as llm:URL#MODEL, such as llm:http://127.0.0.1:11434/v1#llama3.2"
            )
        if parts.username is not None or parts.query:
            raise UsageError(
                "the address of a language model holds no user, password or query: leave them out"
            )
        if not self.timeout > 0:
            raise UsageError("a language model needs a time-out of more than 0 seconds")

    @classmethod
    def named(cls, given: str, **choices: Any) -> Self:
        """The model that ``llm:URL#MODEL`` names; ``choices`` are the other attributes."""
        url, _, name = given.removeprefix(PREFIX).rpartition("#")
        return cls(url, name, **choices)

    @property
    def port(self) -> int:
        """To which the connection goes."""
        parts = urlsplit(self.url)
        return parts.port or _PORTS[parts.scheme]

    def check(self) -> None:
        """`PolicyError` where the address is not of this machine and that was not allowed; nothing is sent."""
        self._address()

    def chat(self, messages: Sequence[Message], **settings: Any) -> str:
        """The model's answer; ``settings`` such as ``max_tokens`` go along.

        `PolicyError` as in `check`; `ChatError` when no answer comes in time, or none that can be read.
        """
        body = json.dumps({"model": self.name, "messages": list(messages), "stream": False, **settings})
        status, wait, answer = self._exchanged(body.encode())
        if status != 200:
            raise ChatError(
                f"the language model answered with status {status}: {_advice(status)}",
                again=status in _AGAIN, wait=wait,
            )  # fmt: skip
        return _content(answer)

    def _address(self) -> tuple[str, int]:
        """An address of the host, as numbers, and the port."""
        host, port = str(urlsplit(self.url).hostname), self.port
        try:
            found = [str(each[4][0]) for each in socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)]
        except (OSError, UnicodeError):
            raise ChatError(
                f"the address of the language model, {host!r}, is not known here: check it"
            ) from None
        if not self.remote_ok and not all(ipaddress.ip_address(each).is_loopback for each in found):
            raise PolicyError(
                f"{host!r} is not this machine, and what is sent there leaves it: allow it with --remote-ok, or run "
                "the model here"
            )
        return found[0], port

    def _exchanged(self, body: bytes) -> tuple[int, float | None, bytes]:
        """Status, seconds to wait and content of the answer to ``body``."""
        parts = urlsplit(self.url)
        connection = _Connection(self._address(), str(parts.hostname), parts.scheme == "https", self.timeout)
        headers = {"Content-Type": "application/json", "Accept": "application/json", "Connection": "close"}
        if self.key:
            headers["Authorization"] = f"Bearer {self.key}"
        late = threading.Event()

        def give_up() -> None:  # a time-out of the socket starts anew with every byte; this one does not
            late.set()
            connection.cut()

        timer = threading.Timer(self.timeout, give_up)
        timer.daemon = True
        timer.start()
        try:
            connection.request("POST", parts.path.rstrip("/") + "/chat/completions", body, headers)
            if late.is_set():  # before there was anything to cut
                raise TimeoutError
            with connection.getresponse() as answer:
                content = answer.read(LONGEST_ANSWER + 1)
                if len(content) > LONGEST_ANSWER:
                    raise ChatError(f"the language model answered with more than {LONGEST_ANSWER:,} bytes")
                if answer.length:  # fewer bytes came than were announced
                    raise http.client.IncompleteRead(b"")
                return answer.status, _seconds(answer.getheader("Retry-After")), content
        except (OSError, http.client.HTTPException, ValueError, AttributeError) as error:
            if isinstance(error, ChatError):
                raise
            if late.is_set() or isinstance(error, TimeoutError):
                raise ChatError(f"the language model gave no answer within {self.timeout:g} s") from None
            if isinstance(error, ConnectionRefusedError):
                raise ChatError(
                    "nothing answers at the address of the language model: is it running?"
                ) from None
            raise ChatError("the connection to the language model broke off") from None
        finally:
            timer.cancel()
            connection.close()


@final
class _Connection(http.client.HTTPConnection):
    """To an address that was looked at, under the name it was asked for by."""

    def __init__(self, address: tuple[str, int], host: str, secure: bool, timeout: float) -> None:
        super().__init__(host, address[1], timeout=timeout)
        self._to, self._name, self._secure = address, host, secure

    def connect(self) -> None:
        self.sock = self._wire = socket.create_connection(self._to, self.timeout)
        if self._secure:
            import ssl

            self.sock = ssl.create_default_context().wrap_socket(self.sock, server_hostname=self._name)
            self._wire = self.sock
        # `_wire`, for an answer that ends with the connection takes `sock` away while it is read.

    def cut(self) -> None:
        """End the exchange from another thread."""
        with contextlib.suppress(OSError, AttributeError):
            self._wire.shutdown(socket.SHUT_RDWR)


def _seconds(header: str | None) -> float | None:
    return min(float(header), _LONGEST_WAIT) if header and header.isascii() and header.isdigit() else None


def _advice(status: int) -> str:
    if status in (401, 403):
        return "it wants a key, or another one"
    if status == 404:
        return "check the address and the name of the model"
    return "try again later" if status in _AGAIN else "it does not take such a question"


def _content(answer: bytes) -> str:
    try:
        content = json.loads(answer)["choices"][0]["message"]["content"]
    except (ValueError, LookupError, TypeError, RecursionError):
        content = None
    if not isinstance(content, str):
        raise ChatError("the answer from the address is not a chat completion, or is damaged")
    return content


def patiently(
    ask: Callable[[], str], attempts: int = 4, sleep: Callable[[float], object] = time.sleep
) -> str:
    """The answer of ``ask``, asked up to ``attempts`` times: 1, 2, 4, ... seconds apart, or as long as the server says.

    The last `ChatError` where none of them succeeds, or the first that will not go away.
    """
    for attempt in range(attempts):
        try:
            return ask()
        except ChatError as error:
            if not error.again or attempt == attempts - 1:
                raise
            sleep(min(2.0**attempt, _LONGEST_WAIT) if error.wait is None else error.wait)
    raise UsageError("a question is asked at least once")
