"""The paper's lifting theorem as a class: a kernel on each word of a document, independently.

The theorem compares bags of one public size, so this class owns what makes them that: the first N words count and a
shorter document is filled up with public words. It owns the order, too: a bag has none.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from typing import Any, Final, Literal, NamedTuple, final

import numpy as np

from publius.arrays import Float64Array, IndexArray
from publius.embeddings.embeddings import Embeddings, word_indices
from publius.errors import PolicyError, UsageError
from publius.files.user_code import is_foreign, origin
from publius.mechanisms.kernel import Kernel
from publius.mechanisms.mechanism import Mechanism, Outcome
from publius.noise.randomness import RunKey
from publius.privacy.guarantee import Bound, Guarantee, exact_epsilon, total_exponent, upward
from publius.settings import ENGLISH, LONGEST, Between, UnknownPolicy
from publius.text.bag import (
    BYTES,
    UNKNOWN,
    Bag,
    Encoded,
    Encoding,
    bags_at,
    drawn_pads,
    pad_places,
    words_of,
    words_of_all,
)
from publius.text.tokenizer import PROFILES, StopWords

NEAR: Final = ("nurse", "doctor")
TYPICAL: Final = ("nurse", "river")


class PublicPair(NamedTuple):
    """The distance of two public words, and the exponent between two documents that differ in them alone."""

    distance: float
    exponent: float


@final
class Lifted(Mechanism):
    """Each word of a document through a kernel, independently: (epsilon*N)*E_d-private by the lifting theorem.

    With ``ordered`` the words keep their places and the weaker exponent epsilon * sum_i d(v_i, v'_i) holds; ``between``
    says what else is kept there, unprotected. `UsageError` for a length below 1.

    >>> import publius
    >>> toy = publius.Embeddings.from_arrays(["north", "south"], [[0.0], [1.0]], name="toy")
    >>> publius.Lifted(publius.Laplace(toy, epsilon=2.0), length=10).guarantee.map(0.5)
    10.0

    Attributes:
        kernel: the mechanism on words.
        length: N, the public number of words of every bag.
        ordered: whether the words leave in order.
        encoding: how a text becomes N words.
    """

    kind = "words"

    def __init__(
        self, kernel: Kernel, length: int, *, ordered: bool = False, between: Between = "none",
        unknown: UnknownPolicy = "unk", stop_words: str | StopWords = ENGLISH,
    ) -> None:  # fmt: skip
        if type(length) is not int or not 1 <= length <= LONGEST:
            raise UsageError(f"a release needs a public length N from 1 to {LONGEST:,}, not {length!r}")
        if unknown == "reject":
            raise UsageError("in a release no text may refuse anything: choose unk or drop for unknown words")
        if between != "none" and not ordered:
            raise UsageError("only ordered text keeps something between words: add --ordered")
        self.kernel, self.length, self.ordered, self.between = kernel, length, ordered, between
        self.name = kernel.name
        self.encoding = Encoding(length, unknown, StopWords.load(stop_words), kernel.embeddings.tokenizer)

    def __repr__(self) -> str:
        return f"Lifted({self.kernel!r}, length={self.length}{', ordered=True' if self.ordered else ''})"

    @property
    def vocabulary(self) -> Embeddings:
        """The public words, with their vectors."""
        return self.kernel.embeddings

    @property
    def guarantee(self) -> Guarantee:
        """The kernel's guarantee times N, for bags; for ordered text the sum over places."""
        said = self.kernel.guarantee
        if is_foreign(type(self.kernel)) and said.evidence != "none":
            said = replace(said, evidence="stated")  # a class from outside may state whatever it likes
        return replace(said.lifted(self.length), ordered=self.ordered)

    @property
    def trained_on(self) -> tuple[str, ...]:
        """See `Mechanism.trained_on`: of the vectors, where a metric was learned."""
        return tuple(self.vocabulary.source.get("trained_on", ()))

    @property
    def public(self) -> tuple[dict[str, Any], ...]:
        """See `Mechanism.public`: the vectors."""
        source = self.vocabulary.source
        facts = {"licence": source.get("licence"), "trained": source.get("trained")}
        return ({"name": self.vocabulary.name, "kind": "vectors", "sha256": self.vocabulary.sha256, **facts},)

    def facts(self) -> dict[str, Any]:
        """See `Mechanism.facts`."""
        stated, stops = self.guarantee, self.encoding.stop_words
        source = {"source": origin(type(self.kernel))} if is_foreign(type(self.kernel)) else {}
        told = {**self.kernel.parameters, **source}.items()
        parameters = {name: each if isinstance(each, int | float | str | None) else str(each) for name, each in told}
        near, typical = (pair and pair.exponent for pair in map(self.public_pair, (NEAR, TYPICAL)))
        return {
            "epsilon": stated.epsilon, "delta": stated.delta, "length": self.length, "metric": stated.metric,
            "mechanism": self.name, "mechanism_parameters": parameters,
            "exponent_per_distance": stated.epsilon_total, "evidence": stated.evidence,
            "nearest_pair": near, "typical_pair": typical,
            "ordered": self.ordered, "between": self.between, "unknown": self.encoding.unknown,
            "stop_words": stops.name, "stop_words_sha256": stops.sha256,
            "tokenizer": PROFILES[self.encoding.profile].label, "vocabulary_sha256": self.vocabulary.sha256,
        }  # fmt: skip

    def charge(self, unit: Literal["epsilon", "exponent"]) -> Fraction:
        """See `Mechanism.charge`: epsilon * N, the exponent per unit of distance."""
        if unit != "exponent":
            raise PolicyError("words cost an exponent, and this ledger counts epsilon: make one with --unit exponent")
        return exact_epsilon(self.guarantee.epsilon) * self.length

    def public_pair(self, words: tuple[str, str]) -> PublicPair | None:
        """The exponent between two documents that differ in one of two public words; None where one is missing."""
        places = [self.vocabulary.index(word) for word in words]
        if None in places:
            return None
        one, other = (self.vocabulary.vectors[place : place + 1] for place in places if place is not None)
        distance = float(self.kernel.metric.paired(one, other)[0])
        return PublicPair(distance, upward(exact_epsilon(self.guarantee.epsilon) * Fraction(distance)))

    def known(self, text: str) -> tuple[int, int]:
        """How many words of a text were looked up, and how many the vocabulary knows."""
        read = words_of(text, self.vocabulary, self.encoding)
        return read.seen, read.seen - read.unknown

    def protect(self, texts: Sequence[str], rows: Sequence[int], key: RunKey) -> list[Outcome]:
        """See `Mechanism.protect`; a document without any word is released as N public words."""
        if self.ordered:
            read = [words_of(text, self.vocabulary, self.encoding, self.between) for text in texts]
        else:
            read = words_of_all(texts, self.vocabulary, self.encoding)
        pads = RunKey(key.derive("pads"), seeded_run=key.seeded_run)
        ready = [self._places(one, row, pads) for one, row in zip(read, rows, strict=True)]
        words = [places if self.ordered else np.sort(places) for places, _ in ready]
        size, drawn = max(1, self.kernel.batch_words // self.length), list[IndexArray]()
        for start in range(0, len(words), size):
            part = slice(start, start + size)
            drawn += self.kernel.draw(words[part], [key.rng(str(row)) for row in rows[part]])
        if drawn and not self.ordered and self.encoding.unknown != "keep":
            return [Outcome(None, bag) for bag in bags_at(self.vocabulary, np.stack(drawn))]
        return [self._outcome(one, out, known) for one, out, (_, known) in zip(read, drawn, ready, strict=True)]

    def _places(self, read: Encoded, row: int, pads: RunKey) -> tuple[IndexArray, Sequence[bool] | None]:
        """The places of a document's words, filled up by bits of a key of their own; which words have one, None for all."""
        known, places = None, read.places
        if places is None:
            words = list(read.words)
            if self.encoding.unknown == "keep":
                known = [word == UNKNOWN or word in self.vocabulary for word in words]
                words = [word for word, has in zip(words, known, strict=True) if has]
            places = word_indices(words, self.vocabulary)
        if read.padding:
            bits = pads.bits([str(row)], BYTES * read.padding)[0]
            filled = drawn_pads(self.vocabulary, self.encoding.stop_words, bits)
            places = np.concatenate([places[: len(places) - read.padding], filled])
        return places, known

    def _outcome(self, read: Encoded, outputs: IndexArray, known: Sequence[bool] | None) -> Outcome:
        names = self.vocabulary.vocabulary
        protected = [names[place] for place in outputs.tolist()]
        if known is not None:
            rest = iter(protected)
            protected = [next(rest) if has else str(w) for w, has in zip(read.words, known, strict=True)]
        return Outcome(None, Bag(protected), _interleaved(protected, read.between) if self.ordered else None)

    def distance(self, a: str, b: str) -> float:
        """The distance of two texts as N words each that the guarantee is stated in, rounded up.

        The Earth Mover's distance; of ordered text the sum word by word. Where a text is filled up, the largest that
        the public words drawn for it could make it.
        """
        from publius.distances.earth_mover import transport_plan

        one, other = (words_of(text, self.vocabulary, self.encoding) for text in (a, b))
        if self.ordered:
            return self._word_by_word(one, other)
        if one.padding or other.padding:
            return self._filled_distance(one, other)
        return transport_plan(Bag(one.words), Bag(other.words), self.vocabulary, self.kernel.metric).distance_upper

    def bound(self, distance: float) -> Bound:
        """The exponent and delta between two documents at ``distance``, in the sense of `distance`."""
        stated = self.guarantee
        return Bound(stated.map(distance), stated.delta)

    def _word_by_word(self, a: Encoded, b: Encoded) -> float:
        """Pads are the same draws in both as far as both need them, and stand last."""
        from publius.distances.earth_mover import word_by_word_distance

        own = [each.words[: len(each.words) - each.padding] for each in (a, b)]
        both = min(map(len, own))
        total = word_by_word_distance(own[0][:both], own[1][:both], self.vocabulary, self.kernel.metric)
        rest = word_indices(max(own, key=len)[both:], self.vocabulary)
        if len(rest):
            total = total_exponent([total, *(self._to_pads(rest) * (1 + 1e-9)).tolist()])
        return total

    def _filled_distance(self, a: Encoded, b: Encoded) -> float:
        """Both are filled up with the same draws: a pad is at 0 from a pad, and from a word as far as the farthest drawn."""
        from publius.distances.earth_mover import Transport
        from publius.distances.solver import optimal_flow

        (left, supply), (right, demand) = self._points(a), self._points(b)
        costs = np.zeros((len(supply), len(demand)))
        vectors = self.vocabulary.vectors
        costs[: len(left), : len(right)] = self.kernel.metric.pairwise(vectors[left], vectors[right])
        if len(demand) > len(right):
            costs[: len(left), -1] = self._to_pads(left)
        if len(supply) > len(left):
            costs[-1, : len(right)] = self._to_pads(right)
        flow = optimal_flow(costs, supply, demand)
        return Transport(flow, costs[flow.rows, flow.columns], self.length, vectors.shape[1]).distance_upper

    def _to_pads(self, places: IndexArray) -> Float64Array:
        """How far the farthest word that may be drawn as a pad is from each."""
        vectors, pads = self.vocabulary.vectors, pad_places(self.vocabulary, self.encoding.stop_words)
        return np.asarray(self.kernel.metric.pairwise(vectors[places], vectors[pads]).max(axis=1))

    def _points(self, document: Encoded) -> tuple[IndexArray, IndexArray]:
        """The places of a document's own words, each once, and how often they occur; pads last, if any."""
        words = word_indices(document.words[: len(document.words) - document.padding], self.vocabulary)
        places, counts = np.unique(words, return_counts=True)
        masses = [*counts.tolist(), document.padding] if document.padding else counts.tolist()
        return places, np.array(masses, np.int64)


def _interleaved(words: Sequence[str], between: Sequence[tuple[int, str]]) -> tuple[str, ...]:
    """The words with what is kept at its places between them."""
    merged: list[str] = []
    done = 0
    for before, kept in between:
        merged += words[done:before]
        done = before
        merged.append(kept)
    return (*merged, *words[done:])
