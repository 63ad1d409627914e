"""Broken searches, and mechanisms that look at the input word after the noise."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import final

import numpy as np

from audit.mutants.mutant import Mutant, Probe
from audit.mutants.rewired import Maker, with_draw, with_map, with_search
from publius.arrays import Float64Array, FloatArray, IndexArray
from publius.audit.implementation import GENUINE, Search, Subject
from publius.audit.nearest import check_batch, check_blind, check_search
from publius.audit.outcomes import Check
from publius.audit.toy_vocabularies import worlds
from publius.audit.words import check_ratios, check_words
from publius.mechanisms.kernels.laplace import Laplace
from publius.noise.randomness import Generator, RunKey

_WORLD = 0
_WORDS = 400_000


@final
class ExpandedSquares:
    """|z|^2 - 2 z.w + |w|^2 in float32: cancellation picks wrong words when the noise is long."""

    def __init__(self, vectors: FloatArray) -> None:
        self._vectors = np.asarray(vectors, np.float32)

    def nearest(self, points: FloatArray, *, threads: int = 1) -> IndexArray:
        """Index of the nearest row, wrongly."""
        z, w = np.asarray(points, np.float32), self._vectors
        squares = (z * z).sum(axis=1)[:, None] - 2 * z @ w.T + (w * w).sum(axis=1)
        return np.asarray(squares.argmin(axis=1))


@final
class Scores:
    """z.w - factor |w|^2/2 in one precision, without a second look at near-ties."""

    def __init__(
        self, vectors: FloatArray, dtype: type, factor: float = 1.0, *, cosine: bool = False
    ) -> None:
        self._vectors = np.asarray(vectors, np.float64)
        if cosine:
            self._vectors = self._vectors / np.linalg.norm(self._vectors, axis=1)[:, None]
        self._dtype, self._factor = dtype, factor

    def nearest(self, points: FloatArray, *, threads: int = 1) -> IndexArray:
        """Index of the row with the largest score."""
        w: FloatArray = self._vectors.astype(self._dtype)
        scores = points.astype(self._dtype) @ w.T - self._factor * (w * w).sum(axis=1) / 2
        return np.asarray(scores.argmax(axis=1))


@final
class Rounded:
    """Exact over vectors that were quantized."""

    def __init__(self, vectors: FloatArray) -> None:
        self._search = GENUINE.search(np.round(np.asarray(vectors, np.float64) * 16) / 16)

    def nearest(self, points: FloatArray, *, threads: int = 1) -> IndexArray:
        """Index of the nearest quantized row."""
        return self._search.nearest(points)


@final
class LastOfTies:
    """Exact but for ties, which go to the higher index."""

    def __init__(self, vectors: FloatArray) -> None:
        self._search = GENUINE.search(vectors[::-1])
        self._last = len(vectors) - 1

    def nearest(self, points: FloatArray, *, threads: int = 1) -> IndexArray:
        """Index of the nearest row, the highest of several."""
        return self._last - self._search.nearest(points)


@final
class BatchCentered:
    """Centers the batch before rounding to float32: the answer depends on the company."""

    def __init__(self, vectors: FloatArray) -> None:
        self._vectors = np.asarray(vectors, np.float64)

    def nearest(self, points: FloatArray, *, threads: int = 1) -> IndexArray:
        """Index of the nearest row after rounding differences from the batch's mean."""
        center = np.asarray(points, np.float64).mean(axis=0)
        return ExpandedSquares(self._vectors - center).nearest(points - center)


