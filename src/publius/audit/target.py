"""Anybody's mechanism as the audit sees it: a process that is asked in lines of JSON, or outputs that were recorded.

A process answers each line on its standard input with one on its standard output: one of ours for a callable (see
`answering`), or anybody's ``command:``. Asked are

- ``{"input": ..., "count": n, "seed": s}``: ``{"outputs": [...]}``, null for a draw that gave none; anything else for an
  input that is refused;
- ``{"input": ..., "count": n, "seed": s, "forked": true}``: ``{"forked": [[...], [...]]}``, outputs of two processes that
  are forked from it; anything else where that cannot be.

An answer may repeat the number of the ``question``, say what was ``raised`` where, and why there is none (``wrong``).
"""

from __future__ import annotations

import json
import os
import shlex
import signal
import subprocess
from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager, suppress
from pathlib import Path
from threading import Timer
from typing import IO, Any, Final, cast, final

from publius.audit.claim import Input, content, input_from
from publius.audit.outputs import REFUSED, Output, plain
from publius.errors import DataError, UsageError
from publius.files.processes import command, environment
from publius.files.reading import read_bytes_limited
from publius.files.user_code import PYTHON
from publius.noise.randomness import Generator, seeded_rng

COMMAND: Final = "command:"
RECORDED: Final = "recorded:"
_SECONDS: Final = 300.0  # that an answer may take
_BATCH: Final = 100
_LONGEST: Final = 500
_LIMIT: Final = 1 << 30


class Target(AbstractContextManager["Target"]):
    """A mechanism for inputs of one unit, in a process; to be used in a ``with`` block, which ends what it started."""

    inputs: Sequence[Input] | None = None  # the only ones that it has outputs for; None where it takes any
    half: int | None = None  # the most outputs of an input that there are to choose an event by, and to judge it by
    raised: str | None = None  # type and place of what it raised last, without its message

    def __init__(self, name: str, unit: str, arguments: Sequence[str] = ()) -> None:
        self.name, self.unit, self._arguments = name, unit, [*arguments]
        self._process: subprocess.Popen[bytes] | None = None
        self._questions = 0

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> int | None:
        """End the process, which may end by itself first; its code."""
        process, self._process = self._process, None
        if process is None:
            return None
        for pipe in (process.stdin, process.stdout):
            with suppress(OSError):
                cast("IO[bytes]", pipe).close()
        try:
            return process.wait(2)
        except subprocess.TimeoutExpired:
            _kill(process)
            return process.wait()

    def ask(self, **question: Any) -> dict[str, Any]:
        """The answer to a question; `DataError` where there is none."""
        self._questions += 1
        asked = json.dumps({"question": self._questions, **question}).encode() + b"\n"
        process = self._process = self._process or self._started()
        late = Timer(_SECONDS, _kill, (process,))
        late.start()
        try:
            cast("IO[bytes]", process.stdin).write(asked)
            cast("IO[bytes]", process.stdin).flush()
            line = cast("IO[bytes]", process.stdout).readline(_LIMIT)
        except OSError:
            line = b""
        finally:
            late.cancel()
        try:
            answer = json.loads(line)
        except (ValueError, RecursionError):
            answer = None
        if not isinstance(answer, dict):
            why = f"ended with the code {self.close()} before it answered, or gave none within {_SECONDS:g} s"
            said = "gave an answer that is no line of JSON; what it prints besides belongs on standard error"
            raise DataError(f"the target {said if line else why}")
        if answer.get("question", self._questions) != self._questions:
            raise DataError("the target answered another question: it wrote into the pipe, or forked")
        if "wrong" in answer:
            raise DataError(_told(answer["wrong"]))
        self.raised = self.raised if answer.get("raised") is None else _told(answer["raised"])
        return answer

    def _started(self) -> subprocess.Popen[bytes]:
        try:
            return subprocess.Popen(  # noqa: S603  # the user named it
                self._arguments, stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=environment(),
                start_new_session=True,
            )  # fmt: skip
        except OSError as error:
            raise UsageError(f"the target's command cannot be started: {error.strerror}") from None

    def draws(self, given: Input, count: int, rng: Generator) -> list[Output] | None:
        """``count`` outputs for an input, with seeds of their own where it takes one; None when it refuses."""
        found: list[Output] = []
        while len(found) < count:
            wanted = min(_BATCH, count - len(found))
            outputs = self.ask(input=content(given, self.unit), count=wanted, seed=int(rng.integers(0, 2**32))).get(
                "outputs"
            )
            if outputs is None:
                return None
            if not isinstance(outputs, list) or len(outputs) != wanted:
                said = f"{len(outputs)} outputs" if isinstance(outputs, list) else "no list of outputs"
                raise DataError(f"the target gave {said} where {wanted} were asked for")
            found += self._outputs(outputs)
        return None if {*found} == {REFUSED} else found

    def again(self, given: Input, count: int, rng: Generator) -> list[Output] | None:
        """Outputs to judge a case by, of which none was used to choose its event."""
        return self.draws(given, count, rng)

    def after(self, first: Input, then: Input, count: int, rng: Generator) -> list[Output] | None:
        """``count`` outputs for ``then``, each drawn just after one for ``first``; None when it refuses either."""
        found: list[Output] = []
        for _ in range(count):
            if self.draws(first, 1, rng) is None or not (outputs := self.draws(then, 1, rng)):
                return None
            found += outputs
        return found

    def anew(self, given: Input, count: int, seed: int) -> list[Output]:
        """The first outputs of a new process, which gets seeds of its own where it takes them."""
        with target_named(self.name, self.unit) as other:
            return other.draws(given, count, seeded_rng(seed)) or []

    def forked(self, given: Input, count: int, seed: int) -> list[list[Output]]:
        """Outputs of two processes that are forked from one where it was used before; none where that cannot be."""
        with target_named(self.name, self.unit) as other:
            if other.draws(given, 1, seeded_rng(seed)) is None:
                return []
            found = other.ask(input=content(given, self.unit), count=count, seed=seed, forked=True)
        pair = found.get("forked")
        whole = isinstance(pair, list) and len(pair) == 2 and all(isinstance(each, list) for each in pair)
        return [self._outputs(each) for each in cast("list[list[Any]]", pair)] if whole else []

    def _outputs(self, answered: Sequence[Any]) -> list[Output]:
        return [REFUSED if each is None else plain(each, self.unit) for each in answered]


