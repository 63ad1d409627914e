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

_JSON: Final = json.JSONEncoder(ensure_ascii=False)
_ENOUGH: Final = 128  # bags for which it pays to write every word of the vocabulary as JSON once


@final
class Alphabet:
    """A vocabulary in alphabetical order.

    Attributes:
        vocabulary: the words by place.
        names: the words by rank.
        places: the place of each rank.
        ranks: the rank of each place.
    """

    def __init__(self, vocabulary: Sequence[str]) -> None:
        order = sorted(range(len(vocabulary)), key=vocabulary.__getitem__)
        self.vocabulary = vocabulary
        self.places: IndexArray = np.array(order, np.int64)
        self.ranks: IndexArray = np.empty(len(order), np.int64)
        self.ranks[self.places] = np.arange(len(order))
        self.names = _objects([vocabulary[index] for index in order])

    @functools.cached_property
    def pieces(self) -> np.ndarray[Any, np.dtype[np.object_]]:
        """Each word with the count 1 as JSON, by place."""
        return _objects([f"{_JSON.encode(word)}: 1" for word in self.vocabulary])


@final
class DrawnBags:
    """The words of many bags, as ascending ranks: nothing of the order of the draw is left."""

    def __init__(self, alphabet: Alphabet, ranks: IndexArray) -> None:
        """Take a row of ``ranks`` for each bag, ascending, all of one length."""
        first = np.ones(ranks.shape, bool)  # of the runs of one word; a row starts one
        np.not_equal(ranks[:, 1:], ranks[:, :-1], out=first[:, 1:])
        starts = np.flatnonzero(first)
        self.alphabet = alphabet
        self.size = ranks.shape[1]
        self._distinct: IndexArray = ranks.ravel().take(starts)
        self._counts: IndexArray = np.diff(starts, append=ranks.size)
        self._ends: list[int] = [0, *np.cumsum(first.sum(axis=1)).tolist()]

    def __len__(self) -> int:
        return len(self._ends) - 1

    def counts(self, row: int) -> dict[str, int]:
        """How often each word of a bag occurs, sorted by word."""
        own = slice(self._ends[row], self._ends[row + 1])
        names = self.alphabet.names.take(self._distinct[own]).tolist()
        return dict(zip(names, self._counts[own].tolist(), strict=True))

    def as_json(self, row: int) -> str | None:
        """A bag as JSON, its words in the order of the vocabulary; None where there are too few bags."""
        return None if self._texts is None else self._texts[row]

    @functools.cached_property
    def _texts(self) -> list[str] | None:
        if len(self) < _ENOUGH:
            return None
        places = self.alphabet.places[self._distinct]
        bag = np.repeat(np.arange(len(self)), np.diff(self._ends))
        order = np.argsort(bag * len(self.alphabet.places) + places)
        pieces = self.alphabet.pieces.take(places[order]).tolist()
        counts = self._counts[order]
        several = np.flatnonzero(counts > 1)
        for at, count in zip(several.tolist(), counts[several].tolist(), strict=True):
            pieces[at] = f"{pieces[at][:-1]}{count}"
        return [f"{{{', '.join(pieces[start:end])}}}" for start, end in itertools.pairwise(self._ends)]


def _objects(words: list[str]) -> np.ndarray[Any, np.dtype[np.object_]]:
    found = np.empty(len(words), object)
    found[:] = words
    return found
