"""From texts straight to places in a vocabulary, as fast as they can be read.

A word never holds white space, so texts are cut there, each stretch between is numbered by a table that all
vocabularies share, and each vocabulary has an array of what the tokenizer made of the stretch. The answers are the
tokenizer's: only repetition is saved. Many texts are cut and looked up at once, in arrays.
"""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import chain, islice, pairwise
from threading import Lock
from typing import Any, Final, Protocol, Self, final

import numpy as np

from publius.arrays import IndexArray
from publius.settings import TextSettings
from publius.text.normal_form import may_have_long_run
from publius.text.tokenizer import StopWords, Unknown, chunks_of, lookup, profile_named

PROFILE: Final = "glove"  # the tokenizer of classifiers
UNKNOWN: Final = "<unk>"  # the public token of unknown words and of what fills short documents; no text has it
NOWHERE: Final = -1  # the place of an unknown word
_NOTHING: Final = -2  # the code of a stop word
_UNSEEN: Final = int(np.iinfo(np.int64).min)

_CHUNK: Final = 8192
_AT_ONCE: Final = 2**17  # so many characters are looked up at once: their arrays stay in the cache
_FEW: Final = 4096  # fewer are looked up one by one: arrays have a cost of their own
_JOINING: Final = b"'-.,"
# In ASCII nothing else is in a word: letters in lower case, digits, and what can join two of them.
_PLAIN: Final = bytes(
    code if chr(code).isalnum() or code in _JOINING else ord(" ") for code in bytes(range(128)).lower()
).ljust(256)
# Beside other characters case stays: what an accent joins depends on it. So do the marks that the rule of the final
# sigma looks past (Unicode calls them case-ignorable); the others end a word whatever stands beside them.
_KEPT: Final = _JOINING + b":^`"
_MIXED: Final = bytes(code if code > 127 or chr(code).isalnum() or code in _KEPT else ord(" ") for code in range(256))
# What joins nothing at the edge of a stretch: without it "end." and "end" are one.
_EDGE: Final = np.array([code in _JOINING for code in range(256)], np.int64)

_MOST, _LONGEST = 2**18, 64  # at most so many stretches are remembered, of so many bytes in the mean: some 40 MB
_LAST: Final = 8  # lots of texts whose stretches are kept for the next vocabulary
_SHORT, _BITS = 24, 18  # the commonest of at most 24 bytes are also in an array of 2^18 rows: 8 MB
_BYTES_KEPT: Final = np.array([(1 << 8 * min(count, 8)) - 1 for count in range(_SHORT + 2)], np.uint64)
_NO_PLACES: Final = np.zeros(0, np.int64)
_MIX: Final = np.array([0x9E3779B97F4A7C15, 0xC2B2AE3D27D4EB4F, 0xBF58476D1CE4E5B9], np.uint64)


class IndexedVocabulary(Hashable, Protocol):
    """A vocabulary whose words have places, and whose unknown token has one too: `Embeddings` and the like."""

    @property
    def unknown_index(self) -> int: ...  # noqa: D102
    @property
    def vocabulary(self) -> Sequence[str]: ...  # noqa: D102
    @property
    def places(self) -> Mapping[str, int]: ...  # noqa: D102
    def __contains__(self, word: object, /) -> bool: ...