@final
class _Recorded(Target):
    """Lines of JSON with an ``input`` and its ``outputs``, a list or numbers of each; each output is used once."""

    def __init__(self, name: str, unit: str) -> None:
        super().__init__(name, unit)
        self._left: dict[Input, list[Output]] = {}
        data = read_bytes_limited(Path(name.removeprefix(RECORDED).strip()), _LIMIT)
        try:
            for line in data.decode().splitlines():
                if line.strip():
                    self._take(json.loads(line))
        except (ValueError, KeyError, TypeError, AttributeError):
            raise DataError('recorded outputs are lines of JSON: {"input": ..., "outputs": [...]}') from None
        if not self._left:
            raise DataError("there are no recorded outputs in the file")
        self.inputs = [*self._left]
        self._answered = {given for given, outputs in self._left.items() if {*outputs} - {REFUSED}}
        self.half = max(1, min(map(len, self._left.values())) // 2)

    def _take(self, line: Mapping[str, Any]) -> None:
        given, outputs = input_from(line["input"], self.unit), line["outputs"]
        if isinstance(outputs, dict):  # numbers of equal outputs, in no order
            outputs = [output for output, count in outputs.items() for _ in range(int(count))]
            outputs = [outputs[place] for place in seeded_rng(len(outputs)).permutation(len(outputs))]
        self._left.setdefault(given, []).extend(self._outputs(outputs))

    def draws(self, given: Input, count: int, rng: Generator) -> list[Output] | None:
        if given not in self._answered:
            return None
        found, self._left[given] = self._left[given][:count], self._left[given][count:]
        return found or None

    def again(self, given: Input, count: int, rng: Generator) -> list[Output] | None:
        """The last, on which the case was judged."""
        return self._left.get(given, [])[-count:] or None


def target_named(name: str, unit: str) -> Target:
    """Target at ``python:MODULE:CALLABLE``, ``command:...`` or ``recorded:FILE``; `UsageError` for anything else."""
    if name.startswith(RECORDED):
        return _Recorded(name, unit)
    if name.startswith(COMMAND):
        arguments = shlex.split(name.removeprefix(COMMAND))
        if not arguments:
            raise UsageError("the target's command is empty")
        return Target(name, unit, arguments)
    if not name.startswith(PYTHON):
        raise UsageError('a target is named python:MODULE:CALLABLE, "command: ARGUMENTS" or recorded:FILE')
    found = Target(name, unit, command("publius.audit.answering", name))
    try:
        found.ask()
    except DataError as error:
        found.close()
        raise UsageError(str(error)) from None
    return found


def _kill(process: subprocess.Popen[bytes]) -> None:
    with suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)


def _told(said: Any) -> str:
    """What a process says of itself, as a line that can be shown."""
    text = said if isinstance(said, str) and said.isprintable() else "something that cannot be shown"
    return text[:_LONGEST]
