"""What stands between a text and an adversary: nothing, or a mechanism, seen alike by the rest of an evaluation."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, final

import numpy as np

from publius.arrays import Float64Array, IndexArray
from publius.evaluation.distance_attack import DistanceAttack
from publius.evaluation.encoding import OUTSIDE, EncodedText
from publius.evaluation.originals import (
    MOST_OUTCOMES,
    bag_laws,
    exact_success,
    mixture_scores,
    outcomes_of_bags,
)
from publius.evaluation.protection import Protected, displacement, protect_texts
from publius.evaluation.transition import is_exact, transition_of
from publius.mechanisms.kernel import Kernel
from publius.noise.randomness import Generator, RunKey

if TYPE_CHECKING:
    from scipy.sparse import csr_array


@final
@dataclass(frozen=True, slots=True)
class Originals:
    """What the holder of the originals makes of a release.

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

    """

    epsilon: float | None = None
    bound: float | None = None
    delta: float = 0.0
    exact: bool = False
    promised: bool = False
    level: str = "none"

    @abstractmethod
    def protect(self, texts: Sequence[EncodedText], key: RunKey, stream: str) -> list[Protected]:
        """Each text through the mechanism; its noise comes from ``key``, ``stream`` and its id only."""

    @abstractmethod
    def moved(self, released: Sequence[Protected]) -> tuple[float | None, float | None]:
        """The share of words that changed and how far they went; None where words are not replaced one by one."""

    @abstractmethod
    def originals(
        self, texts: Sequence[EncodedText], released: Sequence[Protected], rng: Generator
    ) -> Originals:
        """What the holder of the originals finds; the candidates are ``texts``."""


@final
class Unprotected(AbstractProtector):
    """Texts as they are: the bag of their own words, not filled up."""

    def protect(self, texts: Sequence[EncodedText], key: RunKey, stream: str) -> list[Protected]:
        """See `AbstractProtector.protect`."""
        return [
            Protected(text, text.indices[: text.real], text.words[: text.real], text.bag) for text in texts
        ]

    def moved(self, released: Sequence[Protected]) -> tuple[float | None, float | None]:
        """See `AbstractProtector.moved`."""
        return 0.0, 0.0

    def originals(
        self, texts: Sequence[EncodedText], released: Sequence[Protected], rng: Generator
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
class WordProtector(AbstractProtector):
    """A word mechanism on bags of ``size`` words."""

    level = "word"

    def __init__(self, mechanism: Kernel, size: int, *, metric: str, unknown: str) -> None:
        self.mechanism, self.size = mechanism, size
        guarantee = mechanism.guarantee
        self.epsilon = mechanism.epsilon
        self.exact = is_exact(mechanism)
        self.promised = guarantee.evidence != "none" and guarantee.metric == metric
        if self.promised and unknown != "keep":
            lifted = guarantee.lifted(size)
            self.delta = lifted.delta
            self.bound = lifted.privacy_map(mechanism.metric.diameter_bound(mechanism.embeddings.vectors))

    def protect(self, texts: Sequence[EncodedText], key: RunKey, stream: str) -> list[Protected]:
        """See `AbstractProtector.protect`."""
        return protect_texts(texts, self.mechanism, key, stream)

    def moved(self, released: Sequence[Protected]) -> tuple[float | None, float | None]:
        """See `AbstractProtector.moved`."""
        found = displacement(released, self.mechanism)
        return found.changed, found.mean_distance

    def originals(
        self, texts: Sequence[EncodedText], released: Sequence[Protected], rng: Generator
    ) -> Originals:
        """Exact where all bags can be written down; else by the text's own words pushed through, or by distances.

        What a short text was filled up with he does not know, and draws it anew.
        """
        vocabulary = self.mechanism.embeddings.size
        log_rows = getattr(self.mechanism, "log_probabilities", None)
        passed = any((text.indices == OUTSIDE).any() for text in texts)
        inside = [text.guessed[text.guessed != OUTSIDE] for text in texts]
        bags = [item.outputs[item.outputs != OUTSIDE] for item in released]
        if self.exact:
            scores = mixture_scores(inside, _counts(bags, vocabulary), transition_of(self.mechanism, rng))
        else:
            scores = DistanceAttack(self.mechanism, inside, rng).scores(bags)
        if passed:
            return Originals(None, scores + _passed_agree(texts, released))
        filled = any(text.padding for text in texts)
        if log_rows and not filled and outcomes_of_bags(vocabulary, self.size) <= MOST_OUTCOMES:
            laws = bag_laws([np.exp(log_rows(text.indices)) for text in texts])
            return Originals(exact_success(laws, _names(texts)), scores, laws)
        return Originals(None, scores)


def _counts(bags: Sequence[IndexArray], vocabulary: int) -> csr_array:
    from scipy.sparse import csr_array

    rows = np.repeat(np.arange(len(bags)), [len(bag) for bag in bags])
    columns = np.concatenate(list(bags))
    return csr_array((np.ones(len(columns)), (rows, columns)), (len(bags), vocabulary))


def _names(texts: Sequence[EncodedText]) -> list[str]:
    return [text.label("author") for text in texts]


def _passed_agree(texts: Sequence[EncodedText], released: Sequence[Protected]) -> Float64Array:
    """0 where the words that passed are those of the candidate, else next to impossible."""
    from collections import Counter

    def kept(words: Sequence[str], indices: Sequence[int]) -> Counter[str]:
        return Counter(word for word, index in zip(words, indices, strict=True) if index == OUTSIDE)

    own = [kept(text.words, text.indices.tolist()) for text in texts]
    seen = [kept(item.words, item.outputs.tolist()) for item in released]
    return np.array([[0.0 if a == b else -1e9 for b in own] for a in seen])
