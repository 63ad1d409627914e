"""The nearest-word search and the whole path, against the bare matrix product on the same shapes."""

from __future__ import annotations

import json
import os
import statistics
import tempfile
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from threadpoolctl import ThreadpoolController

from publius.arrays import Float32Array, FloatArray
from publius.documents.corpus import open_corpus
from publius.mechanisms.kernels.laplace import Laplace
from publius.noise.randomness import RunKey, seeded_rng
from publius.releases.engines import LocalRunner, batches_of, default_batch_size, protect_corpus
from publius.releases.plan import Plan
from publius.settings import ReleaseSettings
from publius.vectors.embeddings import Embeddings
from publius.vectors.kernel_choice import DEVICE, Kernel, usable_kernels
from publius.vectors.nearest import NearestWords

_ROWS = 256
_REPEATS = 7
_EPSILON_PER_DIMENSION = 1 / 15  # epsilon 20 at 300 dimensions: noise about as long as the vectors


def synthetic_embeddings(words: int, dimension: int) -> Embeddings:
    """Normal random vectors, about as long as those of published embeddings; for timing only."""
    rng = seeded_rng(1)
    vectors = rng.standard_normal((words, dimension), np.float32) * np.float32(0.4)
    return Embeddings.from_arrays(
        [f"w{i}" for i in range(words)], vectors, name="synthetic", tokenizer="word2vec"
    )


def bench_search(
    embeddings: Embeddings, *, seconds: float = 2.0, kernel: Kernel | None = None
) -> dict[str, Any]:
    """The exact search with every kernel that is here and bare sgemm, in turn; ratios are of processor time, and
    those of a graphics processor of the clock on the wall.

    ``kernel`` is the one that ``ratio`` is of, the one that would be chosen where none is named; the report says why.
    ``kernels`` has the ratio of each. A ratio is the median over the pairs.
    """
    threads = os.cpu_count() or 1
    points = _noisy_points(embeddings)
    chosen = NearestWords(embeddings.vectors, kernel).kernel
    searches = {name: NearestWords(embeddings.vectors, name) for name in usable_kernels()}
    for search in searches.values():
        search.nearest(points, threads=threads)
    products = _Products(embeddings.vectors, points)
    once = _timed(lambda: searches[chosen.kernel].nearest(points, threads=threads))
    rounds = max(1, round(seconds / _REPEATS / once))
    product = products.faster(threads, time.process_time)
    bare: list[_Pace] = []
    paces: dict[Kernel, list[_Pace]] = {name: [] for name in searches}
    for _ in range(_REPEATS):
        bare.append(_pace(product, len(points), rounds))
        for name, search in searches.items():
            paces[name].append(_pace(partial(search.nearest, points, threads=threads), len(points), rounds))
    ratios = {name: _ratios(name, each, bare) for name, each in paces.items()}
    ours, own = paces[chosen.kernel], ratios[chosen.kernel]
    return {
        **_shape(embeddings, "search"),
        "kernel": chosen.kernel,
        "kernel_reason": chosen.reason,
        "words_per_second": round(statistics.median(each.wall for each in ours), 1),
        "sgemm_words_per_second": round(statistics.median(each.wall for each in bare), 1),
        "ratio": round(statistics.median(own), 4),
        "ratio_min": round(min(own), 4),
        "ratio_max": round(max(own), 4),
        "kernels": {name: round(statistics.median(each), 4) for name, each in ratios.items()},
    }


def bench_end_to_end(
    embeddings: Embeddings, *, documents: int | None = None, length: int = 400
) -> dict[str, Any]:
    """Words a second from a JSONL file to the released folder, after loading, against bare sgemm in turn."""
    threads = os.cpu_count() or 1
    epsilon = embeddings.dimension * _EPSILON_PER_DIMENSION
    mechanism = Laplace(embeddings, epsilon=epsilon)
    plan = Plan.of(ReleaseSettings(length=length, stop_words="none"), mechanism)
    points = _noisy_points(embeddings)
    products = _Products(embeddings.vectors, points)
    product = products.faster(threads)
    if documents is None:
        documents = max(8 * threads, round(3 * len(points) / _timed(product) / length))
    ours, sgemm = [], []
    with tempfile.TemporaryDirectory() as folder, LocalRunner(plan, threads) as runner:
        source = Path(folder) / "corpus.jsonl"
        _write_corpus(source, embeddings, documents, length)
        corpus = open_corpus(source)
        size = default_batch_size(plan)
        list(runner.run(batches_of(list(corpus)[: 2 * threads * size], size), RunKey.fresh()))  # warm
        for repeat in range(_REPEATS):
            sgemm.append(_rate(product, len(points), 6))
            release = partial(protect_corpus, corpus, plan, Path(folder) / f"out{repeat}", runner=runner)
            ours.append(_rate(release, documents * length, 1))
    return {**_report(ours, sgemm, embeddings, "end-to-end"), "documents": documents, "length": length}


