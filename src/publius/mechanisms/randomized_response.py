"""A column of declared values under a bound: randomized response on what the curator already knows.

Where the file has the category there is nothing to be found out by a reference. The k values are declared
beforehand, never read from the documents. A document's own value is printed with probability
e^B / (e^B + k - 1) and each other one with probability 1 / (e^B + k - 1), so any two documents are within B nats
(Warner 1965; docs/documents.md). The probabilities are whole numbers out of 2^62 and drawn exactly, as those of
`publius.mechanisms.prototype` are.
"""

from __future__ import annotations

import functools
import hashlib
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final, final

import numpy as np

from publius.arrays import IndexArray
from publius.errors import DataError, UsageError, how_many
from publius.mechanisms.mechanism import (
    TOTAL,
    Comparison,
    Drawn,
    Mechanism,
    Outcome,
    PublicOutcome,
    Votes,
    without,
)
from publius.mechanisms.prototype import checked_bound, fidelity, least_weight
from publius.noise.randomness import Generator, RunKey
from publius.privacy.guarantee import Guarantee
from publius.settings import FIELD, ReleaseSettings
from publius.text.bag import Bag, Encoded, Encoding
from publius.text.normal_form import compared

MOST_VALUES: Final = 100_000
_LONGEST_VALUE: Final = 200
_BATCH: Final = 4096


@final
class DeclaredValues:
    """The public list of values that a field may have, as the vocabulary of what is released.

    Attributes:
        vocabulary: the values in the order of their declaration.
        sha256: of them.
        unknown_index: the place of the value that stands for all that are not declared; -1 where there is none.
    """

    tokenizer = "glove"

    def __init__(self, values: Sequence[str], other: str | None = None) -> None:
        """Take ``values``; `UsageError` for fewer than two, one that is there twice, empty or too long."""
        self.vocabulary = tuple(compared(value) for value in values)
        if not 2 <= len(self.vocabulary) <= MOST_VALUES:
            raise UsageError(f"declare from 2 to {MOST_VALUES:,} values, not {len(self.vocabulary):,}")
        for value in self.vocabulary:
            if not value or len(value) > _LONGEST_VALUE or not value.isprintable():
                raise UsageError(
                    f"a declared value has from 1 to {_LONGEST_VALUE} characters that can be printed, not {value!r:.40}"
                )
        self.places: Mapping[str, int] = {value: place for place, value in enumerate(self.vocabulary)}
        if len(self.places) < len(self.vocabulary):
            twice = next(value for value in self.vocabulary if self.vocabulary.count(value) > 1)
            raise UsageError(f"the value {twice!r} is declared twice")
        if other is not None and compared(other) not in self.places:
            raise UsageError(f"--other must name one of the declared values, not {other!r:.40}")
        self.unknown_index = -1 if other is None else self.places[compared(other)]
        self.sha256 = hashlib.sha256("\n".join(self.vocabulary).encode()).hexdigest()

    @property
    def size(self) -> int:
        """How many values there are."""
        return len(self.vocabulary)

    def index(self, word: str) -> int | None:
        """The place of a value; None for one that is not declared."""
        return self.places.get(word)

    def __contains__(self, word: object) -> bool:
        return word in self.places


