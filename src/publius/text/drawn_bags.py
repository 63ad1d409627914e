"""Many bags of one vocabulary at once, in arrays: their words are named when somebody asks for them.

A mechanism that draws public words for hundreds of documents would else spend more time on naming than on drawing.
"""

from __future__ import annotations

import functools
import itertools
import json
from collections.abc import Sequence
from typing import Any, Final, final

import numpy as np

from publius.arrays import IndexArray
from publius.text.known_words import IndexedVocabulary

_JSON: Final = json.JSONEncoder(ensure_ascii=False)
ENOUGH: Final = 128
"""Bags for which it pays to put the vocabulary in order and to write every word of it as JSON once."""


@final
class Alphabet:
    """A vocabulary in alphabetical order.

    Attributes:
        vocabulary: the words by place.
        names: the same, in an array.
        ranks: the rank of each place.
    """

    def __init__(self, vocabulary: Sequence[str]) -> None:
        order = sorted(range(len(vocabulary)), key=vocabulary.__getitem__)
        self.vocabulary = vocabulary
        self.names = _objects(list(vocabulary))
        self.ranks: IndexArray = np.empty(len(order), np.int64)
        self.ranks[order] = np.arange(len(order))

    @functools.cached_property
    def pieces(self) -> np.ndarray[Any, np.dtype[np.object_]]:
        """Each word with the count 1 as JSON, by place."""
        return _objects([f"{_JSON.encode(word)}: 1" for word in self.vocabulary])


@functools.lru_cache(2)
def alphabet_of(vocabulary: IndexedVocabulary) -> Alphabet:
    """The words of a vocabulary in alphabetical order; the two last used are kept."""
    return Alphabet(vocabulary.vocabulary)


@final
class DrawnBags:
    """The words of many bags, in the order of the vocabulary: nothing of the order of the draw is left."""

    def __init__(self, alphabet: Alphabet, places: IndexArray) -> None:
        """Take a row of ``places`` in the vocabulary for each bag, all of one length."""
        self.size = places.shape[1]
        self.alphabet = alphabet
        ordered = np.sort(places.astype(np.int32), axis=1)  # a vocabulary has fewer than 2^31 words
        first = np.ones(ordered.shape, np.bool_)  # of the run of one word in one bag
        np.not_equal(ordered[:, 1:], ordered[:, :-1], out=first[:, 1:])
        starts = np.flatnonzero(first)
        self._places = ordered.ravel()[starts]
        self._counts: IndexArray = np.diff(starts, append=ordered.size)
        self._ends: list[int] = [0, *np.cumsum(np.count_nonzero(first, axis=1)).tolist()]

    def __len__(self) -> int:
        return len(self._ends) - 1

    def counts(self, row: int) -> dict[str, int]:
        """How often each word of a bag occurs, sorted by word."""
        places, counts = self._by_word
        own = slice(self._ends[row], self._ends[row + 1])
        return dict(zip(self.alphabet.names.take(places[own]).tolist(), counts[own].tolist(), strict=True))

    @functools.cached_property
    def _by_word(self) -> tuple[np.ndarray[Any, np.dtype[np.int32]], IndexArray]:
        """Places and counts, those of each bag sorted by word."""
        bags = np.repeat(np.arange(len(self)), np.diff(self._ends))
        order = np.lexsort((self.alphabet.ranks[self._places], bags))
        return self._places[order], self._counts[order]

    @functools.cached_property
    def texts(self) -> list[str] | None:
        """Each bag as JSON, its words in the order of the vocabulary; None where there are too few bags."""
        if len(self) < ENOUGH:
            return None
        pieces = self.alphabet.pieces.take(self._places)
        several = np.flatnonzero(self._counts > 1)
        most = self.size + 1
        codes = self._places[several].astype(np.int64) * most + self._counts[several]
        pairs, which = np.unique(codes, return_inverse=True)
        ones = self.alphabet.pieces.take(pairs // most).tolist()
        named = [f"{one[:-1]}{count}" for one, count in zip(ones, (pairs % most).tolist(), strict=True)]
        pieces[several] = _objects(named)[which]
        found = pieces.tolist()
        return [f"{{{', '.join(found[start:end])}}}" for start, end in itertools.pairwise(self._ends)]


def _objects(words: list[str]) -> np.ndarray[Any, np.dtype[np.object_]]:
    found = np.empty(len(words), object)
    found[:] = words
    return found
