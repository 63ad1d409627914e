"""A label for each document: randomized response on a classifier's answer (Warner 1965), its counts, its shuffling.

Probabilities are whole numbers out of 2^62, drawn exactly from 62 bits, rounded so that their ratio is at most e^epsilon.
"""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Callable, Sequence
from decimal import Context, Decimal
from fractions import Fraction
from functools import cache, cached_property
from typing import TYPE_CHECKING, Any, Final, Literal, final

import numpy as np

from publius.arrays import Float64Array, IndexArray
from publius.errors import PolicyError, UsageError
from publius.mechanisms.mechanism import TOTAL, Mechanism, Outcome
from publius.noise.randomness import RunKey
from publius.privacy.guarantee import Guarantee, exact_epsilon
from publius.privacy.shuffling import Shuffling, at_least, exactly, likely_counts
from publius.settings import LARGEST_DELTA
from publius.text.bag import Bag

if TYPE_CHECKING:
    from publius.classifiers.classifier import Classifier

LARGEST: Final = 30.0  # beyond it whole numbers out of 2^62 would become coarse
SMALLEST: Final = 1e-6
_DIGITS: Final = 50
_BYTES: Final = 8
_WORD_BYTES: Final = 4
_BEYOND: Final = 2e-12  # more than what the likely counts leave out
_ROUNDING: Final = 1 + 1e-6  # more than the relative error of binomial probabilities by logarithms of factorials


