"""The words of a text where they stand in it: what a release would take, for the curator's eyes only.

The text is cut at white space, which is in no word, and each piece is normalized alone; the tokenizer finds the
words there. Normalizing can change lengths, so a word's place in the text is found by graphemes.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import accumulate
from typing import Literal, final

import regex

from publius.text.bag import Encoding
from publius.text.tokenizer import Unknown, Vocabulary, found_words, lookup_token, normalize, surface

Kind = Literal["word", "unknown", "stop", "gap", "beyond"]

_PIECE = regex.compile(r"\s+|\S+")
_GRAPHEME = regex.compile(r"\X")


@final
@dataclass(frozen=True, slots=True)
class Token:
    """A stretch of a text and what a release does with it.

    Attributes:
        text: as it stands; the texts of all tokens together are the text.
        kind: "word" of the vocabulary, "unknown", "stop" word, "gap" between words, or "beyond" the first N words,
            which is the rest of the text.
        words: what it becomes: words of the vocabulary, or an unknown one; none for a stop word or a gap.
    """

    text: str = field(repr=False)
    kind: Kind
    words: tuple[str, ...] = field(repr=False, default=())


def tokens_of(text: str, vocabulary: Vocabulary, encoding: Encoding) -> Iterator[Token]:
    """``text`` cut into tokens, in order, with the words that `publius.text.bag.words_of` would take from it.

    What comes after the first N words is one token: no more of the text is looked up than they need.
    """
    taken = place = 0
    for part, is_word in _stretches(text):
        if encoding.length is not None and taken >= encoding.length:
            yield Token(text[place:], "beyond")
            return
        place += len(part)
        if not is_word:
            yield Token(part, "gap")
        else:
            token = _token(part, vocabulary, encoding)
            taken += sum(type(word) is not Unknown or encoding.unknown != "drop" for word in token.words)
            yield token


def count_words(text: str) -> int:
    """How many words stand in ``text``, stop words and unknown ones too, clitics and hyphens uncut."""
    return sum(1 for _ in surface(text))


def _token(part: str, vocabulary: Vocabulary, encoding: Encoding) -> Token:
    normal = normalize(part)
    found = [
        word
        for start, end in found_words(normal)
        for word in lookup_token(
            normal[start:end], vocabulary, profile=encoding.profile, stop_words=encoding.stop_words
        )
    ]
    if not found:
        return Token(part, "stop")
    known = any(type(word) is not Unknown for word in found)
    return Token(part, "word" if known else "unknown", tuple(found))


def _stretches(text: str) -> Iterator[tuple[str, bool]]:
    """The stretches of ``text`` with a word in them, and those between."""
    gap = ""
    for piece in (found.group() for found in _PIECE.finditer(text)):
        last = 0
        for start, end in _places(piece):
            if gap := gap + piece[last:start]:
                yield gap, False
            yield piece[start:end], True
            gap, last = "", end
        gap += piece[last:]
    if gap:
        yield gap, False


def _places(piece: str) -> list[tuple[int, int]]:
    """Where the words of ``piece``, which has no white space, stand in it."""
    normal = normalize(piece)
    found = list(found_words(normal))
    if not found or normal == piece or piece.isascii():
        return found
    graphemes = _GRAPHEME.findall(piece)
    ends = list(accumulate(map(len, graphemes), initial=0))
    lengths = {each: len(normalize(each)) for each in set(graphemes)}
    shifted = list(accumulate((lengths[each] for each in graphemes), initial=0))
    if shifted[-1] != len(normal):  # normalized otherwise in company: show the piece as one
        return [(0, len(piece))]
    return _back(found, ends, shifted)


def _back(found: list[tuple[int, int]], ends: list[int], shifted: list[int]) -> list[tuple[int, int]]:
    """Places in the normalized text as places in the text, rounded outwards to graphemes that are not shared."""
    places: list[tuple[int, int]] = []
    for start, end in found:
        first, last = bisect_right(shifted, start) - 1, bisect_left(shifted, end)
        if places and ends[first] < places[-1][1]:  # two words in one grapheme
            places[-1] = (places[-1][0], max(places[-1][1], ends[last]))
        else:
            places.append((ends[first], ends[last]))
    return places
