"""The verdict on a target's claim: exact where it states its probabilities, lower bounds from draws otherwise.

Events are chosen on one half of the draws and judged on the other, each by Clopper and Pearson's bounds, at a level
that is shared among all that is judged: a sound target is refuted with probability at most `ALPHA`. Where nothing is
refuted, one more pair is judged, which promises the largest share of what is claimed: it shows how far the draws see.
"""

from __future__ import annotations

import itertools
import math
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Final, NamedTuple

import numpy as np

from publius.arrays import Float64Array
from publius.audit.case import (
    ALPHA,
    EVENTS,
    OTHER,
    ROUNDING,
    SMALLEST,
    Case,
    Finding,
    counted,
    forks_repeat,
    log_p_stated,
    lower_bound,
    repeats,
)
from publius.audit.claim import AUTHOR, DOCUMENT, SAID, Claim, Input
from publius.audit.looks import WHOLE, Look, holds, looks, seen
from publius.audit.outputs import Output
from publius.audit.pairs import Pair, pairs, unknown_inputs
from publius.audit.target import Row, Target
from publius.errors import DataError
from publius.noise.randomness import Generator, seeded_rng

_KEPT: Final = 6
_ACROSS: Final = 40
_SEEN: Final = 8
_JUDGED: Final = 2
_LEVEL: Final = EVENTS / (_JUDGED + 1)
_SURE: Final = 4.0
_MOST_EVENTS: Final = 256
_FEW: Final = 64
_FEWEST_CHECKED: Final = 32
_UNKNOWN_DRAWS: Final = 20
_REPEATED: Final = 64
_COMPARED: Final = 32
_MOST_CARRIED: Final = 300
_EACH_PAIR: Final = 8000
_FEWEST_PAIRS: Final = 6
_Score = Callable[[Float64Array, Float64Array], Float64Array]
_Drawn = dict[Input, Counter[Output]]
_SAYS_NOTHING: Final = "the claim says nothing of any two of these inputs: there is nothing to judge"


class _Chosen(NamedTuple):
    score: float
    pair: Pair
    look: Look
    event: tuple[Output, ...]


def judge(target: Target, claim: Claim, draws: int, seed: int) -> Finding:
    """Try to refute ``claim`` with about ``draws`` draws. `DataError` where the target refuses every input."""
    return _Trial(target, claim, draws, seed).verdict()


