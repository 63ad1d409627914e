"""Whether what was measured is within the limits that a curator set: PASS, FAIL or NO EVIDENCE, with the reason.

Authors. What is judged is what a release adds: how often an adversary with the release names the author of a text, less
how often whoever knows only what is kept anyway (its topic) does, on the same texts; less what he names without the
release where he holds the originals, which tell him how often authors write. PASS where the upper end of the
interval is within the limit for every adversary, FAIL where the lower end of one is above it, NO EVIDENCE otherwise. A
test that could not fail shows nothing, so it is NO EVIDENCE too, before anything else, where fewer than
`FEWEST_JUDGED` texts were attacked, or texts of fewer than `FEWEST_AUTHORS` authors, where the limit together with what
is known anyway is nearly everything, and where
unprotected texts are within the limit by the same rule. A limit on all authors named (absolute) is one on each
adversary as he is, and on each who is told the topic. And no PASS rests on fewer authors than it takes to see one of
a kind as frequent as the limit: among fewer there might be none. Unprotected texts are judged without the holder of the
originals, who knows the texts themselves; everywhere else he counts. Where his figure is exact no adversary does better
from one bag.

Topics: the best classifier, with authors as what is sampled, too; of fewer than `FEWEST_AUTHORS` nothing is judged.
Bound: what is stated between any two documents, rounded up; where nothing
is stated there is no bound.

Where several settings are tried on the same texts, the level is divided by their number.
"""

from __future__ import annotations

import json
import math
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Final, Literal, final

import numpy as np

from publius.arrays import Float64Array
from publius.errors import DataError, UsageError, how_many
from publius.evaluation.adversaries import ORIGINALS
from publius.evaluation.statistics import CONFIDENCE, Interval, authors_needed, grouped_mean, least_shown
from publius.evaluation.summary import AdversaryResult, SummaryLine
from publius.files import read_bytes_limited, shown, write_file
from publius.privacy.promise import ceiling, floor, rounded_up
from publius.releases.account import who

Answer = Literal["PASS", "FAIL", "NO EVIDENCE"]
PASS: Final = "PASS"  # noqa: S105  # no password
FAIL: Final = "FAIL"
NO_EVIDENCE: Final = "NO EVIDENCE"

EXIT_CODES: Final[Mapping[str, int]] = {PASS: 0, FAIL: 1, NO_EVIDENCE: 3}
"""Of a command that ends with a verdict."""

ADDS: Final = 0.05
"""How many more of the authors a release may let be named than what is kept anyway, where nothing else is asked."""

FEWEST_JUDGED: Final = 20
"""Attacked texts below which nothing is judged."""

FEWEST_AUTHORS: Final = 10
"""Judged authors below which nothing is judged: from as many on the interval is shown to hold (`grouped_mean`)."""

NARROW: Final = 0.2
"""A PASS is called narrow where no more than this share of its limit is left."""

NEARLY_ALL: Final = 0.95
"""A limit of so many authors named in all is none: hardly any release could exceed it."""

_LIMITS: Final = "limits.json"
_ROUNDING: Final = 1e-9  # shares are kept with six digits


@final
@dataclass(frozen=True, slots=True)
class Limits:
    """Limits of a verdict; None is no limit. Shares from 0 to 1, the bound in nats between any two documents.

    ``tries`` is the number of settings that are tried on the same texts, here and before; ``aside`` says what stands in
    the rows of a release beside the bags, which no verdict on bags is about.
    """

    author_at_most: float | None = None
    topic_at_least: float | None = None
    bound_at_most: float | None = None
    adds_at_most: float | None = None
    tries: int = 1
    aside: str | None = None

    def __post_init__(self) -> None:
        for share in (self.author_at_most, self.topic_at_least, self.adds_at_most):
            if share is not None and not 0 <= share <= 1:
                raise UsageError(f"a limit on authors or topics is a share from 0 to 1, not {share}")
        if self.bound_at_most is not None and not self.bound_at_most >= 0:
            raise UsageError(f"a limit on the bound is a number of nats from 0, not {self.bound_at_most}")
        if type(self.tries) is not int or self.tries < 1:
            raise UsageError(f"the number of tries is a whole number from 1, not {self.tries!r}")

    @property
    def any(self) -> bool:
        """Whether there is a limit at all."""
        limits = (self.author_at_most, self.topic_at_least, self.bound_at_most, self.adds_at_most)
        return any(limit is not None for limit in limits)


