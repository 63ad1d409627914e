"""A case in words: the inputs that show the fault, and what was seen."""

from __future__ import annotations

import json
import math

from publius.audit.case import KINDS, Case
from publius.audit.claim import content
from publius.audit.looks import LOOKS, Look
from publius.audit.outputs import REFUSED, Output, is_json

_LONGEST = 90
_IMPOSSIBLE = 700.0


def counterexample(case: Case) -> tuple[str, str]:
    """What was put in and what was seen, in two lines for people."""
    shown = [_cut(json.dumps(content(each, case.unit), ensure_ascii=False)) for each in case.inputs]
    if case.kind not in ("ratio", "exact", "carry"):
        times = f"{len(shown):,} inputs" if len(shown) > 2 else f"the input {shown[0]}"
        event = f"{_event(case)}: " if case.event else ""
        return f"{times}, {case.draws:,} times", f"{event}{KINDS[case.kind]}"
    after = f", each followed by {shown[2]}" if case.kind == "carry" else ""
    claimed = f"claimed: no output is more than {_times(case.claimed or 0.0)} as probable"
    seen = "possible for the first and impossible for the second"
    if case.lower_bound <= _IMPOSSIBLE:
        seen = f"at least {_times(case.lower_bound)} as probable for the first (ln {case.lower_bound:.3g})"
    return f"the inputs {shown[0]} and {shown[1]}{after}; {claimed}", f"{_event(case)} is {seen}"


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
