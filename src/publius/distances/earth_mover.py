"""Earth Mover's distance of two bags, its plan, all distances of a corpus; and the distance of ordered text."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import final

import numpy as np

from publius.arrays import Float64Array, IndexArray
from publius.distances.metrics import AbstractMetric, Distances, Euclidean, ground_metric, is_line, word_distances
from publius.distances.solver import Flow, MassArray, any_flow, optimal_flow
from publius.embeddings.embeddings import Embeddings, word_indices
from publius.errors import DataError, PolicyError
from publius.settings import EUCLIDEAN
from publius.text.bag import UNKNOWN, Bag

Ground = AbstractMetric | Distances
_INACCURACY = 1 + 1e-9  # more than the relative error of a distance of two vectors of up to 4,096 numbers


@final
@dataclass(frozen=True, slots=True)
class Move:
    """``mass`` of the word ``source`` goes to the word ``target``, ``distance`` away. The repr holds no word."""

    source: str = field(repr=False)
    target: str = field(repr=False)
    mass: float
    distance: float


@final
@dataclass(frozen=True, slots=True)
class TransportPlan:
    """An optimal flow between two bags, as in the paper's figure."""

    distance: float  # the Earth Mover's distance, the sum of mass times distance over the moves
    distance_upper: float  # a number that the true distance does not exceed, for bounds (rule 13)
    moves: tuple[Move, ...]  # those that cost most first; masses sum to 1, and words that stay have the distance 0


@final
@dataclass(frozen=True, eq=False, slots=True)
class BagPoints:
    """A bag as vocabulary indices, each once and ascending, with how often they occur."""

    indices: IndexArray
    masses: MassArray

    @property
    def size(self) -> int:
        """How many words, repetitions counted."""
        return int(self.masses.sum())


def _points_of(bag: Bag, embeddings: Embeddings) -> BagPoints:
    """``bag`` as points; the public unknown token has the index one past the vocabulary."""
    if bag.size == 0:
        raise DataError("an empty bag has no distance to another: give documents with at least one word")
    indices = word_indices([*bag.counts], embeddings)
    indices[[word == UNKNOWN for word in bag.counts]] = embeddings.size
    order = np.argsort(indices)
    return BagPoints(indices[order], np.array([*bag.counts.values()], np.int64)[order])


def _vectors_at(indices: IndexArray, embeddings: Embeddings) -> Float64Array:
    """The vectors of ``indices`` in float64, shape (p, n); the unknown token stands at its public vector."""
    places = np.where(indices == embeddings.size, embeddings.unknown_index, indices)
    return np.asarray(embeddings.vectors[places], np.float64)


@final
@dataclass(frozen=True, eq=False, slots=True)
class Transport:
    """An optimal flow with the exact distance of each of its moves; masses are in units of 1/``total``."""

    flow: Flow
    distances: Float64Array
    total: int  # with the mass that stayed where it is
    dimension: int  # of the vectors

    @property
    def distance(self) -> float:
        """Earth Mover's distance: the flow's mean distance per unit of mass."""
        return math.fsum((self.flow.masses * self.distances).tolist()) / self.total

    @property
    def distance_upper(self) -> float:
        """A number that the true distance certainly does not exceed.

        The flow moves exactly the right masses, so its exact cost is an upper bound whatever the solver did.
        Of the computed cost, each word distance has a relative error below (n/2 + 4) 2^-53, the products, the
        sum and the division one below 4 * 2^-53; the margin is more than twice that.
        """
        value = self.distance
        return math.nextafter(value * (1 + (self.dimension + 24) * 2.0**-53), math.inf) if value else 0.0


@final
@dataclass(frozen=True, eq=False, slots=True)
class Residual:
    """Two bags in common units of mass, without what they share: that stays in place.

    Cancelling is right for every pseudometric: by the triangle inequality no optimal flow needs to move it.
    """

    left: IndexArray  # positions in the points of the first bag
    supply: MassArray
    right: IndexArray
    demand: MassArray
    total: int


