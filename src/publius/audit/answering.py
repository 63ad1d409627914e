"""The process of a target that is Python: it imports what the user named and answers for it, ``python -m``.

It may do here what it likes, also to this code: the audit has only the lines that leave by the pipe, and takes them
for outputs, whatever they say. What is printed goes to standard error. Asked are, each with a ``question``, its
number, which stands in each line of the answer:

- ``target`` and ``unit``, first: ``{"seeded": whether it takes a seed}``;
- ``inputs``, which take turns, and ``seeds``, one a call (null where it takes none): ``{"outputs": [...]}``, a null
  where it gave none, in as many lines as it takes;
- ``probabilities``, an input: ``{"probabilities": [[output, p], ...]}``, or null;
- ``forked``, an input, and two lists of ``seeds``: ``{"forked": [[...], [...]]}``, or null.

``raised`` says where it last raised what, ``wrong`` why there is no answer.
"""

from __future__ import annotations

import inspect
import json
import os
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from typing import IO, Any, Final, final

from publius.audit.outputs import imported, plain
from publius.errors import DataError, PubliusError, UsageError, place_of
from publius.files.user_code import object_at

_OFTEN: Final = 0.5
"""Seconds after which outputs are sent, so that what the audit waits for is one call."""
_INSTEAD: Final = {
    "embeddings": "audit the class with --mechanism {}, which needs no claim",
    "reference": "check its laws with publius check-mechanism {}",
}
"""What can be done with the class of a mechanism, by the public input that it reads."""
_CLASSES: Final = (("publius.mechanisms.kernel", "Kernel"), ("publius.mechanisms.mechanism", "Mechanism"))


@final
class _Called:
    """The callable, and what it raised last."""

    def __init__(self, name: str, unit: str) -> None:
        self.function, self.unit = _found(name), unit
        self.seeded = _takes_a_seed(self.function, name)
        self.raised: str | None = None

    def output(self, given: Any, seed: int | None) -> Any:
        """An output as it can be stored; None where it gives none."""
        argument = _fresh(given)
        try:
            output = self.function(argument) if seed is None else self.function(argument, seed=seed)
        except (Exception, SystemExit) as error:  # whatever it raises, it gives no output
            self.raised = place_of(error)
            return None
        if output is None:
            self.raised = "an answer that is None"
            return None
        return plain(output, self.unit)

    def outputs(self, inputs: Sequence[Any], seeds: Sequence[int | None]) -> Iterator[list[Any]]:
        """One for each seed, a list now and then; the inputs take turns."""
        found: list[Any] = []
        since = time.monotonic()
        for turn, seed in enumerate(seeds):
            found.append(self.output(inputs[turn % len(inputs)], seed))
            if time.monotonic() - since > _OFTEN:
                yield found
                found, since = [], time.monotonic()
        if found:
            yield found

    def probabilities(self, given: Any) -> list[list[Any]] | None:
        """What it states of an input, as pairs."""
        states = getattr(self.function, "probabilities", None)
        if states is None:
            return None
        try:
            found = states(_fresh(given))
        except (Exception, SystemExit) as error:
            self.raised = place_of(error)
            return None
        if not isinstance(found, Mapping):
            raise DataError("the target's probabilities(input) must map outputs to probabilities")
        try:
            return [[plain(output, self.unit), float(p)] for output, p in found.items()]
        except (TypeError, ValueError):
            raise DataError("the target's probabilities are not numbers, each with its output") from None

    def forked(self, given: Any, seeds: Sequence[Sequence[int | None]]) -> list[list[Any]] | None:
        """Outputs of processes that are forked from this one; None where that cannot be."""
        return [self._fork(given, each) for each in seeds] if hasattr(os, "fork") else None

    def _fork(self, given: Any, seeds: Sequence[int | None]) -> list[Any]:
        reading, writing = os.pipe()
        child = os.fork()
        if child == 0:
            with suppress(BaseException), os.fdopen(writing, "w") as pipe:
                json.dump([self.output(given, seed) for seed in seeds], pipe)
            os._exit(0)
        os.close(writing)
        with os.fdopen(reading) as pipe:
            text = pipe.read()
        os.waitpid(child, 0)
        found: list[Any] = json.loads(text or "[]")
        return found


def _found(name: str) -> Callable[..., Any]:
    function = object_at(name, working_folder=True)
    if isinstance(function, type) and any(issubclass(function, imported(*each)) for each in _CLASSES):
        instead = _INSTEAD.get(getattr(function, "reads", ""), "make it").format(name)
        raise UsageError(
            f"{name} is the class of a mechanism, and a target is a function that draws: {instead}, or name a "
            "function such as def draw(text): return publius.release(text, mechanism).bag"
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
        raise UsageError(
            f"{name} cannot be called with one input{' and a seed' if seeded else ''}: {error}"
        ) from None
    return seeded


def _fresh(given: Any) -> Any:
    """An input that the call before cannot have changed."""
    return json.loads(json.dumps(given)) if isinstance(given, list) else given


def _answers(called: _Called, asked: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    if "inputs" in asked:
        for found in called.outputs(asked["inputs"], asked["seeds"]):
            yield {"outputs": found}
    elif "forked" in asked:
        yield {"forked": called.forked(asked["forked"], asked["seeds"])}
    else:
        yield {"probabilities": called.probabilities(asked["probabilities"])}


def _pipes() -> tuple[IO[str], IO[str]]:
    """Where questions come from and answers go to; what prints or reads besides has neither."""
    questions, answers = (os.fdopen(os.dup(number), mode) for number, mode in ((0, "r"), (1, "w")))
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.close(nothing)
    os.dup2(2, 1)
    return questions, answers


def _main() -> None:
    questions, answers = _pipes()

    def say(asked: Mapping[str, Any], **said: Any) -> None:
        answers.write(json.dumps({"question": asked["question"], **said}) + "\n")
        answers.flush()

    called: _Called | None = None
    for asked in map(json.loads, questions):
        try:
            if called is None:
                called = _Called(asked["target"], asked["unit"])
                say(asked, seeded=called.seeded)
                continue
            for each in _answers(called, asked):
                say(asked, **each, raised=called.raised)
        except PubliusError as error:
            say(asked, wrong=str(error))


if __name__ == "__main__":
    with suppress(BrokenPipeError):  # whoever asked has ended
        _main()