@final
class _Stretches(dict[bytes, int]):
    """A number for each stretch of text without white space, whatever the vocabulary: what was cut once is cut for all.

    It remembers stretches of private texts in memory, so it is never written, printed or sent to another process.
    """

    lock, age = Lock(), 0

    def forget(self) -> Self:
        """Begin anew: the numbers of another age mean nothing."""
        self.clear()
        self.age, self._size, self.all = self.age + 1, 0, list[bytes]()
        # Each row a short stretch, filled up with zeros, and its number; a stretch has one row where it can stand.
        self._common = np.zeros((1 << _BITS, _SHORT // 8 + 1), np.uint64)
        self._last = deque[tuple[Sequence[str], tuple[IndexArray, IndexArray]]](maxlen=_LAST)
        return self

    def __missing__(self, stretch: bytes) -> int:
        number = self[stretch] = len(self.all)
        self.all.append(stretch)
        self._size += len(stretch)
        return number

    def of(self, chunks: Sequence[str]) -> tuple[IndexArray, IndexArray]:
        """The numbers of the stretches of all chunks, in order, and how many each has: what the last ones had is kept."""
        for known, found in self._last:
            if known == chunks:
                return found
        if len(self.all) >= _MOST or self._size >= _MOST * _LONGEST:
            self.forget()
        plain = [_plain(each) for each in chunks]
        if (size := sum(map(len, plain))) < _FEW:
            cut = [[bare for each in chunk.split() if (bare := each.strip(_JOINING))] for chunk in plain]
            counts = np.fromiter(map(len, cut), np.int64, len(cut))
            numbers = np.fromiter(map(self.__getitem__, chain.from_iterable(cut)), np.int64, int(counts.sum()))
        else:
            data = b" ".join([b"", *plain, b" " * (8 + _SHORT)])
            starts, lengths = _stretches(data)
            counts = np.diff(np.searchsorted(starts, np.cumsum([len(chunk) + 1 for chunk in plain])), prepend=0)
            numbers = self._numbers(data, starts, lengths)
        if size <= 2 * _AT_ONCE:
            self._last.append((chunks, (numbers, counts)))
        return numbers, counts

    def _numbers(self, data: bytes, starts: IndexArray, lengths: IndexArray) -> IndexArray:
        """The number of each stretch: from the common ones where it stands there, else one by one."""
        keys = _keys(data, starts, lengths)
        mixed = (keys[0] * _MIX[0]) ^ (keys[1] * _MIX[1]) ^ keys[2]
        mixed ^= mixed >> np.uint64(32)
        at = ((mixed * _MIX[2]) >> np.uint64(64 - _BITS)).view(np.int64)
        common = self._common.take(at, axis=0)
        same = lengths <= _SHORT
        for part, key in enumerate(keys):
            same &= common[:, part] == key
        numbers: IndexArray = common[:, -1].view(np.int64)
        others = np.flatnonzero(~same)
        if len(others):
            begins, ends = starts[others].tolist(), (starts + lengths)[others].tolist()
            stretches = [data[begin:end] for begin, end in zip(begins, ends, strict=True)]
            numbers[others] = list(map(self.__getitem__, stretches))
            others = others[(lengths[others] <= _SHORT) & (common[others, 0] == 0)]  # what came first is commonest
            others = others[np.unique(at[others], return_index=True)[1]]  # one for each row
            self._common[at[others], :-1] = keys[:, others].T
            self._common[at[others], -1] = numbers[others].view(np.uint64)
        return numbers

    def __repr__(self) -> str:
        return "Stretches()"


_all_stretches = _Stretches().forget()
if hasattr(os, "register_at_fork"):  # a child has the table whole and the lock free, whichever thread was in it
    os.register_at_fork(
        before=_Stretches.lock.acquire, after_in_parent=_Stretches.lock.release, after_in_child=_Stretches.lock.release
    )


@final
class KnownWords:
    """Texts to places in a vocabulary, by one code for each stretch of text without white space; safe in threads.

    The code is the place of its word, `NOWHERE` of an unknown one, `_NOTHING`, or below that a row of several words.
    """

    def __init__(self, vocabulary: IndexedVocabulary, profile: str, stop_words: StopWords) -> None:
        self._facts = vocabulary, profile, stop_words
        self._digits_kept = profile_named(profile).digits == "kept"
        self._codes, self._rows, self._age = _NO_PLACES, list[IndexArray](), -1
        self.names = (*vocabulary.vocabulary, UNKNOWN)  # by place, the unknown token last, so that `NOWHERE` names it

    def places(self, texts: Sequence[str], length: int | None = None, *, drop: bool = False) -> list[IndexArray]:
        """The places of the words of each text, in order, until ``length`` were taken, with ``drop`` of known words."""
        size = _AT_ONCE if length is None else min(_CHUNK, 8 * length)
        rest = [chunks_of(text, size) for text in texts]
        parts: list[list[IndexArray]] = [[_NO_PLACES] for _ in texts]
        taken = [0] * len(texts)
        pending: Sequence[int] = range(len(texts))
        while pending:
            read = [(number, chunk) for number in pending for chunk in islice(rest[number], 1)]
            for numbers, chunks in _together(read):
                for number, places in zip(numbers, self._in_order(chunks), strict=True):
                    parts[number].append(places)
                    if length is not None:
                        taken[number] += int(np.count_nonzero(places != NOWHERE)) if drop else len(places)
            pending = [number for number, _ in read if length is None or taken[number] < length]
        return [_until(each[1] if len(each) == 2 else np.concatenate(each), length, drop) for each in parts]

    def known(self, texts: Sequence[str]) -> tuple[IndexArray, IndexArray]:
        """Of each word that is known the number of its text and its place, in no order: quicker than `places`."""
        where, places = [_NO_PLACES], [_NO_PLACES]
        parts = (chunks_of(text, _AT_ONCE) if len(text) > _AT_ONCE else (text,) for text in texts)
        for numbers, chunks in _together((number, part) for number, some in enumerate(parts) for part in some):
            codes, counts, several, rows = self._looked_up(chunks)
            owners = np.repeat(numbers, counts)
            one = codes > NOWHERE
            where += [owners[one], np.repeat(owners[several], list(map(len, rows)))]
            places += [codes[one], *rows]
        every, found = np.concatenate(where), np.concatenate(places)
        known = found != NOWHERE
        return every[known], found[known]

    def _in_order(self, chunks: Sequence[str]) -> list[IndexArray]:
        """The places of the words of each chunk: stop words left out, every row of several written out."""
        codes, counts, several, rows = self._looked_up(chunks)
        became = np.ones(len(codes), np.int64)
        became[codes == _NOTHING] = 0
        became[several] = list(map(len, rows))
        places = np.repeat(codes, became)
        if rows:
            places[places < _NOTHING] = np.concatenate(rows)
        ends = np.concatenate([[0], np.cumsum(became)])[np.cumsum(counts)].tolist()
        return [places[start:end] for start, end in pairwise([0, *ends])]

    def _looked_up(self, chunks: Sequence[str]) -> tuple[IndexArray, IndexArray, IndexArray, list[IndexArray]]:
        """The code of each stretch, how many each chunk has, and which are of several words, with these words' places."""
        with _all_stretches.lock:
            numbers, counts = _all_stretches.of(chunks)
            if self._age != _all_stretches.age:
                self._codes, self._rows, self._age = _NO_PLACES, [], _all_stretches.age
            if (more := len(_all_stretches.all) - len(self._codes)) > 0:
                self._codes = np.concatenate([self._codes, np.full(more + len(self._codes) // 2, _UNSEEN)])
            codes = self._codes.take(numbers)
            new = np.flatnonzero(codes == _UNSEEN)
            for number in {*numbers[new].tolist()}:
                self._codes[number] = self._code(_all_stretches.all[number])
            codes[new] = self._codes.take(numbers[new])
            several = np.flatnonzero(codes < _NOTHING)
            return codes, counts, several, [self._rows[_NOTHING - 1 - code] for code in codes[several].tolist()]

    def _code(self, stretch: bytes) -> int:
        vocabulary, profile, stops = self._facts
        # One word as it stands, without anything at which the tokenizer would cut it.
        if stretch.isalnum() if self._digits_kept else stretch.isalpha():
            word = stretch.lower().decode()
            return _NOTHING if word in stops.words else vocabulary.places.get(word, NOWHERE)
        text = stretch.decode("utf-8", "surrogatepass")
        words = lookup(text, vocabulary, profile=profile, stop_words=stops)
        places = [NOWHERE if type(word) is Unknown else vocabulary.places[word] for word in words]
        if len(places) < 2:
            return places[0] if places else _NOTHING
        self._rows.append(np.array(places, np.int64))
        return _NOTHING - len(self._rows)

    def __reduce__(self) -> tuple[type[KnownWords], tuple[IndexedVocabulary, str, StopWords]]:
        return KnownWords, self._facts


def _together(chunks: Iterable[tuple[int, str]]) -> Iterator[tuple[list[int], list[str]]]:
    """Chunks and whose each is, as many at once as the cache holds."""
    numbers, held, size = list[int](), list[str](), 0
    for number, chunk in chunks:
        numbers.append(number)
        held.append(chunk)
        size += len(chunk)
        if size >= _AT_ONCE:
            yield numbers, held
            numbers, held, size = [], [], 0
    if held:
        yield numbers, held


def _plain(chunk: str) -> bytes:
    """A text with the same words in UTF-8, without a zero byte and with little else; in lower case if all is ASCII."""
    if chunk.isascii():
        return chunk.encode("ascii").translate(_PLAIN)
    if may_have_long_run(chunk):  # how often such a run is broken depends on what stands beside it
        return " ".join(chunk.split()).replace("\0", "\1").encode("utf-8", "surrogatepass")
    return chunk.encode("utf-8", "surrogatepass").translate(_MIXED)


def _stretches(data: bytes) -> tuple[IndexArray, IndexArray]:
    """Where the stretches without white space begin in ``data``, and their lengths; white space is at both ends."""
    characters = np.frombuffer(data, np.uint8)
    white = characters == ord(" ")
    edges = np.flatnonzero(white[1:] != white[:-1]) + 1
    starts, ends = edges[::2], edges[1::2]
    starts = starts + _EDGE.take(characters.take(starts))
    lengths = ends - _EDGE.take(characters.take(ends - 1)) - starts
    if len(lengths) and lengths.min() <= 0:
        some = np.flatnonzero(lengths > 0)
        starts, lengths = starts[some], lengths[some]
    return starts, lengths


def _keys(data: bytes, starts: IndexArray, lengths: IndexArray) -> np.ndarray[Any, np.dtype[np.uint64]]:
    """The first 24 bytes of each stretch, filled up with zeros, as three numbers: no stretch holds a zero byte."""
    eights = np.ndarray((len(data) - 7,), np.uint64, buffer=data, strides=(1,))
    keys = np.zeros((_SHORT // 8, len(starts)), np.uint64)
    keys[0] = eights[starts] & _BYTES_KEPT.take(lengths, mode="clip")
    for part in range(1, len(keys)):
        longer = np.flatnonzero(lengths > 8 * part)
        kept = _BYTES_KEPT.take(lengths[longer] - 8 * part, mode="clip")
        keys[part, longer] = eights[starts[longer] + 8 * part] & kept
    return keys


def _until(places: IndexArray, length: int | None, drop: bool) -> IndexArray:
    if length is None or not drop:
        return places[:length]
    known = np.flatnonzero(places != NOWHERE)
    return places[: known[length - 1] + 1] if len(known) >= length else places


known_words = lru_cache(4)(KnownWords)  # the four last used are kept


# Counts ---------------------------------------------------------------------------------------------------


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


def known_of(text: str, words: tuple[str, ...]) -> tuple[int, int]:
    """How many words of a text are looked up in ``words``, and how many are there."""
    (places,) = known_words(_word_list(words), PROFILE, StopWords.load("english")).places([text])
    return len(places), int(np.count_nonzero(places != NOWHERE))


def count_matrix(texts: Sequence[str], words: tuple[str, ...], *, stop_words: str = TextSettings.stop_words) -> Any:
    """How often each of ``words`` stands in each text: a scipy CSR array of int64, shape (texts, words), sorted.

    >>> count_matrix(["tea and milk and tea", ""], ("milk", "tea")).toarray().tolist()
    [[1, 2], [0, 0]]
    """
    from scipy.sparse import csr_array

    owners, found = known_words(_word_list(words), PROFILE, StopWords.load(stop_words)).known(texts)
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
