"""The page of the docs, from the folders of the evaluations. Every sentence about a result is made of its figures."""

from __future__ import annotations

import csv
import json
import os
import platform
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from io import StringIO
from pathlib import Path
from statistics import fmean
from typing import Any

from publius.evaluation.adversaries import INFORMED, ORIGINALS, RETRIEVAL
from publius.evaluation.retrieval import near_count
from publius.evaluation.rows import ResultRow
from publius.evaluation.runner import Results, read_results
from publius.evaluation.statistics import Interval
from publius.evaluation.summary import AdversaryResult, SummaryLine, as_records, summarize

TWICE, ABOVE = 2.0, 0.1
"""Hidden is up to so many times what the topic alone gives, and at most so much above it."""

KEPT = 0.9
"""The share of the unprotected topic accuracy that counts as kept."""

DOCUMENTS = ("prototype", "position")
WHOLE = "whole"

PLACE = "python:benchmarks.protection.peer:"
ENOUGH = 50
"""Texts from which on a corpus is in the table; of fewer the verdicts are shown."""

HEAD = """# Protection, measured

Attacks on fan fiction (*authors20*, *authors50*) and newsgroup posts, protected by our
[mechanisms](mechanisms.md) and by a [peer](peers.md), mldp-text. Figures are shares; all of
them are in [protection.csv](protection.csv), with their 95 % intervals.

"""

HOW_TO_READ = f"""\
Authors are named by the strongest of the adversaries that were tried, who know other texts
of each author; by the *informed* one of them, who knows the mechanism's probabilities as well; and by the
*holder of the originals*, who has the mechanism and the exact text of every candidate and asks which was
released. Where the holder's figure is exact, nobody can do better on these texts, language models included;
the measured share of another adversary may exceed it by chance, within its interval. "At least" marks an
attack of the holder's, where more may be possible.

<details><summary>More: when a figure counts as hidden, found or kept</summary>

"The topic alone" is the share that someone who knows only each text's topic gets right. A
figure counts as *hidden* when the upper end of its 95 % interval is at most {TWICE:g} times that and at most
{ABOVE:g} above it, and as *found* when the lower end is above it. The topic counts as *kept* when it is named
at least {KEPT:g} times as often as unprotected; where the unprotected line is cut much shorter than what document
mechanisms read, as for newsgroups, as in unprotected posts of 400 words. *Neighbours found* is the share of a
text's ten nearest public texts that are among the 2 % nearest to its release, beside that of the noisy label
alone. Nats say how far the guarantee lets anyone tell two texts apart.

</details>

"""


@dataclass(frozen=True)
class Run:
    """One evaluation: of a corpus, one part of the table, with its options; its folder lies in the work folder."""

    corpus: str
    part: str
    path: Path
    options: tuple[object, ...]

    @property
    def name(self) -> str:
        """Of its folder."""
        return f"{self.corpus}-{self.part}"


@dataclass(frozen=True)
class Measured:
    """A run that was made, with what it found and how long it took.

    ``whole`` is that of unprotected texts as long as document mechanisms read them, where another was made for it.
    """

    run: Run
    folder: Path
    took: dict[str, Any]
    whole: Measured | None = None

    @cached_property
    def results(self) -> Results:
        """All rows."""
        return read_results(self.folder)

    @cached_property
    def lines(self) -> list[SummaryLine]:
        """A line a setting, summed up over repeats."""
        return summarize(self.results)

    @property
    def shown(self) -> list[SummaryLine]:
        """Those of the table: of a run of whole texts the unprotected one."""
        return [self.clean] if self.run.part == WHOLE else self.lines

    @property
    def clean(self) -> SummaryLine:
        """The unprotected one."""
        return next(line for line in self.lines if line.clean)

    def topic_before(self, line: SummaryLine) -> AdversaryResult | None:
        """The best topic classifier on unprotected texts, as much of them as the line's mechanism reads."""
        clean = self.whole.clean if self.whole and line.mechanism in DOCUMENTS else self.clean
        return clean.best("topic")

    @property
    def alone(self) -> float:
        """Share of authors that the topic alone gives, or blind guessing where that is more."""
        return max(self.results.facts["floor"] or 0.0, self.results.facts["chance"]["author"])

    @property
    def processor_seconds(self) -> float:
        """Of all cells."""
        return sum(sum(found["seconds"].values()) for _, found in self.results.details)


