"""Attacks on public texts protected with a walk's setting, judged in words, and the alternatives."""

from __future__ import annotations

import math
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final, final

import numpy as np

from publius.errors import PolicyError, UsageError
from publius.evaluation.adversaries import ORIGINALS, PRESETS, RETRIEVAL
from publius.evaluation.of_release import choices_from
from publius.evaluation.prepare import concluded, prepared
from publius.evaluation.runner import EvaluationRequest, Results
from publius.evaluation.statistics import CONFIDENCE, Interval, authors_needed, least_shown
from publius.evaluation.steps.older import LEARNED, PUBLIC
from publius.evaluation.steps.walk import EVALUATION, PARTS, Walk
from publius.evaluation.summary import SummaryLine, summarize
from publius.evaluation.verdict import (
    FEWEST_AUTHORS,
    FEWEST_JUDGED,
    NO_EVIDENCE,
    PASS,
    Answer,
    Authors,
    Gain,
    authors_of,
    write_limits,
)
from publius.files.progress import Progress, unheard
from publius.mechanisms.threads import processors
from publius.privacy.promise import ceiling, floor, percent
from publius.settings import EvaluationSettings, ExperimenterSettings

_PRESET: Final = "quick"


@final
@dataclass(frozen=True, slots=True)
class Power:
    """The smallest effect that the public texts can show, said before anything is attacked.

    Attributes:
        texts: how many will be attacked.
        authors: of how many authors.
        least: the smallest addition that they can rule out, where an attack finds nothing at all.
        limit: what a release may add.
        needed: about how many authors like these a PASS takes; None where no number is enough.

    """

    texts: int
    authors: int
    least: float
    limit: float
    needed: int | None

    @property
    def sentence(self) -> str:
        """For people."""
        said = (
            f"{self.texts:,} texts of {self.authors:,} authors can be attacked. At best they show that a release adds "
            f"less than {_up(self.least)} of the authors named; {_up(self.limit)} are allowed."
        )
        if self.needed is None:
            return f"{said} No number of authors can show that nothing at all is added."
        if self.authors >= self.needed:
            return said
        return (
            f"{said} They are too few for a PASS, whatever is found. About {self.needed:,} authors are needed; more "
            "texts of the same ones do not help."
        )


def power(walk: Walk) -> Power | None:
    """The power of the walk's public texts; None where nothing can be measured."""
    if walk.older is None or not walk.names_authors:
        return None
    sizes = np.array(walk.older.judged, np.float64)
    limits, level = walk.limits, 1 - (1 - CONFIDENCE) / walk.tries
    limit = (limits.adds_at_most if limits.author_at_most is None else limits.author_at_most) or 0.0
    needed = authors_needed(sizes, limit, level)
    if needed is not None:
        needed = max(needed, FEWEST_AUTHORS, math.ceil(FEWEST_JUDGED / float(sizes.mean())))
    return Power(int(sizes.sum()), len(sizes), least_shown(sizes, level), limit, needed)


@final
@dataclass(frozen=True, slots=True)
class TopicFound:
    """How often a program finds the topic of a text: of a protected one, of the same in clear, and of any by guessing.

    ``guessed`` is the share of whoever always says the topic that is most frequent in the texts to learn from.
    """

    released: float
    clear: float | None
    guessed: float
    texts: int


@final
@dataclass(frozen=True, slots=True)
class Beside:
    """What was found beside authors.

    Attributes:
        topic: None where nothing was asked for topics.
        unnamed: why no attack can name an author; None where one can.
        originals: how often the holder of the originals finds the text of a row, where each text stands for its own.
        texts: how many were attacked.

    """

    topic: TopicFound | None
    unnamed: str | None = None
    originals: Interval | None = None
    texts: int = 0

    @property
    def topics(self) -> str:
        """A sentence with every figure beside it that it has to be read with."""
        if (found := self.topic) is None:
            return ""
        clear = "" if found.clear is None else f", in clear text for {percent(found.clear)}"
        return (
            f" The topic was found for {percent(found.released)} of the {found.texts:,} texts attacked{clear}; always "
            f"saying the most frequent one is right for {percent(found.guessed)}."
        )

    @property
    def single(self) -> str:
        """What the holder of the originals finds, in a sentence."""
        if (found := self.originals) is None:
            return ""
        return (
            f"Whoever holds {self.texts:,} public texts and sees the row of one, protected in the same way, names the "
            f"right one for {percent(found.value)} of them, at most {_up(found.high)} allowing for chance; whoever "
            f"picks a text blindly, {percent(1 / self.texts)}."
        )


