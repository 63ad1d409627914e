"""Rows summed up over repeats: for each mechanism and epsilon the strongest adversary, the topic, the paper's table."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from statistics import fmean, median
from typing import Any, Final, final

import numpy as np

from publius.evaluation.adversaries import LINKAGE, ORIGINALS, shown_place
from publius.evaluation.experiment import shown_cell
from publius.evaluation.rows import CLEAN, ResultRow, Setting
from publius.evaluation.runner import Results
from publius.evaluation.statistics import Interval, bootstrap_mean
from publius.noise.randomness import seeded_rng
from publius.settings import names_of

PAPER: Final = {
    "SRauth": ("sr-nearest", "author"),
    "SRtopic": ("sr-nearest", "topic"),
    "DRauth": ("koppel", "author"),
    "DRtopic": ("fasttext", "topic"),
}
"""The columns of the paper's Table 1; DRtopic is the linear classifier where fastText was not run."""


@final
@dataclass(frozen=True, slots=True)
class AdversaryResult:
    """One adversary over all repeats of a mechanism at an epsilon.

    ``shares`` are, text by text, how often it was named: for authors and topics. ``blind`` is, for authors alone, how
    often whatever names authors as often but without regard to the text names it. ``told`` and ``told_blind`` are the
    same of an adversary who knows each text's topic, too; the same values where he knew it anyway, or there are no
    topics.
    ``accuracy`` is the mean over repeats with a bootstrap interval over documents; for a single repeat the exact
    binomial one. ``correct`` is the mean number of texts named, of ``total``; ``extra`` as in the first row.
    """

    adversary: str
    task: str
    accuracy: Interval
    correct: float
    total: int
    extra: dict[str, Any] = field(default_factory=dict)
    shares: tuple[float, ...] = field(default=(), repr=False)
    blind: tuple[float, ...] = field(default=(), repr=False)
    told: tuple[float, ...] = field(default=(), repr=False)
    told_blind: tuple[float, ...] = field(default=(), repr=False)


@final
@dataclass(frozen=True, slots=True)
class SummaryLine:
    """A line of the table: one mechanism at one epsilon.

    Attributes:
        mechanism: its name; "clean" for unprotected texts.
        epsilon: None for unprotected texts.
        bound: nats between any two documents, None where nothing bounds them.
        repeats: how many there were.
        changed: share of changed words, mean over repeats.
        mean_distance: mean displacement of a word.
        earth_movers: mean Earth Mover's distance to the original.
        findings: by adversary and task.
        nearest: median over texts of epsilon*N*E to the nearest other text, in nats, or of what a document mechanism
            allows between the two; None where nothing is promised.
        same_topic: the same to the nearest text of the same topic.
        typical: the same to the median text of the same topic.

    """

    mechanism: str
    epsilon: float | None
    bound: float | None
    repeats: int
    changed: float | None
    mean_distance: float | None
    earth_movers: float
    findings: dict[tuple[str, str], AdversaryResult]
    nearest: float | None
    same_topic: float | None
    typical: float | None

    @property
    def clean(self) -> bool:
        """Whether the texts are unprotected."""
        return self.mechanism == CLEAN

    @property
    def name(self) -> str:
        """For people: the mechanism and what it was asked for."""
        return shown_cell(self.mechanism, self.epsilon, self.bound)

    @property
    def strength(self) -> float:
        """The bound between any two documents where there is one, else epsilon; 0 for unprotected texts."""
        return self.bound or self.epsilon or 0.0

    def of(self, adversary: str, task: str) -> AdversaryResult | None:
        """The result of one adversary, if it was run."""
        return self.findings.get((adversary, task))

    def best(self, task: str) -> AdversaryResult | None:
        """The adversary, or classifier, with the highest mean accuracy; of equals, the first by name.

        The holder of the originals is not among them: he has what no other has.
        """
        found = [
            finding for (name, asked), finding in self.findings.items() if asked == task and name != ORIGINALS
        ]
        return max(found, key=lambda finding: finding.accuracy.value, default=None)

    def paper(self, column: str) -> AdversaryResult | None:
        """A column of the paper's table; where its adversary was run with parameters only, the first of those."""
        adversary, task = PAPER[column]
        given = (each for (name, asked), each in self.findings.items()
                 if asked == task and name.startswith(adversary + ":"))  # fmt: skip
        found = self.findings.get((adversary, task)) or next(given, None)
        return found or (self.of("linear", "topic") if column == "DRtopic" else None)


