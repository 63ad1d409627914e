"""Write docs/court.md from what `make court` stored in benchmarks/court. ``make pages`` runs it; a test compares."""

import json
import sys
from collections import Counter
from pathlib import Path

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT))

from benchmarks.court.trials import Trial, trials  # noqa: E402
from publius.audit.case import Case, counted  # noqa: E402
from publius.audit.claim import Claim  # noqa: E402
from publius.audit.target import target_named  # noqa: E402
from publius.audit.verdicts import claimed, fault, shown_event, shown_input  # noqa: E402
from publius.noise.randomness import seeded_rng  # noqa: E402

PAGE = ROOT / "docs" / "court.md"
COURT = ROOT / "benchmarks" / "court"
_HEAD = """\
# Verdicts on other tools

What the mechanisms of other tools claim, tried on twelve made words by `make court`. {count}.

<details><summary>More: the verdicts</summary>

Each tool answers from its own process ([how](how-to/audit-a-mechanism.md)). A verdict is about one
claim of one version on these words.

Claims are per word, those with an epsilon per unit of the Euclidean distance, unless they say otherwise. "At least" is
a lower bound on the largest log-ratio, in nats, "claimed" what is claimed of the same inputs.
*Not refuted* is no proof: with less than the share in brackets of its claim the mechanism would have been refuted.
"Known words": words of no vocabulary were kept from the tool.

| tool | what is tried | claim | verdict | at least / claimed | draws |
|---|---|---|---|---|---|
"""
_REPLAY = """
</details>

<details><summary>More: the counterexamples</summary>

All but those of two processes can be tried again in seconds, in `benchmarks/court/cases/NAME`, on draws that had no
part in finding them: `publius audit --replay case.json --target recorded:draws.jsonl`. Where `make court` has run, all
can be on the tool itself: name the case's command.
"""
_KNOWN = (
    ("mldp-text", "Vickrey looks at the input after the noise", "mldp-text-known-vickrey-plain", ""),
    ("mldp-text", "unknown words pass", "mldp-text-multivariate_calibrated-plain", ""),
    ("mldp-text", "noise from the state of the process, which forks share",
     "mldp-text-known-multivariate_calibrated-plain-forked", ""),
    ("mldp-text", "TEM scores the words beyond the threshold wrongly", "",
     "with its fixed beta of 0.001 that branch comes less than once in thousands of draws among so few words"),
    ("mldp-text", "truncated Gumbel takes its constants from one random word", "",
     "it cannot be made on Python 3.11 or newer"),
    ("mldp-text", "squared distances, truncated Poisson and inexact neighbors with an approximate index", "",
     "that index needs hundreds of words to be made"),
    ("mldp-text", "SynTF: disjoint supports", "", "it needs data that no package brings"),
    ("pypantera", "Mahalanobis normalizes after the linear map", "pypantera-Mahalanobis-near", ""),
    ("pypantera", "TEM returns the input in place of a word beyond the threshold", "pypantera-TEM-half-plain", ""),
    ("pypantera", "TEM returns the input with its usual beta, too", "",
     "that branch should come less than once in thousands of draws"),
    ("pypantera", "CusText: disjoint supports, scores scaled by word", "pypantera-CusText-plain", ""),
    ("pypantera", "noise from the state of the process, which forks share", "pypantera-CMP-plain-forked", ""),
    ("pypantera", "WBB", "", "it is in no release"),
    ("dp-diffractor", "unknown words pass", "dp-diffractor-geometric-plain", ""),
    ("dp-diffractor", "the seed is 42 by default", "dp-diffractor-known-geometric-plain", ""),
    ("dp-diffractor", "function words pass", "dp-diffractor-known-geometric-fresh-common", ""),
    ("dp-diffractor", "epsilon is per place in a list, whatever the distance of the vectors", "",
     "it claims no more, which is tried"),
    ("dp-diffractor", "several lists: not drawn uniformly, and one that lacks a word is left out", "",
     "they need vectors that no package brings"),
    ("dpmlm", "rewriting keeps stop words", "dpmlm-rewriting-common", ""),
    ("dpmlm", "the rest of it, with a language model", "",
     "no weights at hand: its own code is tried, on made logits"),
    ("diffprivlib", "low bits of floating-point noise", "diffprivlib-known-diffprivlib-Laplace-plain", ""),
    ("SanText, CusText, RANTEXT", "as their authors wrote them", "", "there is no release to install"),
    ("all", "weights that underflow to zero at large epsilons", "",
     "no draw shows that what hardly ever happens never does"),
    ("all", "a second start that hangs, memory, speed, documentation", "", "nothing is claimed of that here"),
)  # fmt: skip
"""Faults that were known before: the tool, what is wrong, and the trial that finds it, or why none does."""


