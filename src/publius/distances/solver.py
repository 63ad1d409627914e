"""The transport problem itself: costs, supplies and demands in, an optimal flow out.

Masses are whole numbers, so a flow is feasible exactly or not at all; every solver's answer is checked for that.
The network simplex of POT (extra ``transport``) is several times faster than what scipy offers.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Any, final

import numpy as np
from numpy.typing import NDArray

from publius.arrays import Float64Array, IndexArray
from publius.errors import DataError, PubliusError

MassArray = NDArray[np.int64]

SMALL = 128  # up to this total mass the assignment of unit masses is the fastest and needs no extra
_FEW_REPEATS = 1.1  # up to so many units of mass a row, the assignment is faster than the network simplex
_LARGEST_ASSIGNMENT = 4_000
_ITERATIONS = 100_000_000
_LARGEST_MASS = 2**53


@final
@dataclass(frozen=True, eq=False, slots=True)
class Flow:
    """Which supply goes to which demand: ``masses[k]`` from row ``rows[k]`` to column ``columns[k]``, all > 0."""

    rows: IndexArray
    columns: IndexArray
    masses: MassArray


def optimal_flow(costs: Float64Array, supply: MassArray, demand: MassArray) -> Flow:
    """A flow of least total cost: the linear program of Earth Mover's distance (docs/theory.md, documents).

    ``costs`` has shape (p, q); ``supply`` (p,) and ``demand`` (q,) are positive whole numbers of one total.
    """
    total = int(supply.sum())
    if total != int(demand.sum()) or not 0 < total < _LARGEST_MASS:
        raise DataError(f"supply {total} and demand {int(demand.sum())} must be equal, positive and below 2^53")
    if not (np.isfinite(costs).all() and (costs >= 0).all()):
        raise DataError("a ground distance is negative or not finite")
    # Less what every flow pays anyway, row by row and column by column: same optima, fewer pivots.
    reduced: Float64Array = costs - costs.min(axis=1, keepdims=True)
    reduced -= reduced.min(axis=0)
    if min(costs.shape) == 1 or not reduced.any():
        return any_flow(supply, demand)
    flow = _solve(reduced, supply, demand, total)
    moved = np.zeros_like(supply), np.zeros_like(demand)
    np.add.at(moved[0], flow.rows, flow.masses)
    np.add.at(moved[1], flow.columns, flow.masses)
    if not (np.array_equal(moved[0], supply) and np.array_equal(moved[1], demand) and (flow.masses > 0).all()):
        raise PubliusError("the transport solver returned a flow that does not move all of the mass")
    return flow


def any_flow(supply: MassArray, demand: MassArray) -> Flow:
    """The flow that serves rows and columns in their order (the north-west corner rule)."""
    served, received = np.cumsum(supply), np.cumsum(demand)
    ends = np.union1d(served, received)
    masses = np.diff(ends, prepend=0)
    ends, masses = ends[masses > 0], masses[masses > 0]
    return Flow(np.searchsorted(served, ends), np.searchsorted(received, ends), masses)


def _solve(costs: Float64Array, supply: MassArray, demand: MassArray, total: int) -> Flow:
    if total <= max(SMALL, _FEW_REPEATS * min(costs.shape)):
        return _assignment(costs, supply, demand)
    try:
        return _network_simplex(costs, supply, demand)
    except ModuleNotFoundError:
        small = total <= _LARGEST_ASSIGNMENT
        return _assignment(costs, supply, demand) if small else _linear_program(costs, supply, demand)


def _network_simplex(costs: Float64Array, supply: MassArray, demand: MassArray) -> Flow:
    with warnings.catch_warnings():  # of its import, and of an early stop, of which an error follows below
        warnings.simplefilter("ignore")
        import ot

        plan, log = ot.emd(
            supply.astype(np.float64), demand.astype(np.float64), costs, numItermax=_ITERATIONS, log=True,
            center_dual=False, check_marginals=False,
        )  # fmt: skip
    if log["result_code"] != 1:
        raise _stopped(costs, f"result code {log['result_code']}")
    return _sparse(plan)


def _assignment(costs: Float64Array, supply: MassArray, demand: MassArray) -> Flow:
    """Each unit of mass by itself: some optimal flow is a permutation (Birkhoff and von Neumann)."""
    from scipy.optimize import linear_sum_assignment

    row_of, column_of = np.repeat(np.arange(len(supply)), supply), np.repeat(np.arange(len(demand)), demand)
    rows, columns = linear_sum_assignment(costs[np.ix_(row_of, column_of)])
    cells, masses = np.unique(row_of[rows] * len(demand) + column_of[columns], return_counts=True)
    return Flow(cells // len(demand), cells % len(demand), masses.astype(np.int64))


def _linear_program(costs: Float64Array, supply: MassArray, demand: MassArray) -> Flow:
    from scipy.optimize import linprog
    from scipy.sparse import eye_array, kron, vstack

    p, q = costs.shape
    rows = kron(eye_array(p), np.ones((1, q)))
    columns = kron(np.ones((1, p)), eye_array(q))
    answer: Any = linprog(
        costs.ravel(), A_eq=vstack([rows, columns]), b_eq=np.concatenate([supply, demand]), method="highs-ds"
    )
    if answer.status != 0:
        raise _stopped(costs, f"status {answer.status}")
    return _sparse(answer.x.reshape(p, q))


def _sparse(plan: Float64Array) -> Flow:
    masses = np.rint(plan).astype(np.int64)
    rows, columns = np.nonzero(masses)
    return Flow(rows, columns, masses[rows, columns])


def _stopped(costs: Float64Array, reason: str) -> PubliusError:
    p, q = costs.shape
    return PubliusError(f"the transport solver stopped before the optimum on a {p} x {q} problem ({reason})")
