"""The files of an evaluation: rows, table, and one HTML page without script or network."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

from publius.evaluation import plots
from publius.evaluation.adversaries import LINKAGE, ORIGINALS, RETRIEVAL, shown_place
from publius.evaluation.linkage import TOGETHER
from publius.evaluation.rows import ResultRow, as_json_lines
from publius.evaluation.runner import Results
from publius.evaluation.summary import PAPER, SummaryLine, as_csv, as_latex, as_records
from publius.evaluation.verdict import Verdict, authors_given, knowing_topic
from publius.files import write_file
from publius.mechanisms.registry import DOCUMENT_MECHANISMS
from publius.option import declared
from publius.privacy.promise import percent, percent_down, percent_up, rounded_up
from publius.releases.pages import template
from publius.settings import EvaluationSettings, names_of

NOT_TRIED: Final = (
    "Adversaries with neural language models; where the holder of the originals is exact, none beats him from one bag.",
    "Verification, clustering and open-set attribution: every unknown text here is by one of the candidates.",
    "Reconstruction of the original words, and linkage with data from elsewhere.",
    "Topics or languages other than those of this corpus.",
)


def write_report(
    results: Results, lines: Sequence[SummaryLine], folder: Path, verdict: Verdict | None = None
) -> None:
    """Write rows.jsonl, table.csv, table.tex and report.html into ``folder``, each at once or not at all."""
    page = render(results, lines, verdict).encode()
    for name, data in (
        ("rows.jsonl", as_json_lines(results.rows)),
        ("table.csv", as_csv(as_records(lines))),
        ("table.tex", as_latex(lines)),
        ("report.html", page),
    ):
        with write_file(folder / name, 0o600) as file:
            file.write(data)


def render(results: Results, lines: Sequence[SummaryLine], verdict: Verdict | None = None) -> str:
    """The page. Whatever comes from a corpus or a release is escaped."""
    filters = {"percent": _percent, "up": _up, "down": _down, "number": _number, "nats": _nats}
    page = template("publius.evaluation", "report.html", **filters)
    return str(page.render(_content(results, lines), verdict=verdict))


def _content(results: Results, lines: Sequence[SummaryLine]) -> dict[str, Any]:
    from markupsafe import Markup

    facts = results.facts
    mechanisms = names_of(facts["request"]["mechanisms"])
    return {
        "facts": facts,
        "authors_given": authors_given(facts),
        "request": facts["request"],
        "mechanisms": mechanisms,
        "command": command_of(facts),
        "lines": lines,
        "clean": next((line for line in lines if line.clean), None),
        "paper": list(PAPER),
        "adversaries": _tried(lines, "author"),
        "classifiers": _tried(lines, "topic"),
        "sensitive": _tried(lines, "sensitive"),
        "figures": [Markup(figure) for figure in _figures(lines, mechanisms, facts)],  # noqa: S704  # made by us
        "nearest": [
            (cell, _nearest(found["nearest"]))
            for cell, found in results.details
            if found["nearest"] and not cell.repeat
        ],
        "snippets": [
            (cell, found["snippet"])
            for cell, found in results.details
            if found["snippet"] and not cell.repeat
        ],
        "exact": {cell.mechanism for cell, found in results.details if found["exact"]},
        "slowest": _slowest(results),
        "protected": results.neighborhood is not None,
        "knowing_topic": lambda finding: knowing_topic(finding, facts),
        "originals": any(line.of(ORIGINALS, "author") for line in lines),
        "originals_by_topic": [
            (line.name, found.extra["by_topic"])
            for line in lines
            if not line.clean and (found := line.of(ORIGINALS, "author")) and found.extra["by_topic"]
        ],
        "linkage": _linkage(results, lines),
        "together": TOGETHER,
        "retrieval": any(line.of(RETRIEVAL, "neighbours") for line in lines),
        "documents": list(DOCUMENT_MECHANISMS),
        "not_tried": NOT_TRIED[1:] if facts["request"].get("adversary") else NOT_TRIED,
    }


def command_of(facts: dict[str, Any]) -> str:
    """The command that runs such an evaluation again, on texts called CORPUS: what is no default."""
    request, said = facts["request"], []
    for each in declared(EvaluationSettings):
        value = request.get(each.name)
        untouched = value in (None, False, [], {}, each.default)
        if not each.option.public or untouched or each.name == "parameters":
            continue
        flag = each.option.flag or "--" + each.name.replace("_", "-")
        many = value if isinstance(value, list) else [value]
        said += [flag] if value is True else [flag, ",".join(_typed(one) for one in many)]
    for name, value in request.get("parameters", {}).items():
        said += [f"--{name.replace('_', '-')}", _typed(value)]
    if facts["embeddings"] != EvaluationSettings.embeddings:
        said += ["--embeddings", facts["embeddings"]]
    return "publius evaluate CORPUS " + shlex.join(
        [*said, "--seed", str(facts["seed"]), "--output", "FOLDER"]
    )


def _typed(value: Any) -> str:
    return repr(value) if isinstance(value, float) else str(value)


def _nearest(found: Any) -> list[dict[str, Any]]:
    """The texts of the nearest-authors table; up to version 0.2 it was one, without distances."""
    if isinstance(found, list):
        return found
    return [{**found, "distances": [None] * len(found["authors"])}]


def _linkage(results: Results, lines: Sequence[SummaryLine]) -> list[tuple[str, list[ResultRow]]]:
    """The rows of linkage by the name of each line that has some."""
    names = {(line.mechanism, line.epsilon, line.bound): line.name for line in lines}
    found: dict[str, list[ResultRow]] = {}
    for row in results.rows:
        if row.adversary == LINKAGE:
            found.setdefault(names[row.setting], []).append(row)
    return list(found.items())


def _tried(lines: Sequence[SummaryLine], task: str) -> list[str]:
    found = {name for line in lines for name, asked in line.findings if asked == task}
    return sorted(found - {ORIGINALS}, key=lambda name: (shown_place(name), name))


def _figures(lines: Sequence[SummaryLine], mechanisms: Sequence[str], facts: dict[str, Any]) -> list[str]:
    chance, floor = facts["chance"], facts["floor"]
    drawn = [line.mechanism for line in lines if not line.clean]
    found = []
    for mechanism in [name for name in mechanisms if name in drawn]:
        found.append(plots.epsilon_curves(lines, mechanism, chance, floor))
        if "author" in chance:
            found.append(plots.adversary_curves(lines, mechanism, chance["author"], floor))
    if any(line.best("author") and line.best("topic") for line in lines if not line.clean):
        found.append(plots.trade_off(lines, [name for name in mechanisms if name in drawn], chance))
    return found


def _slowest(results: Results) -> list[tuple[str, float]]:
    """Seconds by part, over all cells, the largest first."""
    totals: dict[str, float] = {}
    for _, found in results.details:
        for part, seconds in found["seconds"].items():
            totals[part] = totals.get(part, 0.0) + seconds
    return sorted(totals.items(), key=lambda item: -item[1])[:8]


def _percent(value: float | None) -> str:
    return "–" if value is None else percent(value)


def _up(value: float | None) -> str:
    """The same of an upper limit."""
    return "–" if value is None else percent_up(value)


def _down(value: float | None) -> str:
    """The same of a lower limit."""
    return "–" if value is None else percent_down(value)


def _nats(bound: float | None) -> str:
    """A bound that was stated, rounded up; a dash for none."""
    return "–" if bound is None else rounded_up(bound, 6)


def _number(value: float | None, digits: int = 3) -> str:
    """A number to some digits, thousands grouped; a dash for none."""
    if value is None:
        return "–"
    return f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.{digits}g}"
