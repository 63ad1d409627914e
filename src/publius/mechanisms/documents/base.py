"""What every document mechanism is: a public draw, and a map from a document's features to what is released.

A word mechanism pays for every word of a document. What a release is to keep is mostly a property of the whole
document, so here the noise goes on that property: the mean of public word features. By the coupling lemma
(docs/documents.md) the mean moves no further than the Earth Mover's distance, for bags of any sizes, so a mechanism
on it needs no common length, no truncation and no padding. The bag that leaves is drawn from public words.
"""

from __future__ import annotations

import functools
from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple, final

import numpy as np

from publius.arrays import AbstractMadeWhenAsked, Float64Array, IndexArray
from publius.errors import DataError, UsageError
from publius.noise.randomness import Generator, RunKey, system_rng
from publius.privacy.document_guarantee import DocumentGuarantee
from publius.settings import DOCUMENT_LENGTH, Settings
from publius.text.bag import UNKNOWN, Bag, drawn_bag
from publius.text.drawn_bags import Alphabet, DrawnBags
from publius.vectors.learning.reference import Aspect, Reference

LENGTH = DOCUMENT_LENGTH

LONGEST = 100_000
_BATCH = 512
WORD_BYTES = 4
NUMBER_BYTES = 8


class DocumentOutcome(NamedTuple):
    """What is released instead of a document.

    Attributes:
        prototype: the public prototype that was drawn; None where the mechanism names none.
        label: what that is called; None likewise.
        bag: public words, as many as the mechanism's length.
    """

    prototype: int | None
    label: str | None
    bag: Bag


@final
class Outcomes(AbstractMadeWhenAsked[DocumentOutcome]):
    """What is released instead of many documents, each made when it is asked for.

    Attributes:
        bags: the bag of each.
        named: the public prototype of each and what that is called; None twice where the mechanism names none.
    """

    __slots__ = ("bags", "named")

    def __init__(self, bags: DrawnBags, named: Sequence[tuple[int | None, str | None]]) -> None:
        self.bags, self.named = bags, named

    def __len__(self) -> int:
        return len(self.bags)

    def _item(self, place: int) -> DocumentOutcome:
        return DocumentOutcome(*self.named[place], drawn_bag(self.bags, place))


@final
@dataclass(frozen=True)
class PublicOutcome:
    """One of the things that a document may become: public, the same for all documents.

    Attributes:
        prototype: its number.
        label: what it is called.
        words: its most typical words, the likeliest first.
    """

    prototype: int
    label: str
    words: tuple[str, ...]


@final
@dataclass(frozen=True)
class Comparison:
    """How far two documents can be told apart.

    Attributes:
        distance: the Earth Mover's distance on the reference's features, rounded up; None where it is not computed.
        feature_distance: how far apart the two lie: at most the distance.
        exponent: what the guarantee states: min(epsilon * distance, bound), in nats.
        exact: the largest ln of a ratio of probabilities over all outcomes, in nats, where the law is a finite one.
    """

    distance: float | None
    feature_distance: float
    exponent: float
    exact: float | None


NO_VALUES = np.zeros(0)


class Noise(NamedTuple):
    """The randomness of one document, of public size: what the mechanism draws, and bytes for the words."""

    values: Float64Array
    bits: bytes

    def __repr__(self) -> str:
        return "Noise(sealed)"


@final
class ManyBits(AbstractMadeWhenAsked[Noise]):
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


