"""fastText as the paper's topic classifier: 25 epochs, learning rate 1.0 (DRtopic)."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any, final

import numpy as np

from publius.arrays import Float64Array
from publius.errors import extra
from publius.evaluation.attackers.base import AbstractAttacker
from publius.text.bag import Bag

_LABEL = "__label__"


def fasttext_installed() -> bool:
    """Whether the extra ``fasttext`` is there."""
    from importlib.util import find_spec

    return find_spec("fasttext") is not None


@final
class FastText(AbstractAttacker):
    """fastText's linear classifier on a bag's words, in sorted order: a release has no other.

    One thread, so that the same seed gives the same model.
    """

    def __init__(self, *, epochs: int = 25, rate: float = 1.0, seed: int = 0) -> None:
        self.epochs, self.rate, self.seed = epochs, rate, seed
        self._model: Any = None

    def _learn(self, X: Sequence[Bag], y: Sequence[str]) -> None:
        with extra("fasttext", "fasttext-community"):
            import fasttext
        lines = [
            f"{_LABEL}{self.classes_.index(label)} {_line(bag)}\n" for bag, label in zip(X, y, strict=True)
        ]
        with _file_of("".join(lines).encode()) as path:
            self._model = fasttext.train_supervised(
                path, epoch=self.epochs, lr=self.rate, thread=1, verbose=0, seed=self.seed % 2**31, minCount=1
            )

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
