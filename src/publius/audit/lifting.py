"""The lifting theorem, cell by cell: every pair of bags and every output bag, exactly.

ln P(c|b) - ln P(c|b') <= epsilon * assignment(b, b') for all bags b, b', c of N words, where the assignment is N
times the Earth Mover's distance (docs/theory.md sections 1 and 2). Bags are formed by exact convolution of the kernel's
rows: sums of products of positive numbers, so nothing cancels.
"""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass
from typing import final

import numpy as np

from publius.arrays import Float64Array, IndexArray

_BLOCK_NUMBERS = 2**17  # a block of differences of one megabyte stays in the cache


@final
@dataclass(frozen=True)
class Cells:
    """The outcome of comparing every cell with the theorem.

    Attributes:
        count: cells (b, b', c).
        worst_excess: largest ln P(c|b) - ln P(c|b') - epsilon * assignment(b, b'), in nats.
        tightness: largest quotient of the two over pairs of distinct bags.

    """

    count: int
    worst_excess: float
    tightness: float


def bags(words: int, size: int) -> IndexArray:
    """All multisets of ``size`` of ``words`` words, each row ascending; shape (C(words+size-1, size), size)."""
    combinations = itertools.combinations_with_replacement(range(words), size)
    return np.array(list(combinations), np.int64).reshape(-1, size)


def bag_kernel(kernel: Float64Array, size: int) -> Float64Array:
    """P(c|b) for all bags of ``size`` words in the order of `bags`; shape (B, B).

    ``kernel`` is K[x, w], shape (V, V). By convolution: the words of all but the last of b, then the last.
    """
    words = len(kernel)
    result = kernel
    smaller = bags(words, 1)
    for count in range(2, size + 1):
        larger = bags(words, count)
        place = {tuple(bag): index for index, bag in enumerate(larger.tolist())}
        head = {tuple(bag): index for index, bag in enumerate(smaller.tolist())}
        rows = np.array([head[tuple(bag[:-1])] for bag in larger.tolist()])
        last = larger[:, -1]
        grown = np.zeros((len(larger), len(larger)))
        for word in range(words):
            columns = [place[tuple(sorted((*bag, word)))] for bag in smaller.tolist()]
            grown[:, columns] += result[rows] * kernel[last, word][:, None]
        result, smaller = grown, larger
    return result


def assignment_costs(distances: Float64Array, size: int) -> Float64Array:
    """N times the Earth Mover's distance of every pair of bags, shape (B, B), by trying every permutation.

    ``distances`` is d on the words, shape (V, V). An optimal flow between bags of one size is a permutation
    (Birkhoff and von Neumann), so this is the definition itself and no solver.
    """
    members = bags(len(distances), size)
    best = np.full((len(members), len(members)), np.inf)
    for order in itertools.permutations(range(size)):
        cost = np.zeros_like(best)
        for position in range(size):
            cost += distances[members[:, position][:, None], members[:, order[position]][None, :]]
        np.minimum(best, cost, out=best)
    return best


def check_cells(kernel: Float64Array, distances: Float64Array, epsilon: float, size: int) -> Cells:
    """Every cell of bags of ``size`` words against epsilon * assignment.

    A probability of zero for one input and not for another is an infinite excess; outputs that no input gives are
    no cells.
    """
    probabilities = bag_kernel(kernel, size)
    possible = probabilities.max(axis=0) > 0
    with np.errstate(divide="ignore"):
        logs = np.ascontiguousarray(np.log(probabilities[:, possible]))
    losses = largest_losses(logs)
    bounds = epsilon * assignment_costs(distances, size)
    with np.errstate(invalid="ignore", divide="ignore"):
        quotients = np.where(bounds > 0, losses / bounds, 0.0)
    return Cells(len(logs) ** 2 * logs.shape[1], float((losses - bounds).max()), float(quotients.max()))


def largest_losses(logs: Float64Array) -> Float64Array:
    """Max over c of logs[b, c] - logs[b', c], shape (B, C) -> (B, B); infinite where zero meets a probability."""
    count, width = logs.shape
    losses = np.empty((count, count))
    if not np.isfinite(logs).all():
        logs = np.where(np.isfinite(logs), logs, -1e300)  # so that two zeros differ by nothing
    rows = max(1, _BLOCK_NUMBERS // width)
    memory = np.empty((rows, width))
    for start in range(0, count, rows):
        block = logs[start : start + rows]
        room = memory[: len(block)]
        for b in range(count):
            np.subtract(logs[b], block, out=room)
            room.max(axis=1, out=losses[b, start : start + rows])
    return np.where(losses > 1e299, math.inf, losses)
