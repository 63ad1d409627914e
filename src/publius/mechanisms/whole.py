"""Mechanisms on a property of the whole document: a public draw, and a map from its features to what is released.

A kernel that is lifted pays for every word of a document. What a release is to keep is mostly a property of the whole
document, so here the noise goes on that property: the mean of public word features. By the coupling lemma
(docs/documents.md) the mean moves no further than the Earth Mover's distance, for bags of any sizes, so a mechanism
on it needs no common length, no truncation and no padding. The bag that leaves is drawn from public words.
"""

from __future__ import annotations

import functools
from abc import abstractmethod
from collections.abc import Callable, Iterable, Sequence
from typing import Any, ClassVar, NamedTuple, final

import numpy as np

from publius.arrays import Float64Array, IndexArray, LazySequence
from publius.errors import DataError, UsageError
from publius.files.user_code import is_foreign, keep_unheard, unheard
from publius.mechanisms.mechanism import Comparison, Drawn, Mechanism, Outcome, without
from publius.noise.randomness import Generator, RunKey
from publius.privacy.guarantee import Evidence, Guarantee
from publius.settings import DOCUMENT_LENGTH, Reads, ReleaseSettings, TextSettings
from publius.text.bag import UNKNOWN, Encoded, Encoding, places_of_all
from publius.text.drawn_bags import Alphabet
from publius.vectors.learning.prototypes import Aspect
from publius.vectors.learning.public_words import stated
from publius.vectors.learning.reference import Reference

LENGTH = DOCUMENT_LENGTH

LONGEST = 100_000
_BATCH = 512
WORD_BYTES = 4
NUMBER_BYTES = 8


NO_VALUES = np.zeros(0)


class Noise(NamedTuple):
    """The randomness of one document, of public size: what the mechanism draws, and bytes for the words."""

    values: Float64Array
    bits: bytes

    def __repr__(self) -> str:
        return "Noise(sealed)"


@final
class ManyBits(LazySequence[Noise]):
    """The randomness of documents for which bits are all; it shows none in a repr.

    Attributes:
        bits: of each document, all of one size.
    """

    __slots__ = ("bits",)

    def __init__(self, bits: Sequence[bytes]) -> None:
        self.bits = bits

    @classmethod
    def of(cls, noise: Sequence[Noise]) -> ManyBits:
        """The bits of each of ``noise``; itself where it is nothing else."""
        return noise if isinstance(noise, cls) else cls([each.bits for each in noise])

    def __len__(self) -> int:
        return len(self.bits)

    def _item(self, place: int) -> Noise:
        return Noise(NO_VALUES, self.bits[place])

    def __repr__(self) -> str:
        return f"ManyBits(count={len(self)})"


