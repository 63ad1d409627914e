"""Try every mechanism and store what refutes it: ``python -m benchmarks.court [NAME ...]``, from the checkout.

Processor time counts all processes of a trial, also the tool's; it says how long the whole takes on a quiet machine.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor, as_completed
from pathlib import Path
from typing import Any

from benchmarks.court.trials import HERE, ROOT, TOOLS, Trial, trials
from publius.audit.case import Case
from publius.audit.claim import content
from publius.audit.outputs import REFUSED, Output, value
from publius.audit.target import target_named
from publius.noise.randomness import system_rng

CASES = HERE / "cases"
VERDICTS = HERE / "verdicts.json"
AT_ONCE = 2
ONE_THREAD = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "NUMBA_NUM_THREADS")
MOST_RECORDED = 100_000
SEED = 7


def main(names: list[str]) -> None:
    """All trials, or those that are named; the others' verdicts are kept."""
    os.chdir(ROOT)
    chosen = [trial for trial in trials() if not names or trial.name in names]
    found = {} if not names else json.loads(VERDICTS.read_text(encoding="utf-8"))
    start = time.monotonic()
    with ThreadPoolExecutor(AT_ONCE) as workers:
        running = {workers.submit(tried, trial): trial.name for trial in chosen}
        for done in as_completed(running):
            verdict = found[running[done]] = done.result()
            spent = f"{verdict['seconds']} s, of the processor {verdict['processor_seconds']} s"
            print(f"{running[done]}: {verdict['verdict']} ({spent})", flush=True)
            ordered = {trial.name: found[trial.name] for trial in trials() if trial.name in found}
            VERDICTS.write_text(json.dumps(ordered, indent=1) + "\n", encoding="utf-8")
    used = sum(found[trial.name]["processor_seconds"] for trial in chosen)
    print(f"{len(chosen)} trials, {time.monotonic() - start:.0f} s, of the processor {used} s")
    left = {trial.name: found[trial.name] for trial in chosen if not trial.impossible}
    for name, verdict in left.items():
        if verdict["verdict"] == "not tried":
            print(f"{name} has no verdict, and should: {verdict['why']}", file=sys.stderr)
    if any(verdict["verdict"] == "not tried" for verdict in left.values()):
        sys.exit(1)


def tried(trial: Trial) -> dict[str, Any]:
    """The verdict on one claim, with its case and draws on which that can be replayed without the tool."""
    folder = CASES / trial.name
    folder.mkdir(parents=True, exist_ok=True)
    for old in folder.iterdir():
        old.unlink()
    (folder / "claim.toml").write_text(trial.toml, encoding="utf-8")
    start = time.monotonic()
    arguments = [
        *(sys.executable, "-m", "publius", "audit", "--target", trial.command, "--json"),
        *("--claim", str(folder / "claim.toml"), "--draws", str(trial.draws), "--seed", str(SEED)),
        *("--output", str(folder / "case.json")),
    ]
    said_here, said_aside = folder / "answer.json", folder / "errors.txt"
    with said_here.open("wb") as out, said_aside.open("wb") as err:
        process = subprocess.Popen(
            arguments, stdout=out, stderr=err, env={**os.environ, **dict.fromkeys(ONE_THREAD, "1")}
        )
        _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    text, errors = (each.read_text(encoding="utf-8", errors="replace") for each in (said_here, said_aside))
    for each in (said_here, said_aside):
        each.unlink()
    version, *_ = TOOLS[trial.tool]
    said = {
        "tool": trial.tool, "version": version, "title": trial.title,
        "seconds": round(time.monotonic() - start),
        "processor_seconds": round(usage.ru_utime + usage.ru_stime),
    }  # fmt: skip
    if process.returncode not in (0, 1) or not text:
        why = errors.strip().splitlines()[-1:] or ["nothing"]
        return {**said, "verdict": "not tried", "why": why[0]}
    answer = json.loads(text)
    keys = ("verdict", "confidence", "lower_bound", "claimed", "draws", "refused")
    said.update({key: answer[key] for key in keys})
    if answer["verdict"] == "refuted":
        said["kind"] = record(trial, folder)
    return said


def record(trial: Trial, folder: Path) -> str:
    """Fresh draws of the case's inputs, on which it is replayed where the tool is not at hand; what kind it is."""
    case = Case.read(folder / "case.json")
    if case.kind not in ("ratio", "unknown"):
        return case.kind
    count = min(case.draws, MOST_RECORDED)
    lines = []
    with target_named(trial.command, case.unit) as target:
        for given in dict.fromkeys(case.inputs):
            outputs = target.draws(given, count, system_rng()) or []
            if case.kind == "unknown" and not outputs:
                continue
            kept: Any = [None if each == REFUSED else _said(each) for each in outputs]
            if all(isinstance(each, str) for each in kept):
                kept = Counter(kept)
            lines.append(json.dumps({"input": content(given, case.unit), "outputs": kept}))
    (folder / "draws.jsonl").write_text("\n".join(lines) + "\n", encoding="utf-8")
    return case.kind


def _said(output: Output) -> Any:
    """An output as the tool gave it."""
    return value(output) if isinstance(output, str) else [value(each) for each in output]


if __name__ == "__main__":
    main(sys.argv[1:])
