"""A document mechanism in an evaluation: the whole text is read, a bag of public words comes out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from statistics import median
from typing import TYPE_CHECKING, final

import numpy as np

from publius.arrays import Float64Array, IndexArray
from publius.evaluation.data import Dataset, LabeledText
from publius.evaluation.encoding import OUTSIDE, EncodedText
from publius.evaluation.neighborhood import MOST_TEXTS, nearest_others
from publius.evaluation.originals import exact_success
from publius.evaluation.protection import Protected
from publius.evaluation.protectors import AbstractProtector, Originals
from publius.mechanisms.prototype import Prototype
from publius.mechanisms.whole import LENGTH, WholeDocument
from publius.noise.randomness import Generator, RunKey
from publius.settings import UnknownPolicy
from publius.text.bag import UNKNOWN, Encoding, words_of_all
from publius.text.tokenizer import StopWords
from publius.vectors.learning.reference import Reference

if TYPE_CHECKING:
    from publius.evaluation.runner import Request

Documents = Mapping[str, IndexArray]
"""The words of each text by its id, as indices into a reference's vocabulary."""


def read_documents(
    texts: Sequence[LabeledText],
    reference: Reference,
    first: int | None = None,
    unknown: UnknownPolicy = "drop",
) -> dict[str, IndexArray]:
    """The ``first`` words, or all, of each text that the reference knows, as a release reads them."""
    stops = StopWords.load(reference.stop_words)
    encoding = Encoding(None, unknown, stops, reference.tokenizer)
    found = words_of_all([text.text for text in texts], reference, encoding)
    return {text.id: _indices(each.words[:first], reference) for text, each in zip(texts, found, strict=True)}


def _median(values: Sequence[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return median(known) if known else None


def _indices(words: Sequence[str], reference: Reference) -> IndexArray:
    places = [reference.unknown_index if word == UNKNOWN else reference.index(word) for word in words]
    return np.array(places, np.int64)


def document_choices(request: Request, dataset: Dataset) -> DocumentChoices | None:
    """What document mechanisms of ``request`` are tried with; None where there are none."""
    if not request.of_documents or request.reference is None:
        return None
    reference = Reference.load(request.reference)
    texts = (*dataset.known, *dataset.unknown, *dataset.topics)
    length = document_length(request)
    return DocumentChoices(
        reference,
        request.preserve,
        length,
        read_documents(texts, reference, request.first, request.document_unknown),
    )


def document_length(request: Request) -> int:
    """Words of a bag that a document mechanism releases: as many as were asked for, or a release's default."""
    return request.length if isinstance(request.length, int) else LENGTH


@final
@dataclass(frozen=True, slots=True)
class DocumentChoices:
    """What document mechanisms are tried with: a public reference, what is kept, and every text's words in it.

    ``length`` is the public number of words of a released bag.
    """

    reference: Reference
    preserve: str
    length: int
    words: dict[str, IndexArray] = field(repr=False)


@final
class DocumentProtector(AbstractProtector):
    """A document mechanism on the texts of an evaluation, whose words are in ``documents``."""

    level = "document"

    def __init__(self, mechanism: WholeDocument, documents: Documents) -> None:
        self.document_mechanism, self._documents = mechanism, documents
        guarantee = mechanism.guarantee
        self.epsilon, self.bound, self.delta = guarantee.epsilon, guarantee.bound, guarantee.bound_delta
        self.exact = isinstance(mechanism, Prototype)
        self.promised = True

    def protect(self, texts: Sequence[EncodedText], key: RunKey, stream: str) -> list[Protected]:
        """See `AbstractProtector.protect`."""
        generators = [key.rng(f"{stream}/{text.id}") for text in texts]
        found = self.document_mechanism.draw(self._of(texts), generators)
        outside = np.full(self.document_mechanism.length, OUTSIDE, np.int64)
        return [
            Protected(text, outside, tuple(outcome.bag.words()), outcome.bag, outcome.prototype)
            for text, outcome in zip(texts, found, strict=True)
        ]

    def moved(self, released: Sequence[Protected]) -> tuple[float | None, float | None]:
        """See `AbstractProtector.moved`: nothing is replaced word by word."""
        return None, None

    def originals(
        self, texts: Sequence[EncodedText], released: Sequence[Protected], rng: Generator
    ) -> Originals:
        """Exact from the law over prototypes: the words that leave are drawn from the prototype alone.

        The noisy position of the other mechanism is not released, so there he compares positions: an attack.
        """
        mechanism, documents = self.document_mechanism, self._of(texts)
        if isinstance(mechanism, Prototype):
            law = mechanism.law(documents)
            scores = np.log(law[:, [item.prototype or 0 for item in released]].T)
            return Originals(exact_success(law, [text.label("author") for text in texts]), scores, law)
        places = mechanism.positions(documents)
        seen = mechanism.positions([mechanism.indices(item.words) for item in released])
        gaps = np.sqrt(((seen[:, None] - places[None]) ** 2).sum(axis=2))
        return Originals(None, np.asarray(-(self.epsilon or 1.0) * gaps))

    def informed(
        self, known: Sequence[EncodedText], labels: Sequence[str], released: Sequence[Protected]
    ) -> tuple[list[str], Float64Array] | None:
        """The labels, and for each release how likely it is under the known texts of each, shape (releases, labels).

        None where the law over outcomes cannot be written down.
        """
        mechanism = self.document_mechanism
        if not isinstance(mechanism, Prototype):
            return None
        law = mechanism.law(self._of(known))
        names = sorted(set(labels))
        means = np.array([law[[label == name for label in labels]].mean(axis=0) for name in names])
        return names, means[:, [item.prototype or 0 for item in released]].T

    def exponents(self, texts: Sequence[EncodedText]) -> dict[str, float | None]:
        """Medians over the texts of the nats to the nearest other, the nearest of the topic, the median of the topic.

        Exact from the law over prototypes: the largest logarithm of a ratio of probabilities. For a position what
        the guarantee states for the distance of the two: epsilon times it, at most the bound. Of more than
        `MOST_TEXTS` texts the first ones are compared.
        """
        chosen = texts[:MOST_TEXTS]
        mechanism, documents = self.document_mechanism, self._of(chosen)
        if isinstance(mechanism, Prototype):
            logs = np.log(mechanism.law(documents))
            table = np.array([np.abs(logs - row).max(axis=1) for row in logs])
        else:
            places = mechanism.positions(documents)
            gaps = np.sqrt(((places[:, None] - places[None]) ** 2).sum(axis=2))
            table = np.minimum((self.epsilon or np.inf) * gaps, self.bound or np.inf)
        names = ("nearest", "same_topic", "typical_same_topic")
        return {
            name: _median(values) for name, values in zip(names, nearest_others(table, chosen), strict=True)
        }

    def _of(self, texts: Sequence[EncodedText]) -> list[IndexArray]:
        return [self._documents[text.id] for text in texts]
