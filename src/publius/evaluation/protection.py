"""Texts through a mechanism for an experiment, with what only the experimenter may know: what became of each word."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import final

import numpy as np

from publius.arrays import IndexArray
from publius.evaluation.encoding import OUTSIDE, EncodedText
from publius.mechanisms.kernel import Kernel
from publius.noise.randomness import RunKey
from publius.text.bag import UNKNOWN, Bag
from publius.vectors.embeddings import Embeddings

BATCH_WORDS = 8_192


@final
@dataclass(frozen=True, slots=True)
class ProtectedText:
    """A protected text, still beside its original: never for release.

    ``words`` are in the order of the text; ``bag`` is what a release would hold, and ``prototype`` the number of the
    public prototype that it names, if it does.
    """

    text: EncodedText
    outputs: IndexArray = field(repr=False)
    words: tuple[str, ...] = field(repr=False)
    bag: Bag
    prototype: int | None = None


def protect_texts(
    texts: Sequence[EncodedText], mechanism: Kernel, key: RunKey, stream: str
) -> list[ProtectedText]:
    """Each of ``texts`` through ``mechanism``, searched together batch by batch.

    A text's noise comes from ``key``, ``stream`` and its id only, so runs with other epsilons or mechanisms of the
    same noise are paired. Words outside the vocabulary pass as they stand.
    """
    protected: list[ProtectedText] = []
    batch: list[EncodedText] = []
    for position, text in enumerate(texts, start=1):
        batch.append(text)
        if position == len(texts) or sum(len(part.indices) for part in batch) >= BATCH_WORDS:
            protected += _protect_batch(batch, mechanism, key, stream)
            batch = []
    return protected


def _protect_batch(
    batch: Sequence[EncodedText], mechanism: Kernel, key: RunKey, stream: str
) -> list[ProtectedText]:
    inside = [text.indices[text.indices != OUTSIDE] for text in batch]
    parts = mechanism.draw(inside, (key.rng(f"{stream}/{text.id}") for text in batch), threads=1)
    return [_protected(text, part, mechanism.embeddings) for text, part in zip(batch, parts, strict=True)]


def _protected(text: EncodedText, found: IndexArray, embeddings: Embeddings) -> ProtectedText:
    outputs = text.indices.copy()
    outputs[outputs != OUTSIDE] = found
    words = tuple(
        word if index == OUTSIDE else embeddings.vocabulary[index]
        for word, index in zip(text.words, outputs.tolist(), strict=True)
    )
    return ProtectedText(text, outputs, words, Bag(words))


@final
@dataclass(frozen=True, slots=True)
class Displacement:
    """The effect of protection on the words: the share that changed, and how far they went on average."""

    changed: float
    mean_distance: float


def displacement(protected: Sequence[ProtectedText], mechanism: Kernel) -> Displacement:
    """Over all words of the texts that the vocabulary has; unknown tokens, kept words and pads are not counted."""
    before, after = [], []
    for item in protected:
        counted = np.array([word != UNKNOWN for word in item.text.words]) & (item.text.indices != OUTSIDE)
        counted[item.text.real :] = False
        before.append(item.text.indices[counted])
        after.append(item.outputs[counted])
    x, y = np.concatenate(before), np.concatenate(after)
    if not len(x):
        return Displacement(0.0, 0.0)
    vectors = mechanism.embeddings.vectors
    distances = mechanism.metric.paired(vectors[x], vectors[y])
    return Displacement(float((x != y).mean()), float(distances.mean()))
