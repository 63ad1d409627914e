"""Small public vocabularies on which laws are tried, and what draws alone can prove about a ratio of probabilities."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Final, NamedTuple

import numpy as np

from publius.arrays import Float64Array, IndexArray
from publius.audit.tests_of_fit import ratio_lower_bounds
from publius.embeddings.embeddings import Embeddings
from publius.mechanisms.kernel import Kernel
from publius.noise.randomness import Generator, RunKey, seeded_rng

_LAYOUT_SEED: Final = 20190411
_BLOCK: Final = 2**17
FAMILY_ALPHA: Final = 1e-6
"""The level of all tests of one family together."""


class World(NamedTuple):
    """A public vocabulary, what messages call it, and an epsilon per unit of distance."""

    name: str
    embeddings: Embeddings
    epsilon: float


def small_embeddings(vectors: Float64Array, name: str) -> Embeddings:
    """A vocabulary w0, w1, ... with these vectors."""
    return Embeddings.from_arrays(
        [f"w{index}" for index in range(len(vectors))], vectors, name=name, tokenizer="word2vec"
    )


def worlds(count: int, *, dimensions: tuple[int, ...] = (1, 2), words: tuple[int, int] = (3, 10)) -> list[World]:
    """``count`` worlds: dimensions and layouts in turn, words and epsilons in their ranges. Always the same ones."""
    found = []
    names = list(LAYOUTS)
    for index in range(count):
        rng = seeded_rng(_LAYOUT_SEED + index)
        dimension = dimensions[index % len(dimensions)]
        layout = names[index // len(dimensions) % len(names)]
        size = int(rng.integers(words[0], words[1] + 1))
        epsilon = float(np.round(np.exp(rng.uniform(np.log(0.4), np.log(6.0))), 3))
        vectors = LAYOUTS[layout](rng, size, dimension)
        name = f"{layout}-{dimension}d-{size}w-eps{epsilon:g}-{index}"
        found.append(World(name, small_embeddings(vectors, layout), epsilon))
    return found


def _clustered(rng: Generator, size: int, dimension: int) -> Float64Array:
    centers = 2 * rng.standard_normal((2, dimension))
    return centers[np.arange(size) % 2] + 0.1 * rng.standard_normal((size, dimension))


def _on_grid(rng: Generator, size: int, dimension: int) -> Float64Array:
    """Points of a square grid: vertices where four cells meet."""
    side = int(np.ceil(size ** (1 / dimension)))
    points = np.stack(np.meshgrid(*[np.arange(side) * 0.75] * dimension), axis=-1).reshape(-1, dimension)
    return np.asarray(points[rng.permutation(len(points))[:size]], np.float64)


def _nearly_equal(rng: Generator, size: int, dimension: int) -> Float64Array:
    """Pairs a thousandth apart."""
    points = rng.standard_normal((size, dimension))
    points[1::2] = points[: 2 * (size // 2) : 2] + 1e-3 * rng.standard_normal((size // 2, dimension))
    return points


def _in_row(rng: Generator, size: int, dimension: int) -> Float64Array:
    """On one line: in two dimensions every cell is a strip."""
    return np.asarray(np.sort(rng.standard_normal(size))[:, None] * np.ones(dimension) / np.sqrt(dimension))


LAYOUTS: Final[dict[str, Callable[[Generator, int, int], Float64Array]]] = {
    "scattered": lambda rng, size, dimension: rng.standard_normal((size, dimension)),
    "clustered": _clustered,
    "grid": _on_grid,
    "nearly-equal": _nearly_equal,
    "row": _in_row,
}


def sharp_world(exponent: float = 2.5) -> World:
    """Four words on a line where the bound is reached: two at distance ``exponent``/epsilon, two just outside.

    The cell of an outer word lies beyond both inner ones, so there the loss is epsilon*d exactly.
    """
    gap = 2.0**-6
    vectors = np.array([[-gap], [0.0], [exponent], [exponent + gap]])
    return World(f"sharp-1d-eps1-d{exponent:g}", small_embeddings(vectors, "sharp"), 1.0)


def pair_world(exponent: float = 2.5) -> World:
    """Two words at distance ``exponent``/epsilon, and no others."""
    return World(f"pair-1d-eps1-d{exponent:g}", small_embeddings(np.array([[0.0], [exponent]]), "pair"), 1.0)


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


class Ratios(NamedTuple):
    """Lower bounds on ln P(w|x) - ln P(w|x') beside epsilon*d(x, x'): the largest difference, and quotient.

    An ``excess`` above 0 refutes the guarantee.
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
