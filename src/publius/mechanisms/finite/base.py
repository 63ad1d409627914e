"""Mechanisms that weigh the whole vocabulary: their output probabilities are available and their constant exact."""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Callable
from typing import Any, ClassVar, final

import numpy as np

from publius.arrays import Float64Array, IndexArray
from publius.distances.metrics import AbstractMetric, Distances, check_laws, ground_metric, is_own
from publius.embeddings.embeddings import Embeddings
from publius.errors import DataError, PolicyError, UsageError
from publius.mechanisms.finite import sampler as inverse
from publius.mechanisms.finite.certificate import line, sweep
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
    """An exponential-family mechanism over the vocabulary: `Shape` at a certified scale.

    A subclass says what its shape is; everything else is here.

    Attributes:
        shape: what is weighed.
        constant: the certificate: scale, exact constant, worst pair of words.
    """

    evidence: ClassVar[Evidence] = "certified"
    batch_words = 32_768  # more repeated words share a row
    shape: Shape
    constant: Constant
    _known_rows: inverse.RowLaw | None = None
    _inverse: inverse.Inverse | None = None

    @final
    def __init__(
        self,
        embeddings: Embeddings,
        *,
        epsilon: float | None = None,
        scale: float | None = None,
        metric: str | AbstractMetric | Distances = EUCLIDEAN,
        threads: int | None = None,
        **parameters: Any,
    ) -> None:
        """Take the public ``embeddings``, what `Parameters` declares, and ``epsilon``, or ``scale`` s to certify.

        Both are checked against each other. ``threads``: processors to certify with (default: all there are).
        """
        if epsilon is None and scale is None:
            raise UsageError(f"the mechanism {self.name} needs epsilon or scale")
        self.chosen = self.parameters_from(parameters)
        self.embeddings, self.metric = embeddings, ground_metric(metric)
        if is_own(self.metric):
            check_laws(self.metric, embeddings.vectors)
        self._solved_at = checked_epsilon(scale if scale is not None else epsilon)  # type: ignore[arg-type]
        self.shape, self.constant = self._certified(epsilon, scale, threads)
        self.epsilon = self.constant.epsilon if epsilon is None else checked_epsilon(epsilon)

    def _certified(
        self, epsilon: float | None, scale: float | None, threads: int | None
    ) -> tuple[Shape, Constant]:
        shape = self.shape_of(self.embeddings, self.metric, self.chosen, self._solved_at, threads)
        return shape, certificate(shape, epsilon, scale, threads)

    @classmethod
    @abstractmethod
    def shape_of(
        cls, embeddings: Embeddings, metric: AbstractMetric, chosen: Any, scale: float, threads: int | None
    ) -> Shape:
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
        """See `Kernel.guarantee`; certified over all pairs and outputs.

        The realized probabilities differ from the certified ones by a relative 2^-40; where the certified constant
        leaves room for it at the smallest distance, delta is only what the uniforms cannot resolve.
        """
        room = (self.epsilon - self.constant.epsilon) * self.constant.smallest_distance
        rounded = 0.0 if room >= 2 * inverse.RELATIVE_ERROR else 2 * inverse.RELATIVE_ERROR
        delta = inverse.UNRESOLVED + rounded
        evidence: Evidence = (
            STATED if is_own(self.metric) else "certified"
        )  # that it is a metric is its author's word
        return Guarantee(self.epsilon, self.metric.name, evidence, delta)

    @final
    def noise(self, count: int, rng: Generator) -> Float64Array:
        """See `Kernel.noise`; two uniforms a word."""
        return inverse.fine_uniforms(count, rng)

    @final
    def apply(self, words: IndexArray, noise: Float64Array, *, threads: int = 1) -> IndexArray:
        """See `Kernel.apply`: the inverse of the cumulative sum of the word's row."""
        if self._inverse is None:
            self._inverse = inverse.Inverse(self._rows)
        return self._inverse.draw(self.shape.points.representatives(words), noise, threads=threads)

    @final
    @property
    def _rows(self) -> inverse.RowLaw:
        if self._known_rows is None:
            self._known_rows = self.shape.rows(self.constant.scale)
        return self._known_rows

    @final
    def log_probabilities(self, words: IndexArray | None = None) -> Float64Array:
        """See `AbstractExact.log_probabilities`.

        A row has V numbers: ask for a few words at a time where the vocabulary is large.
        """
        words = np.arange(self.embeddings.size) if words is None else np.asarray(words, np.int64)
        return self._rows.log_probabilities(self.shape.points.representatives(words))

    @final
    def pushed(self, distributions: Float64Array, *, threads: int | None = None) -> Float64Array:
        """See `AbstractExact.pushed`.

        One pass over the vocabulary's pairs for all of them together; linear time in one dimension. Rounding is
        relative to the whole, about 1e-10, so improbable outputs are not resolved as in `log_probabilities`.
        """
        given = np.atleast_2d(np.asarray(distributions, np.float64))
        if given.shape[1] != self.embeddings.size or not (given >= 0).all():
            raise DataError(
                f"a distribution needs {self.embeddings.size} numbers from 0, not shape {given.shape}"
            )
        shape, points = self.shape, self.shape.points
        weights = np.stack([points.summed(row) for row in given], axis=1)
        normalizers = self._kernel_times(shape.law.weights, threads)[:, None]
        reached = self._kernel_times(weights / normalizers, threads).T
        result = reached[:, points.of_word] * shape.weights
        return np.asarray(result if np.ndim(distributions) == 2 else result[0])

    @final
    def _kernel_times(self, weights: Float64Array, threads: int | None) -> Float64Array:
        """exp(-min(s delta, tau)) times ``weights`` at the points, shape (P,) or (P, m)."""
        shape, scale = self.shape, self.constant.scale
        if shape.line is None:
            cap = shape.truncation / scale
            return sweep.weighted_sums(shape.law.delta, scale, weights, cap=cap, threads=threads)
        result = np.empty_like(weights)
        sorted_weights = weights[shape.order].T
        result[shape.order] = line.weighted_sums(np.diff(shape.sorted_values), sorted_weights, scale).T
        return result

    def __getstate__(self) -> dict[str, object]:
        """Without the rows in memory, which depend on the documents: a worker makes its own."""
        return {**self.__dict__, "_inverse": None, "_known_rows": None}


def certificate(
    shape: Shape, epsilon: float | None, scale: float | None, threads: int | None = None
) -> Constant:
    """The constant of ``shape``, calibrated to ``epsilon``, certified at ``scale``, or both checked: `PolicyError`."""
    if scale is not None:
        at = checked_epsilon(scale)
        constant = _kept(shape, {"scale": repr(at)}, lambda: shape.certify(at, threads))
    else:
        target = checked_epsilon(epsilon if epsilon is not None else math.nan)
        constant = _kept(shape, {"epsilon": repr(target)}, lambda: shape.calibrate(target, threads))
    if epsilon is not None and not constant.epsilon <= checked_epsilon(epsilon):
        raise PolicyError(f"the certified constant {constant.epsilon!r} exceeds epsilon {epsilon!r}")
    return constant


def _kept(shape: Shape, asked: dict[str, Any], make: Callable[[], Constant]) -> Constant:
    """A stored certificate, or one made now; small vocabularies are certified at once."""
    if shape.line is not None or shape.embeddings.size < _CACHED_FROM_WORDS or is_own(shape.metric):
        return make()
    facts = {"embeddings": shape.embeddings.sha256, **shape.facts(), **asked}
    return cached(facts, shape.holds, make)
