"""The time of a release by class of input word (R18): it may depend on N, the vocabulary and n, on nothing else."""

from __future__ import annotations

import math
import time
from typing import Final

import numpy as np

from publius.arrays import Float64Array, IndexArray
from publius.audit.outcomes import Check
from publius.mechanisms.kernel import Kernel
from publius.noise.randomness import RunKey
from publius.vectors.embeddings import Embeddings

LARGEST_T: Final = 4.5
_KEPT: Final = 0.9  # the slowest tenth is the machine's doing, in both classes alike
_CLASS_WORDS: Final = 2000


def word_classes(embeddings: Embeddings) -> dict[str, IndexArray]:
    """Words that a search might treat differently: central and outlying, first and last of the vocabulary."""
    vectors = np.asarray(embeddings.vectors, np.float64)
    distance = np.linalg.norm(vectors - vectors.mean(axis=0), axis=1)
    order = np.argsort(distance)
    count = max(1, min(_CLASS_WORDS, len(vectors) // 4))
    places = np.arange(len(vectors))
    return {
        "central": order[:count],
        "outlying": order[-count:],
        "first": places[:count],
        "last": places[-count:],
    }


def check_timing(mechanism: Kernel, repeats: int, batch: int, key: RunKey, name: str) -> list[Check]:
    """Welch's |t| between releases of ``batch`` words of one class and of another, ``repeats`` of each."""
    times = _times(mechanism, word_classes(mechanism.embeddings), repeats, batch, key)
    pairs = (("central", "outlying"), ("first", "last"))
    return [
        Check(
            f"timing on {name}: Welch |t|, {one} against {other} words",
            2 * repeats,
            abs(welch_t(times[one], times[other])),
            LARGEST_T,
        )
        for one, other in pairs
    ]


def _times(
    mechanism: Kernel, classes: dict[str, IndexArray], repeats: int, batch: int, key: RunKey
) -> dict[str, Float64Array]:
    """Seconds of each release; the classes take turns in random order: the machine's moods fall on all alike."""
    rng = key.rng("timing")
    names = list(classes)
    times: dict[str, list[float]] = {name: [] for name in names}
    for _ in range(repeats + 2):
        for place in rng.permutation(len(names)).tolist():
            words = rng.choice(classes[names[place]], batch)
            start = time.perf_counter()
            mechanism.draw([words], [rng], threads=1)
            times[names[place]].append(time.perf_counter() - start)
    return {name: np.array(found[2:]) for name, found in times.items()}


def welch_t(first: Float64Array, second: Float64Array) -> float:
    """Welch's t of two samples without their slowest tenth (the same number of each)."""
    kept = max(2, int(_KEPT * len(first)))
    a, b = np.sort(first)[:kept], np.sort(second)[:kept]
    error = math.sqrt(a.var(ddof=1) / kept + b.var(ddof=1) / kept)
    return float((a.mean() - b.mean()) / error) if error else 0.0
