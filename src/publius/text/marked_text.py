"""The words of a text where they stand in it: what a release would take, for the curator's eyes only.

The text is cut at white space, which is in no word, and each piece is normalized alone; the tokenizer finds the words
there. Where normalizing changes a piece's length, the piece is one token.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Literal, final

import regex

from publius.text.bag import Encoding
from publius.text.tokenizer import Unknown, Vocabulary, lookup, normalize, word_spans

Kind = Literal["word", "unknown", "stop", "gap", "beyond"]

_APOSTROPHES = str.maketrans("\u2019\u02bc\u2010\u2011", "''--")  # what `normalize` writes in one way
_PIECE = regex.compile(r"\s+|\S+")


@final
@dataclass(frozen=True, slots=True)
class Token:
    """A stretch of a text and what a release does with it."""

    text: str = field(repr=False)  # the texts of all tokens together are the text
    kind: Kind
    words: tuple[str, ...] = field(repr=False, default=())  # of the vocabulary, or an unknown one


def tokens_of(text: str, vocabulary: Vocabulary, encoding: Encoding) -> Iterator[Token]:
    """``text`` in order, with the words that `publius.text.bag.words_of` would take; what comes after N is one token."""
    taken = place = 0
    for part, is_word in _stretches(text):
        if encoding.length is not None and taken >= encoding.length:
            yield Token(text[place:], "beyond")
            return
        place += len(part)
        found = lookup(part, vocabulary, profile=encoding.profile, stop_words=encoding.stop_words) if is_word else ()
        words = tuple(found)
        known = sum(type(word) is not Unknown for word in words)
        taken += known if encoding.unknown == "drop" else len(words)
        yield Token(part, "word" if known else "unknown" if words else "stop" if is_word else "gap", words)


def _stretches(text: str) -> Iterator[tuple[str, bool]]:
    """The stretches of ``text`` with a word in them, and those between."""
    gap = ""
    for piece in (found.group() for found in _PIECE.finditer(text)):
        normal, last = normalize(piece), 0
        spans = list(word_spans(normal))
        plain = piece.lower().translate(_APOSTROPHES)
        if spans and (normal != plain or len(plain) != len(piece)):
            spans = [(0, len(piece))]
        for start, end in spans:
            if gap := gap + piece[last:start]:
                yield gap, False
            yield piece[start:end], True
            gap, last = "", end
        gap += piece[last:]
    if gap:
        yield gap, False
