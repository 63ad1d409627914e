"""The page of the docs, from the folders of the evaluations. Every sentence about a result is made of its figures."""

from __future__ import annotations

import csv
import json
import os
import platform
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from io import StringIO
from pathlib import Path
from typing import Any

from publius.evaluation.adversaries import INFORMED, NOISY_LABEL, ORIGINALS, RETRIEVAL
from publius.evaluation.experiment import shown_cell
from publius.evaluation.retrieval import near_count
from publius.evaluation.runner import Results, read_results
from publius.evaluation.statistics import Interval
from publius.evaluation.summary import AdversaryResult, SummaryLine, as_records, summarize
from publius.evaluation.verdict import ADDS, knowing_topic

RESULTS = Path(__file__).with_name("results.json")
"""Every line of every run, with its intervals: what is not measured anew stays, and the page is made of it."""

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
[mechanisms](mechanisms.md) and by a [peer](peers.md), mldp-text. All figures are
shares, in [protection.csv](protection.csv) with 95 % intervals.

"""

HOW_TO_READ = f"""\
Authors are named by the strongest of the adversaries that were tried, who know other texts
of each author; by the *informed* one of them, who knows the mechanism's probabilities as well; and by the
*holder of the originals*, who has the mechanism and the exact text of every candidate and asks which was
released. All are told the topic unless the last section says otherwise. Where the holder's figure is exact, nobody
told as much can do better from one bag of these texts, language models included; a measured share may
exceed it by chance. "At least" marks an attack of the holder's, where more may be possible.

<details><summary>More: when a figure counts as hidden, found or kept</summary>

"The topic alone" is the share that someone who knows only each text's topic gets right. A
figure counts as *hidden* when the upper end of its 95 % interval is at most {TWICE:g} times that and at most
{ABOVE:g} above it, and as *found* when the lower end is above that; [verdicts](evaluation.md) are stricter, with
{ADDS:g} above what is known anyway. Intervals of who is told the topic allow for authors not seen. The topic counts
as *kept* when it is named at least {KEPT:g} times as often as unprotected; of whole newsgroup posts, as in unprotected
ones of 400 words. *Neighbours found* is the share of a text's ten nearest public texts that are among the 2 %
nearest to its release, beside that of the noisy label alone. Nats say how far the guarantee lets anyone tell two
texts apart.

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
    """A run that was made, as its row is kept: what is said of its texts, how it was made, and what it found.

    ``whole`` is that of unprotected texts as long as document mechanisms read them, where another was made for it.
    """

    corpus: str
    part: str
    facts: dict[str, Any]
    took: dict[str, Any]
    lines: list[SummaryLine]
    whole: Measured | None = None

    @property
    def shown(self) -> list[SummaryLine]:
        """Those of the table: of a run of whole texts the unprotected one."""
        return [self.clean] if self.part == WHOLE else self.lines

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
        return max(self.facts["floor"] or 0.0, self.facts["chance"]["author"])


def machine(seed: int) -> str:
    """Where and with what the figures were made."""
    return (
        f"{os.cpu_count()} processors, {platform.machine()}, Python {platform.python_version()}, seed {seed}"
    )


FACTS = ("unknown_texts", "authors", "floor", "chance", "size", "embeddings", "vocabulary_size")
"""Of a run: what the page says of its texts, beside how many topics there are."""


def rows(planned: Sequence[Run], work: Path) -> dict[str, Any]:
    """By name the rows of every run: those of the folders in ``work``, else those that are kept."""
    kept: dict[str, Any] = json.loads(RESULTS.read_text(encoding="utf-8"))
    for run in planned:
        timing = work / f"{run.name}.json"
        if timing.exists():
            took = json.loads(timing.read_text(encoding="utf-8"))
            found = read_results(work / run.name)
            kept[run.name] = row(run, took, found.facts, summarize(found), _beats(found))
    return kept


def row(
    run: Run,
    took: dict[str, Any],
    facts: dict[str, Any],
    lines: Sequence[SummaryLine],
    beats: dict[str, bool],
) -> dict[str, Any]:
    """A run as it is kept: ``told`` are the shares named by who is told each text's topic, with their intervals."""
    found = []
    for line, record in zip(lines, as_records(lines), strict=True):
        record["intervals"] = {
            f"{task}:{name}": [round(end, 6) for end in (each.accuracy.low, each.accuracy.high)]
            for (name, task), each in line.findings.items()
        }
        told = {
            name: knowing_topic(each, facts)
            for (name, task), each in line.findings.items()
            if task == "author"
        }
        record["told"] = {
            name: [round(end, 6) for end in (each.value, each.low, each.high)]
            for name, each in told.items()
            if each
        }
        record["beats_noisy_label"] = beats.get(line.name)
        found.append(record)
    said = {name: facts[name] for name in FACTS} | {"topics": len(facts["topics"])}
    took = took | {"version": facts["publius_version"]}
    return {"corpus": run.corpus, "part": run.part, "facts": said, "took": took, "lines": found}


