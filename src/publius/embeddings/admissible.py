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

UNKNOWN: Final = "<unk>"  # the public token that stands for unknown words; never a word of the vocabulary itself
LONGEST_WORD: Final = 1_000  # characters
LARGEST_DIMENSION: Final = 10_000
LARGEST_NORM: Final = 1e18  # squares and products of two stay below 1e37, ten times below the largest float32

_CONTROLS: Final = frozenset(("Cc", "Cs", "Zl", "Zp"))
_BIDIRECTIONAL: Final = frozenset("\u061c\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")


def word_fault(word: str) -> str | None:
    """Why ``word`` cannot be in a vocabulary, or None: empty, blank, too long, or with control characters.

    Blanks inside are admitted (GloVe 840B has such words), so are the joiners that many scripts need.
    """
    if word.isprintable() and 0 < len(word) <= LONGEST_WORD and " " not in (word[0], word[-1]):
        return None  # nearly always
    if not word:
        return "an empty word"
    if len(word) > LONGEST_WORD:
        return f"a word of more than {LONGEST_WORD} characters"
    if word[0] == " " or word[-1] == " ":
        return "a word that starts or ends with a blank" if word.strip() else "a word of blanks only"
    categories = {character: unicodedata.category(character) for character in word}
    for character, category in categories.items():
        if category in _CONTROLS or character == "\ufeff":
            return f"a control character (U+{ord(character):04X}) in the word"
        if character in _BIDIRECTIONAL:
            return f"a bidirectional control (U+{ord(character):04X}) in the word"
    return "a word of blanks only" if {"Zs", "Cf"}.issuperset(categories.values()) else None


def surely_words(lines: str, words: Sequence[str]) -> bool:
    """Whether `word_fault` finds nothing in any of ``words``, the lines of ``lines``; False where it must be asked."""
    blank = ("\n", " ")
    return (
        not lines.startswith(blank)
        and not any(pair in lines for pair in ("\n\n", "\n ", " \n"))
        and lines.replace("\n", "").isprintable()
        and max(map(len, words), default=0) <= LONGEST_WORD
    )


def vector_faults(vectors: NDArray[np.floating[Any]]) -> dict[int, str]:
    """The rows of ``vectors``, shape (k, n), that cannot be vectors of words, and why: NaN, infinite, too long."""
    squared = np.einsum("ij,ij->i", vectors, vectors, dtype=np.float64)
    found: dict[int, str] = {}
    for row in np.flatnonzero(~(squared <= LARGEST_NORM**2)).tolist():  # so that NaN counts as a fault
        found[row] = f"a vector longer than {LARGEST_NORM:.0e}, whose squares could overflow"
        if not np.isfinite(vectors[row]).all():
            found[row] = "NaN among the numbers" if np.isnan(vectors[row]).any() else "an infinite number"
    return found


def first_word_fault(words: Sequence[str]) -> tuple[int, str] | None:
    """The first position from 0 whose word cannot be in a vocabulary, and why; a repeated word counts."""
    lines, none_twice = "\n".join([*words, ""]), len({*words, UNKNOWN}) == len(words) + 1
    if none_twice and lines.count("\n") == len(words) and surely_words(lines, words):
        return None
    seen: set[str] = set()
    for position, word in enumerate(words):
        fault = "the unknown token, which is added by itself" if word == UNKNOWN else word_fault(word)
        if fault or word in seen:
            return position, fault or "a word that stood before"
        seen.add(word)
    return None
