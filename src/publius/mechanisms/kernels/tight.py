"""Tight constraints (ElSalamouny, Chatzikokolakis and Palamidessi 2014): no loss at all, where they exist.

K(x){w} = a_w exp(-epsilon d(x, w)) with Phi a = 1, Phi_xw = exp(-epsilon d(x, w)): rows sum to 1 without a normalizing
constant, and no factor is lost. The weights must not be negative. Phi is positive definite for the Euclidean and the
Manhattan metric, so conjugate gradients solve it; in one dimension there is a closed form and it always exists.
"""

from __future__ import annotations

import math
from dataclasses import replace
from itertools import count
from typing import final

import numpy as np

from publius.arrays import Float64Array
from publius.embeddings.catalogue import computed
from publius.errors import PolicyError
from publius.files.progress import stage
from publius.mechanisms.finite import sweep
from publius.mechanisms.finite.base import AbstractFinite
from publius.mechanisms.finite.certificate import Constant
from publius.mechanisms.finite.sweep import VocabularyDistances
from publius.mechanisms.finite.word_weights import Shape

_MARGIN = 5e-4  # share of epsilon kept for what conjugate gradients leave of the normalizing constants
_RESIDUALS = (1e-7, 1e-10, 1e-13)  # of the rows' sums; the finer ones for words that nearly coincide
_STEPS = 200


@final
class Tight(AbstractFinite):
    """The likeliest to keep a word that epsilon allows at all, where the vocabulary admits it."""

    name = "tight"

    def _certified(self) -> tuple[Shape, Constant]:
        """Solved a little below epsilon: coarsely first, finer where words nearly coincide."""
        even = self._shape()
        at = self.epsilon / (1 + (2 * even.line.rounding if even.line else _MARGIN))
        for residual in _RESIDUALS:
            shape = self._tight(even, at, residual)
            constant = shape.certified("scale", at)
            if constant.epsilon <= self.epsilon:
                break
        return shape, constant

    def _tight(self, even: Shape, scale: float, residual: float) -> Shape:
        """Weights a of the points, shared equally by the words of a point; `PolicyError` where one is negative."""
        if even.line is not None:
            weights = even.line.tight_weights(scale)
        else:
            facts, size = {**even.facts(), "tight": repr(scale), "residual": residual}, len(even.points.first)
            found = computed(  # it needs no trust: whatever the weights, the certificate is computed for them
                facts, list[float], lambda kept: len(kept) == size and all(map(math.isfinite, kept)),
                lambda: tight_weights(even.law.outer, scale, residual).tolist(),
            )  # fmt: skip
            weights = np.array(found)
        if negative := int((weights <= 0).sum()):
            raise PolicyError(
                f"tight constraints have no solution at epsilon {scale:g} on {self.embeddings.name!r}: {negative:,} of "
                f"{len(weights):,} weights are negative. Use a larger epsilon, or exponential"
            )
        return replace(even, weights=even.points.shared(weights / weights.sum()))


def tight_weights(distances: VocabularyDistances, scale: float, residual: float) -> Float64Array:
    """The solution a of Phi a = 1, shape (P,), by conjugate gradients until every row sums to 1 within ``residual``."""
    ones, steps = np.ones(distances.size), count(1)

    def product(weights: Float64Array) -> Float64Array:
        with stage(f"Solving for the weights of all words, step {next(steps)}"):
            return sweep.weighted_sums(distances, scale, weights)

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
