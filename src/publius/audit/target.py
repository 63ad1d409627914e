"""Anybody's mechanism as the audit sees it: a callable, a command in another Python, or outputs that were recorded."""

from __future__ import annotations

import inspect
import json
import os
import shlex
import signal
import subprocess
import sys
import threading
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager, redirect_stdout, suppress
from pathlib import Path
from threading import Timer
from typing import Any, ClassVar, Final, Self, TypeVar, final

from publius.audit.claim import Input, content, input_from
from publius.audit.looks import REFUSED, Output, plain
from publius.errors import DataError, UsageError, place_of
from publius.files.reading import read_bytes_limited
from publius.files.user_code import PYTHON, object_at
from publius.files.workers import spawning
from publius.mechanisms.kernel import Kernel
from publius.mechanisms.mechanism import Mechanism
from publius.noise.randomness import Generator, seeded_rng

COMMAND: Final = "command:"
RECORDED: Final = "recorded:"

_INSTEAD: Final = {
    "embeddings": "audit the class with --mechanism {}, which needs no claim",
    "reference": "check its laws with publius check-mechanism {}",
}
"""What can be done with the class of a mechanism, by the public input that it reads."""

Row = dict[Output, float]
_Found = TypeVar("_Found")

_SEEDS: Final = 2**32
_BATCH: Final = 100
_SECONDS: Final = 300.0
_LIMIT: Final = 1 << 30


class Target(ABC):
    """A mechanism for inputs of one unit. To be used in a ``with`` block, which ends what it started.

    Attributes:
        name: as the user named it.
        unit: of the claim.
        starts: whether it can be started anew, so that its state can be looked at.
        inputs: the only inputs that it has outputs for; None where it takes any.
        half: the most outputs of an input that there are to choose an event by, and as many to judge it.
        raised: type and place of the exception that it raised last, without its message; None where that is not seen.

    """

    starts: ClassVar[bool] = True
    inputs: Sequence[Input] | None = None
    half: int | None = None
    raised: str | None = None

    def __init__(self, name: str, unit: str) -> None:
        """Take the ``name`` as it was given."""
        self.name, self.unit = name, unit

    def __enter__(self) -> Self:
        """See `Target`."""
        return self

    def __exit__(self, *_: object) -> None:
        """See `Target`."""
        self.close()

    def close(self) -> None:  # noqa: B027  # most start nothing
        """End what it started."""

    @abstractmethod
    def draws(self, given: Input, count: int, rng: Generator) -> list[Output] | None:
        """``count`` outputs for an input, each with a seed of its own where it takes one; None when it refuses."""

    def again(self, given: Input, count: int, rng: Generator) -> list[Output] | None:
        """Outputs to judge a case by, of which none was used to choose its event."""
        return self.draws(given, count, rng)

    @abstractmethod
    def stated(self, given: Input) -> Row | None:
        """The probabilities that it states for an input; None for none. `DataError` where they are none."""

    def after(self, first: Input, then: Input, count: int, rng: Generator) -> list[Output] | None:
        """``count`` outputs for ``then``, each drawn just after one for ``first``; None when it refuses either."""
        found: list[Output] = []
        for _ in range(count):
            if self.draws(first, 1, rng) is None or not (outputs := self.draws(then, 1, rng)):
                return None
            found += outputs
        return found

    def determined(self, given: Input, other: Input, rng: Generator) -> bool:
        """Whether the seed alone decides an output, also after one for another input: it keeps no state of its own."""
        return False

    def anew(self, given: Input, count: int, seed: int) -> list[Output] | None:
        """The first outputs of a new process, which gets seeds of its own where it takes them."""
        return None

    def forked(self, given: Input, count: int, seed: int) -> tuple[list[Output], list[Output]] | None:
        """Outputs of two processes that are forked from one where it was used before; None where that cannot be."""
        return None


def target_named(name: str, unit: str) -> Target:
    """Target at ``python:MODULE:CALLABLE``, ``command:...`` or ``recorded:FILE``; `UsageError` for anything else."""
    for prefix, kind in _KINDS.items():
        if name.startswith(prefix):
            return kind(name, unit)
    raise UsageError('a target is named python:MODULE:CALLABLE, "command: ARGUMENTS" or recorded:FILE')


