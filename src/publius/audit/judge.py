"""The verdict on a target's claim, by lower bounds from draws.

Events are chosen on one half of the draws and judged on the other, each by Clopper and Pearson's bounds, at a level
that is shared among all that is judged: a sound target is refuted with probability at most `ALPHA`. Where nothing is
refuted, one more pair is judged, which promises the largest share of what is claimed: it shows how far the draws see.
"""

from __future__ import annotations

import itertools
import math
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from operator import eq
from typing import Any, Final

import numpy as np
from msgspec.structs import replace

from publius.arrays import Float64Array
from publius.audit.case import EVENTS, OTHER, Case, Finding, counted, forks_repeat, lower_bound, repeats
from publius.audit.claim import SAID, Claim, Input, Pair, pairs, unknown_inputs
from publius.audit.outputs import Look, Output, holds, looks, seen
from publius.audit.target import Target
from publius.errors import DataError
from publius.noise.randomness import Generator, seeded_rng
from publius.statistics import clopper_pearson

_KEPT: Final = 6
_ACROSS: Final = 40
_SEEN: Final = 8
_JUDGED: Final = 2
_LEVEL: Final = EVENTS / (_JUDGED + 1)
_SURE: Final = 4.0  # standard errors
_MOST_EVENTS: Final = 256
_FEW: Final = 64
_UNKNOWN_DRAWS: Final = 20
_REPEATED: Final = 64
_Score = Callable[[Float64Array, Float64Array], Float64Array]
_Drawn = dict[Input, Counter[Output]]


def judge(target: Target, claim: Claim, draws: int, seed: int) -> Finding:
    """Try to refute ``claim`` with about ``draws`` draws. `DataError` where the target refuses every input."""
    return _Trial(target, claim, draws, seed).verdict()


