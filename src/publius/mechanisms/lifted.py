"""The paper's lifting theorem as a class: a kernel on each word of a document, independently.

If a kernel is epsilon*d-private on words, applying it to each of the N words of a bag is (epsilon*N)*E_d-private,
E_d the Earth Mover's distance (docs/theory.md section 2). The theorem compares bags of one public size, so this class
owns what makes them that: the first N words count and a shorter document is filled up with public words. It owns the
order, too: a bag has none, and where the order is kept the weaker theorem on vectors holds.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Final, final

import numpy as np

from publius.arrays import Float64Array, IndexArray
from publius.distances.metrics import AbstractMetric, definition_of
from publius.errors import UnknownWordError, UsageError
from publius.mechanisms.kernel import Kernel
from publius.mechanisms.mechanism import (
    EXAMPLES,
    WORDS,
    Comparison,
    Drawn,
    Mechanism,
    OrderedText,
    Outcome,
    Outcomes,
    Pair,
)
from publius.mechanisms.outside import known_guarantee, origin
from publius.noise.randomness import Generator, RunKey
from publius.privacy.guarantee import Guarantee
from publius.settings import ReleaseSettings, TextSettings
from publius.text.bag import UNKNOWN, Bag, Encoded, Encoding, words_of, words_of_all
from publius.text.drawn_bags import ENOUGH, DrawnBags, alphabet_of
from publius.text.pads import BYTES, PADS, drawn_pads, pad_places
from publius.embeddings.embeddings import Embeddings
from publius.embeddings.learning.public_words import stated_of_vectors

PADDING: Final = f"drawn by rank from the first {PADS:,} plain words of the vocabulary that are no stop words"

NEAR: Final = ("nurse", "doctor")
"""Two documents that differ in these words alone are near."""

_FIRST_WORDS: Final = 100


@final
class Lifted(Mechanism):
    """Each word of a document through a kernel, independently: (epsilon*N)*E_d-private by the lifting theorem.

    With ``ordered`` the words keep their places and the weaker bound epsilon * sum_i d(v_i, v'_i) holds.

    Attributes:
        length: N, the public number of words of every bag.
        ordered: what is kept of the order of a text; None for bags.
    """

    preserve = "words"

    def __init__(self, kernel: Kernel, length: int, *, ordered: OrderedText | None = None) -> None:
        """Lift ``kernel`` to bags of ``length`` words, or to as many words in order. `UsageError` for no length.

        >>> import publius
        >>> toy = publius.Embeddings.from_arrays(["north", "south"], [[0.0], [1.0]], name="toy")
        >>> Lifted(publius.Laplace(toy, epsilon=2.0), length=10).guarantee.map(0.5)
        10.0
        """
        if type(length) is not int or length < 1:
            raise UsageError(
                "a release needs a public length N: give a number, or take the shortest document's"
            )
        self.replaces, self.length, self.ordered = kernel, length, ordered
        self._kernel = kernel
        self.name = kernel.name

    def __repr__(self) -> str:
        """The kernel and N, for a notebook."""
        order = "" if self.ordered is None else f", ordered={self.ordered!r}"
        return f"Lifted({self._kernel!r}, length={self.length}{order})"

    @property
    def implementation(self) -> type:
        """See `Mechanism.implementation`: the kernel's class."""
        return type(self._kernel)

    @property
    def vocabulary(self) -> Embeddings:
        """See `Mechanism.vocabulary`: the words of the kernel's public vectors."""
        return self._kernel.embeddings

    @property
    def guarantee(self) -> Guarantee:
        """The kernel's guarantee times N, for bags; for ordered text the sum over places."""
        lifted = known_guarantee(self._kernel).lifted(self.length)
        return lifted if self.ordered is None else lifted.in_order(self.ordered.keep)

    @property
    def between_any(self) -> float:
        """See `Mechanism.between_any`: at the diameter of the vocabulary."""
        return self.guarantee.map(self._kernel.metric.diameter_bound(self.vocabulary.vectors))

    @property
    def parameters(self) -> dict[str, Any]:
        """See `Mechanism.parameters`: the kernel's."""
        return self._kernel.parameters

    @property
    def near_exponent(self) -> float:
        """See `Mechanism.near_exponent`: nurse in one document and doctor in the other."""
        return near_exponent(self.vocabulary, self._kernel.metric, self._kernel.guarantee.per_unit)

    @property
    def needs_length(self) -> bool:
        """See `Mechanism.needs_length`."""
        return True

    def encoding(self, settings: ReleaseSettings) -> Encoding:
        """See `Mechanism.encoding`: the first N words, short documents filled up."""
        return Encoding.of(
            self.vocabulary.tokenizer,
            length=self.length,
            unknown=settings.unknown or TextSettings.unknown,
            stop_words=settings.stop_words,
        )

    def check(self, encoding: Encoding) -> None:
        """See `Mechanism.check`: N must be the one that is lifted to."""
        if encoding.length is None:
            raise UsageError(
                "a release needs a public length N: give a number, or take the shortest document's"
            )
        if encoding.length != self.length:
            raise UsageError(f"the mechanism is lifted to {self.length} words, not to {encoding.length}")

    def public_inputs(self, encoding: Encoding) -> dict[str, Any]:
        """See `Mechanism.public_inputs`."""
        source = origin(definition_of(self._kernel.metric))
        return {
            "preserve": self.preserve,
            "reference": None,
            "reference_sha256": None,
            "reference_words": stated_of_vectors(self.vocabulary.source),
            "embeddings": self.vocabulary.name,
            "dimension": self.vocabulary.dimension,
            **({"metric_source": source} if source is not None else {}),
        }

    def batch_size(self) -> int:
        """See `Mechanism.batch_size`."""
        return self._kernel.batch_size(self.length)

    def prepare(self) -> None:
        """See `Mechanism.prepare`."""
        self._kernel.prepare()

    @property
    def is_prepared(self) -> bool:
        """See `Mechanism.is_prepared`."""
        return type(self._kernel).prepare is Kernel.prepare

    def indices(self, words: Sequence[str]) -> IndexArray:
        """See `Mechanism.indices`."""
        return self._kernel.indices(words)

    def draw(
        self, documents: Sequence[IndexArray], generators: Iterable[Generator], *, threads: int | None = None
    ) -> Sequence[Outcome]:
        """See `Mechanism.draw`; the words of a document may be in any order, and no order leaves."""
        outputs = self._kernel.draw([without_order(each) for each in documents], generators, threads=threads)
        return [Outcome(None, None, self._kernel.bag(out)) for out in outputs]

    def protect(
        self,
        texts: Sequence[str],
        ids: Sequence[str],
        encoding: Encoding,
        key: RunKey,
        *,
        threads: int | None = None,
    ) -> Drawn:
        """See `Mechanism.protect`; under the policy "reject" an error stands for a document with unknown words."""
        read = [
            found if isinstance(found, UnknownWordError) else self._ready(found, encoding, key, id)
            for found, id in zip(self._encoded(texts, encoding), ids, strict=True)
        ]
        good = [(id, ready) for id, ready in zip(ids, read, strict=True) if isinstance(ready, _Ready)]
        words = [ready.places if self.ordered else without_order(ready.places) for _, ready in good]
        drawn = self._kernel.draw(words, [key.rng(id) for id, _ in good], threads=threads)
        passing = encoding.unknown == "keep"
        outcomes: Sequence[Outcome | UnknownWordError]
        if self.ordered is None and not passing and len(good) == len(read) >= ENOUGH:  # the same, together
            bags = DrawnBags(alphabet_of(self.vocabulary), np.stack(drawn))
            outcomes = Outcomes(bags, [(None, None)] * len(read))
        else:
            outputs = iter(drawn)
            outcomes = [
                ready if isinstance(ready, UnknownWordError) else self._outcome(ready, next(outputs), passing)
                for ready in read
            ]
        met = [ready.encoded for _, ready in good]
        return Drawn(
            outcomes,
            sum(each.seen for each in met),
            sum(each.unknown for each in met),
            sum(each.padding for each in met),
        )

    def _encoded(self, texts: Sequence[str], encoding: Encoding) -> Sequence[Encoded | UnknownWordError]:
        if self.ordered is None and encoding.unknown != "reject":
            return words_of_all(texts, self.vocabulary, encoding)
        keep = self.ordered.keep if self.ordered else "none"
        found: list[Encoded | UnknownWordError] = []
        for text in texts:
            try:
                found.append(words_of(text, self.vocabulary, encoding, keep))
            except UnknownWordError as error:
                found.append(error)
        return found

    def _ready(self, encoded: Encoded, encoding: Encoding, key: RunKey, id: str) -> _Ready:
        known = None
        if encoded.places is not None:
            places = encoded.places
        elif encoding.unknown == "keep":
            known = np.array([word == UNKNOWN or word in self.vocabulary for word in encoded.words])
            places = self.indices(
                [word for word, is_known in zip(encoded.words, known, strict=True) if is_known]
            )
        else:
            places = self.indices(list(encoded.words))
        return _Ready(encoded, self.filled_up(places, encoded.padding, encoding, key, id), known)

    def filled_up(
        self, places: IndexArray, padding: int, encoding: Encoding, key: RunKey, id: str
    ) -> IndexArray:
        """The places of a document's words, whose last ``padding`` become public words drawn for it.

        The draws (`publius.text.pads`) come from a key of their own, so that the noise of a document does not depend
        on how long it is.
        """
        if not padding:
            return places
        bits = RunKey(key.derive("pads")).bits([id], BYTES * padding)[0]
        pads = drawn_pads(self.vocabulary, encoding.stop_words, bits)
        return np.concatenate([places[: len(places) - padding], pads])

    def _outcome(self, ready: _Ready, outputs: IndexArray, passing: bool) -> Outcome:
        if self.ordered is None and not passing:
            return Outcome(None, None, self._kernel.bag(outputs))
        vocabulary = self.vocabulary.vocabulary
        protected = iter([vocabulary[index] for index in outputs.tolist()])
        own = ready.encoded.words
        marks = [True] * len(own) if ready.known is None else ready.known.tolist()
        words = [next(protected) if known else word for word, known in zip(own, marks, strict=True)]
        if self.ordered is None:
            return Outcome(None, None, Bag(words))
        return Outcome(None, None, Bag(words), *_interleaved(words, ready.encoded.between))

    def compare(self, a: Encoded, b: Encoded, encoding: Encoding) -> Comparison:
        """See `Mechanism.compare`: by the Earth Mover's distance, the largest over all pads."""
        if a.padding or b.padding:
            distance = self.filled_distance(a, b, encoding)
        else:
            from publius.distances.earth_mover import transport_plan

            moved = transport_plan(Bag(a.words), Bag(b.words), self.vocabulary, self._kernel.metric)
            distance = moved.distance_upper
        stated = self._kernel.bound(self.length, distance)
        return Comparison(distance, stated.exponent, stated.delta)

    def at_distance(self, distance: float) -> Comparison:
        """See `Mechanism.at_distance`."""
        stated = self._kernel.bound(self.length, distance)
        return Comparison(distance, stated.exponent, stated.delta)

    def word_pairs(self, words: Sequence[str] = WORDS) -> list[Pair]:
        """See `Mechanism.word_pairs`: one word of N is replaced, whatever N is."""
        embeddings, metric, pairs = self.vocabulary, self._kernel.metric, list[Pair]()
        one = self._kernel.guarantee.lifted(1)
        for word in words:
            place = embeddings.index(word)
            if place is None or len(pairs) == EXAMPLES:
                continue
            distances = metric.pairwise(embeddings.vectors[place : place + 1], embeddings.vectors)[0]
            distances[place] = np.inf
            other = int(distances.argmin())
            distance = float(distances[other])
            name = f"{word} replaced by {embeddings.vocabulary[other]}"
            pairs.append(Pair(name, distance, one.map(distance)))
        return pairs

    def filled_distance(self, a: Encoded, b: Encoded, encoding: Encoding) -> float:
        """An upper bound on the Earth Mover's distance of two documents of N words, whatever pads are drawn.

        Both are filled up with the same draws as far as both need them (`publius.text.pads`): a pad lies at distance
        0 from a pad, and from a word as far as the farthest word that may be drawn.
        """
        from publius.distances.problem import Transport
        from publius.distances.solver import optimal_flow

        left, supply = self._points(a)
        right, demand = self._points(b)
        embeddings, metric = self.vocabulary, self._kernel.metric
        pads = np.asarray(embeddings.vectors[pad_places(embeddings, encoding.stop_words)], np.float64)

        def vectors(places: IndexArray) -> Float64Array:
            return np.asarray(embeddings.vectors[places], np.float64)

        costs = np.zeros((len(supply), len(demand)))
        costs[: len(left), : len(right)] = metric.pairwise(vectors(left), vectors(right))
        if len(demand) > len(right):
            costs[: len(left), -1] = metric.pairwise(vectors(left), pads).max(axis=1)
        if len(supply) > len(left):
            costs[-1, : len(right)] = metric.pairwise(vectors(right), pads).max(axis=1)
        flow = optimal_flow(costs, supply, demand)
        return Transport(
            flow, costs[flow.rows, flow.columns], self.length, embeddings.dimension
        ).distance_upper

    def _points(self, document: Encoded) -> tuple[IndexArray, IndexArray]:
        """The places of a document's own words, each once, and how often they occur; pads last, if any."""
        words = self.indices(list(document.words)[: len(document.words) - document.padding])
        places, counts = np.unique(words, return_counts=True)
        masses = [*counts.tolist(), document.padding] if document.padding else counts.tolist()
        return places, np.array(masses, np.int64)


@final
@dataclass(frozen=True, slots=True)
class _Ready:
    """A document's words and, of those with a vector, their places; ``known`` marks them, None for all."""

    encoded: Encoded
    places: IndexArray
    known: np.ndarray[Any, np.dtype[np.bool_]] | None = None


def near_exponent(embeddings: Embeddings, metric: AbstractMetric, epsilon: float) -> float:
    """Nats between two documents that differ in one word, nurse in one and doctor in the other.

    Where the vocabulary lacks them: in one of its first hundred words and the nearest to it, at the median of these.
    """
    places = [embeddings.index(word) for word in NEAR]
    vectors = embeddings.vectors
    if None not in places:
        one, other = (vectors[place : place + 1] for place in places if place is not None)
        return epsilon * float(metric.paired(one, other)[0])  # `pairwise` imports half of scipy
    distances = np.array(metric.pairwise(vectors[:_FIRST_WORDS], vectors))
    distances[np.arange(len(distances)), np.arange(len(distances))] = np.inf
    return epsilon * float(np.median(distances.min(axis=1)))


def without_order(words: IndexArray) -> IndexArray:
    """The words of a bag, sorted: the same ones get the same noise however they stood in the text."""
    return np.sort(words)


def _interleaved(
    words: Sequence[str], between: Sequence[tuple[int, str]]
) -> tuple[tuple[str, ...], tuple[int, ...]]:
    """The words with what is kept at its places between them, and those places in the result."""
    merged: list[str] = []
    places: list[int] = []
    done = 0
    for before, kept in between:
        merged += words[done:before]
        done = before
        places.append(len(merged))
        merged.append(kept)
    return (*merged, *words[done:]), tuple(places)


def as_mechanism(
    found: Kernel | Mechanism, length: int | None, ordered: OrderedText | None = None
) -> Mechanism:
    """``found``, or a kernel lifted to ``length`` words: what everything above this room holds.

    `UsageError` for a kernel without a length, and for an order where a mechanism on documents is given.
    """
    if isinstance(found, Mechanism):
        if ordered not in (None, found.ordered):
            raise UsageError("a document's prototype or position has no order to keep: leave out --order")
        return found
    if length is None:
        raise UsageError("a release needs a public length N: give a number, or take the shortest document's")
    return Lifted(found, length, ordered=ordered)


def at_length(mechanism: Mechanism, length: int) -> Mechanism:
    """The same mechanism for another number of words, where N is one that a caller chooses."""
    return Lifted(mechanism.kernel, length, ordered=mechanism.ordered)