@final
class FirstCoordinates:
    """Looks among the tenth of the words nearest in the first coordinate only: approximate search."""

    def __init__(self, vectors: FloatArray) -> None:
        self._vectors = np.asarray(vectors, np.float64)

    def nearest(self, points: FloatArray, *, threads: int = 1) -> IndexArray:
        """Index of the nearest of a few rows."""
        few = max(1, len(self._vectors) // 10)
        found = np.empty(len(points), np.int64)
        for row, point in enumerate(np.asarray(points, np.float64)):
            near = np.argsort(np.abs(self._vectors[:, 0] - point[0]), kind="stable")[:few]
            found[row] = near[((self._vectors[near] - point) ** 2).sum(axis=1).argmin()]
        return found


def _noisy(inner: Laplace, words: IndexArray, noise: Float64Array) -> Float64Array:
    return np.asarray(inner.embeddings.vectors[words] + noise)


def _two_nearest(inner: Laplace, points: Float64Array) -> IndexArray:
    distances = inner.metric.pairwise(points, inner.embeddings.vectors)
    return np.argsort(distances, axis=1, kind="stable")[:, :2]


def _skip_input(inner: Laplace, words: IndexArray, noise: Float64Array) -> IndexArray:
    """Never the input itself: the second nearest then."""
    two = _two_nearest(inner, _noisy(inner, words, noise))
    return np.where(two[:, 0] == words, two[:, 1], two[:, 0])


def _keep_input(inner: Laplace, words: IndexArray, noise: Float64Array) -> IndexArray:
    """The input where it is among the two nearest."""
    two = _two_nearest(inner, _noisy(inner, words, noise))
    return np.where(two[:, 1] == words, words, two[:, 0])


def _candidates_of_input(inner: Laplace, words: IndexArray, noise: Float64Array) -> IndexArray:
    """The nearest among the five neighbors of the input."""
    vectors = inner.embeddings.vectors
    near = np.argsort(inner.metric.pairwise(vectors, vectors), axis=1, kind="stable")[:, :5][words]
    gaps = np.asarray(vectors[near] - _noisy(inner, words, noise)[:, None, :], np.float64)
    best = np.square(gaps).sum(axis=2).argmin(axis=1)
    return np.take_along_axis(near, best[:, None], axis=1)[:, 0]


def _short_noise_kept(inner: Laplace, words: IndexArray, noise: Float64Array) -> IndexArray:
    """The input where the noise is shorter than a tenth of its mean."""
    short = np.linalg.norm(noise, axis=1) * inner.epsilon < inner.embeddings.dimension / 10
    return np.where(short, words, inner.apply(words, noise))


def _frequent_kept(inner: Laplace, words: IndexArray, noise: Float64Array) -> IndexArray:
    """The second word of the vocabulary is thought harmless and passes."""
    return np.where(words == 1, words, inner.apply(words, noise))


def _scale_by_word(inner: Laplace, words: IndexArray, noise: Float64Array) -> IndexArray:
    """Words in the middle get a tenth less noise: a scale fitted to the neighborhood of the input."""
    center = np.asarray(inner.embeddings.vectors, np.float64).mean(axis=0)
    distance = np.linalg.norm(inner.embeddings.vectors - center, axis=1)
    factor = np.where(distance < np.median(distance), 0.9, 1.0)
    return inner.apply(words, noise * factor[words][:, None])


def _subsampled(inner: Laplace, words: IndexArray, noise: Float64Array) -> IndexArray:
    """One word in fifty keeps its place, told by the noise's last bits."""
    lucky = (noise[:, 0] * 2.0**20 % 1.0) < 0.02
    return np.where(lucky, words, inner.apply(words, noise))


def _truncated_noise(inner: Laplace, count: int, rng: Generator) -> Float64Array:
    """Redraws noise longer than twice its mean: words far away become impossible."""
    noise = inner.noise(count, rng)
    while (long := np.linalg.norm(noise, axis=1) * inner.epsilon > 2 * inner.embeddings.dimension).any():
        noise[long] = inner.noise(int(long.sum()), rng)
    return noise


def probe_search(subject: Subject, key: RunKey) -> Sequence[Check]:
    """Points against exact arithmetic, and batches."""
    return [*check_search(subject, 2000, 2000, key), check_batch(subject, 400, key)]


def probe_blind(subject: Subject, key: RunKey) -> Sequence[Check]:
    """Blind to the input word."""
    return [check_blind(subject, 600, key)]


def probe_words(subject: Subject, key: RunKey) -> Sequence[Check]:
    """Words against the exact kernel of one world."""
    found = check_words(subject, worlds(1)[_WORLD], _WORDS, key)
    return [] if found is None else [found]


def probe_ratios(subject: Subject, key: RunKey) -> Sequence[Check]:
    """The black-box ratio bounds against the guarantee; so few words are not tight."""
    return check_ratios(subject, _WORDS, key).checks[:1]


_SEARCH = "search: random points against exact arithmetic"
_TIES = "search: near-ties against exact arithmetic"
_BLIND = "search: blind to the input word"
_BATCH = "search: same words whatever the batch and the threads"
_RATIO = "ratio bounds: excess over epsilon*d (nats)"


def search_mutants() -> list[Mutant]:
    """Eight broken searches and eight mechanisms that break the chain from noise to word."""
    kernel = f"words against the kernel: {worlds(1)[_WORLD].name}"
    searches: dict[str, tuple[Callable[[FloatArray], Search], str]] = {
        "expanded squared distance in float32": (ExpandedSquares, _SEARCH),
        "inner product without the norm": (lambda vectors: Scores(vectors, np.float64, 0.0), _SEARCH),
        "cosine": (lambda vectors: Scores(vectors, np.float64, cosine=True), _SEARCH),
        "vectors rounded to sixteenths": (Rounded, _SEARCH),
        "approximate candidates": (FirstCoordinates, _SEARCH),
        "near-ties left to float32": (lambda vectors: Scores(vectors, np.float32), _TIES),
        "ties to the higher index": (LastOfTies, _TIES),
        "batch centered in float32": (BatchCentered, _BATCH),
    }
    found = [
        Mutant(
            f"search: {name}",
            replace(GENUINE, search=search, mechanism=with_search(search)),
            probe_search,
            check,
        )
        for name, (search, check) in searches.items()
    ]
    maps: list[tuple[str, Maker, Probe, str]] = [
        ("skips the input word", with_map(_skip_input), probe_blind, _BLIND),
        ("keeps the input on a second place", with_map(_keep_input), probe_blind, _BLIND),
        ("candidates round the input", with_map(_candidates_of_input), probe_blind, _BLIND),
        ("keeps the input when the noise is short", with_map(_short_noise_kept), probe_blind, _BLIND),
        ("one word in fifty passes", with_map(_subsampled), probe_words, kernel),
        ("scale fitted to the input's neighborhood", with_map(_scale_by_word), probe_words, kernel),
        ("noise redrawn when long", with_draw(_truncated_noise), probe_words, kernel),
        ("a harmless word passes", with_map(_frequent_kept), probe_ratios, _RATIO),
    ]
    return found + [
        Mutant(f"mechanism: {name}", replace(GENUINE, mechanism=maker), probe, check)
        for name, maker, probe, check in maps
    ]
