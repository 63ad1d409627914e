"""Choosing epsilon: the largest that keeps every adversary low, the smallest that keeps the topic.

The search goes by figures as they are, which give candidates. Whether one holds is for the verdict to say.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final, final

from publius.errors import PolicyError, UsageError
from publius.evaluation.experiment import Cell
from publius.evaluation.runner import Evaluation
from publius.evaluation.statistics import Interval
from publius.evaluation.summary import SummaryLine, summarize
from publius.evaluation.verdict import NO_EVIDENCE, PASS, Answer, Limits, judge, knowing_topic
from publius.files.progress import Progress
from publius.mechanisms.registry import strength_of
from publius.mechanisms.whole import LENGTH
from publius.settings import SHORTEST

WARNING: Final = (
    "Epsilon and N were tuned on these documents, so they tell something of them. Tune on public or older documents "
    "of the same kind, or charge the tuning to the ledger of the documents that are to be released."
)
REFUSALS: Final = 5
"""Epsilons in a row that a mechanism may refuse before the search goes no further on that side."""

LARGEST_STEPS: Final = 24
"""How many epsilons are tried for one of the two ends, doubling, halving and narrowing."""


_TOO_FEW: Final = "calibration needs an adversary for authors and a classifier for topics: try all"


@final
@dataclass(frozen=True, slots=True)
class Aim:
    """The aim of a search: at most this share of authors named, at least this share of topics.

    What is a candidate is decided by the means, with ``cautious`` by the limits of the 95 % intervals.
    """

    author_at_most: float
    topic_at_least: float
    cautious: bool = False

    def __post_init__(self) -> None:
        if not (0 < self.author_at_most <= 1 and 0 < self.topic_at_least <= 1):
            raise UsageError(
                f"a ceiling and a floor are shares between 0 and 1, not {self.author_at_most} and {self.topic_at_least}"
            )

    def hides(self, trial: Trial) -> bool:
        """Whether the strongest adversary stays at or under the ceiling."""
        return (trial.author.high if self.cautious else trial.author.value) <= self.author_at_most

    def keeps(self, trial: Trial) -> bool:
        """Whether the topic stays at or over the floor."""
        return (trial.topic.low if self.cautious else trial.topic.value) >= self.topic_at_least


@final
@dataclass(frozen=True, slots=True)
class Trial:
    """Results at one epsilon: the strongest adversary, the best topic classifier, and the formal exponent.

    ``verdict`` is that of an evaluation at this setting and the limits aimed at, ``reason`` its sentence.
    """

    epsilon: float
    author: Interval
    author_by: str
    topic: Interval
    topic_by: str
    exponent_same_topic: float | None
    verdict: Answer = NO_EVIDENCE
    reason: str = "not judged"


@final
@dataclass(frozen=True, slots=True)
class Calibration:
    """The result for one mechanism and N.

    Attributes:
        mechanism: its name; where its strength is a bound between any two documents, epsilon stands for that.
        size: N.
        author_epsilon: the largest epsilon tried at and under which the figures of every one tried are within the
            ceiling on authors; None if none.
        topic_epsilon: the smallest tried at and over which those of every one tried keep the topic; None if none.
        trials: with rising epsilon.

    """

    mechanism: str
    size: int
    author_epsilon: float | None
    topic_epsilon: float | None
    trials: tuple[Trial, ...]

    @property
    def strength(self) -> str:
        """The name of the parameter that was tried: "epsilon" or "bound"."""
        return strength_of(self.mechanism)

    @property
    def candidates(self) -> tuple[Trial, ...]:
        """Those whose figures are within both limits, with rising epsilon."""
        if self.author_epsilon is None or self.topic_epsilon is None:
            return ()
        return tuple(
            each for each in self.trials if self.topic_epsilon <= each.epsilon <= self.author_epsilon
        )

    @property
    def chosen(self) -> Trial | None:
        """The smallest candidate that passes: the strongest promise that is still of use."""
        return next((each for each in self.candidates if each.verdict == PASS), None)

    @property
    def both(self) -> bool:
        """Whether some epsilon is shown to hold both."""
        return self.chosen is not None

    @property
    def epsilon(self) -> float | None:
        """That of the chosen one."""
        return None if self.chosen is None else self.chosen.epsilon


Measure = Callable[[float], Trial]


@final
class _Tried:
    """Results by epsilon, and the epsilons at which the mechanism does not exist."""

    def __init__(self, measure: Measure) -> None:
        self._measure = measure
        self.trials: dict[float, Trial] = {}
        self.refused: set[float] = set()

    def measure(self, epsilon: float) -> None:
        """Measure once; a mechanism may refuse an epsilon at which its guarantee does not hold."""
        if epsilon in self.trials or epsilon in self.refused:
            return
        try:
            self.trials[epsilon] = self._measure(epsilon)
        except PolicyError:
            self.refused.add(epsilon)

    def outward(self, *, down: bool) -> float | None:
        """The next epsilon beyond all that were tried; None after `REFUSALS` refusals in a row on that side."""
        known = [*self.trials, *self.refused]
        edge = min(self.trials) if down else max(self.trials)
        beyond = [e for e in self.refused if (e < edge if down else e > edge)]
        if len(beyond) >= REFUSALS:
            return None
        return _short(min(known) / 2 if down else max(known) * 2)

    def between(self, low: float, high: float) -> float | None:
        """A new epsilon between two, the geometric mean first; None where all are refused or tried."""
        middle = (_short(low * (high / low) ** share) for share in (0.5, 0.25, 0.75))
        return next((e for e in middle if e not in self.refused and e not in self.trials), None)


def search(measure: Measure, aim: Aim, *, start: float, precision: float = 1.1) -> tuple[Trial, ...]:
    """Trials round the two epsilons where the aim begins and ceases to hold, found to a factor of ``precision``.

    Both accuracies are taken to rise with epsilon: a bracket is found by doubling and halving, then narrowed by
    geometric halves. An epsilon is measured once; one that the mechanism refuses is stepped over. No trials where it
    refuses all of those round ``start``.
    """
    if not precision > 1 or not start > 0:
        raise UsageError(
            f"the precision is a factor above 1 and the start an epsilon, not {precision} and {start}"
        )
    tried = _Tried(measure)
    for step in range(REFUSALS + 1):
        for epsilon in (start * 2**step, start / 2**step):
            if not tried.trials:
                tried.measure(_short(epsilon))
    if not tried.trials:
        return ()
    for is_high in (lambda trial: not aim.hides(trial), aim.keeps):
        _narrow(tried, is_high, precision)
    return tuple(tried.trials[epsilon] for epsilon in sorted(tried.trials))


def _narrow(tried: _Tried, is_high: Callable[[Trial], bool], precision: float) -> None:
    """Find where ``is_high`` changes from false to true with rising epsilon."""
    for _ in range(LARGEST_STEPS):
        trials = tried.trials
        low = max((e for e, t in trials.items() if not is_high(t)), default=None)
        high = min((e for e, t in trials.items() if is_high(t) and (low is None or e > low)), default=None)
        if low is not None and high is not None:
            further = None if high / low <= precision else tried.between(low, high)
        else:
            further = tried.outward(down=low is None)
        if further is None:
            return
        tried.measure(further)


def _short(epsilon: float) -> float:
    """Three digits: an epsilon that a person can read and type."""
    return float(f"{epsilon:.3g}")


def length_of(mechanism: str) -> int | str:
    """N where none is asked for: what a release of documents has, or that of the shortest document."""
    return LENGTH if strength_of(mechanism) == "bound" else SHORTEST


def conclude(mechanism: str, size: int, trials: Sequence[Trial], aim: Aim) -> Calibration:
    """Conclude from ``trials``, with rising epsilon; where they contradict themselves the cautious reading is taken."""
    author = topic = None
    for trial in trials:
        if not aim.hides(trial):
            break
        author = trial.epsilon
    for trial in reversed(trials):
        if not aim.keeps(trial):
            break
        topic = trial.epsilon
    return Calibration(mechanism, size, author, topic, tuple(trials))


def calibrate(
    evaluation: Evaluation, aim: Aim, *, start: float, precision: float, workers: int, progress: Progress
) -> Calibration:
    """Search epsilon for the one mechanism of ``evaluation``, which asks for authors and topics.

    A mechanism whose strength is a bound is tried at each bound of the request instead.
    """
    request = evaluation.request
    if len(request.names) != 1 or len(request.tasks) != 2:
        raise UsageError("calibration takes one mechanism and needs authors and topics")
    size, name = int(evaluation.facts["size"]), request.names[0]
    strength = strength_of(name)

    def measure(epsilon: float) -> Trial:
        cells = [Cell.at(name, strength, epsilon, repeat) for repeat in range(request.times)]
        evaluation.run(cells, workers=workers, progress=progress)
        lines = [line for line in summarize(evaluation.results()) if not line.clean]
        line = next(line for line in lines if getattr(line, strength) == epsilon)
        return _trial(line, epsilon, evaluation.facts)

    evaluation.run([Cell("clean", None, 0)], workers=workers, progress=progress)
    unprotected = next(line for line in summarize(evaluation.results()) if line.clean)
    if {"author", "topic"} - {task for _, task in unprotected.findings}:  # before anything takes its time
        raise UsageError(_TOO_FEW)
    if request.bounded and request.bounds:
        trials = tuple(measure(bound) for bound in sorted(set(request.bounds)))
    else:
        trials = search(measure, aim, start=start, precision=precision)
    return conclude(name, size, trials, aim)


def _trial(line: SummaryLine, epsilon: float, facts: Mapping[str, Any]) -> Trial:
    """Of the adversaries for authors as they are, and told the topic, whoever names most."""
    authors = [(each.accuracy, each.adversary) for each in line.findings.values() if each.task == "author"]
    authors += [
        (told, f"{each.adversary}, told the topic")
        for each in line.findings.values()
        if (told := knowing_topic(each, facts)) is not None
    ]
    topic = line.best("topic")
    if topic is None:
        raise UsageError(_TOO_FEW)
    author, by = max(authors, key=lambda found: found[0].value)
    return Trial(epsilon, author, by, topic.accuracy, topic.adversary, line.same_topic)


def judged(
    found: Calibration, lines: Sequence[SummaryLine], facts: Mapping[str, Any], aim: Aim, tries: int
) -> Calibration:
    """With the verdict on each trial, by the rule of an evaluation where ``tries`` settings were tried on the texts."""
    limits = Limits(aim.author_at_most, aim.topic_at_least, tries=tries)
    clean = [line for line in lines if line.clean]

    def with_verdict(trial: Trial) -> Trial:
        line = next(
            each for each in lines if not each.clean and getattr(each, found.strength) == trial.epsilon
        )
        verdict = judge([*clean, line], limits, facts)
        return trial if verdict is None else replace(trial, verdict=verdict.answer, reason=verdict.text)

    return replace(found, trials=tuple(with_verdict(trial) for trial in found.trials))


def to_be_had(found: Sequence[Calibration], aim: Aim) -> str:
    """The best setting in a sentence: the one that holds both aims, or how near one gets, and what is shown of it."""
    both = [(each, each.chosen) for each in found if each.chosen is not None]
    if both:
        each, trial = min(both, key=lambda pair: (pair[1].author.value, pair[0].size))
        return f"What can be had: {_setting(each, trial)}"
    near = [(each, trial) for each in found for trial in each.candidates]
    if near:
        each, trial = min(near, key=lambda pair: (pair[1].author.value, pair[0].size))
        return f"Nothing is shown to hold both. The nearest candidate: {_setting(each, trial)}"
    within = [(each, trial) for each in found for trial in each.trials if aim.hides(trial)]
    if within:
        each, trial = max(within, key=lambda pair: pair[1].topic.value)
        return f"Both cannot be had. With no more authors named than allowed, the most topic: {_setting(each, trial)}"
    tried = [(each, trial) for each in found for trial in each.trials]
    if not tried:
        return "Nothing can be had: every mechanism refused every epsilon that was tried."
    each, trial = min(tried, key=lambda pair: pair[1].author.value)
    return f"Authors cannot be hidden as asked for. The fewest that were named: {_setting(each, trial)}"


def _setting(found: Calibration, trial: Trial) -> str:
    return (
        f"{found.mechanism}, N = {found.size}, {found.strength} {trial.epsilon:g}, where {trial.author.value:.3f} of "
        f"the authors and {trial.topic.value:.3f} of the topics were named. The verdict on it: {trial.reason}."
    )