def write_limits(limits: Limits, folder: Path) -> None:
    """Keep them beside the results, so that the report can be made again."""
    with write_file(folder / _LIMITS, 0o600) as file:
        file.write(json.dumps(asdict(limits)).encode() + b"\n")


def read_limits(folder: Path) -> Limits:
    """Those that were kept, or none."""
    path = folder / _LIMITS
    if not path.exists():
        return Limits()
    try:
        return Limits(**json.loads(read_bytes_limited(path)))
    except (ValueError, TypeError):
        raise DataError(f"{shown(path)} is damaged: remove it and run the evaluation again") from None


@final
@dataclass(frozen=True, slots=True)
class Verdict:
    """The answer and one sentence that says why; ``failed`` are the names of the settings that did not pass.

    ``room`` says how near a PASS is to its limit, and ``set_by`` who set the limit on authors; None where none is.
    ``on_authors`` is what the limits on authors alone say, None where there is none, and ``in_all`` whether they are on
    all the authors named, and not on what the release adds.
    """

    answer: Answer
    text: str
    failed: tuple[str, ...]
    room: str | None = None
    set_by: str | None = None
    on_authors: Answer | None = None
    in_all: bool = False

    @property
    def passed(self) -> bool:
        """Whether it is PASS."""
        return self.answer == PASS


@final
@dataclass(frozen=True, slots=True)
class LimitCheck:
    """One limit compared with what was found; ``authors`` are what it rests on, where it is one on authors."""

    answer: Answer
    text: str
    authors: Authors | None = None


@final
@dataclass(frozen=True, slots=True)
class Gain:
    """The gain of one adversary, called by what is known to it: the share of authors named, and what is judged of it.

    ``judged`` is its difference to what is known anyway, or the share itself where the limit is absolute. ``sure`` is
    the same with the interval that a finding against the release needs: there the level is divided by the number of
    adversaries, as the one that finds most is picked.
    """

    adversary: str
    named: float
    judged: Interval
    sure: Interval
    without: float = 0.0
    """The share that he names without the release, where that is more than whoever knows only the topic."""


