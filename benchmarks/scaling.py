"""What releases of large corpora cost, by rates measured now: ``python -m benchmarks --scaling``."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Final

from benchmarks.__main__ import Files

SIZES: Final = (10**6, 10**8, 10**9)
_RUNS: Final = {"label": (4_000, 24_000), "summarize": (4_000, 24_000), "obfuscate": (200, 1_700)}
_PAIRS: Final = 3


def scaling(folder: Path) -> Iterator[str]:
    """Hours of one processor for each release at each size: the least and most of three rates.

    A rate is the difference of two sizes' processor time over that of their documents, so what a start takes is in none.
    """
    files = Files(folder, 1_000)
    yield (
        f"{'documents of 120 words':<24}{'us a document':>16}" + "".join(f"{n:>22,}" for n in SIZES) + f"{'peak':>9}"
    )
    for kind, (few, many) in _RUNS.items():
        corpora = [files.of(size) for size in (few, many)]
        rates, peak = [], 0
        for _ in range(_PAIRS):
            small, large = (files.run(kind, corpus) for corpus in corpora)
            rates.append((large.processor - small.processor) / (many - few))
            peak = max(peak, large.peak)
        least, most = min(rates), max(rates)
        hours = "".join(f"{least * n / 3600:>10.3g} to{most * n / 3600:>7.3g} h" for n in SIZES)
        yield f"{kind:<24}{least * 1e6:>8.0f} to{most * 1e6:>5.0f}{hours} {peak / 2**20:>5.0f} MB"
    few, many = (files.run("summarize", files.of(40_000, authors)).peak for authors in (4_000, 40_000))
    yield f"summarize: {max(0, many - few) / 36_000:.0f} bytes an author more"