def machine(seed: int) -> str:
    """Where and with what the figures were made."""
    return (
        f"{os.cpu_count()} processors, {platform.machine()}, Python {platform.python_version()}, seed {seed}"
    )


def read(planned: Sequence[Run], work: Path) -> list[Measured]:
    """The runs that were made, in the order of the plan."""
    done: list[Measured] = []
    for run in sorted(planned, key=lambda run: run.part != WHOLE):  # those of whole texts first
        timing = work / f"{run.name}.json"
        if timing.exists():
            whole = next((m for m in done if m.run.corpus == run.corpus and m.run.part == WHOLE), None)
            done.append(Measured(run, work / run.name, json.loads(timing.read_text()), whole))
    done.sort(key=lambda measured: planned.index(measured.run))
    return done


def results(done: Sequence[Measured]) -> str:
    """Every line of every table, as JSON."""
    return json.dumps({each.run.name: as_records(each.lines) for each in done}, indent=1) + "\n"


def page(planned: Sequence[Run], done: Sequence[Measured], made_on: str) -> str:
    """The page: what holds and what does not, and how it was made."""
    made = {each.run.name for each in done}
    missing = [run.name for run in planned if run.name not in made]
    corpora = list(dict.fromkeys(run.corpus for run in planned if run.name in made))
    parts = [HEAD, *_first_lines(done)]
    for corpus in corpora:
        parts.append(_section(corpus, [each for each in done if each.run.corpus == corpus]))
    return "".join([*parts, "## How to read this\n\n", HOW_TO_READ, _how(done, missing, made_on)])


def _folded(summary: str, text: str) -> str:
    return f"<details><summary>More: {summary}</summary>\n\n{text.strip()}\n\n</details>\n\n"


# In short -------------------------------------------------------------------------------------------------


def _first_lines(done: Sequence[Measured]) -> list[str]:
    """What holds and what does not, over all corpora: of mechanisms for whole documents, and of those for words."""
    levels: dict[bool, list[tuple[Measured, SummaryLine]]] = {True: [], False: []}
    for each in done:
        for line in each.lines:
            if not line.clean and line.of(ORIGINALS, "author"):
                levels[_exact(line)].append((each, line))
    return [
        f"**{'Whole documents' if exact else 'Word by word'}.** {_over_all(found, exact=exact)}\n\n"
        for exact, found in levels.items()
        if found
    ]


def _over_all(found: Sequence[tuple[Measured, SummaryLine]], *, exact: bool) -> str:
    verdicts = [_verdicts(each, line) for each, line in found]
    count, kept = len(found), sum(topic == "kept" for _, _, topic in verdicts)
    lost = sum(topic == "lost" for _, _, topic in verdicts)
    names = ", ".join(dict.fromkeys(_name(line).partition(", ")[0] for _, line in found))
    near = [_retrieval(each, line) for each, line in found]
    trivial = sum(_trivial(rows) for rows in near)
    topic = (
        f"The topic is kept in {kept} and not kept in {lost}; for the others there are too few texts to say. In "
        f"{trivial} of the {sum(map(bool, near))} where it was measured, a release tells no more about what else "
        "is near it than the *noisy label* alone, the topic randomised under the same bound."
    )
    both = sum(holder == "hidden" and topic == "kept" for holder, _, topic in verdicts)
    if exact:
        hidden = sum(holder == "hidden" for holder, _, _ in verdicts)
        worst = max(_over_alone(each, line) for each, line in found)
        return (
            f"Of {count} settings of {names}, {hidden} hide the author from everybody, even from someone who has "
            f"the exact text of every candidate and names at most {worst:.2f} times as many authors as the topic alone "
            f"gives. {topic} The author is hidden and the topic kept in {both}."
        )
    finds = sum(holder == "found" for holder, _, _ in verdicts)
    others = sum(found == "hidden" for _, found, _ in verdicts)
    most = max(line.findings[ORIGINALS, "author"].accuracy.value for _, line in found)
    return (
        f"Of {count} settings of {names}, none is shown to hide the author from someone who has the candidates' "
        f"texts: our attack finds the author in {finds} (up to {most:.2f} of the authors), and for the others a better "
        f"one may exist. Against adversaries who know only other texts, {others} are shown to hide the author. {topic}"
    )


