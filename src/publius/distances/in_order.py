"""The distance that ordered text is private in: word by word, in order."""

from __future__ import annotations

import math
from collections.abc import Sequence

from publius.distances.ground import Ground, word_indices
from publius.distances.metrics import ground_metric
from publius.embeddings.embeddings import Embeddings
from publius.errors import PolicyError
from publius.settings import EUCLIDEAN

_INACCURACY = 1 + 1e-9  # more than the relative error of a distance of two vectors of up to 4,096 numbers


def word_by_word_distance(
    a: Sequence[str], b: Sequence[str], embeddings: Embeddings, metric: str | Ground = EUCLIDEAN
) -> float:
    """The sum of d(a_i, b_i) over the positions of two sequences of N words, rounded up (R19).

    Epsilon times it bounds what ordered text tells of which of the two it was made from (theory, 2); it is at least N
    times the Earth Mover's distance of their bags. `PolicyError` for sequences of different lengths, `DataError` for
    words outside the vocabulary.
    """
    from fractions import Fraction  # and with it decimal, for which no start need wait

    if len(a) != len(b):
        raise PolicyError(
            f"the sequences have {len(a)} and {len(b)} words, and the guarantee is for sequences of one length: bring "
            "both to one N"
        )
    x, y = (embeddings.vectors[word_indices(words, embeddings)] for words in (a, b))
    distances = ground_metric(metric).paired(x, y).tolist()
    total = sum(map(Fraction, distances), Fraction(0)) * Fraction(_INACCURACY)
    return math.nextafter(float(total), math.inf) if total else 0.0
