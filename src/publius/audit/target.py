"""Anybody's mechanism as the audit sees it: a callable, a command in another Python, or outputs that were recorded."""

from __future__ import annotations

import json
import math
import os
import shlex
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar, Final, Self, final

from publius.audit.claim import Input, content, input_from
from publius.audit.lines import Lines
from publius.audit.outputs import REFUSED, Output, plain
from publius.errors import DataError, PubliusError, UsageError
from publius.files import child
from publius.files.reading import read_bytes_limited
from publius.files.user_code import PYTHON
from publius.noise.randomness import Generator, seeded_rng

COMMAND: Final = "command:"
RECORDED: Final = "recorded:"

Row = dict[Output, float]

_SEEDS: Final = 2**32
_BATCH: Final = 100
_COMPARED: Final = 32
_LONGEST: Final = 500
_SUM: Final = 1e-12
"""An output's share of the rounding of a sum of probabilities."""
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


class _Process(Target):
    """In a process of its own, and in another one where it is started anew."""

    def __init__(self, name: str, unit: str, lines: Lines) -> None:
        super().__init__(name, unit)
        self._lines = lines

    def close(self) -> None:
        self._lines.close()

    def anew(self, given: Input, count: int, seed: int) -> list[Output] | None:
        with target_named(self.name, self.unit) as other:
            return other.draws(given, count, seeded_rng(seed))

    def forked(self, given: Input, count: int, seed: int) -> tuple[list[Output], list[Output]] | None:
        with target_named(self.name, self.unit) as other:
            if not isinstance(other, _Process) or other.draws(given, 1, seeded_rng(seed)) is None:
                return None
            found = other._forked(given, count, seed)
        if (
            not isinstance(found, list)
            or len(found) != 2
            or not all(isinstance(each, list) for each in found)
        ):
            return None
        one, two = (self._outputs(outputs) for outputs in found)
        return one, two

    @abstractmethod
    def _forked(self, given: Input, count: int, seed: int) -> Any:
        """Two lists of outputs, each of a process that is forked from this one; anything else where that cannot be."""

    def _output(self, answered: Any) -> Output:
        """What a process gave, whatever that is."""
        return plain(answered, self.unit)

    def _outputs(self, answered: list[Any]) -> list[Output]:
        return [REFUSED if each is None else self._output(each) for each in answered]


@final
class _Callable(_Process):
    """Imported from the installation, ``PYTHONPATH`` or the working folder, by a process that is left to it.

    That runs the same Python, and what it imports or does has no way into this one: see `answering`.
    """

    def __init__(self, name: str, unit: str) -> None:
        wished = {name: os.environ[name] for name in ("PYTHONPATH",) if name in os.environ}
        arguments = child.command("publius.audit.answering")
        super().__init__(name, unit, Lines("the target", arguments, child.environment(**wished), apart=True))
        self._question = 0
        try:
            self._seeded = self._ask({"target": name, "unit": unit}, UsageError).get("seeded") is True
        except BaseException:
            self.close()
            raise

    def _ask(self, asked: Mapping[str, Any], wrong: type[PubliusError] = DataError) -> dict[str, Any]:
        self._question += 1
        return self._answer(self._lines.ask({"question": self._question, **asked}), wrong)

    def _answer(self, answer: dict[str, Any], wrong: type[PubliusError] = DataError) -> dict[str, Any]:
        if "wrong" in answer:
            raise wrong(_told(answer["wrong"]))
        if answer.get("question") != self._question:
            raise DataError(
                "the target gave an answer to another question: it wrote into the pipe, or forked"
            )
        if answer.get("raised") is not None:
            self.raised = _told(answer["raised"])
        return answer

    def _seeds(self, count: int, rng: Generator) -> list[int] | list[None]:
        return rng.integers(0, _SEEDS, count).tolist() if self._seeded else [None] * count

    def _called(self, inputs: Sequence[Input], seeds: Sequence[int | None]) -> list[Output]:
        """An output for each seed; the inputs take turns."""
        found: list[Output] = []
        if not seeds:
            return found
        answer = self._ask({"inputs": [content(each, self.unit) for each in inputs], "seeds": seeds})
        while True:
            outputs = answer.get("outputs")
            if not isinstance(outputs, list) or not 0 < len(outputs) <= len(seeds) - len(found):
                raise DataError(
                    f"the target's process gave no {len(seeds):,} outputs where so many were asked for"
                )
            found += self._outputs(outputs)
            if len(found) == len(seeds):
                return found
            answer = self._answer(self._lines.more())

    def draws(self, given: Input, count: int, rng: Generator) -> list[Output] | None:
        found = self._called([given], self._seeds(count, rng))
        return None if set(found) == {REFUSED} else found

    def after(self, first: Input, then: Input, count: int, rng: Generator) -> list[Output] | None:
        found = self._called([first, then], self._seeds(2 * count, rng))
        return None if REFUSED in found else found[1::2]

    def determined(self, given: Input, other: Input, rng: Generator) -> bool:
        if not self._seeded:
            return False
        seeds = rng.integers(0, _SEEDS, _COMPARED).tolist()
        alone = self._called([given], seeds)
        after = self._called([other, given], [seed for seed in seeds for _ in range(2)])[1::2]
        return alone == after and len(set(alone)) > 1

    def _output(self, answered: Any) -> Output:
        """As it was made plain there; by whom does not matter, if it is of that kind."""
        parts = answered if isinstance(answered, list) else [answered]
        if not all(isinstance(each, str) for each in parts):
            raise DataError("the target's process gave an output that is neither text nor texts")
        return answered if isinstance(answered, str) else tuple(parts)

    def stated(self, given: Input) -> Row | None:
        return _row(
            self._ask({"probabilities": content(given, self.unit)}).get("probabilities"), self._output
        )

    def _forked(self, given: Input, count: int, seed: int) -> Any:
        seeds = [self._seeds(count, seeded_rng(seed + turn)) for turn in (1, 2)]
        return self._ask({"forked": content(given, self.unit), "seeds": seeds}).get("forked")


