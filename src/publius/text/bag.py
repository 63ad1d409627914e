"""`Bag`: a frozen multiset of words without order, and the one way from a text to the words of a bag.

A document is a finite bag of words; order is forgotten (docs/theory.md, documents). Where a kernel replaces each word
the guarantee compares bags of equal size N, so N is public and fixed before: the first N words of a document are kept,
and a shorter one is filled up with the public unknown token. A whole document needs neither.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import chain, islice, pairwise, repeat
from types import MappingProxyType
from typing import Final, Literal, cast, final, get_args

import numpy as np

from publius.arrays import IndexArray
from publius.errors import DataError, UsageError
from publius.settings import Between, TextSettings, UnknownPolicy
from publius.text.known_words import NOWHERE, IndexedVocabulary, known_words
from publius.text.known_words import UNKNOWN as UNKNOWN
from publius.text.tokenizer import StopWords, Unknown, UnprotectedToken, Vocabulary, lookup, profile_named, stretches


@final
@dataclass(frozen=True, slots=True, init=False, repr=False)
class Bag:
    """An immutable, hashable multiset of words.

    ``words`` is the words, repeated as often as they occur, or a mapping of words to counts. Two bags are equal when
    they hold the same words equally often. A bag may be empty; no distance is defined for an empty one. The repr holds
    no word.

    >>> Bag(["tea", "milk", "tea"]) == Bag({"milk": 1, "tea": 2})
    True
    >>> Bag(["tea", "milk", "tea"])
    Bag(size=3, distinct=2)
    """

    counts: Mapping[str, int]
    """How often each word occurs; read-only, sorted by word."""
    size: int
    """How many words, repetitions counted: N."""

    def __init__(self, words: Iterable[str] | Mapping[str, int] = ()) -> None:
        if isinstance(words, (str, bytes)):
            raise UsageError("a Bag is made of words, not of one string: use Bag.from_text")
        counts = _checked(words if isinstance(words, Mapping) else Counter(words))
        object.__setattr__(self, "counts", MappingProxyType(counts))
        object.__setattr__(self, "size", sum(counts.values()))

    @classmethod
    def from_checked(cls, counts: dict[str, int], size: int) -> Bag:
        """The bag of ``counts``, sorted by word, of ``size`` words in all; nothing is checked, for speed."""
        bag = object.__new__(cls)
        object.__setattr__(bag, "counts", MappingProxyType(counts))
        object.__setattr__(bag, "size", size)
        return bag

    @classmethod
    def from_text(
        cls, text: str, vocabulary: Vocabulary, *, length: int | None = None, profile: str | None = None,
        unknown: UnknownPolicy = TextSettings.unknown, stop_words: str | StopWords = TextSettings.stop_words,
    ) -> Bag:  # fmt: skip
        """The bag of the first ``length`` words of ``text``; of all of them without a length.

        ``vocabulary`` is an `Embeddings`, or anything that answers ``in`` if ``profile`` names the tokenizer. The other
        arguments are those of `Encoding`. `DataError` under ``unknown="reject"``, `UsageError` for arguments
        that do not exist.

        >>> Bag.from_text("Tea, and more tea!", {"tea"}, unknown="drop", profile="glove").counts
        mappingproxy({'tea': 2})
        """
        profile = profile or getattr(vocabulary, "tokenizer", None)
        if profile is None:
            raise UsageError("this vocabulary does not say how its words were cut: give profile='glove' or 'word2vec'")
        encoding = Encoding(length, unknown, StopWords.load(stop_words), profile)
        return cls(words_of(text, vocabulary, encoding).words)

    def words(self) -> Iterator[str]:
        """Each word as often as it occurs, sorted."""
        return chain.from_iterable(repeat(word, count) for word, count in self.counts.items())

    def __hash__(self) -> int:
        return hash(tuple(self.counts.items()))

    def __repr__(self) -> str:
        return f"Bag(size={self.size}, distinct={len(self.counts)})"

    def __reduce__(self) -> tuple[Callable[[dict[str, int], int], Bag], tuple[dict[str, int], int]]:
        return Bag.from_checked, (dict(self.counts), self.size)


def bags_at(vocabulary: IndexedVocabulary, places: IndexArray) -> list[Bag]:
    """The bag of each row of ``places`` in a vocabulary, shape (bags, N), several times quicker than one by one."""
    distinct, at = np.unique(places, return_inverse=True)
    known = [vocabulary.vocabulary[place] for place in distinct.tolist()]
    order = sorted(range(len(known)), key=known.__getitem__)
    names, ranks = [known[place] for place in order], np.argsort(order)
    ordered = np.sort(ranks[at.reshape(places.shape)], axis=1)
    first = np.ones(ordered.shape, np.bool_)  # of the run of one word in one bag
    np.not_equal(ordered[:, 1:], ordered[:, :-1], out=first[:, 1:])
    starts = np.flatnonzero(first)
    words = list(map(names.__getitem__, ordered.ravel()[starts].tolist()))
    counts = np.diff(starts, append=ordered.size).tolist()
    ends = [0, *np.cumsum(np.count_nonzero(first, axis=1)).tolist()]
    bags = (dict(zip(words[start:end], counts[start:end], strict=True)) for start, end in pairwise(ends))
    return [Bag.from_checked(bag, places.shape[1]) for bag in bags]


def _checked(counts: Mapping[str, int]) -> dict[str, int]:
    """``counts`` sorted by word; an error shows neither words nor their number in the text."""
    if not {*map(type, counts)} <= {str} or "" in counts:
        counts = {str(word) if isinstance(word, str) else "": count for word, count in counts.items()}
        if "" in counts:
            raise UsageError("a word of a Bag must be a string that is not empty")
    if not {*map(type, counts.values())} <= {int} or min(counts.values(), default=1) < 1:
        raise UsageError("a count of a Bag must be a whole number from 1")
    return {word: counts[word] for word in sorted(counts)}


@final
@dataclass(frozen=True, slots=True)
class Encoding:
    """How a text becomes the N words of a bag; all of it is public and stated in the manifest."""

    length: int | None  # N; None for all words
    # Of a word outside the vocabulary unk makes the public token, which counts as a word; drop leaves it out before the
    # first N are counted; reject raises; keep lets it through, for experiments only: it has no guarantee at all.
    unknown: UnknownPolicy
    stop_words: StopWords
    profile: str  # name of the tokenizer
    padded: bool = True  # whether a short document is filled up to N

    def __post_init__(self) -> None:
        profile_named(self.profile)
        if self.unknown not in (policies := get_args(UnknownPolicy)):
            raise UsageError(f"unknown must be one of {', '.join(policies)}, not {self.unknown!r:.40}")
        if self.length is not None and (type(self.length) is not int or self.length < 1):
            raise UsageError(f"the length of a bag must be a whole number from 1, not {self.length!r}")

    def missing(self, count: int) -> int:
        """How many unknown tokens fill a document of ``count`` words up."""
        return self.length - count if self.length and self.padded else 0


@final
@dataclass(frozen=True, slots=True)
class Encoded:
    """The words of one document, in its order, ready for a mechanism, and what was met on the way."""

    words: Sequence[str] = field(repr=False)
    seen: int  # words looked up until N were found, stop words left out
    unknown: int  # those of them outside the vocabulary
    padding: int  # unknown tokens that fill a short document up to N
    # For ordered text: pairs of how many words stand before it, and what is kept unprotected.
    between: tuple[tuple[int, str], ...] = field(default=(), repr=False)
    # In the vocabulary, where it has such; unknown words at its ``unknown_index``.
    places: IndexArray | None = field(default=None, repr=False, compare=False)


def words_of(text: str, vocabulary: Vocabulary, encoding: Encoding, keep: Between = "none") -> Encoded:
    """The words that stand for ``text``, no more of which is cut into words than the first N need."""
    placed = cast(IndexedVocabulary, vocabulary) if hasattr(vocabulary, "unknown_index") else None
    if placed and keep == "none" and encoding.unknown != "keep":
        return words_of_all([text], vocabulary, encoding)[0]
    words: list[str] = []
    between: list[tuple[int, str]] = []
    unknown = dropped = 0
    for word in lookup(text, vocabulary, profile=encoding.profile, stop_words=encoding.stop_words, keep=keep):
        if type(word) is UnprotectedToken:
            between.append((len(words), str(word)))
            continue
        unknown += (strange := type(word) is Unknown)
        if strange and encoding.unknown == "drop":
            dropped += 1
            continue
        if strange:
            words.append(str(word) if encoding.unknown == "keep" else UNKNOWN)
        else:  # as the vocabulary writes it, which may be with capitals
            words.append(placed.vocabulary[placed.places[word]] if placed else str(word))
        if len(words) == encoding.length:
            break
    if unknown and encoding.unknown == "reject":
        raise _rejected(unknown, len(words))
    padding = encoding.missing(len(words))
    return Encoded((*words, *repeat(UNKNOWN, padding)), len(words) + dropped, unknown, padding, tuple(between))


def words_of_all(texts: Sequence[str], vocabulary: Vocabulary, encoding: Encoding) -> list[Encoded]:
    """`words_of` for each text, several times quicker where the vocabulary's words have places."""
    if encoding.unknown != "keep" and hasattr(vocabulary, "unknown_index"):
        placed = cast(IndexedVocabulary, vocabulary)
        known = known_words(placed, encoding.profile, encoding.stop_words)
        found = known.places(texts, encoding.length, drop=encoding.unknown == "drop")
        return [_encoded(places, known.names, placed.unknown_index, encoding) for places in found]
    return [words_of(text, vocabulary, encoding) for text in texts]


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
    return Encoded(tuple(map(names.__getitem__, places.tolist())), seen, unknown, padding, places=at)


