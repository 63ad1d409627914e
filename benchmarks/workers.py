"""Two workers beside one on the same file, by the clock: rows of ``prototype``, and words without a search.

Each run is a process of its own, file to file with everything it reads and loads, and both numbers of workers take
turns. Wants a machine with nothing else to do.
"""

from __future__ import annotations

import statistics
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

from benchmarks.summarize import Measured, made_corpus, made_reference, run_rows, run_words
from publius.vectors.embeddings import Embeddings

LENGTH: Final = 187
ROUNDS: Final = 9
_FIRST: Final = 2000


def main(documents: int = 200_000, workers: int = 2, rounds: int = ROUNDS) -> list[dict[str, Any]]:
    """Median and range of the ratios of the clock, and of processor time, one worker over ``workers``."""
    words = [word for word in Embeddings.load().vocabulary[:30_000] if word.isascii() and word.isalpha()]
    with tempfile.TemporaryDirectory() as name:
        folder, corpus = Path(name), Path(name) / "corpus.jsonl"
        made_reference(folder / "reference", words)
        runs: dict[str, Callable[[int], Measured]] = {
            "prototype": lambda count: run_rows(folder, corpus, count),
            "exponential": lambda count: run_words(folder, corpus, count, LENGTH),
        }
        made_corpus(corpus, words, _FIRST, _FIRST, LENGTH)
        for run in runs.values():  # what is written once is written now
            run(workers)
        made_corpus(corpus, words, documents, documents, LENGTH)
        return [_compared(kind, run, documents, workers, rounds) for kind, run in runs.items()]


def _compared(
    kind: str, run: Callable[[int], Measured], documents: int, workers: int, rounds: int
) -> dict[str, Any]:
    pairs = [(run(1), run(workers)) for _ in range(rounds)]
    ratios = sorted(one.seconds / more.seconds for one, more in pairs)
    return {
        "benchmark": "workers",
        "mechanism": kind,
        "documents": documents,
        "length": LENGTH,
        "workers": workers,
        "seconds": round(statistics.median(more.seconds for _, more in pairs), 2),
        "one_worker_seconds": round(statistics.median(one.seconds for one, _ in pairs), 2),
        "ratio": round(statistics.median(ratios), 3),
        "ratio_min": round(ratios[0], 3),
        "ratio_max": round(ratios[-1], 3),
        "processor_ratio": round(
            statistics.median(one.processor_seconds / more.processor_seconds for one, more in pairs), 3
        ),
    }