class AbstractDocumentMechanism(ABC):
    """A randomized map from documents, as indices of words, to bags of public words.

    To add one, write one class: ``name``, ``guarantee``, ``noise`` and ``apply``, and list it in
    `publius.mechanisms.documents.registry`.

    Attributes:
        name: as given on the command line and written in the manifest.
        reference: the public words, features and prototypes.
        preserve: what is kept, the name of the aspect.
        aspect: that aspect of the reference.
        length: N, the public number of words of a released bag.
        names_prototypes: whether an outcome says which prototype it is.
        Parameters: what it takes beyond epsilon, bound and length.
    """

    name: ClassVar[str]
    Parameters: ClassVar[type[Settings]] = Settings
    level: ClassVar[str] = "document"
    names_prototypes: ClassVar[bool] = False
    reference: Reference
    preserve: str
    aspect: Aspect
    length: int

    def _take(self, reference: Reference, preserve: str, length: int) -> None:
        if type(length) is not int or not 1 <= length <= LONGEST:
            raise UsageError(
                f"the length of a released bag must be from 1 to {LONGEST:,}, not {length!r:.40}"
            )
        self.reference, self.preserve, self.length = reference, preserve, length
        self.aspect = reference.aspect(preserve)

    def __setattr__(self, name: str, value: object) -> None:
        """Refuse to change what the guarantee was computed for."""
        if name in ("reference", "preserve", "aspect", "length") and name in self.__dict__:
            raise UsageError(f"the {name} of a mechanism cannot be changed: make another mechanism")
        super().__setattr__(name, value)

    @property
    def vocabulary(self) -> Reference:
        """The public words that documents are read with and bags are made of."""
        return self.reference

    def batch_size(self, size: int) -> int:
        """Documents that are best drawn together; it never changes a result."""
        return _BATCH

    def prepare(self) -> None:  # noqa: B027  # most have nothing to prepare
        """See `AbstractMechanism.prepare`."""

    @property
    @abstractmethod
    def guarantee(self) -> DocumentGuarantee:
        """The guarantee of a whole document."""

    @property
    def parameters(self) -> dict[str, Any]:
        """Public parameters beyond those of the guarantee, for the manifest."""
        return {}

    @property
    def outcomes(self) -> list[PublicOutcome]:
        """What a document may become, where the mechanism names it."""
        return []

    @property
    def noise_bytes(self) -> int | None:
        """How many bits, in bytes, are all the noise of a document; None where it is more than bits."""
        return None

    @abstractmethod
    def noise(self, rng: Generator) -> Noise:
        """Randomness for one document; its size is public and it does not depend on the document."""

    @abstractmethod
    def apply(self, documents: Sequence[IndexArray], noise: Sequence[Noise]) -> Sequence[DocumentOutcome]:
        """What is released for each document, given its noise. Deterministic, document by document.

        The order of a document's words must not matter: a document is a bag, and comes in the order of its text.
        """

    @final
    def draw(
        self, documents: Sequence[IndexArray], generators: Iterable[Generator], *, threads: int | None = None
    ) -> Sequence[DocumentOutcome]:
        """What is released for each document, with a generator of its own; the one way to noise.

        A document is an array of indices into the reference's vocabulary, its `Reference.unknown_index` for an
        unknown word that counts, of any length, also none. One processor is enough, whatever ``threads`` says.
        """
        noise = [self.noise(rng) for rng in generators]
        if len(documents) != len(noise):
            raise UsageError(f"{len(documents)} documents need as many generators, not {len(noise)}")
        return self.apply(documents, noise) if noise else []

    @final
    def draw_keyed(
        self, documents: Sequence[IndexArray], document_ids: Sequence[str], key: RunKey
    ) -> Sequence[DocumentOutcome]:
        """As `draw`, with randomness that belongs to the run key and a document's id, whatever the batch.

        That is `RunKey.bits` where bits are all that the mechanism needs, and the generator `RunKey.rng` otherwise.
        """
        size = self.noise_bytes
        if size is None:
            return self.draw(documents, [key.rng(document_id) for document_id in document_ids])
        return self.apply(documents, ManyBits(key.bits(document_ids, size)))

    @final
    def randomize(self, bag: Bag, rng: Generator | None = None) -> DocumentOutcome:
        """What is released for one bag. Without ``rng``, fresh operating system randomness.

        Words outside the reference are the public unknown token's (`DataError` otherwise): give the bag through
        `Bag.from_text`, which drops or replaces unknown words.
        """
        return self.draw([self.indices(bag.words())], [rng if rng is not None else system_rng()])[0]

    @final
    def indices(self, words: Iterable[str]) -> IndexArray:
        """Indices of the reference's words; the unknown token has `Reference.unknown_index`."""
        index, unknown = self.reference.index, self.reference.unknown_index
        found = [unknown if word == UNKNOWN else index(word) for word in words]
        missing = sum(place is None for place in found)
        if missing:
            raise DataError(
                f"{missing} of {len(found)} words are not in the reference {self.reference.name!r}: make the bag with "
                "Bag.from_text, which drops or replaces unknown words"
            )
        return np.array(found, np.int64)

    @final
    def positions(self, documents: Sequence[IndexArray]) -> Float64Array:
        """Where documents lie among the features, shape (n, m). Private: never to be released."""
        return self.aspect.positions(documents)

    @final
    def between(self, a: IndexArray, b: IndexArray) -> Comparison:
        """How far two documents can be told apart; no distance where one of them is empty."""
        places = self.positions([a, b])
        gap = float(np.sqrt(((places[0] - places[1]) ** 2).sum()))
        distance = self._earth_movers(a, b)
        return Comparison(distance, gap, self.guarantee.privacy_map(distance), self._exact_exponent(a, b))

    def _earth_movers(self, a: IndexArray, b: IndexArray) -> float | None:
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


def random_bits(rng: Generator, size: int) -> bytes:
    """``size`` bytes of the generator's stream, in whole words of 64 bits: quicker than `Generator.bytes`."""
    return bytes(rng.bit_generator.random_raw(-(-size // NUMBER_BYTES)).tobytes()[:size])
