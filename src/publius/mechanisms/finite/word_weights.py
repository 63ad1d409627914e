"""A finite mechanism but for its scale: what it weighs, in which distances, for which words."""

from __future__ import annotations

import hashlib
import math
from dataclasses import dataclass, field, fields, replace
from functools import cached_property
from typing import Any, Final, Literal, Self, final

import numpy as np

from publius.arrays import Float64Array, FloatArray, IndexArray
from publius.distances.metrics import AbstractMetric, Euclidean, is_line, is_own
from publius.embeddings.catalogue import computed
from publius.embeddings.embeddings import Embeddings
from publius.mechanisms.finite import certificate
from publius.mechanisms.finite.sweep import VocabularyDistances

STORED_FROM_WORDS: Final = 2000  # smaller vocabularies are certified at once


@final
@dataclass(frozen=True, eq=False)
class DistinctRows:
    """Distinct rows of V vectors: the lowest word at each point, ascending, shape (P,); the point of each word, shape (V,)."""

    first: IndexArray
    of_word: IndexArray

    @classmethod
    def of(cls, vectors: FloatArray) -> Self:
        """The points of ``vectors``, shape (V, n); minus zero equals zero."""
        places: dict[bytes, int] = {}
        blocks = (vectors[start : start + 2**13] + np.float32(0) for start in range(0, len(vectors), 2**13))
        of_word = np.array([places.setdefault(row.tobytes(), len(places)) for block in blocks for row in block])
        return cls(np.unique(of_word, return_index=True)[1], of_word)

    def representatives(self, words: IndexArray | slice) -> IndexArray:
        """For each word the lowest word with the same vector."""
        return self.first[self.of_word[words]]

    def summed(self, values: Float64Array) -> Float64Array:
        """Sum of a value per word over the words of each point, shape (P,)."""
        return np.bincount(self.of_word, values, minlength=len(self.first)).astype(np.float64)

    def shared(self, values: Float64Array) -> Float64Array:
        """A value per point shared equally among its words, shape (V,)."""
        return np.asarray((values / np.bincount(self.of_word))[self.of_word])


def uniform(embeddings: Embeddings) -> Float64Array:
    """Equal weights of all words, shape (V,)."""
    return np.full(embeddings.size, 1 / embeddings.size)


@final
@dataclass(frozen=True, eq=False)
class Shape:
    """K(x){w} proportional to weight_w exp(-min(s delta(x, w), tau)): ``metric`` is d, ``truncation`` tau.

    ``weights`` are positive with sum 1; delta is the Euclidean distance of ``inner``, shape (V, m), or d itself.
    """

    embeddings: Embeddings
    metric: AbstractMetric
    weights: Float64Array = field(repr=False)
    inner: FloatArray | None = field(default=None, repr=False)
    truncation: float = math.inf

    def __getstate__(self) -> dict[str, Any]:
        """The fields alone: what was derived from them is made again where it is needed."""
        return {each.name: getattr(self, each.name) for each in fields(self)}

    @cached_property
    def points(self) -> DistinctRows:
        """The distinct vectors: equal ones have equal rows, so certificates see each once."""
        return DistinctRows.of(self.embeddings.vectors)

    @cached_property
    def words(self) -> certificate.Law:
        """The mechanism on the words."""
        return self._law(slice(None), self.weights)

    @cached_property
    def law(self) -> certificate.Law:
        """The mechanism on the distinct points."""
        first = self.points.first
        every_word = len(first) == self.embeddings.size
        return self.words if every_word else self._law(first, self.points.summed(self.weights))

    def _law(self, places: IndexArray | slice, weights: Float64Array) -> certificate.Law:
        inner = None if self.inner is None else VocabularyDistances(self.inner[places], Euclidean())
        outer = VocabularyDistances(self.embeddings.vectors[places], self.metric)
        return certificate.Law(outer, weights, inner, self.truncation)

    @cached_property
    def line(self) -> certificate.Line | None:
        """The fast exact path of one-dimensional vectors, where it applies."""
        plain = self.inner is None and self.truncation == math.inf
        if not plain or not is_line(self.metric, self.embeddings.dimension):
            return None
        values = np.asarray(self.embeddings.vectors[self.points.first, 0], np.float64)
        return certificate.Line(values, self.points.summed(self.weights))

    def certified(self, asked: Literal["epsilon", "scale"], at: float) -> certificate.Constant:
        """The constant at a scale, or of the largest scale found whose constant is at most epsilon; its pair as words."""

        def made() -> certificate.Constant:
            if self.line is not None:
                found = self.line.calibrate(at) if asked == "epsilon" else self.line.certify(at)
            else:
                found = certificate.calibrate(self.law, at) if asked == "epsilon" else certificate.certify(self.law, at)
            first, second = self.points.first[[*found.worst]].tolist()
            return replace(found, worst=(first, second))

        if self.line is not None or self.embeddings.size < STORED_FROM_WORDS or is_own(self.metric):
            return made()
        return computed({**self.facts(), asked: repr(at)}, certificate.Constant, self._holds, made)

    def _holds(self, constant: certificate.Constant) -> bool:
        """Whether a stored constant agrees with the ratio of its worst pair, computed again."""
        if not all(0 <= word < self.embeddings.size for word in constant.worst):
            return False
        if not min(constant.epsilon, constant.scale, constant.smallest_distance) > 0:
            return False
        first, second = self.points.of_word[[*constant.worst]].tolist()
        return bool(first != second and certificate.same(self.law, replace(constant, worst=(first, second))))

    def facts(self) -> dict[str, Any]:
        """What a certificate depends on, for the key of a stored one."""
        weights, inner = (
            None if each is None else hashlib.sha256(np.ascontiguousarray(each).tobytes()).hexdigest()
            for each in (self.weights, self.inner)
        )  # fmt: skip
        return {
            "embeddings": self.embeddings.sha256, "metric": self.metric.name, "weights": weights, "inner": inner,
            "truncation": repr(self.truncation),
        }  # fmt: skip
