"""From a text straight to places in a vocabulary, as fast as it can be read.

A word never holds white space, so a text is cut there and each stretch between is looked up as a whole in a table
that remembers what the tokenizer made of it. The table's answers are the tokenizer's: only repetition is saved.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping, Sequence
from functools import lru_cache
from threading import Lock
from typing import Final, Protocol, final, overload

import numpy as np

from publius.arrays import IndexArray
from publius.text.tokenizer import StopWords, Unknown, chunks_of, lookup, profile_named

UNKNOWN: Final = "<unk>"
"""The public token that stands for unknown words and fills short documents; no text has it as a word."""

NOWHERE: Final = -1
"""The place of an unknown word."""
_NOTHING: Final = -2

_CHUNK: Final = 8192
_PLAIN: Final = bytes(
    code if chr(code).isalnum() or chr(code) in "'-.," else ord(" ") for code in bytes(range(128)).lower()
).ljust(256)
"""In ASCII nothing else is in a word: letters in lower case, digits, and what can join two of them."""
_LOOSE: Final = (". ", ", ")
"""What joins nothing: without it "end." and "end" are one stretch."""
_MOST: Final = 2**17
_LONGEST: Final = 64
"""At most so many stretches of at most so many characters are remembered: some 20 MB."""


class IndexedVocabulary(Hashable, Protocol):
    """A vocabulary whose words have places, and whose unknown token has one too: `Embeddings` and the like."""

    @property
    def unknown_index(self) -> int:
        """Where the unknown token stands."""
        ...

    @property
    def vocabulary(self) -> Sequence[str]:
        """The words by place."""
        ...

    @property
    def places(self) -> Mapping[str, int]:
        """The place of each word."""
        ...

    def index(self, word: str) -> int | None:
        """The place of a word; None when it is not there."""
        ...

    def __contains__(self, word: object, /) -> bool: ...


@final
class PlacedWords(Sequence[str]):
    """Words of a vocabulary, held as their places and named when they are asked for; it shows none in a repr."""

    __slots__ = ("_names", "_places")

    def __init__(self, places: IndexArray, names: Sequence[str]) -> None:
        self._places, self._names = places, names

    def __len__(self) -> int:
        return len(self._places)

    def __iter__(self) -> Iterator[str]:
        return map(self._names.__getitem__, self._places.tolist())

    @overload
    def __getitem__(self, place: int) -> str: ...
    @overload
    def __getitem__(self, place: slice) -> tuple[str, ...]: ...
    def __getitem__(self, place: int | slice) -> str | tuple[str, ...]:
        return self._names[self._places[place]] if isinstance(place, int) else tuple(self)[place]

    def __eq__(self, other: object) -> bool:
        return tuple(self) == tuple(other) if isinstance(other, tuple | PlacedWords) else NotImplemented

    def __hash__(self) -> int:
        return hash(tuple(self))

    def __repr__(self) -> str:
        return f"PlacedWords(size={len(self)})"


@final
class KnownWords:
    """Texts to places in a vocabulary; safe in threads.

    It remembers stretches of private texts in memory, so it is never written, printed or sent to another process.

    Attributes:
        names: the words by place, and the unknown token last, so that `NOWHERE` names it.

    """

    def __init__(self, vocabulary: IndexedVocabulary, profile: str, stop_words: StopWords) -> None:
        self._facts = (vocabulary, profile, stop_words)
        self._table = _Table(*self._facts)
        self.names = (*vocabulary.vocabulary, UNKNOWN)

    def places(self, text: str, first: int | None = None) -> Iterator[IndexArray]:
        """The places of the words of ``text`` in order, in parts: little more of it is read than ``first`` words need.

        A part has at least eight characters for each of them, and at most about 8,192.
        """
        for chunk in chunks_of(text, _CHUNK if first is None else min(_CHUNK, 8 * first)):
            if self._table.is_full:
                self._table = _Table(*self._facts)
            table = self._table  # its codes are of no use to another
            stretches = (_plain(chunk) if chunk.isascii() else chunk).split()
            codes = np.fromiter(map(table.__getitem__, stretches), np.int64, len(stretches))
            yield table.spread(codes[codes != _NOTHING])

    def __repr__(self) -> str:
        return "KnownWords()"

    def __reduce__(self) -> tuple[type[KnownWords], tuple[IndexedVocabulary, str, StopWords]]:
        return KnownWords, self._facts


@final
class _Table(dict[str, int]):
    """What each stretch of text without white space becomes, as one number.

    That is the place of its word, `NOWHERE` for an unknown one, `_NOTHING` for a stop word, and below that a row of
    several. The answers are those of `publius.text.tokenizer.lookup`.
    """

    def __init__(self, vocabulary: IndexedVocabulary, profile: str, stop_words: StopWords) -> None:
        super().__init__()
        self._vocabulary, self._profile, self._stop_words = vocabulary, profile, stop_words
        self._digits_kept = profile_named(profile).digits == "kept"
        self._rows: list[IndexArray] = []
        self._lock = Lock()

    def __missing__(self, stretch: str) -> int:
        # One word as it stands, without anything at which the tokenizer would cut it.
        whole = stretch.isascii() and (stretch.isalnum() if self._digits_kept else stretch.isalpha())
        if whole and stretch == stretch.lower():
            code = _NOTHING if stretch in self._stop_words.words else self._place(stretch)
        else:
            words = lookup(stretch, self._vocabulary, profile=self._profile, stop_words=self._stop_words)
            code = self._code([NOWHERE if type(word) is Unknown else self._place(word) for word in words])
        if len(stretch) <= _LONGEST:
            self[stretch] = code
        return code

    def _code(self, places: list[int]) -> int:
        if len(places) == 1:
            return places[0]
        if not places:
            return _NOTHING
        with self._lock:
            self._rows.append(np.array(places, np.int64))
            return _NOTHING - len(self._rows)

    def _place(self, word: str) -> int:
        place = self._vocabulary.index(word)
        return NOWHERE if place is None else place

    @property
    def is_full(self) -> bool:
        """Whether it is time for another table."""
        return len(self) >= _MOST or len(self._rows) >= _MOST

    def spread(self, codes: IndexArray) -> IndexArray:
        """``codes`` with every row of several places written out."""
        at = np.flatnonzero(codes < _NOTHING)
        if not len(at):
            return codes
        parts = np.split(codes, np.stack([at, at + 1], axis=1).ravel())
        parts[1::2] = [self._rows[_NOTHING - 1 - code] for code in codes[at].tolist()]
        return np.concatenate(parts)


def _plain(chunk: str) -> str:
    """An ASCII text with the same words, in lower case, and little else."""
    text = chunk.encode("ascii").translate(_PLAIN).decode("ascii")
    for loose in _LOOSE:
        text = text.replace(loose, " ")
    return text


@lru_cache(4)
def known_words(vocabulary: IndexedVocabulary, profile: str, stop_words: StopWords) -> KnownWords:
    """The table of a vocabulary, a tokenizer's profile and a list of stop words; the four last used are kept."""
    return KnownWords(vocabulary, profile, stop_words)
