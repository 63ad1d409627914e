"""Two workers beside one on the same file, by the clock: rows of ``prototype``, and words without a search.

Each run is a process of its own, file to file with everything it reads and loads, and both numbers of workers take
turns. So do as many processes of one worker side by side, each with its share of the file: what the machine gives at
most, as its processors share memory and clock. Wants a machine with nothing else to do.
"""

from __future__ import annotations

import statistics
import tempfile
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, Final

from benchmarks.summarize import Measured, made_corpus, made_reference, run_rows, run_words
from publius.vectors.embeddings import Embeddings

LENGTH: Final = 187
ROUNDS: Final = 9
_FIRST: Final = 2000


def main(documents: int = 200_000, workers: int = 2, rounds: int = ROUNDS) -> list[dict[str, Any]]:
    """Median and range of the ratios of the clock, and of processor time, one worker over ``workers``.

    ``apart_ratio`` is the same of ``workers`` processes that know nothing of each other.
    """
    words = [word for word in Embeddings.load().vocabulary[:30_000] if word.isascii() and word.isalpha()]
    with tempfile.TemporaryDirectory() as name:
        folder, corpus = Path(name), Path(name) / "corpus.jsonl"
        made_reference(folder / "reference", words)
        shares = [folder / f"share {place}" for place in range(workers)]
        for share in shares:
            share.mkdir()
            (share / "reference").symlink_to(folder / "reference")
        runs: dict[str, Callable[[Path, int], Measured]] = {
            "prototype": lambda place, count: run_rows(place, place / corpus.name, count),
            "exponential": lambda place, count: run_words(place, place / corpus.name, count, LENGTH),
        }
        for size in (_FIRST, documents):  # with the first few what is written once is written
            made_corpus(corpus, words, size, size, LENGTH)
            _shared(corpus, shares)
            if size == _FIRST:
                for run in runs.values():
                    run(folder, workers)
                    _apart(run, shares)
        return [_compared(kind, run, folder, shares, documents, rounds) for kind, run in runs.items()]


def _shared(corpus: Path, shares: Sequence[Path]) -> None:
    """The lines of ``corpus`` in as many files, one after another in each."""
    lines = corpus.read_bytes().splitlines(keepends=True)
    for place, share in enumerate(shares):
        part = lines[len(lines) * place // len(shares) : len(lines) * (place + 1) // len(shares)]
        (share / corpus.name).write_bytes(b"".join(part))


def _apart(run: Callable[[Path, int], Measured], shares: Sequence[Path]) -> float:
    """Seconds until all are done that work side by side, each on its share with one worker."""
    start = time.perf_counter()
    with ThreadPoolExecutor(len(shares)) as pool:
        list(pool.map(run, shares, [1] * len(shares)))
    return time.perf_counter() - start


def _compared(
    kind: str,
    run: Callable[[Path, int], Measured],
    folder: Path,
    shares: Sequence[Path],
    documents: int,
    rounds: int,
) -> dict[str, Any]:
    workers, pairs, apart = len(shares), list[tuple[Measured, Measured]](), list[float]()
    for _ in range(rounds):
        one = run(folder, 1)
        pairs.append((one, run(folder, workers)))
        apart.append(one.seconds / _apart(run, shares))
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
        "apart_ratio": round(statistics.median(apart), 3),
        "processor_ratio": round(
            statistics.median(one.processor_seconds / more.processor_seconds for one, more in pairs), 3
        ),
    }
