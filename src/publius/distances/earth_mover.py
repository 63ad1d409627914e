"""Earth Mover's distance of two bags and its plan; the same on bare vectors."""

from __future__ import annotations

from dataclasses import dataclass
from typing import final

import numpy as np
from numpy.typing import ArrayLike

from publius.arrays import Float64Array
from publius.distances.ground import Ground, ground_distance
from publius.distances.problem import (
    BagPoints,
    Residual,
    Transport,
    points_of,
    points_transport,
    transport_problem,
)
from publius.distances.solver import MassArray
from publius.errors import DataError
from publius.settings import EUCLIDEAN
from publius.text.bag import UNKNOWN, Bag
from publius.embeddings.embeddings import Embeddings


@final
@dataclass(frozen=True, slots=True)
class Move:
    """``mass`` of the word ``source`` goes to the word ``target``, ``distance`` away. The repr holds no word."""

    source: str
    target: str
    mass: float
    distance: float

    def __repr__(self) -> str:
        return f"Move(mass={self.mass!r}, distance={self.distance!r})"


@final
@dataclass(frozen=True, slots=True)
class TransportPlan:
    """An optimal flow between two bags, as in the paper's figure.

    Attributes:
        distance: the Earth Mover's distance, the sum of mass times distance over the moves.
        distance_upper: a number that the true distance does not exceed, for bounds (R19).
        size_a: the words of the first bag, repetitions counted.
        size_b: those of the second.
        moves: sorted by source and target; masses sum to 1. Words that stay have the distance 0.
    """

    distance: float
    distance_upper: float
    size_a: int
    size_b: int
    moves: tuple[Move, ...]


def earth_movers_distance(
    a: Bag, b: Bag, embeddings: Embeddings, metric: str | Ground = EUCLIDEAN
) -> float:
    """Least mean distance to move the words of ``a`` to those of ``b`` (docs/theory.md section 1).

    Bags of any sizes, each normalised to unit mass; for equal sizes it is a pseudometric. Raises `DataError` for
    an empty bag or words outside the vocabulary.
    """
    _, transport = points_transport(
        points_of(a, embeddings), points_of(b, embeddings), embeddings, ground_distance(metric)
    )
    return transport.distance


def transport_plan(
    a: Bag, b: Bag, embeddings: Embeddings, metric: str | Ground = EUCLIDEAN
) -> TransportPlan:
    """`earth_movers_distance` with which word moves to which, and an upper bound that rounding cannot break."""
    left, right = points_of(a, embeddings), points_of(b, embeddings)
    rest, transport = points_transport(left, right, embeddings, ground_distance(metric))
    moves = [*_staying(left, right, rest, embeddings), *_moving(left, right, rest, transport, embeddings)]
    moves.sort(key=lambda move: (move.source, move.target))
    return TransportPlan(transport.distance, transport.distance_upper, a.size, b.size, tuple(moves))


def _word(index: int, embeddings: Embeddings) -> str:
    return UNKNOWN if index == embeddings.size else embeddings.vocabulary[index]


def _staying(a: BagPoints, b: BagPoints, rest: Residual, embeddings: Embeddings) -> list[Move]:
    masses = a.masses * (rest.total // a.size)
    masses[rest.left] -= rest.supply
    stays = np.flatnonzero(masses)
    words = [_word(index, embeddings) for index in a.indices[stays].tolist()]
    return [
        Move(word, word, mass / rest.total, 0.0)
        for word, mass in zip(words, masses[stays].tolist(), strict=True)
    ]


def _moving(
    a: BagPoints, b: BagPoints, rest: Residual, transport: Transport, embeddings: Embeddings
) -> list[Move]:
    flow = transport.flow
    sources = a.indices[rest.left[flow.rows]].tolist()
    targets = b.indices[rest.right[flow.columns]].tolist()
    return [
        Move(_word(source, embeddings), _word(target, embeddings), mass / rest.total, distance)
        for source, target, mass, distance in zip(
            sources, targets, flow.masses.tolist(), transport.distances.tolist(), strict=True
        )
    ]


def vector_transport(
    x: ArrayLike,
    y: ArrayLike,
    metric: str | Ground = EUCLIDEAN,
    *,
    counts_x: ArrayLike | None = None,
    counts_y: ArrayLike | None = None,
) -> Transport:
    """The optimal transport between two bags of vectors, for data that is not text.

    ``x`` has shape (p, n) and ``y`` (q, n); ``counts_x`` (p,) and ``counts_y`` (q,) say how often each row
    occurs, once unless given. Raises `DataError` for shapes that do not fit, values that are not finite, and
    counts that are not positive whole numbers.
    """
    left, right = _vectors(x), _vectors(y)
    if left.shape[1] != right.shape[1]:
        raise DataError(f"the vectors have {left.shape[1]} and {right.shape[1]} dimensions")
    a, b = _counts(counts_x, len(left)), _counts(counts_y, len(right))
    total = np.lcm(a.sum(), b.sum())
    supply, demand = a * (total // a.sum()), b * (total // b.sum())
    return transport_problem(left, supply, right, demand, ground_distance(metric), int(total))


def _vectors(rows: ArrayLike) -> Float64Array:
    array = np.asarray(rows, np.float64)
    if array.ndim != 2 or 0 in array.shape or not np.isfinite(array).all():
        raise DataError(f"expected finite vectors of shape (p, n), not an array of shape {array.shape}")
    return array


def _counts(counts: ArrayLike | None, length: int) -> MassArray:
    array = np.ones(length, np.int64) if counts is None else np.asarray(counts)
    if array.shape != (length,) or array.dtype.kind not in "iu" or not (array > 0).all():
        raise DataError(f"counts must be {length} positive whole numbers")
    return array.astype(np.int64)
