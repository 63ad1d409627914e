"""A summary of many documents against rows of ``prototype``, file to file; and what memory it takes, at two sizes.

Each run is a process of its own. Time is processor time, so that a ratio holds on a machine with other work; memory is
the peak of the process, and what an author takes is the difference between two numbers of authors. With `workers` a
summary is counted once more by so many processes, and its seconds are compared with those of one.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final, final

import numpy as np

from publius.errors import PubliusError
from publius.files.child import environment
from publius.noise.randomness import seeded_rng
from publius.vectors.embeddings import Embeddings
from publius.vectors.learning.aspects import LearningSettings
from publius.vectors.learning.fit_reference import fit_reference
from publius.vectors.learning.public_counts import fit_counts

STRATA: Final = 20
THEMES: Final = 200
LENGTH: Final = 40
_PUBLIC: Final = 4000
_AT_ONCE: Final = 1000

_ALONE: Final = """
import json, os, sys
child = os.fork()
if not child:
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
    os.execv(sys.argv[1], sys.argv[1:])
_, status, used = os.wait4(child, 0)  # its own time and that of the workers it waited for
print(json.dumps([os.waitstatus_to_exitcode(status), used.ru_utime + used.ru_stime, used.ru_maxrss * 1024]))
"""
"""Starts a command from a process that is smaller than it: the peak of a process counts that of the one it came from,
and this one has made the documents."""


@final
@dataclass(frozen=True)
class Measured:
    """Processor time and seconds of a run, and the peak of its memory in bytes."""

    processor_seconds: float
    seconds: float
    peak: int


def main(documents: int = 1_000_000, authors: int | None = None, workers: int = 2) -> dict[str, Any]:
    """Ratio, memory and what workers help, for ``documents`` of ``authors`` (default: a fifth as many)."""
    authors = authors or max(1, documents // 5)
    words = [word for word in Embeddings.load().vocabulary[:30_000] if word.isascii() and word.isalpha()]
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        made_reference(folder / "reference", words)
        large, few, fewer, small = (folder / f"{each}.jsonl" for each in ("large", "few", "fewer", "small"))
        made_corpus(small, words, 1000, 200)
        made_corpus(large, words, documents, authors)
        run_summary(folder, small), run_rows(folder, small)  # what the first run compiles is no cost of it
        summary, rows = run_summary(folder, large), run_rows(folder, large)
        together = run_summary(folder, large, workers)
        large.unlink()
        made_corpus(few, words, documents // 4, authors)
        made_corpus(fewer, words, documents // 4, authors // 4)
        a_quarter, of_fewer = run_summary(folder, few), run_summary(folder, fewer)
    an_author = (a_quarter.peak - of_fewer.peak) / (authors - authors // 4)
    return {
        "benchmark": "summarize",
        "documents": documents,
        "authors": authors,
        "cells": STRATA * THEMES,
        "length": LENGTH,
        "processor_seconds": round(summary.processor_seconds, 1),
        "prototype_rows_processor_seconds": round(rows.processor_seconds, 1),
        "ratio_to_prototype_rows": round(summary.processor_seconds / rows.processor_seconds, 3),
        "workers": workers,
        "seconds_ratio_with_workers": round(together.seconds / summary.seconds, 3),
        "peak_mb": round(summary.peak / 1e6, 1),
        "peak_mb_of_a_quarter_of_the_documents": round(a_quarter.peak / 1e6, 1),
        "peak_mb_of_a_quarter_of_the_authors_too": round(of_fewer.peak / 1e6, 1),
        "bytes_an_author": round(an_author, 1),
    }


def run_summary(folder: Path, corpus: Path, workers: int = 1) -> Measured:
    by = "kind=" + ",".join(f"s{place:02}" for place in range(STRATA - 1))
    return _run(
        folder, "summarize", str(corpus), "--author-field", "author", "--by", by, "--workers",
        str(workers), "--reference", str(folder / "reference"),
    )  # fmt: skip


def run_rows(folder: Path, corpus: Path, workers: int = 1) -> Measured:
    return _run(
        folder, "obfuscate", str(corpus), "--preserve", "topic", "--bound", "7", "--workers", str(workers),
        "--reference", str(folder / "reference"),
    )  # fmt: skip


def run_words(folder: Path, corpus: Path, workers: int, length: int) -> Measured:
    """Words one by one by the exponential mechanism, which searches nothing."""
    return _run(
        folder, "obfuscate", str(corpus), "--mechanism", "exponential", "--epsilon", "10", "--length", str(length),
        "--allow-padding", "--workers", str(workers),
    )  # fmt: skip


def _run(folder: Path, *arguments: str) -> Measured:
    """One command in a process of its own, whose output is thrown away."""
    output, start = folder / "out", time.perf_counter()
    command = [sys.executable, "-m", "publius", *arguments, "--output", str(output), "--json"]
    own = environment(PYTHONPYCACHEPREFIX=str(folder / "compiled"))  # as an installation has its byte code
    with tempfile.TemporaryFile() as errors:
        run = subprocess.run(
            [sys.executable, "-S", "-c", _ALONE, *command],
            stdout=subprocess.PIPE,
            stderr=errors,
            env=own,
            check=False,
        )
        status, used, peak = json.loads(run.stdout or "[-1, 0, 0]")
        if status:
            errors.seek(0)
            raise PubliusError(f"publius {arguments[0]} failed: {errors.read().decode()[-2000:]}")
    seconds = time.perf_counter() - start
    for path in sorted(output.iterdir()):
        path.unlink()
    output.rmdir()
    return Measured(used, seconds, peak)


def made_reference(folder: Path, words: Sequence[str]) -> None:
    """Topics of made public texts, and 200 themes in them."""
    texts = [(text.split(), f"s{kind:02}") for kind, text in _texts(_PUBLIC, 1, words)]
    found = fit_reference(texts, name="bench", settings=LearningSettings(features="log-odds"))
    counted = fit_counts(
        [text for text, _ in texts], found.places, Embeddings.load(), "english", themes=THEMES
    )
    replace(found, counted=counted).save(folder)


def made_corpus(path: Path, words: Sequence[str], documents: int, authors: int, length: int = LENGTH) -> None:
    rng = seeded_rng(documents)
    with path.open("w", encoding="utf-8") as file:
        for place, (kind, text) in enumerate(_texts(documents, 2, words, length)):
            row = {
                "id": str(place),
                "author": f"a{rng.integers(authors)}",
                "kind": f"s{kind:02}",
                "text": text,
            }
            file.write(json.dumps(row) + "\n")


def _texts(
    documents: int, seed: int, words: Sequence[str], length: int = LENGTH
) -> Iterator[tuple[int, str]]:
    """Half of the words are those of one of 20 kinds, the rest anyone's; by Zipf's law."""
    rng, size = seeded_rng(seed), len(words)
    for start in range(0, documents, _AT_ONCE):
        shape = (min(_AT_ONCE, documents - start), length)
        kinds = rng.integers(0, STRATA, shape[0])
        own = (np.exp(rng.random(shape) * np.log(size // STRATA)) - 1).astype(int) * STRATA + kinds[:, None]
        anyone = (np.exp(rng.random(shape) * np.log(size)) - 1).astype(int)
        chosen = np.where(rng.random(shape) < 0.5, own, anyone)
        for kind, row in zip(kinds.tolist(), chosen.tolist(), strict=True):
            yield kind, " ".join([words[place] for place in row])
