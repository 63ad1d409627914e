"""What every word mechanism is: a random draw and a deterministic map.

By the lifting theorem (theory.md section 2) any mechanism that is epsilon*d-private on single words makes bags of
N words (epsilon*N)*E_d-private when it is applied to each word independently.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from typing import Any, ClassVar, final

import numpy as np

from publius.arrays import Float64Array, IndexArray
from publius.distances.metrics import AbstractMetric
from publius.errors import DataError, UsageError
from publius.mechanisms.threads import processors
from publius.noise.randomness import Generator, system_rng
from publius.privacy.guarantee import Guarantee
from publius.text.bag import UNKNOWN, Bag
from publius.vectors.embeddings import Embeddings


class AbstractMechanism(ABC):
    """A randomized map from vocabulary words to vocabulary words.

    To add one, write one class: ``name``, ``guarantee``, ``noise`` and ``apply``, and list it in
    `publius.mechanisms.registry`. A mechanism whose guarantee has the evidence "none" is refused by a release.

    Attributes:
        name: as given on the command line and written in the manifest.
        embeddings: the public vocabulary with its vectors.
        metric: d, in which the guarantee is stated.
        epsilon: per unit of d.
        batch_words: words that are best given to ``apply`` together; it never changes a result.

    """

    name: ClassVar[str]
    batch_words: ClassVar[int] = 4096  # enough for BLAS, 10 MB of noise at 300 dimensions
    embeddings: Embeddings
    metric: AbstractMetric
    epsilon: float

    def __setattr__(self, name: str, value: object) -> None:
        """Refuse to change what the guarantee was computed for."""
        if name in ("embeddings", "metric", "epsilon") and name in self.__dict__:
            raise UsageError(f"the {name} of a mechanism cannot be changed: make another mechanism")
        super().__setattr__(name, value)

    @property
    @abstractmethod
    def guarantee(self) -> Guarantee:
        """The guarantee of a single word."""

    @property
    def parameters(self) -> dict[str, Any]:
        """Public parameters beyond epsilon and metric, for the manifest."""
        return {}

    @abstractmethod
    def noise(self, count: int, rng: Generator) -> Float64Array:
        """Randomness for ``count`` words, one row a word; it does not depend on the words."""

    @abstractmethod
    def apply(self, words: IndexArray, noise: Float64Array, *, threads: int = 1) -> IndexArray:
        """Output words for input ``words``, shape (count,), given their rows of noise.

        Deterministic; row by row, so that neither batch nor position matters, nor how many ``threads`` it may use
        (R4).
        """

    def prepare(self) -> None:  # noqa: B027  # most mechanisms have nothing to prepare
        """Make what repays itself over many documents, once, where later runs and other processes find it.

        It depends on nothing private, and the results are the same without it.
        """

    @final
    def draw(
        self, batch: Sequence[IndexArray], rngs: Iterable[Generator], *, threads: int | None = None
    ) -> list[IndexArray]:
        """Output words for each document of ``batch``, arrays of vocabulary indices: the one way to draw.

        Each document's noise comes from the generator at its place in ``rngs``, and all are searched together, so
        the result of one depends neither on the others nor on ``threads`` (default: the processors there are).
        """
        if not batch:
            return []
        noise = np.concatenate([self.noise(len(words), rng) for words, rng in zip(batch, rngs, strict=True)])
        outputs = self.apply(np.concatenate(batch), noise, threads=threads or processors())
        return np.split(outputs, np.cumsum([len(words) for words in batch])[:-1])

    @final
    def randomize(self, bag: Bag, rng: Generator | None = None) -> Bag:
        """A protected bag of the same size: Algorithm 2. Without ``rng``, fresh operating system randomness.

        Words outside the vocabulary are the public unknown token's (`DataError` otherwise): give the bag through
        `Bag.from_text`, which applies the unknown-word policy.
        """
        words = self.indices([word for word, count in bag.counts.items() for _ in range(count)])
        return self.bag(self.draw([words], [rng if rng is not None else system_rng()])[0])

    @final
    def indices(self, words: list[str]) -> IndexArray:
        """Vocabulary indices; the unknown token stands at `Embeddings.unknown_index`."""
        found = [
            self.embeddings.unknown_index if word == UNKNOWN else self.embeddings.index(word)
            for word in words
        ]
        missing = sum(index is None for index in found)
        if missing:
            raise DataError(
                f"{missing} of {len(found)} words are not in the vocabulary {self.embeddings.name!r}: make the bag "
                "with Bag.from_text, which replaces, drops or rejects unknown words"
            )
        return np.array(found, np.int64)

    @final
    def bag(self, indices: IndexArray) -> Bag:
        """The bag of the vocabulary words at ``indices``."""
        unique, counts = np.unique(indices, return_counts=True)
        vocabulary = self.embeddings.vocabulary
        return Bag.from_counts(
            {vocabulary[i]: int(c) for i, c in zip(unique.tolist(), counts.tolist(), strict=True)}
        )
