"""`Bag`: a frozen multiset of words without order, and the one way from a text to the words of a bag.

A document is a finite bag of words; order is forgotten (docs/theory.md section 1). Where a kernel
replaces each word the guarantee compares bags of equal size N, so N is public and fixed before: the first N words of a
document are kept, and a shorter one is filled up with the public unknown token. A whole document needs neither.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain, repeat
from types import MappingProxyType
from typing import NoReturn, Protocol, cast, final, get_args

import numpy as np

from publius.arrays import IndexArray, Rows
from publius.errors import UnknownWordError, UsageError
from publius.settings import Between, TextSettings, UnknownPolicy
from publius.text.drawn_bags import DrawnBags
from publius.text.known_words import NOWHERE, IndexedVocabulary, PlacedWords, known_words
from publius.text.known_words import UNKNOWN as UNKNOWN
from publius.text.tokenizer import StopWords, Unknown, UnprotectedToken, Vocabulary, lookup, profile_named


@final
class Bag:
    """An immutable, hashable multiset of words.

    ``words`` is the words, repeated as often as they occur, or a mapping of words to counts. Two bags are
    equal when they hold the same words equally often. A bag may be empty; no distance is defined for an empty
    one. The repr holds no word.

    >>> Bag(["tea", "milk", "tea"]) == Bag({"milk": 1, "tea": 2})
    True
    >>> Bag(["tea", "milk", "tea"])
    Bag(size=3, distinct=2)
    """

    __slots__ = ("_counts", "_drawn", "_size")

    _counts: Mapping[str, int] | None
    _drawn: tuple[DrawnBags, int] | None
    _size: int

    def __init__(self, words: Iterable[str] | Mapping[str, int] = ()) -> None:
        if isinstance(words, (str, bytes)):
            raise UsageError("a Bag is made of words, not of one string: use Bag.from_text")
        counts = _checked(words if isinstance(words, Mapping) else Counter(words))
        object.__setattr__(self, "_counts", MappingProxyType(counts))
        object.__setattr__(self, "_drawn", None)
        object.__setattr__(self, "_size", sum(counts.values()))

    @classmethod
    def from_checked(cls, counts: dict[str, int], size: int) -> Bag:
        """The bag of ``counts``, sorted by word, of ``size`` words in all; nothing is checked, for speed.

        For mechanisms, whose words are those of a vocabulary that was checked before, and for what was a bag already.
        """
        bag = object.__new__(cls)
        object.__setattr__(bag, "_counts", MappingProxyType(counts))
        object.__setattr__(bag, "_drawn", None)
        object.__setattr__(bag, "_size", size)
        return bag

    @classmethod
    def from_counts(cls, counts: Mapping[str, int]) -> Bag:
        """The bag that holds each word as often as ``counts`` says; `UsageError` for a count below 1."""
        return cls(counts)

    @classmethod
    def from_text(
        cls,
        text: str,
        vocabulary: Vocabulary | TokenizedVocabulary,
        *,
        length: int | None = None,
        unknown: UnknownPolicy = TextSettings.unknown,
        stop_words: str | StopWords = TextSettings.stop_words,
        profile: str | None = None,
    ) -> Bag:
        """The bag of the first ``length`` words of ``text``; of all of them without a length.

        ``vocabulary`` is an `Embeddings`, or anything that answers ``in`` if ``profile`` names the tokenizer.
        The other arguments are those of `Encoding`. Raises `UnknownWordError` under ``unknown="reject"`` and
        `UsageError` for arguments that do not exist.
        """
        profile = profile or getattr(vocabulary, "tokenizer", None)
        if profile is None:
            raise UsageError(
                "this vocabulary does not say how its words were cut: give profile='glove' or 'word2vec'"
            )
        encoding = Encoding.of(profile, length=length, unknown=unknown, stop_words=stop_words)
        return cls(words_of(text, vocabulary, encoding).words)

    @property
    def size(self) -> int:
        """How many words, repetitions counted: N."""
        return self._size

    @property
    def counts(self) -> Mapping[str, int]:
        """How often each word occurs; read-only, sorted by word."""
        if self._counts is None and self._drawn is not None:
            drawn, row = self._drawn
            object.__setattr__(self, "_counts", MappingProxyType(drawn.counts(row)))
        return cast(Mapping[str, int], self._counts)

    def words(self) -> Iterator[str]:
        """Each word as often as it occurs, sorted."""
        return chain.from_iterable(repeat(word, count) for word, count in self.counts.items())

    def __eq__(self, other: object) -> bool:
        return self.counts == other.counts if isinstance(other, Bag) else NotImplemented

    def __hash__(self) -> int:
        return hash(tuple(self.counts.items()))

    def __repr__(self) -> str:
        return f"Bag(size={self._size}, distinct={len(self.counts)})"

    def __reduce__(self) -> tuple[Callable[[dict[str, int], int], Bag], tuple[dict[str, int], int]]:
        return Bag.from_checked, (dict(self.counts), self._size)

    def __setattr__(self, name: str, value: object) -> NoReturn:
        raise AttributeError("a Bag cannot be changed")

    def __delattr__(self, name: str) -> NoReturn:
        raise AttributeError("a Bag cannot be changed")


def drawn_bag(drawn: DrawnBags, row: int) -> Bag:
    """One of the bags that were drawn together; its words are named when they are asked for."""
    bag = object.__new__(Bag)
    object.__setattr__(bag, "_counts", None)
    object.__setattr__(bag, "_drawn", (drawn, row))
    object.__setattr__(bag, "_size", drawn.size)
    return bag


def drawn_json(bag: Bag, vocabulary: Sequence[str]) -> str | None:
    """The counts as JSON in the order of ``vocabulary``, where ``bag`` was drawn from it together with many."""
    if bag._drawn is None or bag._drawn[0].alphabet.vocabulary is not vocabulary:
        return None
    drawn, row = bag._drawn
    return None if drawn.texts is None else drawn.texts[row]


def _checked(counts: Mapping[str, int]) -> dict[str, int]:
    """``counts`` sorted by word; an error shows neither words nor their number in the text."""
    plain = {*map(type, counts)} <= {str} and {*map(type, counts.values())} <= {int}
    if (
        plain and "" not in counts and min(counts.values(), default=1) >= 1
    ):  # as nearly always, several times quicker
        return {word: counts[word] for word in sorted(counts)}
    for word, count in counts.items():
        if not isinstance(word, str) or not word:
            raise UsageError(f"a word of a Bag must be a string that is not empty; one is {_kind(word)}")
        if type(count) is not int or count < 1:
            raise UsageError(f"a count of a Bag must be a whole number from 1; one is {_kind(count)}")
    return dict(sorted((str(word), count) for word, count in counts.items()))


def _kind(value: object) -> str:
    if isinstance(value, str):
        return "a string" if value else "an empty string"
    return str(value) if type(value) is int else f"of type {type(value).__name__}"


class TokenizedVocabulary(Vocabulary, Protocol):
    """A vocabulary that says which `publius.text.tokenizer.Profile` its words follow, as `Embeddings` does."""

    @property
    def tokenizer(self) -> str:
        """The name of the profile."""
        ...


@final
@dataclass(frozen=True, slots=True)
class Encoding:
    """How a text becomes the N words of a bag; all of it is public and stated in the manifest.

    ``length`` is N, or None for all words. ``unknown`` is what becomes of a word outside the vocabulary:
    unk makes it the public token, which counts as a word; drop leaves it out before the first N are
    counted; reject raises; keep lets it through as it stands, for experiments only: it has no guarantee
    at all. ``profile`` names the tokenizer. Unless ``padded``, a short document stays short. Raises `UsageError`
    for a value that does not exist.
    """

    length: int | None
    unknown: UnknownPolicy
    stop_words: StopWords
    profile: str
    padded: bool = True

    def __post_init__(self) -> None:
        profile_named(self.profile)
        if self.unknown not in get_args(UnknownPolicy):
            raise UsageError(
                f"no policy for unknown words is called {self.unknown!r:.40}: choose one of "
                f"{', '.join(get_args(UnknownPolicy))}"
            )
        if self.length is not None and (type(self.length) is not int or self.length < 1):
            raise UsageError(f"the length of a bag must be a whole number from 1, not {self.length!r}")

    @classmethod
    def of(
        cls,
        profile: str,
        *,
        length: int | None = None,
        unknown: UnknownPolicy = TextSettings.unknown,
        stop_words: str | StopWords = TextSettings.stop_words,
        padded: bool = True,
    ) -> Encoding:
        """The encoding with the stop words that are named, and the defaults of every release."""
        stops = stop_words if isinstance(stop_words, StopWords) else StopWords.load(stop_words)
        return cls(length, unknown, stops, profile, padded)

    def missing(self, count: int) -> int:
        """How many unknown tokens fill a document of ``count`` words up."""
        return self.length - count if self.length and self.padded else 0


@final
@dataclass(frozen=True, slots=True)
class Encoded:
    """The words of one document, ready for a mechanism, and what was met on the way.

    ``words`` are in the order of the text, so they are for internal use: a release has no order. ``seen``
    counts the words looked up until N were found, stop words left out; ``unknown`` those of them outside the
    vocabulary; ``padding`` the unknown tokens that fill a short document up to N. ``between`` is what was to be
    kept unprotected for a text that keeps its order: pairs of how many of the words stand before it, and it.
    ``places`` are the words' places in the vocabulary where it has such, unknown ones at its ``unknown_index``.
    """

    words: Sequence[str] = field(repr=False)
    seen: int
    unknown: int
    padding: int
    between: tuple[tuple[int, str], ...] = field(default=(), repr=False)
    places: IndexArray | None = field(default=None, repr=False, compare=False)


def words_of(text: str, vocabulary: Vocabulary, encoding: Encoding, keep: Between = "none") -> Encoded:
    """The words that stand for ``text``: the only way from a text to a bag, alone or in a batch.

    No more of the text is cut into words than the first N need; ``keep`` changes none of them. Raises
    `UnknownWordError` under "reject".
    """
    if keep == "none" and encoding.unknown != "keep" and hasattr(vocabulary, "unknown_index"):
        return words_of_all([text], vocabulary, encoding)[0]
    found = lookup(text, vocabulary, profile=encoding.profile, stop_words=encoding.stop_words, keep=keep)
    words: list[str] = []
    between: list[tuple[int, str]] = []
    unknown = dropped = 0
    for word in found:
        if type(word) is UnprotectedToken:
            between.append((len(words), str(word)))
            continue
        if type(word) is not Unknown:
            words.append(word)
        else:
            unknown += 1
            if encoding.unknown == "drop":
                dropped += 1
                continue
            words.append(str(word) if encoding.unknown == "keep" else UNKNOWN)
        if len(words) == encoding.length:
            break
    if unknown and encoding.unknown == "reject":
        raise _rejected(unknown, len(words))
    padding = encoding.missing(len(words))
    padded = (*words, *repeat(UNKNOWN, padding))
    return Encoded(padded, len(words) + dropped, unknown, padding, tuple(between))


def given_words(words: Sequence[str], vocabulary: Container[str], encoding: Encoding) -> Encoded:
    """Words given one by one, as the vocabulary has them, case and all: nothing is cut, lower-cased or left out.

    Unknown ones, N and padding as for a text. Raises `UnknownWordError` under "reject".
    """
    unknown = sum(word not in vocabulary for word in words[: encoding.length])
    if unknown and encoding.unknown == "reject":
        raise _rejected(unknown, len(words))
    kept = [word if word in vocabulary else UNKNOWN for word in words]
    if encoding.unknown == "drop":
        kept = [word for word in kept if word != UNKNOWN]
    kept = kept[: encoding.length]
    padding = encoding.missing(len(kept))
    return Encoded((*kept, *repeat(UNKNOWN, padding)), len(kept), unknown, padding)


def words_of_all(texts: Sequence[str], vocabulary: Vocabulary, encoding: Encoding) -> list[Encoded]:
    """`words_of` for each text, several times quicker where the vocabulary's words have places."""
    if encoding.unknown != "keep" and hasattr(vocabulary, "unknown_index"):
        placed = cast(IndexedVocabulary, vocabulary)
        known = known_words(placed, encoding.profile, encoding.stop_words)
        found = known.places(texts, encoding.length, drop=encoding.unknown == "drop")
        return [_encoded(places, known.names, placed.unknown_index, encoding) for places in found]
    return [words_of(text, vocabulary, encoding) for text in texts]