def _beats(results: Results) -> dict[str, bool]:
    """By line whether every repeat found more neighbours than the noisy label would, where that could be measured."""
    found: dict[str, bool] = {}
    for each in results.rows:
        # Of few public texts the nearest 2 % are fewer than the ten that are wanted.
        if each.adversary == RETRIEVAL and near_count(each.extra["public"]) >= each.extra["neighbors"]:
            name = shown_cell(*each.setting)
            found[name] = found.get(name, True) and each.extra.get("beats_noisy_label", True)
    return found


def measured(kept: dict[str, Any]) -> list[Measured]:
    """The runs of kept rows, corpus by corpus."""
    done: dict[str, Measured] = {}
    for name, each in sorted(kept.items(), key=lambda item: item[1]["part"] != WHOLE):  # whole texts first
        lines = [_line(record) for record in each["lines"]]
        whole = done.get(Run(each["corpus"], WHOLE, Path(), ()).name)
        done[name] = Measured(each["corpus"], each["part"], each["facts"], each["took"], lines, whole)
    corpora = list(dict.fromkeys(each["corpus"] for each in kept.values()))
    return sorted((done[name] for name in kept), key=lambda each: corpora.index(each.corpus))


def _line(record: dict[str, Any]) -> SummaryLine:
    findings = {}
    for key, value in record.items():
        task, _, name = key.partition(":")
        if name and value is not None:
            low, high = record["intervals"].get(key, (value, value))
            extra: dict[str, Any] = {"exact": record["originals"] == "exact"} if name == ORIGINALS else {}
            if name == RETRIEVAL:
                extra["beats_noisy_label"] = record["beats_noisy_label"]
            if task == "author" and name in record["told"]:
                extra["told"] = Interval(*record["told"][name])
            findings[name, task] = AdversaryResult(name, task, Interval(value, low, high), 0.0, 0, extra)
    return SummaryLine(
        *(record[name] for name in ("mechanism", "epsilon", "bound", "repeats", "changed", "mean_distance")),
        record["earth_movers_distance"], findings,
        *(record[f"exponent_{name}"] for name in ("nearest", "same_topic", "same_topic_typical")),
    )  # fmt: skip


def page(done: Sequence[Measured], missing: Sequence[str] = ()) -> str:
    """The page: what holds and what does not, and how it was made."""
    parts = [HEAD, *_first_lines(done)]
    for corpus in dict.fromkeys(each.corpus for each in done):
        parts.append(_section(corpus, [each for each in done if each.corpus == corpus]))
    return "".join([*parts, "## How to read this\n\n", HOW_TO_READ, _how(done, missing)])


def _folded(summary: str, text: str) -> str:
    return f"<details><summary>More: {summary}</summary>\n\n{text.strip()}\n\n</details>\n\n"


# In short -------------------------------------------------------------------------------------------------


def _first_lines(done: Sequence[Measured]) -> list[str]:
    """What holds and what does not, over all corpora: of mechanisms for whole documents, and of those for words."""
    levels: dict[bool, list[tuple[Measured, SummaryLine]]] = {True: [], False: []}
    for each in done:
        for line in each.lines:
            found = line.of(ORIGINALS, "author")
            if not line.clean and found and (_told(found) or not _exact(line)):
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
    topic = f"the topic as kept in {kept} and as lost in {lost}; for the rest the texts are too few to say."
    if exact:
        holder = Counter(holder for holder, _, _ in verdicts)
        worst = max(_named(line.findings[ORIGINALS, "author"]).value / each.alone for each, line in found)
        near = [beats for _, line in found if (beats := _beats_label(line)) is not None]
        return (
            f"Someone who has every candidate's exact text and is told the topic names up to {worst:.2f} times as many "
            f"authors as the topic alone gives. The author counts as hidden from him in {holder['hidden']} of "
            f"{count} settings of {names} and as found in {holder['found']}, {topic} In {near.count(False)} of "
            f"{len(near)} a release tells no more about its neighbours than the *noisy label*, the topic randomised "
            "under the same bound."
        )
    finds = sum(holder == "found" for holder, _, _ in verdicts)
    others = sum(found == "hidden" for _, found, _ in verdicts)
    most = max(_named(line.findings[ORIGINALS, "author"]).value for _, line in found)
    untold = "" if all(_told(line.best("author")) for _, line in found) else " and were not told the topic"
    return (
        f"None of {count} settings of {names} is shown to hide the author from someone who has the candidates' "
        f"texts: our attack finds the author in {finds} (up to {most:.2f} of the authors), and a better "
        f"one may exist. From adversaries who know only other texts{untold}, the author counts as hidden in {others}, "
        f"{topic}"
    )


