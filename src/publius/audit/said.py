"""A verdict in words: the fault, the inputs that show it, and what was seen."""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from typing import Final

from publius.audit.case import Case
from publius.audit.claim import Input, content
from publius.audit.looks import Look
from publius.audit.outputs import REFUSED, Output, is_json

_KINDS: Final = {
    "ratio": "an event is more probable than claimed",
    "exact": "an event is more probable than claimed, by the probabilities that are stated",
    "unknown": "a word of no vocabulary comes back",
    "state": "a new process repeats its noise",
    "forked": "processes that are forked from one draw the same",
    "memory": "what was drawn once is repeated",
    "carry": "an output tells of the input before",
    "stated": "the draws are not what is stated",
    "pooled": "the draws of all inputs together are not what is stated",
}
_LOOKS: Final = {
    "output": "the output",
    "length": "an output whose number of words is",
    "characters": "an output whose number of characters is",
    "capitals": "an output whose pattern of capitals is",
    "number": "an output with a number in the range",
    "bits": "an output with a number whose last bit that is set has the exponent",
}
_LONGEST: Final = 90
_IMPOSSIBLE: Final = 700.0


def fault(case: Case) -> str:
    """Describe a case in words."""
    return _KINDS[case.kind]


def counterexample(case: Case) -> tuple[str, str]:
    """What was put in and what was seen, in two lines for people."""
    first, second = (shown_input(each, case.unit) for each in case.inputs[:2])
    if case.kind in ("ratio", "exact", "carry"):
        claimed = case.claimed or 0.0
        after = f", each followed by {shown_input(case.inputs[2], case.unit)}" if case.kind == "carry" else ""
        inputs = f"the inputs {first} and {second}{after}"
        inputs += f"; claimed: no output is more than {_times(claimed)} as probable"
        if case.lower_bound > _IMPOSSIBLE:
            return inputs, f"{shown_event(case)} is possible for the first and impossible for the second"
        times = f"at least {_times(case.lower_bound)} as probable for the first (ln {case.lower_bound:.3g})"
        return inputs, f"{shown_event(case)} is {times}"
    if case.kind == "pooled":
        return f"{len(case.inputs):,} inputs, {case.draws:,} times each", fault(case)
    inputs = f"the input {first}"
    if case.kind in ("state", "forked"):
        inputs += f", {case.draws} times in each of two processes"
    said = f"{shown_event(case)}: {fault(case)}" if case.kind == "unknown" else fault(case)
    return inputs, said


def shown_input(given: Input, unit: str) -> str:
    """An input, cut where it is long."""
    return _cut(json.dumps(content(given, unit), ensure_ascii=False))


def shown_event(case: Case) -> str:
    """The event of a case: what of an output was looked at, and what it was."""
    kind = case.look[0]
    if kind == "holds":
        held = "holds" if case.event == ("True",) else "does not hold"
        return f"an output that {held} {json.dumps(case.look[1], ensure_ascii=False)}"
    show: Callable[[Output], str] = _shown if kind in ("output", "at") else _quoted
    values = [_range(case.look, each) if kind == "number" else show(each) for each in case.event]
    what = f"an output with, at place {case.look[1]}," if kind == "at" else _LOOKS[kind]
    return f"{what} {_cut(' or '.join(values))}"


def _range(look: Look, value: Output) -> str:
    if not str(value).isdigit():
        return f"of {value}"  # infinite, or there is none
    edges, place = [-math.inf, *look[2], math.inf], int(str(value))
    return f"{edges[place]:g} to {edges[place + 1]:g}"


def _shown(value: Output) -> str:
    if value == REFUSED:
        return "a refusal"
    return value if isinstance(value, str) and is_json(value) else _quoted(value)


def _quoted(value: Output) -> str:
    return json.dumps(value if isinstance(value, str) else " ".join(value), ensure_ascii=False)


def _cut(text: str) -> str:
    return text if len(text) <= _LONGEST else text[: _LONGEST - 3] + "..."


def _times(exponent: float) -> str:
    return f"{math.exp(exponent):,.3g} times" if exponent <= 12 else f"e^{exponent:.3g} times"
