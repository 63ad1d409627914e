"""The nearest-word search: against exact arithmetic, blind to the input, independent of its batch (R3 to R5)."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction

import numpy as np

from publius.arrays import Float64Array, FloatArray, IndexArray
from publius.audit.implementation import Subject
from publius.audit.outcomes import Check, violations
from publius.audit.toy_vocabularies import small_embeddings
from publius.noise.randomness import Generator, RunKey
from publius.vectors.kernel_choice import Kernel, usable_kernels

_BLOCK_NUMBERS = 2**22
_UNIT = 2.0**-53


def kernels() -> tuple[Kernel, ...]:
    """Those that can be tried here, fast or slow."""
    return usable_kernels()


def exact_nearest(vectors: FloatArray, points: Float64Array) -> IndexArray:
    """The nearest row for each point in exact arithmetic, ties to the lower index; shape (p, n) -> (p,).

    Float64 squared distances discard what their rounding bound allows to discard; rational numbers decide the rest.
    """
    words = np.asarray(vectors, np.float64)
    answer = np.empty(len(points), np.int64)
    rows = max(1, _BLOCK_NUMBERS // len(words))
    for start in range(0, len(points), rows):
        block = points[start : start + rows]
        squares = np.zeros((len(block), len(words)))
        for axis in range(words.shape[1]):
            squares += (block[:, axis, None] - words[None, :, axis]) ** 2
        # Each difference, square and sum errs by at most a unit of itself: n + 2 units in all, on both sides.
        limit = squares.min(axis=1) * (1 + 4 * (words.shape[1] + 2) * _UNIT)
        near = squares <= limit[:, None]
        first = near.argmax(axis=1)
        several = np.flatnonzero(near.sum(axis=1) > 1)
        answer[start : start + len(block)] = first
        for row in several:
            answer[start + row] = _exactly(words, block[row], np.flatnonzero(near[row]))
    return answer


def _exactly(words: Float64Array, point: Float64Array, candidates: IndexArray) -> int:
    z = [Fraction(value) for value in point.tolist()]

    def squared(index: int) -> Fraction:
        differences = (a - Fraction(b) for a, b in zip(z, words[index].tolist(), strict=True))
        return sum((difference * difference for difference in differences), Fraction(0))

    found: int = min((squared(index), index) for index in candidates.tolist())[1]
    return found


def check_search(subject: Subject, points: int, near_ties: int, key: RunKey) -> list[Check]:
    """Random points and points in the middle of two words, against exact arithmetic, in several dimensions."""
    wrong_random = wrong_ties = total_random = total_ties = 0
    shapes = ((120, 6), (200, 2), (300, 1), (80, 24))
    for words, dimension in shapes:
        rng = key.rng(f"search/{words}x{dimension}")
        vectors = rng.standard_normal((words, dimension)).astype(np.float32)
        search = subject.search(vectors)
        for wanted, make in ((points, _random_points), (near_ties, _near_ties)):
            made = make(vectors, -(-wanted // len(shapes)), rng)
            wrong = int((search.nearest(made) != exact_nearest(vectors, made)).sum())
            if make is _random_points:
                wrong_random, total_random = wrong_random + wrong, total_random + len(made)
            else:
                wrong_ties, total_ties = wrong_ties + wrong, total_ties + len(made)
    return [
        violations("search: random points against exact arithmetic", total_random, wrong_random),
        violations("search: near-ties against exact arithmetic", total_ties, wrong_ties),
    ]


def _random_points(vectors: FloatArray, count: int, rng: Generator) -> Float64Array:
    """Words plus noise of three sizes: shorter than the gaps, about as long, and a million times as long."""
    size, dimension = vectors.shape
    scales = np.array([0.3, 1.0, 1e6])[np.arange(count) % 3]
    noise = rng.standard_normal((count, dimension)) * scales[:, None]
    return np.asarray(noise + vectors[rng.integers(0, size, count)])


def _near_ties(vectors: FloatArray, count: int, rng: Generator) -> Float64Array:
    """Middles between a word and its nearest other, and a few units in the last place beside them."""
    words = np.asarray(vectors, np.float64)
    first = rng.integers(0, len(words), count)
    squares = ((words[first, None, :] - words[None]) ** 2).sum(axis=2)
    squares[np.arange(count), first] = np.inf
    middle = (words[first] + words[squares.argmin(axis=1)]) / 2
    return np.asarray(middle + rng.integers(-3, 4, middle.shape) * np.spacing(np.abs(middle)))


def check_own_search(
    nearest: Callable[[Float64Array], IndexArray], vectors: FloatArray, points: int, key: RunKey
) -> Check:
    """The search over the user's own vocabulary against exact arithmetic."""
    rng = key.rng("search/own")
    words = np.asarray(vectors, np.float64)
    length = float(np.sqrt((words**2).sum(axis=1)).mean())
    inputs = words[rng.integers(0, len(words), points)]
    noise = rng.standard_normal(inputs.shape)
    noise *= (length * rng.random(points) / np.linalg.norm(noise, axis=1))[:, None]
    made = inputs + noise
    wrong = int((nearest(made) != exact_nearest(vectors, made)).sum())
    return violations("search: the given vocabulary against exact arithmetic", points, wrong)


def check_blind(subject: Subject, count: int, key: RunKey) -> Check:
    """The output is a function of vector + noise alone: two inputs that meet in one point come out as one word (R5).

    Vectors and noise are multiples of 1/64, so that their sums are exact.
    """
    rng = key.rng("blind")
    wrong = total = 0
    for dimension in (1, 2, 5):
        grid = rng.integers(-128, 128, (40, dimension)) / 64
        mechanism = subject.mechanism(small_embeddings(np.unique(grid, axis=0), "grid"), 1.0)
        vectors = np.asarray(mechanism.embeddings.vectors, np.float64)
        here, there = rng.integers(0, len(vectors), (2, count))
        noise = rng.integers(-96, 96, (count, dimension)) / 64
        other = vectors[here] + noise - vectors[there]
        wrong += int((mechanism.apply(here, noise) != mechanism.apply(there, other)).sum())
        total += count
    return violations("search: blind to the input word", total, wrong)


def check_batch(subject: Subject, count: int, key: RunKey) -> Check:
    """The same noise gives the same words whatever the batch, the position and the threads (R4)."""
    rng = key.rng("batch")
    vectors = rng.standard_normal((400, 12)).astype(np.float32)
    points = np.vstack([_random_points(vectors, count, rng), _near_ties(vectors, count // 4, rng)])
    search = subject.search(vectors)
    whole = search.nearest(points)
    order = rng.permutation(len(points))
    parts = [search.nearest(points[start : start + 37]) for start in range(0, len(points), 37)]
    others = (
        search.nearest(points[order])[np.argsort(order)],
        np.concatenate(parts),
        search.nearest(points, threads=3),
    )
    wrong = sum(int((whole != other).sum()) for other in others)
    return violations("search: same words whatever the batch and the threads", 3 * len(points), wrong)
