"""Small vocabularies on which everything can be computed by brute force."""

from decimal import Decimal, getcontext

import numpy as np

from publius.embeddings.embeddings import Embeddings
from publius.noise.randomness import seeded_rng

getcontext().prec = 50


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


def _decimals(rows):
    return [[Decimal(float(value)) for value in row] for row in rows]


def _distances(rows, euclidean=True):
    def between(a, b):
        gaps = [abs(x - y) for x, y in zip(a, b, strict=True)]
        return sum(gap * gap for gap in gaps).sqrt() if euclidean else sum(gaps)

    return [[between(a, b) for b in rows] for a in rows]


def reference_rows(mechanism):
    """ln K(x){w} of a finite mechanism from its definition, with 50 digits: a list of V lists of V numbers."""
    shape, scale = mechanism.shape, Decimal(mechanism.constant.scale)
    inside = mechanism.embeddings.vectors if shape.inner is None else shape.inner
    euclidean = shape.inner is not None or shape.metric.name == "euclidean"
    prior = [Decimal(float(weight)) for weight in shape.weights]
    cap, rows = Decimal(shape.truncation), []
    for distances in _distances(_decimals(inside), euclidean):
        weights = [p * (-min(scale * d, cap)).exp() for p, d in zip(prior, distances, strict=True)]
        total = sum(weights).ln()
        rows.append([weight.ln() - total for weight in weights])
    return rows


def brute_force(mechanism):
    """The largest (ln K(x){w} - ln K(x'){w}) / d(x, x') over all x, x', w; equal words must have equal rows.

    With 50 digits: words may be 1e-8 apart, and there one unit in the last place of a float64 ln K is 6e-8 of slope.
    """
    rows, vectors = reference_rows(mechanism), _decimals(mechanism.embeddings.vectors)
    apart, largest = _distances(vectors, mechanism.metric.name == "euclidean"), Decimal(0)
    near = np.array(rows, float)
    for x, row in enumerate(rows):
        ratios = near[x] - near
        # The largest of 50 digits is among those that float64, right to 1e-12 here, cannot tell from its own.
        candidates = ratios >= ratios.max(axis=1, keepdims=True) - 1e-9
        for other, distance, among in zip(rows, apart[x], candidates, strict=True):
            ratio = max(row[w] - other[w] for w in np.flatnonzero(among).tolist())
            assert distance > 0 or ratio == 0
            largest = max(largest, ratio / distance if distance else Decimal(0))
    return float(largest)
