"""Pads: the public words that fill a short document up to N, drawn so that they look like words of any document.

One token instead would stand out: its count would tell how long the document is. Which words may be drawn, and how
often each, follows from the vocabulary and the stop words alone, both public.

What it costs. Two documents are filled up with the same draws, as far as both need them. For each outcome of the draws
the lifting theorem holds for the bags that result, and a mixture of laws whose ratios are bounded has a bounded
ratio. So the guarantee holds with the Earth Mover's distance of the two as they are filled up with whatever may be
drawn that is farthest: a pad against a pad is at distance 0, against a word at the largest from it to any such word.
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

_WHOLE: Final = 2**32


def pad_places(vocabulary: IndexedVocabulary, stop_words: StopWords) -> IndexArray:
    """Places of the words that may be drawn: the first of the vocabulary that are plain words and no stop words."""
    return _law(vocabulary, stop_words)[0]


def drawn_pads(vocabulary: IndexedVocabulary, stop_words: StopWords, bits: bytes) -> IndexArray:
    """Places of pads, one for each four of the random ``bits``.

    The word at place r of a vocabulary in order of frequency is drawn about as often as it is written, in proportion
    to 1/(r + 1) (Zipf's law), with whole-number weights that sum to 2^32.
    """
    places, ends = _law(vocabulary, stop_words)
    numbers = np.frombuffer(bits, "<u4").astype(np.int64)
    return np.asarray(places[np.searchsorted(ends, numbers, side="right")])


@lru_cache(8)
def _law(vocabulary: IndexedVocabulary, stop_words: StopWords) -> tuple[IndexArray, IndexArray]:
    """The places, and for each the first number from 0 to 2^32 that is beyond its share."""
    plain = (
        place
        for place, word in enumerate(vocabulary.vocabulary)
        if len(word) > 1 and word.isalpha() and word not in stop_words.words
    )
    places = [*islice(plain, PADS)] or [vocabulary.unknown_index]
    found = np.array(places, np.int64)
    ends = np.floor(np.cumsum(1 / (found + 1)) / np.sum(1 / (found + 1)) * _WHOLE).astype(np.int64)
    ends[-1] = _WHOLE
    return found, ends
