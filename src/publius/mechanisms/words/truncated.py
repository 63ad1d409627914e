"""The truncated exponential mechanism, TEM (Carvalho, Vasiloudis and Feyisetan 2021), over the whole vocabulary."""

from __future__ import annotations

import math
from typing import Any, final

from publius.distances.metrics import metric_named
from publius.errors import UsageError
from publius.mechanisms.finite.base import AbstractFinite
from publius.mechanisms.finite.word_weights import Shape, checked_floor, checked_prior, prior_choice
from publius.vectors.embeddings import Embeddings


@final
class TruncatedExponential(AbstractFinite):
    """Words farther than gamma are all equally likely: K(x){w} proportional to exp(-s min(d(x, w), gamma)).

    The paper draws from the words within gamma and one "bottom" element of score -gamma + ln(|W - L_x|) / s, which
    stands for a uniform word of those beyond. Every word beyond then has the weight exp(-s gamma): the mechanism is
    the exponential one for the metric min(d, gamma), which is how it is computed and certified here.
    gamma = ln((1 - beta)(V - 1) / beta) / s keeps the output within gamma with probability at least 1 - beta.
    """

    name = "truncated-exponential"

    def __init__(
        self,
        embeddings: Embeddings,
        *,
        epsilon: float | None = None,
        scale: float | None = None,
        metric: str = "euclidean",
        beta: float = 0.001,
        prior: Any = None,
        floor: float = 0.0,
        threads: int | None = None,
    ) -> None:
        """As `Exponential`; ``beta``: largest probability of an output beyond gamma, from 0 to 1."""
        shape = self.shape_at(embeddings, metric=metric, beta=beta, prior=prior, floor=floor)
        choices = {"beta": beta, **prior_choice(prior, shape.prior)}
        self._certify(embeddings, shape, epsilon, scale, threads, choices)

    @classmethod
    def shape_at(
        cls,
        embeddings: Embeddings,
        scale: float = 1.0,
        *,
        metric: str = "euclidean",
        beta: float = 0.001,
        prior: Any = None,
        floor: float = 0.0,
    ) -> Shape:
        """See `AbstractFinite.shape_at`; the same at every scale."""
        if not 0 < beta < 1 or (1 - beta) * (embeddings.size - 1) <= beta:
            raise UsageError(f"beta must be between 0 and 1 and small beside the vocabulary, not {beta!r}")
        truncation = math.log((1 - beta) * (embeddings.size - 1) / beta)
        weights, d = checked_prior(prior, embeddings.size), metric_named(metric)
        return Shape(embeddings, d, weights, truncation=truncation, floor=checked_floor(floor))
