"""``python -m benchmarks.growth [--small] [--engines] [FOLDER]``: how a run grows, as table, JSON and SVG.

Writes growth.json and growth.svg to FOLDER (docs/figures unless given), on a machine that has nothing
else to do. ``--engines`` adds Spark (where it is installed), in turn with local processes.
"""

import argparse
import json
import os
import platform
from pathlib import Path

import matplotlib as mpl
from matplotlib import pyplot as plt

from benchmarks import runs
from benchmarks.machine import processor
from benchmarks.scaling import bench_scaling, settings_of

PLAIN = {"svg.hashsalt": "publius", "svg.fonttype": "none", "font.size": 9}
FULL = {"documents": 4_000, "vocabulary": 32_000, "dimension": 150}
SMALL = {"documents": 300, "vocabulary": 2_000, "dimension": 25}
ROUNDS = 3
NAMES = {"documents": "documents", "vocabulary": "vocabulary_size", "dimension": "dimension"}


def measure(base: dict[str, int], *, engines: bool) -> dict[str, object]:
    """Each of the three doubled twice while the others stay; then the engines and the workers on the most documents."""
    results = {}
    for name, first in base.items():
        sizes = {other: [value] for other, value in base.items()} | {name: [first, 2 * first, 4 * first]}
        results[name] = shown(name, fastest(settings_of(**sizes)))
    large = {name: [value] for name, value in base.items()} | {"documents": [4 * base["documents"]]}
    for workers in range(1, (os.cpu_count() or 1) + 1):
        title = f"local, {workers} workers"
        results[title] = shown(title, bench_scaling(settings_of(**large, workers=workers)))
        if engines:
            title = f"spark, {workers} workers"
            results[title] = shown(
                title, bench_scaling(settings_of(**large, workers=workers, engine="spark"))
            )
    return {
        "python": platform.python_version(),
        "machine": processor(),
        "cores": os.cpu_count(),
        "runs": results,
    }


def fastest(settings):
    """Each setting in its fastest of `ROUNDS` rounds: what else the machine does only makes a run slower."""
    rounds = [bench_scaling(settings) for _ in range(ROUNDS)]
    best = [min(range(ROUNDS), key=lambda r: rounds[r]["seconds"][i]) for i in range(len(settings))]
    columns = [name for name, value in rounds[0].items() if isinstance(value, list)]
    chosen = {name: [rounds[r][name][i] for i, r in enumerate(best)] for name in columns}
    return rounds[0] | chosen


def shown(name, result):
    print(name, result["words_per_second"], "words/s,", result["peak_rss_mb"], "MB", flush=True)
    return result


def table(results) -> str:
    rows = [
        "| run | documents | vocabulary | dimension | words/s | seconds | MB |",
        "|---|---|---|---|---|---|---|",
    ]
    for name, run in results["runs"].items():
        columns = ("documents", "vocabulary_size", "dimension", "words_per_second", "seconds", "peak_rss_mb")
        for values in zip(*(run[column] for column in columns), strict=True):
            rows.append(f"| {name} | " + " | ".join(map(readable, values)) + " |")
    return "\n".join(rows) + "\n"


def readable(value: float) -> str:
    """Whole from a thousand on, four digits below."""
    return f"{value:,.4g}" if value < 1000 and isinstance(value, float) else f"{value:,.0f}"


def draw(results, path: Path) -> None:
    """Seconds against each size, both doubling, with the line of exact proportion."""
    with mpl.rc_context(PLAIN):
        figure, panels = plt.subplots(1, 3, figsize=(8, 3), layout="constrained")
        for axes, (name, column) in zip(panels, NAMES.items(), strict=True):
            run = results["runs"][name]
            sizes, seconds = run[column], run["seconds"]
            axes.loglog(sizes, seconds, "o-", color="#1f5f99", label="measured", base=2)
            axes.loglog(
                sizes, [seconds[0] * size / sizes[0] for size in sizes], "--", color="black", base=2,
                label="proportional",
            )  # fmt: skip
            axes.set(xlabel=name, xticks=sizes, xticklabels=[f"{size:,}" for size in sizes])
            axes.yaxis.set_major_formatter("{x:g}")
        panels[0].set_ylabel("seconds")
        panels[0].legend()
        figure.savefig(path, metadata={"Date": None, "Creator": None}, facecolor="white")


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("folder", nargs="?", type=Path, default=Path("docs/figures"))
    parser.add_argument("--small", action="store_true", help="small sizes, to see whether it works")
    parser.add_argument("--engines", action="store_true", help="Spark in turn with local processes")
    parser.add_argument(
        "--runs", type=int, nargs="+", metavar="DOCUMENTS", help="whole runs at these numbers instead"
    )
    asked = parser.parse_args()
    asked.folder.mkdir(parents=True, exist_ok=True)
    if asked.runs:
        measured = runs.measure(asked.runs)
        (asked.folder / "growth-runs.json").write_text(
            json.dumps(measured, indent=1) + "\n", encoding="utf-8"
        )
        runs.draw(measured, asked.folder / "growth-runs.svg")
        print(json.dumps(measured["seconds"]))
        return
    results = measure(SMALL if asked.small else FULL, engines=asked.engines)
    (asked.folder / "growth.json").write_text(json.dumps(results, indent=1) + "\n", encoding="utf-8")
    print(table(results))
    draw(results, asked.folder / "growth.svg")


if __name__ == "__main__":
    main()