@final
class RandomizedResponse(Mechanism):
    """One of M public labels instead of each document: the classifier's answer, most often.

    For any two texts whatever, a label is at most exp(epsilon) times as probable under one as under the other:
    epsilon-local differential privacy, attained. With ``bag`` so many words leave beside each label, drawn from the
    label's public words: they tell nothing more. `UsageError` for an epsilon that does not exist.

    >>> import publius
    >>> mechanism = publius.RandomizedResponse(publius.Values(["open", "closed"]), epsilon=5)
    >>> mechanism.guarantee.map(), mechanism.labels
    (5.0, ('open', 'closed', 'other'))
    >>> publius.release("open", mechanism).label in mechanism.labels
    True

    Attributes:
        classifier: the public function from a text to a label.
        epsilon: local epsilon of a document.
        bag: words of each bag; None without bags.
    """

    kind = "labels"
    name = "randomized-response"

    def __init__(self, classifier: Classifier, epsilon: float = 5.0, *, bag: int | None = None) -> None:
        if not SMALLEST <= epsilon <= LARGEST:
            raise UsageError(f"epsilon of a label is a number from {SMALLEST:g} to {LARGEST:g}, not {epsilon!r}")
        if len(classifier.labels) < 2:
            raise UsageError(f"a classifier has at least two labels, {classifier.name} has {len(classifier.labels)}")
        if bag is not None and not 1 <= bag <= 100_000:
            raise UsageError(f"a bag has from 1 to 100,000 words, not {bag}")
        self.classifier, self.epsilon, self.bag = classifier, float(epsilon), bag
        self._floor = least_weight(self.epsilon, len(classifier.labels))

    def __repr__(self) -> str:
        return f"RandomizedResponse({self.classifier.name!r}, epsilon={self.epsilon:g}, labels={len(self.labels)})"

    @property
    def labels(self) -> tuple[str, ...]:
        """All M labels, "other" the last."""
        return self.classifier.labels

    @property
    def guarantee(self) -> Guarantee:
        """See `Mechanism.guarantee`: the same between any two documents."""
        return Guarantee(self.epsilon, None, "proven", size=1)

    @property
    def trained_on(self) -> tuple[str, ...]:
        """See `Mechanism.trained_on`: of the classifier."""
        return self.classifier.trained_on

    @property
    def public(self) -> tuple[dict[str, Any], ...]:
        """See `Mechanism.public`: those of the classifier."""
        return tuple(self.classifier.public)

    @property
    def kept(self) -> float:
        """The probability that the classifier's answer is the label that leaves."""
        return 1 - (len(self.labels) - 1) * self._floor / TOTAL

    def facts(self) -> dict[str, Any]:
        """See `Mechanism.facts`."""
        about = self.classifier
        classifier = {
            "name": about.name, "kind": about.kind, "sha256": about.sha256, "accuracy": about.accuracy,
        }  # fmt: skip
        return {"epsilon": self.epsilon, "labels": self.labels, "classifier": classifier, "bag": self.bag}

    def charge(self, unit: Literal["epsilon", "exponent"]) -> Fraction:
        """See `Mechanism.charge`: epsilon."""
        if unit != "epsilon":
            raise PolicyError(
                "labels cost epsilon, and this ledger counts exponents of words: make one with --unit epsilon"
            )
        return exact_epsilon(self.epsilon)

    def weights(self, answer: int) -> IndexArray:
        """The law of a document with this answer as whole numbers out of 2^62, shape (M,)."""
        law = np.full(len(self.labels), self._floor, np.int64)
        law[answer] = TOTAL - (len(self.labels) - 1) * self._floor
        return law

    def law(self, answer: int) -> Float64Array:
        """The same as probabilities."""
        return np.asarray(self.weights(answer) / TOTAL)

    def protect(self, texts: Sequence[str], rows: Sequence[int], key: RunKey) -> list[Outcome]:
        """See `Mechanism.protect`."""
        answers = np.asarray(self.classifier.answers(texts), np.int64)
        size = _BYTES + _WORD_BYTES * (self.bag or 0)
        bits = key.bits(map(str, rows), size)
        numbers = np.frombuffer(b"".join(each[:_BYTES] for each in bits), "<u8") >> np.uint64(2)
        chosen = self.drawn(answers, numbers.astype(np.int64))
        if self.bag is None:
            return [self._alone[place] for place in chosen.tolist()]
        return [
            Outcome(self.labels[place], self._words(place, each[_BYTES:]))
            for place, each in zip(chosen.tolist(), bits, strict=True)
        ]

    @cached_property
    def _alone(self) -> list[Outcome]:
        return [Outcome(label) for label in self.labels]

    def drawn(self, answers: IndexArray, numbers: IndexArray) -> IndexArray:
        """The label of each answer for a uniform whole number below 2^62: below M floors any label, else its own."""
        return np.where(numbers < len(self.labels) * self._floor, numbers // self._floor, answers)

    def count_limits(self, released: Sequence[int]) -> list[tuple[int, int]]:
        """Limits for how many documents have each answer, from how often each label was released.

        They hold for all labels together in 95 % of releases: the documents are fixed, only the response is random
        (docs/theory.md, labels). By Bonferroni each tail beyond a limit has its share of the rest.
        """
        n, q, tail = sum(released), self._floor / TOTAL, 0.05 / len(released) / 2
        found = {count: _limits(int(count), n, self.kept, q, tail) for count in set(released)}
        return [found[count] for count in released]

    def _words(self, place: int, bits: bytes) -> Bag:
        """Words of a label, each with equal chance up to 2^-32, from public words and fresh bits: nothing private."""
        words = self.classifier.words(self.labels[place]) or (self.labels[place],)
        draws = np.frombuffer(bits, "<u4").astype(np.uint64) * np.uint64(len(words)) >> np.uint64(32)
        return Bag([words[at] for at in draws.tolist()])


def least_weight(epsilon: float, size: int) -> int:
    """The smallest whole number w with (2^62 - (M - 1) w) / w <= e^epsilon, all of it in exact arithmetic."""
    exact = Context(prec=_DIGITS).exp(Decimal(repr(float(epsilon))))
    below = Fraction(exact) * (1 - Fraction(1, 10 ** (_DIGITS - 5)))
    return math.ceil(TOTAL / (below + size - 1))


def _limits(r: int, n: int, p: float, q: float, tail: float) -> tuple[int, int]:
    """The smallest and the largest count t of answers that the released count r of n does not exclude.

    With t documents whose answer it is, a label is released Bin(t, p) + Bin(n - t, q) times; t is excluded where P(X <= r) or
    P(X >= r) is below ``tail``, and these fall with t's distance.
    """
    from scipy.special import ndtri

    guess = min(max(round((r - n * q) / (p - q)), 0), n)

    @cache
    def excluded(t: int) -> bool:
        upper = r > t * p + (n - t) * q
        return _tail(r, t, n, p, q, upper=upper) < tail

    if excluded(guess):  # the estimate was cut at 0 or n: nothing nearer is possible
        return guess, guess
    deviation = math.sqrt(guess * p * (1 - p) + (n - guess) * q * (1 - q)) / (p - q)
    far = math.ceil(-float(ndtri(tail)) * deviation)
    below = _reach(guess, far, lambda steps: excluded(guess - steps))
    return guess - below, guess + _reach(n - guess, far, lambda steps: excluded(guess + steps))


def _reach(most: int, far: int, excluded: Callable[[int], bool]) -> int:
    """The most steps, of ``most``, that end at what is not excluded: about ``far``, by doubling and halving."""
    far, width = min(far, most), 1 + far // 512
    low, high = max(0, far - width), min(most + 1, far + width)
    while low and excluded(low):
        low, high, width = max(0, low - 2 * width), low, 2 * width
    while high <= most and not excluded(high):
        low, high, width = high, min(most + 1, high + 2 * width), 2 * width
    return low + bisect_left(range(low + 1, high), True, key=excluded)


def _tail(r: int, t: int, n: int, p: float, q: float, *, upper: bool) -> float:
    """P(X >= r) or P(X <= r) for X = Bin(t, p) + Bin(n - t, q), rounded up: a sum over the one that spreads less."""
    (few, chance), (many, other) = sorted(((t, p), (n - t, q)), key=lambda side: side[0] * side[1] * (1 - side[1]))
    first, last = likely_counts(few, few, chance)
    k = np.arange(first, last + 1)
    rest = r - k if upper else r - k[::-1]  # P(Y >= rest) grows along it, or P(Y <= rest)
    start = int(rest[0])
    beyond = at_least(start + 1, many, other) if upper else at_least(many - start + 1, many, 1 - other)
    tails = np.cumsum(exactly(rest, many, other)) + beyond
    return min(1.0, float(exactly(r - rest, few, chance) @ tails) * _ROUNDING + _BEYOND)


@final
class Shuffled:
    """What ``documents`` labels of ``mechanism`` promise to each author when they leave without ids and order.

    It asks of a release: no ids, no order that depends on the documents, no kept fields (beside one, n is the number of
    rows with the same value); n public; what was drawn for the others not known from elsewhere; at most c documents a
    person. Epsilon of one document stays true beside it, for those who know which row is whose.

    >>> import publius
    >>> labels = publius.RandomizedResponse(publius.Values(["open", "closed"]), epsilon=5)
    >>> publius.Shuffled(labels, documents=10_000).guarantee.epsilon < 1
    True

    Args:
        mechanism: labels by randomized response; `PolicyError` for words, whose bags are as good as an id.
        documents: n, how many rows are released together.
        documents_per_author: c, the most documents of one author.
        delta: what is stated to the author; by default min(1e-6, 1 / (100 n)).

    Attributes:
        guarantee: epsilon and delta of an author with all documents, rounded up.

    Raises `UsageError` for numbers that do not exist. The theorem stands in `publius.privacy.shuffling`.
    """

    def __init__(
        self, mechanism: Mechanism, documents: int, documents_per_author: int = 1, delta: float | None = None
    ) -> None:
        if not isinstance(mechanism, RandomizedResponse):
            raise PolicyError(
                f"shuffling adds nothing that can be stated for {mechanism.name}: a bag of words is as good as an id"
            )
        if documents_per_author > documents:
            raise UsageError(f"of {documents:,} documents an author cannot have {documents_per_author:,}")
        shuffling = Shuffling(mechanism.epsilon, len(mechanism.labels), documents)
        delta = min(LARGEST_DELTA, 1 / (100 * documents)) if delta is None else delta
        epsilon = shuffling.epsilon_at(delta, documents_per_author=documents_per_author)
        self.guarantee = Guarantee(epsilon, None, "proven", delta)
