"""Words and vectors that a public vocabulary may have: one rule for every way in.

A word is shown to people, written to files and compared with words of documents, so nothing invisible or able to
drive a terminal is admitted. A vector takes part in sums of squares in float32, so none may overflow them.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

UNKNOWN: Final = "<unk>"
"""The public token that stands for unknown words; never a word of the vocabulary itself."""

LONGEST_WORD: Final = 1_000
"""Characters."""

LARGEST_DIMENSION: Final = 10_000

LARGEST_NORM: Final = 1e18
"""Longest vector: squares and products of two stay below 1e37, ten times below the largest float32."""

_CONTROLS: Final = frozenset(("Cc", "Cs", "Zl", "Zp"))
_BYTE_ORDER_MARK: Final = "\ufeff"
_INVISIBLE: Final = frozenset(("Zs", "Cf"))
_BIDIRECTIONAL: Final = frozenset("\u061c\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")


def word_fault(word: str) -> str | None:
    """Why ``word`` cannot be in a vocabulary, or None: empty, blank, too long, or with control characters.

    Blanks inside are admitted (GloVe 840B has such words), so are the joiners that many scripts need.
    """
    if not word or word[0] == " " or word[-1] == " " or len(word) > LONGEST_WORD:
        return _extent_fault(word)
    return None if word.isprintable() else _character_fault(word)


def surely_words(lines: str, words: Sequence[str]) -> bool:
    """Whether `word_fault` finds nothing in any of ``words``, the lines of ``lines``; False where it must be asked."""
    blank = ("\n", " ")
    return (
        not lines.startswith(blank)
        and not any(pair in lines for pair in ("\n\n", "\n ", " \n"))
        and lines.replace("\n", "").isprintable()
        and max(map(len, words), default=0) <= LONGEST_WORD
    )


def _extent_fault(word: str) -> str:
    if not word:
        return "an empty word"
    if len(word) > LONGEST_WORD:
        return f"a word of more than {LONGEST_WORD} characters"
    return "a word that starts or ends with a blank" if word.strip() else "a word of blanks only"


def _character_fault(word: str) -> str | None:
    categories = {character: unicodedata.category(character) for character in word}
    for character, category in categories.items():
        if category in _CONTROLS or character == _BYTE_ORDER_MARK:
            return f"a control character (U+{ord(character):04X}) in the word"
        if character in _BIDIRECTIONAL:
            return f"a bidirectional control (U+{ord(character):04X}) in the word"
    return "a word of blanks only" if _INVISIBLE.issuperset(categories.values()) else None


def vector_faults(vectors: NDArray[np.floating[Any]]) -> dict[int, str]:
    """The rows of ``vectors``, shape (k, n), that cannot be vectors of words, and why: NaN, infinite, too long."""
    squared = np.einsum("ij,ij->i", vectors, vectors, dtype=np.float64)
    rows = np.flatnonzero(~(squared <= LARGEST_NORM**2))  # so that NaN counts as a fault
    return {int(row): _vector_fault(vectors[row]) for row in rows}


def _vector_fault(vector: NDArray[np.floating[Any]]) -> str:
    if np.isnan(vector).any():
        return "NaN among the numbers"
    if np.isinf(vector).any():
        return "an infinite number"
    return f"a vector longer than {LARGEST_NORM:.0e}, whose squares could overflow"


def first_word_fault(words: Sequence[str]) -> tuple[int, str] | None:
    """The first position from 0 whose word cannot be in a vocabulary, and why; a repeated word counts."""
    distinct, lines = set(words), "\n".join([*words, ""])
    none_twice = len(distinct) == len(words) and UNKNOWN not in distinct
    if none_twice and lines.count("\n") == len(words) and surely_words(lines, words):
        return None
    seen: set[str] = set()
    for position, word in enumerate(words):
        fault = "the unknown token, which is added by itself" if word == UNKNOWN else word_fault(word)
        if fault or word in seen:
            return position, fault or "a word that stood before"
        seen.add(word)
    return None
