"""Tight constraints (ElSalamouny, Chatzikokolakis and Palamidessi 2014): no loss at all, where they exist.

K(x){w} = a_w exp(-epsilon d(x, w)) with Phi a = 1, Phi_xw = exp(-epsilon d(x, w)). The rows sum to 1 without a
normalizing constant, so the ratio of two rows is bounded by exp(epsilon d) and no factor is lost. The weights must
not be negative. Phi is positive definite for the Euclidean and the Manhattan metric: conjugate gradients solve it
with products by Phi that are made tile by tile. In one dimension there is a closed form and it always exists.
"""

from __future__ import annotations

from typing import final

import numpy as np

from publius.arrays import Float64Array
from publius.distances.metrics import metric_named
from publius.errors import PolicyError
from publius.mechanisms.finite.base import AbstractFinite
from publius.mechanisms.finite.certificate import line, sweep
from publius.mechanisms.finite.certificate.distances import AbstractDistances
from publius.mechanisms.finite.stored_certificates import cached_weights
from publius.mechanisms.finite.word_weights import Shape, checked_prior
from publius.noise.laplace import checked_epsilon
from publius.vectors.embeddings import Embeddings

_MARGIN = 5e-4  # share of epsilon kept for what conjugate gradients leave of the normalizing constants
_RESIDUALS = (1e-7, 1e-10, 1e-13)  # of the rows' sums; the finer ones for words that nearly coincide
_STEPS = 200
_REPAIRED = 1e-6  # of the mean weight: what a negative weight is raised to


@final
class Tight(AbstractFinite):
    """The tight-constraints mechanism; `PolicyError` with the reason where a weight is negative."""

    name = "tight"

    def __init__(
        self,
        embeddings: Embeddings,
        *,
        epsilon: float | None = None,
        scale: float | None = None,
        metric: str = "euclidean",
        threads: int | None = None,
    ) -> None:
        """Take the public ``embeddings`` and ``epsilon``, or the ``scale`` at which to solve and certify."""
        solved_at = checked_epsilon(scale if scale is not None else epsilon)  # type: ignore[arg-type]
        if scale is None:
            line = _plain(embeddings, metric).line
            solved_at /= 1 + (2 * line.rounding if line else _MARGIN)
        for residual in _RESIDUALS:
            shape = self.shape_at(embeddings, solved_at, metric=metric, threads=threads, residual=residual)
            try:
                self._certify(embeddings, shape, epsilon, solved_at, threads)
            except PolicyError:
                if residual == _RESIDUALS[-1]:
                    raise
            else:
                return

    @classmethod
    def shape_at(
        cls,
        embeddings: Embeddings,
        scale: float,
        *,
        metric: str = "euclidean",
        threads: int | None = None,
        residual: float = _RESIDUALS[0],
    ) -> Shape:
        """See `AbstractFinite.shape_at`; the weights that are tight at ``scale``, but for ``residual``."""
        plain = _plain(embeddings, metric)
        weights = _weights(embeddings, plain, scale, residual, threads)
        if negative := int((weights <= 0).sum()):
            raise PolicyError(
                f"tight constraints have no solution at epsilon {scale:g} on {embeddings.name!r}: {negative:,} of "
                f"{len(weights):,} weights are negative. Use a larger epsilon, or repaired-tight, or exponential"
            )
        return _weighted(plain, weights)


@final
class RepairedTight(AbstractFinite):
    """The tight weights with the negative ones raised to a small positive number, as a weighted exponential.

    Not tight any more, so its constant is certified and its scale found like the exponential's. Where only a few
    weights are negative it loses little.
    """

    name = "repaired-tight"

    def __init__(
        self,
        embeddings: Embeddings,
        *,
        epsilon: float | None = None,
        scale: float | None = None,
        metric: str = "euclidean",
        threads: int | None = None,
    ) -> None:
        """As `Tight`; never refused for negative weights."""
        solved_at = checked_epsilon(scale if scale is not None else epsilon)  # type: ignore[arg-type]
        shape = self.shape_at(embeddings, solved_at, metric=metric, threads=threads)
        self._certify(embeddings, shape, epsilon, scale, threads, {"weights_solved_at": solved_at})

    @classmethod
    def shape_at(
        cls, embeddings: Embeddings, scale: float, *, metric: str = "euclidean", threads: int | None = None
    ) -> Shape:
        """See `AbstractFinite.shape_at`; the weights that would be tight at ``scale``, repaired."""
        plain = _plain(embeddings, metric)
        weights = _weights(embeddings, plain, scale, _RESIDUALS[0], threads)
        return _weighted(plain, np.maximum(weights, _REPAIRED * np.abs(weights).mean()))


def _plain(embeddings: Embeddings, metric: str) -> Shape:
    return Shape(embeddings, metric_named(metric), checked_prior(None, embeddings.size))


def _weighted(plain: Shape, weights: Float64Array) -> Shape:
    """``plain`` with positive ``weights`` of its points, shared equally by the words of a point."""
    return Shape(plain.embeddings, plain.metric, plain.points.shared(weights / weights.sum()))


def _weights(
    embeddings: Embeddings, shape: Shape, scale: float, residual: float, threads: int | None
) -> Float64Array:
    """A at the points of the vocabulary, shape (P,)."""
    if shape.line is not None:
        result = np.empty(len(shape.order))
        result[shape.order] = line.tight_weights(np.diff(shape.sorted_values), scale)
        return result
    facts = {"embeddings": embeddings.sha256, **shape.facts(), "tight": repr(scale), "residual": residual}
    size = len(shape.points.first)
    return cached_weights(facts, size, lambda: tight_weights(shape.law.outer, scale, residual, threads))


def tight_weights(
    distances: AbstractDistances, scale: float, residual: float, threads: int | None = None
) -> Float64Array:
    """The solution a of Phi a = 1, shape (P,), by conjugate gradients in float64.

    Stops when every row sums to 1 within ``residual``; `PolicyError` when it does not come near.
    """
    ones = np.ones(distances.size)

    def product(weights: Float64Array) -> Float64Array:
        return sweep.weighted_sums(distances, scale, weights, threads=threads)

    weights = 1 / product(ones)
    rest = ones - product(weights)
    direction, energy = rest, float(rest @ rest)
    for _ in range(_STEPS):
        if np.abs(rest).max() <= residual:
            return weights
        image = product(direction)
        step = energy / float(direction @ image)
        weights, rest = weights + step * direction, rest - step * image
        before, energy = energy, float(rest @ rest)
        direction = rest + energy / before * direction
    raise PolicyError(
        f"tight constraints at epsilon {scale:g} could not be solved in {_STEPS} steps of conjugate gradients: the "
        "words are too close together for so small an epsilon; use a larger one, or exponential"
    )
