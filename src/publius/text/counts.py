"""Counts of public words in many texts, as classifiers need them: our tokenizer, four times CountVectorizer."""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from typing import Any, final

import numpy as np

from publius.arrays import IndexArray
from publius.settings import TextSettings
from publius.text.known_words import NOWHERE, known_words
from publius.text.tokenizer import StopWords


@final
class WordList:
    """A list of words as a vocabulary with places and without vectors; two of the same words are not equal."""

    unknown_index = 0

    def __init__(self, words: Sequence[str]) -> None:
        self.vocabulary = tuple(words)
        self.places = {word: place for place, word in enumerate(self.vocabulary)}

    def __contains__(self, word: object) -> bool:
        return word in self.places


_lists = deque[WordList](maxlen=4)


def _word_list(words: tuple[str, ...]) -> WordList:
    """The list of this very tuple: to look at its words would take as long as some texts."""
    found = next((each for each in [*_lists] if each.vocabulary is words), None)
    if found is None:
        _lists.append(found := WordList(words))
    return found


def known_of(text: str, words: tuple[str, ...], profile: str, stop_words: str) -> tuple[int, int]:
    """How many words of a text are looked up in ``words``, and how many are there."""
    (places,) = known_words(_word_list(words), profile, StopWords.load(stop_words)).places([text])
    return len(places), int(np.count_nonzero(places != NOWHERE))


def count_matrix(
    texts: Sequence[str], words: tuple[str, ...], *, profile: str = "glove", stop_words: str = TextSettings.stop_words
) -> Any:
    """How often each of ``words`` stands in each text: a scipy CSR array of int64, shape (texts, words), sorted.

    A row is a function of its own text; other words and stop words count nowhere. The table of the words is kept for
    the next call with the same tuple.

    >>> count_matrix(["tea and milk and tea", ""], ("milk", "tea")).toarray().tolist()
    [[1, 2], [0, 0]]
    """
    from scipy.sparse import csr_array

    owners, found = known_words(_word_list(words), profile, StopWords.load(stop_words)).known(texts)
    n, width = len(texts), max(1, len(words))
    keys = owners * width + found
    keys.sort()  # quicker than scipy's sort row by row
    firsts = np.flatnonzero(np.diff(keys, prepend=-1))
    counts: IndexArray = np.diff(firsts, append=len(keys))
    starts = np.searchsorted(keys[firsts], np.arange(n + 1) * width)
    places = keys[firsts] - np.repeat(np.arange(n) * width, np.diff(starts))
    made = csr_array((counts, places, starts), shape=(n, len(words)))
    made.has_canonical_format = True
    return made
