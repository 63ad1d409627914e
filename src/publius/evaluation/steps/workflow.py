"""A first release, one method a step: the terminal and the page call the same ones, and hear of them as events.

A terminal asks between the steps and calls them in its own process. The page calls `learn_apart`, `release_apart` or
`try_apart` in a `publius.files.tasks.Task`, which can be cancelled.
"""

from __future__ import annotations

import shutil
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, final

from publius.evaluation.steps.answers import Choices, config_text
from publius.evaluation.steps.older import LEARNED, PUBLIC
from publius.evaluation.steps.walk import CONFIG, EVALUATION, OWN, RELEASE, SIGNOFF, Step, Walk
from publius.files import check_new_folder, new_folder, private_folder, remove_leftovers, write_file
from publius.mechanisms.threads import processors
from publius.privacy.ledger import Ledger
from publius.releases.engines import RunSummary
from publius.releases.measured import Measured
from publius.releases.own_texts import OwnTexts, equally_common
from publius.releases.plan import Plan

if TYPE_CHECKING:  # they import the whole evaluation, which a page that is only opened does not need
    from publius.evaluation.steps.measuring import Judged, Tried
    from publius.evaluation.verdict import Answer

TITLES: Final[Mapping[Step, str]] = {
    "learn": "Learn what is public",
    "measure": "Attack public texts, protected in the same way",
    "release": "Release your texts",
    "own": "Look at your texts, for your eyes only",
    "sign": "Write the page to sign",
}

_EVERY: Final = 0.2
"""Seconds between two events of progress."""


@final
@dataclass(frozen=True, slots=True)
class Began:
    """A step begins."""

    step: Step


@final
@dataclass(frozen=True, slots=True)
class Advanced:
    """So many parts of the step that runs are done, of so many."""

    done: int
    total: int


@final
@dataclass(frozen=True, slots=True)
class Noted:
    """A sentence on the texts to be released, without a word of them."""

    sentence: str


@final
@dataclass(frozen=True, slots=True)
class Ended:
    """The step is done."""

    step: Step


Event = Began | Advanced | Noted | Ended
Listener = Callable[[Event], None]


