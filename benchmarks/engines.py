"""Local processes beside Spark, in turn, and two workers beside one: words a second of the same corpus.

Spark runs under an interpreter of its own environment; both engines are measured after they have started.
"""

import json
import os
import statistics
import subprocess
import sys

DOCUMENTS = 8_000
WORDS = 33_860
DIMENSION = 300
ROUNDS = 3


def main(spark_python: str | None) -> list[dict[str, object]]:
    cores = os.cpu_count() or 1
    runs: dict[str, list[float]] = {"one worker": [], "local": [], "spark": []}
    for _ in range(ROUNDS):
        runs["one worker"].append(_words_per_second(sys.executable, "local", 1))
        runs["local"].append(_words_per_second(sys.executable, "local", cores))
        if spark_python is not None:
            runs["spark"].append(_words_per_second(spark_python, "spark", cores))
    shape = {"documents": DOCUMENTS, "vocabulary_size": WORDS, "dimension": DIMENSION, "workers": cores}
    results = [_compared("engine local", shape, runs["local"], runs["one worker"])]
    if runs["spark"]:
        results.append(_compared("engine spark", shape, runs["spark"], runs["local"]))
    return results


def _words_per_second(python: str, engine: str, workers: int) -> float:
    command = [python, "-m", "benchmarks", "scaling", "--documents", str(DOCUMENTS), "--words", str(WORDS),
               "--dimension", str(DIMENSION), "--engine", engine, "--workers", str(workers), "--json"]  # fmt: skip
    done = subprocess.run(command, check=True, stdout=subprocess.PIPE)
    return json.loads(done.stdout)["words_per_second"][0]


def _compared(name: str, shape: dict[str, int], ours: list[float], theirs: list[float]) -> dict[str, object]:
    ratios = sorted(one / other for one, other in zip(ours, theirs, strict=True))
    return {
        "benchmark": name,
        **shape,
        "words_per_second": statistics.median(ours),
        "reference_words_per_second": statistics.median(theirs),
        "ratio": round(statistics.median(ratios), 4),
        "ratio_min": round(ratios[0], 4),
        "ratio_max": round(ratios[-1], 4),
    }