class WholeDocument(Mechanism):
    """A mechanism on a property of the whole document, by the coupling lemma.

    To add one, write one class: ``name``, ``guarantee``, ``noise`` and ``apply``, with the ``parameters`` that the
    manifest is to state, and list it in `publius.mechanisms.registry`. Its constructor takes a reference, what to
    ``preserve``, epsilon or the bound, the length and what `Parameters` declares, and hands the reference, what is
    preserved and the length to `_take`; `_stated` makes the guarantee, `_alphabet` the bags of drawn words. Made by its
    name it gets the length of the release, 40 words where nobody says another.

    Where rows have labels ``fields`` is ``("prototype", "label")``, the first two of each `Outcome`; ``outcomes`` lists
    the `PublicOutcome` of each label, and ``probability_kept`` is a number that a release rounds up. With ``weights``,
    which may be left out, the laws are tried exactly: a row sums to 2^62.

    What `Parameters` declares comes by name: a constructor with ``**given`` that makes ``self.Parameters(**given)``
    declares nothing twice. Ours name each again, so that type checkers know them.

    Attributes:
        reads: the public input that documents are read with.
        aspect: of the reference, the one that is preserved.
        length: N, the public number of words of a released bag.
    """

    reads: ClassVar[Reads] = "reference"
    aspect: Aspect

    def _take(self, reference: Reference, preserve: str, length: int) -> None:
        if type(length) is not int or not 1 <= length <= LONGEST:
            raise UsageError(
                f"the length of a released bag must be from 1 to {LONGEST:,}, not {length!r:.40}"
            )
        self._reference, self.preserve, self.length = reference, preserve, length
        self.aspect = reference.aspect(preserve)

    def __init_subclass__(cls) -> None:
        super().__init_subclass__()
        keep_unheard(cls, "mechanism", ("weights", "fit_none", "check_documents"))

    def __setattr__(self, name: str, value: object) -> None:
        """Refuse to change what the guarantee was computed for."""
        if name in ("_reference", "preserve", "aspect", "length") and name in self.__dict__:
            raise UsageError(
                f"the {name.strip('_')} of a mechanism cannot be changed: make another mechanism"
            )
        super().__setattr__(name, value)

    @property
    def reference(self) -> Reference:
        """The public words, features and prototypes."""
        return self._reference

    @property
    def vocabulary(self) -> Reference:
        """See `Mechanism.vocabulary`: the reference's words."""
        return self._reference

    @property
    def parameters(self) -> dict[str, Any]:
        """See `Mechanism.parameters`."""
        return {}

    def _stated(
        self, epsilon: float | None, bound: float, evidence: Evidence, delta: float, bound_delta: float
    ) -> Guarantee:
        """The guarantee with these constants, per unit of distance and between any two documents."""
        return Guarantee(
            epsilon, "reference", evidence, delta, self.length, bound=float(bound), bound_delta=bound_delta,
            preserve=self.preserve,
        )  # fmt: skip

    def encoding(self, settings: ReleaseSettings) -> Encoding:
        """See `Mechanism.encoding`: all words count, or the first so many; nothing is filled up."""
        if settings.length not in (None, self.length):
            raise UsageError(
                f"the mechanism makes bags of {self.length} words, not {settings.length}: leave out the length"
            )
        without(settings, {"order": "belongs to --preserve words: a topic or meaning has no order"})
        return Encoding.of(
            self.reference.tokenizer,
            length=settings.first,
            unknown=settings.unknown or "drop",
            stop_words=self.reference.stop_words,
            padded=False,
        )

    def check(self, encoding: Encoding) -> None:
        """See `Mechanism.check`."""
        if encoding.unknown not in ("drop", TextSettings.unknown):
            raise UsageError(
                f"unknown words cannot be {encoding.unknown!r} where whole documents are protected: choose drop, "
                "which leaves them out, or unk, which puts them at a public point"
            )
        if encoding.missing(0):
            raise UsageError("a whole document is never filled up: make the encoding with padded=False")

    def public_inputs(self, encoding: Encoding) -> dict[str, Any]:
        """See `Mechanism.public_inputs`."""
        return {
            "preserve": self.preserve,
            "reference": self.reference.name,
            "reference_sha256": self.reference.sha256,
            "reference_words": stated(self.reference.source),
            "embeddings": None,
            "dimension": self.aspect.dimension,
            "first": encoding.length,
        }

    def batch_size(self) -> int:
        """See `Mechanism.batch_size`."""
        return _BATCH

    @abstractmethod
    def noise(self, rng: Generator) -> Noise:
        """Randomness for one document; its size is public and it does not depend on the document."""

    @abstractmethod
    def apply(self, documents: Sequence[IndexArray], noise: Sequence[Noise]) -> Sequence[Outcome]:
        """Release each document, given its noise. Deterministic, document by document.

        The order of a document's words must not matter: a document is a bag, and comes in the order of its text.
        """

    @final
    def draw(
        self, documents: Sequence[IndexArray], generators: Iterable[Generator], *, threads: int | None = None
    ) -> Sequence[Outcome]:
        """See `Mechanism.draw`; a document may have any length, also none. One processor is enough."""
        with unheard(type(self), f"the mechanism {self.name}"):
            noise = [self.noise(rng) for rng in generators]
        if len(documents) != len(noise):
            raise UsageError(f"{len(documents)} documents need as many generators, not {len(noise)}")
        return self._applied(documents, noise) if noise else []

    @final
    def draw_keyed(
        self, documents: Sequence[IndexArray], ids: Sequence[str], key: RunKey
    ) -> Sequence[Outcome]:
        """As `draw`, with randomness that belongs to the run key and a document's id, whatever the batch.

        That is `RunKey.bits` where bits are all that the mechanism needs, and the generator `RunKey.rng` otherwise.
        """
        size = self.noise_bytes
        if size is None:
            return self.draw(documents, [key.rng(id) for id in ids])
        return self._applied(documents, ManyBits(key.bits(ids, size)))

    def _applied(self, documents: Sequence[IndexArray], noise: Sequence[Noise]) -> Sequence[Outcome]:
        with unheard(type(self), f"the mechanism {self.name}"):
            found = self.apply(documents, noise)
            return [*found] if is_foreign(type(found)) and type(found) is not list else found

    @final
    def protect(
        self,
        texts: Sequence[str],
        ids: Sequence[str],
        encoding: Encoding,
        key: RunKey,
        *,
        threads: int | None = None,
    ) -> Drawn:
        """See `Mechanism.protect`: in arrays, for every document can be released and none is filled up."""
        found = places_of_all(texts, self.reference, encoding)
        return Drawn(self.draw_keyed(found.places, ids, key), found.seen, found.unknown)

    @final
    def indices(self, words: Sequence[str]) -> IndexArray:
        """See `Mechanism.indices`: of the reference's words."""
        index, unknown = self.reference.index, self.reference.unknown_index
        places = [unknown if word == UNKNOWN else index(word) for word in words]
        missing = sum(place is None for place in places)
        if missing:
            raise DataError(
                f"{missing} of {len(places)} words are not in the reference {self.reference.name!r}: make the bag with "
                "Bag.from_text, which drops or replaces unknown words"
            )
        return np.array(places, np.int64)

    @final
    def positions(self, documents: Sequence[IndexArray]) -> Float64Array:
        """Where documents lie among the features, shape (n, m). Private: never to be released."""
        return self.aspect.positions(documents)

    @final
    def compare(self, a: Encoded, b: Encoded, encoding: Encoding) -> Comparison:
        """See `Mechanism.compare`."""
        return self.between(places_of(a), places_of(b))

    def at_distance(self, distance: float) -> Comparison:
        """See `Mechanism.at_distance`."""
        raise UsageError("a distance on a reference's features requires --between A B")

    def check_learned_elsewhere(self, corpus_sha256: Callable[[], str]) -> None:
        """See `Mechanism.check_learned_elsewhere`."""
        if (
            self.reference.source.get("corpus_sha256") is not None
        ):  # learned from a file: ours takes time to read
            self.reference.check_learned_elsewhere(corpus_sha256())

    @final
    def between(self, a: IndexArray, b: IndexArray) -> Comparison:
        """How far two documents, as places of their words, can be told apart."""
        positions = self.positions([a, b])
        gap = float(np.sqrt(((positions[0] - positions[1]) ** 2).sum()))
        distance = self._earth_movers(a, b)
        stated = self.guarantee
        return Comparison(distance, stated.map(distance), stated.bound_delta, self._exact_exponent(a, b), gap)

    def _earth_movers(self, a: IndexArray, b: IndexArray) -> float:
        from publius.distances.earth_mover import vector_transport

        rows = [found if len(found) else np.array([self.reference.unknown_index]) for found in (a, b)]
        (left, count), (right, other) = (np.unique(found, return_counts=True) for found in rows)
        features = self.aspect.features
        moved = vector_transport(features[left], features[right], counts_x=count, counts_y=other)
        return moved.distance_upper

    def _exact_exponent(self, a: IndexArray, b: IndexArray) -> float | None:
        return None

    @functools.cached_property
    def _alphabet(self) -> Alphabet:
        return Alphabet(self.reference.vocabulary)


def places_of(document: Encoded) -> IndexArray:
    """The places of a document's words in the reference, none for the empty document."""
    return np.zeros(0, np.int64) if document.places is None else document.places


def random_bits(rng: Generator, size: int) -> bytes:
    """``size`` bytes of the generator's stream, in whole words of 64 bits: quicker than `Generator.bytes`."""
    return bytes(rng.bit_generator.random_raw(-(-size // NUMBER_BYTES)).tobytes()[:size])
