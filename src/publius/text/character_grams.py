"""The characters inside the words of a bag: what is left of its spelling, as post-processing of the bag."""

from __future__ import annotations

from collections import Counter

from publius.errors import UsageError
from publius.text.bag import Bag

LENGTH = 4


def inner_grams(word: str, length: int = LENGTH) -> list[str]:
    """The character n-grams inside a word; a word of at most n characters is one piece (Koppel et al. 2011)."""
    return [word[start : start + length] for start in range(max(1, len(word) - length + 1))]


def character_grams(bag: Bag, length: int = LENGTH) -> dict[str, int]:
    """How often each character n-gram occurs inside the words of ``bag``, in order of code points.

    It sees the bag alone, so of a released bag it promises what the release does (post-processing).

    >>> character_grams(Bag(["river", "river", "sea"]))
    {'iver': 2, 'rive': 2, 'sea': 1}
    """
    if type(length) is not int or length < 1:
        raise UsageError(f"n-grams have a length from 1, not {length!r}")
    counts: Counter[str] = Counter()
    for word, count in bag.counts.items():
        for piece in inner_grams(word, length):
            counts[piece] += count
    return dict(sorted(counts.items()))