def _over_alone(each: Measured, line: SummaryLine) -> float:
    return line.findings[ORIGINALS, "author"].accuracy.value / each.alone


def _in_short(corpus: str, measured: Sequence[Measured]) -> str:
    """What holds and what does not: a sentence for all settings of which the same is to be said."""
    said: dict[tuple[str, str, str], list[tuple[Measured, SummaryLine]]] = {}
    for each in measured:
        for line in each.shown:
            if not line.clean:
                said.setdefault(_verdicts(each, line), []).append((each, line))
    order = sorted(said, key=lambda key: (_ORDER.index(key[0]), _ORDER.index(key[1]), _ORDER.index(key[2])))
    facts = measured[0].results.facts
    head = (
        f"{facts['unknown_texts']:,} texts, {facts['authors']:,} candidate authors, "
        f"{len(facts['topics'])} topics; the topic alone gives {measured[0].alone:.3f} of the authors.\n\n"
    )
    lines = [f"- {_sentence(key, said[key])}\n" for key in order]
    exact = [line for key, line in zip(order, lines, strict=True) if _exact(said[key][0][1])]
    return head + "".join(exact) + "\n" * bool(exact)


_ORDER = ["hidden", "bounded", "kept", "unknown", "unsure", "found", "lost"]


def _verdicts(each: Measured, line: SummaryLine) -> tuple[str, str, str]:
    """Of the holder of the originals, of the adversaries who know other texts, of the topic."""
    limit = min(TWICE * each.alone, each.alone + ABOVE)
    originals, others = line.of(ORIGINALS, "author"), _all_but_originals(line)
    holder = _hidden(originals.accuracy, limit) if originals else "unknown"
    if originals and not originals.extra["exact"] and holder != "found":
        holder = "unknown"
    topic, before = line.best("topic"), each.topic_before(line)
    found = _hidden(others.accuracy, limit) if others else "unknown"
    kept = "unknown"
    if topic and before:
        least = KEPT * before.accuracy.value
        kept = "kept" if topic.accuracy.low >= least else "lost" if topic.accuracy.high < least else "unsure"
    return (
        holder,
        "bounded" if holder == "hidden" else found,
        kept,
    )  # who is hidden from him is hidden from all


def _hidden(found: Interval, limit: float) -> str:
    return "hidden" if found.high <= limit else "found" if found.low > limit else "unsure"


def _sentence(key: tuple[str, str, str], settings: Sequence[tuple[Measured, SummaryLine]]) -> str:
    holder, others, topic = key
    named = "; ".join(_joined([line for _, line in settings]))
    originals = _range(line.of(ORIGINALS, "author") for _, line in settings)
    strongest = _range(_all_but_originals(line) for _, line in settings)
    topics = _range(line.best("topic") for _, line in settings)
    topic_said = {
        "kept": f"the topic is kept ({topics})",
        "lost": f"the topic is not kept ({topics})",
        "unsure": f"there are too few texts to say whether the topic is kept ({topics})",
        "unknown": "the topic was not measured",
    }[topic]
    least = "" if all(_exact(line) for _, line in settings) else "at least "
    holder_said = {
        "hidden": f"nobody finds the author, whatever they know: someone with every text names {originals}",
        "found": f"someone with the texts names {least}{originals} of the authors",
        "unsure": f"someone with the texts names {originals} of the authors, with too few texts to say more",
        "unknown": f"an attack by someone with the texts names {originals}, and a better one may be possible",
    }[holder]
    others_said = {
        "hidden": f"; the adversaries who know other texts do not find the author ({strongest})",
        "found": f"; adversaries who know other texts find the author ({strongest})",
        "unsure": f"; adversaries who know other texts name {strongest}, but the texts are too few to say "
        "if that is hidden",
        "unknown": "",
        "bounded": "",
    }[others]
    return f"{named}: {topic_said}; {holder_said}{others_said}."