@final
@dataclass(frozen=True, slots=True)
class Judged:
    """The verdict on attacks at one setting.

    ``authors`` is what the verdict rests on, None where no attack can name an author; ``found`` what else was found;
    ``tries`` the number of settings that the level is divided by.
    """

    authors: Authors | None
    found: Beside
    tries: int = 1
    unlike: str | None = None
    """Why public texts are no evidence for the texts to be released; None where they may be."""

    @property
    def verdict(self) -> Answer:
        """PASS, FAIL or NO EVIDENCE."""
        if self.authors is None:
            return NO_EVIDENCE
        if self.authors.answer == PASS and self.unlike is not None:
            return NO_EVIDENCE
        return self.authors.answer

    @property
    def passed(self) -> bool:
        """Whether it is PASS."""
        return self.verdict == PASS

    @property
    def sentence(self) -> str:
        """The verdict with what it rests on, for people."""
        authors = self.authors
        if authors is None:
            return (
                f"{self.verdict} that authors are hidden: {self.found.unnamed}. {self.found.single}{self.found.topics} "
                "Only the proof stands."
            )
        gain = authors.worst
        clear = max(authors.unprotected, key=lambda each: each.named, default=None)
        bare = "" if clear is None else f"; without protection {clear.adversary} names {percent(clear.named)}"
        why = "" if authors.empty is None else f" That shows nothing: {authors.empty}."
        few = authors.too_few
        why += "" if few is None else f" {few[0].upper()}{few[1:]}."
        why += "" if self.unlike is None else f" {self.unlike[0].upper()}{self.unlike[1:]}."
        tried = (
            ""
            if self.tries == 1
            else f" As one of {self.tries} tries on these texts it is judged more strictly."
        )
        alone = "Whoever knows only the topic names" if authors.topics else "Always saying one author names"
        stands = " Only the proof stands." if self.verdict == NO_EVIDENCE else ""
        return (
            f"{self.verdict}: of {authors.texts:,} protected public texts of {authors.authors:,} authors the author "
            f"of {percent(gain.named)} was named by {gain.adversary}, {self._judged(gain)}. {alone} "
            f"{percent(authors.anyway)}{bare}.{self.found.topics}{why}{stands}{tried}{self._room}"
        )

    @property
    def _room(self) -> str:
        """How near a PASS is to its limit, and who set that, as the page says it."""
        room = self._authors.room if self.passed else None
        return f" {room}. {self._authors.set_by}." if room else f" {self._authors.set_by}."

    def _judged(self, gain: Gain) -> str:
        authors, judged = self._authors, gain.judged
        low, high = max(0.0, judged.low), max(0.0, judged.high)
        chance = f"between {_down(low)} and {_up(high)} allowing for chance; allowed are {_up(authors.limit)}"
        if authors.absolute:
            return chance
        if gain.without:
            known = f"the {percent(gain.without)} whom he names without the release"
        else:
            known = f"those whom {self._authors.known_from} names"
        return f"{percent(max(0.0, judged.value))} beyond {known}, {chance}"

    @property
    def _authors(self) -> Authors:
        if self.authors is None:
            raise UsageError("no attack can name an author of these public texts")
        return self.authors

    @property
    def brief(self) -> str:
        """The same on a line with others."""
        gain = self._authors.worst
        topic = self.found.topic
        kept = "" if topic is None else f", topic found for {percent(topic.released)}"
        known = "what the originals tell without it" if gain.without else self._authors.known_from
        beyond = "" if self._authors.absolute else f" beyond {known}"
        high = _up(max(0.0, gain.judged.high))
        return f"{self.verdict}, authors named {percent(gain.named)}, at most {high}{beyond}{kept}"


def _up(share: float) -> str:
    """An upper limit."""
    return f"{ceiling(100 * share, 1):g} %"


def _down(share: float) -> str:
    """A lower limit."""
    return f"{floor(100 * share, 1):g} %"


@final
@dataclass(frozen=True, slots=True)
class Tried:
    """Another setting, and what was found at it."""

    walk: Walk
    judged: Judged

    @property
    def sentence(self) -> str:
        """For people, on one line."""
        walk = self.walk
        return f"keep the {walk.kept.name}, {walk.kept.option} {walk.strength:g}: {self.judged.brief}"

    def record(self) -> dict[str, Any]:
        """For a page."""
        return {
            "preserve": self.walk.choices.preserve,
            "strength": self.walk.strength,
            "verdict": self.judged.verdict,
            "sentence": self.sentence,
        }


