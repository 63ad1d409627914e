"""Growth: words a second and memory of whole runs against documents, vocabulary and dimension.

Each run has a process of its own, which loads the vectors, prepares the mechanism, starts the engine and releases a
few batches before the clock starts; memory is that of all its processes, pages they share counted once, sampled
until it ends.
"""

from __future__ import annotations

import itertools
import json
import multiprocessing
import multiprocessing.connection
import os
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Final, final

import numpy as np

from benchmarks.search import synthetic_embeddings
from publius.documents.corpus import Document, open_corpus
from publius.errors import PubliusError, UsageError
from publius.noise.randomness import seeded_rng
from publius.releases.engines import LocalRunner, default_batch_size, protect_corpus
from publius.releases.engines.worker_pool import end_with_parent
from publius.releases.plan import Plan
from publius.settings import MechanismSettings, ReleaseSettings
from publius.text.tokenizer import tokenize
from publius.vectors.embeddings import Embeddings

_SAMPLE: Final = 0.1
_WARM_UP: Final = 2  # batches for every worker
_PIECE: Final = 1000  # documents

_CHECKOUT: Final = str(Path(__file__).resolve().parent.parent)


@final
@dataclass(frozen=True)
class Setting:
    """One run to be measured; ``embeddings`` None makes synthetic vectors of ``vocabulary`` x ``dimension``."""

    documents: int
    vocabulary: int
    dimension: int
    length: int = 30
    epsilon: float | None = None
    mechanism: str = MechanismSettings.mechanism
    embeddings: str | None = None
    engine: str = "local"
    master: str | None = None
    workers: int | None = None
    source: str | None = None


def bench_scaling(settings: Sequence[Setting]) -> dict[str, Any]:
    """Words a second and peak memory of each setting, in order; lists of equal length."""
    report: dict[str, list[Any]] = {
        name: []
        for name in (
            "documents",
            "vocabulary_size",
            "dimension",
            "words_per_second",
            "seconds",
            "prepare_seconds",
            "peak_rss_mb",
        )
    }
    for setting in settings:
        for name, value in _measured(setting).items():
            report[name].append(value)
    first = asdict(settings[0])
    common = {name: first[name] for name in ("mechanism", "engine", "master", "length", "embeddings")}
    return {"benchmark": "scaling", **report, **common, "workers": first["workers"] or os.cpu_count()}


def cost(
    documents: float, length: int, words_per_second: float, machines: int, share: float, documents_read: float
) -> dict[str, Any]:
    """Hours of a corpus on ``machines``, computed from measured figures of one of them (docs/scaling.md).

    ``words_per_second`` is one machine's, ``share`` what a cluster keeps of it, ``documents_read`` a machine's
    documents a second in the survey. `UsageError` for a figure that is not positive.
    """
    if min(documents, length, words_per_second, machines, share, documents_read) <= 0 or share > 1:
        raise UsageError("every figure must be positive, and the share at most 1")
    working = documents * length / (words_per_second * share * machines)
    reading = documents / (documents_read * machines)
    return {
        "computed": True,
        "documents": documents,
        "machines": machines,
        "hours": round((working + reading) / 3600, 3),
        "machine_hours": round(machines * (working + reading) / 3600, 3),
        "reading_share": round(reading / (working + reading), 4),
    }


def settings_of(
    documents: Sequence[int], vocabulary: Sequence[int], dimension: Sequence[int], **others: Any
) -> list[Setting]:
    """One setting for each value; `UsageError` when more than one of the three grows."""
    if sum(len(values) > 1 for values in (documents, vocabulary, dimension)) > 1:
        raise UsageError(
            "let one thing grow at a time: give several documents, words or dimensions, not two of them"
        )
    return [Setting(*values, **others) for values in itertools.product(documents, vocabulary, dimension)]


def _measured(setting: Setting) -> dict[str, float]:
    # The child takes the parent's path, and imports this checkout, as no worker of the product may.
    if _CHECKOUT not in sys.path:
        sys.path.insert(0, _CHECKOUT)
    context = multiprocessing.get_context("spawn")
    ours, theirs = context.Pipe()
    run = context.Process(target=_run, args=(setting, theirs))
    run.start()
    theirs.close()
    watch = _Watch(run.pid or 0)
    try:
        with watch:
            answer = ours.recv()
    except EOFError:
        raise PubliusError("the measured run died (was it out of memory?)") from None
    finally:
        run.join()
    if isinstance(answer, str):
        raise PubliusError(answer)
    words = setting.documents * setting.length
    return {
        "documents": setting.documents,
        "vocabulary_size": answer["vocabulary_size"],
        "dimension": answer["dimension"],
        "words_per_second": round(words / answer["seconds"], 1),
        "seconds": round(answer["seconds"], 3),
        "prepare_seconds": round(answer["prepare_seconds"], 3),
        "peak_rss_mb": round(watch.peak, 1),
    }


def _run(setting: Setting, pipe: multiprocessing.connection.Connection) -> None:
    """In a process of its own."""
    end_with_parent()
    try:
        with tempfile.TemporaryDirectory() as folder:
            pipe.send(_released(setting, Path(folder)))
    except PubliusError as error:
        pipe.send(str(error))