@final
class _Callable(Target):
    """In this process: imported from the installation, ``PYTHONPATH`` or the working folder."""

    def __init__(self, name: str, unit: str) -> None:
        super().__init__(name, unit)
        with redirect_stdout(sys.stderr):  # what it prints is no part of the verdict
            self._function = object_at(name, working_folder=True)
        if isinstance(self._function, type) and issubclass(self._function, Kernel | Mechanism):
            instead = _INSTEAD.get(getattr(self._function, "reads", ""), "make it").format(name)
            raise UsageError(
                f"{name} is the class of a mechanism, and a target is a function that draws: {instead}, or name a "
                "function such as def draw(text): return publius.release(text, mechanism).bag"
            )
        if not callable(self._function):
            raise UsageError(f"{name} cannot be called")
        try:
            signature = inspect.signature(self._function)
        except (TypeError, ValueError):
            self._seeded = False
            return
        self._seeded = "seed" in signature.parameters
        try:
            signature.bind(None, **({"seed": 0} if self._seeded else {}))
        except TypeError as error:
            raise UsageError(
                f"{name} cannot be called with one input{' and a seed' if self._seeded else ''}: {error}"
            ) from None

    def draws(self, given: Input, count: int, rng: Generator) -> list[Output] | None:
        seeds = rng.integers(0, _SEEDS, count).tolist() if self._seeded else [None] * count
        with _watched():
            found = [self._output(given, seed) for seed in seeds]
        return None if set(found) == {REFUSED} else found

    def _output(self, given: Input, seed: int | None) -> Output:
        argument = content(given, self.unit)
        _start_the_clock()
        try:
            output = self._function(argument) if seed is None else self._function(argument, seed=seed)
        except (Exception, SystemExit) as error:  # whatever it raises, it gives no output
            self.raised = place_of(error)
            return REFUSED
        if output is None:
            self.raised = "an answer that is None"
            return REFUSED
        return plain(output, self.unit)

    def determined(self, given: Input, other: Input, rng: Generator) -> bool:
        if not self._seeded:
            return False
        seeds = rng.integers(0, _SEEDS, 32).tolist()
        with _watched():
            alone = [self._output(given, seed) for seed in seeds]
            after = [(self._output(other, seed), self._output(given, seed))[1] for seed in seeds]
        return alone == after and len(set(alone)) > 1

    def stated(self, given: Input) -> Row | None:
        states = getattr(self._function, "probabilities", None)
        if states is None:
            return None
        try:
            with _watched():
                _start_the_clock()
                found = states(content(given, self.unit))
        except (Exception, SystemExit) as error:
            self.raised = place_of(error)
            return None
        if not isinstance(found, Mapping):
            raise DataError("the target's probabilities(input) must map outputs to probabilities")
        return _row(found.items(), self.unit)

    def anew(self, given: Input, count: int, seed: int) -> list[Output] | None:
        return _in_a_new_process(_first, self.name, self.unit, given, count, seed)

    def forked(self, given: Input, count: int, seed: int) -> tuple[list[Output], list[Output]] | None:
        if not hasattr(os, "fork"):
            return None
        return _in_a_new_process(_forks, self.name, self.unit, given, count, seed)


@contextmanager
def _watched() -> Iterator[None]:
    """What is printed goes to standard error, and a call that does not return is ended, where signals can do that."""
    if not _clock():
        with redirect_stdout(sys.stderr):
            yield
        return

    def late(*_: object) -> None:
        raise _LateError

    before = signal.signal(signal.SIGALRM, late)
    try:
        with redirect_stdout(sys.stderr):
            yield
    except _LateError:
        raise DataError(f"a call of the target did not return within {_SECONDS:g} s") from None
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def _clock() -> bool:
    return hasattr(signal, "setitimer") and threading.current_thread() is threading.main_thread()


def _start_the_clock() -> None:
    if _clock():
        signal.setitimer(signal.ITIMER_REAL, _SECONDS)


class _LateError(BaseException):
    """So that no target takes it for an error of its own."""


def _in_a_new_process(function: Callable[..., _Found], *arguments: Any) -> _Found:
    try:
        with ProcessPoolExecutor(1, spawning()) as process:
            return process.submit(function, *arguments).result()
    except BrokenProcessPool:
        raise DataError("a new process of the target ended before it answered") from None