@final
class ReleaseWorkflow:
    """The steps of one release, in a folder that gets its place when all is done: see `folder_for`.

    Attributes:
        walk: the files and the answers, as they are now.
        folder: where everything is made.
        listener: hears what is done.
        judged: what the last attack found; None before the first, and where nothing can be measured.

    """

    def __init__(
        self,
        walk: Walk,
        folder: Path,
        listener: Listener = lambda event: None,
        *,
        ledger: Ledger | None = None,
    ) -> None:
        """``ledger`` is debited before the release."""
        self.walk, self.folder, self.listener, self._ledger = walk, folder, listener, ledger
        self.judged: Judged | None = None
        self._looked: tuple[Walk, Plan, Sequence[str]] | None = None
        self._own: tuple[Walk, OwnTexts] | None = None

    def learn(self) -> None:
        """Learn what is public and keep it, unless that was done before: a second try finds it."""
        if not self.walk.learned_before:
            with self._step("learn"):
                self.walk.learn(self.folder, self._progress())

    def find(self) -> list[Tried]:
        """Try the usual strengths; the weakest protection that passes is taken, else what was proposed before."""
        from publius.evaluation.steps import measuring

        found = self._tried(measuring.tried, self.walk.kept.tried)
        best = next((each.walk for each in found if each.judged.passed), self.walk.trying(len(found) + 1))
        self.walk = replace(best, choices=replace(best.choices, find=False))
        return found

    def measure(self) -> Judged:
        """Attack public texts that are protected as the release will be, in place of what was measured before."""
        from publius.evaluation.steps import measuring

        shutil.rmtree(self.folder / EVALUATION, ignore_errors=True)
        with self._step("measure"):
            found = measuring.measure(self.walk, self.folder, self._progress())
        limits = self.walk.limits
        why = self.own().no_evidence(limits.adds_at_most, limits.author_at_most, topics=self._topics)
        self.judged = replace(found, unlike=why)
        return self.judged

    @property
    def _topics(self) -> int:
        """Of how many equally common topics attackers on public texts are told."""
        older = self.walk.older
        return 0 if older is None else round(equally_common(Counter(older.topics_attacked).values()))

    def own(self) -> OwnTexts:
        """What the release would make of the texts: for the curator's eyes only."""
        if self._own is None or self._own[0] != self.walk:
            self._own = self.walk, self.walk.examine(self.walk.plan())
        return self._own[1]

    def alternatives(self) -> list[Tried]:
        """Alternatives after a FAIL, those that pass first. Empty where nothing is worth a try."""
        from publius.evaluation.steps import measuring

        other, strengths = measuring.instead(self.walk)
        if not strengths:
            return []
        ReleaseWorkflow(other, self.folder, self.listener).learn()
        with self._step("measure"):
            found = measuring.tried(other, self.folder, strengths, self._progress())
        return sorted(found, key=lambda each: not each.judged.passed)

    def again_at(self, strength: float) -> None:
        """Take another bound or epsilon after one was judged on the same texts: it is judged more strictly."""
        self.walk = self.walk.at(strength).trying(2 * self.walk.tries)

    @property
    def refused(self) -> Answer | None:
        """The verdict at which nothing is released unless somebody says so: see `publius.evaluation.verdict`.

        FAIL; and NO EVIDENCE where words are kept, since nothing bounds what tells any two documents apart then.
        """
        from publius.evaluation.verdict import FAIL, NO_EVIDENCE

        if self.judged is None or self.judged.passed:
            return None
        if self.judged.verdict == FAIL:
            return FAIL
        alone = not self.walk.kept.bounded and not self.walk.choices.without_evidence
        return NO_EVIDENCE if alone else None

    def warnings(self) -> Sequence[str]:
        """What the release would do to the texts, in sentences; `PolicyError` where it must not be."""
        if self._looked is None or self._looked[0] != self.walk:
            plan = self.walk.plan()
            own = self.own().warnings(topics=self._topics if self.judged is not None else 0)
            self._looked = self.walk, plan, [*self.walk.warnings(plan), *own]
        return self._looked[2]

    def release(self) -> RunSummary:
        """Release every document that can be read, after `warnings`, which are told as notes."""
        with self._step("release"):
            for sentence in self.warnings():
                self.listener(Noted(sentence))
            progress, done = self._progress(), 0

            def more(count: int) -> None:
                nonlocal done
                done += count
                progress("", done, self.walk.found.rows)

            more(0)
            plan = self._looked[1] if self._looked else self.walk.plan()
            return self.walk.release(self.folder, plan, more, processors(), self._ledger)

    def sign(self) -> None:
        """Write the page that someone signs, and the one for receivers."""
        with self._step("own"):
            self.own()
        with self._step("sign"):
            self.walk.sign(self.folder, self._ledger, self.own())

    def write_answers(self, choices: Choices | None = None) -> None:
        """Keep the answers, for their owner alone: words that were left out may stand in them."""
        with write_file(self.folder / CONFIG, 0o600) as stream:
            stream.write(config_text(choices or self.walk.choices).encode())

    def _tried(self, work: Callable[..., list[Tried]], strengths: Sequence[float]) -> list[Tried]:
        with self._step("measure"):
            return work(self.walk, self.folder, strengths, self._progress())

    @contextmanager
    def _step(self, step: Step) -> Iterator[None]:
        self.listener(Began(step))
        yield
        self.listener(Ended(step))

    def _progress(self) -> Callable[[str, int, int], None]:
        """Events of progress, not oftener than somebody can read."""
        said, before = 0.0, 0

        def progress(part: str, done: int, total: int) -> None:
            nonlocal said, before
            if (now := time.monotonic()) - said >= _EVERY or done >= total or total != before:
                said, before = now, total
                self.listener(Advanced(done, total))

        return progress


