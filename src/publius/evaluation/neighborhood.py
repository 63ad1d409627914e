"""How far each released document is from the others: what the formal exponent epsilon*N*E is made of."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from typing import final

import numpy as np

from publius.evaluation.encoding import OUTSIDE, EncodedText
from publius.vectors.embeddings import Embeddings


@final
@dataclass(frozen=True, slots=True)
class Neighborhood:
    """Earth Mover's distances from each unknown text to the nearest others, before protection.

    ``nearest`` is to any other unknown text; ``same_topic`` to one of the same topic, None where there is none;
    ``typical_same_topic`` the median over those of the same topic.
    """

    nearest: tuple[float, ...]
    same_topic: tuple[float | None, ...]
    typical_same_topic: tuple[float | None, ...]

    def exponents(self, epsilon: float, size: int, which: str) -> list[float]:
        """epsilon*N*E for each text that has such a neighbor."""
        return [epsilon * size * distance for distance in getattr(self, which) if distance is not None]


def neighborhood(texts: Sequence[EncodedText], embeddings: Embeddings, metric: str) -> Neighborhood | None:
    """The neighborhood of ``texts``; None where a word outside the vocabulary passes, for then nothing is promised."""
    from publius.distances import pairwise_distances

    if len(texts) < 2 or any((text.indices == OUTSIDE).any() for text in texts):
        return None
    table = np.array(pairwise_distances([text.bag for text in texts], embeddings, metric))
    np.fill_diagonal(table, np.inf)
    topics = defaultdict(list)
    for place, text in enumerate(texts):
        topics[text.topic].append(place)
    near, typical = [], []
    for place, text in enumerate(texts):
        others = [other for other in topics[text.topic] if other != place] if text.topic is not None else []
        near.append(float(table[place, others].min()) if others else None)
        typical.append(float(np.median(table[place, others])) if others else None)
    return Neighborhood(tuple(table.min(axis=1).tolist()), tuple(near), tuple(typical))
