"""Cases that refute a claim, stored so that anybody can try them again in seconds."""

from __future__ import annotations

import json
import math
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Final, final

import numpy as np

from publius.audit.claim import AUTHOR, SIZES, Input, content
from publius.audit.looks import Look, holds, seen
from publius.audit.outputs import Output, plain
from publius.audit.target import Row, Target, target_named
from publius.audit.tests_of_fit import log_p_pearson, ratio_lower_bounds
from publius.errors import DataError
from publius.files.reading import read_bytes_limited
from publius.noise.randomness import Generator, seeded_rng

ALPHA: Final = 1e-3
EVENTS: Final = ALPHA / 2
"""For the events that are judged, together; `OTHER` for each of the five other tests."""
OTHER: Final = ALPHA / 10
ROUNDING: Final = 1e-9
_EIGHTHS: Final = 8
SMALLEST: Final = 5e-324
REPEATED: Final = 64
PROCESSES: Final = 5


@final
@dataclass(frozen=True)
class Case:
    """A refutation of a claim: two inputs and an event, with all that it takes to try them again.

    Attributes:
        kind: "ratio" (judged by draws), "exact" (by what it states), "unknown" (a word of no vocabulary comes back),
            "state" (a new process repeats its noise), "forked" (two forked processes draw the same), "memory" (it
            repeats in a process what it once drew), "carry" (an output tells of the input before), "stated" (its draws
            are not what it states), "pooled" (those of all inputs together are not).
        target: as it was named.
        unit: of the claim.
        inputs: the two, the event being the more probable from the first; of "carry" a third, whose output is seen.
        look: what of an output the event is about.
        event: what it shows.
        claimed: on the ln of the ratio; None where the claim says nothing of these inputs.
        delta: of the claim.
        lower_bound: on the ln of the ratio; 0 where the fault is another.
        confidence: that the refutation is no accident of the draws.
        draws: of each input.
        seed: of the draws' seeds, for a target that takes one.
        why: these inputs were tried.

    """

    kind: str
    target: str
    unit: str
    inputs: tuple[Input, ...]
    look: Look
    event: tuple[Output, ...]
    claimed: float | None
    delta: float
    lower_bound: float
    confidence: float
    draws: int
    seed: int
    why: str = ""

    @classmethod
    def read(cls, path: Path) -> Case:
        """From a file that an audit wrote; `DataError` for another."""
        try:
            values = json.loads(read_bytes_limited(path, 64 << 20))
            unit = values["unit"]
            inputs = tuple(tuple(_part(part, unit) for part in each) for each in values["inputs"])
            event = tuple(each if isinstance(each, str) else tuple(each) for each in values["event"])
            look = tuple(values["look"])
            seen(look, "")  # a look that there is
            case = cls(**{**values, "inputs": inputs, "event": event, "look": look})
            if (
                case.kind not in _REPLAYS or unit not in SIZES
                or (len(inputs) < 2 if case.kind == "pooled" else len(inputs) != 2 + (case.kind == "carry"))
                or not all(isinstance(each, str) for each in (case.target, case.why))
                or case.draws < 1 or not 0 <= case.delta < 1
            ):  # fmt: skip
                raise ValueError
        except (ValueError, TypeError, KeyError, IndexError, AttributeError):
            raise DataError("this is no case that an audit of a target has stored") from None
        return case

    def write(self, path: Path) -> None:
        """Store it where `read` finds it."""
        from publius.files.writing import write_file

        with write_file(path) as file:
            file.write(json.dumps(asdict(self), ensure_ascii=False, indent=1).encode())


def _part(part: Any, unit: str) -> str | tuple[str, str]:
    if unit == AUTHOR:
        author, text = part
        return str(author), str(text)
    if not isinstance(part, str):
        raise TypeError
    return part


@final
@dataclass(frozen=True)
class Finding:
    """A verdict, what it rests on, and the case where it is "refuted".

    Attributes:
        verdict: "exact", "not-refuted" or "refuted".
        confidence: at which the claim was tried; 1 where nothing was left to chance.
        lower_bound: on the ln of the ratio: a claim of less would have been refuted.
        claimed: of the same inputs.
        draws: that were made.
        case: what refutes it.
        refused: inputs of the claim's own words that gave no output in any draw.
        unknown: inputs with a word of no vocabulary that gave none.
        scope: the inputs that "exact" is about; empty for another verdict.

    """

    verdict: str
    confidence: float
    lower_bound: float
    claimed: float | None
    draws: int
    case: Case | None = None
    refused: int = 0
    unknown: int = 0
    scope: str = ""