def residual(a: BagPoints, b: BagPoints) -> Residual:
    """The mass of ``a`` that must go elsewhere in ``b``, in units of 1/lcm(|a|, |b|)."""
    divisor = math.gcd(a.size, b.size)
    supply, demand = a.masses * (b.size // divisor), b.masses * (a.size // divisor)
    _, in_a, in_b = np.intersect1d(a.indices, b.indices, assume_unique=True, return_indices=True)
    shared = np.minimum(supply[in_a], demand[in_b])
    supply[in_a] -= shared
    demand[in_b] -= shared
    left, right = np.flatnonzero(supply), np.flatnonzero(demand)
    return Residual(left, supply[left], right, demand[right], a.size // divisor * b.size)


def _transport(
    a: BagPoints, b: BagPoints, embeddings: Embeddings, metric: AbstractMetric
) -> tuple[Residual, Transport]:
    """The optimal transport between two bags: what moves, and how."""
    rest = residual(a, b)
    x, y = _vectors_at(a.indices[rest.left], embeddings), _vectors_at(b.indices[rest.right], embeddings)
    if is_line(metric, embeddings.dimension) or not len(rest.left):  # both are served in ascending order
        rows, columns = np.argsort(x[:, 0], kind="stable"), np.argsort(y[:, 0], kind="stable")
        served = any_flow(rest.supply[rows], rest.demand[columns])
        flow = Flow(rows[served.rows], columns[served.columns], served.masses)
        distances = np.abs(x[flow.rows, 0] - y[flow.columns, 0])
    else:
        costs = word_distances(x, y, metric)
        flow = optimal_flow(costs, rest.supply, rest.demand)
        exact = isinstance(metric, Euclidean)
        distances = metric.paired(x[flow.rows], y[flow.columns]) if exact else costs[flow.rows, flow.columns]
    return rest, Transport(flow, distances, rest.total, embeddings.dimension)


def earth_movers_distance(a: Bag, b: Bag, embeddings: Embeddings, metric: str | Ground = EUCLIDEAN) -> float:
    """Least mean distance to move the words of ``a`` to those of ``b`` (docs/theory.md, documents).

    The optimum of the transport problem between the bags, each normalised to unit mass, in units of the word distance.
    For equal sizes it is a pseudometric, and N * epsilon times it is the exponent of the guarantee. `DataError` for an
    empty bag or words outside the vocabulary.

    >>> from publius.embeddings.embeddings import Embeddings
    >>> line = Embeddings.from_arrays(["tea", "milk", "rain"], [[0.0], [1.0], [5.0]])
    >>> earth_movers_distance(Bag(["tea", "milk"]), Bag(["tea", "rain"]), line)
    2.0
    """
    left, right = _points_of(a, embeddings), _points_of(b, embeddings)
    return _transport(left, right, embeddings, ground_metric(metric))[1].distance


def transport_plan(a: Bag, b: Bag, embeddings: Embeddings, metric: str | Ground = EUCLIDEAN) -> TransportPlan:
    """`earth_movers_distance` with which word moves to which, and an upper bound that rounding cannot break."""
    left, right = _points_of(a, embeddings), _points_of(b, embeddings)
    rest, transport = _transport(left, right, embeddings, ground_metric(metric))
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
    """Earth Mover's distances between all ``bags``, shape (m, m)."""
    ground, points = ground_metric(metric), [_points_of(bag, embeddings) for bag in bags]
    if is_line(ground, embeddings.dimension) and len({each.size for each in points}) == 1:
        from scipy.spatial.distance import cdist

        values = [np.sort(np.repeat(_vectors_at(each.indices, embeddings)[:, 0], each.masses)) for each in points]
        return np.asarray(cdist(values, values, "cityblock") / points[0].size)  # the mean gap of the sorted values
    result = np.zeros((len(bags), len(bags)))
    for i, a in enumerate(points):
        for j, b in enumerate(points[:i]):
            result[i, j] = result[j, i] = _transport(a, b, embeddings, ground)[1].distance
    return result


def word_by_word_distance(
    a: Sequence[str], b: Sequence[str], embeddings: Embeddings, metric: str | Ground = EUCLIDEAN
) -> float:
    """The sum of d(a_i, b_i) over the positions of two sequences of N words, rounded up (rule 13).

    Epsilon times it bounds what ordered text tells of which of the two it was made from (docs/theory.md, words); it is at
    least N times the Earth Mover's distance of their bags.
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
