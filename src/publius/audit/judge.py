"""The verdict on a target's claim: exact where it states its probabilities, lower bounds from draws otherwise.

Events are chosen on one half of the draws and judged on the other, each by Clopper and Pearson's bounds, at a level
that is shared among all that is judged: a sound target is refuted with probability at most `ALPHA`. Where nothing is
refuted, one more pair is judged, which promises the largest share of what is claimed: it shows how far the draws see.
"""

from __future__ import annotations

import itertools
import math
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Final

import numpy as np

from publius.arrays import Float64Array
from publius.audit.case import (
    ALPHA,
    EVENTS,
    OTHER,
    REPEATED,
    ROUNDING,
    SMALLEST,
    Case,
    Finding,
    counted,
    forks_repeat,
    log_p_pooled,
    log_p_stated,
    lower_bound,
    remembers,
    repeats,
)
from publius.audit.claim import AUTHOR, DOCUMENT, SAID, WORD, Claim, Input
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
_SHARE_OF_CARRY: Final = 20
_EACH_PAIR: Final = 8000
_FEWEST_PAIRS: Final = 6
_Score = Callable[[Float64Array, Float64Array], Float64Array]
_Chosen = tuple[float, tuple[Input, Input, Pair], Look, tuple[Output, ...]]
_SAYS_NOTHING: Final = "the claim says nothing of any two of these inputs: there is nothing to judge"


def judge(target: Target, claim: Claim, draws: int, seed: int) -> Finding:
    """Try to refute ``claim`` with about ``draws`` draws. `DataError` where the target refuses every input."""
    return _Trial(target, claim, draws, seed).verdict()


