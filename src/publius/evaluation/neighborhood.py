"""How far each released document is from the others: what the formal exponent epsilon*N*E is made of."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, final

import numpy as np

from publius.arrays import Float64Array
from publius.distances.ground import Ground
from publius.evaluation.encoding import OUTSIDE, EncodedText
from publius.evaluation.originals import success_at_most
from publius.noise.randomness import seeded_rng
from publius.vectors.embeddings import Embeddings

MOST_TEXTS: Final = 200
"""Texts of which all pairs are compared; of more, a sample of as many at most."""


@final
@dataclass(frozen=True, slots=True)
class Neighborhood:
    """Earth Mover's distances from each unknown text to the nearest others, before protection.

    Attributes:
        nearest: to any other unknown text.
        same_topic: to one of the same topic, None where there is none.
        typical_same_topic: the median over those of the same topic.
        authors: of the texts, as numbers; empty for a sample of the texts.
        table: all distances, a row a text; empty for a sample of the texts.

    """

    nearest: tuple[float, ...]
    same_topic: tuple[float | None, ...]
    typical_same_topic: tuple[float | None, ...]
    authors: tuple[int, ...] = ()
    table: tuple[tuple[float, ...], ...] = ()

    def exponents(self, epsilon: float, size: int, which: str) -> list[float]:
        """epsilon*N*E for each text that has such a neighbor."""
        return [epsilon * size * distance for distance in getattr(self, which) if distance is not None]

    def success_at_most(self, epsilon: float, size: int, delta: float) -> float:
        """No adversary names authors more often, by the guarantee alone; 1 where the distances were not kept."""
        if not self.table:
            return 1.0
        exponents = epsilon * size * np.array(self.table)
        return success_at_most(exponents, [f"{author:09d}" for author in self.authors], delta)


def neighborhood(
    texts: Sequence[EncodedText], embeddings: Embeddings, metric: str | Ground, compared: int = MOST_TEXTS
) -> Neighborhood | None:
    """The neighborhood of ``texts``; None where a word outside the vocabulary passes, for then nothing is promised.

    Of more than `MOST_TEXTS` a sample of ``compared`` is looked at.
    """
    from publius.distances import pairwise_distances

    if len(texts) < 2 or any((text.indices == OUTSIDE).any() for text in texts):
        return None
    whole = len(texts) <= MOST_TEXTS
    if not whole:
        chosen = seeded_rng(len(texts)).permutation(len(texts))[:compared]
        texts = [texts[place] for place in sorted(chosen.tolist())]
    table = np.array(pairwise_distances([text.filled for text in texts], embeddings, metric))
    names = sorted({text.label("author") for text in texts})
    kept = tuple(map(tuple, _upward(table).tolist())) if whole else ()
    authors = tuple(names.index(text.label("author")) for text in texts) if whole else ()
    return Neighborhood(*nearest_others(table, texts), authors, kept)


def _upward(table: Float64Array) -> Float64Array:
    """Six digits, rounded up, with room for the inaccuracy of a distance."""
    return np.asarray(np.ceil(table * (1 + 1e-9) * 1e6) / 1e6)


def nearest_others(
    table: Float64Array, texts: Sequence[EncodedText]
) -> tuple[tuple[float, ...], tuple[float | None, ...], tuple[float | None, ...]]:
    """From distances of shape (k, k), for each text: to the nearest other, of its topic, the median of its topic."""
    away = table.copy()
    np.fill_diagonal(away, np.inf)
    topics = defaultdict(list)
    for place, text in enumerate(texts):
        topics[text.topic].append(place)
    near: list[float | None] = []
    typical: list[float | None] = []
    for place, text in enumerate(texts):
        others = [other for other in topics[text.topic] if other != place] if text.topic is not None else []
        near.append(float(away[place, others].min()) if others else None)
        typical.append(float(np.median(away[place, others])) if others else None)
    return tuple(away.min(axis=1).tolist()), tuple(near), tuple(typical)