@final
class RandomizedResponse(Mechanism):
    """A declared value of each document is printed, most often its own: randomized response on a field.

    What it reads as a document is the field's value. Equivalent to `Prototype` with gamma 0 where each document's
    nearest prototype is its own value.

    Attributes:
        field: the name of the field.
        values: the declared values.
    """

    name = "randomized-response"
    reads_texts = False
    releases_bags = False
    fields = ("label",)
    tells_preserved = True
    field: str
    length = 1

    def __init__(self, field: str, values: Sequence[str], *, bound: float, other: str | None = None) -> None:
        """Release ``field``, one of ``values``, under ``bound`` nats between any two documents.

        What is not declared counts as the value ``other``; without one it is refused. `UsageError` for values and
        bounds that do not exist.

        >>> RandomizedResponse("product", ["loans", "cards"], bound=2.0).guarantee.map()
        2.0
        """
        if not field:
            raise UsageError("name the field that is released: --preserve field:NAME")
        checked_bound(bound)
        self.field, self.values, self._bound = field, DeclaredValues(values, other), float(bound)
        self.preserve = f"{FIELD}{field}"
        self._floor = least_weight(self._bound, self.values.size)

    @property
    def vocabulary(self) -> Any:
        """See `Mechanism.vocabulary`: the declared values."""
        return self.values

    @property
    def guarantee(self) -> Guarantee:
        """See `Mechanism.guarantee`: certified between the whole numbers that are drawn with."""
        return Guarantee(None, "none", "certified", size=1, bound=self._bound, preserve=self.preserve)

    @property
    def probability_kept(self) -> float:
        """See `Mechanism.probability_kept`."""
        return fidelity(self._bound, self.values.size)

    @classmethod
    def votes(cls, parameters: Mapping[str, Any]) -> Votes:
        """See `Mechanism.votes`."""
        return Votes(len(parameters["values"]))

    @property
    def parameters(self) -> dict[str, Any]:
        """See `Mechanism.parameters`."""
        other = self.values.unknown_index
        return {
            "field": self.field,
            "values": list(self.values.vocabulary),
            "other": self.values.vocabulary[other] if other >= 0 else None,
        }

    @property
    def outcomes(self) -> list[PublicOutcome]:
        """See `Mechanism.outcomes`."""
        return [PublicOutcome(k, value, (value,)) for k, value in enumerate(self.values.vocabulary)]

    @property
    def noise_bytes(self) -> int:
        """See `Mechanism.noise_bytes`: 64 bits."""
        return 8

    def encoding(self, settings: ReleaseSettings) -> Encoding:
        """See `Mechanism.encoding`: a value is taken as it stands, so nothing of it is chosen."""
        belongs = "belongs to texts, and a field has none: leave it out"
        without(settings, dict.fromkeys(("order", "reference", "embeddings", "first", "epsilon"), belongs))
        return Encoding.of("glove", stop_words="none", padded=False)

    def check(self, encoding: Encoding) -> None:
        """See `Mechanism.check`: nothing of an encoding matters."""

    def check_documents(self, texts: Iterable[str]) -> None:
        """See `Mechanism.check_documents`: `DataError`, with their number, for values that were not declared.

        Where they count as another value, for a field in which no document has anything: its name is misspelt.
        """
        undeclared = total = empty = 0
        for text in texts:
            total += 1
            undeclared += self.values.index(compared(text)) is None
            empty += not text.strip()
        if empty == total > 0:
            raise DataError(
                f"none of {how_many(total, 'document')} has anything in the field {self.field!r}: name a field that "
                "they have"
            )
        if undeclared and self.values.unknown_index < 0:
            rows = how_many(total, "document")
            raise self._undeclared(how_many(undeclared, f"of {rows} has", f"of {rows} have"))

    def public_inputs(self, encoding: Encoding) -> dict[str, Any]:
        """See `Mechanism.public_inputs`."""
        none = ("reference", "reference_sha256", "reference_words", "embeddings", "dimension", "first")
        return {"preserve": self.preserve, **dict.fromkeys(none)}

    def batch_size(self) -> int:
        """See `Mechanism.batch_size`."""
        return _BATCH

    def indices(self, words: Sequence[str]) -> IndexArray:
        """See `Mechanism.indices`."""
        return self._own([" ".join(words)])

    def _own(self, texts: Sequence[str]) -> IndexArray:
        places = np.array(
            [self.values.places.get(compared(text), self.values.unknown_index) for text in texts], np.int64
        )
        if (places < 0).any():
            raise self._undeclared(how_many(int((places < 0).sum()), "document has", "documents have"))
        return places

    def _undeclared(self, who: str) -> DataError:
        return DataError(
            f"{who} no declared value in the field {self.field!r}: declare all of its values, or name "
            "with --other the one that stands for the rest"
        )

    def draw(
        self, documents: Sequence[IndexArray], generators: Iterable[Generator], *, threads: int | None = None
    ) -> Sequence[Outcome]:
        """See `Mechanism.draw`; a document is the place of its value."""
        bits = [bytes(rng.bit_generator.random_raw(1).tobytes()[:8]) for rng in generators]
        return self._drawn(np.array([int(document[0]) for document in documents], np.int64), bits)

    def protect(
        self,
        texts: Sequence[str],
        ids: Sequence[str],
        encoding: Encoding,
        key: RunKey,
        *,
        threads: int | None = None,
    ) -> Drawn:
        """See `Mechanism.protect`; a text is the value of the field."""
        undeclared = sum(self.values.index(compared(text)) is None for text in texts)
        return Drawn(self._drawn(self._own(texts), key.bits(ids, self.noise_bytes)), len(texts), undeclared)

    def _drawn(self, own: IndexArray, bits: Sequence[bytes]) -> list[Outcome]:
        """The outcome of each document for its 62 bits: below k floors any value, otherwise its own."""
        numbers = (np.frombuffer(b"".join(bits), "<u8") >> np.uint64(2)).astype(np.int64)
        anyone = numbers < self.values.size * self._floor
        chosen = np.where(anyone, numbers // self._floor, own).tolist()
        return [self._outcomes[place] for place in chosen]

    @functools.cached_property
    def _outcomes(self) -> list[Outcome]:
        return [Outcome(k, value, Bag([value])) for k, value in enumerate(self.values.vocabulary)]

    def weights(self, documents: Sequence[IndexArray]) -> IndexArray:
        """See `Mechanism.weights`: the same floor for every value, and the rest for a document's own."""
        law = np.full((len(documents), self.values.size), self._floor, np.int64)
        own = [int(document[0]) for document in documents]
        law[np.arange(len(own)), own] += TOTAL - self.values.size * self._floor
        return law

    def compare(self, a: Encoded, b: Encoded, encoding: Encoding) -> Comparison:
        """See `Mechanism.compare`: two values are the same or as far apart as any two."""
        return Comparison(None, self._bound, 0.0)

    def at_distance(self, distance: float) -> Comparison:
        """See `Mechanism.at_distance`."""
        raise UsageError("values of a field have no distance: the bound holds between any two documents")
