"""fastText as the paper's topic classifier: 25 epochs, learning rate 1.0 (DRtopic), from scratch or from vectors."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from typing import Any, final

import numpy as np

from publius.arrays import Float64Array
from publius.errors import UsageError, extra
from publius.evaluation.attackers.base import AbstractAttacker
from publius.text.bag import Bag
from publius.vectors.embeddings import Embeddings

_LABEL = "__label__"


def fasttext_installed() -> bool:
    """Whether the extra ``fasttext`` is there."""
    from importlib.util import find_spec

    return find_spec("fasttext") is not None


@final
class FastText(AbstractAttacker):
    """fastText's linear classifier on a bag's words, in sorted order: a release has no other.

    One thread, so that the same seed gives the same model. ``subwords`` are the shortest and longest character n-grams
    that words are made of, besides themselves; (0, 0) for none. With ``vectors`` it starts from public word vectors,
    whose dimension it takes. With a share of the texts held out for ``validation``, every so many-th, its accuracy
    on them stands in ``facts_``; the model that answers has learned from all.
    """

    def __init__(
        self,
        *,
        epochs: int = 25,
        rate: float = 1.0,
        dimension: int = 100,
        subwords: tuple[int, int] = (0, 0),
        vectors: Embeddings | None = None,
        validation: float = 0.0,
        seed: int = 0,
    ) -> None:
        if not 0 <= validation < 1:
            raise UsageError(
                f"the share held out for validation must be from 0 and below 1, not {validation!r}"
            )
        if dimension < 1 or not 0 <= subwords[0] <= subwords[1]:
            raise UsageError(
                "a dimension is from 1, and subwords are the shortest and longest length, such as 3-6"
            )
        self.epochs, self.rate, self.seed = epochs, rate, seed
        self.dimension = dimension if vectors is None else vectors.dimension
        self.subwords, self.vectors, self.validation = subwords, vectors, validation
        self._model: Any = None

    def _learn(self, X: Sequence[Bag], y: Sequence[str]) -> None:
        self.facts_ = {}
        if self.validation:
            every = max(2, round(1 / self.validation))
            held = [place for place in range(len(X)) if place % every == every - 1]
            kept = [place for place in range(len(X)) if place % every != every - 1]
            self._model = self._trained([X[at] for at in kept], [y[at] for at in kept])
            if held:
                right = sum(self._named(X[at]) == y[at] for at in held)
                self.facts_ = {"validation": right / len(held), "validation_texts": len(held)}
        self._model = self._trained(X, y)

    def _trained(self, X: Sequence[Bag], y: Sequence[str]) -> Any:
        with extra("fasttext", "fasttext-community"):
            import fasttext
        lines = [
            f"{_LABEL}{self.classes_.index(label)} {_line(bag)}\n" for bag, label in zip(X, y, strict=True)
        ]
        with ExitStack() as files:
            path = files.enter_context(_file_of("".join(lines).encode()))
            given = {} if self.vectors is None else {
                "pretrainedVectors": files.enter_context(_file_of(_as_text(self.vectors)))
            }  # fmt: skip
            return fasttext.train_supervised(
                path, epoch=self.epochs, lr=self.rate, dim=self.dimension, minn=self.subwords[0],
                maxn=self.subwords[1], thread=1, verbose=0, seed=self.seed % 2**31, minCount=1, **given,
            )  # fmt: skip

    def _named(self, bag: Bag) -> str:
        labels, _ = self._model.predict(_line(bag), k=1)
        return self.classes_[int(labels[0].removeprefix(_LABEL))]

    def _scores(self, X: Sequence[Bag]) -> Float64Array:
        scores = np.zeros((len(X), len(self.classes_)))
        for row, bag in enumerate(X):
            labels, chances = self._model.predict(_line(bag), k=-1)
            for label, chance in zip(labels, chances, strict=True):
                scores[row, int(label.removeprefix(_LABEL))] = chance
        return scores


def _line(bag: Bag) -> str:
    """The words of a bag; the end-of-line token that fastText adds is the only other."""
    return " ".join(word.replace(" ", "_") for word in bag.words())


def _as_text(vectors: Embeddings) -> bytes:
    """Word vectors in fastText's own format; a word with a space is written as in `_line`."""
    words = (vectors.word(place).replace(" ", "_") for place in range(vectors.size))
    rows = (" ".join(f"{value:.6g}" for value in row) for row in vectors.vectors.tolist())
    lines = (f"{word} {row}\n" for word, row in zip(words, rows, strict=True))
    return f"{vectors.size} {vectors.dimension}\n{''.join(lines)}".encode()


@contextmanager
def _file_of(data: bytes) -> Iterator[str]:
    """A path that has ``data``: in memory where the system can, for texts are not to be copied to a disk (R17)."""
    if hasattr(os, "memfd_create"):
        descriptor = os.memfd_create("publius")
        try:
            with os.fdopen(os.dup(descriptor), "wb") as stream:
                stream.write(data)
            yield f"/proc/self/fd/{descriptor}"
        finally:
            os.close(descriptor)
    else:
        with tempfile.NamedTemporaryFile() as file:  # made with mode 0600
            file.write(data)
            file.flush()
            yield file.name
