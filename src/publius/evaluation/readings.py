"""How the texts of an evaluation are read for a mechanism: with word vectors, or whole with a public reference."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, final

import numpy as np

from publius.arrays import IndexArray
from publius.documents.corpus import Document, open_corpus
from publius.errors import PubliusError, UsageError
from publius.evaluation.data import Dataset, LabeledText
from publius.evaluation.encoding import EncodedText
from publius.evaluation.steps.older import plain_letters, texts_at
from publius.mechanisms.whole import LENGTH
from publius.settings import UnknownPolicy
from publius.text.bag import UNKNOWN, Encoding, words_of_all
from publius.text.tokenizer import StopWords
from publius.vectors.embeddings import Embeddings
from publius.vectors.learning.prototypes import THEMES
from publius.vectors.learning.public_words import stated_of_vectors
from publius.vectors.learning.reference import Reference, remembered_texts

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


def without_learned(
    dataset: Dataset, public: Embeddings | Reference, corpus: str, learned: Path | None = None
) -> Dataset:
    """The texts that are attacked without those that ``public``, with which they are protected, was learned from.

    On these it hardly errs, and by its errors authors are found beside the topic: they would flatter it. ``corpus`` is
    where the texts lie, ``learned`` rows that it may have been learned from, beside the place that it remembers. Where
    all of its texts are at neither place, what is found says so. `UsageError` where fewer than two texts are left.
    """
    vectors = isinstance(public, Embeddings)
    if stated_of_vectors(public.source) is None if vectors else public.source.get("format") == THEMES:
        return dataset  # from no texts that anybody has
    what = "the word vectors" if vectors else "the reference"
    seen, all_of_them = _learned_letters(public, learned)
    kept = tuple(text for text in dataset.unknown if plain_letters(text.whole or text.text) not in seen)
    same = not all_of_them and _corpus_sha256(corpus) == public.source.get("corpus_sha256")
    if len(kept) < 2 or same:
        raise UsageError(
            f"{what} learned from these texts, so too few are left that can be attacked fairly: name public texts that "
            "it did not learn from, or publius start, which learns from one half and attacks the other"
        )
    said, left = dataset.split, len(dataset.unknown) - len(kept)
    if left:
        said += f"; of those to be attacked {left:,} that {what} learned from {'is' if left == 1 else 'are'} left out"
    both = {text.author for text in kept if text.author} & _authors_of(learned)
    dataset = replace(dataset, unknown=kept, split=said, learned_authors=len(both))
    if all_of_them:
        return dataset
    unlooked = (
        f"nobody could look whether {what} learned from these texts, as the texts that it was learned from are not "
        "where they were"
    )
    return replace(dataset, unlooked=unlooked)


def _authors_of(learned: Path | None) -> set[str]:
    """Who wrote the rows that were learned from, as `publius start` writes them."""
    if learned is None:
        return set()
    corpus = replace(open_corpus(learned, number=True, keep=["author"]), gaps=True)
    return {item.labels["author"] for item in corpus if isinstance(item, Document)}


def _learned_letters(public: Embeddings | Reference, learned: Path | None) -> tuple[set[str], bool]:
    """The texts that it was learned from, as far as they are at hand, as letters, and whether these are all."""
    found: set[str] = set()
    remembered = None if public.folder is None else remembered_texts(public.folder)
    for place in (remembered, None if learned is None else (learned, "text")):
        if place is not None:
            with suppress(PubliusError):
                found.update(plain_letters(text) for text in texts_at(*place))
                if _corpus_sha256(place[0]) == public.source.get("corpus_sha256"):
                    return found, True
    return found, False


def _corpus_sha256(corpus: str | Path) -> str:
    """As what was learned from the same files keeps it; empty where they are no rows."""
    with suppress(PubliusError):
        return open_corpus(corpus, number=True).sha256()
    return ""


def length_with_reference(request: EvaluationRequest) -> int:
    """Words of a bag that is drawn from a reference: as many as were asked for, or a release's default."""
    return request.length if isinstance(request.length, int) else LENGTH
