"""Mechanisms that weigh the whole vocabulary: their output probabilities are available and their constant exact."""

from __future__ import annotations

from abc import abstractmethod
from functools import cached_property, partial
from typing import Any, ClassVar, final

import numpy as np

from publius.arrays import Float64Array, IndexArray
from publius.distances.metrics import AbstractMetric, Distances, check_laws, ground_metric, is_own
from publius.embeddings.embeddings import Embeddings
from publius.errors import DataError, PolicyError, UsageError
from publius.mechanisms.finite import sampler
from publius.mechanisms.finite.certificate import sweep
from publius.mechanisms.finite.certificate.exact import Constant
from publius.mechanisms.finite.stored_certificates import cached
from publius.mechanisms.finite.word_weights import Shape
from publius.mechanisms.kernel import AbstractExact
from publius.noise.laplace import checked_epsilon
from publius.noise.randomness import Generator
from publius.privacy.guarantee import STATED, Evidence, Guarantee
from publius.settings import EUCLIDEAN

_CACHED_FROM_WORDS = 2000  # smaller vocabularies are certified at once


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
        self, embeddings: Embeddings, *, epsilon: float | None = None, scale: float | None = None,
        metric: str | AbstractMetric | Distances = EUCLIDEAN, **parameters: Any,
    ) -> None:  # fmt: skip
        """Take the public ``embeddings``, what `Parameters` declares, and ``epsilon``, or ``scale`` s to certify.

        Both are checked against each other.
        """
        at = epsilon if scale is None else scale
        if at is None:
            raise UsageError(f"the mechanism {self.name} needs epsilon or scale")
        self.chosen = self.parameters_from(parameters)
        self.embeddings, self.metric = embeddings, ground_metric(metric)
        if is_own(self.metric):
            check_laws(self.metric, embeddings.vectors)
        self._solved_at = checked_epsilon(at)
        self.shape, self.constant = self._certified(epsilon, scale)
        self.epsilon = self.constant.epsilon if epsilon is None else checked_epsilon(epsilon)

    def _certified(self, epsilon: float | None, scale: float | None) -> tuple[Shape, Constant]:
        shape = self.shape_of(self.embeddings, self.metric, self.chosen, self._solved_at)
        return shape, certificate(shape, epsilon, scale)

    @classmethod
    @abstractmethod
    def shape_of(cls, embeddings: Embeddings, metric: AbstractMetric, chosen: Any, scale: float) -> Shape:
        """The shape on the public ``embeddings`` with the parameters ``chosen``, for ``scale``, uncertified."""

    @final
    @property
    def parameters(self) -> dict[str, Any]:
        """See `Kernel.parameters`."""
        return {"scale": self.constant.scale, "epsilon_certified": self.constant.epsilon, **self.choices()}

    def choices(self) -> dict[str, Any]:
        """The parameters that were chosen, for the manifest."""
        return dict(vars(self.chosen))

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
    def _rows(self) -> sampler.RowLaw:
        return self.shape.rows(self.constant.scale)

    @cached_property
    def _inverse(self) -> sampler.Inverse:
        return sampler.Inverse(self._rows)

    @final
    def log_probabilities(self, words: IndexArray | None = None) -> Float64Array:
        """See `AbstractExact.log_probabilities`; a row has V numbers: ask for a few words where V is large."""
        words = np.arange(self.embeddings.size) if words is None else np.asarray(words, np.int64)
        return self._rows.log_probabilities(self.shape.points.representatives(words))

    @final
    def pushed(self, distributions: Float64Array) -> Float64Array:
        """See `AbstractExact.pushed`.

        Two passes over the vocabulary's pairs for all of them together. Rounding is relative to the whole, about
        1e-10, so improbable outputs are not resolved as in `log_probabilities`.
        """
        given = np.atleast_2d(np.asarray(distributions, np.float64))
        if given.shape[1] != self.embeddings.size or not (given >= 0).all():
            raise DataError(f"a distribution needs {self.embeddings.size} numbers from 0, not shape {given.shape}")
        points, law, scale = self.shape.points, self.shape.law, self.constant.scale
        times = partial(sweep.weighted_sums, law.delta, scale, cap=law.truncation / scale)
        weights = np.stack([points.summed(row) for row in given], axis=1)
        reached = times(weights / times(law.weights)[:, None]).T
        result = reached[:, points.of_word] * self.shape.weights
        return np.asarray(result if np.ndim(distributions) == 2 else result[0])

    def __getstate__(self) -> dict[str, object]:
        """Without the rows in memory, which depend on the documents: a worker makes its own."""
        return {name: value for name, value in vars(self).items() if name not in ("_inverse", "_rows")}


def certificate(shape: Shape, epsilon: float | None, scale: float | None) -> Constant:
    """The constant of ``shape``, calibrated to ``epsilon``, certified at ``scale``, or both checked: `PolicyError`."""
    asked, certify = ("epsilon", shape.calibrate) if scale is None else ("scale", shape.certify)
    at = checked_epsilon(epsilon if scale is None else scale)  # type: ignore[arg-type]
    if shape.line is not None or shape.embeddings.size < _CACHED_FROM_WORDS or is_own(shape.metric):
        constant = certify(at)
    else:
        facts = {"embeddings": shape.embeddings.sha256, **shape.facts(), asked: repr(at)}
        constant = cached(facts, Constant, shape.holds, lambda: certify(at))
    if epsilon is not None and not constant.epsilon <= checked_epsilon(epsilon):
        raise PolicyError(f"the certified constant {constant.epsilon!r} exceeds epsilon {epsilon!r}")
    return constant