class _Trial:
    def __init__(self, target: Target, claim: Claim, draws: int, seed: int) -> None:
        self.target, self.claim, self.budget, self.seed = target, claim, draws, seed
        self.rng, self.drawn = seeded_rng(seed), 0
        self.refused = set[Input]()
        self.starts = target.inputs is None
        wanted = max(_FEWEST_PAIRS, draws // _EACH_PAIR)
        self.pairs = pairs(claim, wanted, seeded_rng(seed), target.inputs)

    def verdict(self) -> Finding:
        unknown = self._unknown() if self.starts else None
        found = self._refuted(unknown) if unknown else self._exactly() or self._by_draws()
        fault = self._statement() if found.verdict == "exact" else None
        if found.verdict == "exact" and not fault and self.refused & {*self.rows}:
            found = self._by_draws()  # what is stated of them is no law of theirs
        case = found.case
        if self.starts and case and case.kind == "ratio" and len({*self._draw(case.inputs[0], _REPEATED)}) == 1:
            fault = self._state()  # what is certain here may be this process's own choice
        elif not case and not fault and not self._determined():
            fault = self._state() or self._carry()
        found = self._refuted(fault) if fault else found
        strange = {given for given, _, _ in unknown_inputs(self.claim)}
        return replace(found, draws=self.drawn, refused=len(self.refused - strange))

    def _refuted(self, case: Case) -> Finding:
        return Finding("refuted", case.confidence, case.lower_bound, case.claimed, self.drawn, case)

    def _case(self, kind: str, inputs: tuple[Input, ...], draws: int, why: str = "") -> Case:
        return Case(
            kind, self.target.name, self.claim.unit, inputs, WHOLE, (), None, self.claim.delta, 0.0, 1 - ALPHA, draws,
            self.seed, why,
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
                case = self._case("unknown", (one, other), _UNKNOWN_DRAWS, "a word of no vocabulary")
                return replace(case, event=(spelling,), confidence=1.0)
        return None

    def _determined(self) -> bool:
        """Whether the seed alone decides an output, also after one for another input: it keeps no state of its own."""
        x, y = next(((each.x, each.y) for each in self.pairs if not {each.x, each.y} & self.refused), ((), ()))
        if not self.starts or not x:
            return True
        drawn = [self.target.draws(each, _COMPARED, seeded_rng(self.seed)) for each in (x, y, x)]
        return drawn[0] == drawn[2] and len({*(drawn[0] or ())}) > 1

    def _state(self) -> Case | None:
        """Noise that it repeats, in a new process or in each; of forked processes, where that is claimed."""
        given = next((each for pair in self.pairs for each in (pair.x, pair.y) if each not in self.refused), None)
        outputs = self._draw(given, 8 * _REPEATED) if given is not None else []
        if given is None or not outputs:
            return None
        agree, trials = sum(map(_same, outputs[::2], outputs[1::2])), len(outputs) // 2
        if agree < trials and _log_agreement(agree, trials) > math.log(OTHER / 2):
            return None  # independent draws would agree too, as the output hardly varies
        case = replace(self._case("state", (given, given), _REPEATED, "one input twice"), confidence=1 - OTHER)
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
        count = min(_MOST_CARRIED, max(50, self.budget // 80))
        halves: list[list[Counter[Output]]] = []
        for _ in range(2):
            found = [self.target.after(each, then, count, self.rng) or [] for each in (pair.x, pair.y)]
            self.drawn += 4 * count
            halves.append([*map(Counter, found)])
        if not all(map(all, halves)):
            return None
        for x, y, inputs in ((0, 1, (pair.x, pair.y)), (1, 0, (pair.y, pair.x))):
            chosen = _best(halves[0][x], halves[0][y], self.claim.delta, _above(pair.claimed), self.rng)
            shown = [counted(chosen[1], halves[1][place]) for place in (x, y)]
            lower = lower_bound(shown[0], shown[1], chosen[2], OTHER / 2, self.claim.delta)
            if lower > pair.claimed:
                case = self._case("carry", (*inputs, then), count, "the input before")
                return replace(case, look=chosen[1], event=chosen[2], claimed=pair.claimed, lower_bound=lower)
        return None

    # Exactly

    def _exactly(self) -> Finding | None:
        """All pairs of inputs by what the target states; None where they are too many or it does not state all.

        Of texts and collections there is no list of all: the odd ones are asked too, and all is tried by draws as well.
        """
        every = self.claim.every_input() if self.starts else None
        if every is None or len(every) < 2 or not (self.target.stated(every[0]) or self.target.stated(every[-1])):
            return None
        listed = self.claim.unit not in (DOCUMENT, AUTHOR)
        odd = [] if listed else [each for pair in self.pairs for each in (pair.x, pair.y)]
        rows = {each: self.target.stated(each) for each in dict.fromkeys([*every, *odd])}
        self.rows: dict[Input, Row] = {each: row for each, row in rows.items() if row}
        known = [*self.rows]
        outputs = list(dict.fromkeys(output for row in self.rows.values() for output in row))
        table = np.array([[row.get(output, 0.0) for output in outputs] for row in self.rows.values()])
        claims = self.claim.table(known)
        if not np.isfinite(claims[~np.eye(len(known), dtype=bool)]).any():
            raise DataError(_SAYS_NOTHING)
        bounds, events = np.zeros_like(claims), {}
        for place in range(len(known)):
            bounds[place], events[place] = _exact_bounds(table[place], table, self.claim.delta)
        np.fill_diagonal(bounds, 0.0)
        np.fill_diagonal(claims, 0.0)
        x, y = np.unravel_index(int((bounds - claims).argmax()), claims.shape)
        if bounds[x, y] - claims[x, y] > ROUNDING:
            event = tuple(outputs[place] for place in events[int(x)](int(y)))
            case = self._case("exact", (known[x], known[y]), 1, "all pairs")
            case = replace(case, event=event, confidence=1.0, claimed=float(claims[x, y]))
            return self._refuted(replace(case, lower_bound=float(bounds[x, y])))
        if not {*every} <= {*known}:
            return None
        if not listed:
            drawn = self._by_draws()
            if drawn.case is not None or not {*odd} <= {*known} | self.refused:
                return drawn
        tight = np.divide(bounds, claims, out=np.zeros_like(claims), where=(claims > 0) & np.isfinite(claims))
        x, y = np.unravel_index(int(tight.argmax()), tight.shape)
        scope = f"{'all' if listed else 'the'} {len(known):,} {'inputs of the claim' if listed else 'that were tried'}"
        return Finding("exact", 1.0, float(bounds[x, y]), float(claims[x, y]), 0, scope=scope)

    def _statement(self) -> Case | None:
        """Inputs whose draws are not what the target states of them: each is tried, and all together."""
        drawn: dict[Input, tuple[Row, list[Output]]] = {}
        count = max(_FEWEST_CHECKED, self.budget // (2 * len(self.rows)))
        for given, row in self.rows.items():
            if outputs := self._draw(given, count):
                drawn[given] = row, outputs
        tried = [*((each,) for each in drawn), tuple(drawn)]
        for inputs in tried if drawn else ():
            share = 2 if len(inputs) > 1 else 2 * len(drawn)
            if log_p_stated({each: drawn[each] for each in inputs}) < math.log(OTHER / share):
                return self._case("stated", inputs, count, "draws by what is stated")
        return None

    # By draws

    def _by_draws(self) -> Finding:
        """Half of the draws choose, in two rounds, what the other half judges."""
        tried = [each for pair in self.pairs for each in (pair, pair._replace(x=pair.y, y=pair.x))]
        if not tried:
            raise DataError(_SAYS_NOTHING)
        if self.target.half is not None and self.target.half < 2:
            raise DataError("some outputs choose what others judge: record at least 4 of each input, better thousands")
        drawn: _Drawn = {}
        fresh: _Drawn = {}
        every: list[Pair] = []
        chosen: list[_Chosen] = []
        for kept in (_KEPT, _JUDGED):
            self._add(drawn, tried, self.budget // 4)
            answered = _answered(drawn, tried)
            if not answered:
                raise DataError(self._nothing_tried(drawn))
            every = every or [*answered, *self._across(drawn, answered)]
            chosen = self._chosen(drawn, every if kept == _KEPT else answered)[:kept]
            tried = [each.pair for each in chosen]
        self._add(fresh, tried, self.budget // 2)
        judged = [self._judged(fresh, each) for each in chosen if _answered(fresh, [each.pair])]
        if not judged:
            raise DataError("the target refused every input that it had taken before")
        if not any(_excess(each) > 0 for each in judged) and (far := self._chosen(drawn, every, far=True)):
            pair = far[0].pair
            wanted = [each for each in (pair.x, pair.y) if self.target.half is None or each not in fresh]
            self._add(fresh, [pair._replace(x=each, y=each) for each in wanted], self.budget // 4)
            judged += [self._judged(fresh, far[0])] if _answered(fresh, [pair]) else []
        worst = max(judged, key=_excess)
        if _excess(worst) > 0:
            return self._refuted(worst)
        seen = max(judged, key=lambda each: each.lower_bound / each.claimed if each.claimed else 0.0)
        return Finding("not-refuted", 1 - ALPHA, seen.lower_bound, seen.claimed, self.drawn)

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
                found.append((float(scores.max()), Pair(x, y, claimed, "drawn for others")))
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

    def _chosen(self, drawn: _Drawn, tried: Iterable[Pair], far: bool = False) -> list[_Chosen]:
        """Pairs with their events, the best first: those that refute, or that reach ``far`` of what is claimed."""
        found: list[_Chosen] = []
        for pair in tried:
            if far and not 0 < pair.claimed < math.inf:
                continue
            score = _surely if far else _above(pair.claimed)
            best, look, event = _best(drawn[pair.x], drawn[pair.y], self.claim.delta, score, self.rng)
            found.append(_Chosen(best / pair.claimed if far else best, pair, look, event))
        return sorted(found, key=lambda each: -each.score)

    def _judged(self, fresh: _Drawn, chosen: _Chosen) -> Case:
        """The case that an event makes on draws that had no part in choosing it."""
        outputs = [fresh[each] for each in (chosen.pair.x, chosen.pair.y)]
        x, y = (counted(chosen.look, each) for each in outputs)
        lower = lower_bound(x, y, chosen.event, _LEVEL, self.claim.delta)
        draws = min(each.total() for each in outputs)
        case = self._case("ratio", (chosen.pair.x, chosen.pair.y), draws, chosen.pair.why)
        return replace(case, look=chosen.look, event=chosen.event, claimed=chosen.pair.claimed, lower_bound=lower)

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


def _same(one: Output, other: Output) -> bool:
    return one == other


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
    best: tuple[float, Look, tuple[Output, ...]] | None = None
    every = {**x, **y}
    for look in looks(x, y):
        shown = {output: seen(look, output) for output in every}
        event = _best_event(_by(shown, found_x), _by(shown, found_y), delta, score)
        rated = _rated(_by(shown, rated_x), _by(shown, rated_y), event, delta, score)
        if best is None or rated > best[0]:
            whole = _by(shown, x), _by(shown, y)
            few = len(whole[0] | whole[1]) <= _FEW
            best = rated, look, _best_event(*whole, delta, score) if few else event
    if best is None:
        raise DataError("there is nothing to look at")
    return best


def _by(shown: Mapping[Output, Output], outputs: Counter[Output]) -> Counter[Output]:
    """As `counted`, where what is ``shown`` of each output is known: it is asked for up to six times."""
    found: dict[Output, int] = {}
    for output, count in outputs.items():
        value = shown[output]
        found[value] = found.get(value, 0) + count
    return Counter(found)


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


def _exact_bounds(
    row: Float64Array, table: Float64Array, delta: float
) -> tuple[Float64Array, Callable[[int], list[int]]]:
    """The largest ln((p - delta) / q) of ``row`` against each row of ``table``, and the event where it is.

    Some set of the outputs with the largest ratios has it. A q of 0 counts as the smallest number there is, so that
    what is said stays a lower bound.
    """
    with np.errstate(divide="ignore", over="ignore", invalid="ignore"):
        logs = np.where(row > 0, np.log(row) - np.log(np.maximum(table, SMALLEST)), -np.inf)
        order = np.argsort(-logs, axis=1, kind="stable")
        p, q = row[order], np.take_along_axis(table, order, axis=1)
        if delta > 0:
            p, q = p.cumsum(axis=1), q.cumsum(axis=1)
        values = np.log(np.maximum(p - delta, 0.0)) - np.log(np.maximum(q, SMALLEST))
    best = values.argmax(axis=1)

    def event(other: int) -> list[int]:
        end = int(best[other])
        return order[other, : end + 1].tolist() if delta > 0 else [int(order[other, end])]

    return np.maximum(values.max(axis=1), 0.0), event


def _log_agreement(agree: int, trials: int) -> float:
    """Upper bound on ln P(two processes draw the same `_REPEATED` outputs), if all draws are independent."""
    from scipy.special import betaincinv

    upper = float(betaincinv(agree + 1, trials - agree, 1 - OTHER / 2)) if agree < trials else 1.0
    return _REPEATED * math.log(upper)