@final
@dataclass(frozen=True, slots=True)
class Authors:
    """Everything that the verdict on authors rests on.

    Attributes:
        limit: what is allowed.
        absolute: whether it is a limit on all the authors named, or on what is added.
        texts: how many were attacked.
        sizes: how many each author has written; where none is given, each text counts as of one of its own.
        named: whether it is known who wrote the texts.
        anyway: the share of authors named by whoever knows only the topic.
        gains: of each adversary on the protected texts, the strongest first.
        unprotected: the same without protection, without the holder of the originals.
        level: of each interval.
        holder: whether the holder of the originals was asked, whom no other adversary surpasses where he is exact.
        topics: whether the attacked texts have topics. Without them whoever always says one author takes the place of
            whoever knows only the topic, and no adversary was told any.
        unlooked: why nobody knows whether what protects these texts has learned from them.

    """

    limit: float
    absolute: bool
    texts: int
    sizes: Float64Array
    named: bool
    anyway: float
    gains: tuple[Gain, ...]
    unprotected: tuple[Gain, ...]
    level: float
    holder: bool
    topics: bool = True
    unlooked: str | None = None

    @property
    def alone(self) -> str:
        """Who names so many authors without the release, in words."""
        return "topic alone" if self.topics else "always saying one author"

    @property
    def empty(self) -> str | None:
        """Why the test could not fail, so that it shows nothing; None where it could."""
        if self.texts < FEWEST_JUDGED:
            return f"only {self.texts} texts were attacked, and fewer than {FEWEST_JUDGED} show nothing"
        if self.authors < FEWEST_AUTHORS:
            takes = (
                "" if self.needed is None else f"; a PASS takes about {max(self.needed, FEWEST_AUTHORS):,}"
            )
            return (
                f"only {self.authors} {self._judged_alike} judged, and from fewer than {FEWEST_AUTHORS} nothing can be "
                f"said of others: what chance does among so few is not known{takes}"
            )
        if self.most >= NEARLY_ALL:
            return (
                f"{ceiling(self.most, 2):.2f} of the authors may be named in all ({self.alone} "
                f"{self.anyway:.2f}), which hardly anything could exceed"
            )
        if not self.unprotected:
            return (
                "no adversary was tried on unprotected texts, so nothing says that one could have been named"
            )
        found = max(self.unprotected, key=lambda gain: gain.sure.low)
        if found.sure.low <= self.limit + _ROUNDING:
            return (
                f"unprotected texts are within the limit, too ({found.adversary} named {found.named:.3f} of their "
                f"authors, {self._judged(found.sure.low)} at least), so an attack that finds nothing in "
                "protected ones shows nothing"
            )
        return None

    @property
    def most(self) -> float:
        """The share of authors that may be named in all."""
        return self.limit if self.absolute else self.anyway + self.limit

    @property
    def worst(self) -> Gain:
        """Of the adversary who comes nearest to the limit, or farthest beyond."""
        return max(self.gains, key=lambda gain: gain.judged.high)

    @property
    def answer(self) -> Answer:
        """PASS, FAIL or NO EVIDENCE."""
        if self.empty is not None:
            return NO_EVIDENCE
        if any(gain.sure.low > self.limit + _ROUNDING for gain in self.gains):
            return FAIL
        shown = self._within and self.enough and self.holder and self.unlooked is None
        return PASS if shown else NO_EVIDENCE

    @property
    def _within(self) -> bool:
        return all(gain.judged.high <= self.limit + _ROUNDING for gain in self.gains)

    @property
    def authors(self) -> int:
        """How many have written the texts."""
        return len(self.sizes)

    @property
    def needed(self) -> int | None:
        """How many authors like these a PASS takes; None where no number is enough.

        Among so many a kind as frequent as the limit, of whom every text is named, would have been seen.
        """
        return authors_needed(self.sizes, self.limit, self.level)

    @property
    def enough(self) -> bool:
        """Whether there are as many authors as a PASS takes."""
        needed = self.needed
        return needed is not None and self.authors >= needed

    @property
    def too_few(self) -> str | None:
        """Why these authors cannot give a PASS; None where they could, or something else was found."""
        if self.answer != NO_EVIDENCE or self.empty is not None:
            return None
        if self.unlooked is not None:
            return self.unlooked
        if self.enough and self._within:
            return "the holder of the originals was not asked, and nothing passes without him: --adversaries originals"
        if self.enough:
            return self._spread
        judged = f"{self.authors:,} {self._judged_alike} judged"
        if self.needed is None:
            return f"{judged}, and no number of them can show that nothing at all is added"
        return (
            f"only {judged} and a PASS takes about {self.needed:,}: of a kind that "
            f"{100 * ceiling(self.limit, 3):.3g} % of all authors belong to there might be none among fewer"
        )

    @property
    def _spread(self) -> str | None:
        """How many authors a PASS takes where they differ as these do; None where what was found is no lower."""
        judged = self.worst.judged
        if judged.value >= self.limit:
            return None
        about = self.authors * ((judged.high - judged.value) / (self.limit - judged.value)) ** 2
        whom = "authors" if self.named else "texts"
        return (
            f"as far as naming goes, about {math.ceil(about):,} {whom} would give a PASS, if they differ as these "
            f"{self.authors:,} do and as many of them are named"
        )

    @property
    def _judged_alike(self) -> str:
        if self.named:
            return "author was" if self.authors == 1 else "authors were"
        return "texts, each as of an author of its own since none is given, were"

    def _judged(self, low: float) -> str:
        low = floor(low, 3)
        return f"{low:.3f}" if self.absolute else f"{low:+.3f} beyond {self.known_from}"

    @property
    def known_from(self) -> str:
        """That from which so many authors are known without the release, as the subject of a sentence."""
        return "the topic" if self.topics else "always saying one author"

    def beyond(self, gain: Gain) -> str:
        """The words for those beyond whom an adversary is judged; none where the limit is absolute."""
        if self.absolute:
            return ""
        return (
            f" beyond the {gain.without:.3f} that he names without the release"
            if gain.without
            else f" beyond those whom {self.known_from} names"
        )

    @property
    def text(self) -> str:
        """The comparison in words."""
        if self.empty is not None:
            return self.empty
        if self.answer == FAIL:
            gain = max(self.gains, key=lambda each: each.sure.low)
            shown_interval = gain.sure
        else:
            gain = self.worst
            shown_interval = gain.judged
        what = f"authors named{self.beyond(gain)}"
        clear = max(self.unprotected, key=lambda each: each.judged.value)
        beside = [
            f"named {gain.named:.3f}",
            f"{self.alone} {self.anyway:.3f}",
            f"unprotected {clear.named:.3f} by {clear.adversary}",
        ]
        return (
            f"{what} {gain.judged.value:.3f}, {_between(shown_interval)} allowing for chance, by "
            f"{gain.adversary}; allowed {self.limit:g} ({', '.join(beside)})"
            f"{self._unseen}"
        )

    @property
    def left(self) -> float:
        """How much of what is allowed is left above the interval, rounded down."""
        return max(0.0, floor(round(self.limit - ceiling(max(0.0, self.worst.judged.high), 3), 9), 3))

    @property
    def room(self) -> str | None:
        """How near a PASS is to its limit, in words; None for another answer, which is on no right side of it."""
        if self.answer != PASS:
            return None
        narrow = "A narrow PASS" if self.left <= NARROW * self.limit else "Not a narrow PASS"
        return f"{narrow}: {_points(self.left)} of the {_points(self.limit)} points allowed are left"

    @property
    def set_by(self) -> str:
        """Who set the limit, in words: the program proposes one, and no law does."""
        if not self.absolute and self.limit == ADDS:
            return (
                f"The program proposes {_points(ADDS)} points, and nobody chose another limit; no law or authority set "
                "it"
            )
        what = (
            f"{_points(self.limit)} % of the authors in all"
            if self.absolute
            else f"{_points(self.limit)} points"
        )
        return (
            f"The limit of {what} was chosen by whoever had the test made; the program proposes "
            f"{_points(ADDS)} points beyond what is named without the rows. No law or authority set either"
        )

    @property
    def _unseen(self) -> str:
        """What a PASS cannot say: the interval takes other authors to be of the kinds that were attacked."""
        if self.too_few is not None:
            return f"; {self.too_few}"
        if self.answer != PASS:
            return ""
        these = (
            f"authors like these {self.authors:,}"
            if self.named
            else f"texts like these {self.authors:,}, each as of an author of its own since none is given"
        )
        return (
            f"; shown for {these}: kinds of authors rarer than "
            f"{100 * ceiling(least_shown(self.sizes, self.level), 3):.3g} % of all may be missing among them"
        )


