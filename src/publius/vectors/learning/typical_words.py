"""The public words of a prototype: which words a released bag is drawn from, and how likely each is."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

import numpy as np

from publius.arrays import Float64Array, IndexArray
from publius.vectors.learning.prototypes import WORD_DRAWS

WORDS: Final = 1000
"""Words that may be drawn for one prototype."""

_EMPHASIS: Final = 1.5
_SHARED: Final = 0.1
_STEPS: Final = 12
_CANDIDATES: Final = 2000
_MAXIMUM_STEP: Final = 3.0


def excess_words(present: Any, members: IndexArray, count: int) -> Float64Array:
    """Words typical of a topic: drawn by how much oftener its documents have them than others do; (count, V).

    With r the share of the topic's public documents that hold a word, smoothed by one document of the average, and
    b the mean of r over topics: proportional to (r - b)^2 / sqrt(b) where r > b, and 0 elsewhere. Where no word is
    oftener, as for a single topic, proportional to r.
    """
    sizes = np.bincount(members, minlength=count).astype(np.float64)
    holding = _summed(present, members, count)
    overall = np.asarray(present.sum(axis=0), np.float64).ravel() / len(members)
    rates = (holding + overall) / (sizes[:, None] + 1)
    base = rates.mean(axis=0)
    excess = np.maximum(rates - base, 0.0) ** 2 / np.sqrt(base)
    empty = excess.sum(axis=1) <= 0
    excess[empty] = rates[empty]
    return np.asarray(excess / excess.sum(axis=1, keepdims=True))


def tilted_words(
    shares: Any,
    members: IndexArray,
    count: int,
    features: Float64Array,
    background: Float64Array,
    advance: Callable[[], object] = lambda: None,
) -> Float64Array:
    """Words whose mean feature lies in a cluster's direction; (count, V). ``advance`` hears of each cluster.

    The mean word shares of the cluster's public documents, with a tenth of the public average, tilted by exp(lambda .
    phi(w)) so that the mean feature is half as far again from the origin as the cluster's own: a bag of few words
    then still points where the cluster lies.
    """
    sizes = np.bincount(members, minlength=count).astype(np.float64)
    means = _summed(shares, members, count) / np.maximum(sizes, 1)[:, None]
    targets = _EMPHASIS * (means @ features)
    result = np.zeros_like(means)
    for row in range(count):
        base = (1 - _SHARED) * means[row] + _SHARED * background
        kept = np.argsort(-base, kind="stable")[:_CANDIDATES]
        result[row, kept] = tilt(base[kept], features[kept], targets[row], 1e-3)
        advance()
    return result


def tilt(base: Float64Array, features: Float64Array, target: Float64Array, ridge: float) -> Float64Array:
    """The distribution over words nearest to ``base`` whose mean feature comes near ``target``; shape (V,).

    p(w) proportional to base(w) exp(lambda . phi(w)) with the lambda that maximizes lambda . target - ln sum base
    exp(lambda . phi) - ridge |lambda|^2 / 2: a concave problem in m unknowns, by Newton's method with short steps.
    """
    logs = np.log(np.maximum(base, 1e-300))
    slope = np.zeros(features.shape[1])
    eye = np.eye(len(slope))
    chances = base / base.sum()
    for _ in range(_STEPS):
        mean = chances @ features
        gradient = target - mean - ridge * slope
        curvature = (features * chances[:, None]).T @ features - np.outer(mean, mean) + ridge * eye
        step = np.linalg.solve(curvature, gradient)
        largest = float(np.abs(step).max())
        slope = slope + step * min(1.0, _MAXIMUM_STEP / max(largest, 1e-300))
        exponents = logs + features @ slope
        chances = np.exp(exponents - exponents.max())
        chances /= chances.sum()
        if largest < 1e-9:
            break
    return np.asarray(chances)


def drawable(chances: Float64Array, words: int = WORDS) -> tuple[IndexArray, IndexArray]:
    """The likeliest words of each row and whole-number weights that sum to 2^32; two arrays of shape (rows, W).

    What is left out or lost in rounding goes to the likeliest word of the row.
    """
    width = min(words, chances.shape[1])
    found = np.argsort(-chances, axis=1, kind="stable")[:, :width].astype(np.int64)
    kept = np.take_along_axis(chances, found, axis=1)
    kept = kept / kept.sum(axis=1, keepdims=True)
    weights = np.floor(kept * WORD_DRAWS).astype(np.int64)
    weights[:, 0] += WORD_DRAWS - weights.sum(axis=1)
    return found, weights


def _summed(rows: Any, members: IndexArray, count: int) -> Float64Array:
    """Rows of a sparse array summed by cluster, dense, shape (count, V)."""
    from scipy.sparse import csr_array

    places = np.arange(len(members))
    membership = csr_array((np.ones(len(members)), (members, places)), (count, len(members)))
    return np.asarray((membership @ rows).toarray(), np.float64)
