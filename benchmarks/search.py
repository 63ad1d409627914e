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
from typing import Any

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
from publius.vectors.half_products import POINTS, SGEMM, WORDS, Kernel, Products, depth, halved
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
    """Words a second of the exact search and of bare sgemm, in turn; the ratio is the median over the pairs.

    ``kernel`` is the product that the search works with, the faster one where none is named; the report says which and
    why, and ``ratio_to_kernel`` is the search beside that product alone.
    """
    threads = os.cpu_count() or 1
    points = _noisy_points(embeddings)
    search = NearestWords(embeddings.vectors, kernel)
    chosen = search.kernel
    search.nearest(points, threads=threads)
    products = _Products(embeddings.vectors, points)
    rounds = max(1, round(seconds / _REPEATS / _timed(lambda: search.nearest(points, threads=threads))))
    product = products.faster(threads)
    bare = None if chosen.kernel == SGEMM else partial(products.halves, threads)
    ours, sgemm, own = [], [], []
    for _ in range(_REPEATS):
        sgemm.append(_rate(product, len(points), rounds))
        if bare is not None:
            own.append(_rate(bare, len(points), rounds))
        ours.append(_rate(lambda: search.nearest(points, threads=threads), len(points), rounds))
    report = _report(ours, sgemm, embeddings, "search")
    beside = own or sgemm
    return {
        **report,
        "kernel": chosen.kernel,
        "kernel_reason": chosen.reason,
        "kernel_words_per_second": round(statistics.median(beside), 1),
        "ratio_to_kernel": round(statistics.median(a / b for a, b in zip(ours, beside, strict=True)), 4),
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

    def faster(self, threads: int) -> Callable[[], float]:
        """Whichever form is faster here, over three tries of each."""
        forms = (lambda: self.blocks(threads), self.whole)
        return min(forms, key=lambda form: min(_timed(form) for _ in range(4)))

    def blocks(self, threads: int) -> float:
        with self._blas.limit(limits=1, user_api="blas"), ThreadPoolExecutor(threads) as pool:
            return sum(pool.map(self._share, range(threads), [threads] * threads))

    def halves(self, threads: int) -> None:
        """Products of 16-bit numbers, of as many words as panels hold."""
        with ThreadPoolExecutor(threads) as pool:
            list(pool.map(self._share_of_halves, range(threads), [threads] * threads))

    def _share_of_halves(self, share: int, threads: int) -> None:
        products, columns = Products(), depth(self._vectors.shape[1])
        words, points = (halved(np.ones((rows, columns), np.float32)) for rows in (WORDS, POINTS))
        panels = [products.words(words.copy()) for _ in range(-(-len(self._vectors) // WORDS))]
        for _ in range(share * POINTS, len(self._points), threads * POINTS):
            block = products.points(points)
            for panel in panels:
                products.compute(panel, block)

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


def _timed(call: Callable[[], object]) -> float:
    start = time.perf_counter()
    call()
    return time.perf_counter() - start


def _rate(call: Callable[[], object], words: int, rounds: int) -> float:
    time.sleep(0.1)  # BLAS threads of the call before spin for a while, which would be charged to this one
    return words * rounds / _timed(lambda: [call() for _ in range(rounds)])


def _report(ours: list[float], sgemm: list[float], embeddings: Embeddings, name: str) -> dict[str, Any]:
    ratios = [a / b for a, b in zip(ours, sgemm, strict=True)]
    return {
        "benchmark": name,
        "vocabulary_size": embeddings.size,
        "dimension": embeddings.dimension,
        "threads": os.cpu_count() or 1,
        "words_per_second": round(statistics.median(ours), 1),
        "sgemm_words_per_second": round(statistics.median(sgemm), 1),
        "ratio": round(statistics.median(ratios), 4),
        "ratio_min": round(min(ratios), 4),
        "ratio_max": round(max(ratios), 4),
    }
