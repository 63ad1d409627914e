"""Small vocabularies on which everything can be computed by brute force."""

import numpy as np

from publius.noise.randomness import seeded_rng
from publius.vectors.embeddings import Embeddings


def _vectors(kind, n, size):
    rng = seeded_rng(100 + n)
    vectors = rng.standard_normal((size, n))
    if kind == "clusters":
        vectors = 6 * rng.standard_normal((5, n))[np.arange(size) % 5] + 0.1 * vectors
    if kind == "duplicates":  # equal vectors, and some that nearly are
        vectors[1] = vectors[0]
        vectors[5] = vectors[4] + 1e-4
        vectors[7] = vectors[6] * (1 + 3e-7)
    return vectors.astype(np.float32)


def vocabulary(kind="scattered", n=3, size=40):
    vectors = _vectors(kind, n, size)
    return Embeddings.from_arrays([f"w{i}" for i in range(size)], vectors, name=f"{kind}-{n}")


CASES = [("scattered", 1), ("scattered", 3), ("scattered", 12), ("clusters", 2), ("clusters", 10), ("duplicates", 1),
         ("duplicates", 4), ("duplicates", 20)]  # fmt: skip


def brute_force(mechanism):
    """The largest (ln K(x){w} - ln K(x'){w}) / d(x, x') over all x, x', w; equal words must have equal rows."""
    logs = mechanism.log_probabilities().astype(np.longdouble)
    vectors = mechanism.embeddings.vectors
    distances = mechanism.metric.pairwise(vectors, vectors)
    largest = 0.0
    for x in range(len(logs)):
        ratios = (logs[x] - logs).max(axis=1)
        apart = distances[x] > 0
        assert (ratios[~apart] == 0).all()
        largest = max(largest, float((ratios[apart] / distances[x][apart]).max(initial=0)))
    return largest