def _rejected(unknown: int, seen: int) -> DataError:
    return DataError(
        f"{unknown:,} of {seen:,} words are outside the vocabulary: choose the policy unk or drop, "
        "import embeddings that hold them, or take them out of the text"
    )


# Words where they stand -----------------------------------------------------------------------------------

# For the curator's eyes only.
Kind = Literal["word", "unknown", "stop", "gap", "beyond"]


@final
@dataclass(frozen=True, slots=True)
class Token:
    """A stretch of a text and what a release does with it."""

    text: str = field(repr=False)  # the texts of all tokens together are the text
    kind: Kind
    words: tuple[str, ...] = field(repr=False, default=())  # of the vocabulary, or an unknown one


def tokens_of(text: str, vocabulary: Vocabulary, encoding: Encoding) -> Iterator[Token]:
    """``text`` in order, with the words that `words_of` would take; what comes after N is one token."""
    taken = place = 0
    for part, is_word in stretches(text):
        if encoding.length is not None and taken >= encoding.length:
            yield Token(text[place:], "beyond")
            return
        place += len(part)
        found = lookup(part, vocabulary, profile=encoding.profile, stop_words=encoding.stop_words) if is_word else ()
        words = tuple(found)
        known = sum(type(word) is not Unknown for word in words)
        taken += known if encoding.unknown == "drop" else len(words)
        yield Token(part, "word" if known else "unknown" if words else "stop" if is_word else "gap", words)


# Pads -----------------------------------------------------------------------------------------------------

# The public words that fill a short document up to N, drawn so that they look like words of any document: one token
# instead would tell by its count how long the document is. Which words may be drawn, and how often each, follows from
# the vocabulary and the stop words alone. Two documents are filled up with the same draws, as far as both need them; for
# each outcome of the draws the lifting theorem holds, and a mixture of laws whose ratios are bounded has a bounded ratio.
# So the guarantee holds with the distance of the two filled up with the farthest that may be drawn.
PADS: Final = 1_000  # at most so many different words
BYTES: Final = 4  # random ones that a pad takes


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
