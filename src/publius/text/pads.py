"""Pads: the public words that fill a short document up to N, drawn so that they look like words of any document.

One token instead would tell by its count how long the document is. Which words may be drawn, and how often each,
follows from the vocabulary and the stop words alone. Two documents are filled up with the same draws, as far as both
need them; for each outcome of the draws the lifting theorem holds, and a mixture of laws whose ratios are bounded has a
bounded ratio. So the guarantee holds with the distance of the two filled up with the farthest that may be drawn.
"""

from __future__ import annotations

from functools import lru_cache
from itertools import islice
from typing import Final

import numpy as np

from publius.arrays import IndexArray
from publius.text.known_words import IndexedVocabulary
from publius.text.tokenizer import StopWords

PADS: Final = 1_000
"""At most so many different words fill documents up."""
BYTES: Final = 4
"""Random bytes that one pad takes."""


def pad_places(vocabulary: IndexedVocabulary, stop_words: StopWords) -> IndexArray:
    """Places of the words that may be drawn: the first of the vocabulary that are plain words and no stop words."""
    return _law(vocabulary, stop_words)[0]


def drawn_pads(vocabulary: IndexedVocabulary, stop_words: StopWords, bits: bytes) -> IndexArray:
    """Places of pads, one for each four of the random ``bits``.

    The word at rank r is drawn in proportion to 1/(r + 1) (Zipf's law),
    with whole-number weights that sum to 2^32.
    """
    places, ends = _law(vocabulary, stop_words)
    return np.asarray(places[np.searchsorted(ends, np.frombuffer(bits, "<u4").astype(np.int64), side="right")])


@lru_cache(8)
def _law(vocabulary: IndexedVocabulary, stop_words: StopWords) -> tuple[IndexArray, IndexArray]:
    """The places, and for each the first number from 0 to 2^32 that is beyond its share."""
    words = enumerate(vocabulary.vocabulary)
    plain = (place for place, word in words if len(word) > 1 and word.isalpha() and word not in stop_words.words)
    found = np.array([*islice(plain, PADS)] or [vocabulary.unknown_index], np.int64)
    ends = np.floor(np.cumsum(1 / (found + 1)) / np.sum(1 / (found + 1)) * 2.0**32).astype(np.int64)
    ends[-1] = 2**32
    return found, ends