def _released(setting: Setting, folder: Path) -> dict[str, float]:
    if setting.embeddings is None:  # a table for them is of no use to anybody later
        os.environ["PUBLIUS_HOME"] = str(folder / "home")
    vectors = (
        synthetic_embeddings(setting.vocabulary, setting.dimension)
        if setting.embeddings is None
        else Embeddings.load(setting.embeddings)
    )
    if vectors.folder is None:
        vectors = vectors.save(folder / "vectors")  # mapped, as those of a user are
    epsilon = setting.epsilon or vectors.dimension / 15
    settings = ReleaseSettings(
        mechanism=setting.mechanism, epsilon=epsilon, length=setting.length, stop_words="none"
    )
    plan = Plan.of(settings, public=vectors)
    workers = setting.workers or os.cpu_count() or 1
    warm = _WARM_UP * workers * default_batch_size(plan)
    for name, count in (("warm", warm), ("corpus", setting.documents)):
        _write_corpus(folder / f"{name}.jsonl", vectors, setting, count)
    start = time.perf_counter()
    plan.mechanism.prepare()
    prepared = time.perf_counter() - start
    timed = _on_spark if setting.engine == "spark" else _on_processes
    seconds = timed(setting, plan, folder)
    times = {"seconds": seconds, "prepare_seconds": prepared}
    return {**times, "vocabulary_size": vectors.size, "dimension": vectors.dimension}


def _on_processes(setting: Setting, plan: Plan, folder: Path) -> float:
    with LocalRunner(plan, setting.workers or os.cpu_count() or 1) as runner:

        def release(name: str) -> None:
            source = open_corpus(folder / f"{name}.jsonl")
            protect_corpus(source, plan, folder / f"{name}-out", runner=runner)

        return _timed(release)


def _on_spark(setting: Setting, plan: Plan, folder: Path) -> float:
    from publius.releases.engines.spark import SparkEngine

    with SparkEngine(setting.master, setting.workers):  # the session that the runs find

        def release(name: str) -> None:
            protect_corpus(
                open_corpus(folder / f"{name}.jsonl"), plan, folder / f"{name}-out", engine="spark",
                master=setting.master, workers=setting.workers,
            )  # fmt: skip

        return _timed(release)


def _timed(release: Callable[[str], None]) -> float:
    release("warm")
    start = time.perf_counter()
    release("corpus")
    return time.perf_counter() - start


def _write_corpus(path: Path, vectors: Embeddings, setting: Setting, count: int) -> None:
    """Documents of words drawn from the vocabulary by Zipf's law, or cut from real text at random places.

    Written in pieces: what makes a large corpus must not count as memory of the run that reads it.
    """
    rng = seeded_rng(count)
    words = _vocabulary(vectors) if setting.source is None else list(_words(setting.source))
    with path.open("w", encoding="utf-8") as file:
        for first in range(0, count, _PIECE):
            shape = (min(_PIECE, count - first), setting.length)
            if setting.source is None:
                chosen = np.exp(rng.random(shape) * np.log(len(words))).astype(int) - 1
            else:
                starts = rng.integers(0, max(1, len(words) - setting.length), (shape[0], 1))
                chosen = np.minimum(starts + np.arange(setting.length), len(words) - 1)
            for number, row in enumerate(chosen.tolist(), first):
                file.write(json.dumps({"id": str(number), "text": " ".join(words[i] for i in row)}) + "\n")


def _vocabulary(vectors: Embeddings) -> list[str]:
    return [word for word in vectors.vocabulary if word.isascii() and word.isalnum()]


def _words(source: str) -> Iterator[str]:
    for document in open_corpus(source, number=True):
        if isinstance(document, Document):
            yield from tokenize(document.text)


@final
class _Watch:
    """Samples the memory of a process and all below it; ``peak`` in megabytes."""

    def __init__(self, pid: int) -> None:
        self._pid, self.peak = pid, 0.0
        self._done = threading.Event()
        self._thread = threading.Thread(target=self._look, daemon=True)

    def _look(self) -> None:
        while not self._done.wait(_SAMPLE):
            self.peak = max(self.peak, sum(map(_proportional_mb, [self._pid, *_below(self._pid)])))

    def __enter__(self) -> _Watch:
        self._thread.start()
        return self

    def __exit__(self, *error: object) -> None:
        self._done.set()
        self._thread.join()


def _below(pid: int) -> list[int]:
    found: list[int] = []
    for thread in Path(f"/proc/{pid}/task").glob("*/children"):
        try:
            children = [int(child) for child in thread.read_text().split()]
        except OSError:
            continue
        for child in children:
            found += [child, *_below(child)]
    return found


def _proportional_mb(pid: int) -> float:
    """Memory of a process, a page shared by k of them counted 1/k; 0 where Linux is not there to tell."""
    try:
        lines = Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()
    except OSError:
        return 0.0
    return next((int(line.split()[1]) / 1e3 for line in lines if line.startswith("Pss:")), 0.0)
