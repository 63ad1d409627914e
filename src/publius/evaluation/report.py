"""The files of an evaluation: results.json, report.html, table.tex."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

from publius.evaluation.records import ABOUT, CLEAR, COLUMNS, TOLD, Attempt, Results, Setting, encoded
from publius.evaluation.verdict import REASONS
from publius.files import AnyPath, new_folder, write_file
from publius.privacy.promise import percent

RESULTS: Final = "results.json"
REPORT: Final = "report.html"
TABLE: Final = "table.tex"
_PAGE: Final = Path(__file__).parent / "templates" / "evaluation.html"
_LEGEND: Final = [("a", "protected"), ("b", "clear"), ("c", "baseline")]


def write(results: Results, folder: AnyPath) -> None:
    """Write the folder of an evaluation, for its owner alone: it may describe texts that nobody else has."""
    from publius.pages.page import write_page

    with new_folder(folder, owner_only=True) as filled:
        with write_file(filled / RESULTS, 0o600) as file:
            file.write(encoded(results))
        write_page(filled / REPORT, _PAGE, page_facts(results), mode=0o600)
        with write_file(filled / TABLE, 0o600) as file:
            file.write(table_tex(results).encode())


def headline(results: Results) -> str:
    """What was found, in one sentence."""
    named = strongest(results.attackers, focus(results))
    if results.kind == "summary":
        return str(results.facts["membership"]["sentence"])
    if named is None:
        verdict = results.verdicts[0]
        takes = "no number is enough" if verdict.needed is None else f"about {verdict.needed:,} needed"
        return f"Inconclusive: {verdict.tested:,} authors tested, {takes}."
    if results.kind == "paper":
        return f"Table 1 of the paper on {named.texts:,} texts by {named.authors:,} authors of {results.facts['length']} words."
    of = f"of {named.texts:,} texts by {named.authors:,} authors"
    if results.as_is:
        return (
            f"As they are, the authors {of} are identified for {percent(named.identified.value)}, where "
            f"{percent(named.baseline.value)} is known anyway."
        )
    setting = "clear text" if named.setting == CLEAR else f"epsilon {named.epsilon:g}"
    clear = (
        "" if named.clear is None or named.setting == CLEAR else f", {percent(named.clear.value)} unprotected"
    )
    start = f"{results.verdict}: at" if results.verdict else "At"
    return (
        f"{start} {setting} the strongest attacker identifies the author for {percent(named.identified.value)} {of}"
        f"{clear}; {percent(named.baseline.value)} is known anyway."
    )


def focus(results: Results) -> Setting:
    """The setting that the report is about: that of the verdict, else the first."""
    if results.verdicts:
        from publius.evaluation.verdict import overall

        return overall(results.verdicts).setting
    return next((each.setting for each in results.attackers if each.setting != CLEAR), CLEAR)


def strongest(attempts: Sequence[Attempt], setting: Setting) -> Attempt | None:
    """The attacker with the largest share, of those that are judged, on authors in one setting."""
    own = most_told([each for each in attempts if each.setting == setting and each.task == "author"])
    judged = [each for each in own if each.judged] or own
    return max(judged, key=lambda each: each.identified.value, default=None)


def table_rows(results: Results) -> tuple[list[str], list[list[str]]]:
    """The one table of the terminal: attackers of the setting in focus, what they know, and their figures."""
    rows = []
    for each in main_attempts(results):
        clear = "" if each.clear is None or each.setting == CLEAR else percent(each.clear.value)
        name = f"{each.attacker}, topic" if each.task == "topic" else each.attacker
        rows.append(
            [name, ", ".join(each.told), share(each.identified), clear, percent(each.baseline.value),
             f"{100 * each.advantage.value:+.1f}", f"{each.candidates:.0f}"]
        )  # fmt: skip
    return ["attacker", "knows", "identified (95 % CI)", "clear", "baseline", "advantage", "of"], rows


def main_attempts(results: Results) -> list[Attempt]:
    """Of the setting in focus each attacker once, with the most that it was told; the topic last."""
    found = most_told([each for each in results.attackers if each.setting == focus(results)])
    authors = sorted(
        (each for each in found if each.task == "author"),
        key=lambda each: (not each.judged, -each.identified.value),
    )
    return authors + [each for each in found if each.task == "topic"]


def most_told(attempts: Sequence[Attempt]) -> list[Attempt]:
    """Of one setting, each attacker and task once: with the most that it was told."""
    found: dict[tuple[str, str], Attempt] = {}
    for each in attempts:
        key = (each.attacker, each.task)
        if key not in found or len(each.told) > len(found[key].told):
            found[key] = each
    return list(found.values())


def curve(results: Results) -> list[dict[str, Any]]:
    """For each mechanism and epsilon the strongest attacker, the baseline and the best reader of topics."""
    rows = []
    for setting in dict.fromkeys(each.setting for each in results.attackers):
        named = strongest(results.attackers, setting)
        topics = [each for each in results.attackers if each.setting == setting and each.task == "topic"]
        best = max(topics, key=lambda each: each.identified.value, default=None)
        verdict = next((each for each in results.verdicts if each.setting == setting), None)
        if named is not None:
            rows.append(
                {
                    "setting": setting,
                    "identified": named.identified,
                    "advantage": named.advantage,
                    "baseline": named.baseline,
                    "topic": None if best is None else best.identified,
                    "answer": "" if verdict is None else verdict.answer,
                }
            )
    return rows


def page_facts(results: Results) -> dict[str, Any]:
    """The facts of the report's page."""
    is_paper = results.kind == "paper"
    setting, rows = focus(results), curve(results)
    series = _series(rows)
    shown = [each for each in main_attempts(results) if each.task == "author"]
    return {
        "warning": "For the curator alone: it describes private texts." if results.as_is else None,
        "title": {"as-is": "Texts as they are, attacked", "paper": "The paper's experiment"}.get(
            results.kind, "Evaluation"
        ),
        "headline": headline(results),
        "paper": paper_rows(results) if is_paper else None,
        "columns": COLUMNS,
        "texts": results.data.get("attacked", 0),
        "length": results.facts.get("length"),
        "columns_said": "; ".join(f"{name}: {said}" for name, said in ABOUT.items()) + "."
        if is_paper
        else "",
        "words_said": _paper_words(results) if is_paper else "",
        "curve": series,
        "curve_log": bool(series) and all(point["x"] > 0 for each in series for point in each["points"]),
        "dots": [_dot(each, results.kind) for each in shown],
        "legend": [_LEGEND[0], _LEGEND[2]] if results.as_is else _LEGEND,
        "dots_said": f"{setting.name.capitalize()}, with 95 % intervals.",
        "mechanisms": len({each.mechanism for each in results.attackers} - {None}),
        "verdict": results.verdict or "",
        "verdicts": [
            {
                "setting": each.setting.name,
                "answer": each.answer,
                "reason": REASONS[each.reason],
                "decided": _decided(each),
            }
            for each in results.verdicts
        ],
        "told": "; ".join(f"{name}: {said}" for name, said in TOLD.items()),
        "main": main_attempts(results),
        "attempts": results.attackers,
        "scope": "Measured on these public texts; other texts may differ."
        if not results.as_is
        else "Measured on these texts.",
        "neighbours": results.facts.get("neighbours", []),
        "first_words": results.facts.get("first_words", {}),
        "tables": _tables(results),
        "command": results.command,
        "facts": _lines(results),
    }


