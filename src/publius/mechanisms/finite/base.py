"""Mechanisms that weigh the whole vocabulary: their output probabilities are available and their constant exact."""

from __future__ import annotations

from functools import cached_property, partial
from typing import Any, ClassVar, final

import numpy as np

from publius.arrays import Float64Array, IndexArray
from publius.distances.metrics import check_laws, is_own
from publius.errors import PolicyError
from publius.mechanisms.finite import sampler, sweep
from publius.mechanisms.finite.certificate import Constant
from publius.mechanisms.finite.word_weights import Shape, uniform
from publius.mechanisms.kernel import Kernel
from publius.noise.randomness import Generator
from publius.noise.tails import deep_uniform
from publius.privacy.guarantee import Evidence, Guarantee


class AbstractFinite(Kernel):
    """An exponential-family mechanism over the vocabulary: `Shape` at a certified scale; a subclass says what shape."""

    evidence: ClassVar[Evidence] = "certified"
    batch_words = 32_768  # more repeated words share a row
    shape: Shape
    constant: Constant

    @final
    def _prepare(self) -> None:
        if is_own(self.metric):
            check_laws(self.metric, self.embeddings.vectors)
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
        """See `Kernel.guarantee`; that an own metric is one is its author's word.

        Realized probabilities differ from certified ones by a relative 2^-40: delta has it unless the constant leaves room.
        """
        room = (self.epsilon - self.constant.epsilon) * self.constant.smallest_distance
        rounded = 0.0 if room >= 2 * sampler.RELATIVE_ERROR else 2 * sampler.RELATIVE_ERROR
        evidence: Evidence = "stated" if is_own(self.metric) else "certified"
        return Guarantee(self.epsilon, self.metric.name, evidence, sampler.UNRESOLVED + rounded)

    @final
    def noise(self, count: int, rng: Generator) -> Float64Array:
        """See `Kernel.noise`; two uniforms a word, with 53 significant bits down to 2^-960."""
        return deep_uniform(rng, 2 * count).reshape(count, 2)

    @final
    def apply(self, words: IndexArray, noise: Float64Array, *, threads: int = 1) -> IndexArray:
        """See `Kernel.apply`: the inverse of the cumulative sum of the word's row."""
        return self._inverse.draw(self.shape.points.representatives(words), noise, threads=threads)

    @cached_property
    def _inverse(self) -> sampler.Inverse:
        return sampler.Inverse(self.shape.words, self.constant.scale)

    @final
    def log_probabilities(self, words: IndexArray | None = None) -> Float64Array:
        """Ln K(x){w} for input ``words`` (default: all), shape (words, V), finite everywhere, by log-sum-exp."""
        law, first = self.shape.words, self.shape.points.representatives(slice(None) if words is None else words)
        logs = np.log(law.weights) - np.minimum(
            self.constant.scale * law.delta.exact(first, slice(None)), law.truncation
        )
        top = logs.max(axis=1, keepdims=True)
        return np.asarray(logs - (top + np.log(np.exp(logs - top).sum(axis=1, keepdims=True))))

    @final
    def pushed(self, distributions: Float64Array) -> Float64Array:
        """What becomes of input ``distributions``, shape (p, V), up to about 1e-10 of the whole: improbable words may drown."""
        points, law, scale = self.shape.points, self.shape.law, self.constant.scale
        times = partial(sweep.weighted_sums, law.delta, scale, cap=law.truncation / scale)
        weights = np.stack([points.summed(row) for row in distributions], axis=1)
        reached = times(weights / times(law.weights)[:, None]).T
        return np.asarray(reached[:, points.of_word] * self.shape.weights)

    def __getstate__(self) -> dict[str, object]:
        """Without the rows in memory, which depend on the documents: a worker makes its own."""
        return {name: value for name, value in vars(self).items() if name != "_inverse"}
