"""Small public references on which every pair of documents can be looked at: where the audit of documents happens."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Final, final

import numpy as np

from publius.arrays import Float64Array, IndexArray
from publius.audit.lifting import bags
from publius.noise.randomness import seeded_rng
from publius.vectors.learning.prototypes import Aspect, Prototypes, Rule, on_grid
from publius.vectors.learning.reference import Reference
from publius.vectors.learning.typical_words import drawable

LONGEST: Final = 5
_LAYOUT_SEED: Final = 20260117


@final
@dataclass(frozen=True)
class DocumentWorld:
    """A reference of a few words and the parameters of a mechanism on it.

    Attributes:
        name: for messages.
        reference: V words, features in one or two dimensions, a few prototypes.
        bound: nats between any two documents.
        gamma: of the margin scores; 0 for randomized response.
    """

    name: str
    reference: Reference
    bound: float
    gamma: float

    @property
    def parameters(self) -> Mapping[str, float]:
        """Parameters of the mechanism ``prototype``."""
        return {"bound": self.bound, "gamma": self.gamma}

    @property
    def documents(self) -> list[IndexArray]:
        """Every bag of 0 to 5 words, the unknown token being one of them."""
        words = self.reference.size + 1
        found: list[IndexArray] = [np.zeros(0, np.int64)]
        for size in range(1, LONGEST + 1):
            found += list(bags(words, size))
        return found


def document_worlds(count: int) -> Iterator[DocumentWorld]:
    """``count`` worlds, always the same ones: 3 to 5 words, 1 or 2 dimensions, 2 to 5 prototypes, soft and sharp."""
    for number in range(count):
        rng = seeded_rng(_LAYOUT_SEED + number)
        words, prototypes = int(rng.integers(3, 6)), int(rng.integers(2, 6))
        dimension = 1 + number % 2
        features = rng.standard_normal((words, dimension))
        points = rng.standard_normal((prototypes, dimension))
        if number % 5 == 4:
            points[-1] = points[0]  # prototypes that coincide
        gamma = (0.0, 0.02, 0.2, 1.0)[number % 4]
        bound = float(np.round(rng.uniform(0.3, 9.0), 2))
        rule: Rule = "cosine" if number % 3 == 2 else "nearest"
        empty = rng.standard_normal(dimension)
        far: dict[Rule, float] | None = (
            {"nearest": rng.uniform(0.2, 2.0), "cosine": rng.uniform(0.1, 1.0)} if number % 3 else None
        )
        reference = toy_reference(
            features, points, rule=rule, empty=empty, farthest=far if number % 3 else None
        )
        name = f"{words}w-{dimension}d-{prototypes}p-bound{bound:g}-gamma{gamma:g}-{number}"
        yield DocumentWorld(name, reference, bound, gamma)


def toy_reference(
    features: Float64Array,
    points: Float64Array,
    *,
    rule: Rule = "nearest",
    empty: Float64Array | None = None,
    farthest: Mapping[Rule, float] | None = None,
) -> Reference:
    """A reference of words w0, w1, ... with these features and prototypes, and a box of half a unit round 0."""
    words, dimension = features.shape
    chances = np.ones((len(points), words)) + 2 * np.eye(len(points), words)
    drawn, weights = drawable(chances / chances.sum(axis=1, keepdims=True))
    labels = tuple(f"p{k}" for k in range(len(points)))
    stands = np.zeros((1, dimension)) if empty is None else empty[None, :]
    half = np.full(dimension, 0.5)
    aspect = Aspect(
        "topic",
        "log-odds",
        on_grid(np.concatenate([features, stands])),
        rule,
        -half,
        half,
        (Prototypes(points, labels, drawn, weights, 0.2, farthest=farthest),),
    )
    return Reference(
        name="toy",
        vocabulary=tuple(f"w{index}" for index in range(words)),
        background=np.full(words, 1 / words),
        aspects=MappingProxyType({"topic": aspect}),
        tokenizer="word2vec",
        stop_words="none",
        source=MappingProxyType({"format": "reference", "corpus_sha256": "0" * 64}),
    )
