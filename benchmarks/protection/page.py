"""The page of the docs, from the folders of the evaluations."""

from __future__ import annotations

import csv
import json
import os
import platform
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean
from typing import Any


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


def machine(seed: int) -> str:
    """Where and with what the figures were made."""
    return (
        f"{os.cpu_count()} processors, {platform.machine()}, Python {platform.python_version()}, seed {seed}"
    )


HEAD = """# Protection, measured

What is kept and what is given away, on public corpora, with every figure from `publius evaluate`. Authors are named by
the strongest of the adversaries that were tried, who know other texts of each author, and by the *holder of the
originals*, who has the mechanism and the exact text of every candidate. Where his figure is exact, nobody does better,
language models included; "at least" marks an attack of his, where more may be possible. A share that was counted may
lie above an exact one by chance, as far as its interval says. Not in the tables: mechanisms of other packages, and word
mechanisms on newsgroups. Document mechanisms read the whole of a text, so that the topic may be named more often than
in the unprotected line, which is cut.

"""


def page(runs: list[dict[str, Any]], machine: str, seed: int, work: Path) -> str:
    """The page: what holds, then a table for each corpus, then how it was made."""
    parts = [HEAD, *_in_short(runs)]
    for corpus in dict.fromkeys(run["corpus"] for run in runs):
        parts.append(_section(corpus, [run for run in runs if run["corpus"] == corpus]))
    seconds = sum(
        json.loads((work / f"{run['corpus']}-{run['part']}.json").read_text())["seconds"] for run in runs
    )
    version = _facts(runs[0])["publius_version"]
    parts.append(
        f"## How it was made\n\nPublius {version}, {machine}, seed {seed}; the evaluations took {seconds / 60:.0f} "
        "minutes on this machine, beside other work. `python -m benchmarks.protection DATA` in a checkout makes this "
        "page. The settings of every run:\n\n"
    )
    parts += [f"- {run['corpus']}, {run['part']}: `{' '.join(_public(run['options']))}`\n" for run in runs]
    return "".join(parts)


def _seconds(work: Path, run: dict[str, Any]) -> float:
    return float(json.loads((work / f"{run['corpus']}-{run['part']}.json").read_text())["seconds"])


def _public(options: list[str]) -> list[str]:
    return [Path(option).name if "/" in option else option for option in options]


def _facts(run: dict[str, Any]) -> dict[str, Any]:
    facts: dict[str, Any] = json.loads((run["folder"] / "run.json").read_text())
    return facts


def _table(run: dict[str, Any]) -> list[dict[str, str]]:
    with (run["folder"] / "table.csv").open() as file:
        return list(csv.DictReader(file))


def _rows(run: dict[str, Any]) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (run["folder"] / "rows.jsonl").read_text().splitlines()]


def _interval(line: dict[str, str], name: str) -> str:
    if not line.get(f"{name}_accuracy"):
        return ""
    value, low, high = (float(line[f"{name}_{part}"]) for part in ("accuracy", "low", "high"))
    return f"{value:.3f} ({low:.3f} to {high:.3f})"


def _name(line: dict[str, str], run: dict[str, Any]) -> str:
    if line["mechanism"] == "clean":
        return "unprotected"
    if run["part"] == "documents":
        return f"{line['mechanism']}, bound {float(line['bound']):g}"
    return f"{line['mechanism']}, epsilon {float(line['epsilon']):g}"


def _section(corpus: str, runs: list[dict[str, Any]]) -> str:
    lines = [f"## {corpus}\n\n"]
    for run in runs:
        facts = _facts(run)
        repeats = min(int(line["repeats"]) for line in _table(run) if line["mechanism"] != "clean")
        lines.append(
            f"### {run['part'].replace('-', ' ')}\n\n{facts['unknown_texts']:,} texts by {facts['authors']:,} "
            f"candidate authors, {len(facts['topics'])} topics; {facts['size']} words of each text for the "
            f"unprotected line and word mechanisms; repeats: {repeats}. By chance "
            f"{facts['chance']['author']:.3f} of the authors are named, from the topic alone {facts['floor']:.3f}.\n\n"
            "| | topic | strongest adversary | by | holder of the originals | neighbours found | nats, same "
            "topic: nearest / median | nats, any two |\n|---|---|---|---|---|---|---|---|\n"
        )
        near: dict[tuple[str, float | None], list[dict[str, Any]]] = {}
        for row in _rows(run):
            if row["adversary"] == "retrieval":
                near.setdefault(_key(row), []).append(row)
        for line in _table(run):
            originals = _interval(line, "originals")
            if line.get("originals") == "at least":
                originals = f"at least {originals}"
            lines.append(
                f"| {_name(line, run)} | {_interval(line, 'topic')} | {_interval(line, 'strongest')} | "
                f"{line['strongest']} | {originals} | {_neighbors(near.get(_of(line), []))} | {_nats(line)} | "
                f"{_bound(line)} |\n"
            )
        lines.append("\n")
    return "".join(lines)


def _key(row: dict[str, Any]) -> tuple[str, float | None]:
    return row["mechanism"], None if row["bound"] is None else round(row["bound"], 6)


def _of(line: dict[str, str]) -> tuple[str, float | None]:
    return line["mechanism"], round(float(line["bound"]), 6) if line["bound"] else None


def _neighbors(rows: list[dict[str, Any]]) -> str:
    """The mean over repeats, and the mean of the limits of its interval."""
    if not rows:
        return ""
    value, low, high = (fmean(row[name] for row in rows) for name in ("within_two_percent", "low", "high"))
    label = f"; label {fmean(row['noisy_label'] for row in rows):.3f}" if "noisy_label" in rows[0] else ""
    worse = "" if all(row.get("beats_noisy_label", True) for row in rows) else ", no better than the label"
    return f"{value:.3f} ({low:.3f} to {high:.3f}){label}{worse}"


def _nats(line: dict[str, str]) -> str:
    values = (line["exponent_same_topic"], line["exponent_same_topic_typical"])
    return " / ".join(f"{float(value):,.3g}" for value in values if value)


def _bound(line: dict[str, str]) -> str:
    return f"{float(line['bound']):,.4g}" if line["bound"] else ""


def _in_short(runs: list[dict[str, Any]]) -> list[str]:
    """What holds and what does not, in sentences made of the figures."""
    found = ["**In short.**\n\n"]
    for corpus in dict.fromkeys(run["corpus"] for run in runs):
        for run in (each for each in runs if each["corpus"] == corpus):
            table = _table(run)
            clean = next(line for line in table if line["mechanism"] == "clean")
            for line in table:
                if line is clean or not line["originals_accuracy"]:
                    continue
                found.append(_sentence(corpus, run, line, clean, _facts(run)["floor"]))
    return [*found, "\n"]


def _sentence(
    corpus: str, run: dict[str, Any], line: dict[str, str], clean: dict[str, str], floor: float
) -> str:
    kept = float(line["topic_accuracy"]) / float(clean["topic_accuracy"])
    named, exact = float(line["originals_accuracy"]), line["originals"] == "exact"
    who = f"nobody names more than {named:.3f}" if exact else f"who has the texts names at least {named:.3f}"
    return (
        f"- {corpus}, {_name(line, run)}: the topic is named {kept:.2f} times as often as unprotected; {who} of the "
        f"authors (the topic alone gives {floor:.3f}, the strongest adversary without the texts "
        f"{float(line['strongest_accuracy']):.3f}).\n"
    )
