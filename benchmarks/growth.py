"""How the three releases grow: ``python -m benchmarks.growth [--plot FILE.svg] [--most SIZE]``, and the memory each takes.

Processor seconds and peak memory from a thousand documents on, times ten each: a summary to ten million, labels and words
to one million (words: four of each document). A tenth as many authors as documents, at most a hundred thousand.
"""

from __future__ import annotations

import argparse
import tempfile
from pathlib import Path
from typing import Final

from benchmarks.__main__ import Files
from benchmarks.measure import machine

_MOST: Final = {"summarize": 10**7, "label": 10**6, "obfuscate": 10**6}
_NAMES: Final = {"summarize": "summary", "label": "labels", "obfuscate": "words, 4 of each document"}


def main() -> None:
    """Print a line for each run; draw them where a file is named."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.growth", description=__doc__)
    parser.add_argument("--plot", type=Path)
    parser.add_argument("--most", type=int, default=10**7)
    asked = parser.parse_args()
    print(machine(), flush=True)
    found: dict[str, list[tuple[int, float, int]]] = {kind: [] for kind in _MOST}
    with tempfile.TemporaryDirectory() as name:
        files = Files(Path(name), 1_000)
        size = 1_000
        while size <= asked.most:
            corpus = files.of(size, min(100_000, size // 10))
            for kind, most in _MOST.items():
                if size <= most:
                    ran = files.run(kind, corpus, 1, *(("--length", "4") if kind == "obfuscate" else ()))
                    found[kind].append((size, ran.processor, ran.peak))
                    print(f"{kind:<10}{size:>11,}{ran.processor:>9.1f} s{ran.peak / 2**20:>7.0f} MB", flush=True)
            corpus.unlink()
            size *= 10
    if asked.plot:
        _draw(found, asked.plot)


def _draw(found: dict[str, list[tuple[int, float, int]]], place: Path) -> None:
    from matplotlib.figure import Figure

    figure = Figure(figsize=(7, 3), layout="constrained")
    time, memory = figure.subplots(1, 2)
    for kind, rows in found.items():
        sizes = [size for size, _, _ in rows]
        time.loglog(sizes, [seconds for _, seconds, _ in rows], marker="o", label=_NAMES[kind])
        memory.semilogx(sizes, [peak / 2**20 for _, _, peak in rows], marker="o")
    time.set(xlabel="documents", ylabel="processor seconds")
    memory.set(xlabel="documents", ylabel="peak memory, MB", ylim=(0, None))
    figure.legend(*time.get_legend_handles_labels(), loc="outside upper center", ncols=3)
    figure.savefig(place)


if __name__ == "__main__":
    main()
