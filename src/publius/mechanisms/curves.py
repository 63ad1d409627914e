"""Curves of mechanisms on one document, against epsilon: which words stay, how far they go, what bounds it."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from typing import Any, Final, Protocol, cast, final

import numpy as np

from publius.arrays import Float64Array, IndexArray
from publius.errors import PolicyError
from publius.files.progress import counted, stage
from publius.mechanisms.comparison import useful_range
from publius.mechanisms.finite.base import AbstractFinite
from publius.mechanisms.finite.stored_certificates import cached_weights
from publius.mechanisms.kernel import Kernel
from publius.mechanisms.registry import make_mechanism, mechanism_class
from publius.mechanisms.word_outcomes import binomial_interval
from publius.noise.randomness import system_rng
from publius.privacy.bounds import displacement_quantile, lower_bound_after_nearest
from publius.privacy.guarantee import Guarantee
from publius.settings import EUCLIDEAN
from publius.text.bag import Encoded
from publius.vectors.embeddings import Embeddings

_POINTS: Final = 12
_RUNGS: Final = 7
_DRAWS: Final = 1200  # words drawn at each point
_ROWS: Final = 400  # distinct words whose exact rows are computed at each point
_BLOCK: Final = 16

Record = dict[str, Any]


class Supply(Protocol):
    """Where mechanisms come from: made each time, or kept from before."""

    def get(self, name: str, epsilon: float, metric: str) -> Kernel:
        """The mechanism at an epsilon."""
        ...

    def ladder(self, name: str, metric: str) -> list[AbstractFinite]:
        """A finite mechanism certified at scales across its useful range."""
        ...

    def ends(self, name: str, metric: str) -> tuple[float, float]:
        """The epsilons, or scales, at which about 2 % and 98 % of the vocabulary's words stay."""
        ...


@final
class LazyMechanisms:
    """Mechanisms on one vocabulary, each made when it is asked for."""

    def __init__(self, embeddings: Embeddings) -> None:
        self.embeddings = embeddings

    def get(self, name: str, epsilon: float, metric: str) -> Kernel:
        """The mechanism at an epsilon."""
        return make_mechanism(name, self.embeddings, epsilon=epsilon, metric=metric)

    def ladder(self, name: str, metric: str) -> list[AbstractFinite]:
        """A finite mechanism certified at scales across its useful range."""
        return ladder(name, self.embeddings, metric, *self.ends(name, metric))

    def ends(self, name: str, metric: str) -> tuple[float, float]:
        """The epsilons, or scales, at which about 2 % and 98 % of the vocabulary's words stay."""
        low, _, high = kept_range(name, self.embeddings, metric)
        return low, high


def kept_range(name: str, embeddings: Embeddings, metric: str) -> tuple[float, float, float]:
    """`useful_range`, kept beside the embeddings: it depends on nothing else."""
    kind = mechanism_class(name)
    near, own = kind.range_of or name, metric if kind.metrics else EUCLIDEAN

    def found() -> Float64Array:
        return np.array(useful_range(near, embeddings, metric=own))

    facts = {"embeddings": embeddings.sha256, "range": near, "metric": own}
    low, middle, high = cached_weights(facts, 3, found).tolist()
    return low, middle, high


def ladder(name: str, embeddings: Embeddings, metric: str, low: float, high: float) -> list[AbstractFinite]:
    """A finite mechanism certified at scales from ``low`` to ``high``; where it is refused there is a gap."""
    rungs = []
    with stage(f"Certifying the mechanism {name} at {_RUNGS} strengths"):
        for scale in counted(np.geomspace(low, high, _RUNGS).tolist(), _RUNGS):
            with suppress(PolicyError):
                made = make_mechanism(name, embeddings, scale=float(f"{scale:.3g}"), metric=metric)
                rungs.append(cast("AbstractFinite", made))
    return rungs


def real_words(document: Encoded) -> Sequence[str]:
    """Its own words, without what fills it up; what fills it up where it has none."""
    return document.words[: len(document.words) - document.padding] or document.words


def epsilons(supply: Supply, name: str, metric: str) -> list[float]:
    """A grid across the range of epsilons at which ``name`` changes some words and leaves some."""
    return [float(f"{value:.4g}") for value in np.geomspace(*supply.ends(name, metric), _POINTS)]


def curve(supply: Supply, name: str, metric: str, words: IndexArray) -> Record:
    """The share of ``words`` that stay and how far they go: exactly where probabilities are known, else from draws.

    Of very many distinct words the most frequent ones count; draws are fresh.
    """
    kind = mechanism_class(name)
    own, exact = metric if kind.metrics else EUCLIDEAN, issubclass(kind, AbstractFinite)
    if exact:
        points = _exact(supply.ladder(name, own), words)
    else:
        made = (supply.get(name, epsilon, own) for epsilon in epsilons(supply, name, own))
        points = [_drawn(mechanism, words) for mechanism in made]
    return {"mechanism": name, "exact": exact, "points": points}


def utility(mechanism: Kernel, size: int, grid: Sequence[float], apart: float | None) -> list[Record] | None:
    """Bounds for a bag of ``size`` words where the mechanism has them; None where it has none.

    How far the noise carries the bag, and whether it stays nearer to it than a document that is ``apart``.
    """
    dimension = mechanism.utility_dimension
    if dimension is None:
        return None

    def point(epsilon: float) -> Record:
        low, high = (2 * displacement_quantile(epsilon, size, dimension, share) for share in (0.5, 0.95))
        bound = None if apart is None else lower_bound_after_nearest(epsilon, size, dimension, apart)
        return {"epsilon": epsilon, "bound": bound, "median_at_most": low, "distance_95_at_most": high}

    return [point(epsilon) for epsilon in grid]


def exponents(metric: str, size: int, grid: Sequence[float], apart: float) -> list[Record]:
    """Nats between two documents of ``size`` words that are ``apart``, at each epsilon."""

    def exponent(epsilon: float) -> float:
        return Guarantee(epsilon, metric, "proven").lifted(size).privacy_map(apart)

    return [{"epsilon": epsilon, "exponent": exponent(epsilon)} for epsilon in grid]


def _drawn(mechanism: Kernel, indices: IndexArray) -> dict[str, Any]:
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