def _points(share: float) -> str:
    return f"{100 * share:.1f}"


def _between(interval: Interval) -> str:
    """Its limits, each rounded to the safe side."""
    return f"from {floor(interval.low, 3):.3f} to {ceiling(interval.high, 3):.3f}"


def judge(lines: Sequence[SummaryLine], limits: Limits, facts: Mapping[str, Any]) -> Verdict | None:
    """The verdict on every protected line together: PASS only if all of them hold. None without limits.

    ``facts`` are those of the run. Raises `UsageError` for a limit on what was not measured.
    """
    if not limits.any:
        return None
    protected = [line for line in lines if not line.clean]
    if not protected:
        raise UsageError(
            "nothing was protected, so there is nothing to judge: give a mechanism and its epsilon"
        )
    tries = max(limits.tries, len(protected))
    clean = next((line for line in lines if line.clean), None)
    found = {line.name: _outcomes(line, limits, clean, facts, tries) for line in protected}
    parts_of_all = [part for parts in found.values() for part in parts]
    answer = _together(parts_of_all)
    decisive = {
        name: kept
        for name, parts in found.items()
        if (kept := [part for part in parts if part.answer == answer])
    }
    failed = tuple(name for name, parts in found.items() if any(part.answer != PASS for part in parts))
    of_authors = [part for part in parts_of_all if part.authors is not None]
    judged = [part.authors for part in of_authors if part.authors is not None]
    nearest = min(judged, key=lambda each: each.left / max(each.limit, _ROUNDING), default=None)
    room = None if answer != PASS or nearest is None else nearest.room
    set_by = None if nearest is None else nearest.set_by
    tried = (
        f"; {tries} settings were tried on these texts, and the level is divided by as many"
        if tries > 1
        else ""
    )
    aside = f"; not judged with it: {limits.aside}" if limits.aside else ""
    text = f"{answer}: {_sentence(decisive)}{tried}{aside}"
    on_authors = _together(of_authors) if of_authors else None
    in_all = bool(judged) and all(each.absolute for each in judged)
    return Verdict(answer, text, failed, room, set_by, on_authors, in_all)


def _together(parts: Sequence[LimitCheck]) -> Answer:
    """PASS only if all of them do."""
    answers = {part.answer for part in parts}
    return "FAIL" if FAIL in answers else "NO EVIDENCE" if NO_EVIDENCE in answers else "PASS"


def _sentence(found: Mapping[str, Sequence[LimitCheck]]) -> str:
    return "; ".join(f"{name}: {', '.join(part.text for part in parts)}" for name, parts in found.items())