@final
@dataclass(frozen=True, slots=True)
class EncodedRows:
    """The words of many documents, of as many as each has; ``seen`` and ``unknown`` as in `Encoded`, of all together.

    ``places`` are the words' places in the vocabulary, unknown ones at its ``unknown_index``.
    """

    places: Rows = field(repr=False)
    seen: int
    unknown: int


def places_of_all(texts: Sequence[str], vocabulary: IndexedVocabulary, encoding: Encoding) -> EncodedRows:
    """As `words_of_all`, without an object for each document; for unk and drop, where nothing is filled up."""
    if encoding.unknown in ("reject", "keep") or (encoding.length is not None and encoding.padded):
        raise UsageError("documents are encoded together under unk or drop, and without padding")
    drop = encoding.unknown == "drop"
    known = known_words(vocabulary, encoding.profile, encoding.stop_words)
    rows = Rows.of(known.places(texts, encoding.length, drop=drop))
    missing = rows.flat == NOWHERE
    seen, unknown = len(missing), int(np.count_nonzero(missing))
    if unknown and drop:
        kept = np.concatenate([[0], np.cumsum(~missing)])
        rows = Rows(rows.flat[~missing], kept[rows.starts])
    elif unknown:
        rows = Rows(np.where(missing, vocabulary.unknown_index, rows.flat), rows.starts)
    return EncodedRows(rows, seen, unknown)


def _encoded(places: IndexArray, names: Sequence[str], unknown_index: int, encoding: Encoding) -> Encoded:
    missing = places == NOWHERE
    seen, unknown = len(places), int(np.count_nonzero(missing))
    if unknown and encoding.unknown == "reject":
        raise _rejected(unknown, seen)
    if encoding.unknown == "drop" and unknown:
        places = places[~missing]
    padding = encoding.missing(len(places))
    if padding:
        places = np.concatenate([places, np.full(padding, NOWHERE)])
    at = np.where(places == NOWHERE, unknown_index, places) if padding or unknown else places
    return Encoded(PlacedWords(places, names), seen, unknown, padding, places=at)


def _rejected(unknown: int, seen: int) -> UnknownWordError:
    return UnknownWordError(
        f"{unknown:,} of {seen:,} words are outside the vocabulary: choose the policy unk or drop, "
        "import embeddings that hold them, or take them out of the text"
    )