def replay(case: Case, name: str) -> Finding:
    """Try one case again, with the target of that ``name``: "refuted" if it shows the fault again.

    Whoever replays names the target: a case that somebody else has stored must run nothing of its own choice.
    """
    with target_named(name, case.unit) as target:
        refuted, lower, draws = _REPLAYS[case.kind](case, target)
    verdict = "refuted" if refuted else "not-refuted"
    return Finding(verdict, case.confidence, lower, case.claimed, draws, case if refuted else None)


# Bounds ---------------------------------------------------------------------------------------------------


def lower_bound(
    x: Counter[Output], y: Counter[Output], event: tuple[Output, ...], alpha: float, delta: float
) -> float:
    """Lower bound on ln((P(event | x) - delta) / P(event | y)), from 0: the event that is certain has it."""
    counts = [np.array([float(sum(each[output] for output in event))]) for each in (x, y)]
    trials = [np.array([float(each.total())]) for each in (x, y)]
    found = ratio_lower_bounds(counts[0], trials[0], counts[1], trials[1], alpha, delta)
    return max(0.0, float(found[0]))


def counted(look: Look, outputs: Iterable[Output]) -> Counter[Output]:
    """Count the values that ``look`` shows of outputs."""
    found: Counter[Output] = Counter()
    for output, count in (outputs if isinstance(outputs, Counter) else Counter(outputs)).items():
        found[seen(look, output)] += count
    return found


def log_p_stated(row: Row, outputs: list[Output]) -> float:
    """Ln of the p-value of outputs by the probabilities that are stated; one that cannot be refutes at once.

    Of two tests the one that says more, so twice its p-value: Pearson's over all outputs, and, as that sees little
    where each output is rare, how often the one that comes too often is drawn.
    """
    from scipy.stats import binom

    counts = Counter(outputs)
    names = list(dict.fromkeys([*row, *counts]))
    wanted = np.array([row.get(name, 0.0) for name in names]) * len(outputs)
    drawn = np.array([counts[name] for name in names], float)
    often = binom.logsf(drawn - 1, len(outputs), np.minimum(1.0, wanted / len(outputs))).min() + math.log(
        len(names)
    )
    return min(log_p_pearson(drawn, wanted), float(often)) + math.log(2)


def log_p_pooled(drawn: Mapping[Input, tuple[Row, list[Output]]], unit: str) -> float:
    """Ln of the p-value of the draws of all inputs together, which see what is too rare in those of each.

    Counted are outputs that are their own input, and outputs in each eighth of what is stated, from the likeliest
    on. The tail of a sum of independent events of different probabilities is below the binomial tail of their mean,
    on either side of it (Hoeffding 1956).
    """
    from scipy.stats import binom

    counts, wanted, trials = np.zeros(_EIGHTHS + 1), np.zeros(_EIGHTHS + 1), 0
    for given, (row, outputs) in drawn.items():
        own = plain(content(given, unit), unit)
        ordered = sorted(row, key=lambda output: (-row[output], str(output)))
        before = np.cumsum([0.0, *(row[output] for output in ordered)])[:-1]
        place = dict(
            zip(ordered, np.minimum(_EIGHTHS - 1, (before * _EIGHTHS).astype(int)).tolist(), strict=True)
        )
        for output, p in row.items():
            wanted[place[output]] += p * len(outputs)
        wanted[-1] += row.get(own, 0.0) * len(outputs)
        for output in outputs:
            if output not in place:
                return -math.inf
            counts[place[output]] += 1
            counts[-1] += output == own
        trials += len(outputs)
    mean = np.clip(wanted / max(1, trials), 0.0, 1.0)
    above = np.where(counts >= wanted + 1, binom.logsf(counts - 1, trials, mean), 0.0)
    below = np.where(counts <= wanted - 1, binom.logcdf(counts, trials, mean), 0.0)
    return min(0.0, float(np.minimum(above, below).min()) + math.log(2 * (_EIGHTHS + 1)))


