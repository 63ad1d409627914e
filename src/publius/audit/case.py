"""Cases that refute a claim, stored so that anybody can try them again in seconds, and told in words."""

from __future__ import annotations

import json
import math
from collections import Counter
from collections.abc import Callable, Iterable
from functools import partial
from pathlib import Path
from typing import Final

import msgspec

from publius.audit.claim import Input, Unit, content
from publius.audit.outputs import LOOKS, REFUSED, WHOLE, Look, Output, holds, is_json, seen
from publius.audit.target import Target, target_named
from publius.errors import DataError
from publius.files.reading import read_bytes_limited
from publius.noise.randomness import seeded_rng
from publius.statistics import clopper_pearson

ALPHA: Final = 1e-3
EVENTS: Final = ALPHA / 2  # for the events that are judged, together
OTHER: Final = ALPHA / 10  # for each of the other tests
_PROCESSES: Final = 5
_LONGEST: Final = 90

KINDS: Final = {
    "ratio": "an event is more probable than claimed",
    "carry": "an output tells of the input before",
    "unknown": "a word of no vocabulary comes back",
    "state": "it repeats its noise, in one process or in the next",
    "forked": "processes that are forked from one draw the same",
}


class Case(msgspec.Struct, frozen=True, kw_only=True):
    """A refutation of a claim: inputs and an event, with all that it takes to try them again."""

    kind: str  # of `KINDS`
    target: str  # as it was named
    unit: Unit
    inputs: tuple[Input, ...]  # two, the event likelier from the first; of "carry" one more, drawn after each
    look: Look = WHOLE  # what of an output the event is about
    event: tuple[Output, ...] = ()
    claimed: float | None = None  # on the ln of the ratio; None where the claim says nothing of these inputs
    delta: float
    lower_bound: float = 0.0  # on the ln of the ratio; 0 where the fault is another
    confidence: float = 1 - ALPHA  # that the refutation is no accident of the draws
    draws: int  # of each input
    seed: int  # of the draws' seeds, for a target that takes one

    def __post_init__(self) -> None:
        """`ValueError` for what no audit has stored, which reading a file makes a `msgspec.ValidationError`."""
        many = 3 if self.kind == "carry" else 2
        if self.kind not in KINDS or len(self.inputs) != many or self.draws < 1 or not 0 <= self.delta < 1:
            raise ValueError("no case")

    @classmethod
    def read(cls, path: Path) -> Case:
        """From a file that an audit wrote; `DataError` for another."""
        try:
            case = msgspec.json.decode(read_bytes_limited(path, 64 << 20), type=cls)
            seen(case.look, "")  # a look that there is
        except (msgspec.MsgspecError, ValueError, TypeError, KeyError, IndexError):
            raise DataError("this is no case that an audit of a target has stored") from None
        return case

    def write(self, path: Path) -> None:
        """Store it where `read` finds it."""
        from publius.files.writing import write_file

        with write_file(path) as file:
            file.write(msgspec.json.format(msgspec.json.encode(self), indent=1))


class Finding(msgspec.Struct, frozen=True):
    """A verdict, what it rests on, and the case where it is "refuted"."""

    verdict: str  # "not-refuted" or "refuted"
    confidence: float  # at which the claim was tried
    lower_bound: float  # on the ln of the ratio: a claim of less would have been refuted
    claimed: float | None  # of the same inputs
    draws: int
    case: Case | None = None
    refused: int = 0  # inputs of the claim's own words that gave no output in any draw


def replay(case: Case, name: str) -> Finding:
    """Try one case again, with the target of that ``name``: "refuted" if it shows the fault again.

    Whoever replays names the target: a case that somebody else has stored must run nothing of its own choice.
    """
    with target_named(name, case.unit) as target:
        if target.inputs is not None and case.kind not in ("ratio", "unknown"):
            raise DataError("recorded outputs show no such fault: name the mechanism itself")
        lower, draws = 0.0, case.draws * len(case.inputs)
        if case.kind in ("ratio", "carry"):
            x, y = (_taken(case, target, turn) for turn in (0, 1))
            lower = lower_bound(case.look, case.event, x, y, ALPHA, case.delta)
            refuted = lower > (case.claimed or 0.0)
        elif case.kind == "unknown":
            refuted = any(holds(each, str(case.event[0])) for each in _taken(case, target, 0))
        else:
            refuted = (repeats if case.kind == "state" else forks_repeat)(case, target)
    verdict = "refuted" if refuted else "not-refuted"
    return Finding(verdict, case.confidence, lower, case.claimed, draws, case if refuted else None)


