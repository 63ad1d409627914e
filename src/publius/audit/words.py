"""Sampled words against exact kernels, and what samples alone can prove about the ratio of probabilities."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final, final

import numpy as np

from publius.arrays import Float64Array, IndexArray
from publius.audit.implementation import Subject, built
from publius.audit.kernels import LARGEST_DIMENSION, laplace_kernel
from publius.audit.outcomes import FAMILY_ALPHA, Check, Findings, surprise
from publius.audit.tests_of_fit import log_p_pearson, ratio_lower_bounds
from publius.audit.toy_vocabularies import World, pair_world, sharp_world
from publius.distances.metrics import Euclidean
from publius.mechanisms.kernel import Kernel
from publius.mechanisms.kernels.laplace import Laplace
from publius.noise.randomness import RunKey

_BLOCK: Final = 2**17
TIGHT: Final = 0.99


def word_counts(mechanism: Kernel, inputs: IndexArray, each: int, key: RunKey, name: str) -> Float64Array:
    """How often each word comes out for each of ``inputs``, drawn about ``each`` times; shape (inputs, V).

    Inputs are mixed within a batch, as they are in a document. Blocks have generators of their own, named ``name``.
    """
    size = mechanism.embeddings.size
    counts = np.zeros((len(inputs), size))
    rounds = max(1, _BLOCK // len(inputs))
    for start in range(0, each, rounds):
        repeats = min(rounds, each - start)
        rows = np.tile(np.arange(len(inputs)), repeats)
        (outputs,) = mechanism.draw([inputs[rows]], [key.rng(f"{name}/{start}")], threads=1)
        counts += np.bincount(rows * size + outputs, minlength=counts.size).reshape(counts.shape)
    return counts


def exact_kernel(mechanism: Kernel) -> Float64Array | None:
    """K[x, w] where it can be computed: the Laplace's from its definition, a finite mechanism's as it states it.

    None where neither is at hand: other noise, or more than two dimensions.
    """
    stated = getattr(mechanism, "log_probabilities", None)
    if stated is not None:
        return np.asarray(np.exp(stated()))
    if mechanism.name != Laplace.name or mechanism.metric.name != Euclidean.name:
        return None
    if mechanism.embeddings.dimension > LARGEST_DIMENSION:
        return None
    return laplace_kernel(mechanism.embeddings.vectors, mechanism.epsilon)


def check_words(subject: Subject, world: World, samples: int, key: RunKey) -> Check | None:
    """Chi-square of sampled words against the exact kernel, every input word of ``world``; None without a kernel."""
    mechanism = built(subject, world.embeddings, world.epsilon)
    kernel = None if mechanism is None else exact_kernel(mechanism)
    if mechanism is None or kernel is None:
        return None
    inputs = np.arange(world.embeddings.size)
    counts = word_counts(mechanism, inputs, -(-samples // len(inputs)), key, world.name)
    expected = kernel * counts.sum(axis=1, keepdims=True)
    worst = min(log_p_pearson(*rows) for rows in zip(counts, expected, strict=True))
    return surprise(f"words against the kernel: {world.name}", int(counts.sum()), worst, len(inputs))


@final
@dataclass(frozen=True)
class Ratios:
    """Certified lower bounds on ln P(w|x) - ln P(w|x') beside epsilon*d(x, x').

    Attributes:
        excess: the largest lower bound minus epsilon*d; above 0 refutes the guarantee.
        tightness: the largest quotient of the two.

    """

    excess: float
    tightness: float


def ratios(counts: Float64Array, bounds: Float64Array, families: int = 1) -> Ratios:
    """Clopper and Pearson's bounds over all pairs of inputs and all outputs, level 1e-6 over ``families`` calls.

    ``counts``, shape (inputs, V); ``bounds`` is epsilon*d between the inputs, shape (inputs, inputs).
    """
    seen = counts.sum(axis=0) > 0
    cells = counts[:, seen]
    trials = counts.sum(axis=1)[:, None]
    alpha = FAMILY_ALPHA / (families * len(cells) ** 2 * cells.shape[1])
    lower = np.stack(
        [ratio_lower_bounds(row, trials[place], cells, trials, alpha) for place, row in enumerate(cells)]
    ).max(axis=2)
    apart = ~np.eye(len(cells), dtype=bool) & (bounds > 0)
    return Ratios(
        float((lower - bounds)[~np.eye(len(cells), dtype=bool)].max(initial=-math.inf)),
        float((lower[apart] / bounds[apart]).max(initial=0.0)),
    )


def check_ratios(subject: Subject, samples: int, key: RunKey) -> Findings:
    """The black box where the bound is sharp: certified ratios come near epsilon*d and never pass it."""
    found = _sharp(subject)
    if found is None:
        return Findings()
    world, mechanism, inner, reached = found
    # Two words need fewer draws than the Laplace's cells; where nothing is reached, more draws would show no more.
    samples //= 1 if mechanism.name == Laplace.name else 4 if reached else 24
    counts = word_counts(mechanism, inner, samples // 2, key, world.name)
    bounds = ratios(counts, world.epsilon * np.abs(world.vectors[inner] - world.vectors[inner].T))
    total = int(counts.sum())
    excess = Check("ratio bounds: excess over epsilon*d (nats)", total, bounds.excess, 0.0)
    if not reached:
        return Findings((excess,), {"tightness": bounds.tightness})
    tight = Check("ratio bounds: 1 - tightness", total, 1 - bounds.tightness, 1 - TIGHT)
    return Findings((excess, tight), {"tightness": bounds.tightness})


def _sharp(subject: Subject) -> tuple[World, Kernel, IndexArray, bool] | None:
    """Where the bound is reached, or as near as can be said: the world, two of its words, and whether it is.

    The Laplace reaches it beyond both words; a mechanism that weighs the vocabulary reaches its certified constant
    where there are no other words.
    """
    for world, inner in ((pair_world(), np.array([0, 1])), (sharp_world(), np.array([1, 2]))):
        mechanism = built(subject, world.embeddings, world.epsilon)
        if mechanism is None:
            continue
        stated = getattr(mechanism, "log_probabilities", None)
        if stated is None and len(world.vectors) == len(inner):
            continue  # only a finite mechanism is looked at with two words
        return world, mechanism, inner, mechanism.name == Laplace.name or _reached(stated, world)
    return None


def _reached(stated: Callable[[], Float64Array] | None, world: World) -> bool:
    if stated is None:
        return False
    logs = stated()
    bound = world.epsilon * float(np.linalg.norm(world.vectors[0] - world.vectors[1]))
    return float(np.abs(logs[0] - logs[1]).max()) > bound * (1 - 1e-6)


def check_ratios_of(mechanism: Kernel, pairs: IndexArray, samples: int, key: RunKey, name: str) -> Check:
    """The black box on any vocabulary: for pairs of words, shape (p, 2), no certified ratio passes epsilon*d."""
    vectors = mechanism.embeddings.vectors
    excess, total = -math.inf, 0
    for number, pair in enumerate(pairs):
        counts = word_counts(mechanism, pair, samples, key, f"{name}/{number}")
        distances = mechanism.metric.pairwise(vectors[pair], vectors[pair])
        excess = max(excess, ratios(counts, mechanism.epsilon * distances, len(pairs)).excess)
        total += int(counts.sum())
    return Check(f"ratio bounds on {name}: excess over epsilon*d (nats)", total, excess, 0.0)
