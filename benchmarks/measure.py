"""Pairs measured in turn, commands in processes of their own, and made-up texts: what the table and the rates share."""

from __future__ import annotations

import json
import os
import platform
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Final, NamedTuple

from publius.noise.randomness import seeded_rng

PUBLIUS: Final = (sys.executable, "-P", "-m", "publius")
TOPICS: Final = tuple(f"topic {letter}" for letter in "abcdefghijklmnopqrst")
_SYLLABLES: Final = [a + b for a in "bdfghklmnprstvwz" for b in ("a", "e", "i", "o", "u", "an", "er", "on")]
_VOCABULARY: Final = 50_000

_ALONE: Final = """
import json, os, sys
child = os.fork()
if not child:
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
    os.execv(sys.argv[1], sys.argv[1:])
_, status, used = os.wait4(child, 0)
print(json.dumps([os.waitstatus_to_exitcode(status), used.ru_utime + used.ru_stime, used.ru_maxrss * 1024]))
"""
"""Starts a command from a small process: the peak of a process counts that of the one it came from."""


class Ran(NamedTuple):
    """Processor seconds of a command and its workers, seconds by the clock, and the peak of its memory in bytes."""

    processor: float
    clock: float
    peak: int


class Row(NamedTuple):
    """How many times as quick as what stands beside it: the least, the median and the most of pairs measured in turn."""

    what: str
    beside: str
    least: float
    median: float
    most: float
    note: str = ""


def command(folder: Path, *arguments: str | Path, program: Sequence[str] = PUBLIUS) -> Ran:
    """Run a command whose home is ``folder``; byte code is kept there, as an installation has it."""
    kept = {"PUBLIUS_HOME": str(folder / "home"), "PYTHONPYCACHEPREFIX": str(folder / "compiled")}
    own = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"} | kept
    start = time.perf_counter()
    found = subprocess.run(
        [sys.executable, "-S", "-c", _ALONE, *program, *map(str, arguments)], env=own, capture_output=True
    )
    clock = time.perf_counter() - start
    code, processor, peak = json.loads(found.stdout)
    if code:
        raise SystemExit(f"publius {' '.join(map(str, arguments[:1]))}: {found.stderr.decode()}")
    return Ran(processor, clock, peak)


def processor_time(call: Callable[[], object]) -> float:
    """Processor seconds of a call: less disturbed by what else runs than the clock."""
    start = time.process_time()
    call()
    return time.process_time() - start


def row(
    what: str, beside: str, ours: Callable[[], float], theirs: Callable[[], float], pairs: int = 7, note: str = ""
) -> Row:
    """Seconds of theirs over ours, in turn."""
    ratios = []
    for _ in range(pairs):
        own = ours()
        ratios.append(theirs() / own)
    return Row(what, beside, min(ratios), statistics.median(ratios), max(ratios), note)


def made_texts(documents: int, length: int = 120, seed: int = 5) -> list[str]:
    """Texts of made-up words by Zipf's law, with capitals, marks and clitics, of twenty topics in turn."""
    import numpy as np

    rng = seeded_rng(seed)
    words = [_word(number) for number in range(_VOCABULARY)]
    drawn = np.floor(_VOCABULARY ** rng.random((documents, length))).astype(int) - 1
    own = rng.random((documents, length)) < 0.1  # words of the document's topic
    drawn = np.where(own, np.arange(documents)[:, None] % len(TOPICS) + 200 + 20 * (drawn % 50), drawn)
    marked = rng.random((documents, length))
    return [
        " ".join(_written(words[number], mark) for number, mark in zip(*each, strict=True))
        for each in zip(drawn.tolist(), marked.tolist(), strict=True)
    ]


def _word(number: int) -> str:
    word = ""
    while number or not word:
        number, last = divmod(number, len(_SYLLABLES))
        word += _SYLLABLES[last]
    return word


def _written(word: str, mark: float) -> str:
    """A word, and sometimes what stands round a word."""
    if mark < 0.1:
        return word + (". " if mark < 0.05 else ",")
    return word.capitalize() if mark < 0.2 else word + "'s" if mark < 0.22 else word


def write_corpus(path: Path, documents: int, *, authors: int, texts: Sequence[str]) -> Path:
    """JSON lines of ``texts`` in turn, two halves of them exchanged each time, by so many authors."""
    with path.open("w") as file:
        for place in range(documents):
            turn, at = divmod(place, len(texts))
            text = texts[at]
            cut = text.find(" ", len(text) * (turn % 7 + 1) // 9)
            fields = {"id": str(place), "author": f"a{place % authors}", "text": text[cut:] + text[:cut]}
            file.write(json.dumps(fields | {"topic": TOPICS[at % len(TOPICS)]}) + "\n")
    return path


def machine() -> str:
    """The processor, how many of it, Python and the moment's load."""
    model = platform.processor() or platform.machine()
    if Path("/proc/cpuinfo").exists():
        lines = Path("/proc/cpuinfo").read_text().splitlines()
        model = next((line.split(":", 1)[1].strip() for line in lines if line.startswith("model name")), model)
    load = f", load {os.getloadavg()[0]:.1f}" if hasattr(os, "getloadavg") else ""
    return f"{model}, {os.cpu_count()} processors, Python {platform.python_version()}{load}"


def median(values: Sequence[Any]) -> Any:
    """The one in the middle."""
    return statistics.median(values)