def _taken(case: Case, target: Target, turn: int) -> list[Output]:
    """Outputs for the input of that ``turn``; of "carry" those of the third input after it."""
    given, rng = case.inputs[turn], seeded_rng(case.seed + turn)
    after = case.kind == "carry"
    found = target.after(given, case.inputs[2], case.draws, rng) if after else target.again(given, case.draws, rng)
    if found is None:
        raise DataError("the target refuses an input of the case")
    return found


def lower_bound(
    look: Look, event: tuple[Output, ...], x: Iterable[Output], y: Iterable[Output], alpha: float, delta: float
) -> float:
    """Lower bound on ln((P(event | x) - delta) / P(event | y)) by outputs of both, from 0: the certain event has it."""
    ends = []
    for outputs in (x, y):
        counts = counted(partial(seen, look), outputs)
        ends.append(clopper_pearson(sum(counts[output] for output in event), counts.total(), alpha))
    p, q = ends[0].low - delta, ends[1].high
    return max(0.0, math.log(p) - math.log(q)) if p > 0 else 0.0


def counted(shown: Callable[[Output], Output], outputs: Iterable[Output]) -> Counter[Output]:
    """How often each value is ``shown`` of outputs."""
    found: dict[Output, int] = {}  # quicker than a Counter while it is filled
    for output, count in (outputs if isinstance(outputs, Counter) else Counter(outputs)).items():
        value = shown(output)
        found[value] = found.get(value, 0) + count
    return Counter(found)


def repeats(case: Case, target: Target) -> bool:
    """Whether two new processes, with different seeds, draw the same, or each keeps to one output, not to the same."""
    first = target.anew(case.inputs[0], case.draws, case.seed)
    if len({*first}) > 1:
        return target.anew(case.inputs[0], case.draws, case.seed + 1) == first
    for turn in range(1, _PROCESSES):
        other = target.anew(case.inputs[0], case.draws, case.seed + turn)
        if len({*other}) != 1 or other != first:
            return bool(first) and len({*other}) == 1
    return False


def forks_repeat(case: Case, target: Target) -> bool:
    """Whether two processes that are forked from one draw the same; False where that cannot be tried."""
    found = target.forked(case.inputs[0], case.draws, case.seed)
    return len(found) == 2 and bool(found[0]) and found[0] == found[1]


# In words -------------------------------------------------------------------------------------------------


def counterexample(case: Case) -> tuple[str, str]:
    """What was put in and what was seen, in two lines for people."""
    shown = [_cut(json.dumps(content(each, case.unit), ensure_ascii=False)) for each in case.inputs]
    if case.kind not in ("ratio", "carry"):
        event = f"{_event(case)}: " if case.event else ""
        return f"the input {shown[0]}, {case.draws:,} times", f"{event}{KINDS[case.kind]}"
    after = f", each followed by {shown[2]}" if case.kind == "carry" else ""
    claimed = f"claimed: no output is more than {_times(case.claimed or 0.0)} as probable"
    told = f"at least {_times(case.lower_bound)} as probable for the first (ln {case.lower_bound:.3g})"
    return f"the inputs {shown[0]} and {shown[1]}{after}; {claimed}", f"{_event(case)} is {told}"


def _event(case: Case) -> str:
    """What of an output was looked at, and what it was."""
    kind, *facts = case.look
    if kind == "holds":
        held = "holds" if case.event == ("True",) else "does not hold"
        return f"an output that {held} {json.dumps(facts[0], ensure_ascii=False)}"
    values = [_range(case.look, each) if kind == "number" else _shown(each) for each in case.event]
    return f"{LOOKS[kind][1].format(*facts)} {_cut(' or '.join(values))}"


def _range(look: Look, value: Output) -> str:
    if not str(value).isdigit():
        return f"of {value}"  # infinite, or there is none
    edges, place = [-math.inf, *look[2], math.inf], int(str(value))
    return f"{edges[place]:g} to {edges[place + 1]:g}"


def _shown(value: Output) -> str:
    if value == REFUSED:
        return "a refusal"
    if isinstance(value, str) and is_json(value):
        return value
    return json.dumps(value if isinstance(value, str) else " ".join(value), ensure_ascii=False)


def _cut(text: str) -> str:
    return text if len(text) <= _LONGEST else text[: _LONGEST - 3] + "..."


def _times(exponent: float) -> str:
    return f"{math.exp(exponent):,.3g} times" if exponent <= 12 else f"e^{exponent:.3g} times"