def _in_short(corpus: str, measured: Sequence[Measured]) -> str:
    """What holds and what does not where it is exact: a sentence for all settings of which the same is to be said."""
    said: dict[tuple[str, str, str], list[tuple[Measured, SummaryLine]]] = {}
    for each in measured:
        for line in each.shown:
            if not line.clean and _exact(line):
                said.setdefault(_verdicts(each, line), []).append((each, line))
    order = sorted(said, key=lambda key: (_ORDER.index(key[0]), _ORDER.index(key[1]), _ORDER.index(key[2])))
    facts = measured[0].facts
    head = (
        f"{facts['unknown_texts']:,} texts, {facts['authors']:,} candidate authors, "
        f"{facts['topics']} topics; the topic alone gives {measured[0].alone:.3f} of the authors.\n\n"
    )
    return head + "".join(f"- {_sentence(key, said[key])}\n" for key in order) + "\n" * bool(order)


_ORDER = ["hidden", "bounded", "kept", "unknown", "unsure", "found", "lost"]


def _verdicts(each: Measured, line: SummaryLine) -> tuple[str, str, str]:
    """Of the holder of the originals, of the adversaries who know other texts, of the topic."""
    limit = min(TWICE * each.alone, each.alone + ABOVE)
    originals, others = line.of(ORIGINALS, "author"), _all_but_originals(line)
    holder = _hidden(_named(originals), limit) if originals else "unknown"
    # With a better attack, or told the topic as the one who is the floor, he may find more.
    if originals and not (originals.extra["exact"] and _told(originals)) and holder != "found":
        holder = "unknown"
    topic, before = line.best("topic"), each.topic_before(line)
    found = _hidden(_named(others), limit) if others else "unknown"
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
    unsure, both = ", too few texts to say if hidden", holder == others == "unsure"
    topic_said = {
        "kept": f"the topic is kept ({topics})",
        "lost": f"the topic is not kept ({topics})",
        "unsure": f"too few texts to say if the topic is kept ({topics})",
        "unknown": "the topic was not measured",
    }[topic]
    holder_said = {
        "hidden": f"someone with every text and the topic names {originals}, which counts as hidden",
        "found": f"someone with every text and the topic finds the author ({originals})",
        "unsure": f"someone with every text and the topic names {originals}{'' if both else unsure}",
        "unknown": f"an attack by someone with the texts names {originals}, and a better one may be possible",
    }[holder]
    others_said = {
        "hidden": f"; the adversaries who know other texts do not find the author ({strongest})",
        "found": f"; adversaries who know other texts find the author ({strongest})",
        "unsure": f"; adversaries who know other texts name {strongest}{unsure}",
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
    values = sorted(_named(finding).value for finding in findings if finding)
    if not values:
        return "not measured"
    low, high = f"{values[0]:.3f}", f"{values[-1]:.3f}"
    return low if low == high else f"{low} to {high}"


def _exact(line: SummaryLine) -> bool:
    found = line.of(ORIGINALS, "author")
    return found is not None and bool(found.extra["exact"])


def _told(found: AdversaryResult | None) -> Interval | None:
    """The share named by one who is told each text's topic, as whoever has the floor to beat; None where not asked."""
    return None if found is None else found.extra.get("told")


def _named(found: AdversaryResult) -> Interval:
    """The share to compare with what the topic alone gives."""
    return _told(found) or found.accuracy


def _all_but_originals(line: SummaryLine) -> AdversaryResult | None:
    return max(_others(line, (ORIGINALS,)), key=lambda each: _named(each).value, default=None)


def _others(line: SummaryLine, without: Sequence[str]) -> list[AdversaryResult]:
    return [each for (name, task), each in line.findings.items() if task == "author" and name not in without]


# Tables ---------------------------------------------------------------------------------------------------


COLUMNS = (
    "mechanism",
    "words",
    "topic",
    "strongest classical",
    "informed",
    "holder of the originals",
    "holder told the topic",
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
        (each.corpus, *_row(each, line))
        for each in done
        if each.facts["unknown_texts"] >= ENOUGH
        for line in each.shown
    )
    for row in dict.fromkeys(rows):  # the unprotected line of two runs
        write(row)
    return out.getvalue()


def _section(corpus: str, measured: Sequence[Measured]) -> str:
    repeats = ", ".join(
        f"{each.part.replace('-', ' ')} {max(line.repeats for line in each.lines)}"
        for each in measured
        if each.part != WHOLE
    )
    facts = measured[0].facts
    small = (
        f"Blind guessing names {facts['chance']['author']:.3f} of the authors. "
        f"Repeats: {repeats}. {_no_better(measured)}"
    )
    shown = _folded("blind guessing, repeats", small) if facts["unknown_texts"] >= ENOUGH else ""
    return f"## {corpus}\n\n{_in_short(corpus, measured)}{shown}"


def _row(each: Measured, line: SummaryLine) -> tuple[str, ...]:
    classical = max(
        _others(line, (ORIGINALS, INFORMED)), key=lambda found: found.accuracy.value, default=None
    )
    originals = line.of(ORIGINALS, "author")
    by = f", {classical.adversary}" if classical else ""
    least = "" if originals is None or originals.extra["exact"] else "at least "
    size = "whole" if line.mechanism in DOCUMENTS else f"{each.facts['size']}"
    return (
        _name(line) + (f" ({_vectors(each)})" if line.clean else ""),
        size,
        _figure(line.best("topic")),
        _figure(classical) + by,
        _figure(line.of(INFORMED, "author")),
        least + _figure(originals),
        "" if (told := _told(originals)) is None else least + _between(told),
        _neighbors(line),
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
    facts = each.facts
    return f"{facts['embeddings']}, {facts['vocabulary_size']:,} words"


def _figure(found: AdversaryResult | None) -> str:
    return "" if found is None else _between(found.accuracy)


def _between(value: Interval) -> str:
    return f"{value.value:.3f} ({value.low:.3f} to {value.high:.3f})"


def _neighbors(line: SummaryLine) -> str:
    """The mean over repeats, and the mean of the limits of its interval."""
    if _beats_label(line) is None:
        return ""
    label = line.of(NOISY_LABEL, "neighbours")
    return _figure(line.of(RETRIEVAL, "neighbours")) + (
        f"; label {label.accuracy.value:.3f}" if label else ""
    )


def _beats_label(line: SummaryLine) -> bool | None:
    """Whether every repeat found more neighbours than the noisy label would; None where that is not known."""
    found = line.of(RETRIEVAL, "neighbours")
    return found.extra["beats_noisy_label"] if found else None


def _no_better(measured: Sequence[Measured]) -> str:
    """What finds no more neighbours than a noisy label would."""
    lines = [line for each in measured for line in each.lines]
    if found := [line for line in lines if not line.clean and _beats_label(line) is False]:
        return f"No better than the noisy label alone at finding neighbours: {'; '.join(_joined(found))}."
    if any(_beats_label(line) is not None for line in lines):
        return "All find more neighbours than the noisy label alone."
    return "Neighbours were not measured."


# How ------------------------------------------------------------------------------------------------------


def _made(done: Sequence[Measured]) -> str:
    """Which rows were made when and by which version: those that were not measured anew are of an earlier one."""
    by: dict[str, list[Measured]] = {}
    for each in done:
        by.setdefault(f"Publius {each.took['version']} on {each.took['made']}", []).append(each)
    said = []
    for how, these in by.items():
        apart = {each.part for each in done if each not in these}
        names = dict.fromkeys(
            f"{each.corpus} {each.part}" if each.part in apart else each.part for each in these
        )
        told = any(_told(finding) for each in these for finding in each.clean.findings.values())
        said.append(f"{', '.join(names)} by {how}{'' if told else ', adversaries not told the topic'}")
    return f"{'; '.join(said)}. All on {' and '.join(dict.fromkeys(each.took['on'] for each in done))}."


def _how(done: Sequence[Measured], missing: Sequence[str]) -> str:
    peer = next((line.split()[0] for line in _pins() if line.startswith("mldp-text==")), "mldp-text").replace(
        "==", " "
    )
    left = f" Not measured yet: {', '.join(missing)}." if missing else ""
    return f"""## How it was made

{_made(done)}{left} One command measures everything and makes this page.

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
