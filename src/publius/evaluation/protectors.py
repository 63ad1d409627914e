"""The protection between a text and an adversary: none, or a mechanism, seen alike by the rest of an evaluation."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, replace
from statistics import median
from typing import TYPE_CHECKING, Any, Final, final

import numpy as np

from publius.arrays import Float64Array, IndexArray
from publius.errors import UsageError
from publius.evaluation.distance_attack import DistanceAttack
from publius.evaluation.encoding import OUTSIDE, EncodedText
from publius.evaluation.neighborhood import MOST_TEXTS, nearest_others
from publius.evaluation.originals import (
    MOST_OUTCOMES,
    bag_laws,
    exact_success,
    mixture_scores,
    outcomes_of_bags,
)
from publius.evaluation.protection import ProtectedText, displacement, protect_texts
from publius.evaluation.readings import Reading
from publius.evaluation.releases_linked import linked_releases
from publius.evaluation.statistics import grouped_mean
from publius.evaluation.transition import transition_of
from publius.mechanisms.kernel import Kernel, is_exact
from publius.mechanisms.mechanism import Mechanism
from publius.noise.randomness import Generator, RunKey, seeded_rng
from publius.releases.label_shares import label_shares

if TYPE_CHECKING:
    from scipy.sparse import csr_array

_OWN_DRAWS: Final = 1_000
"""Bags from which the holder of the originals learns where those of a document lie, if no law says it."""


@final
@dataclass(frozen=True, slots=True)
class Originals:
    """The attack of the holder of the originals on a release.

    ``success`` is the exact probability that each text's author is named, shape (k,), where it can be computed.
    ``scores`` are the log likelihoods of his attack, shape (releases, k), one column a candidate text.
    ``law`` is the probability of each outcome for each text, shape (k, outcomes), where it was written down.
    """

    success: Float64Array | None
    scores: Float64Array
    law: Float64Array | None = None


class AbstractProtector(ABC):
    """How the texts of one cell are protected.

    Attributes:
        epsilon: per unit of distance, None where there is none.
        bound: nats between any two documents, None where nothing bounds them.
        delta: of the guarantee of one document.
        exact: whether the outcome probabilities of the mechanism are known.
        promised: whether there is a guarantee in the metric of the evaluation.
        level: "word", "document" or "none".
        mechanism: what protects; None where nothing does.
        price: of one release in the ledger, None where nothing is promised.
        kernel: what replaces words one by one; None where nothing does.

    """

    epsilon: float | None = None
    bound: float | None = None
    delta: float = 0.0
    exact: bool = False
    promised: bool = False
    level: str = "none"
    mechanism: Mechanism | None = None
    price: float | None = None
    kernel: Kernel | None = None

    @abstractmethod
    def protect(self, texts: Sequence[EncodedText], key: RunKey, stream: str) -> list[ProtectedText]:
        """Each text through the mechanism; its noise comes from ``key``, ``stream`` and its id only."""

    @abstractmethod
    def moved(self, released: Sequence[ProtectedText]) -> tuple[float | None, float | None]:
        """The share of words that changed and how far they went; None where words are not replaced one by one."""

    @abstractmethod
    def originals(
        self, texts: Sequence[EncodedText], released: Sequence[ProtectedText], rng: Generator
    ) -> Originals:
        """Attack as the holder of the originals; the candidates are ``texts``."""

    def informed(
        self, known: Sequence[EncodedText], labels: Sequence[str], released: Sequence[ProtectedText]
    ) -> tuple[list[str], Float64Array] | None:
        """The labels, and for each release how likely it is under the known texts of each, shape (releases, labels).

        None where the law over outcomes cannot be written down.
        """
        return None

    def labels(self, texts: Sequence[EncodedText]) -> dict[str, Any] | None:
        """How often the label that is printed is the text's topic, exactly: `LabelShares.record`.

        None where no label is printed, or no text has a topic.
        """
        return None

    def linking(self, texts: Sequence[EncodedText], rng: Generator) -> dict[str, float] | None:
        """How often two releases of the same texts are matched row by row; None where no law can be written down."""
        return None

    def exponents(self, texts: Sequence[EncodedText]) -> dict[str, float | None] | None:
        """Medians over the texts of the nats to the nearest other, the nearest of the topic, the median of the topic.

        None where the distances of the texts say them.
        """
        return None


@final
class Unprotected(AbstractProtector):
    """Texts as they are: the bag of their own words, not filled up."""

    def protect(self, texts: Sequence[EncodedText], key: RunKey, stream: str) -> list[ProtectedText]:
        """See `AbstractProtector.protect`."""
        return [
            ProtectedText(text, text.indices[: text.real], text.words[: text.real], text.bag)
            for text in texts
        ]

    def moved(self, released: Sequence[ProtectedText]) -> tuple[float | None, float | None]:
        """See `AbstractProtector.moved`."""
        return 0.0, 0.0

    def originals(
        self, texts: Sequence[EncodedText], released: Sequence[ProtectedText], rng: Generator
    ) -> Originals:
        """He finds the text itself, and of texts that are the same bag each as often."""
        bags = {bag: number for number, bag in enumerate(dict.fromkeys(item.bag for item in released))}
        seen, own = (
            np.array([bags.get(bag, -1) for bag in found])
            for found in ([item.bag for item in released], [text.bag for text in texts])
        )
        law = (own[:, None] == seen).astype(np.float64)
        scores = np.log(np.maximum(law.T, 1e-300))
        law /= law.sum(axis=1, keepdims=True)
        return Originals(exact_success(law, _names(texts)), scores, law)


@final
class Protector(AbstractProtector):
    """A mechanism on the texts of an evaluation, read as ``reading`` says; ``metric`` is the evaluation's.

    What an adversary who knows it can compute follows from what it states of itself: a law over outcomes
    (`Mechanism.law`), a kernel on each word (`Mechanism.replaces`), or places among features
    (`Mechanism.positions`).
    """

    def __init__(self, mechanism: Mechanism, reading: Reading, *, metric: str) -> None:
        self.mechanism: Mechanism = mechanism
        self._reading, self.kernel = reading, mechanism.replaces
        guarantee = mechanism.guarantee
        self.epsilon = guarantee.epsilon if self.kernel is None else self.kernel.epsilon
        self.level = guarantee.level
        self.exact = mechanism.law([]) is not None if self.kernel is None else is_exact(self.kernel)
        known = guarantee.evidence != "none"
        self.promised = known and (guarantee.bound is not None or guarantee.metric == metric)
        if self.promised:
            self.price = guarantee.epsilon_total if guarantee.bound is None else guarantee.bound
        if self.promised and reading.unknown != "keep":
            self.bound, self.delta = mechanism.between_any, guarantee.between_any_delta

    def protect(self, texts: Sequence[EncodedText], key: RunKey, stream: str) -> list[ProtectedText]:
        """See `AbstractProtector.protect`."""
        if self.kernel is not None:
            return protect_texts(texts, self.kernel, key, stream)
        generators = [key.rng(f"{stream}/{text.id}") for text in texts]
        found = self.mechanism.draw(self._reading.places(texts), generators)
        outside = np.full(self.mechanism.length, OUTSIDE, np.int64)
        return [
            ProtectedText(text, outside, tuple(outcome.bag.words()), outcome.bag, outcome.prototype)
            for text, outcome in zip(texts, found, strict=True)
        ]

    def moved(self, released: Sequence[ProtectedText]) -> tuple[float | None, float | None]:
        """See `AbstractProtector.moved`."""
        if self.kernel is None:
            return None, None
        found = displacement(released, self.kernel)
        return found.changed, found.mean_distance

    def originals(
        self, texts: Sequence[EncodedText], released: Sequence[ProtectedText], rng: Generator
    ) -> Originals:
        """Exact from a law over outcomes, for the words that leave are drawn from the outcome alone.

        Where words are replaced one by one: see `originals_of_words`. A noisy position is not released, so there he
        learns from bags that he draws himself where those of a document lie, and how they scatter: an attack.
        """
        if self.kernel is not None:
            return originals_of_words(self.kernel, self.mechanism.length, texts, released, rng)
        documents = self._reading.places(texts)
        law = self.mechanism.law(documents)
        if law is not None:
            scores = np.log(law[:, [item.prototype or 0 for item in released]].T)
            return Originals(exact_success(law, _names(texts)), scores, law)
        seen = [self.mechanism.indices(item.words) for item in released]
        return Originals(None, self._likely(seen, documents, rng))

    def _likely(
        self, seen: Sequence[IndexArray], documents: Sequence[IndexArray], rng: Generator
    ) -> Float64Array:
        """Logarithms, up to a constant, of how likely each bag ``seen`` is under each document, as if it were normal.

        Bags do not lie where their document does: `Position` draws words for a place that is amplified and drawn to
        the middle. So a linear map is learned from the mechanism's own draws.
        """
        chosen = [documents[place] for place in rng.integers(len(documents), size=_OWN_DRAWS)]
        drawn = self.mechanism.draw(
            chosen, [seeded_rng(int(seed)) for seed in rng.integers(2**62, size=_OWN_DRAWS)]
        )
        bags = [self.mechanism.indices(tuple(each.bag.words())) for each in drawn]
        known, found = self._centres(chosen), self._positions(bags)
        with_one = np.hstack([known, np.ones((len(known), 1))])
        mapped = np.linalg.lstsq(with_one, found, rcond=None)[0]
        left = found - with_one @ mapped
        spread = left.T @ left / len(left)
        spread += np.eye(len(spread)) * max(float(np.trace(spread)) / len(spread) * 1e-9, 1e-300)
        root = np.linalg.cholesky(np.linalg.inv(spread))
        rows = self._positions(seen) @ root
        columns = np.hstack([self._centres(documents), np.ones((len(documents), 1))]) @ mapped @ root
        squares = (rows**2).sum(axis=1)[:, None] + (columns**2).sum(axis=1)[None] - 2 * rows @ columns.T
        return np.asarray(-0.5 * np.maximum(squares, 0))

    def informed(
        self, known: Sequence[EncodedText], labels: Sequence[str], released: Sequence[ProtectedText]
    ) -> tuple[list[str], Float64Array] | None:
        """See `AbstractProtector.informed`."""
        law = self.mechanism.law(self._reading.places(known))
        if law is None:
            return None
        names = sorted(set(labels))
        means = np.array([law[[label == name for label in labels]].mean(axis=0) for name in names])
        with np.errstate(divide="ignore"):
            logs = np.maximum(np.log(means), -1e3)  # finite, as they are weighed beside a prior
        return names, logs[:, [item.prototype or 0 for item in released]].T

    def labels(self, texts: Sequence[EncodedText]) -> dict[str, Any] | None:
        """See `AbstractProtector.labels`; the interval is for other texts of the kind, authors resampled."""
        known = [text for text in texts if text.topic is not None]
        law = self.mechanism.law(self._reading.places(known)) if self.kernel is None and known else None
        outcomes = self.mechanism.outcomes
        if law is None or not outcomes:
            return None
        topics = [text.label("topic") for text in known]
        named = np.array([each.label for each in outcomes])
        right = [float(row[named == topic].sum()) for row, topic in zip(law, topics, strict=True)]
        authors = [text.author for text in known]
        groups = np.unique([str(place) if each is None else f"by {each}" for place, each in enumerate(authors)],
                           return_inverse=True)[1]  # fmt: skip
        interval = grouped_mean(np.array(right), groups, ends=(0.0, 1.0))
        printed = {label: float(law[:, named == label].sum()) for label in dict.fromkeys(topics)}
        found = replace(label_shares(right, topics, outcomes, printed), low=interval.low, high=interval.high)
        return found.record()

    def linking(self, texts: Sequence[EncodedText], rng: Generator) -> dict[str, float] | None:
        """See `AbstractProtector.linking`."""
        chosen = texts[:MOST_TEXTS]
        law = (
            self.mechanism.law(self._reading.places(chosen))
            if self.kernel is None and len(chosen) > 1
            else None
        )
        return None if law is None or self.bound is None else linked_releases(law, self.bound, rng)

    def exponents(self, texts: Sequence[EncodedText]) -> dict[str, float | None] | None:
        """See `AbstractProtector.exponents`; of more than `MOST_TEXTS` texts the first ones are compared.

        Exact from a law over outcomes: the largest logarithm of a ratio of probabilities. For a position what the
        guarantee states for the distance of the two: epsilon times it, at most the bound.
        """
        if self.kernel is not None:
            return None
        chosen = texts[:MOST_TEXTS]
        documents = self._reading.places(chosen)
        law = self.mechanism.law(documents)
        if law is not None:
            logs = np.log(law)
            table = np.array([np.abs(logs - row).max(axis=1) for row in logs])
        else:
            gaps = self._gaps(documents, documents)
            table = np.minimum((self.epsilon or np.inf) * gaps, self.bound or np.inf)
        names = ("nearest", "same_topic", "typical_same_topic")
        return {
            name: _median(values) for name, values in zip(names, nearest_others(table, chosen), strict=True)
        }

    def _gaps(self, one: Sequence[IndexArray], other: Sequence[IndexArray]) -> Float64Array:
        """How far the documents of ``one`` lie from those of ``other`` among the features."""
        rows, columns = self._positions(one), self._positions(other)
        return np.asarray(np.sqrt(((rows[:, None] - columns[None]) ** 2).sum(axis=2)))

    def _centres(self, documents: Sequence[IndexArray]) -> Float64Array:
        found = self.mechanism.centres(documents)
        return self._positions(documents) if found is None else found

    def _positions(self, documents: Sequence[IndexArray]) -> Float64Array:
        found = self.mechanism.positions(documents)
        if found is None:
            raise UsageError(
                f"nothing is known of how {self.mechanism.name} reads a document: it cannot be attacked"
            )
        return found


def originals_of_words(
    kernel: Kernel, size: int, texts: Sequence[EncodedText], released: Sequence[ProtectedText], rng: Generator
) -> Originals:
    """Exact where all bags can be written down; else by the text's own words pushed through, or by distances.

    What a short text was filled up with he does not know, and draws it anew.
    """
    vocabulary = kernel.embeddings.size
    log_rows = getattr(kernel, "log_probabilities", None)
    passed = any((text.indices == OUTSIDE).any() for text in texts)
    inside = [text.guessed[text.guessed != OUTSIDE] for text in texts]
    bags = [item.outputs[item.outputs != OUTSIDE] for item in released]
    if is_exact(kernel):
        scores = mixture_scores(inside, _counts(bags, vocabulary), transition_of(kernel, rng))
    else:
        scores = DistanceAttack(kernel, inside, rng).scores(bags)
    if passed:
        return Originals(None, scores + _passed_agree(texts, released))
    filled = any(text.padding for text in texts)
    if log_rows and not filled and outcomes_of_bags(vocabulary, size) <= MOST_OUTCOMES:
        laws = bag_laws([np.exp(log_rows(text.indices)) for text in texts])
        return Originals(exact_success(laws, _names(texts)), scores, laws)
    return Originals(None, scores)


def _median(values: Sequence[float | None]) -> float | None:
    known = [value for value in values if value not in (None, np.inf)]  # of the only text none is near
    return median(known) if known else None


def _counts(bags: Sequence[IndexArray], vocabulary: int) -> csr_array:
    from scipy.sparse import csr_array

    rows = np.repeat(np.arange(len(bags)), [len(bag) for bag in bags])
    columns = np.concatenate(list(bags))
    return csr_array((np.ones(len(columns)), (rows, columns)), (len(bags), vocabulary))


def _names(texts: Sequence[EncodedText]) -> list[str]:
    return [text.label("author") for text in texts]


def _passed_agree(texts: Sequence[EncodedText], released: Sequence[ProtectedText]) -> Float64Array:
    """0 where the words that passed are those of the candidate, else next to impossible."""
    from collections import Counter

    def kept(words: Sequence[str], indices: Sequence[int]) -> Counter[str]:
        return Counter(word for word, index in zip(words, indices, strict=True) if index == OUTSIDE)

    own = [kept(text.words, text.indices.tolist()) for text in texts]
    seen = [kept(item.words, item.outputs.tolist()) for item in released]
    return np.array([[0.0 if a == b else -1e9 for b in own] for a in seen])