def _series(rows: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """Of the first mechanism: points over epsilon."""
    first = next((row["setting"].mechanism for row in rows if row["setting"] != CLEAR), None)
    own = sorted(
        (row for row in rows if row["setting"].mechanism == first and first is not None),
        key=lambda row: row["setting"].epsilon,
    )
    if len(own) < 2:
        return []

    def points(what: str) -> list[dict[str, Any]]:
        return [
            {"x": row["setting"].epsilon, "y": row[what].value, "low": row[what].low, "high": row[what].high}
            for row in own
            if row[what] is not None
        ]

    made = [
        {"name": "identified", "tone": "a", "points": points("identified")},
        {"name": "topics right", "tone": "b", "points": points("topic")},
        {"name": "baseline", "tone": "c", "points": [{"x": row["setting"].epsilon, "y": row["baseline"].value} for row in own]},
    ]  # fmt: skip
    return [each for each in made if each["points"]]


def _dot(each: Attempt, kind: str) -> dict[str, Any]:
    marks = [
        {
            "value": each.identified.value,
            "low": each.identified.low,
            "high": each.identified.high,
            "tone": "a",
        }
    ]
    if each.clear is not None and kind != "as-is":
        marks.append({"value": each.clear.value, "low": each.clear.low, "high": each.clear.high, "tone": "b"})
    marks.append({"value": each.baseline.value, "tone": "c"})
    return {"label": each.attacker, "marks": marks}


def _decided(verdict: Any) -> str:
    if verdict.reason == "too-few":
        takes = "no number is enough" if verdict.needed is None else f"about {verdict.needed:,} needed"
        return f"{verdict.tested:,} authors tested, {takes}"
    said = [
        f"{each.attacker}: {each.limit.replace('_', ' ')} {percent(each.value)}, found {share(each.found)}"
        for each in verdict.checks
        if each.answer == verdict.answer or verdict.answer == "INCONCLUSIVE"
    ]
    return "; ".join(said)


def _tables(results: Results) -> list[tuple[str, list[list[str]]]]:
    """What labels say of texts, by setting."""
    found = []
    for name, each in results.facts.get("labels", {}).items():
        named = each["text_named"]
        rows = [
            ["Labels changed by noise", percent(each["noise_changes"])],
            ["The right text picked from its row by who knows all texts", percent(named["mean"])],
            ["... at most, for any text", percent(named["at_most"], up=True)],
            ["... by guessing", percent(named["by_guessing"])],
            *([f"Right for {label}", percent(share)] for label, share in each["accuracy_by_label"].items()),
        ]
        found.append((f"Labels: {name}", rows))
    return found


def _lines(results: Results) -> list[str]:
    data = results.data
    lines = [
        f"Texts: {data.get('attacked', 0):,} attacked, {data.get('known', 0):,} known; {data.get('split', '')}."
    ]
    lines += [f"{each.get('name')}: sha256 {each.get('sha256', '')[:16]}" for each in results.public]
    lines += [f"File: sha256 {digest[:16]}" for digest in data.get("sha256", [])]
    lines += [
        f"Words changed at {name}: {percent(share)}"
        for name, share in results.facts.get("changed", {}).items()
    ]
    return [*lines, f"Publius {results.publius_version}"]


def paper_rows(results: Results) -> list[dict[str, Any]]:
    """The rows of Table 1: epsilon, four cells with how many are correct, and the share of words changed."""
    rows = []
    for setting in dict.fromkeys(each.setting for each in results.attackers):
        own = {each.attacker: each for each in results.attackers if each.setting == setting}
        cells = [
            dict(zip(("correct", "low", "high"), correct(own[column]), strict=True)) for column in COLUMNS
        ]
        cells = [{name: round(value, 1) for name, value in cell.items()} for cell in cells]
        rows.append(
            {
                "epsilon": "none" if setting.epsilon is None else f"{setting.epsilon:g}",
                "cells": cells,
                "changed": results.facts["changed"][setting.name],
            }
        )
    return rows


def _paper_words(results: Results) -> str:
    facts = results.facts
    said = f"DRtopic is {facts['topical']}"
    if "validation" in facts:
        said += f", right for {percent(facts['validation'])} of {facts['validation_texts']:,} training texts held out"
    passing = (
        f" Words without a vector ({percent(facts['unknown_share'])}) pass unchanged, as in the paper."
        if facts["unknown_words_pass"]
        else " Every word is protected."
    )
    return f"{said}.{passing}"


def table_tex(results: Results) -> str:
    """The main table as LaTeX; Table 1 where the paper's protocol ran."""
    if results.kind == "paper":
        return _paper_tex(results.attackers)
    lines = [
        "% 95 % intervals in which authors are what is sampled.", r"\begin{tabular}{llrrrr}", r"\hline",
        r"attacker & knows & $\varepsilon$ & identified & baseline & advantage \\", r"\hline",
    ]  # fmt: skip
    for each in results.attackers:
        name = f"{each.attacker} (topics)" if each.task == "topic" else each.attacker
        cells = [
            name.replace("_", r"\_"), each.knows, "none" if each.epsilon is None else f"{each.epsilon:g}",
            _tex(each.identified), f"{each.baseline.value:.3f}", _tex(each.advantage),
        ]  # fmt: skip
        lines.append(" & ".join(cells) + r" \\")
    return "\n".join([*lines, r"\hline", r"\end{tabular}", ""])


def _tex(each: Any) -> str:
    return f"{each.value:.3f} [{each.low:.3f}, {each.high:.3f}]"


def share(each: Any, *, plain: bool = False) -> str:
    """A share as a percentage with its 95 % interval."""
    limits = "" if plain else f" ({percent(each.low)} to {percent(each.high)})"
    return f"{percent(each.value)}{limits}"


def correct(found: Attempt) -> tuple[float, float, float]:
    """How many of the texts an attempt has right, with the limits of its 95 % interval."""
    each = found.identified
    return found.texts * each.value, found.texts * each.low, found.texts * each.high


def _paper_tex(attempts: Sequence[Attempt]) -> str:
    """Table 1 as LaTeX: correct of all texts, each with its 95 % interval."""
    texts = attempts[0].texts
    lines = [
        "% Correct of " + f"{texts} texts, with 95 % intervals in which authors are what is sampled.",
        r"\begin{tabular}{l" + "r" * len(COLUMNS) + "}",
        r"\hline",
        " & ".join(["$\\varepsilon$", *COLUMNS]) + r" \\",
        r"\hline",
    ]
    for setting in dict.fromkeys(each.setting for each in attempts):
        own = {each.attacker: each for each in attempts if each.setting == setting}
        row = ["none" if setting.epsilon is None else f"{setting.epsilon:g}"]
        for column in COLUMNS:
            value, low, high = correct(own[column])
            row.append(f"{value:.3g} [{low:.1f}, {high:.1f}]")
        lines.append(" & ".join(row) + r" \\")
    return "\n".join([*lines, r"\hline", r"\end{tabular}", ""])