@final
class _Command(_Process):
    """A process that answers each line of JSON on its standard input with one on its standard output.

    Asked ``{"input": ..., "count": n, "seed": s}`` it answers ``{"outputs": [...]}``, an output being null where that
    draw was refused, or anything else for a refusal; asked ``{"input": ..., "probabilities": true}``,
    ``{"probabilities": [[output, p], ...]}`` or anything else for none; asked with ``"forked": true``, two lists of
    outputs, ``{"forked": [[...], [...]]}``, from two processes forked from it.
    """

    def __init__(self, name: str, unit: str) -> None:
        arguments = shlex.split(name.removeprefix(COMMAND))
        if not arguments:
            raise UsageError("the target's command is empty")
        super().__init__(name, unit, Lines("the target's command", arguments))

    def draws(self, given: Input, count: int, rng: Generator) -> list[Output] | None:
        found: list[Output] = []
        while len(found) < count:
            seed = int(rng.integers(0, _SEEDS))
            wanted = min(_BATCH, count - len(found))
            question = {"input": content(given, self.unit), "count": wanted, "seed": seed}
            outputs = self._lines.ask(question).get("outputs")
            if outputs is None:
                return None
            if not isinstance(outputs, list) or len(outputs) != wanted:
                said = f"{len(outputs)} outputs" if isinstance(outputs, list) else "no list of outputs"
                raise DataError(f"the target's command gave {said} where {wanted} were asked for")
            found += self._outputs(outputs)
        return None if set(found) == {REFUSED} else found

    def stated(self, given: Input) -> Row | None:
        answer = self._lines.ask({"input": content(given, self.unit), "probabilities": True})
        return _row(answer.get("probabilities"), self._output)

    def _forked(self, given: Input, count: int, seed: int) -> Any:
        question = {"input": content(given, self.unit), "count": count, "seed": seed, "forked": True}
        return self._lines.ask(question).get("forked")


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


def _told(said: Any) -> str:
    """What a process says of itself, as a line that can be shown."""
    text = said if isinstance(said, str) and said.isprintable() else "something that cannot be shown"
    return text[:_LONGEST]


def _row(found: Any, plainly: Callable[[Any], Output]) -> Row | None:
    """Stated probabilities; None where there are none."""
    if not isinstance(found, list):
        return None
    try:
        values = {plainly(output): float(p) for output, p in found}
    except (TypeError, ValueError):
        raise DataError("the target's probabilities are not numbers, each with its output") from None
    total = math.fsum(values.values())
    if not all(0 <= p <= 1 + _SUM for p in values.values()) or not abs(total - 1) <= _SUM * len(values):
        raise DataError(
            f"the target states probabilities that are below 0 or sum to {total:.12g}, not to 1: of what is missing "
            "nothing is known. Divide them by their sum, in float64"
        )
    return values
