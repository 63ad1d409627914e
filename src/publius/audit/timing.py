"""The time of a release by class of input word (R18): it may depend on N, the vocabulary and n, on nothing else.

One thing more it may depend on: the noisy vectors. The search sees nothing else (R5), so what it takes is made of them
alone and tells no more than they do, for which the bound holds. Products of 8-bit numbers leave more words of some
points than of others. So both classes are given the same noisy vectors here: whatever then differs comes of the words.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Final

import numpy as np

from publius.arrays import Float64Array, FloatArray, IndexArray
from publius.audit.outcomes import Check
from publius.mechanisms.kernel import Kernel
from publius.noise.randomness import Generator, RunKey
from publius.vectors.embeddings import Embeddings
from publius.vectors.nearest import NearestWords

LARGEST_T: Final = 4.5
_KEPT: Final = 0.9  # the slowest tenth is the machine's doing, in both classes alike
_CLASS_WORDS: Final = 2000
_WARM_WORDS: Final = 4096  # after so many a large vocabulary is searched by the quicker product
_MORE: Final = (
    4  # times as many releases are timed again where a difference was seen: chance does not repeat itself
)


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
    """Welch's |t| between releases of ``batch`` words of one class and of another, ``repeats`` of each.

    Where that is too large, that of four times as many new ones.
    """
    classes = word_classes(mechanism.embeddings)
    mechanism.draw([np.resize(classes["first"], _WARM_WORDS)], [key.rng("timing/warm")], threads=1)
    times = _times(mechanism, classes, repeats, batch, key.rng("timing"))
    checks = []
    for one, other in (("central", "outlying"), ("first", "last")):
        count, found = repeats, abs(welch_t(times[one], times[other]))
        if found > LARGEST_T:
            both = {each: classes[each] for each in (one, other)}
            count = _MORE * repeats
            again = _times(mechanism, both, count, batch, key.rng(f"timing/{one}"))
            found = abs(welch_t(again[one], again[other]))
        checks.append(
            Check(f"timing on {name}: Welch |t|, {one} against {other} words", 2 * count, found, LARGEST_T)
        )
    return checks


def _times(
    mechanism: Kernel, classes: dict[str, IndexArray], repeats: int, batch: int, rng: Generator
) -> dict[str, Float64Array]:
    """Seconds of each release; the classes take turns in random order: the machine's moods fall on all alike."""
    names = list(classes)
    times: dict[str, list[float]] = {name: [] for name in names}
    with _same_points() as new_points:
        for _ in range(repeats + 2):
            new_points()
            words = {name: rng.choice(classes[name], batch) for name in names}
            mechanism.draw(
                [words[rng.choice(names)]], [rng], threads=1
            )  # the points of this round are its own
            for place in rng.permutation(len(names)).tolist():
                start = time.perf_counter()
                mechanism.draw([words[names[place]]], [rng], threads=1)
                times[names[place]].append(time.perf_counter() - start)
    return {name: np.array(found[2:]) for name, found in times.items()}


@contextmanager
def _same_points() -> Iterator[Callable[[], None]]:
    """While this is open a search looks for what the first one was given since new points were asked for."""
    genuine = NearestWords.nearest
    first: dict[int, FloatArray] = {}

    def nearest(self: NearestWords, points: FloatArray, *, threads: int = 1) -> IndexArray:
        return genuine(self, first.setdefault(id(self), points), threads=threads)

    NearestWords.nearest = nearest  # type: ignore[method-assign]
    try:
        yield first.clear
    finally:
        NearestWords.nearest = genuine  # type: ignore[method-assign]


def welch_t(first: Float64Array, second: Float64Array) -> float:
    """Welch's t of two samples without their slowest tenth (the same number of each)."""
    kept = max(2, int(_KEPT * len(first)))
    a, b = np.sort(first)[:kept], np.sort(second)[:kept]
    error = math.sqrt(a.var(ddof=1) / kept + b.var(ddof=1) / kept)
    return float((a.mean() - b.mean()) / error) if error else 0.0
