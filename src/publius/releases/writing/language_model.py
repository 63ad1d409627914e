"""Language models of word order: the protocol, and a small n-gram model trained on public text.

The built-in model is interpolated Kneser-Ney (Kneser and Ney 1995; Chen and Goodman 1999, section 4.1.6): the longest
context counts how often a word followed it, shorter ones in how many different contexts a word stood, and each passes
what it takes off to the next shorter one, the last to all words alike.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final, Protocol, Self, final

import numpy as np

from publius.arrays import Float64Array
from publius.errors import DataError, UsageError

Context = tuple[str, ...]

LONGEST_ORDER: Final = 5
_LARGEST_DISCOUNT: Final = 0.95


class LanguageModel(Protocol):
    """The protocol of a language model; any object with these two will do."""

    @property
    def context_length(self) -> int:
        """How many words before the next one the model looks at."""
        ...

    def log_probabilities(self, context: Context, words: Sequence[str]) -> Float64Array:
        """Ln P(word | ``context``) for each of ``words``, shape (words,): finite, also for words it never met.

        The context is the words before, the nearest last, at most ``context_length`` of them, fewer at the
        beginning of a text.
        """
        ...


@final
@dataclass(frozen=True)
class _Followers:
    """The words that followed one context: counts, and how much of the probability goes to the shorter context."""

    counts: Counter[str]
    total: int
    passed_on: float


@final
class NGramModel:
    """Interpolated Kneser-Ney over words; made by `train`. A `LanguageModel`.

    Attributes:
        order: the longest run of words that is counted.
        vocabulary_size: how many different words it was trained on; all others share one place.

    """

    def __init__(self, levels: Sequence[dict[Context, _Followers]], discounts: Sequence[float]) -> None:
        self._levels, self._discounts = levels, discounts
        self.order = len(levels)
        self.vocabulary_size = len(levels[0][()].counts)
        self._known: tuple[Sequence[str], dict[str, list[int]], Float64Array] | None = None

    @classmethod
    def train(cls, texts: Iterable[Sequence[str]], order: int = 3) -> Self:
        """Learn from public texts, each a sequence of words; no run of words goes across two of them.

        Raises `UsageError` for an order that is not 1 to 5, `DataError` for texts with fewer than two words.
        """
        if type(order) is not int or not 1 <= order <= LONGEST_ORDER:
            raise UsageError(f"the order of a model must be 1 to {LONGEST_ORDER}, not {order!r}")
        counts = _count(texts, order)
        if sum(counts[0].values()) < 2:
            raise DataError("there are fewer than two words to learn from: give a longer public text")
        counts = [*(_continuations(longer) for longer in counts[1:]), counts[-1]]
        discounts = [_discount(level) for level in counts]
        return cls([_by_context(level, d) for level, d in zip(counts, discounts, strict=True)], discounts)

    @property
    def context_length(self) -> int:
        """See `LanguageModel`."""
        return self.order - 1

    def log_probabilities(self, context: Context, words: Sequence[str]) -> Float64Array:
        """See `LanguageModel`."""
        places, shares = self._unigrams(words)
        for length in range(1, min(len(context), self.context_length) + 1):
            found = self._levels[length].get(context[-length:])
            if found is None:  # then no longer context was met either
                break
            shares = _interpolated(found, shares, places, self._discounts[length])
        return np.log(shares)

    def _unigrams(self, words: Sequence[str]) -> tuple[dict[str, list[int]], Float64Array]:
        """Where each word stands in ``words``, and its probability without context; kept for the next call."""
        if self._known is None or self._known[0] is not words:
            places: dict[str, list[int]] = defaultdict(list)
            for place, word in enumerate(words):
                places[word].append(place)
            uniform = np.full(len(words), 1 / (self.vocabulary_size + 1))
            shares = _interpolated(self._levels[0][()], uniform, places, self._discounts[0])
            self._known = (words, places, shares)
        return self._known[1], self._known[2]


def _count(texts: Iterable[Sequence[str]], order: int) -> list[Counter[Context]]:
    """How often each run of 1, 2, ... ``order`` words occurs."""
    counts: list[Counter[Context]] = [Counter() for _ in range(order)]
    for text in texts:
        words = tuple(text)
        for length, level in enumerate(counts, start=1):
            level.update(words[start : start + length] for start in range(len(words) - length + 1))
    return counts


def _continuations(longer: Counter[Context]) -> Counter[Context]:
    """In how many different ways each run is preceded: its count in Kneser and Ney's lower orders."""
    return Counter(run[1:] for run in longer)


def _discount(level: Counter[Context]) -> float:
    """n1 / (n1 + 2 n2), the leaving-one-out estimate of Ney, Essen and Kneser (1994), with n_i runs counted i times."""
    once, twice = (sum(count == times for count in level.values()) for times in (1, 2))
    return min(_LARGEST_DISCOUNT, once / (once + 2 * twice)) if once else _LARGEST_DISCOUNT / 2


def _by_context(level: Counter[Context], discount: float) -> dict[Context, _Followers]:
    followers: dict[Context, Counter[str]] = defaultdict(Counter)
    for run, count in level.items():
        followers[run[:-1]][run[-1]] = count
    made = {}
    for context, counts in followers.items():
        total = counts.total()
        made[context] = _Followers(counts, total, discount * len(counts) / total)
    return made


def _interpolated(
    found: _Followers, shorter: Float64Array, places: dict[str, list[int]], discount: float
) -> Float64Array:
    """(count - discount) / total for what followed, plus what was taken off, spread as the shorter context says."""
    shares = found.passed_on * shorter
    some, others = (found.counts, places) if len(found.counts) < len(places) else (places, found.counts)
    for word in some:
        if word in others:
            shares[places[word]] += (found.counts[word] - discount) / found.total
    return shares
