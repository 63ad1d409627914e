"""Write docs/court.md from what `make court` stored in benchmarks/court. ``make pages`` runs it; a test compares."""

import json
import sys
from collections import Counter
from pathlib import Path

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT))

from benchmarks.court.trials import Trial, trials  # noqa: E402
from publius.audit.case import Case, counted  # noqa: E402
from publius.audit.claim import Claim, content  # noqa: E402
from publius.audit.looks import Look  # noqa: E402
from publius.audit.target import target_named  # noqa: E402
from publius.audit.verdicts import claimed, fault  # noqa: E402
from publius.noise.randomness import seeded_rng  # noqa: E402

PAGE = ROOT / "docs" / "court.md"
COURT = ROOT / "benchmarks" / "court"
_HEAD = """\
# Verdicts on other tools

What the mechanisms of other tools claim, tried on twelve made words by `make court`. {count}.

<details><summary>More: the verdicts</summary>

Each tool stands in an environment of its own ([how it is tried](how-to/audit-a-mechanism.md)). A verdict is about one
claim of one version on these words. *Not refuted* is no proof: it says which smaller claim would have been refuted. A
tool may be right in what it is made for and refuted in what is tried here.

"At least" is a lower bound on the largest log-ratio that was found, in nats, "claimed" what is claimed of the same two
inputs. "Known words": words of no vocabulary were kept from the tool.

| tool | what is tried | claim | verdict | at least / claimed | draws |
|---|---|---|---|---|---|
"""
_REPLAY = """
</details>

<details><summary>More: the counterexamples</summary>

Each can be tried again in seconds, in `benchmarks/court/cases/NAME`, on draws that were stored and had no part in
finding it: `publius audit --replay case.json --target recorded:draws.jsonl`. In a checkout where `make court` has run
it can be tried on the tool itself: name the command that stands in the case.
"""
_NOT_FOUND = (
    ("mldp-text, TEM scores the words beyond the threshold wrongly",
     "with its fixed beta of 0.001 that branch comes less than once in thousands of draws among so few words"),
    ("mldp-text, truncated Gumbel has constants from one random word", "it cannot be made on Python 3.11 or newer"),
    ("pypantera, TEM with its usual beta never draws a word beyond the threshold",
     "such words should come less than once in thousands of draws"),
    ("mldp-text, squared distances with an approximate index", "the index needs hundreds of words to be made"),
    ("mldp-text, SynTF; dp-diffractor, several lists", "they need data that no package brings"),
    ("DP-MLM with a language model", "no weights are to be had where this runs: what is tried of it is its own code on "
     "made logits, behind stand-ins for torch and transformers"),
    ("weights that underflow to zero at large epsilons", "no draw shows that what hardly ever happens never does"),
    ("SanText, CusText and RANTEXT as their authors wrote them; pypantera's WBB", "no release to install"),
    ("a second start that hangs, memory, speed", "nothing is claimed of that here"),
)  # fmt: skip


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
    rows = "\n".join(_row(trial, found) for trial, found in tried)
    cases = "\n".join(
        f"\n**{trial.tool} {found['version']}, {trial.title}** (`{trial.name}`)\n\n{_explained(trial)}"
        for trial, found in tried
        if found["verdict"] == "refuted"
    )
    return _HEAD.format(count=count) + rows + "\n" + _REPLAY + cases + "\n" + _not_found()


def _not_found() -> str:
    start = (
        "\n</details>\n\n<details><summary>More: known faults that are not among them, and why</summary>\n\n"
    )
    rows = "\n".join(f"| {what} | {why} |" for what, why in _NOT_FOUND)
    return f"{start}| fault | why |\n|---|---|\n{rows}\n\n</details>\n"


def _row(trial: Trial, found: dict) -> str:
    claim = claimed(Claim.read(COURT / "cases" / trial.name / "claim.toml"))
    forked = ", also in forked processes" if trial.claim.get("forked") else ""
    start = f"| {trial.tool} {found['version']} | {trial.title} | {claim}{forked} | "
    if found["verdict"] == "not tried":
        return start + "not tried: it gives no output | | |"
    if found["verdict"] == "refuted" and found["kind"] != "ratio":
        return start + f"refuted | {fault(_case(trial))} | {found['draws']:,} |"
    bounds = f"{found['lower_bound']:.2f} / {found['claimed']:.2f}"
    return start + f"{found['verdict'].replace('-', ' ')} | {bounds} | {found['draws']:,} |"


def _case(trial: Trial) -> Case:
    return Case.read(COURT / "cases" / trial.name / "case.json")


def _explained(trial: Trial) -> str:
    """A counterexample in three lines: the inputs, what was seen, why."""
    case, folder = _case(trial), COURT / "cases" / trial.name
    one, two = (json.dumps(content(each, case.unit), ensure_ascii=False) for each in case.inputs[:2])
    if case.kind == "unknown":
        lines = [f"Input: {one}.", f"Seen: {json.dumps(case.event[0])} in an output."]
    elif case.kind in ("state", "forked"):
        lines = [f"Input: {one}, {case.draws} times in each of two processes.", f"Seen: {fault(case)}."]
    else:
        with target_named(f"recorded:{folder / 'draws.jsonl'}", case.unit) as target:
            drawn = [
                counted(case.look, target.draws(each, case.draws, seeded_rng(0)) or [])
                for each in case.inputs
            ]
        seen = [sum(each[output] for output in case.event) for each in drawn]
        lines = [
            f"Inputs: {_cut(one)} and {_cut(two)}, for which at most {case.claimed:.3g} nats are claimed.",
            f"Seen: {_event(case.look, case.event)} {seen[0]:,} times in {drawn[0].total():,} and {seen[1]:,} times in "
            f"{drawn[1].total():,}; at least {case.lower_bound:.3g} nats.",
        ]
    return "  \n".join([*lines, f"Why: {trial.because}"])


def _event(look: Look, event: tuple) -> str:
    kinds = {
        "output": "the output",
        "length": "the number of words",
        "characters": "the number of characters",
        "capitals": "the pattern of capitals",
        "number": "the range of a number",
        "bits": "the exponent of the last bit that is set",
    }
    what = kinds.get(look[0], f"at place {look[1]}" if look[0] == "at" else f"that it holds {look[-1]!r}")
    shown = [
        "a refusal"
        if "\0" in each
        else json.dumps(each, ensure_ascii=False)
        if isinstance(each, str)
        else " ".join(each)
        for each in event
    ]
    return f"{what} {_cut(' or '.join(shown))}"


def _cut(text: str, most: int = 90) -> str:
    text = text.replace("|", "\\|")
    return text if len(text) <= most else text[: most - 3] + "..."


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
