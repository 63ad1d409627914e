"""Choosing epsilon: the largest that keeps every adversary low, the smallest that keeps the topic."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final, final

from publius.errors import UsageError
from publius.evaluation.experiment import Cell
from publius.evaluation.runner import Evaluation, Progress
from publius.evaluation.statistics import Interval
from publius.evaluation.summary import Line, summarize

WARNING: Final = (
    "Epsilon and N were tuned on these documents, so they tell something of them. Tune on public or older documents "
    "of the same kind, or charge the tuning to the ledger of the documents that are to be released."
)
LARGEST_STEPS: Final = 24
"""How many epsilons are tried for one of the two ends, doubling, halving and narrowing."""


@final
@dataclass(frozen=True, slots=True)
class Aim:
    """What is to hold: at most this share of authors named, at least this share of topics.

    With ``cautious`` the limits of the 95 % intervals decide instead of the means.
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
    """What was measured at one epsilon: the strongest adversary, the best topic classifier, and the formal exponent."""

    epsilon: float
    author: Interval
    author_by: str
    topic: Interval
    topic_by: str
    exponent_same_topic: float | None


@final
@dataclass(frozen=True, slots=True)
class Calibration:
    """What was found for one mechanism and N.

    Attributes:
        size: N.
        author_epsilon: the largest epsilon tried at and under which every one tried hides the authors; None if none.
        topic_epsilon: the smallest tried at and over which every one tried keeps the topic; None if none.
        trials: with rising epsilon.

    """

    size: int
    author_epsilon: float | None
    topic_epsilon: float | None
    trials: tuple[Trial, ...]

    @property
    def both(self) -> bool:
        """Whether some epsilon holds both."""
        if self.author_epsilon is None or self.topic_epsilon is None:
            return False
        return self.topic_epsilon <= self.author_epsilon

    @property
    def epsilon(self) -> float | None:
        """The smallest epsilon that holds both: the strongest promise that is still of use."""
        return self.topic_epsilon if self.both else None


Measure = Callable[[float], Trial]


def search(measure: Measure, aim: Aim, *, start: float, precision: float = 1.1) -> tuple[Trial, ...]:
    """Trials round the two epsilons where the aim begins and ceases to hold, found to a factor of ``precision``.

    Both accuracies are taken to rise with epsilon: a bracket is found by doubling and halving, then narrowed by
    geometric halves. An epsilon is measured once.
    """
    if not precision > 1 or not start > 0:
        raise UsageError(
            f"the precision is a factor above 1 and the start an epsilon, not {precision} and {start}"
        )
    trials: dict[float, Trial] = {}

    def tried(epsilon: float) -> Trial:
        if epsilon not in trials:
            trials[epsilon] = measure(epsilon)
        return trials[epsilon]

    tried(start)
    for is_high in (lambda trial: not aim.hides(trial), aim.keeps):
        _narrow(tried, trials, is_high, precision)
    return tuple(trials[epsilon] for epsilon in sorted(trials))


def _narrow(
    tried: Measure, trials: dict[float, Trial], is_high: Callable[[Trial], bool], precision: float
) -> None:
    """Find where ``is_high`` changes from false to true with rising epsilon."""
    for _ in range(LARGEST_STEPS):
        low = max((e for e, t in trials.items() if not is_high(t)), default=None)
        high = min((e for e, t in trials.items() if is_high(t) and (low is None or e > low)), default=None)
        if low is not None and high is not None:
            if high / low <= precision:
                return
            tried(_short((low * high) ** 0.5))
        else:
            tried(_short(min(trials) / 2 if low is None else max(trials) * 2))


def _short(epsilon: float) -> float:
    """Three digits: an epsilon that a person can read and type."""
    return float(f"{epsilon:.3g}")


def conclude(size: int, trials: Sequence[Trial], aim: Aim) -> Calibration:
    """What ``trials``, with rising epsilon, say; where they contradict themselves the cautious reading is taken."""
    author = topic = None
    for trial in trials:
        if not aim.hides(trial):
            break
        author = trial.epsilon
    for trial in reversed(trials):
        if not aim.keeps(trial):
            break
        topic = trial.epsilon
    return Calibration(size, author, topic, tuple(trials))


def calibrate(
    evaluation: Evaluation, aim: Aim, *, start: float, precision: float, workers: int, progress: Progress
) -> Calibration:
    """Search epsilon for the one mechanism of ``evaluation``, which asks for authors and topics."""
    request = evaluation.request
    if len(request.mechanisms) != 1 or len(request.tasks) != 2:
        raise UsageError("calibration takes one mechanism and needs authors and topics")
    size = int(evaluation.facts["size"])

    def measure(epsilon: float) -> Trial:
        cells = [Cell(request.mechanisms[0], epsilon, repeat) for repeat in range(request.times)]
        evaluation.run(cells, workers=workers, progress=progress)
        return _trial(next(line for line in summarize(evaluation.results()) if line.epsilon == epsilon))

    evaluation.run([Cell("clean", None, 0)], workers=workers, progress=progress)
    return conclude(size, search(measure, aim, start=start, precision=precision), aim)


def _trial(line: Line) -> Trial:
    author, topic = line.best("author"), line.best("topic")
    if author is None or topic is None or line.epsilon is None:
        raise UsageError("calibration needs an adversary for authors and a classifier for topics: try all")
    return Trial(
        line.epsilon, author.accuracy, author.adversary, topic.accuracy, topic.adversary, line.same_topic
    )