def _outcomes(
    line: SummaryLine, limits: Limits, clean: SummaryLine | None, facts: Mapping[str, Any], tries: int
) -> list[LimitCheck]:
    found = []
    for absolute, limit in ((False, limits.adds_at_most), (True, limits.author_at_most)):
        if limit is not None:
            authors = authors_of(line, clean, facts, limit, absolute=absolute, tries=tries)
            found.append(LimitCheck(authors.answer, authors.text, authors))
    if limits.topic_at_least is not None:
        found.append(_topic(line, limits.topic_at_least, clean, facts, tries))
    if limits.bound_at_most is not None:
        found.append(_bound(line, limits.bound_at_most))
    return found


def authors_of(
    line: SummaryLine,
    clean: SummaryLine | None,
    facts: Mapping[str, Any],
    limit: float,
    *,
    absolute: bool = False,
    tries: int = 1,
) -> Authors:
    """The findings on authors that are judged, of a protected line and of the unprotected one.

    `UsageError` where nobody was asked for authors, `DataError` for an evaluation that another version has made.
    """
    asked = _asked(line)
    if not asked:
        raise UsageError("no adversary was asked for authors, so they cannot be judged")
    if "anyway" not in facts:
        raise DataError(
            "the evaluation is of another version, and cannot be judged: run it again in a new folder"
        )
    level = 1 - (1 - CONFIDENCE) / tries
    apart = [each for each in _asked(clean) if each.adversary != ORIGINALS] if clean is not None else []
    anyway = float(np.mean(facts["anyway"]))
    sizes = np.unique(facts["author_numbers"], return_counts=True)[1].astype(np.float64)
    return Authors(
        limit, absolute, asked[0].total, sizes, authors_given(facts), anyway,
        tuple(_gains(asked, facts, level, absolute=absolute)),
        tuple(_gains(apart, facts, level, absolute=absolute)), level,
        any(each.adversary == ORIGINALS for each in (*asked, *([] if clean is None else _asked(clean)))),
        _topics_known(facts), unlooked_of(facts),
    )  # fmt: skip


def authors_given(facts: Mapping[str, Any]) -> bool:
    """Whether the data say who wrote the attacked texts: else each counts as of an author of its own.

    An evaluation of before tells only whether texts were known; where none was, authors could be given all the same.
    """
    given: bool = facts.get("authors_given", facts.get("known_texts") != 0)
    return given


def unlooked_of(facts: Mapping[str, Any]) -> str | None:
    """Why nobody knows whether what protects the texts of a run has learned from them; None where that is known."""
    before = (
        None
        if facts.get("documents") is None
        else "nobody looked whether the reference learned from these texts"
    )
    found: str | None = facts.get("unlooked", before)
    return found


def _asked(line: SummaryLine) -> list[AdversaryResult]:
    return [finding for (_, task), finding in line.findings.items() if task == "author"]


def _gains(
    findings: Sequence[AdversaryResult], facts: Mapping[str, Any], level: float, *, absolute: bool
) -> list[Gain]:
    """The strongest first. A limit on all authors named is one on whoever knows the topic, and on whoever does not."""
    ways = [
        (finding, told)
        for finding in findings
        for told in ((False, True) if absolute and finding.told else (not absolute,))
    ]
    tests = max(1, len(ways))
    divided = 1 - (1 - level) / tests
    found = []
    for finding, told in ways:
        without = 0.0 if absolute else _without(finding, facts)
        judged = _interval(finding, facts, level, without, told=told)
        sure = judged if tests == 1 else _interval(finding, facts, divided, without, told=told)
        shares, _ = _judged_shares(finding, told=told)
        known = without if without > float(np.mean(facts["anyway"])) + _ROUNDING else 0.0
        name = who(finding.adversary, topic=told and _topics_known(facts))
        found.append(Gain(name, float(shares.mean()), judged, sure, known))
    return sorted(found, key=lambda gain: -gain.named)


def _interval(
    finding: AdversaryResult, facts: Mapping[str, Any], level: float, without: float, *, told: bool
) -> Interval:
    """Of the share named less ``without``, which is what is known anyway or nothing, with authors resampled.

    An adversary has habits: without any regard to a text he may always name the same author of its topic. How often
    that is right depends on nothing that a release shows, and varies from author to author far more than what it does
    show. So what is resampled is how often he is right beyond those habits; what they give him is added as it is. Of an
    author who was not seen every text may be named, or none beyond them.
    """
    named, habit = _judged_shares(finding, told=told)
    found = grouped_mean(named - habit, np.array(facts["author_numbers"]), level, (0.0, 1.0))
    rest = float(habit.mean()) - without
    return Interval(found.value + rest, found.low + rest, found.high + rest)


