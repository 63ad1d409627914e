"""Earth Mover's distance of two bags and its plan."""

from __future__ import annotations

from dataclasses import dataclass
from typing import final

import numpy as np

from publius.distances.ground import Ground
from publius.distances.metrics import ground_metric
from publius.distances.problem import points_of, points_transport
from publius.embeddings.embeddings import Embeddings
from publius.settings import EUCLIDEAN
from publius.text.bag import UNKNOWN, Bag


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


def earth_movers_distance(a: Bag, b: Bag, embeddings: Embeddings, metric: str | Ground = EUCLIDEAN) -> float:
    """Least mean distance to move the words of ``a`` to those of ``b`` (theory, 1).

    The optimum of the transport problem between the bags, each normalised to unit mass, in units of the word distance.
    For equal sizes it is a pseudometric, and N * epsilon times it is the exponent of the guarantee. `DataError` for an
    empty bag or words outside the vocabulary.

    >>> from publius.embeddings.embeddings import Embeddings
    >>> line = Embeddings.from_arrays(["tea", "milk", "rain"], [[0.0], [1.0], [5.0]])
    >>> earth_movers_distance(Bag(["tea", "milk"]), Bag(["tea", "rain"]), line)
    2.0
    """
    left, right = points_of(a, embeddings), points_of(b, embeddings)
    return points_transport(left, right, embeddings, ground_metric(metric))[1].distance


def transport_plan(a: Bag, b: Bag, embeddings: Embeddings, metric: str | Ground = EUCLIDEAN) -> TransportPlan:
    """`earth_movers_distance` with which word moves to which, and an upper bound that rounding cannot break."""
    left, right = points_of(a, embeddings), points_of(b, embeddings)
    rest, transport = points_transport(left, right, embeddings, ground_metric(metric))
    staying = left.masses * (rest.total // a.size)
    staying[rest.left] -= rest.supply
    stays, flow = np.flatnonzero(staying), transport.flow
    columns = (
        np.concatenate([left.indices[stays], left.indices[rest.left[flow.rows]]]),
        np.concatenate([left.indices[stays], right.indices[rest.right[flow.columns]]]),
        np.concatenate([staying[stays], flow.masses]) / rest.total,
        np.concatenate([np.zeros(len(stays)), transport.distances]),
    )
    moves = [
        Move(_word(source, embeddings), _word(target, embeddings), mass, distance)
        for source, target, mass, distance in zip(*(each.tolist() for each in columns), strict=True)
    ]
    moves.sort(key=lambda move: (move.source, move.target))
    return TransportPlan(transport.distance, transport.distance_upper, a.size, b.size, tuple(moves))


def _word(index: int, embeddings: Embeddings) -> str:
    return UNKNOWN if index == embeddings.size else embeddings.vocabulary[index]
