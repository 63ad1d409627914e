"""One rule for verdicts: PASS, FAIL or INCONCLUSIVE, by intervals against the limits that were given (docs/theory.md, attacks).

PASS where every interval lies within its limit, FAIL where one lies beyond, INCONCLUSIVE otherwise, and where clear text
would pass the limits on authors, too: a test that nothing can fail shows nothing. The level of every interval is 5 %
divided by the number of limits and of settings tried on these texts; a FAIL picks the worst of several attackers, so there
it is divided by their number as well. Held to the limits is every attacker that was tried but who holds the originals: his
figure stands beside.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Final, Literal

from publius.evaluation.records import CLEAR, Answer, Attempt, Check, Setting, Verdict, by_setting
from publius.settings import Limits
from publius.statistics import LEVEL, authors_needed

EXIT_CODES: Final[Mapping[Answer, int]] = {"PASS": 0, "FAIL": 1, "INCONCLUSIVE": 3}
FEWEST_AUTHORS: Final = 10
"""Authors below which nothing is judged: from as many on the intervals are shown to hold."""

REASONS: Final = {
    "within": "Every interval lies within its limit.",
    "beyond": "An interval lies beyond its limit.",
    "between": "An interval lies on both sides of its limit.",
    "too-few": "Too few authors to show it.",
    "clear-passes": "Unprotected text passes the limits on authors, too, so the test shows nothing of them.",
    "unmeasured": "What a limit is about was not measured.",
}
"""What a verdict rests on, in one sentence each."""

_ROUNDING: Final = 1e-9


def level_of(limits: Limits, settings: int) -> float:
    """Of each interval, where so many settings are tried."""
    return LEVEL / max(1, len(limits.given) * (settings + limits.tries))


def needed(limits: Limits, settings: int) -> int | None:
    """How many authors it takes for a PASS in the best case; None where no number is enough."""
    gaps = [1 - share if name == "topic_at_least" else share for name, share in limits.given.items()]
    numbers = [authors_needed(gap, level_of(limits, settings)) for gap in gaps]
    return None if None in numbers else max(FEWEST_AUTHORS, *(each or 0 for each in numbers))


def too_few(limits: Limits, settings: Sequence[Setting], authors: int) -> list[Verdict]:
    """INCONCLUSIVE for each setting where these authors cannot show what is asked, so that nothing need be attacked."""
    takes, level = needed(limits, len(settings)), level_of(limits, len(settings))
    if takes is not None and authors >= takes:
        return []
    return [Verdict("INCONCLUSIVE", "too-few", setting, (), authors, takes, level) for setting in settings]


def judged(attempts: Sequence[Attempt], limits: Limits) -> list[Verdict]:
    """The verdict on each setting but clear text, in their order, where authors are enough."""
    protected = by_setting(attempts)
    clear = protected.pop(CLEAR, [])
    takes, level = needed(limits, len(protected)), level_of(limits, len(protected))
    on_authors = replace(limits, topic_at_least=None)
    clear_passes = on_authors.given and all(each.answer == "PASS" for each in _checks(clear, on_authors, level))
    found = []
    for setting, own in protected.items():
        checks = _checks(own, limits, level)
        answers = {each.answer for each in checks}
        answer: Answer = "INCONCLUSIVE"
        if len(checks) < len(limits.given):
            reason = "unmeasured"
        elif "FAIL" in answers:
            answer, reason = "FAIL", "beyond"
        elif clear_passes:
            reason = "clear-passes"
        elif answers == {"PASS"}:
            answer, reason = "PASS", "within"
        else:
            reason = "between"
        tested = max(each.authors for each in own)
        found.append(Verdict(answer, reason, setting, tuple(checks), tested, takes, level))
    return found


def overall(verdicts: Sequence[Verdict]) -> Verdict:
    """Of a grid the first setting that passes; FAIL where all fail."""
    return next(each for answer in ("PASS", "INCONCLUSIVE", "FAIL") for each in verdicts if each.answer == answer)


def _checks(attempts: Sequence[Attempt], limits: Limits, level: float) -> list[Check]:
    """For each limit the attacker that decides: whose interval lies above it and was picked among several, else the highest.

    A topic is what the best reader makes of it.
    """
    found = []
    for name, share in limits.given.items():
        topic = name == "topic_at_least"
        asked = [each for each in attempts if (each.task == "topic") == topic and (each.judged or topic)]
        if not asked:
            continue
        what: Literal["identified", "advantage"] = "advantage" if name == "advantage_at_most" else "identified"
        above: Answer = "PASS" if topic else "FAIL"
        below: Answer = "FAIL" if topic else "PASS"
        edge, part = share - _ROUNDING if topic else share + _ROUNDING, level / len(asked)
        attacker, interval = max(((each.name, each.interval(what, part)) for each in asked), key=lambda one: one[1].low)
        if interval.low > edge:
            found.append(Check(name, share, attacker, interval, above, part))
            continue
        attacker, interval = max(
            ((each.name, each.interval(what, level)) for each in asked), key=lambda one: one[1].high
        )
        answer = below if interval.high <= edge else "INCONCLUSIVE"
        found.append(Check(name, share, attacker, interval, answer, level))
    return found
