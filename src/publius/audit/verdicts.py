"""A verdict for a build server: JUnit XML, and a badge that says what was tested."""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from typing import Final
from xml.sax.saxutils import escape, quoteattr

from publius.audit.case import Case, Finding
from publius.audit.claim import AUTHOR, DOCUMENT, WORD, Claim, Input, content
from publius.audit.looks import Look
from publius.audit.outputs import REFUSED, Output, is_json

_COLORS: Final = {"exact": "#1a7f37", "not-refuted": "#1f6feb", "refuted": "#b42318"}
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
_LETTER: Final = 6.6
_MARGIN: Final = 7


def fault(case: Case) -> str:
    """Describe a case in words."""
    return _KINDS[case.kind]


def counterexample(case: Case) -> tuple[str, str]:
    """What was put in and what was seen, in two lines for people."""
    first, second = (shown_input(each, case.unit) for each in case.inputs[:2])
    if case.kind in ("ratio", "exact", "carry"):
        nats = case.claimed or 0.0
        after = f", each followed by {shown_input(case.inputs[2], case.unit)}" if case.kind == "carry" else ""
        inputs = f"the inputs {first} and {second}{after}; claimed: no output is more than {_times(nats)} as probable"
        if case.lower_bound > _IMPOSSIBLE:
            return inputs, f"{shown_event(case)} is possible for the first and impossible for the second"
        times = f"at least {_times(case.lower_bound)} as probable for the first ({case.lower_bound:.3g} nats)"
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


def _times(nats: float) -> str:
    return f"{math.exp(nats):,.3g} times" if nats <= 12 else f"e^{nats:.3g} times"


def claimed(claim: Claim) -> str:
    """A claim in few words."""
    said = f"epsilon {claim.epsilon:g} ({claim.metric})" if claim.bound is None else f"{claim.bound:g} nats"
    said += f", delta {claim.delta:g}" if claim.delta else ""
    many = {WORD: "", DOCUMENT: "", AUTHOR: f", {claim.size} authors"}.get(
        claim.unit, f" of {claim.size} words"
    )
    return f"{said} per {claim.unit}{many}"


def tested(found: Finding) -> str:
    """The tests that were made, and how far they reach."""
    if found.verdict == "refuted":
        said = f"refuted: {fault(found.case)}" if found.case else "refuted"
    elif found.verdict == "exact":
        said = f"exact, by its stated probabilities{f', for {found.scope}' if found.scope else ''}"
    else:
        said = f"not refuted, {found.draws:,} draws, {100 * found.confidence:.4g} %"
    return said + refused(found)


def refused(found: Finding) -> str:
    """How many inputs of the claim's own words gave no output, after a comma; empty for none."""
    return f", {found.refused:,} input{'s' * (found.refused != 1)} refused" if found.refused else ""


def junit(found: Finding, target: str, claim: Claim | None) -> str:
    """One test case for the claim, with a failure where it is refuted."""
    name = "a stored case" if claim is None else claimed(claim)
    failed = found.verdict == "refuted"
    said = f"at least {found.lower_bound:.6g} nats, {found.draws:,} draws, confidence {found.confidence:g}"
    lines = "\n".join((*counterexample(found.case), said)) if found.case else said
    inside = f"<failure message={quoteattr(tested(found))}>{escape(lines)}</failure>" if failed else ""
    out = f"<system-out>{escape(f'{tested(found)}; {said}')}</system-out>"
    return (
        '<?xml version="1.0" encoding="UTF-8"?>\n'
        f'<testsuites><testsuite name="publius audit" tests="1" failures="{int(failed)}" errors="0">'
        f"<testcase classname={quoteattr(target)} name={quoteattr(name)}>{inside}{out}</testcase>"
        "</testsuite></testsuites>\n"
    )


def badge(found: Finding, claim: Claim) -> str:
    """An SVG: the claim at the left, the verdict and what it rests on at the right."""
    left, right = claimed(claim), tested(found)
    widths = [len(each) * _LETTER + 2 * _MARGIN for each in (left, right)]
    label = quoteattr(f"{left}: {right}")
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{sum(widths):.0f}" height="20" role="img" aria-label={label}>'
        f"<title>{escape(f'publius audit: {left}: {right}')}</title>"
        f'<rect width="{widths[0]:.0f}" height="20" fill="#4b5563"/>'
        f'<rect x="{widths[0]:.0f}" width="{widths[1]:.0f}" height="20" fill="{_COLORS[found.verdict]}"/>'
        '<g fill="#fff" font-family="Verdana,DejaVu Sans,sans-serif" font-size="11">'
        f'<text x="{_MARGIN}" y="14" textLength="{widths[0] - 2 * _MARGIN:.0f}">{escape(left)}</text>'
        f'<text x="{widths[0] + _MARGIN:.0f}" y="14" textLength="{widths[1] - 2 * _MARGIN:.0f}">{escape(right)}</text>'
        "</g></svg>\n"
    )
