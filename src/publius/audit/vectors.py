"""Noisy vectors (R24): no output excludes a neighbor, and every output lies on the public grid.

An attack on the representable numbers (Mironov 2012): whoever sees x + noise asks of a neighbor x' whether any float
noise at all leads from x' to what was seen. Where the sum is not on a grid, the low bits say no, and the bound is
broken at any epsilon.
"""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from publius.arrays import Float64Array
from publius.audit.implementation import Subject
from publius.audit.outcomes import Check, violations
from publius.noise.laplace import AbstractNoise
from publius.noise.randomness import RunKey

_DIMENSION = 50
_EPSILONS = (1.0, 5.0)
_APART = 0.35
_BLOCK = 20_000
_NEAR = 3  # floats on either side


def check_vectors(subject: Subject, draws: int, key: RunKey) -> list[Check]:
    """Vectors 0.35 apart, as two words are, in 50 dimensions at epsilon 1 and 5: ``draws`` in all."""
    excluded = outside = 0
    for epsilon in _EPSILONS:
        law = subject.noise(_DIMENSION, epsilon)
        rng = key.rng(f"vectors/{epsilon}")
        for rows in _blocks(draws // len(_EPSILONS)):
            word, other = _pair(rng.standard_normal(_DIMENSION), rng.standard_normal(_DIMENSION))
            seen = subject.noisy(law, np.broadcast_to(word, (rows, _DIMENSION)), law.sample(rng, rows))
            spacing = law.grid.spacing
            outside += int((np.rint(seen / spacing) * spacing != seen).any(axis=1).sum())
            known = ~_admitted(subject, law, other, seen).all(axis=1)
            excluded += int(known.sum())
    return [
        violations("vectors: the low bits exclude no neighbor", draws, excluded),
        violations("vectors: every coordinate lies on the public grid", draws, outside),
    ]


def _blocks(draws: int) -> Iterator[int]:
    for start in range(0, draws, _BLOCK):
        yield min(_BLOCK, draws - start)


def _pair(first: Float64Array, direction: Float64Array) -> tuple[Float64Array, Float64Array]:
    """Two vectors as an embedding holds them: float32, of a length that is usual there."""
    word = (0.6 * first).astype(np.float32)
    other = (word + _APART * direction / math.sqrt(float(direction @ direction))).astype(np.float32)
    return word.astype(np.float64), other.astype(np.float64)


def _admitted(
    subject: Subject, law: AbstractNoise, other: Float64Array, seen: Float64Array
) -> NDArray[np.bool_]:
    """For each coordinate, whether a float near to what is missing leads from ``other`` to what was seen."""
    found = np.zeros(seen.shape, bool)
    places = np.broadcast_to(other, seen.shape)
    for way in (-np.inf, np.inf):
        noise = seen - places
        for _ in range(_NEAR + 1):
            found |= subject.noisy(law, places, noise) == seen
            noise = np.nextafter(noise, way)
    return found
