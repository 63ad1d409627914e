"""Mechanisms that weigh the whole vocabulary: their output probabilities are available and their constant exact."""

from __future__ import annotations

import math
import time
from abc import abstractmethod
from collections.abc import Callable
from pathlib import Path
from typing import Any, final

import numpy as np
from numpy.typing import NDArray

from publius.arrays import Float64Array, IndexArray
from publius.errors import DataError, PolicyError, UsageError
from publius.mechanisms.base import AbstractMechanism
from publius.mechanisms.finite import row_table
from publius.mechanisms.finite import sampler as inverse
from publius.mechanisms.finite.certificate import line, sweep
from publius.mechanisms.finite.certificate.exact import Constant
from publius.mechanisms.finite.stored_certificates import cached
from publius.mechanisms.finite.word_weights import Shape
from publius.noise.laplace import checked_epsilon
from publius.noise.randomness import Generator
from publius.privacy.guarantee import Guarantee
from publius.vectors.embeddings import Embeddings

_CACHED_FROM_WORDS = 2000  # smaller vocabularies are certified at once


class AbstractFinite(AbstractMechanism):
    """An exponential-family mechanism over the vocabulary: `Shape` at a certified scale.

    A subclass makes its shape and calls `_certify`; everything else is here.

    Attributes:
        shape: what is weighed.
        choices: public parameters of the subclass, for the manifest.
        constant: the certificate: scale, exact constant, worst pair of words.
        seconds: what certifying took, next to nothing where the certificate was stored before.

    """

    batch_words = 32_768  # more repeated words share a row
    shape: Shape
    choices: dict[str, Any]
    constant: Constant
    seconds: float
    _known_rows: inverse.Rows | None = None
    _inverse: inverse.Inverse | None = None
    _table: Path | None = None

    @classmethod
    @abstractmethod
    def shape_at(cls, embeddings: Embeddings, scale: float, *args: Any, **parameters: Any) -> Shape:
        """The shape on the public ``embeddings`` for ``scale``, with the parameters of ``__init__``, uncertified."""

    @final
    @property
    def parameters(self) -> dict[str, Any]:
        """See `AbstractMechanism.parameters`."""
        certified = {"scale": self.constant.scale, "epsilon_certified": self.constant.epsilon}
        return {**certified, **({"floor": self.shape.floor} if self.shape.floor else {}), **self.choices}

    @final
    def _certify(
        self,
        embeddings: Embeddings,
        shape: Shape,
        epsilon: float | None,
        scale: float | None,
        threads: int | None = None,
        choices: dict[str, Any] | None = None,
    ) -> None:
        """Set the attributes: calibrated to ``epsilon``, certified at ``scale``, or both checked."""
        if epsilon is None and scale is None:
            raise UsageError(f"the mechanism {self.name} needs epsilon or scale")
        started = time.perf_counter()
        if scale is not None:
            at = checked_epsilon(scale)
            constant = _kept(embeddings, shape, {"scale": repr(at)}, lambda: shape.certify(at, threads))
        else:
            target = checked_epsilon(epsilon if epsilon is not None else math.nan)
            facts = {"epsilon": repr(target)}
            constant = _kept(embeddings, shape, facts, lambda: shape.calibrate(target, threads))
        allowed = constant.epsilon if epsilon is None else checked_epsilon(epsilon)
        if not constant.epsilon <= allowed:
            raise PolicyError(f"the certified constant {constant.epsilon!r} exceeds epsilon {allowed!r}")
        self.seconds = time.perf_counter() - started
        self.embeddings, self.metric, self.epsilon = embeddings, shape.metric, allowed
        self.shape, self.constant = shape, constant
        self.choices = choices or {}

    @final
    @property
    def guarantee(self) -> Guarantee:
        """See `AbstractMechanism.guarantee`; certified over all pairs and outputs.

        The realized probabilities differ from the certified ones by a relative 2^-40; where the certified constant
        leaves room for it at the smallest distance, delta is only what the uniforms cannot resolve.
        """
        rounding = 2 * inverse.RELATIVE_ERROR
        room = (self.epsilon - self.constant.epsilon) * self.constant.smallest_distance
        delta = inverse.UNRESOLVED if room >= rounding else inverse.UNRESOLVED + rounding
        return Guarantee(self.epsilon, self.metric.name, "certified", delta)

    @final
    def noise(self, count: int, rng: Generator) -> Float64Array:
        """See `AbstractMechanism.noise`; two uniforms a word."""
        return inverse.fine_uniforms(count, rng)

    @final
    def apply(self, words: IndexArray, noise: Float64Array, *, threads: int = 1) -> IndexArray:
        """See `AbstractMechanism.apply`: the inverse of the cumulative sum of the word's row."""
        if self._inverse is None:
            self._inverse = inverse.Inverse(self._rows, self._mapped())
        return self._inverse.draw(self.shape.points.representatives(words), noise, threads=threads)

    @final
    def prepare(self) -> None:
        """See `AbstractMechanism.prepare`: the table of all rows, 100 MB for 50,000 words, where it is to be kept.

        A vocabulary for which it would have more than `inverse.TABLE_BYTES` has none, nor does one of a few words.
        """
        size, row = self.embeddings.size, inverse.first_step_type(self.embeddings.size)
        if size < _CACHED_FROM_WORDS or size * row.itemsize > inverse.TABLE_BYTES:
            return
        asked = {"scale": repr(self.constant.scale), **inverse.LAYOUT}
        facts = {"embeddings": self.embeddings.sha256, **self.shape.facts(), **asked}
        self._table = row_table.table_path(facts)
        maker = inverse.Inverse(self._rows)

        def found() -> NDArray[np.void] | None:
            table = self._mapped()
            return table if table is not None and maker.agrees(table) else None

        table = found()
        if table is None:
            row_table.write_table(self._table, size, row, maker.first_steps(np.arange(size)))
            table = found()
        if table is None:
            self._table = None
        self._inverse = inverse.Inverse(self._rows, table)

    @final
    def _mapped(self) -> NDArray[np.void] | None:
        if self._table is None:
            return None
        size = self.embeddings.size
        return row_table.open_table(self._table, size, inverse.first_step_type(size))

    @final
    @property
    def _rows(self) -> inverse.Rows:
        if self._known_rows is None:
            self._known_rows = self.shape.rows(self.constant.scale)
        return self._known_rows

    @final
    def log_probabilities(self, words: IndexArray | None = None) -> Float64Array:
        """Ln K(x){w} for input ``words`` (default: all), shape (words, V), float64, finite everywhere.

        A row has V numbers: ask for a few words at a time where the vocabulary is large.
        """
        words = np.arange(self.embeddings.size) if words is None else np.asarray(words, np.int64)
        return self._rows.log_probabilities(self.shape.points.representatives(words))

    @final
    def pushed(self, distributions: Float64Array, *, threads: int | None = None) -> Float64Array:
        """Output distribution for each input distribution over words, shape (V,) or (m, V): p K.

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
        prior = shape.prior * (1 - shape.floor)
        result = reached[:, points.of_word] * prior + shape.floor * given.sum(axis=1)[:, None] * shape.prior
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
        """Without the rows in memory, which depend on the documents; a worker maps prepared ones or makes its own."""
        return {**self.__dict__, "_inverse": None, "_known_rows": None}


def _kept(
    embeddings: Embeddings, shape: Shape, asked: dict[str, Any], make: Callable[[], Constant]
) -> Constant:
    """A stored certificate, or one made now; small vocabularies are certified at once."""
    if shape.line is not None or embeddings.size < _CACHED_FROM_WORDS:
        return make()
    facts = {"embeddings": embeddings.sha256, **shape.facts(), **asked}
    return cached(facts, shape.holds, make)
