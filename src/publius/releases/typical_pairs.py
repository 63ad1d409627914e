"""The guarantee at typical pairs of a user's own public texts.

Everything here is public: the vocabulary, and texts that the user says are public.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from itertools import combinations
from typing import Final, TypeVar

from publius.errors import DataError
from publius.mechanisms.mechanism import Mechanism, Pair
from publius.text.bag import UNKNOWN, Bag, Encoded, Encoding

Item = TypeVar("Item")

TEXTS: Final = 30
"""Texts that are compared with each other at most: 435 pairs."""

_QUANTILES: Final = (("the nearest pair", 0.0), ("a near pair (one in ten is nearer)", 0.1), ("the median pair", 0.5),
                     ("the farthest pair", 1.0))  # fmt: skip


def typical_pairs(documents: Sequence[Encoded], mechanism: Mechanism, encoding: Encoding) -> list[Pair]:
    """The nearest, a near, the median and the farthest pair of public texts, by the exponent between them.

    That is exact where the mechanism's law is computed. `DataError` with fewer than two.
    """
    compared = [mechanism.compare(a, b, encoding) for a, b in combinations(_spread(documents), 2)]
    ordered = sorted(
        ((each.exponent, each.distance) if each.exact is None else (each.exact, None) for each in compared),
        key=lambda found: found[0],
    )
    last = len(ordered) - 1
    chosen = [(name, *ordered[round(share * last)]) for name, share in _QUANTILES]
    return [Pair(name, distance, exponent) for name, exponent, distance in chosen]


def frequent_words(bags: Sequence[Bag], count: int = 20) -> list[str]:
    """The words that most of the public texts have, the most frequent first."""
    totals = Counter(word for bag in bags for word in bag.counts if word != UNKNOWN)
    return [word for word, _ in totals.most_common(count)]


def _spread(items: Sequence[Item]) -> list[Item]:
    """At most `TEXTS` of them, evenly spread."""
    if len(items) < 2:
        raise DataError("fewer than two of the public texts have a word that counts: give more of them")
    step = max(1, -(-len(items) // TEXTS))
    return list(items[::step])[:TEXTS]
