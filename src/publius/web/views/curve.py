"""Share unchanged and mean displacement against epsilon on one document; utility and exponent beside them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

import numpy as np

from publius.arrays import Float64Array, IndexArray
from publius.distances import transport_plan
from publius.mechanisms.base import AbstractMechanism, word_indices
from publius.mechanisms.finite.base import AbstractFinite
from publius.mechanisms.registry import mechanism_class
from publius.mechanisms.word_outcomes import binomial_interval
from publius.noise.randomness import system_rng
from publius.privacy.bounds import displacement_quantile, lower_bound_after_nearest
from publius.privacy.guarantee import Guarantee
from publius.settings import EUCLIDEAN
from publius.web import requests
from publius.web.state import State

_POINTS: Final = 12
_DRAWS: Final = 1200  # words drawn at each point
_ROWS: Final = 400  # distinct words whose exact rows are computed at each point
_BLOCK: Final = 16


def curve(state: State, asked: requests.Curve) -> dict[str, Any]:
    """A curve for each mechanism; epsilons are those of the mechanism's useful range on the vocabulary."""
    words = state.encoded(asked.text, asked).words
    indices = word_indices(words, state.embeddings)
    curves = [_curve(state, name, asked.metric, indices) for name in dict.fromkeys(asked.mechanisms)]
    apart = _distance(state, asked) if asked.other is not None else None
    grid = epsilons(state, asked.mechanism, asked.metric)
    return {
        "size": asked.length,
        "curves": curves,
        "utility": _utility(state, asked, grid, apart),
        "exponent": None if apart is None else _exponents(asked, grid, apart),
        "distance_to_other": apart,
    }


def epsilons(state: State, name: str, metric: str) -> list[float]:
    """A grid across the range of epsilons at which ``name`` changes some words and leaves some."""
    found = state.mechanisms.range(name, metric)
    return [float(f"{value:.4g}") for value in np.geomspace(found.low, found.high, _POINTS)]


def _curve(state: State, name: str, metric: str, indices: IndexArray) -> dict[str, Any]:
    kind = mechanism_class(name)
    own, exact = metric if kind.metrics else EUCLIDEAN, issubclass(kind, AbstractFinite)
    if reason := state.mechanisms.unsuitable(name):
        return {"mechanism": name, "exact": exact, "points": [], "reason": reason}
    if exact:
        points = _exact(state.mechanisms.ladder(name, own), indices)
    else:
        made = (state.mechanisms.get(name, epsilon, own) for epsilon in epsilons(state, name, own))
        points = [_drawn(mechanism, indices) for mechanism in made]
    return {"mechanism": name, "exact": exact, "points": points}


def _drawn(mechanism: AbstractMechanism, indices: IndexArray) -> dict[str, Any]:
    """From fresh draws of the document's words, repeated or thinned to a fixed number of them."""
    rng = system_rng()
    times = -(-_DRAWS // len(indices))
    words = np.tile(indices, times) if times > 1 else rng.choice(indices, _DRAWS, replace=False)
    found = mechanism.draw([words], [rng])[0]
    vectors = mechanism.embeddings.vectors
    same = int((found == words).sum())
    low, high = binomial_interval(same, len(words))
    mean = float(mechanism.metric.paired(vectors[words], vectors[found]).mean())
    point = {"epsilon": mechanism.epsilon, "unchanged": same / len(words), "mean_distance": mean}
    return {**point, "unchanged_low": low, "unchanged_high": high, "draws": len(words)}


def _exact(ladder: Sequence[AbstractFinite], indices: IndexArray) -> list[dict[str, Any]]:
    """From output probabilities, each distinct word once; of very many distinct words the most frequent ones."""
    distinct, counts = np.unique(indices, return_counts=True)
    kept = np.argsort(-counts, kind="stable")[:_ROWS]
    weights = counts[kept] / counts[kept].sum()
    stays, distances = (values @ weights for values in _row_means(ladder, distinct[kept]))
    return [
        {
            "epsilon": rung.epsilon,
            "unchanged": stay,
            "mean_distance": distance,
            "unchanged_low": stay,
            "unchanged_high": stay,
            "words": len(kept),
        }
        for rung, stay, distance in zip(ladder, stays.tolist(), distances.tolist(), strict=True)
    ]


def _row_means(ladder: Sequence[AbstractFinite], words: IndexArray) -> tuple[Float64Array, Float64Array]:
    """For each rung and each of ``words`` the probability to stay and the mean distance, (rungs, words) twice.

    Distances cost the most by far and are the same on every rung.
    """
    stays, means = np.empty((len(ladder), len(words))), np.empty((len(ladder), len(words)))
    rows = [rung.shape.rows(rung.constant.scale) for rung in ladder]
    for start in range(0, len(words) if ladder else 0, _BLOCK):
        block = words[start : start + _BLOCK]
        part = slice(start, start + len(block))
        shape, vectors = ladder[0].shape, ladder[0].embeddings.vectors
        inner = rows[0].distances.exact(shape.points.representatives(block), slice(None))
        outer = inner if shape.inner is None else shape.metric.pairwise(vectors[block], vectors)
        for rung, row in enumerate(rows):
            probabilities = np.exp(row.log_probabilities_of(inner))
            stays[rung, part] = probabilities[np.arange(len(block)), block]
            means[rung, part] = np.einsum("ij,ij->i", probabilities, outer)
    return stays, means


def _distance(state: State, asked: requests.Curve) -> float:
    a = state.bag(asked.text, asked, "the first document: ")
    b = state.bag(asked.other or "", asked, "the second document: ")
    return transport_plan(a, b, state.embeddings, asked.metric).distance_upper


def _utility(
    state: State, asked: requests.Curve, grid: Sequence[float], apart: float | None
) -> list[dict[str, Any]] | None:
    """Bounds where the mechanism has them: how far the noise carries the bag, whether the other is farther."""
    if not state.mechanisms.is_quick(asked.mechanism):
        return None
    size, dimension = asked.length, state.mechanism(asked).utility_dimension
    if dimension is None:
        return None

    def point(epsilon: float) -> dict[str, Any]:
        low, high = (2 * displacement_quantile(epsilon, size, dimension, share) for share in (0.5, 0.95))
        bound = None if apart is None else lower_bound_after_nearest(epsilon, size, dimension, apart)
        return {"epsilon": epsilon, "bound": bound, "median_at_most": low, "distance_95_at_most": high}

    return [point(epsilon) for epsilon in grid]


def _exponents(asked: requests.Curve, grid: Sequence[float], apart: float) -> list[dict[str, float]]:
    def exponent(epsilon: float) -> float:
        return Guarantee(epsilon, asked.metric, "proven").lifted(asked.length).privacy_map(apart)

    return [{"epsilon": epsilon, "exponent": exponent(epsilon)} for epsilon in grid]
