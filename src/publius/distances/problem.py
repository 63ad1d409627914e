"""Bags as points with masses, and the transport between two of them."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import final

import numpy as np

from publius.arrays import Float64Array, IndexArray
from publius.distances.ground import Ground, is_line, word_distances, word_indices
from publius.distances.metrics import Euclidean
from publius.distances.solver import Flow, MassArray, any_flow, optimal_flow
from publius.embeddings.embeddings import Embeddings
from publius.errors import DataError
from publius.text.bag import UNKNOWN, Bag


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


def points_of(bag: Bag, embeddings: Embeddings) -> BagPoints:
    """``bag`` as points; the public unknown token has the index one past the vocabulary.

    Raises `DataError` for an empty bag and for words outside the vocabulary, which have no distance.
    """
    if bag.size == 0:
        raise DataError("an empty bag has no distance to another: give documents with at least one word")
    indices = word_indices([*bag.counts], embeddings)
    indices[[word == UNKNOWN for word in bag.counts]] = embeddings.size
    order = np.argsort(indices)
    return BagPoints(indices[order], np.array([*bag.counts.values()], np.int64)[order])


def vectors_at(indices: IndexArray, embeddings: Embeddings) -> Float64Array:
    """The vectors of ``indices`` in float64, shape (p, n); the unknown token stands at its public vector."""
    places = np.where(indices == embeddings.size, embeddings.unknown_index, indices)
    return np.asarray(embeddings.vectors[places], np.float64)


@final
@dataclass(frozen=True, eq=False, slots=True)
class Transport:
    """An optimal flow with the exact distance of each of its moves; masses are in units of 1/``total``.

    ``total`` includes the mass that stayed where it is; ``dimension`` is that of the vectors.
    """

    flow: Flow
    distances: Float64Array
    total: int
    dimension: int

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
    ``left`` and ``right`` are positions in the points of either bag.
    """

    left: IndexArray
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


def points_transport(a: BagPoints, b: BagPoints, embeddings: Embeddings, ground: Ground) -> tuple[Residual, Transport]:
    """The optimal transport between two bags: what moves, and how."""
    rest = residual(a, b)
    x, y = vectors_at(a.indices[rest.left], embeddings), vectors_at(b.indices[rest.right], embeddings)
    if is_line(ground, embeddings.dimension) or not len(rest.left):  # both are served in ascending order
        rows, columns = np.argsort(x[:, 0], kind="stable"), np.argsort(y[:, 0], kind="stable")
        served = any_flow(rest.supply[rows], rest.demand[columns])
        flow = Flow(rows[served.rows], columns[served.columns], served.masses)
        distances = np.abs(x[flow.rows, 0] - y[flow.columns, 0])
    else:
        costs = word_distances(x, y, ground)
        flow = optimal_flow(costs, rest.supply, rest.demand)
        exact = isinstance(ground, Euclidean)
        distances = Euclidean().paired(x[flow.rows], y[flow.columns]) if exact else costs[flow.rows, flow.columns]
    return rest, Transport(flow, distances, rest.total, embeddings.dimension)
