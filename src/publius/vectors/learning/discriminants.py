"""Word features that tell topics apart: regularized least-squares discriminants of the mean of a document's words.

For each topic a linear function of the document's word shares is fitted to 1 for its public documents and 0 for the
others (Fisher's discriminants up to a linear map). A mean of words is what document mechanisms see, so that the
function is itself a mean of word features, its constant included, and every weight belongs to the word.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, Final, final

import numpy as np

from publius.arrays import Float64Array, IndexArray

FOLDS: Final = 3
PENALTIES: Final = (0.001, 0.003, 0.01, 0.03, 0.1)
"""Tried by cross-validation, relative to the mean squared word weight."""

_RARITY: Final = 1.5  # words are weighted by log(documents / documents with the word) to this power
_STEPS: Final = 60


@final
@dataclass(frozen=True)
class Discriminants:
    """A fitted discriminant.

    Attributes:
        features: phi of each word, shape (V, k); its mean over a document's words scores the k topics.
        held_out: scores of each public document by functions that were fitted without it, shape (n, k).
        penalty: chosen by cross-validation: the largest within one standard error of the best.
        scores: cross-validated share of documents whose topic scores highest, by penalty.
    """

    features: Float64Array
    held_out: Float64Array
    penalty: float
    scores: dict[str, float]


def folds_of(topics: IndexArray) -> IndexArray:
    """The fold of each document, each topic dealt out in turn; shape (n,). Nothing random, nothing to seed."""
    folds = np.empty(len(topics), np.int64)
    for topic in np.unique(topics):
        members = np.flatnonzero(topics == topic)
        folds[members] = np.arange(len(members)) % FOLDS
    return folds


def fit_discriminants(shares: Any, topics: IndexArray, count: int) -> Discriminants:
    """Fit on word shares, a sparse array of shape (n, V) whose rows sum to 1, and topics 0 to ``count`` - 1."""
    wanted = np.eye(count)[topics]
    folds = folds_of(topics)
    held: dict[float, Float64Array] = {penalty: np.empty((len(topics), count)) for penalty in PENALTIES}
    for fold in range(FOLDS):
        inside, outside = np.flatnonzero(folds != fold), np.flatnonzero(folds == fold)
        if not len(outside) or not len(inside):
            continue
        for penalty in PENALTIES:
            features = _fitted(shares[inside], wanted[inside], penalty)
            held[penalty][outside] = shares[outside] @ features
    right = {penalty: (held[penalty].argmax(axis=1) == topics).mean() for penalty in PENALTIES}
    best = max(right.values())
    slack = math.sqrt(best * (1 - best) / len(topics))
    penalty = max(penalty for penalty in PENALTIES if right[penalty] >= best - slack)
    scores = {f"{penalty:g}": round(float(share), 4) for penalty, share in right.items()}
    return Discriminants(_fitted(shares, wanted, penalty), held[penalty], penalty, scores)


def _fitted(shares: Any, wanted: Float64Array, penalty: float) -> Float64Array:
    """Features whose mean approximates ``wanted`` with the least squares and a ridge; shape (V, k)."""
    holding = np.asarray((shares > 0).sum(axis=0), np.float64).ravel()
    rarity = np.log((len(wanted) + 1) / (holding + 0.5)).clip(min=1e-3) ** _RARITY
    weighted = shares.multiply(rarity[None, :]).tocsr()
    transposed = weighted.T.tocsr()
    mean, level = np.asarray(weighted.mean(axis=0)).ravel(), wanted.mean(axis=0)
    ridge = penalty * float(rarity.mean()) ** 2

    def product(weights: Float64Array) -> Float64Array:
        gram = transposed @ (weighted @ weights)
        return np.asarray(gram - len(wanted) * np.outer(mean, mean @ weights) + ridge * weights)

    weights = _conjugate_gradients(product, np.asarray(transposed @ (wanted - level)))
    return np.asarray(rarity[:, None] * weights + (level - mean @ weights)[None, :])


def _conjugate_gradients(product: Any, target: Float64Array) -> Float64Array:
    """Solve for each column of ``target`` at once; a few steps too few only regularize a little more."""
    solution, rest = np.zeros_like(target), target.copy()
    direction, energy = rest.copy(), (rest**2).sum(axis=0)
    goal = energy * 1e-12
    for _ in range(_STEPS):
        if (energy <= goal).all():
            break
        image = product(direction)
        step = energy / np.maximum((direction * image).sum(axis=0), 1e-300)
        solution, rest = solution + step * direction, rest - step * image
        before, energy = energy, (rest**2).sum(axis=0)
        direction = rest + energy / np.maximum(before, 1e-300) * direction
    return solution
