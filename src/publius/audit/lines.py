"""A process that is asked in lines of JSON and answers in them: all that the audit takes from a target."""

from __future__ import annotations

import json
import os
import signal
import subprocess
from collections.abc import Mapping, Sequence
from contextlib import suppress
from threading import Timer
from typing import Any, Final

from publius.errors import DataError, UsageError

SECONDS: Final = 300.0
"""How long an answer may take."""
_LIMIT: Final = 1 << 30
_TO_END: Final = 2.0


class Lines:
    """The process behind a target, started with the first question. Whatever it does, it can only answer or not."""

    def __init__(
        self,
        said: str,
        arguments: Sequence[str],
        environment: Mapping[str, str] | None = None,
        *,
        apart: bool = False,
    ) -> None:
        """Take a command, and how errors name it; ``apart`` ends what it started with it where it does not answer."""
        self._said, self._arguments, self._environment = said, [*arguments], environment
        self._apart = apart and hasattr(os, "killpg")
        self._process: subprocess.Popen[bytes] | None = None

    def ask(self, question: Mapping[str, Any]) -> dict[str, Any]:
        """The answer to a question; `DataError` where there is none."""
        return self._answer(json.dumps(question).encode() + b"\n")

    def more(self) -> dict[str, Any]:
        """Another line of the answer, of one that comes in several."""
        return self._answer(b"")

    def close(self) -> None:
        """End the process, which may end by itself first."""
        if self._process is not None:
            process, self._process = self._process, None
            _close_pipes(process)
            try:
                process.wait(_TO_END)
            except subprocess.TimeoutExpired:
                self._kill(process)
                process.wait()

    def _answer(self, question: bytes) -> dict[str, Any]:
        process = self._started()
        late = Timer(SECONDS, self._kill, (process,))
        late.start()
        try:
            if question:
                process.stdin.write(question)  # type: ignore[union-attr]
                process.stdin.flush()  # type: ignore[union-attr]
            line = process.stdout.readline(_LIMIT)  # type: ignore[union-attr]
        except OSError:
            line = b""
        finally:
            late.cancel()
            late.join()
        try:
            answer = json.loads(line)
        except (ValueError, RecursionError):
            answer = None
        if not isinstance(answer, dict):
            raise DataError(f"{self._said} {self._failure(line)}")
        return answer

    def _failure(self, line: bytes) -> str:
        if line:
            self.close()
            return "gave an answer that is no line of JSON; what it prints besides belongs on standard error"
        process, self._process = self._started(), None
        try:
            code = process.wait(1)  # it has closed its output, so it ends or was killed
        except subprocess.TimeoutExpired:
            self._kill(process)
            code = process.wait()
        _close_pipes(process)
        return f"ended with the code {code} before it answered, or gave no answer within {SECONDS:g} s"

    def _started(self) -> subprocess.Popen[bytes]:
        if self._process is None:
            try:
                self._process = subprocess.Popen(  # noqa: S603  # the user named it
                    self._arguments,
                    stdin=subprocess.PIPE,
                    stdout=subprocess.PIPE,
                    env=self._environment,
                    start_new_session=self._apart,
                )
            except OSError as error:
                raise UsageError(f"{self._said} cannot be started: {error.strerror}") from None
        return self._process

    def _kill(self, process: subprocess.Popen[bytes]) -> None:
        if self._apart:
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
        process.kill()


def _close_pipes(process: subprocess.Popen[bytes]) -> None:
    for pipe in (process.stdin, process.stdout):
        with suppress(OSError):
            pipe.close()  # type: ignore[union-attr]
