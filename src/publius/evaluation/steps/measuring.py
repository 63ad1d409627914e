"""What attacks find in public texts protected with a walk's setting, judged in words, and what else could be had."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, final

from publius.errors import PolicyError
from publius.evaluation.adversaries import ORIGINALS
from publius.evaluation.of_release import choices_from
from publius.evaluation.prepare import concluded, prepared
from publius.evaluation.runner import Progress, Request, Results, read_results
from publius.evaluation.statistics import clopper_pearson
from publius.evaluation.steps.older import PUBLIC
from publius.evaluation.steps.walk import EVALUATION, Walk
from publius.evaluation.summary import Line, summarize
from publius.evaluation.verdict import Limits, Verdict, author_figure, judge, write_limits
from publius.settings import EvaluationSettings, ExperimenterSettings

BOUNDS: Final = (1.0, 2.0, 3.0, 5.0, 7.0, 10.0)
"""Nats that are tried where a bound is looked for."""

EPSILONS: Final = (2.0, 5.0, 10.0)
"""The same where words are kept."""

_MOST: Final = 1_000_000


@final
@dataclass(frozen=True, slots=True)
class Judged:
    """What attacks found at one setting, as shares of the attacked texts.

    Attributes:
        passed: whether the authors named stay within what is allowed.
        texts: how many texts were attacked.
        named: the share of authors named, by the strongest attack.
        up_to: its upper limit, allowing for chance (95 %).
        allowed: what it must not exceed.
        topic_alone: what naming the most frequent author of each topic gives.
        unprotected: the share of authors named without protection.
        topics: the share of topics found in the protected texts; None without topics.
        needed: about how many attacked texts it takes to pass at all; None where there are enough.

    """

    passed: bool
    texts: int
    named: float
    up_to: float
    allowed: float
    topic_alone: float
    unprotected: float | None
    topics: float | None
    needed: int | None

    @property
    def verdict(self) -> str:
        """PASS or FAIL."""
        return "PASS" if self.passed else "FAIL"

    @property
    def sentence(self) -> str:
        """The verdict with what it rests on, for people."""
        bare = "" if self.unprotected is None else f"; without protection {self.unprotected:.0%}"
        kept = "" if self.topics is None else f" The topic was found for {self.topics:.0%}."
        few = (
            f" These are too few texts to judge: {self.texts:,} were attacked, and about {self.needed:,} are needed "
            "before even an attack that finds nothing passes."
            if self.needed is not None
            else ""
        )
        return (
            f"{self.verdict}: attacks on {self.texts:,} protected public texts named the author of {self.named:.0%}, "
            f"at most {self.up_to:.0%} allowing for chance; allowed are {self.allowed:.0%}. "
            f"Whoever knows only the topic names {self.topic_alone:.0%}{bare}.{kept}{few}"
        )


@final
@dataclass(frozen=True, slots=True)
class Tried:
    """Another setting, and what was found at it."""

    walk: Walk
    judged: Judged

    @property
    def sentence(self) -> str:
        """For people, on one line."""
        walk, judged = self.walk, self.judged
        name = "epsilon" if walk.keeps_words else "bound"
        kept = "" if judged.topics is None else f", topic found for {judged.topics:.0%}"
        return (
            f"keep the {walk.choices.preserve}, {name} {walk.strength:g}: {judged.verdict}, authors named "
            f"{judged.named:.0%}, at most {judged.up_to:.0%}{kept}"
        )


def _quiet(part: str, done: int, total: int) -> None:
    """Say nothing."""


def measure(walk: Walk, folder: Path, progress: Progress = _quiet) -> Judged:
    """Attack the second half of the public texts, protected as the walk will protect; kept in the evaluation's folder.

    `PolicyError` where nothing can say whether authors are hidden.
    """
    return _measured(walk, [walk.strength], folder / PUBLIC, folder / EVALUATION, progress)[0].judged


def tried(walk: Walk, folder: Path, strengths: Sequence[float], progress: Progress = _quiet) -> list[Tried]:
    """The same at several bounds, or epsilons where words are kept, the largest first; nothing of it is kept."""
    with tempfile.TemporaryDirectory(dir=folder) as scratch:
        return _measured(walk, strengths, folder / PUBLIC, Path(scratch) / EVALUATION, progress)


def usual_strengths(walk: Walk) -> tuple[float, ...]:
    """The bounds, or epsilons, that are worth a try."""
    return EPSILONS if walk.keeps_words else BOUNDS


def alternatives(walk: Walk, folder: Path, progress: Progress = _quiet) -> list[Tried]:
    """What could be had instead, after a FAIL: smaller bounds, or something else to keep. What passes comes first."""
    other, strengths = instead(walk)
    if not strengths:
        return []
    other.learn(folder, progress)
    return sorted(tried(other, folder, strengths, progress), key=lambda each: not each.judged.passed)


def instead(walk: Walk) -> tuple[Walk, tuple[float, ...]]:
    """What is worth a try after a FAIL: smaller bounds, or, where words were kept, the topic or the meaning."""
    if not walk.keeps_words:
        return walk, tuple(each for each in usual_strengths(walk) if each < walk.strength)
    other = walk.keeping("topic" if walk.older and walk.older.topics else "meaning")
    return other, (other.strength,)


def found_in(walk: Walk, strengths: Sequence[float], output: Path) -> list[Tried]:
    """What the evaluation in the folder ``output``, made by `Walk.attack`, says of each of the strengths."""
    if walk.allowed is None:
        raise PolicyError("no public text says who wrote it, so no attack can be measured")
    results = read_results(output)
    return _tried(walk, strengths, walk.allowed, results, summarize(results))


def _measured(
    walk: Walk, strengths: Sequence[float], public: Path, output: Path, progress: Progress
) -> list[Tried]:
    if walk.older is None or walk.allowed is None:
        raise PolicyError("no public text says who wrote it, so no attack can be measured")
    chosen = choices_from(walk.plan().manifest(0))
    chosen["epsilons" if walk.keeps_words else "bounds"] = tuple(strengths)
    request = Request.of(EvaluationSettings(preset="quick", **chosen))
    evaluation = prepared(str(public / "attacked.jsonl"), request, ExperimenterSettings(), output)
    cells = request.cells()
    evaluation.run(cells, workers=min(os.cpu_count() or 1, len(cells) // 2), progress=progress)
    bound = None if walk.keeps_words else max(strengths)
    write_limits(Limits(round(walk.allowed, 2), None, bound), output)
    results = evaluation.results()
    lines, _ = concluded(results, output)
    return _tried(walk, strengths, walk.allowed, results, lines)


def _tried(
    walk: Walk, strengths: Sequence[float], allowed: float, results: Results, lines: Sequence[Line]
) -> list[Tried]:
    clean = next(line for line in lines if line.clean)
    found = []
    for line in lines:
        if not line.clean:
            at = walk.at(next(each for each in strengths if abs(each - _asked(line, walk)) < 1e-6))
            limits = Limits(round(allowed, 2))
            found.append(
                Tried(
                    at,
                    _judged(line, clean, limits, results.facts, judge([clean, line], limits, results.facts)),
                )
            )
    return found


def _asked(line: Line, walk: Walk) -> float:
    return float((line.epsilon if walk.keeps_words else line.bound) or 0.0)


def _judged(
    line: Line, clean: Line, limits: Limits, facts: dict[str, Any], verdict: Verdict | None
) -> Judged:
    named, up_to, _ = author_figure(line)
    bare, topics = clean.best("author"), line.best("topic")
    texts, floor = int(facts["unknown_texts"]), float(facts["floor"] or 0.0)
    allowed = limits.author_at_most or 0.0
    passed = verdict is not None and verdict.passed
    originals = line.of(ORIGINALS, "author")
    exact = originals is not None and bool(originals.extra["exact"])  # computed, not counted
    return Judged(
        passed, texts, named, up_to, allowed, floor,
        None if bare is None else bare.accuracy.value, None if topics is None else topics.accuracy.value,
        None if passed or exact else _needed(texts, floor, allowed),
    )  # fmt: skip


def _needed(texts: int, floor: float, allowed: float) -> int | None:
    """About how many attacked texts it takes before what finds nothing passes; None where there are enough."""
    count = texts
    while count < _MOST and clopper_pearson(round(floor * count), count).high > allowed:
        count = round(count * 1.25) + 1
    return None if count == texts else count
