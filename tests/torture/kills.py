"""SIGKILL at random instants of a release, and what is there afterwards; then the same release again."""

import shutil
import tempfile
import time
from pathlib import Path

from publius.audit.outcomes import Findings, violations
from publius.noise.randomness import seeded_rng
from torture import bench
from torture.children import run_child

_DOCUMENTS = 60


def torture_kills(count, seed=1):
    """``count`` kills: the folder is whole or absent, and the next run completes."""
    rng = seeded_rng(seed)
    landed, torn, stuck = 0, [], []
    with tempfile.TemporaryDirectory() as name:
        bench.warm(Path(name))
        corpus = bench.write_corpus(Path(name) / "corpus.jsonl", _DOCUMENTS)
        lengths = {format: _duration(corpus, Path(name) / "probe", format) for format in bench.FORMATS}
        while landed < count:
            format = bench.FORMATS[landed % len(bench.FORMATS)]
            delay = float(rng.random()) * lengths[format] * 1.05
            folder = Path(name) / f"run{landed}"
            folder.mkdir()
            was_killed, found = _kill(corpus, folder / "out", format, delay)
            landed += was_killed
            torn += [f"{format} after {delay:.4f} s"] if found == "torn" else []
            if found == "absent":
                signal, result = run_child(
                    lambda f=format, o=folder / "out": bench.obfuscate(corpus, o, f) and None
                )
                recovered = not signal and result[0] == "" and bench.whole(folder / "out", format, _DOCUMENTS)
                stuck += [] if recovered else [f"{format} after {delay:.4f} s: {result}"]
            shutil.rmtree(folder)
    checks = (
        violations("kills: torn folders", landed, len(torn)),
        violations("kills: not recovered by the next run", landed, len(stuck)),
    )
    return Findings(checks, {"kills": landed, "problems": (torn + stuck)[:20]})


def _duration(corpus, out, format):
    """Seconds of a release in a fork: the longest of three."""
    longest = 0.0
    for _ in range(3):
        start = time.perf_counter()
        run_child(lambda: bench.obfuscate(corpus, out, format) and None)
        longest = max(longest, time.perf_counter() - start)
        shutil.rmtree(out)
    return longest


def _kill(corpus, out, format, delay):
    """Whether the kill came before the end, and the state of the folder."""
    signal, _ = run_child(lambda: bench.obfuscate(corpus, out, format) and None, kill_after=delay)
    if not out.exists():
        return bool(signal), "absent"
    return bool(signal), "whole" if bench.whole(out, format, _DOCUMENTS) else "torn"
