"""Points that are hard for a search, and the search with every kernel, thread count and batch on them.

Whatever computes the products, the words must be the same: the answer is that of exact arithmetic.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import numpy as np

from publius.arrays import Float32Array, Float64Array, FloatArray, IndexArray
from publius.audit.nearest import kernels
from publius.audit.outcomes import Check, violations
from publius.noise.laplace import EuclideanLaplace
from publius.noise.randomness import Generator, RunKey
from publius.vectors.catalogue import package_installed
from publius.vectors.embeddings import Embeddings
from publius.vectors.kernel_choice import SGEMM
from publius.vectors.nearest import NearestWords

_DIMENSIONS = (1, 2, 5, 12, 29, 50, 120, 400)
_BATCH = 700  # no whole number of blocks


def check_kernels(points: int, key: RunKey) -> list[Check]:
    """The same words from every kernel, on any number of threads, in any batches; real points and hard ones."""
    hard = (
        pair
        for n in _DIMENSIONS
        for pair in hard_points(n, -(-points // 3 // len(_DIMENSIONS)), key.rng(f"kernels/{n}"))
    )
    return [
        _differences("search: same words from every kernel, real points", [_real(points, key)]),
        _differences("search: same words from every kernel, hard points", hard),
    ]


def _differences(name: str, pairs: Iterable[tuple[FloatArray, Float64Array]]) -> Check:
    wrong = total = 0
    for vectors, points in pairs:
        expected = NearestWords(vectors, SGEMM).nearest(points)
        for kernel in kernels():
            search = NearestWords(vectors, kernel)
            for found in (search.nearest(points, threads=2), _in_batches(search, points)):
                wrong, total = wrong + int((found != expected).sum()), total + len(points)
    return violations(f"{name} ({', '.join(kernels())})", total, wrong)


def _in_batches(search: NearestWords, points: Float64Array) -> IndexArray:
    starts = range(0, len(points), _BATCH)
    return np.concatenate([search.nearest(points[start : start + _BATCH]) for start in starts])


def _real(count: int, key: RunKey) -> tuple[FloatArray, Float64Array]:
    """Words of published vectors, where they are installed, with noise about as long as they are."""
    rng = key.rng("kernels/real")
    vectors = (
        Embeddings.load().vectors
        if package_installed()
        else rng.standard_normal((5000, 50)).astype(np.float32)
    )
    length = float(np.sqrt(np.square(vectors.astype(np.float64)).sum(axis=1)).mean())
    law = EuclideanLaplace(vectors.shape[1], vectors.shape[1] / length)
    return vectors, vectors[rng.integers(0, len(vectors), count)] + law.sample(rng, count)


def hard_points(n: int, count: int, rng: Generator) -> Iterator[tuple[Float32Array, Float64Array]]:
    """Three vocabularies in ``n`` dimensions, each with ``count`` points.

    Equal words, words on a grid and a word at zero; points on words, in the middle of two and beside it, at zero, with
    noise of 1e-30 to 1e60, and far out where many words are as near.
    """
    size = 700
    words = rng.standard_normal((size, n)).astype(np.float32)
    words[rng.integers(0, size, 60)] = words[rng.integers(0, size, 60)]
    words[:40] = np.round(words[:40])
    words[0] = 0
    for unit in (1.0, 1e-30, 1e15):
        vectors = (words * np.float32(unit)).astype(np.float32)
        exact = vectors.astype(np.float64)
        first, second = rng.integers(0, size, (2, count))
        middles = (exact[first] + exact[second]) / 2
        sizes = 10.0 ** rng.uniform(-30, 60, (count, 1))
        points = np.concatenate(
            [
                exact[first],
                middles,
                middles + rng.integers(-2, 3, middles.shape) * np.spacing(np.abs(middles)),
                np.zeros((3, n)),
                exact[first] + sizes * rng.standard_normal((count, n)),
                exact[first] * sizes,
                _between(exact[first] - exact[second], rng) * unit * 1e3,
            ]
        )
        yield vectors, points[rng.permutation(len(points))][:count]


def _between(ways: Float64Array, rng: Generator) -> Float64Array:
    """Far points at right angles to ``ways``."""
    far = rng.standard_normal(ways.shape)
    along = (far * ways).sum(axis=1, keepdims=True) / np.maximum((ways**2).sum(axis=1, keepdims=True), 1e-300)
    return np.asarray(far - along * ways)