def summarize(results: Results) -> list[SummaryLine]:
    """The lines of ``results``: unprotected texts first, then by mechanism with falling epsilon."""
    order = {
        name: place for place, name in enumerate((CLEAN, *names_of(results.facts["request"]["mechanisms"])))
    }
    settings = sorted(
        {row.setting for row in results.rows}, key=lambda s: (order[s[0]], -(s[1] or 0.0), -(s[2] or 0.0))
    )
    return [_line(setting, results) for setting in settings]


def _line(setting: Setting, results: Results) -> SummaryLine:
    rows = [row for row in results.rows if row.setting == setting]
    details = [found for _, found in results.details if tuple(found["stated"]) == setting]
    promised = all(found["promised"] for found in details)
    exponents = [
        _exponent(results, setting[1], which, details[0]) if promised else None
        for which in ("nearest", "same_topic", "typical_same_topic")
    ]
    first = {row.repeat: row for row in rows}.values()
    return SummaryLine(
        *setting,
        len(first),
        _mean([row.changed for row in first]),
        _mean([row.mean_distance for row in first]),
        fmean(found["earth_movers"] for found in details),
        _findings(rows),
        *exponents,
    )


def _mean(values: Sequence[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return fmean(known) if known else None


def _exponent(results: Results, epsilon: float | None, which: str, found: dict[str, Any]) -> float | None:
    """Median nats of a kind: those of its cell, or what the distances of the texts say."""
    if found["exponents"] is not None:
        stated: float | None = found["exponents"][which]
        return stated
    near = results.neighborhood
    if epsilon is None or near is None:
        return None
    exponents = near.exponents(epsilon, results.facts["size"], which)
    return median(exponents) if exponents else None


def _findings(rows: Sequence[ResultRow]) -> dict[tuple[str, str], AdversaryResult]:
    found: dict[tuple[str, str], list[ResultRow]] = {}
    for row in rows:
        if row.adversary != LINKAGE:  # a table of its own
            found.setdefault((row.adversary, row.task), []).append(row)
    ordered = sorted(found, key=lambda key: (key[1], shown_place(key[0])))
    return {key: _finding(found[key]) for key in ordered}


def _finding(rows: Sequence[ResultRow]) -> AdversaryResult:
    row = rows[0]
    if len(rows) == 1 or not row.hits:  # what was computed and not counted has its interval already
        values = (fmean(getattr(each, name) for each in rows) for name in ("accuracy", "low", "high"))
        accuracy = Interval(*values)
    else:
        hits = np.array([[mark == "1" for mark in each.hits] for each in rows])
        accuracy = bootstrap_mean(hits, seeded_rng(len(rows)))
    correct = fmean(each.correct for each in rows)
    extra = {name: value for name, value in row.extra.items() if name not in _BY_TEXT}
    by_text = [_over(rows, each) for each in (_shares, _blind, _told, _told_blind)]
    return AdversaryResult(row.adversary, row.task, accuracy, correct, row.total, extra, *by_text)


_BY_TEXT: Final = ("shares", "blind", "told", "told_blind")


def _blind(row: ResultRow) -> Sequence[float]:
    found: Sequence[float] = row.extra.get("blind", ())
    return found


def _told(row: ResultRow) -> Sequence[float]:
    found: Sequence[float] = row.extra.get("told") or _shares(row)
    return found


def _told_blind(row: ResultRow) -> Sequence[float]:
    found: Sequence[float] = row.extra.get("told_blind") or _blind(row)
    return found


def _shares(row: ResultRow) -> Sequence[float]:
    """How often each text was named: computed, or counted."""
    found: Sequence[float] = row.extra.get("shares", ())
    return found or [float(mark == "1") for mark in row.hits]


def _over(rows: Sequence[ResultRow], values: Callable[[ResultRow], Sequence[float]]) -> tuple[float, ...]:
    """The mean over repeats, text by text; of topics how often each was named alone, of other tasks none."""
    if rows[0].task != "author" and (rows[0].task != "topic" or values is not _shares):
        return ()
    return tuple(np.mean([values(row) for row in rows], axis=0).tolist())


def as_records(lines: Sequence[SummaryLine]) -> list[dict[str, Any]]:
    """The table as flat records: what ``table.csv`` holds and ``--json`` prints."""
    keys = sorted(
        {key for line in lines for key in line.findings}, key=lambda key: (key[1], shown_place(key[0]))
    )
    return [_record(line, keys) for line in lines]


def _record(line: SummaryLine, keys: Sequence[tuple[str, str]]) -> dict[str, Any]:
    strongest, topic = line.best("author"), line.best("topic")
    originals = line.of(ORIGINALS, "author")
    return {
        "mechanism": line.mechanism,
        "epsilon": line.epsilon,
        **{key: value for column in PAPER for key, value in _counted(column, line.paper(column)).items()},
        **_best("strongest", strongest),
        **_best("topic", topic),
        **_best("originals", originals),
        **(_best("sensitive", found) if (found := line.best("sensitive")) else {}),
        "originals": None if originals is None else "exact" if originals.extra["exact"] else "at least",
        "bound": line.bound,
        "changed": _rounded(line.changed),
        "mean_distance": _rounded(line.mean_distance),
        "earth_movers_distance": _rounded(line.earth_movers),
        "exponent_nearest": _rounded(line.nearest),
        "exponent_same_topic": _rounded(line.same_topic),
        "exponent_same_topic_typical": _rounded(line.typical),
        "repeats": line.repeats,
        **{
            f"{task}:{name}": _rounded(f.accuracy.value) if (f := line.of(name, task)) else None
            for name, task in keys
        },
    }


def _counted(column: str, found: AdversaryResult | None) -> dict[str, Any]:
    """A column of the paper's table: the mean number of texts named, and the 95 % interval in texts."""
    low, high = (None, None) if found is None else _in_texts(found)
    return {
        column: None if found is None else _rounded(found.correct),
        f"{column}_low": _rounded(low),
        f"{column}_high": _rounded(high),
    }


def _in_texts(found: AdversaryResult) -> tuple[float, float]:
    return found.accuracy.low * found.total, found.accuracy.high * found.total


def _best(label: str, found: AdversaryResult | None) -> dict[str, Any]:
    if found is None:
        return {label: None, f"{label}_accuracy": None, f"{label}_low": None, f"{label}_high": None}
    accuracy = found.accuracy
    return {
        label: found.adversary,
        f"{label}_accuracy": _rounded(accuracy.value),
        f"{label}_low": _rounded(accuracy.low),
        f"{label}_high": _rounded(accuracy.high),
    }


def _rounded(value: float | None) -> float | None:
    return None if value is None else round(value, 6)


def as_csv(records: Sequence[dict[str, Any]]) -> bytes:
    """The table as CSV; unprotected texts have the epsilon "none"."""
    stream = io.StringIO()
    writer = csv.DictWriter(stream, list(records[0]), lineterminator="\n")
    writer.writeheader()
    for record in records:
        writer.writerow({**record, "epsilon": "none" if record["epsilon"] is None else record["epsilon"]})
    return stream.getvalue().encode()


def as_latex(lines: Sequence[SummaryLine]) -> bytes:
    """The paper's table in LaTeX: mean of correct texts with the 95 % interval beside it, a line a mechanism."""
    rows = [" & ".join(("", *PAPER)) + r" \\ \hline"]
    for line in lines:
        cells = [line.paper(column) for column in PAPER]
        rows.append(" & ".join((_escaped(line.name), *map(_latex_cell, cells))) + r" \\")
    body = "\n".join(rows)
    return f"\\begin{{tabular}}{{l{'c' * len(PAPER)}}}\n{body}\n\\end{{tabular}}\n".encode()


def _latex_cell(found: AdversaryResult | None) -> str:
    if found is None:
        return "--"
    low, high = _in_texts(found)
    return f"{found.correct:.1f} [{low:.1f}, {high:.1f}]"


def _escaped(name: str) -> str:
    return "".join(f"\\{each}" if each in "&%$#_{}" else each for each in name if each not in "\\~^")
