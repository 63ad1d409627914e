"""Points that are hard for a search: whatever computes the products, the words must be the same."""

import numpy as np


def hard_points(n, count, rng):
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


def _between(ways, rng):
    """Far points at right angles to ``ways``."""
    far = rng.standard_normal(ways.shape)
    return (
        far - (far * ways).sum(axis=1, keepdims=True) / np.maximum((ways**2).sum(axis=1, keepdims=True), 1e-300) * ways
    )
