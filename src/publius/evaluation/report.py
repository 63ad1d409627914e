"""The files of an evaluation: results.json, report.html, table.tex."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

import msgspec

from publius.errors import AnyPath
from publius.evaluation.records import ABOUT, CLEAR, TOLD, Attempt, Results, Setting, Verdict, by_setting
from publius.evaluation.verdict import REASONS, overall
from publius.files.writing import new_folder, write_file
from publius.privacy.promise import between, outward, percent
from publius.statistics import Interval

_PAGE: Final = Path(__file__).parent / "templates" / "evaluation.html"


def write(results: Results, folder: AnyPath) -> None:
    """Write the folder of an evaluation, for its owner alone: it may describe texts that nobody else has."""
    from publius.pages.page import write_page

    with new_folder(folder, owner_only=True) as filled:
        with write_file(filled / "results.json", 0o600) as file:
            file.write(msgspec.json.format(msgspec.json.encode(results), indent=1) + b"\n")
        write_page(filled / "report.html", _PAGE, page_facts(results), mode=0o600)
        with write_file(filled / "table.tex", 0o600) as file:
            file.write(table_tex(results).encode())


def headline(results: Results) -> str:
    """What was found, in one sentence."""
    if results.kind == "summary":
        return str(results.facts["membership"]["sentence"])
    named = strongest(results.attackers, focus(results))
    if named is None:
        return f"Inconclusive: {_too_few(results.verdicts[0])}."
    texts = f"{named.texts:,} texts by {named.authors:,} authors"
    if results.kind == "paper":
        return f"Table 1 of the paper on {texts} of {results.facts['length']} words."
    found, anyway = percent(named.identified.value), f"{percent(named.baseline.value)} is known anyway."
    if results.as_is:
        return f"As they are, the authors of {texts} are identified for {found}, where {anyway}"
    setting = "clear text" if named.setting == CLEAR else f"epsilon {named.epsilon:g}"
    clear = "" if named.clear is None or named.setting == CLEAR else f", {percent(named.clear.value)} unprotected"
    holding = [
        each.identified.value for each in results.attackers
        if (each.setting, each.task, each.judged, named.judged) == (named.setting, "author", False, True)
    ]  # fmt: skip
    return (
        f"{f'{results.verdict}: at' if results.verdict else 'At'} {setting} the strongest attacker"
        f"{' without the originals' if holding else ''} identifies the author for {found} of {texts}{clear}; "
        f"{f'who holds them: {percent(max(holding))}; ' if holding else ''}{anyway}"
    )


def focus(results: Results) -> Setting:
    """The setting that the report is about: that of the verdict, else the first."""
    if results.verdicts:
        return overall(results.verdicts).setting
    return next((each.setting for each in results.attackers if each.setting != CLEAR), CLEAR)


def ranked(attempts: Sequence[Attempt], setting: Setting) -> list[Attempt]:
    """Each attacker once, where it named most, which more to know need not be: who is judged first, the topic last."""
    found: dict[tuple[str, str], Attempt] = {}
    for each in attempts:
        if each.setting == setting:
            key = (each.attacker, each.task)
            found[key] = max(each, found.get(key, each), key=lambda one: one.identified.value)
    authors = [each for each in found.values() if each.task == "author"]
    authors.sort(key=lambda each: (not each.judged, -each.identified.value))
    return authors + [each for each in found.values() if each.task == "topic"]


def strongest(attempts: Sequence[Attempt], setting: Setting) -> Attempt | None:
    """The attacker with the largest share, of those that are judged, on authors in one setting."""
    return next((each for each in ranked(attempts, setting) if each.task == "author"), None)


def table_rows(results: Results) -> tuple[list[str], list[list[str]]]:
    """The one table of the terminal: attackers of the setting in focus, what they know, and their figures."""
    rows = []
    for each in ranked(results.attackers, focus(results)):
        clear = "" if each.clear is None or each.setting == CLEAR else percent(each.clear.value)
        name = f"{each.attacker}, topic" if each.task == "topic" else each.attacker
        rows.append(
            [name, ", ".join(each.told), share(each.identified), clear, percent(each.baseline.value),
             f"{100 * each.advantage.value:+.1f}", f"{each.candidates:.0f}"]
        )  # fmt: skip
    return ["attacker", "knows", "identified (95 % CI)", "clear", "baseline", "advantage", "of"], rows


def curve(results: Results) -> list[dict[str, Any]]:
    """For each mechanism and epsilon the strongest attacker, the baseline and the best reader of topics."""
    rows = []
    for setting, own in by_setting(results.attackers).items():
        named = strongest(own, setting)
        topics = [each.identified for each in own if each.task == "topic"]
        if named is not None:
            rows.append({
                "setting": setting, "identified": named.identified, "baseline": named.baseline,
                "topic": max(topics, key=lambda each: each.value, default=None),
                "answer": "".join(each.answer for each in results.verdicts if each.setting == setting),
            })  # fmt: skip
    return rows


def page_facts(results: Results) -> dict[str, Any]:
    """The facts of the report's page."""
    main, as_is = ranked(results.attackers, focus(results)), results.as_is
    tones = [("a", "as they are" if as_is else "protected"), ("b", "clear"), ("c", "baseline")]
    return {
        "results": results,
        "warning": "For the curator alone: it describes private texts." if as_is else None,
        "headline": headline(results),
        "paper": paper_rows(results) if results.kind == "paper" else None,
        "columns": ABOUT,
        "curve": _series(curve(results)),
        "dots": [_dot(each, as_is) for each in main if each.task == "author"],
        "legend": [each for each in tones if each[1] != "clear" or not as_is],
        "focus": focus(results).name.capitalize(),
        "mechanisms": len({each.mechanism for each in results.attackers} - {None}),
        "verdicts": [(each, REASONS[each.reason], _decided(each)) for each in results.verdicts],
        "told": TOLD,
        "main": main,
    }