class _Trial:
    def __init__(self, target: Target, claim: Claim, draws: int, seed: int) -> None:
        self.target, self.claim, self.budget, self.seed = target, claim, draws, seed
        self.rng = seeded_rng(seed)
        self.drawn = 0
        self.refused = set[Input]()
        self.unknown = {given for given, _, _ in unknown_inputs(claim)}

    def verdict(self) -> Finding:
        unknown = self._unknown() if self.target.inputs is None else None
        if unknown is not None:
            return replace(self._refuted(unknown), unknown=len(self.refused & self.unknown))
        found = self._exactly()
        if found is not None and found.case is None and self.others:
            found = self._beyond_the_list(found)
        exact = found is not None and found.verdict == "exact"
        if found is None:
            found = self._by_draws()
        fault = None
        if found.case is None:
            fault = self._statement() if exact else None
            if exact and fault is None and self.refused & {*self.rows}:
                found = self._by_draws()  # what is stated of them is no law of theirs
            fault = fault or (self._state() or self._carry() if found.case is None else None)
        fault = fault or self._kept(found.case)
        if fault is not None:
            found = self._refuted(fault)
        strange = len(self.refused & self.unknown)
        return replace(found, draws=self.drawn, refused=len(self.refused) - strange, unknown=strange)

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

    def _pairs(self) -> list[Pair]:
        wanted = max(_FEWEST_PAIRS, self.budget // _EACH_PAIR)
        return pairs(self.claim, wanted, seeded_rng(self.seed), self.target.inputs)

    # What needs no counting

    def _unknown(self) -> Case | None:
        """An input with a word of no vocabulary that comes back."""
        for one, other, spelling in unknown_inputs(self.claim):
            if any(holds(output, spelling) for output in self._draw(one, _UNKNOWN_DRAWS)):
                case = self._case("unknown", (one, other), _UNKNOWN_DRAWS, "a word of no vocabulary")
                return replace(case, event=(spelling,), confidence=1.0)
        return None

    def _determined(self) -> bool:
        pair = next((each for each in self._pairs() if not {each.x, each.y} & self.refused), None)
        return pair is not None and self.target.determined(pair.x, pair.y, self.rng)

    def _state(self) -> Case | None:
        """What it keeps: noise that a new process repeats or that it repeats itself; of forked ones, where claimed."""
        tried = [each for pair in self._pairs() for each in (pair.x, pair.y) if each not in self.refused]
        if not self.target.starts or not tried or self._determined():
            return None
        given = tried[0]
        outputs = self._draw(given, 2 * REPEATED * 4)
        if not outputs:
            return None
        agree, trials = sum(map(str.__eq__, *_two(outputs))), len(outputs) // 2
        case = replace(self._case("state", (given, given), REPEATED, "one input twice"), confidence=1 - OTHER)
        # Independent draws would agree all the time only where the output hardly varies.
        if _log_agreement(agree, trials) < math.log(OTHER / 2):
            if repeats(case, self.target):
                return case
            forked = replace(case, kind="forked")
            return forked if self.claim.forked and forks_repeat(forked, self.target) else None
        memory = replace(case, kind="memory")
        return memory if remembers(memory, self.target) else None

    def _kept(self, case: Case | None) -> Case | None:
        """Of an event that is certain here: that it is this process's own choice, which no other would show again."""
        if case is None or case.kind != "ratio" or not self.target.starts:
            return None
        given = case.inputs[0]
        memory = self._case("memory", (given, given), REPEATED, "one input again and again")
        memory = replace(memory, confidence=1 - OTHER)
        certain = len(set(self._draw(given, REPEATED))) == 1
        return memory if certain and remembers(memory, self.target) else None

    def _carry(self) -> Case | None:
        """Whether an output tells more of the input before than is claimed."""
        if not self.target.starts or self._determined():
            return None
        tried = [each for each in self._pairs() if not {each.x, each.y} & self.refused]
        pair = min((each for each in tried if each.claimed > 0), key=lambda each: each.claimed, default=None)
        if pair is None:
            return None
        others = [each for other in tried for each in (other.x, other.y) if each not in (pair.x, pair.y)]
        then = others[0] if others else pair.y
        count = max(50, self.budget // (4 * _SHARE_OF_CARRY))
        halves = []
        for _ in range(2):
            found = [self.target.after(each, then, count, self.rng) for each in (pair.x, pair.y)]
            if found[0] is None or found[1] is None:
                return None
            self.drawn += 4 * count
            halves.append([Counter(each) for each in found if each is not None])
        for x, y in ((0, 1), (1, 0)):
            _, look, event = _best(
                halves[0][x], halves[0][y], self.claim.delta, _above(pair.claimed), self.rng
            )
            shown = [counted(look, halves[1][place]) for place in (x, y)]
            lower = lower_bound(shown[0], shown[1], event, OTHER / 2, self.claim.delta)
            if lower > pair.claimed:
                inputs = ((pair.x, pair.y), (pair.y, pair.x))[x]
                case = self._case("carry", (*inputs, then), count, "the input before")
                return replace(case, look=look, event=event, claimed=pair.claimed, lower_bound=lower)
        return None

    # Exactly

    def _exactly(self) -> Finding | None:
        """All pairs of inputs by what the target states; None where they are too many or it does not state all."""
        inputs = self.claim.every_input() if self.target.inputs is None else [*self.target.inputs]
        if inputs is None or len(inputs) < 2:
            return None
        if self.target.stated(inputs[0]) is None and self.target.stated(inputs[-1]) is None:
            return None
        self.others = self._not_listed(inputs)
        rows = {each: self.target.stated(each) for each in [*inputs, *self.others]}
        known = [each for each, row in rows.items() if row]
        if len(known) < 2:
            return None
        self.rows: dict[Input, Row] = {each: rows[each] or {} for each in known}
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
        excess = bounds - claims
        x, y = np.unravel_index(int(excess.argmax()), excess.shape)
        if excess[x, y] > ROUNDING:
            event = tuple(outputs[place] for place in events[int(x)](int(y)))
            case = replace(
                self._case("exact", (known[x], known[y]), 1, "all pairs"), event=event, confidence=1.0
            )
            return self._refuted(replace(case, claimed=float(claims[x, y]), lower_bound=float(bounds[x, y])))
        if not {*inputs} <= {*known}:
            return None
        tight = np.divide(bounds, claims, out=np.zeros_like(claims), where=(claims > 0) & np.isfinite(claims))
        x, y = np.unravel_index(int(tight.argmax()), tight.shape)
        return Finding("exact", 1.0, float(bounds[x, y]), float(claims[x, y]), 0, scope=self._scope(inputs))

    def _not_listed(self, inputs: Sequence[Input]) -> list[Input]:
        """What is asked beside a list of short texts, each in one order, or of one word of each author.

        Texts backwards, long, repeated, strange; collections with many documents, or none, of an author.
        """
        if self.claim.unit not in (DOCUMENT, AUTHOR) or self.target.inputs is not None:
            return []
        texts = inputs if self.claim.unit == DOCUMENT else []
        backwards: list[Input] = [(" ".join(reversed(str(each[0]).split())),) for each in texts]
        tried = [each for pair in self._pairs() for each in (pair.x, pair.y)]
        listed = {*inputs}
        return [each for each in dict.fromkeys([*backwards, *tried]) if each not in listed]

    def _beyond_the_list(self, found: Finding) -> Finding:
        """Of these there is no list of all: what is exact of some is tried by draws, too, and says of which."""
        drawn = self._by_draws()
        if drawn.case is not None or any(
            each not in self.rows and each not in self.refused for each in self.others
        ):
            return drawn
        kind = "texts" if self.claim.unit == DOCUMENT else "collections"
        return replace(found, scope=f"{found.scope}, and {len({*self.others} & {*self.rows}):,} other {kind}")

    def _scope(self, inputs: Sequence[Input]) -> str:
        """Say which inputs were looked at, each against each."""
        size, count = self.claim.size, f"{len(inputs):,}"
        words = f"{size} words" if self.claim.bound is None else f"at most {size} words"
        if self.target.inputs is not None:
            return f"the {count} inputs that it has"
        return {
            WORD: f"all {count} words of the vocabulary",
            DOCUMENT: f"{count} texts of {words}, each in one order",
            AUTHOR: f"{count} collections of {size} authors with a word each",
        }.get(self.claim.unit, f"all {count} lists of {size} words of the vocabulary")

    def _statement(self) -> Case | None:
        """An input whose draws are not what the target states of it: every one is tried, and all together."""
        drawn: dict[Input, tuple[Row, list[Output]]] = {}
        for given, row in self.rows.items():
            outputs = self._draw(given, max(_FEWEST_CHECKED, self.budget // (2 * len(self.rows))))
            case = self._case("stated", (given, given), len(outputs), "its draws by what it states")
            if outputs and log_p_stated(row, outputs) < math.log(OTHER / (2 * len(self.rows))):
                return case
            if outputs:
                drawn[given] = row, outputs
        if len(drawn) > 1 and log_p_pooled(drawn, self.claim.unit) < math.log(OTHER / 2):
            fewest = min(len(outputs) for _, outputs in drawn.values())
            return self._case("pooled", (*drawn,), fewest, "all inputs together")
        return None

    # By draws

    def _by_draws(self) -> Finding:
        """Half of the draws choose, in two rounds, what the other half judges."""
        tried = [(x, y, pair) for pair in self._pairs() for x, y in ((pair.x, pair.y), (pair.y, pair.x))]
        if not tried:
            raise DataError(_SAYS_NOTHING)
        if self.target.half is not None and self.target.half < 2:
            raise DataError(
                "some outputs choose what others judge: record at least 4 of each input, better thousands"
            )
        drawn: dict[Input, Counter[Output]] = {}
        every: list[tuple[Input, Input, Pair]] = []
        chosen: list[_Chosen] = []
        for kept in (_KEPT, _JUDGED):
            self._add(drawn, tried, self.budget // 4)
            answered = [each for each in tried if drawn[each[0]] and drawn[each[1]]]
            if not answered:
                raise DataError(self._nothing_tried(drawn))
            every = every or [*answered, *self._across(drawn, answered)]
            chosen = self._chosen(drawn, every if kept == _KEPT else answered)[:kept]
            tried = [each[1] for each in chosen]
        fresh: dict[Input, Counter[Output]] = {}
        self._add(fresh, tried, self.budget // 2)
        judged = [self._judged(fresh, each) for each in chosen if _drawn(fresh, each[1])]
        if not judged:
            raise DataError("the target refused every input that it had taken before")
        if not any(_excess(each) > 0 for each in judged) and (far := self._chosen(drawn, every, far=True)):
            wanted = [each for each in far[0][1][:2] if self.target.half is None or each not in fresh]
            self._add(fresh, [(each, each, far[0][1][2]) for each in wanted], self.budget // 4)
            if _drawn(fresh, far[0][1]):
                judged.append(self._judged(fresh, far[0]))
        worst = max(judged, key=_excess)
        if _excess(worst) > 0:
            return self._refuted(worst)
        seen = max(judged, key=lambda each: each.lower_bound / each.claimed if each.claimed else 0.0)
        return Finding("not-refuted", 1 - ALPHA, seen.lower_bound, seen.claimed, self.drawn)

    def _across(
        self, drawn: dict[Input, Counter[Output]], tried: Sequence[tuple[Input, Input, Pair]]
    ) -> list[tuple[Input, Input, Pair]]:
        """Other pairs of what was drawn, which cost no draw: those of which some output says most against the claim."""
        inputs = [*dict.fromkeys(each for x, y, _ in tried for each in (x, y))][:_ACROSS]
        often = Counter[Output]()
        for each in inputs:
            often |= drawn[each]
        outputs = [output for output, count in often.items() if count >= _SEEN]
        if not outputs:
            return []
        counts = {each: np.array([drawn[each][output] for output in outputs], float) for each in inputs}
        known = {(x, y) for x, y, _ in tried}
        found: list[tuple[float, tuple[Input, Input, Pair]]] = []
        for x, y in itertools.permutations(inputs, 2):
            claimed = None if (x, y) in known else self.claim.claimed(x, y)
            if claimed is not None:
                totals = drawn[x].total(), drawn[y].total()
                scores = _scores(
                    counts[x], totals[0], counts[y], totals[1], self.claim.delta, _above(claimed)
                )
                found.append((float(scores.max()), (x, y, Pair(x, y, claimed, "drawn for others"))))
        return [pair for _, pair in sorted(found, key=lambda each: -each[0])[:_KEPT]]

    def _nothing_tried(self, drawn: dict[Input, Counter[Output]]) -> str:
        """Why there is no verdict: no two inputs of which something is claimed have outputs."""
        answered = sum(map(bool, drawn.values()))
        how = "every input" if not answered else f"all but {answered:,} of {len(drawn):,} inputs"
        why = "" if self.target.raised is None else f", last by {self.target.raised}"
        return (
            f"the target refused {how}{why}: nothing was tried, so there is no verdict. By the claim's unit it gets "
            f"{SAID[self.claim.unit]}"
        )

    def _chosen(
        self,
        drawn: dict[Input, Counter[Output]],
        tried: Sequence[tuple[Input, Input, Pair]],
        far: bool = False,
    ) -> list[_Chosen]:
        """Pairs with their events, the best first: those that refute, or that reach ``far`` of what is claimed."""
        found: list[_Chosen] = []
        for x, y, pair in tried:
            if far and not 0 < pair.claimed < math.inf:
                continue
            score = _surely if far else _above(pair.claimed)
            best, look, event = _best(drawn[x], drawn[y], self.claim.delta, score, self.rng)
            found.append((best / pair.claimed if far else best, (x, y, pair), look, event))
        return sorted(found, key=lambda each: -each[0])

    def _judged(self, fresh: dict[Input, Counter[Output]], chosen: _Chosen) -> Case:
        """The case that an event makes on draws that had no part in choosing it."""
        _, (x, y, pair), look, event = chosen
        shown = [counted(look, fresh[each]) for each in (x, y)]
        lower = lower_bound(shown[0], shown[1], event, _LEVEL, self.claim.delta)
        case = self._case("ratio", (x, y), min(fresh[each].total() for each in (x, y)), pair.why)
        return replace(case, look=look, event=event, claimed=pair.claimed, lower_bound=lower)

    def _add(
        self, drawn: dict[Input, Counter[Output]], tried: Sequence[tuple[Input, Input, Pair]], draws: int
    ) -> None:
        """Outputs of all inputs that are tried, about as many ``draws`` together."""
        inputs = dict.fromkeys(each for x, y, _ in tried for each in (x, y))
        count = max(2, draws // max(1, len(inputs)))
        if self.target.half is not None:
            count = min(
                count, self.target.half if draws > self.budget // 4 else max(1, self.target.half // 2)
            )
        for each in inputs:
            drawn.setdefault(each, Counter()).update(() if each in self.refused else self._draw(each, count))


# Bounds ---------------------------------------------------------------------------------------------------


def _excess(case: Case) -> float:
    return case.lower_bound - (case.claimed or 0.0)


def _drawn(counts: dict[Input, Counter[Output]], tried: tuple[Input, Input, Pair]) -> bool:
    return all(counts.get(each) for each in tried[:2])


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
    ranked = sorted(x, key=lambda output: (-(x[output] + 0.5) / (y[output] + 0.5), str(output)))[
        :_MOST_EVENTS
    ]
    mine, other = (np.array([each[output] for output in ranked], float) for each in (x, y))
    k, q = np.concatenate([mine, mine.cumsum()]), np.concatenate([other, other.cumsum()])
    at = int(_scores(k, x.total(), q, y.total(), delta, score).argmax())
    return (ranked[at],) if at < len(ranked) else tuple(ranked[: at - len(ranked) + 1])


def _rated(
    x: Counter[Output], y: Counter[Output], event: tuple[Output, ...], delta: float, score: _Score
) -> float:
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


def _two(outputs: list[Output]) -> tuple[list[str], list[str]]:
    """Every other output beside the one after it."""
    texts = ["\x1f".join(each) if isinstance(each, tuple) else each for each in outputs]
    return texts[::2], texts[1::2]


def _log_agreement(agree: int, trials: int) -> float:
    """Upper bound on ln P(two processes draw the same `REPEATED` outputs), if all draws are independent."""
    from scipy.special import betaincinv

    upper = float(betaincinv(agree + 1, trials - agree, 1 - OTHER / 2)) if agree < trials else 1.0
    return REPEATED * math.log(upper)