def page() -> str:
    """The whole page."""
    stored = json.loads((COURT / "verdicts.json").read_text(encoding="utf-8"))
    tried = [(trial, stored[trial.name]) for trial in trials() if trial.name in stored]
    counts = Counter(found["verdict"] for _, found in tried)
    tools = len({trial.tool for trial, _ in tried})
    count = (
        f"Of {len(tried)} claims of {tools} tools {counts['refuted']} are refuted, {counts['not-refuted']} are not, "
        f"and {counts['not tried']} could not be tried"
    )
    if left := len(list(trials())) - len(tried):
        count += f"; {left} more are prepared and have no stored verdict yet"
    tools_before = [None, *(trial.tool for trial, _ in tried)]
    rows = "\n".join(
        _row(trial, found, first=trial.tool != before)
        for (trial, found), before in zip(tried, tools_before, strict=False)
    )
    cases = "\n".join(
        f"\n**{trial.title}** (`{trial.name}`)\n\n{_explained(trial)}"
        for trial, found in tried
        if found["verdict"] == "refuted"
    )
    return _HEAD.format(count=count) + rows + "\n" + _REPLAY + cases + "\n" + _known(stored)


def _known(stored: dict) -> str:
    """How many faults that were known before were found, and each that was not, with the reason."""
    missed = [
        f"| {tool} | {fault_known} | {why or _UNSEEN} |"
        for tool, fault_known, name, why in _KNOWN
        if stored.get(name, {}).get("verdict") != "refuted"
    ]
    rows = "\n".join(missed)
    return (
        "\n</details>\n\n<details><summary>More: faults that were known before, and not found</summary>\n\n"
        f"Of {len(_KNOWN)} faults that were known before, {len(_KNOWN) - len(missed)} were found, all but one without "
        "hints: pypantera's Mahalanobis has words placed to show it in few draws; on the other words it took 320,000, "
        "at epsilon 0.5.\n\n"
        f"| tool | fault not found | why |\n|---|---|---|\n{rows}\n\n</details>\n"
    )


_UNSEEN = "these draws did not show it"


def _row(trial: Trial, found: dict, *, first: bool) -> str:
    """A line of the table; the tool stands in its first line alone."""
    claim = claimed(Claim.read(COURT / "cases" / trial.name / "claim.toml"))
    claim = claim.replace(" (euclidean)", "").removesuffix(" per word")
    forked = ", also in forked processes" if trial.claim.get("forked") else ""
    tool = f"{trial.tool} {found['version']} " if first else ""
    start = f"| {tool}| {trial.title} | {claim}{forked} | "
    if found["verdict"] == "not tried":
        return start + f"not tried: {trial.impossible or found['why']} | | |"
    if found["verdict"] == "refuted" and found["kind"] != "ratio":
        return start + f"refuted | {fault(_case(trial))} | {found['draws']:,} |"
    bounds = f"{found['lower_bound']:.2f} / {found['claimed']:.2f}"
    if found["verdict"] == "not-refuted":
        bounds += f" ({found['lower_bound'] / found['claimed']:.0%})"
    if found.get("refused"):
        bounds += f", {found['refused']} words refused"
    return start + f"{found['verdict'].replace('-', ' ')} | {bounds} | {found['draws']:,} |"


def _case(trial: Trial) -> Case:
    return Case.read(COURT / "cases" / trial.name / "case.json")


def _explained(trial: Trial) -> str:
    """A counterexample in three lines: the inputs, what was seen, why."""
    case, folder = _case(trial), COURT / "cases" / trial.name
    one, two = (shown_input(each, case.unit) for each in case.inputs[:2])
    if case.kind == "unknown":
        lines = [f"Input, and seen in an output: {one}."]
    elif case.kind in ("state", "forked"):
        lines = [f"Input: {one}, {case.draws} times in each of two processes, with the same outputs."]
    else:
        with target_named(f"recorded:{folder / 'draws.jsonl'}", case.unit) as target:
            drawn = [
                counted(case.look, target.draws(each, case.draws, seeded_rng(0)) or [])
                for each in case.inputs
            ]
        seen = [sum(each[output] for output in case.event) for each in drawn]
        lines = [
            f"Inputs: {one} and {two}.",
            f"Seen: {shown_event(case)} {seen[0]:,} times in {drawn[0].total():,} and {seen[1]:,} times in "
            f"{drawn[1].total():,}.",
        ]
    return "  \n".join([*lines, f"Why: {trial.because}"])


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