def _joined(lines: Sequence[SummaryLine]) -> list[str]:
    """Settings of one mechanism in one go."""
    found: dict[str, list[str]] = {}
    for line in lines:
        mechanism, _, at = _name(line).partition(", ")
        found.setdefault(mechanism, []).append(at)
    return [f"{mechanism}, {_listed(settings)}" for mechanism, settings in found.items()]


def _listed(settings: Sequence[str]) -> str:
    kind = settings[0].split()[0]
    *most, last = (each.removeprefix(f"{kind} ") for each in settings)
    return f"{kind} {', '.join(most)} and {last}" if most else f"{kind} {last}"


def _range(findings: Iterable[AdversaryResult | None]) -> str:
    values = sorted(finding.accuracy.value for finding in findings if finding)
    if not values:
        return "not measured"
    low, high = f"{values[0]:.3f}", f"{values[-1]:.3f}"
    return low if low == high else f"{low} to {high}"


def _exact(line: SummaryLine) -> bool:
    found = line.of(ORIGINALS, "author")
    return found is not None and bool(found.extra["exact"])


def _all_but_originals(line: SummaryLine) -> AdversaryResult | None:
    return _best(line, (ORIGINALS,))


def _best(line: SummaryLine, without: Sequence[str]) -> AdversaryResult | None:
    found = [each for (name, task), each in line.findings.items() if task == "author" and name not in without]
    return max(found, key=lambda each: each.accuracy.value, default=None)


# Tables ---------------------------------------------------------------------------------------------------


COLUMNS = (
    "mechanism",
    "words",
    "topic",
    "strongest classical",
    "informed",
    "holder of the originals",
    "neighbours found",
    "nats, nearest / median of the topic",
    "nats, any two",
)


def tables(done: Sequence[Measured]) -> str:
    """Every figure with its interval, of the corpora that are large enough, as CSV."""
    out = StringIO()
    write = csv.writer(out, lineterminator="\n").writerow
    write(("corpus", *COLUMNS))
    rows = (
        (each.run.corpus, *_row(each, line))
        for each in done
        if each.results.facts["unknown_texts"] >= ENOUGH
        for line in each.shown
    )
    for row in dict.fromkeys(rows):  # the unprotected line of two runs
        write(row)
    return out.getvalue()


def _section(corpus: str, measured: Sequence[Measured]) -> str:
    repeats = ", ".join(
        f"{each.run.part.replace('-', ' ')} {max(line.repeats for line in each.lines)}"
        for each in measured
        if each.run.part != WHOLE
    )
    facts = measured[0].results.facts
    small = (
        f"Blind guessing names {facts['chance']['author']:.3f} of the authors, the topic alone "
        f"{measured[0].alone:.3f}. Repeats: {repeats}. {_no_better(measured)}"
    )
    shown = _folded("blind guessing, repeats", small) if facts["unknown_texts"] >= ENOUGH else ""
    return f"## {corpus}\n\n{_in_short(corpus, measured)}{shown}"


def _row(each: Measured, line: SummaryLine) -> tuple[str, ...]:
    classical = _best(line, (ORIGINALS, INFORMED))
    originals = line.of(ORIGINALS, "author")
    by = f", {classical.adversary}" if classical else ""
    least = "" if originals is None or originals.extra["exact"] else "at least "
    size = "whole" if line.mechanism in DOCUMENTS else f"{each.results.facts['size']}"
    return (
        _name(line) + (f" ({_vectors(each)})" if line.clean else ""),
        size,
        _figure(line.best("topic")),
        _figure(classical) + by,
        _figure(line.of(INFORMED, "author")),
        least + _figure(originals),
        _neighbors(_retrieval(each, line)),
        " / ".join(f"{value:,.3g}" for value in (line.same_topic, line.typical) if value is not None),
        "" if line.bound is None else f"{line.bound:,.4g}",
    )


def _name(line: SummaryLine) -> str:
    if line.clean:
        return "unprotected"
    mechanism = line.mechanism
    if mechanism.startswith(PLACE):
        mechanism = f"mldp-text {mechanism.removeprefix(PLACE).lower()}"
    if line.mechanism in DOCUMENTS:
        return f"{mechanism}, bound {line.bound:g}"
    return f"{mechanism}, epsilon {line.epsilon:g}"


