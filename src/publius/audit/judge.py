"""The verdict on a target's claim: exact where it states its probabilities, lower bounds from draws otherwise.

Events are chosen on one half of the draws and judged on the other, each by Clopper and Pearson's bounds, at a level
that is shared among all that is judged: a sound target is refuted with probability at most `ALPHA`.
"""

from __future__ import annotations

import json
import math
from collections import Counter
from collections.abc import Callable
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Final, final

import numpy as np

from publius.arrays import Float64Array
from publius.audit.target import WORD, Claim, Input, Output, Target, first_draws
from publius.audit.tests_of_fit import log_p_pearson, ratio_lower_bounds
from publius.errors import DataError
from publius.files.reading import read_bytes_limited
from publius.noise.randomness import Generator, seeded_rng

ALPHA: Final = 1e-3
_EACH: Final = ALPHA / 2  # the events; as much again for the process or the statement
_JUDGED: Final = 4
_MOST_EXACT: Final = 500
_MOST_WORDS: Final = 1000
_MOST_EVENTS: Final = 256
_CHECKED: Final = 8
_REPEATED: Final = 64
_ROUNDING: Final = 1e-9
_SMALLEST: Final = 5e-324
_UNKNOWN: Final = ("zqxunlistedone", "zqxunlistedtwo")


@final
@dataclass(frozen=True)
class Case:
    """What refutes a claim: two inputs and an event, with all that it takes to try them again.

    Attributes:
        kind: "ratio" (judged by draws), "exact" (by what it states), "unknown" (a word of no vocabulary comes back),
            "state" (a fresh process repeats its noise), "stated" (its draws are not what it states).
        target: as it was named.
        unit: of the claim.
        inputs: the two, the event being the more probable from the first.
        event: outputs.
        claimed: nats; None where the claim says nothing of these inputs.
        delta: of the claim.
        lower_bound: on the ratio, in nats; 0 where the fault is another.
        confidence: that the refutation is no accident of the draws.
        draws: of each input.
        seed: of the draws' seeds, for a target that takes one.

    """

    kind: str
    target: str
    unit: str
    inputs: tuple[Input, Input]
    event: tuple[Output, ...]
    claimed: float | None
    delta: float
    lower_bound: float
    confidence: float
    draws: int
    seed: int

    @classmethod
    def read(cls, path: Path) -> Case:
        """From a file that an audit wrote; `DataError` for another."""
        try:
            values = json.loads(read_bytes_limited(path, 64 << 20))
            inputs = tuple(tuple(map(str, each)) for each in values["inputs"])
            event = tuple(each if isinstance(each, str) else tuple(each) for each in values["event"])
            case = cls(**{**values, "inputs": inputs, "event": event})
            if case.kind not in _REPLAYS or len(inputs) != 2 or not all(inputs) or case.draws < 1:
                raise ValueError
        except (ValueError, TypeError, KeyError):
            raise DataError("this is no case that an audit of a target has stored") from None
        return case


@final
@dataclass(frozen=True)
class Finding:
    """A verdict, what it rests on, and the case where it is "refuted"; ``refused`` inputs gave no output."""

    verdict: str
    confidence: float
    lower_bound: float
    claimed: float | None
    draws: int
    case: Case | None = None
    refused: int = 0


def judge(target: Target, claim: Claim, draws: int, seed: int) -> Finding:
    """Try to refute ``claim`` with about ``draws`` draws. `DataError` where the target refuses every input."""
    return _Trial(target, claim, draws, seed).verdict()


def replay(case: Case) -> Finding:
    """Try one case again: "refuted" if it shows the fault again, "not-refuted" otherwise."""
    return _REPLAYS[case.kind](case)