def _without(finding: AdversaryResult, facts: Mapping[str, Any]) -> float:
    """The share of authors that an adversary names without the release.

    Everybody knows what the topic tells. Who holds the originals has their authors to name from, too: of each topic he
    names the one who wrote most of them, whatever a release shows.
    """
    anyway = float(np.mean(facts["anyway"]))
    if finding.adversary != ORIGINALS:
        return anyway
    _, habit = _judged_shares(finding, told=True)
    found = max(anyway, float(habit.mean()))
    if "topic_numbers" not in facts:
        return found
    written: dict[int, Counter[int]] = defaultdict(Counter)
    for topic, author in zip(facts["topic_numbers"], facts["author_numbers"], strict=True):
        written[topic][author] += 1
    return max(found, sum(max(each.values()) for each in written.values()) / len(facts["author_numbers"]))


def _topics_known(facts: Mapping[str, Any]) -> bool:
    """Whether there are topics that an adversary can be told."""
    return len(facts.get("topics") or ()) > 1


def knowing_topic(finding: AdversaryResult, facts: Mapping[str, Any]) -> Interval | None:
    """The share of authors named by an adversary who is told each text's topic; None where there are no topics.

    The interval is that of the verdict at one try: where it is compared with what the topic names, the difference.
    """
    if finding.task != "author" or "anyway" not in facts or not _topics_known(facts):
        return None
    without = _without(finding, facts)
    beyond = _interval(finding, facts, CONFIDENCE, without, told=True)
    return Interval(beyond.value + without, max(0.0, beyond.low + without), min(1.0, beyond.high + without))


def _judged_shares(finding: AdversaryResult, *, told: bool) -> tuple[Float64Array, Float64Array]:
    """Text by text how often its author was named, and how often without regard to the text.

    ``told`` the topic, where that was tried: what is compared with who knows the topic alone is an adversary who knows
    it, too, and would not be judged by what he throws away.
    """
    named, blind = finding.shares, finding.blind
    if told and finding.told:
        named, blind = finding.told, finding.told_blind
    return np.array(named), np.array(blind) if blind else np.zeros(len(named))


def _topic(
    line: SummaryLine, limit: float, clean: SummaryLine | None, facts: Mapping[str, Any], tries: int
) -> LimitCheck:
    """Of the classifier that finds most: for a PASS the level is divided by their number, as the best is picked."""
    best, asked = line.best("topic"), sum(task == "topic" for _, task in line.findings)
    if best is None:
        raise UsageError("no classifier was asked for topics, so --topic-at-least cannot be judged")
    unprotected = clean.best("topic") if clean is not None else None
    beside = "" if unprotected is None else f" (unprotected {unprotected.accuracy.value:.3f})"
    shares, authors = np.array(best.shares), np.array(facts["author_numbers"])
    judged, sure = (
        grouped_mean(shares, authors, 1 - (1 - CONFIDENCE) / tests, (0.0, 1.0))
        for tests in (tries, tries * asked)
    )
    text = (
        f"topics named {judged.value:.3f}, {_between(sure if judged.high >= limit else judged)} allowing for chance, "
        f"by {best.adversary}; wanted {limit:g}{beside}"
    )
    few = len(np.unique(authors))
    if not authors_given(facts):
        text += ", each text as of an author of its own"
    if limit and (len(shares) < FEWEST_JUDGED or few < FEWEST_AUTHORS):  # 0 is met by any texts
        return LimitCheck(
            NO_EVIDENCE,
            f"{text}; {len(shares)} texts of {how_many(few, 'author')} show nothing of others: it takes "
            f"{FEWEST_JUDGED} texts and {FEWEST_AUTHORS} authors at least",
        )
    if sure.low >= limit:
        unlooked = unlooked_of(facts)
        return LimitCheck(PASS, text) if unlooked is None else LimitCheck(NO_EVIDENCE, f"{text}; {unlooked}")
    return LimitCheck(FAIL if judged.high < limit else NO_EVIDENCE, text)


def _bound(line: SummaryLine, limit: float) -> LimitCheck:
    if line.bound is None:
        return LimitCheck(FAIL, f"nothing bounds what tells any two documents apart; allowed {limit:g} nats")
    text = f"any two documents within {rounded_up(line.bound, 6)} nats; allowed {limit:g}"
    return LimitCheck(PASS if line.bound <= limit else FAIL, text)
