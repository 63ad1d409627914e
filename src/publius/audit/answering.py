"""The process of a target that is Python: it imports what the user named and answers for it, as `target` asks.

It may do here what it likes, also to this code: the audit has only the lines that leave by the pipe, and takes them
for outputs, whatever they say. What is printed goes to standard error.
"""

from __future__ import annotations

import inspect
import json
import os
import random
import sys
from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import IO, Any, final

from publius.errors import DataError, PubliusError, UsageError, place_of
from publius.files.user_code import object_at


@final
class _Called:
    """The callable, and what it raised last."""

    def __init__(self, name: str) -> None:
        self.function = _found(name)
        self.seeded = _takes_a_seed(self.function, name)
        self.raised: str | None = None

    def answer(self, asked: Mapping[str, Any]) -> dict[str, Any]:
        """What is said to one question; nothing to the first, which only asks whether it is there."""
        if "input" not in asked:
            return {}
        if "forked" in asked:
            return {"forked": [self._fork({**asked, "seed": asked["seed"] + turn}) for turn in (1, 2)]}
        return {"outputs": self._outputs(asked), "raised": self.raised}

    def _outputs(self, asked: Mapping[str, Any]) -> list[Any]:
        rng = random.Random(asked["seed"])  # seeds of somebody's trial
        return [self._output(asked["input"], rng) for _ in range(asked["count"])]

    def _output(self, given: Any, rng: random.Random) -> Any:
        """What it gives for a copy of an input; None where it gives nothing."""
        more = {"seed": rng.getrandbits(32)} if self.seeded else {}
        try:
            output = self.function(json.loads(json.dumps(given)), **more)
        except (Exception, SystemExit) as error:  # whatever it raises, it gives no output
            self.raised = place_of(error)
            return None
        if output is None:
            self.raised = "an answer that is None"
        return output

    def _fork(self, asked: Mapping[str, Any]) -> Any:
        reading, writing = os.pipe()
        child = os.fork()
        if child == 0:
            with suppress(BaseException), os.fdopen(writing, "w") as pipe:
                pipe.write(_written(self._outputs(asked)))
            os._exit(0)
        os.close(writing)
        with os.fdopen(reading) as pipe:
            text = pipe.read()
        os.waitpid(child, 0)
        return json.loads(text or "[]")


def _written(value: Any) -> str:
    try:
        return json.dumps(value, default=_plainly)
    except (TypeError, ValueError, RecursionError):
        raise DataError("the target gave what is neither text, numbers, words nor a bag") from None


def _plainly(value: Any) -> Any:
    """What JSON can say of a bag or of numbers in arrays; their classes are known only where they were imported."""
    if isinstance(value, Mapping):
        return dict(value)
    if type(value).__module__ == "publius.text.bag":
        return dict(value.counts)
    numpy = sys.modules.get("numpy")
    if numpy is not None and isinstance(value, numpy.ndarray | numpy.generic):
        return value.tolist()
    raise TypeError


def _found(name: str) -> Callable[..., Any]:
    function = object_at(name)
    if isinstance(function, type):
        raise UsageError(
            f"{name} is a class, and a target is a function that draws: try a kernel's laws with --mechanism {name}, "
            "or name a function: def draw(text): return publius.release(text, mechanism).bag"
        )
    if not callable(function):
        raise UsageError(f"{name} cannot be called")
    called: Callable[..., Any] = function
    return called


def _takes_a_seed(function: Callable[..., Any], name: str) -> bool:
    try:
        signature = inspect.signature(function)
    except (TypeError, ValueError):
        return False
    seeded = "seed" in signature.parameters
    try:
        signature.bind(None, **({"seed": 0} if seeded else {}))
    except TypeError as error:
        more = " and a seed" if seeded else ""
        raise UsageError(f"{name} cannot be called with one input{more}: {error}") from None
    return seeded


def _pipes() -> tuple[IO[str], IO[str]]:
    """Where questions come from and answers go to; what prints or reads besides has neither."""
    questions, answers = (os.fdopen(os.dup(number), mode) for number, mode in ((0, "r"), (1, "w")))
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.close(nothing)
    os.dup2(2, 1)
    return questions, answers


def _main(name: str) -> None:
    questions, answers = _pipes()
    called: _Called | None = None
    for asked in map(json.loads, questions):
        try:
            called = called or _Called(name)
            said = _written({**called.answer(asked), "question": asked["question"]})
        except PubliusError as error:
            said = json.dumps({"wrong": str(error), "question": asked["question"]})
        answers.write(said + "\n")
        answers.flush()


if __name__ == "__main__":
    with suppress(BrokenPipeError):  # whoever asked has ended
        _main(sys.argv[1])