def _first(name: str, unit: str, given: Input, count: int, seed: int) -> list[Output] | None:
    with target_named(name, unit) as target:
        return target.draws(given, count, seeded_rng(seed))


def _forks(
    name: str, unit: str, given: Input, count: int, seed: int
) -> tuple[list[Output], list[Output]] | None:
    """In a process of its own: used once, then forked twice; seeds, where it takes them, differ."""
    with target_named(name, unit) as target:
        if target.draws(given, 1, seeded_rng(seed)) is None:
            return None
        found = []
        for turn in (1, 2):
            reading, writing = os.pipe()
            child = os.fork()
            if child == 0:
                with suppress(BaseException):
                    outputs = target.draws(given, count, seeded_rng(seed + turn))
                    with os.fdopen(writing, "w") as pipe:
                        json.dump(outputs or [], pipe)
                os._exit(0)
            os.close(writing)
            with os.fdopen(reading) as pipe:
                text = pipe.read()
            os.waitpid(child, 0)
            found.append([_stored(each) for each in json.loads(text or "[]")])
        return found[0], found[1]


@final
class _Command(Target):
    """A process that answers each line of JSON on its standard input with one on its standard output.

    Asked ``{"input": ..., "count": n, "seed": s}`` it answers ``{"outputs": [...]}``, an output being null where that
    draw was refused, or anything else for a refusal; asked ``{"input": ..., "probabilities": true}``,
    ``{"probabilities": [[output, p], ...]}`` or anything else for none; asked with ``"forked": true``, two lists of
    outputs, ``{"forked": [[...], [...]]}``, from two processes forked from it.
    """

    def __init__(self, name: str, unit: str) -> None:
        super().__init__(name, unit)
        self._arguments = shlex.split(name.removeprefix(COMMAND))
        if not self._arguments:
            raise UsageError("the target's command is empty")
        self._process: subprocess.Popen[bytes] | None = None

    def _ask(self, question: Mapping[str, Any]) -> Mapping[str, Any]:
        process = self._started()
        late = Timer(_SECONDS, process.kill)
        late.start()
        try:
            process.stdin.write(json.dumps(question).encode() + b"\n")  # type: ignore[union-attr]
            process.stdin.flush()  # type: ignore[union-attr]
            line = process.stdout.readline(_LIMIT)  # type: ignore[union-attr]
        except OSError:
            line = b""
        finally:
            late.cancel()
            late.join()
        try:
            answer = json.loads(line)
        except ValueError:
            answer = None
        if not isinstance(answer, dict):
            raise DataError(f"the target's command {self._failure(line)}")
        return answer

    def _failure(self, line: bytes) -> str:
        if line:
            self.close()
            return "gave an answer that is no line of JSON; what it prints besides belongs on standard error"
        process, self._process = self._started(), None
        try:
            code = process.wait(1)  # it has closed its output, so it ends or was killed
        except subprocess.TimeoutExpired:
            process.kill()
            code = process.wait()
        for pipe in (process.stdin, process.stdout):
            with suppress(OSError):
                pipe.close()  # type: ignore[union-attr]
        return f"ended with the code {code} before it answered, or gave no answer within {_SECONDS:g} s"

    def _started(self) -> subprocess.Popen[bytes]:
        if self._process is None:
            try:
                self._process = subprocess.Popen(  # noqa: S603  # the user named it
                    self._arguments, stdin=subprocess.PIPE, stdout=subprocess.PIPE
                )
            except OSError as error:
                raise UsageError(f"the target's command cannot be started: {error.strerror}") from None
        return self._process

    def close(self) -> None:
        if self._process is not None:
            for pipe in (self._process.stdin, self._process.stdout):
                with suppress(OSError):
                    pipe.close()  # type: ignore[union-attr]
            try:
                self._process.wait(2)
            except subprocess.TimeoutExpired:
                self._process.kill()
                self._process.wait()
            self._process = None

    def draws(self, given: Input, count: int, rng: Generator) -> list[Output] | None:
        found: list[Output] = []
        while len(found) < count:
            seed = int(rng.integers(0, _SEEDS))
            wanted = min(_BATCH, count - len(found))
            question = {"input": content(given, self.unit), "count": wanted, "seed": seed}
            outputs = self._ask(question).get("outputs")
            if outputs is None:
                return None
            if not isinstance(outputs, list) or len(outputs) != wanted:
                said = f"{len(outputs)} outputs" if isinstance(outputs, list) else "no list of outputs"
                raise DataError(f"the target's command gave {said} where {wanted} were asked for")
            found += [REFUSED if each is None else plain(each, self.unit) for each in outputs]
        return None if set(found) == {REFUSED} else found

    def stated(self, given: Input) -> Row | None:
        found = self._ask({"input": content(given, self.unit), "probabilities": True}).get("probabilities")
        return _row(found, self.unit) if isinstance(found, list) else None

    def anew(self, given: Input, count: int, seed: int) -> list[Output] | None:
        with _Command(self.name, self.unit) as other:
            return other.draws(given, count, seeded_rng(seed))

    def forked(self, given: Input, count: int, seed: int) -> tuple[list[Output], list[Output]] | None:
        with _Command(self.name, self.unit) as other:
            if other.draws(given, 1, seeded_rng(seed)) is None:
                return None
            question = {"input": content(given, self.unit), "count": count, "seed": seed, "forked": True}
            found = other._ask(question).get("forked")
        if not isinstance(found, list) or len(found) != 2:
            return None
        one, two = ([plain(each, self.unit) for each in outputs] for outputs in found)
        return one, two