def _vectors(each: Measured) -> str:
    facts = each.results.facts
    return f"{facts['embeddings']}, {facts['vocabulary_size']:,} words"


def _figure(found: AdversaryResult | None) -> str:
    if found is None:
        return ""
    value = found.accuracy
    return f"{value.value:.3f} ({value.low:.3f} to {value.high:.3f})"


def _retrieval(each: Measured, line: SummaryLine) -> list[ResultRow]:
    setting = (line.mechanism, line.epsilon, line.bound)
    found = [row for row in each.results.rows if row.adversary == RETRIEVAL and row.setting == setting]
    # Of few public texts the nearest 2 % are fewer than the ten that are wanted.
    return [row for row in found if near_count(row.extra["public"]) >= row.extra["neighbors"]]


def _neighbors(rows: Sequence[ResultRow]) -> str:
    """The mean over repeats, and the mean of the limits of its interval."""
    if not rows:
        return ""
    value, low, high = (fmean(getattr(row, name) for row in rows) for name in ("accuracy", "low", "high"))
    label = (
        f"; label {fmean(row.extra['noisy_label'] for row in rows):.3f}"
        if "noisy_label" in rows[0].extra
        else ""
    )
    return f"{value:.3f} ({low:.3f} to {high:.3f}){label}"


def _trivial(rows: Sequence[ResultRow]) -> bool:
    """Whether a repeat found no more neighbours than the noisy label would."""
    return not all(row.extra.get("beats_noisy_label", True) for row in rows)


def _no_better(measured: Sequence[Measured]) -> str:
    """What finds no more neighbours than a noisy label would."""
    found = []
    for each in measured:
        for line in each.lines:
            rows = _retrieval(each, line)
            if not line.clean and _trivial(rows):
                found.append(line)
    if not found:
        return (
            "All find more neighbours than the noisy label alone."
            if any(_retrieval(each, each.clean) for each in measured)
            else "Neighbours were not measured: there are too few public texts."
        )
    return f"No better than the noisy label alone at finding neighbours: {'; '.join(_joined(found))}."


# How ------------------------------------------------------------------------------------------------------


def _how(done: Sequence[Measured], missing: Sequence[str], made_on: str) -> str:
    clock = sum(each.took["seconds"] for each in done)
    work = sum(each.processor_seconds for each in done)
    versions = sorted({each.results.facts["publius_version"] for each in done})
    dates = sorted({each.took["made"] for each in done if "made" in each.took})
    peer = next((line.split()[0] for line in _pins() if line.startswith("mldp-text==")), "mldp-text").replace(
        "==", " "
    )
    calls = {each.took.get("call") for each in done}
    split = f" This time it was run part by part, in {len(calls)} calls." if len(calls) > 1 else ""
    left = f" Not measured yet: {', '.join(missing)}." if missing else ""
    return f"""## How it was made

Publius {", ".join(versions)} on {" and ".join(dates) or "one day"}; {made_on}. The runs took {
        work / 60:.0f} minutes of processor time, {
        clock / 60:.0f} minutes by the clock, on a machine that was busy with
other work.{left} One command in a checkout measures everything and makes this page.{split}

<!-- not run: the measurement itself, an hour or so, on texts that are not part of the project -->
```console
$ python -m benchmarks.protection DATA --peer .venv-peer/bin/python
```

<details><summary>More: candidates and peers</summary>

The topic metrics and references were learned from other, public texts of the same kind. Candidates of newsgroups are
the authors with two or more posts on one topic: every second one is attacked, and the posts of all others teach topics.
825 candidates are attacked by fewer adversaries. {
        peer
    } meets the first 100 words of a story and, of newsgroups,
the posts of four candidates a topic (*newsgroups-sample*), on its own vectors: *calibrated* is the paper's mechanism,
*elliptic* its Mahalanobis.

</details>
"""


def _pins() -> list[str]:
    return (Path(__file__).parents[2] / "requirements" / "peer.txt").read_text(encoding="utf-8").splitlines()
