"""The audit as a page: what was run, where, with which seed, and what came out."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from publius.audit.runs import Audit
from publius.files import AnyPath, write_file

_MADE_ON: Final = re.compile(r"( as given)? n=\d+(?=:)|(?<=kernel): .*|(?<=clean runs) .*")
_QUANTILE: Final = re.compile(r"its [\d.]+ % quantile")


def write_page(audit: Audit, folder: AnyPath, page: AnyPath) -> None:
    """Write the Markdown page of ``audit``; results of a torture run in ``folder``/torture are put on it too."""
    torture = _torture(Path(folder) / "torture.json")
    text = "\n".join(_lines(audit, torture))
    Path(page).parent.mkdir(parents=True, exist_ok=True)
    with write_file(page) as file:
        file.write(text.encode() + b"\n")


def _torture(path: Path) -> Mapping[str, Any] | None:
    return json.loads(path.read_text(encoding="utf-8")) if path.exists() else None


def _lines(audit: Audit, torture: Mapping[str, Any] | None) -> Iterator[str]:
    request, report = audit.request, audit.as_json()
    yield "# Audit"
    yield ""
    yield _INTRODUCTION
    yield ""
    command = f"publius audit --level {request.level.name} --mechanism {request.mechanism} --epsilon "
    command += f"{request.epsilon:g} --seed {request.seed}"
    command += f" --embeddings {request.embeddings}" if request.embeddings else ""
    yield f"Made by `{command}` in {report['seconds'] / 60:.1f} minutes of computing. Verdict: "
    yield f"**{'passed' if audit.passed else 'FAILED'}**, {len(audit.checks)} checks."
    yield ""
    yield from _folded("the machine", _table(("machine", ""), report["machine"].items()))
    yield "## Figures"
    yield ""
    yield from _table(("figure", "goal", "measured"), _figures(audit, report))
    yield "## Checks"
    yield ""
    kinds = list(_kinds(report["checks"]))
    without = [
        (name, samples) for name, _, samples, largest, threshold, _ in kinds if largest == threshold == 0
    ]
    others = [row for row in kinds if not row[3] == row[4] == 0]
    yield from _folded(
        f"all {len(audit.checks)} checks, those of a kind together",
        [
            *_table(("check", "times", "samples", "largest statistic", "threshold", "verdict"), others),
            *_table(("violations counted, none found", "kinds", "samples"), _grouped(without)),
        ],
    )
    if any("catalog" in found.figures for found in audit.findings.values()):
        yield "The records of the run name each broken version, and the check that caught it."
    else:
        yield NOT_TRIED[0].upper() + NOT_TRIED[1:] + "."
    yield ""
    if torture is not None:
        yield from _torture_lines(torture)


def kind(name: str) -> str:
    """The name of a check without the dimension, the quantile, the kernel or the runs that it was made on."""
    return _QUANTILE.sub("quantiles", _MADE_ON.sub("", name))


def _kinds(checks: Iterable[Mapping[str, Any]]) -> Iterator[Sequence[Any]]:
    """Checks of one kind and threshold in a row: how many, their samples, the largest statistic, the verdict."""
    kinds: dict[tuple[str, Any], list[Mapping[str, Any]]] = {}
    for check in checks:
        kinds.setdefault((kind(check["name"]), check["threshold"]), []).append(check)
    for (name, threshold), found in kinds.items():
        samples = sum(check["samples"] for check in found)
        largest = max(check["statistic"] for check in found)
        yield name, len(found), samples, largest, threshold, all(check["passed"] for check in found)


def _grouped(kinds: Iterable[tuple[str, int]]) -> Iterator[Sequence[Any]]:
    """What kinds of checks are of, the words before the colon: how many there are, and the samples of all."""
    groups: dict[str, list[int]] = {}
    for name, samples in kinds:
        groups.setdefault(name.partition(":")[0], []).append(samples)
    for name, found in groups.items():
        yield name, len(found), sum(found)


def _figures(audit: Audit, report: Mapping[str, Any]) -> Iterator[Sequence[str]]:
    draws = max(audit.request.level.draws, 10**5)
    fine, coarse = audit.figure(f"scale_error_{draws}"), audit.figure("scale_error_100000")
    mutants = report["mutants"]
    yield "exact cells, n = 1 and 2", "at least 10^9", f"{report['exact_cells']:,}"
    yield "worst excess, nats", "at most 1e-9", cell(report["worst_excess"])
    yield "exact cells of documents", "at least 10^7", f"{report['document_cells']:,}"
    yield "worst excess of documents, nats", "at most 1e-9", cell(report["document_worst_excess"])
    yield "words against exact kernels", "at least 10^9", f"{audit.total('words'):,}"
    yield "configurations", "40", f"{audit.total('configurations')}"
    yield "noise draws at each n", "at least 10^6", f"{audit.request.level.draws:,}"
    if coarse:
        yield "smallest scale error caught, 10^5 draws", "2 %", _percent(coarse)
    if fine and draws > 10**5:
        yield f"smallest scale error caught, {draws:,} draws", "0.5 %", _percent(fine)
    yield "tightness", "0.99 to 1", cell(report["tightness"])
    if mutants["total"]:
        yield "broken versions caught", "at least 40 of 40", f"{mutants['caught']} of {mutants['total']}"
    yield "clean runs", "200", f"{audit.total('clean_runs')}"
    alarms = sum(len(f.figures.get("false_alarms", ())) for f in audit.findings.values())
    yield "false alarms in them", "0", str(alarms)


def _percent(figures: Mapping[str, Any]) -> str:
    alone = ", ".join(
        f"{name}: {'none' if value is None else f'{value:.2%}'}"
        for name, value in figures.items()
        if name.startswith("n=")
    )
    together = "none" if figures["together"] is None else f"{figures['together']:.2%}"
    return f"{together} (in {figures['seeds']} of {figures['seeds']} runs; {alone})"


def _torture_lines(torture: Mapping[str, Any]) -> Iterator[str]:
    yield "## Torture"
    yield ""
    minutes = torture["seconds"] / 60
    failed = [check["name"] for check in torture["checks"] if not check["passed"]]
    verdict = f"**FAILED**: {'; '.join(failed)}" if failed else f"**passed**, {len(torture['checks'])} checks"
    yield f"`make torture`, seed {torture['seed']}, {minutes:.1f} minutes, {torture['machine']['date']}: {verdict}."
    yield ""


def _folded(summary: str, lines: Iterable[str]) -> Iterator[str]:
    yield f"<details><summary>More: {summary}</summary>"
    yield ""
    yield from lines
    yield "</details>"
    yield ""


def _table(header: Sequence[str], rows: Iterable[Sequence[Any]]) -> Iterator[str]:
    yield "| " + " | ".join(header) + " |"
    yield "|" + "---|" * len(header)
    for row in rows:
        yield "| " + " | ".join(cell(value).replace("|", "\\|") for value in row) + " |"
    yield ""


def cell(value: Any) -> str:
    """A value as it is shown in a table: a verdict, a count with its thousands, four digits of a figure, or text.

    Several by name stand one after another.
    """
    if isinstance(value, Mapping):
        return "; ".join(f"{name}: {cell(each)}" for name, each in value.items())
    if isinstance(value, bool):
        return "passed" if value else "FAILED"
    if isinstance(value, int):
        return f"{value:,}"
    return f"{value + 0.0:.4g}" if isinstance(value, float) else str(value)  # no minus zero


NOT_TRIED: Final = (
    "broken versions, hard cases, fences, the ledger and what can be seen of a run were not tried: only a checkout of "
    "the source has them"
)

_INTRODUCTION = """\
The audit tests that the implementation keeps its guarantee, exactly where that can be computed and statistically
elsewhere, and that broken versions are caught. This page is made by the command below; nothing on it is typed.
A *cell* is two documents and one output of a small world whose probabilities are computed exactly.

A check passes when its statistic is at most its threshold. The statistic is a count of violations (threshold 0), an
excess in nats over what the theorem allows, or the surprise of a test: -log10 of its p-value, whose threshold gives
a whole audit of a correct implementation one chance in a million to raise an alarm."""
