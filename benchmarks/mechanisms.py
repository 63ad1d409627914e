"""What a certificate costs beside the bare matrix product, and how fast each mechanism releases."""

from __future__ import annotations

import json
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from publius.arrays import IndexArray
from publius.distances.metrics import Euclidean
from publius.documents.corpus import Document, open_corpus
from publius.mechanisms.comparison import ComparisonTarget, compare
from publius.mechanisms.finite.certificate import exact
from publius.mechanisms.finite.certificate.distances import distances
from publius.mechanisms.kernels.exponential import Exponential
from publius.mechanisms.kernels.laplace import Laplace
from publius.mechanisms.threads import processors
from publius.noise.randomness import seeded_rng
from publius.releases.engines import LocalRunner, protect_corpus
from publius.releases.plan import Plan
from publius.settings import ReleaseSettings
from publius.text.tokenizer import StopWords, resolve
from publius.vectors.embeddings import Embeddings

LENGTH = 400
_GEMM_ROWS = 512
_SLOW_SHARE = 20  # the reference mechanism is timed on this fraction of the words


def bench_mechanisms(
    embeddings: Embeddings,
    *,
    names: Sequence[str] = (Laplace.name, Exponential.name),
    unchanged: float = 0.83,
    texts: Sequence[Path] = (),
    words: int = 200_000,
) -> dict[str, Any]:
    """One sweep of the certificate against sgemm; words a second, file to file, at equal shares unchanged.

    Words are drawn from the public ``texts``, or by Zipf's law over the vocabulary. The first of ``names`` is the
    reference: it is timed on a twentieth of the words.
    """
    stream = _text_words(texts, embeddings) if texts else _zipf_words(embeddings.size, words)
    found = compare(
        names, embeddings, ComparisonTarget(unchanged=unchanged), np.unique(stream[:2000])[:400], draws=5
    )
    rows: list[dict[str, Any]] = []
    for place, row in enumerate(found):
        if row.epsilon is None:
            rows.append({"mechanism": row.mechanism, "refused": row.refused})
            continue
        count = words // _SLOW_SHARE if place == 0 else words
        speed = release_rate(embeddings, row.mechanism, row.epsilon, np.resize(stream, count))
        rows.append({"mechanism": row.mechanism, "epsilon": row.epsilon, "unchanged": row.unchanged, **speed})
    reference = rows[0].get("words_per_second")
    for each in rows:
        if reference and "words_per_second" in each:
            each["times_reference"] = round(each["words_per_second"] / reference, 2)
    return {
        "benchmark": "mechanisms",
        **bench_certificate(embeddings),
        "distinct_words": len(np.unique(stream)),
        "rows": rows,
        "peak_rss_mb": _peak_megabytes(),
    }


def bench_certificate(embeddings: Embeddings, *, scale: float = 1.5, repeats: int = 3) -> dict[str, Any]:
    """Seconds of one sweep (normalizers and steepest pair) and of bare sgemm of V x V x n, in turn."""
    law = exact.Law(distances(embeddings.vectors, Euclidean()), np.ones(embeddings.size))
    ratios, sweeps, products = [], [], []
    for _ in range(repeats):
        products.append(_timed(lambda: _sgemm(embeddings)))
        sweeps.append(_timed(lambda: exact.certify(law, scale)))
        ratios.append(sweeps[-1] / products[-1])
    middle = int(np.argsort(ratios)[len(ratios) // 2])
    return {
        "vocabulary_size": embeddings.size,
        "dimension": embeddings.dimension,
        "threads": processors(),
        "sweep_seconds": round(sweeps[middle], 3),
        "sgemm_seconds": round(products[middle], 3),
        "sweep_ratio": round(ratios[middle], 2),
    }


def release_rate(embeddings: Embeddings, name: str, epsilon: float, words: IndexArray) -> dict[str, Any]:
    """Words a second from a JSONL file to the released folder, certificate and loading left out."""
    settings = ReleaseSettings(
        mechanism=name, epsilon=epsilon, length=LENGTH, unknown="drop", stop_words="none"
    )
    plan = Plan.of(settings, public=embeddings)
    with tempfile.TemporaryDirectory() as folder:
        source = Path(folder) / "corpus.jsonl"
        count = _write(source, embeddings, words)
        with LocalRunner(plan) as runner:
            seconds = _timed(
                lambda: protect_corpus(open_corpus(source), plan, Path(folder) / "out", runner=runner)
            )
    return {"words": count, "seconds": round(seconds, 2), "words_per_second": round(count / seconds, 1)}


def _write(path: Path, embeddings: Embeddings, words: IndexArray) -> int:
    documents = max(1, len(words) // LENGTH)
    with path.open("w", encoding="utf-8") as file:
        for number, part in enumerate(np.array_split(words[: documents * LENGTH], documents)):
            text = " ".join(embeddings.word(index) for index in part.tolist())
            file.write(json.dumps({"id": str(number), "text": text}) + "\n")
    return documents * LENGTH


def _text_words(paths: Sequence[Path], embeddings: Embeddings) -> IndexArray:
    """Vocabulary indices of the words of public texts, stop words left out, in an order of their own."""
    stop_words, found = StopWords.load(), list[int]()
    for path in paths:
        for document in open_corpus(path, number=True):
            if isinstance(document, Document):
                known = resolve(
                    document.text, embeddings, profile=embeddings.tokenizer, stop_words=stop_words
                )
                indices = (None if word is None else embeddings.index(word) for word in known)
                found += [index for index in indices if index is not None]
    return seeded_rng(1).permutation(np.array(found, np.int64))


def _zipf_words(size: int, count: int) -> IndexArray:
    return np.minimum(np.floor(size ** seeded_rng(1).random(count)), size - 1).astype(np.int64)


def _sgemm(embeddings: Embeddings) -> None:
    memory = np.empty((_GEMM_ROWS, embeddings.size), np.float32)
    for start in range(0, embeddings.size, _GEMM_ROWS):
        rows = embeddings.vectors[start : start + _GEMM_ROWS]
        np.matmul(rows, embeddings.vectors.T, out=memory[: len(rows)])


def _timed(call: Any) -> float:
    start = time.perf_counter()
    call()
    return time.perf_counter() - start


def _peak_megabytes() -> float:
    import resource  # not on Windows

    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return round(peak / (2**20 if sys.platform == "darwin" else 2**10), 1)