@contextmanager
def folder_for(output: Path, walk: Walk) -> Iterator[Path]:
    """A private folder with the public texts, which becomes ``output`` at the end, whole, or nothing is left of it.

    What was learned from them remembers where they lie then: a summary looks there for authors who are in both.
    """
    with new_folder(output, private=(PUBLIC, CONFIG, EVALUATION, OWN, SIGNOFF), release=True) as folder:
        if walk.older is not None:
            walk.older.write(folder / PUBLIC)
        yield folder
    from publius.files.reading import files_sha256
    from publius.vectors.learning.reference import remember_lasting_texts

    learned = output / PUBLIC / LEARNED
    if learned.exists():
        remember_lasting_texts(learned, files_sha256([learned]), "text")


# In a process of its own ----------------------------------------------------------------------------------


@final
@dataclass(frozen=True, slots=True)
class ReleaseResult:
    """What came of a release, or of what was measured before it.

    Attributes:
        folder: where all of it lies; None where nothing was released.
        manifest: of the release.
        skipped: position of each document that could not be read, and why.
        measured: None where nothing was.

    """

    folder: Path | None
    manifest: Mapping[str, Any] | None
    skipped: tuple[tuple[int, str], ...]
    measured: Measured | None


@final
class _Refused(Exception):
    """The verdict does not let anything leave."""


def learn_apart(walk: Walk, place: Path, listener: Listener) -> str | None:
    """Learn what is public; the name of it. Nothing of the texts to be released is read."""
    with _scratch(place, walk) as folder:
        ReleaseWorkflow(walk, folder, listener).learn()
    return walk.reference


def release_apart(
    walk: Walk, output: Path, kept: Choices, ledger: Path | None, after_fail: bool, listener: Listener
) -> ReleaseResult:
    """Measure, release, sign; ``kept`` are the answers as they are written down.

    Where the verdict says no, nothing is drawn and no folder appears, unless that was asked for.
    """
    from publius.evaluation.signed import measured_for
    from publius.evaluation.verdict import FAIL
    from publius.releases.signoff import judged, withdrawn

    check_new_folder(output)
    remove_leftovers(output)
    walk.check_authors()
    walk.check_apart()
    measured: Measured | None = None
    try:
        with folder_for(output, walk) as made:
            flow = ReleaseWorkflow(walk, made, listener, ledger=None if ledger is None else Ledger(ledger))
            flow.learn()
            if walk.measurable:
                flow.measure()
                found = measured_for(walk.plan().manifest(0), made / EVALUATION)
                why = flow.own().no_evidence(found.adds_at_most, found.author_at_most, topics=found.told)
                measured = withdrawn(found, why)
                if flow.refused is not None and not (after_fail and flow.refused == FAIL):
                    raise _Refused
            summary = flow.release()
            flow.sign()
            flow.write_answers(kept)
            if walk.measurable:
                found = measured_for(summary.manifest, made / EVALUATION)
                measured = judged(found, summary.manifest, made / RELEASE, flow.own())
    except _Refused:
        return ReleaseResult(None, None, (), measured)
    skipped = tuple((bad.position, bad.reason) for bad in summary.bad)
    return ReleaseResult(output, summary.manifest, skipped, measured)


def try_apart(walk: Walk, place: Path, listener: Listener) -> list[dict[str, Any]]:
    """Alternatives as records; the texts to be released are not read."""
    with _scratch(place, walk) as folder:
        return [each.record() for each in ReleaseWorkflow(walk, folder, listener).alternatives()]


@contextmanager
def _scratch(place: Path, walk: Walk) -> Iterator[Path]:
    """A private folder in ``place`` with the public texts, which goes at the end."""
    with private_folder(place) as folder:
        if walk.older is not None:
            walk.older.write(folder / PUBLIC)
        yield folder
