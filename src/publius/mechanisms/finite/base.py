"""Mechanisms that weigh the whole vocabulary: their output probabilities are available and their constant exact."""

from __future__ import annotations

from functools import cached_property, partial
from typing import Any, ClassVar, final

import numpy as np

from publius.arrays import Float64Array, IndexArray
from publius.distances.metrics import AbstractMetric, Distances, check_laws, is_own
from publius.embeddings.embeddings import Embeddings
from publius.errors import DataError, PolicyError
from publius.mechanisms.finite import sampler
from publius.mechanisms.finite.certificate import sweep
from publius.mechanisms.finite.certificate.exact import Constant
from publius.mechanisms.finite.word_weights import Shape, uniform
from publius.mechanisms.kernel import AbstractExact
from publius.noise.randomness import Generator
from publius.privacy.guarantee import STATED, Evidence, Guarantee
from publius.settings import EUCLIDEAN


class AbstractFinite(AbstractExact):
    """An exponential-family mechanism over the vocabulary: `Shape` at a certified scale; a subclass says what shape.

    Attributes:
        shape: what is weighed.
        constant: the certificate: scale, exact constant, worst pair of words.
    """

    evidence: ClassVar[Evidence] = "certified"
    batch_words = 32_768  # more repeated words share a row
    shape: Shape
    constant: Constant

    @final
    def __init__(
        self, embeddings: Embeddings, *, epsilon: float, metric: str | AbstractMetric | Distances = EUCLIDEAN,
        **parameters: Any,
    ) -> None:  # fmt: skip
        """See `Kernel`; the scale is certified for ``epsilon``."""
        super().__init__(embeddings, epsilon=epsilon, metric=metric, **parameters)
        if is_own(self.metric):
            check_laws(self.metric, embeddings.vectors)
        self.shape, self.constant = self._certified()
        if not self.constant.epsilon <= self.epsilon:
            raise PolicyError(f"the certified constant {self.constant.epsilon!r} exceeds epsilon {self.epsilon!r}")

    def _certified(self) -> tuple[Shape, Constant]:
        shape = self._shape()
        return shape, shape.certified("epsilon", self.epsilon)

    def _shape(self) -> Shape:
        """What is weighed, the same at every scale: all words alike, unless a subclass says more."""
        return Shape(self.embeddings, self.metric, uniform(self.embeddings))

    @property
    def parameters(self) -> dict[str, Any]:
        """See `Kernel.parameters`."""
        return {"scale": self.constant.scale, "epsilon_certified": self.constant.epsilon, **vars(self.chosen)}

    @final
    @property
    def guarantee(self) -> Guarantee:
        """See `Kernel.guarantee`; certified over all pairs and outputs. That an own metric is one is its author's word.

        The realized probabilities differ from the certified ones by a relative 2^-40; where the certified constant
        leaves room for it at the smallest distance, delta is only what the uniforms cannot resolve.
        """
        room = (self.epsilon - self.constant.epsilon) * self.constant.smallest_distance
        rounded = 0.0 if room >= 2 * sampler.RELATIVE_ERROR else 2 * sampler.RELATIVE_ERROR
        evidence: Evidence = STATED if is_own(self.metric) else "certified"
        return Guarantee(self.epsilon, self.metric.name, evidence, sampler.UNRESOLVED + rounded)

    @final
    def noise(self, count: int, rng: Generator) -> Float64Array:
        """See `Kernel.noise`; two uniforms a word."""
        return sampler.fine_uniforms(count, rng)

    @final
    def apply(self, words: IndexArray, noise: Float64Array, *, threads: int = 1) -> IndexArray:
        """See `Kernel.apply`: the inverse of the cumulative sum of the word's row."""
        return self._inverse.draw(self.shape.points.representatives(words), noise, threads=threads)

    @cached_property
    def _inverse(self) -> sampler.Inverse:
        return sampler.Inverse(self.shape.words, self.constant.scale)

    @final
    def log_probabilities(self, words: IndexArray | None = None) -> Float64Array:
        """See `AbstractExact.log_probabilities`; a row has V numbers: ask for a few words where V is large."""
        words = np.arange(self.embeddings.size) if words is None else np.asarray(words, np.int64)
        return sampler.log_probabilities(
            self.shape.words, self.constant.scale, self.shape.points.representatives(words)
        )

    @final
    def pushed(self, distributions: Float64Array) -> Float64Array:
        """What becomes of input ``distributions``, shape (p, V): their products with the rows, shape (p, V).

        Two passes over the vocabulary's pairs for all of them together. Rounding is relative to the whole, about
        1e-10, so improbable outputs are not resolved as in `log_probabilities`.
        """
        given = np.asarray(distributions, np.float64)
        if given.ndim != 2 or given.shape[1] != self.embeddings.size or not (given >= 0).all():
            raise DataError(f"distributions have {self.embeddings.size} numbers from 0 each, not shape {given.shape}")
        points, law, scale = self.shape.points, self.shape.law, self.constant.scale
        times = partial(sweep.weighted_sums, law.delta, scale, cap=law.truncation / scale)
        weights = np.stack([points.summed(row) for row in given], axis=1)
        reached = times(weights / times(law.weights)[:, None]).T
        return np.asarray(reached[:, points.of_word] * self.shape.weights)

    def __getstate__(self) -> dict[str, object]:
        """Without the rows in memory, which depend on the documents: a worker makes its own."""
        return {name: value for name, value in vars(self).items() if name != "_inverse"}
