"""Whole runs of ``prototype`` and ``summarize`` as documents grow, and what a large corpus costs at that rate.

Each run is a process of its own, and time is processor time, so that a machine with other work gives the same figures.
What starts a run is paid once, so a rate is taken between two sizes.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

from benchmarks.machine import processor
from benchmarks.summarize import LENGTH, made_corpus, made_reference, run_rows, run_summary
from publius.errors import UsageError
from publius.vectors.embeddings import Embeddings

RUNS: Final = {"prototype": run_rows, "summarize": run_summary}


def measure(sizes: Sequence[int]) -> dict[str, Any]:
    """Processor seconds of each kind of run at each number of documents of `LENGTH` words, two by an author."""
    if len(sizes) < 2 or list(sizes) != sorted({*sizes}) or sizes[0] < 100:
        raise UsageError("give two numbers of documents or more, from 100, each larger than the one before")
    words = [word for word in Embeddings.load().vocabulary[:30_000] if word.isascii() and word.isalpha()]
    seconds: dict[str, list[float]] = {name: [] for name in RUNS}
    with tempfile.TemporaryDirectory() as name:
        folder, corpus = Path(name), Path(name) / "corpus.jsonl"
        made_reference(folder / "reference", words)
        made_corpus(corpus, words, sizes[0], sizes[0] // 2)
        for run in RUNS.values():  # what is written once is written now
            run(folder, corpus)
        for size in sizes:
            made_corpus(corpus, words, size, size // 2)
            for kind, run in RUNS.items():
                seconds[kind].append(round(run(folder, corpus).processor_seconds, 3))
    return {"machine": processor(), "length": LENGTH, "documents": list(sizes), "seconds": seconds}


def cost(
    measured: dict[str, Any], documents: float, processors: int | None = None, dollars: float | None = None
) -> dict[str, Any]:
    """Machine hours of ``documents``, and what they cost at ``dollars`` an hour of a machine of ``processors``.

    Computed from `measure`: the rate between its smallest and its largest run.
    """
    processors = processors or os.cpu_count() or 1
    if documents <= 0 or processors < 1 or (dollars is not None and dollars <= 0):
        raise UsageError("every figure must be positive")
    sizes = measured["documents"]
    report: dict[str, Any] = {
        "computed": True,
        "documents": documents,
        "length": measured["length"],
        "processors": processors,
    }
    for kind, seconds in measured["seconds"].items():
        each = (seconds[-1] - seconds[0]) / (sizes[-1] - sizes[0])
        hours = documents * each / processors / 3600
        report[kind] = {"microseconds": round(1e6 * each, 1), "machine_hours": round(hours, 3)}
        if dollars is not None:
            report[kind]["dollars"] = round(hours * dollars, 2)
    return report


def in_words(measured: dict[str, Any], processors: int = 2, dollars: float = 0.1) -> str:
    """What the docs say of the runs and of a hundred million documents at that rate, each kind in turn."""
    found = cost(measured, 1e8, processors, dollars)
    sizes = measured["documents"]
    each, hours, price = (
        [found[kind][name] for kind in ("prototype", "summarize")]
        for name in ("microseconds", "machine_hours", "dollars")
    )
    return (
        f"Documents of {measured['length']} words: `prototype` takes {each[0]:.0f} microseconds of a processor for "
        f"each, `summarize` with 20 strata and 200 themes {each[1]:.0f}, the rate between {sizes[0]:,} and "
        f"{sizes[-1]:,} documents. So a hundred million take a machine of two processors {hours[0]:.2f} and "
        f"{hours[1]:.2f} hours, and at {dollars:.2f} dollars an hour cost {price[0]:.2f} and {price[1]:.2f} dollars: "
        "computed, not measured."
    )


def draw(measured: dict[str, Any], path: Path) -> None:
    """Seconds against documents, both logarithmic."""
    import matplotlib as mpl
    from matplotlib import pyplot as plt

    with mpl.rc_context({"svg.hashsalt": "publius", "svg.fonttype": "none", "font.size": 9}):
        figure, axes = plt.subplots(figsize=(5, 3.2), layout="constrained")
        for kind, seconds in measured["seconds"].items():
            axes.plot(measured["documents"], seconds, marker="o", markersize=3, label=kind)
        axes.set(xscale="log", yscale="log", xlabel="documents", ylabel="seconds of a processor")
        axes.grid(alpha=0.3)
        axes.legend()
        figure.savefig(path, metadata={"Date": None})
        plt.close(figure)
