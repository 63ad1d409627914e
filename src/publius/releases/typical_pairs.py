"""What a guarantee means for typical pairs: of words, and of a user's own public texts.

Everything here is public: the vocabulary, and texts that the user says are public.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Final, TypeVar, final

import numpy as np

from publius.arrays import IndexArray
from publius.distances.metrics import AbstractMetric
from publius.distances.pairwise import pairwise_distances
from publius.errors import DataError
from publius.mechanisms.documents.base import AbstractDocumentMechanism
from publius.privacy.document_guarantee import strength_of
from publius.text.bag import UNKNOWN, Bag
from publius.vectors.embeddings import Embeddings

Item = TypeVar("Item")

TEXTS: Final = 30
"""Texts that are compared with each other at most: 435 pairs."""

WORDS: Final = ("nurse", "red", "monday", "paris", "doctor", "river", "money", "angry")
"""Ordinary words of which examples are made where a vocabulary has them and no texts are given."""

EXAMPLES: Final = 3
_QUANTILES: Final = (("the nearest pair", 0.0), ("a near pair (one in ten is nearer)", 0.1), ("the median pair", 0.5),
                     ("the farthest pair", 1.0))  # fmt: skip


@final
@dataclass(frozen=True, slots=True)
class Pair:
    """Two documents or words, how far they are apart, and the exponent between them in nats.

    ``distance`` is None where only the exponent is known.
    """

    name: str
    distance: float | None
    exponent: float

    @property
    def strength(self) -> str:
        """The word for the exponent on the scale of words: strong, moderate, weak or empty."""
        return strength_of(self.exponent)


def word_pairs(
    embeddings: Embeddings,
    metric: AbstractMetric,
    exponent: Callable[[float], float],
    words: Sequence[str] = WORDS,
) -> list[Pair]:
    """For each of the first words that the vocabulary has, its nearest neighbor, and what replacing one by it costs.

    ``exponent`` is that of a document in which one word of N is replaced: of epsilon times the distance.
    """
    pairs: list[Pair] = []
    for word in words:
        place = embeddings.index(word)
        if place is None or len(pairs) == EXAMPLES:
            continue
        distances = metric.pairwise(embeddings.vectors[place : place + 1], embeddings.vectors)[0]
        distances[place] = np.inf
        other = int(distances.argmin())
        distance = float(distances[other])
        pairs.append(Pair(f"{word} replaced by {embeddings.vocabulary[other]}", distance, exponent(distance)))
    return pairs


def text_pairs(
    bags: Sequence[Bag], embeddings: Embeddings, metric: AbstractMetric, exponent: Callable[[float], float]
) -> list[Pair]:
    """The nearest, a near, the median and the farthest pair of public texts, as bags of one size.

    `DataError` with fewer than two.
    """
    chosen = _spread(bags)
    distances = pairwise_distances(chosen, embeddings, metric)
    found = sorted(float(distances[a, b]) for a, b in combinations(range(len(chosen)), 2))
    return [Pair(name, distance, exponent(distance)) for name, distance in _at_quantiles(found)]


def filled_pairs(
    documents: Sequence[Item], between: Callable[[Item, Item], float], exponent: Callable[[float], float]
) -> list[Pair]:
    """The same where a document may be filled up, so that ``between`` says how far two of them are apart at most."""
    found = sorted(between(a, b) for a, b in combinations(_spread(documents), 2))
    return [Pair(name, distance, exponent(distance)) for name, distance in _at_quantiles(found)]


def document_pairs(documents: Sequence[IndexArray], mechanism: AbstractDocumentMechanism) -> list[Pair]:
    """The same for a document mechanism: by the exponent, which is exact where its law is computed."""
    chosen = _spread(documents)
    compared = [mechanism.between(a, b) for a, b in combinations(chosen, 2)]
    exponents = sorted(each.exponent if each.exact is None else each.exact for each in compared)
    return [Pair(name, None, exponent) for name, exponent in _at_quantiles(exponents)]


def frequent_words(bags: Sequence[Bag], count: int = 20) -> list[str]:
    """The words that most of the public texts have, the most frequent first."""
    totals = Counter(word for bag in bags for word in bag.counts if word != UNKNOWN)
    return [word for word, _ in totals.most_common(count)]


def _spread(items: Sequence[Item]) -> list[Item]:
    """At most `TEXTS` of them, evenly spread."""
    if len(items) < 2:
        raise DataError("fewer than two of the public texts have a word that counts: give more of them")
    step = max(1, -(-len(items) // TEXTS))
    return list(items[::step])[:TEXTS]


def _at_quantiles(ordered: Sequence[float]) -> list[tuple[str, float]]:
    last = len(ordered) - 1
    return [(name, ordered[round(share * last)]) for name, share in _QUANTILES]