class _Trial:
    def __init__(self, target: Target, claim: Claim, draws: int, seed: int) -> None:
        self.target, self.claim, self.budget, self.seed = target, claim, draws, seed
        self.rng = seeded_rng(seed)
        self.drawn = 0
        self.refused = set[Input]()

    def verdict(self) -> Finding:
        unknown = self._unknown()
        if unknown is not None:
            return self._refuted(unknown)
        exact = self._exactly() if self._stated_for_all else None
        if exact is not None and exact.case is not None:
            return exact
        found = self._by_draws() if exact is None else exact
        fault = None if found.case else self._statement() if exact is not None else None
        if found.case is None and fault is None and not self.target.seeded:
            fault = self._state()
        if fault is not None:
            return self._refuted(fault)
        return replace(found, draws=self.drawn, refused=len(self.refused))

    @property
    def _stated_for_all(self) -> bool:
        return self.target.states and self.claim.unit == WORD and len(self.claim.vocabulary) <= _MOST_EXACT

    def _refuted(self, case: Case) -> Finding:
        return Finding(
            "refuted", case.confidence, case.lower_bound, case.claimed, self.drawn, case, len(self.refused)
        )

    def _case(self, kind: str, inputs: tuple[Input, Input], event: tuple[Output, ...], draws: int) -> Case:
        return Case(
            kind, self.target.name, self.claim.unit, inputs, event, None, self.claim.delta, 0.0, 1 - ALPHA, draws,
            self.seed,
        )  # fmt: skip

    def _draw(self, given: Input, count: int) -> list[Output]:
        """Outputs; none where it refuses."""
        found = self.target.draws(given, self.claim.unit, count, self.rng)
        if found is None:
            self.refused.add(given)
            return []
        self.drawn += len(found)
        return found

    # What needs no counting

    def _unknown(self) -> Case | None:
        """Two words of no vocabulary, one of which comes back."""
        one, two = ((word,) * self.claim.size for word in _UNKNOWN)
        for output in self._draw(one, 20):
            if _UNKNOWN[0] in ((output,) if isinstance(output, str) else output):
                return replace(self._case("unknown", (one, two), (output,), 20), confidence=1.0)
        return None

    def _state(self) -> Case | None:
        """Whether two fresh processes draw the same, where independent draws would not."""
        given = next((each for each in self._all_pairs()[0][:2] if each not in self.refused), None)
        outputs = self._draw(given, 2 * _REPEATED * 4) if given else []
        if given is None or not outputs:
            return None
        agree = sum(one == two for one, two in zip(outputs[::2], outputs[1::2], strict=True))
        case = replace(self._case("state", (given, given), (), _REPEATED), confidence=1 - _EACH)
        return case if _agreement(agree, len(outputs) // 2) < math.log(_EACH / 2) and _repeats(case) else None

    # Exactly

    def _exactly(self) -> Finding | None:
        """All pairs of words by what the target states; None where it states nothing for two words."""
        rows = {place: self.target.stated(word) for place, word in enumerate(self.claim.vocabulary)}
        known = [place for place, row in rows.items() if row]
        self.refused.update((self.claim.vocabulary[place],) for place in set(rows) - {*known})
        if len(known) < 2:
            return None
        outputs = list(dict.fromkeys(output for place in known for output in rows[place] or ()))
        self.rows, self.outputs = {place: rows[place] or {} for place in known}, outputs
        table = np.array([[self.rows[place].get(output, 0.0) for output in outputs] for place in known])
        claims = self.claim.distances(known)
        bounds, events = np.zeros_like(claims), {}
        for place in range(len(known)):
            bounds[place], events[place] = _exact_bounds(table[place], table, self.claim.delta)
        np.fill_diagonal(bounds, 0.0)
        excess = bounds - claims
        x, y = np.unravel_index(int(excess.argmax()), excess.shape)
        if excess[x, y] > _ROUNDING:
            pair = ((self.claim.vocabulary[known[x]],), (self.claim.vocabulary[known[y]],))
            event = tuple(outputs[place] for place in events[int(x)](int(y)))
            case = self._case("exact", pair, event, 1)
            return self._refuted(
                replace(case, claimed=float(claims[x, y]), lower_bound=float(bounds[x, y]), confidence=1.0)
            )
        tight = np.divide(bounds, claims, out=np.zeros_like(claims), where=claims > 0)
        x, y = np.unravel_index(int(tight.argmax()), tight.shape)
        return Finding("exact", 1.0, float(bounds[x, y]), float(claims[x, y]), 0)

    def _statement(self) -> Case | None:
        """A word whose draws are not what the target states of it."""
        places = self.rng.permutation([*self.rows])[:_CHECKED].tolist()
        for place in places:
            given = (self.claim.vocabulary[place],)
            outputs = self._draw(given, max(1, self.budget // (2 * len(places))))
            case = self._case("stated", (given, given), (), len(outputs))
            if outputs and _log_p_stated(self.rows[place], outputs) < math.log(_EACH / len(places)):
                return case
        return None

    # By draws

    def _all_pairs(self) -> list[tuple[Input, Input, float]]:
        """Pairs of inputs with what is claimed of them: the nearest first, then some at random."""
        words = self.claim.vocabulary
        rng = seeded_rng(self.seed)
        chosen = np.arange(len(words))
        if len(words) > _MOST_WORDS:
            chosen = np.sort(rng.permutation(len(words))[:_MOST_WORDS])
        claims = self.claim.distances(chosen.tolist())
        first, second = np.triu_indices(len(chosen), 1)
        order = np.argsort(claims[first, second], kind="stable")
        wanted = min(len(order), max(6, self.budget // 8000))
        near, rest = order[: (wanted + 1) // 2], rng.permutation(order[(wanted + 1) // 2 :])
        pairs = []
        for turn, at in enumerate(np.concatenate([near, rest[: wanted - len(near)]]).tolist()):
            x, y = words[chosen[first[at]]], words[chosen[second[at]]]
            claimed, size = float(claims[first[at], second[at]]), self.claim.size
            others = 0 if turn % 2 else size - 1  # one word differs, or every word does
            shared = tuple(words[place] for place in rng.integers(0, len(words), others).tolist())
            apart = 1 if self.claim.bound is not None else size - others
            pairs.append(((x,) * (size - others) + shared, (y,) * (size - others) + shared, claimed * apart))
        return pairs

    def _by_draws(self) -> Finding:
        pairs = self._all_pairs()
        inputs = dict.fromkeys(each for pair in pairs for each in pair[:2])
        count = max(2, self.budget // 2 // len(inputs))
        seen = {each: Counter(self._draw(each, count)) for each in inputs}
        found = []
        for one, two, claimed in pairs:
            for x, y in ((one, two), (two, one)):
                if seen[x] and seen[y]:
                    lower, event = _best_event(seen[x], seen[y], self.claim.delta)
                    found.append((lower - claimed, x, y, claimed, event))
        if not found:
            raise DataError("the target refused every input of two: there is nothing to judge")
        found = sorted(found, key=lambda each: -each[0])[:_JUDGED]
        again = dict.fromkeys(each for _, x, y, _, _ in found for each in (x, y))
        count = max(2, self.budget // 2 // len(again))
        fresh = {each: Counter(self._draw(each, count)) for each in again}
        best: Case | None = None
        for _, x, y, claimed, event in found:
            if fresh[x] and fresh[y]:
                lower = _lower(fresh[x], fresh[y], event, _EACH / _JUDGED, self.claim.delta)
                case = replace(self._case("ratio", (x, y), event, count), claimed=claimed, lower_bound=lower)
                if best is None or lower - claimed > best.lower_bound - (best.claimed or 0.0):
                    best = case
        if best is None:
            raise DataError("the target refused every input that it had taken before")
        if best.lower_bound > (best.claimed or 0.0):
            return self._refuted(best)
        return Finding("not-refuted", 1 - ALPHA, best.lower_bound, best.claimed, self.drawn)


# Bounds ---------------------------------------------------------------------------------------------------


def _lower(
    x: Counter[Output], y: Counter[Output], event: tuple[Output, ...], alpha: float, delta: float
) -> float:
    """Lower bound on ln((P(event | x) - delta) / P(event | y)), from 0: the event that is certain has it."""
    counts = [np.array([float(sum(each[output] for output in event))]) for each in (x, y)]
    trials = [np.array([float(each.total())]) for each in (x, y)]
    found = ratio_lower_bounds(counts[0], trials[0], counts[1], trials[1], alpha, delta)
    return max(0.0, float(found[0]))


def _best_event(x: Counter[Output], y: Counter[Output], delta: float) -> tuple[float, tuple[Output, ...]]:
    """The event that refutes best on these draws: one output, or all whose ratio is above a threshold."""
    ranked = sorted(x, key=lambda output: (-(x[output] + 0.5) / (y[output] + 0.5), str(output)))[
        :_MOST_EVENTS
    ]
    mine, other = (np.array([each[output] for output in ranked], float) for each in (x, y))
    k, q = np.concatenate([mine, mine.cumsum()]), np.concatenate([other, other.cumsum()])
    trials = [np.full(len(k), float(each.total())) for each in (x, y)]
    bounds = ratio_lower_bounds(k, trials[0], q, trials[1], _EACH / _JUDGED, delta)
    at = int(bounds.argmax())
    event = (ranked[at],) if at < len(ranked) else tuple(ranked[: at - len(ranked) + 1])
    return float(bounds[at]), event


def _exact_bounds(
    row: Float64Array, table: Float64Array, delta: float
) -> tuple[Float64Array, Callable[[int], list[int]]]:
    """The largest ln((p - delta) / q) of ``row`` against each row of ``table``, and the event where it is.

    Some set of the outputs with the largest ratios has it. A q of 0 counts as the smallest number there is, so that
    what is said stays a lower bound.
    """
    with np.errstate(divide="ignore", over="ignore", invalid="ignore"):
        logs = np.where(row > 0, np.log(row) - np.log(np.maximum(table, _SMALLEST)), -np.inf)
        order = np.argsort(-logs, axis=1, kind="stable")
        p, q = row[order], np.take_along_axis(table, order, axis=1)
        if delta > 0:
            p, q = p.cumsum(axis=1), q.cumsum(axis=1)
        values = np.log(np.maximum(p - delta, 0.0)) - np.log(np.maximum(q, _SMALLEST))
    best = values.argmax(axis=1)

    def event(other: int) -> list[int]:
        end = int(best[other])
        return order[other, : end + 1].tolist() if delta > 0 else [int(order[other, end])]

    return np.maximum(values.max(axis=1), 0.0), event


def _log_p_stated(row: dict[Output, float], outputs: list[Output]) -> float:
    counts = Counter(outputs)
    names = list(dict.fromkeys([*row, *counts]))
    wanted = np.array([row.get(name, 0.0) for name in names]) * len(outputs)
    return log_p_pearson(np.array([counts[name] for name in names], float), wanted)


def _agreement(agree: int, trials: int) -> float:
    """Upper bound on ln P(two processes draw the same `_REPEATED` outputs), if all draws are independent."""
    from scipy.special import betaincinv

    upper = float(betaincinv(agree + 1, trials - agree, 1 - _EACH / 2)) if agree < trials else 1.0
    return _REPEATED * math.log(upper)


def _repeats(case: Case) -> bool:
    one, two = (first_draws(case.target, case.inputs[0], case.unit, case.draws) for _ in range(2))
    return one is not None and one == two


# Again ----------------------------------------------------------------------------------------------------


def _again(case: Case, refuted: bool, lower: float, draws: int) -> Finding:
    verdict = "refuted" if refuted else "not-refuted"
    return Finding(verdict, case.confidence, lower, case.claimed, draws, case if refuted else None)


def _ratio_again(case: Case) -> Finding:
    target, rng = Target(case.target), seeded_rng(case.seed)
    x, y = (Counter(_taken(target, each, case, rng)) for each in case.inputs)
    lower = _lower(x, y, case.event, ALPHA, case.delta)
    return _again(case, lower > (case.claimed or 0.0), lower, x.total() + y.total())


def _taken(target: Target, given: Input, case: Case, rng: Generator) -> list[Output]:
    found = target.draws(given, case.unit, case.draws, rng)
    if found is None:
        raise DataError("the target refuses an input of the case")
    return found


def _exact_again(case: Case) -> Finding:
    target = Target(case.target)
    x, y = ((target.stated(each[0]) if target.states else None) for each in case.inputs)
    if x is None or y is None:
        raise DataError("the target states no probabilities for an input of the case")
    p, q = (sum(row.get(output, 0.0) for output in case.event) for row in (x, y))
    lower = max(0.0, math.log(p - case.delta) - math.log(max(q, _SMALLEST))) if p > case.delta else 0.0
    return _again(case, lower > (case.claimed or 0.0) + _ROUNDING, lower, 0)


def _unknown_again(case: Case) -> Finding:
    outputs = _taken(Target(case.target), case.inputs[0], case, seeded_rng(case.seed))
    return _again(
        case,
        any(case.inputs[0][0] in ((o,) if isinstance(o, str) else o) for o in outputs),
        0.0,
        len(outputs),
    )


def _state_again(case: Case) -> Finding:
    return _again(case, _repeats(case), 0.0, 2 * case.draws)


def _stated_again(case: Case) -> Finding:
    target = Target(case.target)
    outputs = _taken(target, case.inputs[0], case, seeded_rng(case.seed))
    row = (target.stated(case.inputs[0][0]) if target.states else None) or {}
    return _again(case, _log_p_stated(row, outputs) < math.log(_EACH), 0.0, len(outputs))


_REPLAYS: Final[dict[str, Callable[[Case], Finding]]] = {
    "ratio": _ratio_again,
    "exact": _exact_again,
    "unknown": _unknown_again,
    "state": _state_again,
    "stated": _stated_again,
}


def write_case(case: Case, path: Path) -> None:
    """Store ``case`` where `Case.read` finds it."""
    from publius.files.writing import write_file

    with write_file(path) as file:
        file.write(json.dumps(asdict(case), ensure_ascii=False, indent=1).encode())