class _Products:
    """The bare matrix product, in the two forms that are fast: blocks on threads, and BLAS's own threads."""

    def __init__(self, vectors: FloatArray, points: FloatArray) -> None:
        self._vectors = np.ascontiguousarray(vectors, np.float32)
        self._points = np.ascontiguousarray(points, np.float32)
        self._blas = ThreadpoolController()

    def faster(self, threads: int, clock: Callable[[], float] = time.perf_counter) -> Callable[[], float]:
        """Whichever form is faster here by this clock, over four tries of each."""
        forms = (lambda: self.blocks(threads), self.whole)
        return min(forms, key=lambda form: min(_timed(form, clock) for _ in range(4)))

    def blocks(self, threads: int) -> float:
        with self._blas.limit(limits=1, user_api="blas"), ThreadPoolExecutor(threads) as pool:
            return sum(pool.map(self._share, range(threads), [threads] * threads))

    def _share(self, share: int, threads: int) -> float:
        memory: Float32Array = np.empty((_ROWS, len(self._vectors)), np.float32)
        for start in range(share * _ROWS, len(self._points), threads * _ROWS):
            rows = self._points[start : start + _ROWS]
            np.matmul(rows, self._vectors.T, out=memory[: len(rows)])
        return float(memory[0, 0])

    def whole(self) -> float:
        step = 2 * _ROWS
        memory: Float32Array = np.empty((step, len(self._vectors)), np.float32)
        for start in range(0, len(self._points), step):
            rows = self._points[start : start + step]
            np.matmul(rows, self._vectors.T, out=memory[: len(rows)])
        return float(memory[0, 0])


def _noisy_points(embeddings: Embeddings) -> FloatArray:
    rng = seeded_rng(2)
    count = int(np.clip(2e10 / embeddings.vectors.size, 1024, 8192)) // 512 * 512
    words = rng.integers(0, embeddings.size, count)
    mechanism = Laplace(embeddings, epsilon=embeddings.dimension * _EPSILON_PER_DIMENSION)
    return mechanism.randomize_vectors(embeddings.vectors[words], rng)


def _write_corpus(path: Path, embeddings: Embeddings, documents: int, length: int) -> None:
    rng = seeded_rng(3)
    plain = [word for word in embeddings.vocabulary if word.isascii() and word.isalnum() and word.islower()]
    with path.open("w", encoding="utf-8") as file:
        for document in range(documents):
            words = [plain[i] for i in rng.integers(0, len(plain), length).tolist()]
            file.write(json.dumps({"id": str(document), "text": " ".join(words)}) + "\n")


def _timed(call: Callable[[], object], clock: Callable[[], float] = time.perf_counter) -> float:
    start = clock()
    call()
    return clock() - start


class _Pace(NamedTuple):
    """Words a second: by the clock on the wall, and of processor time."""

    wall: float
    processor: float


def _pace(call: Callable[[], object], words: int, rounds: int) -> _Pace:
    time.sleep(0.1)  # see `_rate`
    before = time.perf_counter(), time.process_time()
    for _ in range(rounds):
        call()
    after = time.perf_counter(), time.process_time()
    return _Pace(*(words * rounds / (b - a) for a, b in zip(before, after, strict=True)))


def _ratios(kernel: Kernel, ours: list[_Pace], bare: list[_Pace]) -> list[float]:
    pairs = zip(ours, bare, strict=True)
    return [a.wall / b.wall if kernel == DEVICE else a.processor / b.processor for a, b in pairs]


def _rate(call: Callable[[], object], words: int, rounds: int) -> float:
    time.sleep(0.1)  # BLAS threads of the call before spin for a while, which would be charged to this one
    return words * rounds / _timed(lambda: [call() for _ in range(rounds)])


def _shape(embeddings: Embeddings, name: str) -> dict[str, Any]:
    return {
        "benchmark": name,
        "vocabulary_size": embeddings.size,
        "dimension": embeddings.dimension,
        "threads": os.cpu_count() or 1,
    }


def _report(ours: list[float], sgemm: list[float], embeddings: Embeddings, name: str) -> dict[str, Any]:
    ratios = [a / b for a, b in zip(ours, sgemm, strict=True)]
    return {
        **_shape(embeddings, name),
        "words_per_second": round(statistics.median(ours), 1),
        "sgemm_words_per_second": round(statistics.median(sgemm), 1),
        "ratio": round(statistics.median(ratios), 4),
        "ratio_min": round(min(ratios), 4),
        "ratio_max": round(max(ratios), 4),
    }
