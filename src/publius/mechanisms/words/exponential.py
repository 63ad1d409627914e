"""The exponential mechanism over the whole vocabulary (McSherry and Talwar 2007; theory.md section 5)."""

from __future__ import annotations

from typing import Any, final

from publius.distances.metrics import metric_named
from publius.mechanisms.finite.base import AbstractFinite
from publius.mechanisms.finite.word_weights import Shape, checked_floor, checked_prior, prior_choice
from publius.vectors.embeddings import Embeddings


@final
class Exponential(AbstractFinite):
    """K(x){w} proportional to prior_w exp(-s d(x, w)), s as large as the certified constant allows.

    The textbook claim is epsilon = 2s. The exact constant on a vocabulary is smaller, so the same epsilon buys a
    larger s: less distortion.
    """

    name = "exponential"

    def __init__(
        self,
        embeddings: Embeddings,
        *,
        epsilon: float | None = None,
        scale: float | None = None,
        metric: str = "euclidean",
        prior: Any = None,
        floor: float = 0.0,
        threads: int | None = None,
    ) -> None:
        """Take the public ``embeddings`` and either ``epsilon`` or the ``scale`` s, which is then certified.

        ``prior``: public positive weights, one a word; ``floor``: share of draws from the prior (or uniform).
        """
        shape = self.shape_at(embeddings, metric=metric, prior=prior, floor=floor)
        self._certify(embeddings, shape, epsilon, scale, threads, prior_choice(prior, shape.prior))

    @classmethod
    def shape_at(
        cls,
        embeddings: Embeddings,
        scale: float = 1.0,
        *,
        metric: str = "euclidean",
        prior: Any = None,
        floor: float = 0.0,
    ) -> Shape:
        """See `AbstractFinite.shape_at`; the same at every scale."""
        weights = checked_prior(prior, embeddings.size)
        return Shape(embeddings, metric_named(metric), weights, floor=checked_floor(floor))