@final
class _Recorded(Target):
    """Lines of JSON with an ``input`` and its ``outputs``, a list or numbers of each; each output is used once.

    What else a line says, ``probabilities`` too, is not looked at: there is no mechanism that shows it to be true.
    """

    starts = False

    def __init__(self, name: str, unit: str) -> None:
        super().__init__(name, unit)
        self._outputs: dict[Input, list[Output]] = {}
        self._answered = set[Input]()
        try:
            lines = (
                read_bytes_limited(Path(name.removeprefix(RECORDED).strip()), _LIMIT).decode().splitlines()
            )
            for line in lines:
                if line.strip():
                    self._take(json.loads(line))
        except (ValueError, KeyError, TypeError, AttributeError):
            raise DataError('recorded outputs are lines of JSON: {"input": ..., "outputs": [...]}') from None
        if not self._outputs:
            raise DataError("there are no recorded outputs in the file")
        self.inputs = list(self._outputs)
        self.half = max(1, min(map(len, self._outputs.values())) // 2)

    def _take(self, line: Mapping[str, Any]) -> None:
        given, outputs = input_from(line["input"], self.unit), line["outputs"]
        if isinstance(outputs, dict):  # numbers of equal outputs, in no order
            found = [plain(output, self.unit) for output, count in outputs.items() for _ in range(int(count))]
            found = [found[place] for place in seeded_rng(len(found)).permutation(len(found)).tolist()]
        else:
            found = [REFUSED if each is None else plain(each, self.unit) for each in outputs]
        self._outputs.setdefault(given, []).extend(found)
        if set(found) - {REFUSED}:
            self._answered.add(given)

    def draws(self, given: Input, count: int, rng: Generator) -> list[Output] | None:
        if given not in self._answered:
            return None
        left = self._outputs.get(given, [])
        found, self._outputs[given] = left[:count], left[count:]
        return found or None

    def again(self, given: Input, count: int, rng: Generator) -> list[Output] | None:
        """See `Target.again`: the last, on which the case was judged."""
        return self._outputs.get(given, [])[-count:] or None

    def stated(self, given: Input) -> Row | None:
        return None


_KINDS: Final[dict[str, type[_Callable] | type[_Command] | type[_Recorded]]] = {
    PYTHON: _Callable,
    COMMAND: _Command,
    RECORDED: _Recorded,
}


def _row(found: Any, unit: str) -> Row:
    try:
        values = {plain(output, unit): float(p) for output, p in found}
    except (TypeError, ValueError):
        raise DataError("the target's probabilities are not numbers, each with its output") from None
    if not all(0 <= p <= 1 + 1e-9 for p in values.values()) or abs(sum(values.values()) - 1) > 1e-6:
        raise DataError("the target states probabilities that are below 0 or do not sum to 1")
    return values


def _stored(output: Any) -> Output:
    return output if isinstance(output, str) else tuple(output)
