"""fastText as the paper's topic classifier: 25 epochs, learning rate 1.0 (DRtopic), from scratch or from vectors."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from typing import Any, Final, Self

import numpy as np

from publius.arrays import Float64Array
from publius.errors import UsageError, extra
from publius.evaluation.attackers.counting import Attacker

_LABEL: Final = "__label__"


class FastText(Attacker):
    """fastText's linear classifier, on one thread, so that the same texts give the same model.

    ``subwords`` ("3-6") are the shortest and longest character n-grams that words are made of beside themselves; ``vectors``
    name word vectors that it starts from. Of a share held out for ``validation`` the accuracy is ``validation_``; the model
    that answers has learned from all.
    """

    def __init__(
        self, epochs: int = 25, rate: float = 1.0, dimension: int = 100, subwords: str = "0-0",
        vectors: Any = None, validation: float = 0.0, seed: int = 0,
    ) -> None:  # fmt: skip
        self.epochs, self.rate, self.dimension, self.subwords = epochs, rate, dimension, subwords
        self.vectors, self.validation, self.seed = vectors, validation, seed

    def check(self) -> None:
        """`UsageError` for parameters that do not exist, `MissingExtraError` without fastText."""
        try:
            shortest, longest = map(int, str(self.subwords).split("-"))
        except ValueError:
            shortest, longest = 1, 0
        if not (0 <= shortest <= longest and 0 <= self.validation < 1 and self.dimension >= 1):
            raise UsageError(
                "fasttext: subwords are two lengths such as 3-6, validation is a share below 1, dimension is from 1."
            )
        with extra("fasttext", "fasttext-community"):
            import fasttext  # noqa: F401

    def fit(self, texts: Sequence[str], labels: Sequence[str]) -> Self:
        """Train on ``texts``."""
        self.classes_ = np.unique(labels)
        self.validation_, self.validation_texts_ = None, 0
        if self.validation:
            every = max(2, round(1 / self.validation))
            known = [place for place in range(len(texts)) if place % every != every - 1]
            self.model_ = self._trained([texts[at] for at in known], [labels[at] for at in known])
            found, truth = self.predict(texts[every - 1 :: every]), np.array(labels[every - 1 :: every])
            self.validation_, self.validation_texts_ = float((found == truth).mean()), len(truth)
        self.model_ = self._trained(texts, labels)
        return self

    def decision_function(self, texts: Sequence[str]) -> Float64Array:
        """The probability of each label."""
        scores = np.zeros((len(texts), len(self.classes_)))
        for row, text in enumerate(texts):
            labels, chances = self.model_.predict(" ".join(text.split()), k=-1)
            for label, chance in zip(labels, chances, strict=True):
                scores[row, int(label.removeprefix(_LABEL))] = chance
        return scores

    def _trained(self, texts: Sequence[str], labels: Sequence[str]) -> Any:
        import fasttext

        rows = zip(np.searchsorted(self.classes_, labels).tolist(), texts, strict=True)
        lines = "".join(f"{_LABEL}{label} {' '.join(text.split())}\n" for label, text in rows)
        shortest, longest = map(int, str(self.subwords).split("-"))
        options: dict[str, Any] = {"dim": self.dimension}
        with ExitStack() as files:
            if self.vectors is not None:
                from publius.embeddings.embeddings import Embeddings

                vectors = self.vectors if isinstance(self.vectors, Embeddings) else Embeddings.load(self.vectors)
                named = zip(vectors.vocabulary, vectors.vectors.tolist(), strict=True)
                given = (f"{word.replace(' ', '_')} {' '.join(f'{x:.6g}' for x in vector)}\n" for word, vector in named)
                text = f"{vectors.size} {vectors.dimension}\n{''.join(given)}"
                options = {"dim": vectors.dimension, "pretrainedVectors": files.enter_context(_file_of(text.encode()))}
            return fasttext.train_supervised(
                files.enter_context(_file_of(lines.encode())), epoch=self.epochs, lr=self.rate, minn=shortest,
                maxn=longest, thread=1, verbose=0, seed=self.seed, minCount=1, **options,
            )  # fmt: skip


@contextmanager
def _file_of(data: bytes) -> Iterator[str]:
    """A path that has ``data``, in memory: texts are not to be copied to a disk."""
    with os.fdopen(os.memfd_create("publius"), "wb") as stream:
        stream.write(data)
        stream.flush()
        yield f"/proc/self/fd/{stream.fileno()}"