def _series(rows: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """Of the first mechanism: points over epsilon, where there are several."""
    protected = [row for row in rows if row["setting"] != CLEAR]
    own = [row for row in protected if row["setting"].mechanism == protected[0]["setting"].mechanism]
    own.sort(key=lambda row: float(row["setting"].epsilon))

    def point(row: dict[str, Any], what: str) -> dict[str, float]:
        limits = {} if what == "baseline" else {"low": row[what].low, "high": row[what].high}
        return {"x": row["setting"].epsilon, "y": row[what].value, **limits}

    made = [
        {"name": name, "tone": tone, "points": [point(row, what) for row in own if row[what] is not None]}
        for name, tone, what in (
            ("identified", "a", "identified"), ("topics right", "b", "topic"), ("baseline", "c", "baseline"),
        )
    ]  # fmt: skip
    return [each for each in made if each["points"]] if len(own) > 1 else []


def _dot(each: Attempt, as_is: bool) -> dict[str, Any]:
    shown = [(each.identified, "a"), *([] if as_is or each.clear is None else [(each.clear, "b")])]
    marks = [{"value": one.value, "low": one.low, "high": one.high, "tone": tone} for one, tone in shown]
    marks.append({"value": each.baseline.value, "tone": "c"})
    return {"label": each.attacker, "under": ", ".join(each.told), "marks": marks}


def _too_few(verdict: Verdict) -> str:
    takes = "no number is enough" if verdict.needed is None else f"about {verdict.needed:,} needed"
    return f"{verdict.tested:,} authors tested, {takes}"


def _decided(verdict: Verdict) -> str:
    if verdict.reason == "too-few":
        return _too_few(verdict)
    return "; ".join(
        f"{each.attacker}: {each.limit.replace('_', ' ')} {percent(each.value)}, found {share(each.found)}, "
        f"{percent(1 - each.level)} interval"
        for each in verdict.checks
        if verdict.answer in (each.answer, "INCONCLUSIVE")
    )


def paper_rows(results: Results) -> list[dict[str, Any]]:
    """The rows of Table 1: epsilon, four cells with how many are correct and limits, and the share of words changed."""
    rows = []
    for setting, own in by_setting(results.attackers).items():
        cells = []
        for each in own:
            low, high = outward(each.texts * each.identified.low, each.texts * each.identified.high, 1)
            cells.append({"correct": each.texts * each.identified.value, "low": low, "high": high})
        rows.append({
            "epsilon": "none" if setting.epsilon is None else f"{setting.epsilon:g}", "cells": cells,
            "changed": results.facts["changed"][setting.name],
        })  # fmt: skip
    return rows


def table_tex(results: Results) -> str:
    """The main table as LaTeX; Table 1 where the paper's protocol ran."""
    said, form = "% 95 % intervals in which authors are what is sampled.", "llrrrr"
    head = ["attacker", "knows", r"$\varepsilon$", "identified", "baseline", "advantage"]
    rows = [
        [f"{each.attacker}{' (topics)' if each.task == 'topic' else ''}".replace("_", r"\_"), each.knows,
         "none" if each.epsilon is None else f"{each.epsilon:g}", _tex(each.identified), f"{each.baseline.value:.3f}",
         _tex(each.advantage)]
        for each in results.attackers
    ]  # fmt: skip
    if results.kind == "paper":
        said = f"% Correct of {results.attackers[0].texts} texts, with 95 % intervals in which authors are what is sampled."
        form, head = "lrrrr", [r"$\varepsilon$", *ABOUT]
        rows = [
            [row["epsilon"], *(f"{c['correct']:.3g} [{c['low']:.1f}, {c['high']:.1f}]" for c in row["cells"])]
            for row in paper_rows(results)
        ]
    lines = [" & ".join(row) + r" \\" for row in [head, *rows]]
    top, rest = [said, rf"\begin{{tabular}}{{{form}}}", r"\hline", lines[0], r"\hline"], lines[1:]
    return "\n".join([*top, *rest, r"\hline", r"\end{tabular}", ""])


def _tex(each: Interval) -> str:
    low, high = outward(each.low, each.high, 3)
    return f"{each.value:.3f} [{low:.3f}, {high:.3f}]"


def share(each: Interval) -> str:
    """A share as a percentage with its 95 % interval."""
    return f"{percent(each.value)} ({between(each.low, each.high)})"
