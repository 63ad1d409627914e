"""Earth Mover's distance per pair of documents, against gensim's ``wmdistance`` on the same documents."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable
from typing import Any

import numpy as np
from threadpoolctl import threadpool_limits

from publius.distances import earth_movers_distance
from publius.errors import UsageError
from publius.noise.randomness import Generator, seeded_rng
from publius.text.bag import Bag
from publius.vectors.embeddings import Embeddings

_PAIRS = 12
_REPEATS = 5
_AGREEMENT = 1e-6  # gensim rounds masses to sum to one


def bench_transport(embeddings: Embeddings, *, length: int = 400) -> dict[str, Any]:
    """Processor time a pair, in turn with gensim, one thread each; the ratio is the median over the turns.

    Documents are ``length`` words drawn by Zipf's law, as text has them (about half of them distinct); and, for the
    keys that say ``distinct``, all different, the hardest case. Raises `UsageError` without gensim and POT.
    """
    peer = _gensim(embeddings)
    rng = seeded_rng(4)
    weights = 1 / np.arange(1, embeddings.size + 1)
    zipf = _pairs(embeddings, length, rng, weights / weights.sum(), replace=True)
    distinct = _pairs(embeddings, length, rng, None, replace=False)
    with threadpool_limits(1):
        ours, theirs, ratio = _race(zipf, embeddings, peer)
        hard_ours, hard_theirs, hard_ratio = _race(distinct, embeddings, peer)
    return {
        "benchmark": "transport",
        "vocabulary_size": embeddings.size,
        "dimension": embeddings.dimension,
        "length": length,
        "ms_per_pair": round(ours, 3),
        "gensim_ms_per_pair": round(theirs, 3),
        "ratio_to_gensim": round(ratio, 3),
        "ms_per_pair_distinct": round(hard_ours, 3),
        "gensim_ms_per_pair_distinct": round(hard_theirs, 3),
        "ratio_to_gensim_distinct": round(hard_ratio, 3),
    }


Pair = tuple[list[str], list[str]]


def _gensim(embeddings: Embeddings) -> Callable[[list[str], list[str]], float]:
    try:
        import ot  # noqa: F401  # gensim needs it, and so do we for speed
        from gensim.models import KeyedVectors
    except ImportError:
        raise UsageError(
            "this compares with gensim, which is not installed: pip install gensim 'publius[transport]'"
        ) from None
    vectors = KeyedVectors(embeddings.dimension)
    vectors.add_vectors(list(embeddings.vocabulary), np.asarray(embeddings.vectors))
    return lambda a, b: float(vectors.wmdistance(a, b, norm=False))


def _pairs(embeddings: Embeddings, length: int, rng: Generator, weights: Any, *, replace: bool) -> list[Pair]:
    def document() -> list[str]:
        return [
            embeddings.vocabulary[i] for i in rng.choice(embeddings.size, length, replace, weights).tolist()
        ]

    return [(document(), document()) for _ in range(_PAIRS)]


def _race(
    pairs: list[Pair], embeddings: Embeddings, peer: Callable[[list[str], list[str]], float]
) -> tuple[float, float, float]:
    """Median milliseconds of ours and the peer's, and the median of their ratios."""
    bags = [(Bag(a), Bag(b)) for a, b in pairs]
    if not np.allclose(
        [earth_movers_distance(a, b, embeddings) for a, b in bags],
        [peer(a, b) for a, b in pairs],
        atol=_AGREEMENT,
    ):
        raise UsageError("gensim computes other distances on these vectors, so there is nothing to compare")
    ours, theirs = [], []
    for _ in range(_REPEATS):
        ours.append(_milliseconds(lambda: [earth_movers_distance(a, b, embeddings) for a, b in bags]))
        theirs.append(_milliseconds(lambda: [peer(a, b) for a, b in pairs]))
    ratios = [b / a for a, b in zip(ours, theirs, strict=True)]
    return statistics.median(ours), statistics.median(theirs), statistics.median(ratios)


def _milliseconds(call: Callable[[], object]) -> float:
    start = time.process_time()  # of one thread: less disturbed by other programs than the clock
    call()
    return (time.process_time() - start) / _PAIRS * 1e3