class _Trial:
    def __init__(self, target: Target, claim: Claim, draws: int, seed: int) -> None:
        self.target, self.claim, self.budget, self.seed = target, claim, draws, seed
        self.rng, self.drawn = seeded_rng(seed), 0
        self.refused = set[Input]()
        self.starts = target.inputs is None
        self.pairs = pairs(claim, max(_KEPT, draws // 8000), seeded_rng(seed), target.inputs)

    def verdict(self) -> Finding:
        case = (self._unknown() if self.starts else None) or self._by_draws()
        refuted, fault = case.kind == "unknown" or _excess(case) > 0, None
        if not refuted and not self._determined():
            fault = self._state() or self._carry()
        elif self.starts and case.kind == "ratio" and refuted and len({*self._draw(case.inputs[0], _REPEATED)}) == 1:
            fault = self._state()  # what is certain here may be this process's own choice
        case, refuted = fault or case, refuted or fault is not None
        strange = {given for given, _, _ in unknown_inputs(self.claim)}
        return Finding(
            "refuted" if refuted else "not-refuted", case.confidence, case.lower_bound, case.claimed, self.drawn,
            case if refuted else None, len(self.refused - strange),
        )  # fmt: skip

    def _case(self, kind: str, inputs: tuple[Input, ...], draws: int, **more: Any) -> Case:
        return Case(
            kind=kind, target=self.target.name, unit=self.claim.unit, inputs=inputs, delta=self.claim.delta, draws=draws,
            seed=self.seed, **more,
        )  # fmt: skip

    def _draw(self, given: Input, count: int) -> list[Output]:
        """Outputs; none where it refuses."""
        found = self.target.draws(given, count, self.rng)
        if found is None:
            self.refused.add(given)
            return []
        self.drawn += len(found)
        return found

    # What needs no counting

    def _unknown(self) -> Case | None:
        """An input with a word of no vocabulary that comes back."""
        for one, other, spelling in unknown_inputs(self.claim):
            if any(holds(output, spelling) for output in self._draw(one, _UNKNOWN_DRAWS)):
                return self._case("unknown", (one, other), _UNKNOWN_DRAWS, event=(spelling,), confidence=1.0)
        return None

    def _determined(self) -> bool:
        """Whether the seed alone decides an output, also after one for another input: it keeps no state of its own."""
        pair = next((each for each in self.pairs if not {each.x, each.y} & self.refused), None)
        if not self.starts or pair is None:
            return True
        drawn = [self.target.draws(each, 32, seeded_rng(self.seed)) for each in (pair.x, pair.y, pair.x)]
        return drawn[0] == drawn[2] and len({*(drawn[0] or ())}) > 1

    def _state(self) -> Case | None:
        """Noise that it repeats, in a new process or in each; of forked processes, where that is claimed."""
        given = next((each for pair in self.pairs for each in (pair.x, pair.y) if each not in self.refused), None)
        outputs = self._draw(given, 8 * _REPEATED) if given is not None else []
        if given is None or not outputs:
            return None
        agree, trials = sum(map(eq, outputs[::2], outputs[1::2])), len(outputs) // 2
        alike = clopper_pearson(agree, trials, OTHER).high
        if agree < trials and _REPEATED * math.log(alike) > math.log(OTHER / 2):
            return None  # independent draws would agree too, as the output hardly varies
        case = self._case("state", (given, given), _REPEATED, confidence=1 - OTHER)
        if repeats(case, self.target):
            return case
        forked = replace(case, kind="forked")
        return forked if self.claim.forked and agree < trials and forks_repeat(forked, self.target) else None

    def _carry(self) -> Case | None:
        """Whether an output tells more of the input before than is claimed."""
        tried = [each for each in self.pairs if each.claimed > 0 and not {each.x, each.y} & self.refused]
        if not tried:
            return None
        pair = min(tried, key=lambda each: each.claimed)
        then = next((each.x for each in tried if each.x not in (pair.x, pair.y)), pair.y)
        count, delta = min(300, max(50, self.budget // 80)), self.claim.delta
        chooses, judges = (
            {each: Counter(self.target.after(each, then, count, self.rng) or ()) for each in (pair.x, pair.y)}
            for _ in range(2)
        )
        self.drawn += 8 * count
        if not all((*chooses.values(), *judges.values())):
            return None
        for x, y in ((pair.x, pair.y), (pair.y, pair.x)):
            _, look, event = _best(chooses[x], chooses[y], delta, _above(pair.claimed), self.rng)
            lower = lower_bound(look, event, judges[x], judges[y], OTHER / 2, delta)
            if lower > pair.claimed:
                return self._case(
                    "carry", (x, y, then), count, look=look, event=event, claimed=pair.claimed, lower_bound=lower,
                )  # fmt: skip
        return None

    # By draws

    def _by_draws(self) -> Case:
        """The case that says most against the claim, or how far the draws see: half choose, in two rounds, half judge."""
        tried = [each for pair in self.pairs for each in (pair, pair._replace(x=pair.y, y=pair.x))]
        if not tried:
            raise DataError("the claim says nothing of any two of these inputs: there is nothing to judge")
        if self.target.half is not None and self.target.half < 2:
            raise DataError("some outputs choose what others judge: record at least 4 of each input, better thousands")
        drawn: _Drawn = {}
        fresh: _Drawn = {}
        self._add(drawn, tried, self.budget // 4)
        answered = _answered(drawn, tried)
        if not answered:
            raise DataError(self._nothing_tried(drawn))
        every = [*answered, *self._across(drawn, answered)]
        kept = self._chosen(drawn, every)[:_KEPT]
        self._add(drawn, kept, self.budget // 4)
        chosen = self._chosen(drawn, _answered(drawn, kept))[:_JUDGED]
        self._add(fresh, chosen, self.budget // 2)
        judged = [self._judged(fresh, each) for each in _answered(fresh, chosen)]
        if not judged:
            raise DataError("the target refused every input that it had taken before")
        if not any(_excess(each) > 0 for each in judged) and (far := self._chosen(drawn, every, far=True)):
            pair = far[0]
            wanted = [each for each in (pair.x, pair.y) if self.target.half is None or each not in fresh]
            self._add(fresh, [pair._replace(x=each, y=each) for each in wanted], self.budget // 4)
            judged += [self._judged(fresh, each) for each in _answered(fresh, [pair])]
        worst = max(judged, key=_excess)
        if _excess(worst) > 0:
            return worst
        return max(judged, key=lambda each: each.lower_bound / each.claimed if each.claimed else 0.0)

    def _across(self, drawn: _Drawn, tried: Sequence[Pair]) -> list[Pair]:
        """Other pairs of what was drawn, which cost no draw: those of which some output says most against the claim."""
        inputs = [*dict.fromkeys(each for pair in tried for each in (pair.x, pair.y))][:_ACROSS]
        often = Counter[Output]()
        for each in inputs:
            often |= drawn[each]
        outputs = [output for output, count in often.items() if count >= _SEEN]
        counts = {each: np.array([drawn[each][output] for output in outputs], float) for each in inputs}
        known = {(pair.x, pair.y) for pair in tried}
        found: list[tuple[float, Pair]] = []
        for x, y in itertools.permutations(inputs, 2) if outputs else ():
            claimed = None if (x, y) in known else self.claim.claimed(x, y)
            if claimed is not None:
                totals = drawn[x].total(), drawn[y].total()
                scores = _scores(counts[x], totals[0], counts[y], totals[1], self.claim.delta, _above(claimed))
                found.append((float(scores.max()), Pair(x, y, claimed)))
        return [pair for _, pair in sorted(found, key=lambda each: -each[0])[:_KEPT]]

    def _nothing_tried(self, drawn: _Drawn) -> str:
        """Why there is no verdict: no two inputs of which something is claimed have outputs."""
        answered = sum(map(bool, drawn.values()))
        how = "every input" if not answered else f"all but {answered:,} of {len(drawn):,} inputs"
        why = "" if self.target.raised is None else f", last by {self.target.raised}"
        return (
            f"the target refused {how}{why}: nothing was tried, so there is no verdict. By the claim's unit it gets "
            f"{SAID[self.claim.unit]}"
        )

    def _chosen(self, drawn: _Drawn, tried: Iterable[Pair], far: bool = False) -> list[Pair]:
        """Pairs with their events, the best first: those that refute, or that reach ``far`` of what is claimed."""
        found: list[tuple[float, Pair]] = []
        for pair in tried:
            if far and not 0 < pair.claimed < math.inf:
                continue
            score = _surely if far else _above(pair.claimed)
            best, look, event = _best(drawn[pair.x], drawn[pair.y], self.claim.delta, score, self.rng)
            found.append((best / pair.claimed if far else best, pair._replace(look=look, event=event)))
        return [pair for _, pair in sorted(found, key=lambda each: -each[0])]

    def _judged(self, fresh: _Drawn, pair: Pair) -> Case:
        """The case that an event makes on draws that had no part in choosing it."""
        x, y = fresh[pair.x], fresh[pair.y]
        return self._case(
            "ratio", (pair.x, pair.y), min(x.total(), y.total()), look=pair.look, event=pair.event,
            claimed=pair.claimed, lower_bound=lower_bound(pair.look, pair.event, x, y, _LEVEL, self.claim.delta),
        )  # fmt: skip

    def _add(self, drawn: _Drawn, tried: Iterable[Pair], draws: int) -> None:
        """Outputs of all inputs that are tried, about as many ``draws`` together."""
        inputs = dict.fromkeys(each for pair in tried for each in (pair.x, pair.y))
        count = max(2, draws // max(1, len(inputs)))
        if (half := self.target.half) is not None:
            count = min(count, half if draws > self.budget // 4 else max(1, half // 2))
        for each in inputs:
            drawn.setdefault(each, Counter()).update(() if each in self.refused else self._draw(each, count))


# Bounds ---------------------------------------------------------------------------------------------------


def _excess(case: Case) -> float:
    return case.lower_bound - (case.claimed or 0.0)


def _answered(counts: _Drawn, tried: Iterable[Pair]) -> list[Pair]:
    return [pair for pair in tried if counts.get(pair.x) and counts.get(pair.y)]


def _above(claimed: float) -> _Score:
    """By how many standard errors an estimate is above what is claimed."""
    return lambda estimate, error: np.asarray((estimate - claimed) / error)


def _surely(estimate: Float64Array, error: Float64Array) -> Float64Array:
    """What an estimate surely is at least."""
    return estimate - _SURE * error


def _best(
    x: Counter[Output], y: Counter[Output], delta: float, score: _Score, rng: Generator
) -> tuple[float, Look, tuple[Output, ...]]:
    """The best score on these draws, with its look and event.

    The event of each look is found on some of them and rated on the others: among outputs of which each was seen only
    once, any event looks good where it was found.
    """
    (found_x, rated_x), (found_y, rated_y) = (_parted(each, rng) for each in (x, y))
    tried: list[tuple[float, Look, tuple[Output, ...]]] = []
    for look in looks(x, y):
        shown = {output: seen(look, output) for output in (*x, *y)}.__getitem__
        event = _best_event(counted(shown, found_x), counted(shown, found_y), delta, score)
        tried.append((_rated(counted(shown, rated_x), counted(shown, rated_y), event, delta, score), look, event))
    rated, look, event = max(tried, key=lambda each: each[0])
    every_x, every_y = (counted(partial(seen, look), each) for each in (x, y))
    few = len(every_x | every_y) <= _FEW
    return rated, look, _best_event(every_x, every_y, delta, score) if few else event


def _parted(outputs: Counter[Output], rng: Generator) -> tuple[Counter[Output], Counter[Output]]:
    """Two halves, by chance."""
    taken = rng.binomial([*outputs.values()], 0.5).tolist()
    one = Counter({output: count for output, count in zip(outputs, taken, strict=True) if count})
    return one, outputs - one


def _best_event(x: Counter[Output], y: Counter[Output], delta: float, score: _Score) -> tuple[Output, ...]:
    """The event of the best score on these draws: one output, or all whose ratio is above a threshold."""
    if not x or not y:
        return ()
    ranked = sorted(x, key=lambda output: (-(x[output] + 0.5) / (y[output] + 0.5), str(output)))[:_MOST_EVENTS]
    mine, other = (np.array([each[output] for output in ranked], float) for each in (x, y))
    k, q = np.concatenate([mine, mine.cumsum()]), np.concatenate([other, other.cumsum()])
    at = int(_scores(k, x.total(), q, y.total(), delta, score).argmax())
    return (ranked[at],) if at < len(ranked) else tuple(ranked[: at - len(ranked) + 1])


def _rated(x: Counter[Output], y: Counter[Output], event: tuple[Output, ...], delta: float, score: _Score) -> float:
    k, q = (np.array([float(sum(each[output] for output in event))]) for each in (x, y))
    return float(_scores(k, x.total(), q, y.total(), delta, score)[0])


def _scores(
    k: Float64Array, trials: int, q: Float64Array, other_trials: int, delta: float, score: _Score
) -> Float64Array:
    """The score of ln((p - delta) / q) and its standard error, by counts k and q; only to choose by."""
    if not trials or not other_trials:
        return np.full(len(k), -np.inf)
    kept = np.maximum(k - delta * trials, 0.0) + 0.5
    ratio = np.log(kept / trials) - np.log((q + 0.5) / other_trials)
    return score(ratio, np.sqrt((k + 0.5) / kept**2 + 1 / (q + 0.5)))
