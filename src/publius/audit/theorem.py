"""The theorem on many small vocabularies: every cell of the exact kernels, lifted to bags."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import numpy as np

from publius.audit.implementation import Subject, built
from publius.audit.lifting import Cells, check_cells
from publius.audit.outcomes import Check, Findings, violations
from publius.audit.toy_vocabularies import World, worlds
from publius.audit.words import exact_kernel
from publius.mechanisms.kernel import Kernel

LARGEST_EXCESS = 1e-9
_LARGEST_ROW_ERROR = 1e-9


def mechanism_cells(mechanism: Kernel, size: int) -> tuple[Cells, float] | None:
    """Every cell of bags of ``size`` words, and how far the kernel's rows are from 1; None without a kernel."""
    kernel = exact_kernel(mechanism)
    if kernel is None:
        return None
    vectors = mechanism.embeddings.vectors
    distances = mechanism.metric.pairwise(vectors, vectors)
    error = float(np.abs(kernel.sum(axis=1) - 1).max())
    return check_cells(kernel, distances, mechanism.epsilon, size), error


def lifted_worlds(least_cells: int) -> Iterator[tuple[World, int]]:
    """Worlds and bag sizes in an order that never changes, until their cells are at least ``least_cells``."""
    shapes = (((3, 6), 5), ((6, 9), 4), ((10, 14), 3), ((18, 24), 2), ((30, 60), 1), ((9, 10), 4))
    cells = number = 0
    pools = [worlds(60, words=words) for words, _ in shapes]
    while cells < least_cells and number < 60 * len(shapes):
        world = pools[number % len(shapes)][number // len(shapes)]
        size = shapes[number % len(shapes)][1]
        yield world, size
        cells += _bags(world.embeddings.size, size) ** 3
        number += 1


def _bags(words: int, size: int) -> int:
    from math import comb

    return comb(words + size - 1, size)


def check_theorem(subject: Subject, chosen: Iterable[tuple[World, int]]) -> Findings:
    """The worst excess over all cells of the ``chosen`` worlds and bag sizes, and the sum of each kernel's rows."""
    cells, worst, tightness, wrong_rows, kernels = 0, -np.inf, 0.0, 0, 0
    for world, size in chosen:
        mechanism = built(subject, world.embeddings, world.epsilon)
        found = None if mechanism is None else mechanism_cells(mechanism, size)
        if found is None:
            continue
        cells += found[0].count
        worst = max(worst, found[0].worst_excess)
        tightness = max(tightness, found[0].tightness)
        wrong_rows += found[1] > _LARGEST_ROW_ERROR
        kernels += 1
    if not kernels:
        return Findings((), {"exact_cells": 0, "worst_excess": None})
    checks = (
        Check("theorem: worst excess over all cells (nats)", cells, worst, LARGEST_EXCESS),
        violations("theorem: kernels whose rows do not sum to 1", kernels, wrong_rows),
    )
    return Findings(checks, {"exact_cells": cells, "worst_excess": worst, "exact_tightness": tightness})