def repeats(case: Case, target: Target) -> bool:
    """Whether two new processes, with different seeds, draw the same."""
    one, two = (target.anew(case.inputs[0], case.draws, case.seed + turn) for turn in (0, 1))
    return bool(one) and one == two


def forks_repeat(case: Case, target: Target) -> bool:
    """Whether two processes that are forked from one draw the same; False where that cannot be tried."""
    found = target.forked(case.inputs[0], case.draws, case.seed)
    return found is not None and bool(found[0]) and found[0] == found[1]


def remembers(case: Case, target: Target) -> bool:
    """Whether it repeats itself in each of some new processes, of which two differ: then no more are started."""
    found = set[Output]()
    for turn in range(PROCESSES):
        outputs = set(target.anew(case.inputs[0], REPEATED, case.seed + turn) or ())
        if len(outputs) != 1:
            return False
        found |= outputs
        if len(found) > 1:
            return True
    return False


# Again ----------------------------------------------------------------------------------------------------

_Again = tuple[bool, float, int]


def _taken(target: Target, given: Input, case: Case, rng: Generator) -> list[Output]:
    found = target.again(given, case.draws, rng)
    if found is None:
        raise DataError("the target refuses an input of the case")
    return found


def _ratio(case: Case, target: Target) -> _Again:
    rng = seeded_rng(case.seed)
    x, y = (counted(case.look, _taken(target, each, case, rng)) for each in case.inputs)
    lower = lower_bound(x, y, case.event, ALPHA, case.delta)
    return lower > (case.claimed or 0.0), lower, x.total() + y.total()


def _carry(case: Case, target: Target) -> _Again:
    rng = seeded_rng(case.seed)
    found = [target.after(each, case.inputs[2], case.draws, rng) for each in case.inputs[:2]]
    if found[0] is None or found[1] is None:
        raise DataError("the target refuses an input of the case")
    x, y = (counted(case.look, each) for each in found if each is not None)
    lower = lower_bound(x, y, case.event, ALPHA, case.delta)
    return lower > (case.claimed or 0.0), lower, x.total() + y.total()


def _exact(case: Case, target: Target) -> _Again:
    x, y = (target.stated(each) for each in case.inputs)
    if x is None or y is None:
        raise DataError("the target states no probabilities for an input of the case")
    p, q = (sum(row.get(output, 0.0) for output in case.event) for row in (x, y))
    lower = max(0.0, math.log(p - case.delta) - math.log(max(q, SMALLEST))) if p > case.delta else 0.0
    return lower > (case.claimed or 0.0) + ROUNDING, lower, 0


def _unknown(case: Case, target: Target) -> _Again:
    outputs = _taken(target, case.inputs[0], case, seeded_rng(case.seed))
    return any(holds(each, str(case.event[0])) for each in outputs), 0.0, len(outputs)


def _stated(case: Case, target: Target) -> _Again:
    outputs = _taken(target, case.inputs[0], case, seeded_rng(case.seed))
    row = target.stated(case.inputs[0])
    if row is None:
        raise DataError("the target states no probabilities for an input of the case")
    return log_p_stated(row, outputs) < math.log(OTHER), 0.0, len(outputs)


def _pooled(case: Case, target: Target) -> _Again:
    rng, drawn = seeded_rng(case.seed), {}
    for given in case.inputs:
        row = target.stated(given)
        if row is None:
            raise DataError("the target states no probabilities for an input of the case")
        drawn[given] = row, _taken(target, given, case, rng)
    return log_p_pooled(drawn, case.unit) < math.log(OTHER), 0.0, case.draws * len(drawn)


_REPLAYS: Final[dict[str, Callable[[Case, Target], _Again]]] = {
    "ratio": _ratio,
    "exact": _exact,
    "unknown": _unknown,
    "carry": _carry,
    "stated": _stated,
    "pooled": _pooled,
    "state": lambda case, target: (repeats(case, target), 0.0, 2 * case.draws),
    "forked": lambda case, target: (forks_repeat(case, target), 0.0, 2 * case.draws),
    "memory": lambda case, target: (remembers(case, target), 0.0, PROCESSES * REPEATED),
}
