"""What an evaluation found, as numbers: one record an attempt, the same in every table, page and file."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, Final, Literal

import msgspec
import numpy as np
from numpy.typing import ArrayLike

from publius.arrays import IndexArray
from publius.evaluation.attackers import Task
from publius.evaluation.corpus import Text
from publius.evaluation.worst_case import baseline, candidates_of, group_places
from publius.statistics import LEVEL, Interval, author_mean

Answer = Literal["PASS", "FAIL", "INCONCLUSIVE"]

TOLD: Final = {
    "texts": "other texts of the authors", "topic": "the topic of each text", "originals": "every original text",
    "mechanism": "the mechanism",
}  # fmt: skip
"""What an attacker may be told, and how it is said."""

ABOUT: Final = {
    "SRauth": "author of the nearest known text by Earth Mover's distance",
    "SRtopic": "majority of the 5 nearest by Earth Mover's distance",
    "DRauth": "Koppel and others 2011",
    "DRtopic": "fastText on whole texts",
}
"""Columns of the paper's table."""
EPSILONS: Final = (30.0, 25.0, 20.0, 15.0, 10.0)
"""Those of the paper's table."""


class Setting(msgspec.Struct, frozen=True):
    """A mechanism at an epsilon; neither for clear text."""

    mechanism: str | None = None
    epsilon: float | None = None

    @property
    def name(self) -> str:
        """For people."""
        return "unprotected" if self.mechanism is None else f"{self.mechanism}, epsilon {self.epsilon:g}"


CLEAR: Final = Setting()


class Authors(msgspec.Struct, frozen=True):
    """The same numbers author by author, without names: any interval can be computed from them again."""

    texts: tuple[int, ...]
    identified: tuple[float, ...]
    advantage: tuple[float, ...]


class Attempt(msgspec.Struct, frozen=True, kw_only=True):
    """One attacker on one setting."""

    attacker: str
    told: tuple[str, ...]  # of `TOLD`: all that it knows beside the row, the public inputs and the authors' names
    knows: str
    task: Task  # what it names; "topic" measures what a release is good for
    mechanism: str | None
    epsilon: float | None
    identified: Interval  # the share of texts whose author (or topic) it names
    clear: Interval | None  # the same on the same texts at the same length, unprotected
    baseline: Interval  # without the row, by who knows how often authors write, and the topic where the attacker does
    advantage: Interval  # identified minus baseline, on the same texts
    candidates: float  # among how many one is named, the mean over texts
    texts: int
    authors: int
    ceiling: float  # nobody told as much is expected to identify more from one row
    exact: bool = False  # an expectation that is computed, not an estimate from draws of noise
    judged: bool = True  # by limits: not of who holds the originals, whose figure stands beside
    draws: int = 1
    by_author: Authors

    @property
    def setting(self) -> Setting:
        """What it was tried on."""
        return Setting(self.mechanism, self.epsilon)

    @property
    def name(self) -> str:
        """The attacker with what it was told."""
        return f"{self.attacker} ({', '.join(self.told)})"

    def interval(self, what: Literal["identified", "advantage"], level: float) -> Interval:
        """The interval of one figure at another ``level``."""
        values, sizes = np.array(getattr(self.by_author, what)), np.array(self.by_author.texts)
        places = np.repeat(np.arange(len(sizes)), sizes).tolist()
        ends = (0.0, 1.0) if what == "identified" else (-1.0, 1.0)
        limits = author_mean(np.repeat(values, sizes), places, level, ends)
        return Interval(getattr(self, what).value, limits.low, limits.high)


def groups_of(texts: Sequence[Text], told: bool, fold: bool = False) -> IndexArray:
    """The groups of texts that who is told the topics, or is not, tells apart; with ``fold`` by that as well."""
    return group_places([(told and text.topic, fold and text.fold) for text in texts])


def attempt(
    attacker: str, told: Sequence[str], task: Task, setting: Setting, texts: Sequence[Text], values: ArrayLike, *,
    clear: ArrayLike | None, ceiling: float = 1.0, exact: bool = False, judged: bool = True, draws: int = 1,
) -> Attempt:  # fmt: skip
    """The record of ``values``, how often each text's label was named, and ``clear``, the same unprotected."""
    named, alike = [text.label(task) for text in texts], groups_of(texts, "topic" in told)
    names, places = np.unique([text.label("author") for text in texts], return_inverse=True)
    found, known = np.asarray(values, np.float64), baseline(named, alike)
    sizes = np.bincount(places)

    def means(numbers: Any) -> tuple[float, ...]:
        return tuple(np.round(np.bincount(places, numbers) / sizes, 9).tolist())

    told = tuple(each for each in TOLD if each in told)
    return Attempt(
        attacker=attacker, told=told, knows=", ".join(TOLD[each] for each in told), task=task,
        mechanism=setting.mechanism, epsilon=setting.epsilon, identified=author_mean(found, places.tolist()),
        clear=None if clear is None else author_mean(clear, places.tolist()), baseline=author_mean(known, places.tolist()),
        advantage=author_mean(found - known, places.tolist(), LEVEL, (-1.0, 1.0)), candidates=candidates_of(named, alike),
        texts=len(found), authors=len(names), ceiling=float(ceiling), exact=exact, judged=judged, draws=draws,
        by_author=Authors(tuple(sizes.tolist()), means(found), means(found - known)),
    )  # fmt: skip


def by_setting(attempts: Iterable[Attempt]) -> dict[Setting, list[Attempt]]:
    """The attempts of each setting, in their order."""
    found: dict[Setting, list[Attempt]] = {}
    for each in attempts:
        found.setdefault(each.setting, []).append(each)
    return found


class Check(msgspec.Struct, frozen=True):
    """One limit against the figure that comes nearest to it, or lies farthest beyond; ``level`` is its interval's."""

    limit: str
    value: float
    attacker: str
    found: Interval
    answer: Answer
    level: float = LEVEL


class Verdict(msgspec.Struct, frozen=True):
    """The answer for one setting; ``reason`` is a name of `publius.evaluation.verdict.REASONS`."""

    answer: Answer
    reason: str
    setting: Setting = CLEAR
    checks: tuple[Check, ...] = ()
    tested: int = 0
    needed: int | None = None
    level: float = LEVEL


class Results(msgspec.Struct, frozen=True, kw_only=True):
    """The content of results.json."""

    results_version: int = 1
    publius_version: str
    kind: Literal["words", "labels", "as-is", "paper", "summary"]
    as_is: bool = False  # private texts themselves were attacked: such results are for the curator alone
    command: str
    candidates: float  # authors among whom one is named
    epsilon: float | None = None  # of the setting that the verdict is on, or the only one
    attackers: tuple[Attempt, ...] = ()
    limits: dict[str, float] = {}
    verdict: Answer | None = None
    verdicts: tuple[Verdict, ...] = ()  # of each setting, in the order they were given
    public: tuple[dict[str, Any], ...] = ()
    data: dict[str, Any] = {}  # the texts: how many, how they were split, their digests
    facts: dict[str, Any] = {}  # what else was measured, by kind
