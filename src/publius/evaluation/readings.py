"""How the texts of an evaluation are read for a mechanism: with word vectors, or whole with a public reference."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, final

import numpy as np

from publius.arrays import IndexArray
from publius.evaluation.data import Dataset, LabeledText
from publius.evaluation.encoding import EncodedText
from publius.mechanisms.whole import LENGTH
from publius.settings import UnknownPolicy
from publius.text.bag import UNKNOWN, Encoding, words_of_all
from publius.text.tokenizer import StopWords
from publius.vectors.embeddings import Embeddings
from publius.vectors.learning.reference import Reference

if TYPE_CHECKING:
    from publius.evaluation.runner import EvaluationRequest


@final
@dataclass(frozen=True, slots=True)
class Reading:
    """The settings that mechanisms of one kind of reading are tried with.

    Attributes:
        public: the vectors or the reference that texts are read with.
        length: N, the public number of words of a released bag.
        unknown: what becomes of words that the public input lacks.
        words: of each text by its id, as indices into the vocabulary; None for those that a text was encoded as.
        choices: further parameters of these mechanisms.
    """

    public: Embeddings | Reference
    length: int
    unknown: str
    words: Mapping[str, IndexArray] | None = field(default=None, repr=False)
    choices: Mapping[str, Any] = field(default_factory=dict)

    def places(self, texts: Sequence[EncodedText]) -> list[IndexArray]:
        """The words of each text, as indices into the vocabulary."""
        return [text.indices if self.words is None else self.words[text.id] for text in texts]


def read_whole(
    texts: Sequence[LabeledText],
    reference: Reference,
    preserve: str,
    length: int = LENGTH,
    first: int | None = None,
    unknown: UnknownPolicy = "drop",
) -> Reading:
    """The ``first`` words, or all, of each text that the reference knows, as a release reads them."""
    stops = StopWords.load(reference.stop_words)
    encoding = Encoding(None, unknown, stops, reference.tokenizer)
    found = words_of_all([text.text for text in texts], reference, encoding)
    words = {
        text.id: _indices(each.words[:first], reference) for text, each in zip(texts, found, strict=True)
    }
    return Reading(reference, length, unknown, words, {"preserve": preserve})


def _indices(words: Sequence[str], reference: Reference) -> IndexArray:
    places = [reference.unknown_index if word == UNKNOWN else reference.index(word) for word in words]
    return np.array(places, np.int64)


def reference_reading(request: EvaluationRequest, dataset: Dataset) -> Reading | None:
    """How mechanisms of ``request`` that read with a reference read; None where there are none."""
    if request.reference is None or "reference" not in request.reads:
        return None
    texts = (*dataset.known, *dataset.unknown, *dataset.topics)
    return read_whole(
        texts,
        Reference.load(request.reference),
        request.preserve,
        length_with_reference(request),
        request.first,
        request.document_unknown,
    )


def length_with_reference(request: EvaluationRequest) -> int:
    """Words of a bag that is drawn from a reference: as many as were asked for, or a release's default."""
    return request.length if isinstance(request.length, int) else LENGTH
