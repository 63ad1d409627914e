"""Labelled texts as the words a mechanism takes: the same way from text to words as a release."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import final

import numpy as np

from publius.arrays import IndexArray
from publius.errors import DocumentError
from publius.evaluation.data import Dataset, LabeledText
from publius.noise.randomness import RunKey
from publius.settings import EvaluationSettings, Training
from publius.text.bag import UNKNOWN, Bag, Encoding, words_of
from publius.text.pads import BYTES, drawn_pads
from publius.text.tokenizer import StopWords
from publius.vectors.embeddings import Embeddings

OUTSIDE = -1
"""The index of a word outside the vocabulary that an experiment lets through."""


@final
@dataclass(frozen=True, slots=True)
class EncodedText:
    """The words of one text, in its order: for this process only, never for output.

    ``indices`` are the places of the ``words`` in the vocabulary, the unknown token at its public place and a word
    that an experiment keeps at `OUTSIDE`. The last ``padding`` words are not the text's: a short one is filled up
    before it is protected; ``others`` are as many, drawn by somebody who has the text and not what it was filled up
    with. ``part`` and ``place`` are as in `LabeledText`.
    """

    id: str
    author: str | None
    topic: str | None
    words: tuple[str, ...] = field(repr=False)
    indices: IndexArray = field(repr=False)
    sensitive: str | None = field(default=None, repr=False)
    padding: int = 0
    others: IndexArray | None = field(default=None, repr=False)
    part: int | None = None
    place: str = field(default="", repr=False)

    @property
    def real(self) -> int:
        """How many of the words are the text's own."""
        return len(self.indices) - self.padding

    @property
    def guessed(self) -> IndexArray:
        """The indices as somebody knows them who has the text."""
        return (
            self.indices if self.others is None else np.concatenate([self.indices[: self.real], self.others])
        )

    @property
    def bag(self) -> Bag:
        """The text's own words without order, as an adversary would see them unprotected."""
        return Bag(self.words[: self.real])

    @property
    def filled(self) -> Bag:
        """The words that are protected, without order."""
        return Bag(self.words)

    def label(self, task: str) -> str:
        """The author, the topic, or the sensitive value."""
        return {"author": self.author, "topic": self.topic, "sensitive": self.sensitive}[task] or ""


@final
@dataclass(frozen=True, slots=True, eq=False)
class EncodedDataset:
    """A `Dataset` in words. ``unknown`` texts have exactly ``size`` words each."""

    known: tuple[EncodedText, ...]
    unknown: tuple[EncodedText, ...]
    topics: tuple[EncodedText, ...]
    size: int

    @property
    def parts(self) -> tuple[int | None, ...]:
        """The parts that are attacked one after the other; one that is None where the texts are in none."""
        return tuple(dict.fromkeys(text.part for text in self.unknown))

    @property
    def crossed(self) -> bool:
        """As `Dataset.crossed`."""
        return self.parts != (None,)

    @property
    def topic_training(self) -> tuple[EncodedText, ...]:
        """As `Dataset.topic_training`."""
        return (*self.known, *self.topics) if self.crossed else self.topics or self.known


def without_rejected(
    dataset: Dataset, embeddings: Embeddings, encoding: Encoding
) -> tuple[Dataset, Encoding]:
    """The texts that a release with the policy "reject" would not refuse: those that are attacked.

    Known and topic texts are the adversaries' own, so there unknown words are left out. `DocumentError` where every
    attacked text has a word outside the vocabulary.
    """
    if encoding.unknown != "reject":
        return dataset, encoding
    lenient = replace(encoding, unknown=EvaluationSettings.unknown)
    kept = tuple(text for text in dataset.unknown if not words_of(text.text, embeddings, lenient).unknown)
    left = len(dataset.unknown) - len(kept)
    if len(kept) < 2:
        raise DocumentError(
            f"{left:,} of {len(dataset.unknown):,} attacked texts have words outside the vocabulary, which --unknown "
            "reject refuses: too few are left. Give texts that are covered, or other vectors"
        )
    said = f"; {left:,} texts with words outside the vocabulary are left out, as a release refuses them"
    found = replace(dataset, unknown=kept, split=dataset.split + said) if left else dataset
    return found, replace(encoding, unknown="drop")


def encode_dataset(
    dataset: Dataset,
    embeddings: Embeddings,
    encoding: Encoding,
    training: Training = EvaluationSettings.training,
) -> EncodedDataset:
    """The dataset's words under ``encoding``; its length N, or the shortest text's where it is None.

    With the training "same", known and topic texts are cut to the first N words too, as in the paper, and filled up
    where they are protected for adaptive adversaries; with "all" an adversary learns from every word of them. Raises
    `DocumentError` for a known or unknown text without a word.
    """
    whole = replace(encoding, length=None)
    known = [_encoded(text, embeddings, whole) for text in dataset.known]
    unknown = [_encoded(text, embeddings, whole) for text in dataset.unknown]
    topics = [_encoded(text, embeddings, whole) for text in dataset.topics]
    _check_words([*known, *unknown])
    size = encoding.length or _shortest([*known, *unknown] if training == "same" else unknown)

    def ready(text: EncodedText) -> EncodedText:
        return _padded(_cut(text, size), size, embeddings, encoding.stop_words)

    learned = ready if training == "same" else _whole
    return EncodedDataset(
        tuple(map(learned, known)),
        tuple(map(ready, unknown)),
        tuple(learned(text) for text in topics if text.words),
        size,
    )


def _whole(text: EncodedText) -> EncodedText:
    return text


def _encoded(text: LabeledText, embeddings: Embeddings, encoding: Encoding) -> EncodedText:
    words = tuple(words_of(text.text, embeddings, encoding).words)
    places = [embeddings.unknown_index if word == UNKNOWN else embeddings.index(word) for word in words]
    indices = np.array([OUTSIDE if place is None else place for place in places], np.int64)
    return EncodedText(
        text.id, text.author, text.topic, words, indices, text.sensitive, part=text.part, place=text.place
    )


def _check_words(texts: Iterable[EncodedText]) -> None:
    for text in texts:
        if not text.words:
            raise DocumentError(
                f"{text.place or 'a text'} is empty: no word is left of it; leave it out, or choose other stop "
                "words or embeddings"
            ).of(text.id)


def _shortest(texts: Sequence[EncodedText]) -> int:
    return min(len(text.words) for text in texts)


def _cut(text: EncodedText, size: int) -> EncodedText:
    return replace(text, words=text.words[:size], indices=text.indices[:size])


def _padded(text: EncodedText, size: int, embeddings: Embeddings, stop_words: StopWords) -> EncodedText:
    """Filled up with public words, drawn as a release draws them; the same in every repeat."""
    missing = size - len(text.words)
    if not missing:
        return text
    pads, others = (
        drawn_pads(embeddings, stop_words, RunKey.seeded(seed).bits([text.id], BYTES * missing)[0])
        for seed in (0, 1)
    )
    words = [embeddings.vocabulary[place] for place in pads.tolist()]
    return replace(
        text,
        words=(*text.words, *words),
        indices=np.concatenate([text.indices, pads]),
        padding=missing,
        others=others,
    )
