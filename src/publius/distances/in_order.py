"""The distance that ordered text is private in: word by word, in order."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from publius.arrays import Float64Array
from publius.distances.ground import Ground
from publius.distances.metrics import ground_metric
from publius.embeddings.embeddings import Embeddings
from publius.errors import DataError, PolicyError
from publius.settings import EUCLIDEAN
from publius.text.bag import UNKNOWN

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
    distances = ground_metric(metric).paired(_vectors(a, embeddings), _vectors(b, embeddings)).tolist()
    total = sum(map(Fraction, distances), Fraction(0)) * Fraction(_INACCURACY)
    return math.nextafter(float(total), math.inf) if total else 0.0


def _vectors(words: Sequence[str], embeddings: Embeddings) -> Float64Array:
    """One row a word, float64; the unknown token has a public vector."""
    found = [embeddings.unknown_index if word == UNKNOWN else embeddings.index(word) for word in words]
    if missing := sum(place is None for place in found):
        raise DataError(
            f"{missing} of {len(found)} words are not in the vocabulary {embeddings.name!r}: encode the texts as a "
            "release does, with publius.text.bag.words_of"
        )
    return np.asarray(embeddings.vectors[np.array(found, np.int64)], np.float64)
