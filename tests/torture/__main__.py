"""``python -m torture``: every part at full size, each recorded when it is done, with progress on standard error.

Run again with the same seed and folder it goes on with what is missing. Exit code 70 when a check fails.
"""

import argparse
import json
import sys
import time
from dataclasses import asdict
from pathlib import Path

from audit.hostile_files import SIZE, torture_hostile
from publius.audit.outcomes import Check
from publius.audit.runs import machine
from torture.canaries import torture_canaries
from torture.faults import torture_faults
from torture.fuzz import torture_fuzz
from torture.kills import torture_kills
from torture.ledgers import torture_concurrent, torture_ledger_kills
from torture.limits import torture_full_disk, torture_memory
from torture.malformed import torture_malformed
from torture.observable import torture_observable
from torture.watching import torture_watch, torture_watch_steps
from torture.words import torture_words


def parts(scale, seed, folder):
    """The parts by name; ``scale`` 1 is the size of the goals; what one keeps of itself lies in ``folder``."""

    def some(goal, least=1):
        return max(least, round(goal * scale))

    return {
        "faults": lambda: torture_faults(some(2000)),
        "kills": lambda: torture_kills(some(500), seed),
        "observable": lambda: torture_observable(some(50), seed),
        "watch": lambda: torture_watch(some(10_000, 200), some(50, 5), seed),
        "watch steps": torture_watch_steps,
        "full disk": lambda: torture_full_disk(some(300), seed),
        "memory limit": lambda: torture_memory(some(40), seed),
        "hostile files": lambda: torture_hostile(some(SIZE, 10_000)),
        "malformed files": lambda: torture_malformed(some(5000), seed),
        "words": lambda: torture_words(some(10**6), seed),
        "canaries": lambda: torture_canaries(some(540)),
        "concurrent ledgers": lambda: torture_concurrent(16, some(200)),
        "ledger kills": lambda: torture_ledger_kills(some(200), seed),
        "fuzzing": lambda: torture_fuzz(some(10**7, 600), seed, kept=folder),
    }


def main():
    """Parse, run what is missing, write the whole."""
    parser = argparse.ArgumentParser(prog="torture", description=__doc__)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--scale", type=float, default=1.0, help="1 is the size of the goals")
    parser.add_argument("--output", type=Path, default=Path("audit-results"), help="folder for torture.json")
    parser.add_argument("--only", nargs="*", help="names of parts")
    given = parser.parse_args()
    folder = given.output / f"torture-{given.seed}-{given.scale:g}"
    folder.mkdir(parents=True, exist_ok=True)
    results, search = [], sys.path.copy()
    chosen = {
        name: run
        for name, run in parts(given.scale, given.seed, folder).items()
        if not given.only or name in given.only
    }
    for number, (name, run) in enumerate(chosen.items(), 1):
        sys.path[:] = search  # a command that is called here forgets what PYTHONPATH names
        results.append(
            _recorded(folder / f"{name.replace(' ', '-')}.json", f"{number}/{len(chosen)} {name}", run)
        )
    whole = {
        "seed": given.seed,
        "scale": given.scale,
        "seconds": round(sum(result["seconds"] for result in results), 1),
        "machine": machine(),
        "checks": [Check(**check).as_json() for result in results for check in result["checks"]],
        "figures": {key: value for result in results for key, value in result["figures"].items()},
    }
    whole["figures"].pop("problems", None)
    (given.output / "torture.json").write_text(json.dumps(whole, indent=1) + "\n", encoding="utf-8")
    failed = [check["name"] for check in whole["checks"] if not check["passed"]]
    print("torture: " + (f"FAILED: {'; '.join(failed)}" if failed else "passed"), file=sys.stderr)
    return 70 if failed else 0


def _recorded(path, name, run):
    """The result of a part, run unless ``path`` holds it."""
    if path.exists():
        print(f"{name}: recorded before", file=sys.stderr, flush=True)
        return json.loads(path.read_text(encoding="utf-8"))
    print(f"{name} ...", file=sys.stderr, flush=True)
    start = time.perf_counter()
    found = run()
    result = {
        "seconds": round(time.perf_counter() - start, 1),
        "checks": [asdict(check) for check in found.checks],
        "figures": dict(found.figures),
    }
    path.write_text(json.dumps(result, indent=1) + "\n", encoding="utf-8")
    verdict = "passed" if all(check.passed for check in found.checks) else "FAILED"
    print(f"{name}: {verdict} in {result['seconds']:g} s; {result['figures']}", file=sys.stderr, flush=True)
    return result


if __name__ == "__main__":
    sys.exit(main())