def measure(walk: Walk, folder: Path, progress: Progress = unheard) -> Judged:
    """Attack the second half of the public texts, protected as the walk will protect; kept in the evaluation's folder.

    `PolicyError` where nothing can say whether authors are hidden.
    """
    strengths, output = [walk.strength], folder / EVALUATION
    results = _results(walk, strengths, folder / PUBLIC, output, progress)
    lines, _ = concluded(results, output)
    return _tried(walk, strengths, results, lines)[0].judged


def tried(walk: Walk, folder: Path, strengths: Sequence[float], progress: Progress = unheard) -> list[Tried]:
    """The same at several bounds, or epsilons where words are kept, the largest first; nothing of it is kept.

    Only what is judged is measured: how well releases are found among public texts, which is no attack, is left out.
    """
    quick = tuple(name for name in PRESETS[_PRESET].adversaries if name != RETRIEVAL)
    with tempfile.TemporaryDirectory(dir=folder) as scratch:
        output = Path(scratch) / EVALUATION
        results = _results(walk, strengths, folder / PUBLIC, output, progress, adversaries=quick)
        return _tried(walk, strengths, results, summarize(results))


def instead(walk: Walk) -> tuple[Walk, tuple[float, ...]]:
    """Alternatives after a FAIL: smaller bounds, or, where words were kept, the topic or the meaning.

    The settings were chosen after others had been judged on the same texts, so all of them together get half the level
    that the ones before had: however often that is repeated, a false PASS is at most twice as likely as at one try.
    """
    return walk.kept.instead(walk)


def _check(walk: Walk) -> None:
    if not walk.measurable:
        raise PolicyError("there are no public texts, so no attack can be measured")


def _results(
    walk: Walk,
    strengths: Sequence[float],
    public: Path,
    output: Path,
    progress: Progress,
    adversaries: tuple[str, ...] = (),
) -> Results:
    """What the attacks found; by those of the preset unless ``adversaries`` are named."""
    _check(walk)
    chosen = choices_from(walk.plan().manifest(0))
    chosen[f"{walk.kept.option}s"] = tuple(strengths)
    settings = EvaluationSettings(preset=_PRESET, parts=PARTS, adversaries=adversaries, **chosen)
    request = EvaluationRequest.of(settings)
    attacked, learned = str(public / "attacked.jsonl"), public / LEARNED
    evaluation = prepared(attacked, request, ExperimenterSettings(), output, learned)
    cells = request.cells()
    evaluation.run(cells, workers=min(processors(), len(cells) // 2), progress=progress)
    bound = max(strengths) if walk.kept.bounded and walk.names_authors else None
    write_limits(replace(walk.limits, bound_at_most=bound), output)
    return evaluation.results()


def _tried(
    walk: Walk, strengths: Sequence[float], results: Results, lines: Sequence[SummaryLine]
) -> list[Tried]:
    clean = next(line for line in lines if line.clean)
    limits, tries = walk.limits, max(walk.tries, len(strengths))
    absolute = limits.author_at_most is not None
    limit = (limits.author_at_most if absolute else limits.adds_at_most) or 0.0
    found = []
    for line in lines:
        if not line.clean:
            at = walk.at(next(each for each in strengths if abs(each - _asked(line, walk)) < 1e-6))
            unnamed = None if walk.older is None else walk.older.unnamed
            authors = (
                authors_of(line, clean, results.facts, limit, absolute=absolute, tries=tries)
                if unnamed is None
                else None
            )
            originals = line.of(ORIGINALS, "author")
            single = None if unnamed is None or originals is None else originals.accuracy
            beside = Beside(_topic(line, clean, results), unnamed, single, results.facts["unknown_texts"])
            found.append(Tried(at.trying(tries), Judged(authors, beside, tries)))
    return found


def _topic(line: SummaryLine, clean: SummaryLine, results: Results) -> TopicFound | None:
    """Of the program that finds most in protected texts, and of the one that finds most in clear ones."""
    best, clear = line.best("topic"), clean.best("topic")
    if best is None:
        return None
    guessed = float(results.facts["chance"]["topic"])
    return TopicFound(
        best.accuracy.value, None if clear is None else clear.accuracy.value, guessed, best.total
    )


def _asked(line: SummaryLine, walk: Walk) -> float:
    return float(getattr(line, walk.kept.option) or 0.0)
