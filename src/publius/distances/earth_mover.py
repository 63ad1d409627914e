"""Earth Mover's distance of two bags, its plan, all distances of a corpus; and the distance of ordered text."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import final

import numpy as np

from publius.arrays import Float64Array
from publius.distances.ground import Ground, is_line, word_indices
from publius.distances.metrics import ground_metric
from publius.distances.problem import points_of, points_transport, vectors_at
from publius.embeddings.embeddings import Embeddings
from publius.errors import PolicyError
from publius.settings import EUCLIDEAN
from publius.text.bag import UNKNOWN, Bag

_INACCURACY = 1 + 1e-9  # more than the relative error of a distance of two vectors of up to 4,096 numbers


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
        moves: those that cost most first; masses sum to 1. Words that stay have the distance 0.
    """

    distance: float
    distance_upper: float
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
    moves.sort(key=lambda move: (-move.mass * move.distance, move.source, move.target))
    return TransportPlan(transport.distance, transport.distance_upper, tuple(moves))


def pairwise_distances(bags: Sequence[Bag], embeddings: Embeddings, metric: str | Ground = EUCLIDEAN) -> Float64Array:
    """Earth Mover's distances between all ``bags``, shape (m, m).

    Equals `earth_movers_distance` of each pair, whose errors it raises.
    """
    ground, points = ground_metric(metric), [points_of(bag, embeddings) for bag in bags]
    if is_line(ground, embeddings.dimension) and len({each.size for each in points}) == 1:
        from scipy.spatial.distance import cdist

        values = [np.sort(np.repeat(vectors_at(each.indices, embeddings)[:, 0], each.masses)) for each in points]
        return np.asarray(cdist(values, values, "cityblock") / points[0].size)  # the mean gap of the sorted values
    result = np.zeros((len(bags), len(bags)))
    for i, a in enumerate(points):
        for j, b in enumerate(points[:i]):
            result[i, j] = result[j, i] = points_transport(a, b, embeddings, ground)[1].distance
    return result


def word_by_word_distance(
    a: Sequence[str], b: Sequence[str], embeddings: Embeddings, metric: str | Ground = EUCLIDEAN
) -> float:
    """The sum of d(a_i, b_i) over the positions of two sequences of N words, rounded up (R19).

    Epsilon times it bounds what ordered text tells of which of the two it was made from (theory, 2); it is at least N
    times the Earth Mover's distance of their bags. `PolicyError` for sequences of different lengths, `DataError` for
    words outside the vocabulary.
    """
    from fractions import Fraction  # and with it decimal, for which no start need wait

    if len(a) != len(b):
        raise PolicyError(
            f"the sequences have {len(a)} and {len(b)} words, and the guarantee is for sequences of one length: bring "
            "both to one N"
        )
    x, y = (embeddings.vectors[word_indices(words, embeddings)] for words in (a, b))
    distances = ground_metric(metric).paired(x, y).tolist()
    total = sum(map(Fraction, distances), Fraction(0)) * Fraction(_INACCURACY)
    return math.nextafter(float(total), math.inf) if total else 0.0


def _word(index: int, embeddings: Embeddings) -> str:
    return UNKNOWN if index == embeddings.size else embeddings.vocabulary[index]
