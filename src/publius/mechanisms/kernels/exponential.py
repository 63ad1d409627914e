"""The exponential mechanism over the whole vocabulary (McSherry and Talwar 2007; docs/theory.md section 5)."""

from __future__ import annotations

from typing import Any, final

from publius.distances.metrics import AbstractMetric
from publius.embeddings.embeddings import Embeddings
from publius.mechanisms.finite.base import AbstractFinite
from publius.mechanisms.finite.word_weights import Shape, uniform


@final
class Exponential(AbstractFinite):
    """Exponential mechanism on word distance, with the exact constant of the vocabulary at hand.

    K(x){w} is proportional to exp(-s d(x, w)), s as large as the certified constant allows. The
    textbook claim is epsilon = 2s. The exact constant on a vocabulary is smaller, so the same epsilon buys a
    larger s: less distortion.
    """

    name = "exponential"

    @classmethod
    def shape_of(cls, embeddings: Embeddings, metric: AbstractMetric, chosen: Any, scale: float) -> Shape:
        """See `AbstractFinite.shape_of`; the same at every scale."""
        return Shape(embeddings, metric, uniform(embeddings))
