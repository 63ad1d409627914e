"""A finite mechanism but for its scale: what it weighs, in which distances, for which words."""

from __future__ import annotations

import hashlib
import math
from dataclasses import dataclass, field, fields, replace
from functools import cached_property
from typing import Any, Self, final

import numpy as np

from publius.arrays import Float64Array, FloatArray, IndexArray
from publius.distances.ground import is_line
from publius.distances.metrics import AbstractMetric, Euclidean
from publius.embeddings.embeddings import Embeddings
from publius.mechanisms.finite.certificate import exact
from publius.mechanisms.finite.certificate.distances import VocabularyDistances
from publius.mechanisms.finite.certificate.line import Line
from publius.mechanisms.finite.sampler import RowLaw


@final
@dataclass(frozen=True, eq=False)
class DistinctRows:
    """Distinct rows of an array of V vectors.

    Attributes:
        first: the lowest word at each point, ascending, shape (P,).
        of_word: the point of each word, shape (V,).
    """

    first: IndexArray
    of_word: IndexArray

    @classmethod
    def of(cls, vectors: FloatArray) -> Self:
        """The points of ``vectors``, shape (V, n); minus zero equals zero."""
        places: dict[bytes, int] = {}
        of_word = np.empty(len(vectors), np.int64)
        for start in range(0, len(vectors), 2**13):
            for offset, row in enumerate(np.asarray(vectors[start : start + 2**13]) + np.float32(0)):
                of_word[start + offset] = places.setdefault(row.tobytes(), len(places))
        first = np.full(len(places), -1, np.int64)
        first[of_word[::-1]] = np.arange(len(vectors))[::-1]
        return cls(first, of_word)

    def representatives(self, words: IndexArray) -> IndexArray:
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
    """K(x){w} proportional to weight_w exp(-min(s delta(x, w), tau)).

    Attributes:
        embeddings: the public vocabulary, with vectors of shape (V, n).
        metric: d, in which the guarantee is stated.
        weights: positive, sum 1, shape (V,): all equal, but for tight constraints.
        inner: vectors whose Euclidean distance is delta, shape (V, m); None where delta is d.
        truncation: tau.
    """

    embeddings: Embeddings
    metric: AbstractMetric
    weights: Float64Array = field(repr=False)
    inner: FloatArray | None = field(default=None, repr=False)
    truncation: float = math.inf

    @property
    def vectors(self) -> FloatArray:
        """Of the vocabulary, shape (V, n)."""
        return self.embeddings.vectors

    def __getstate__(self) -> dict[str, Any]:
        """The fields alone: what was derived from them is made again where it is needed."""
        return {each.name: getattr(self, each.name) for each in fields(self)}

    @cached_property
    def points(self) -> DistinctRows:
        """The distinct vectors: equal ones have equal rows, so certificates see each once."""
        return DistinctRows.of(self.vectors)

    @cached_property
    def law(self) -> exact.Law:
        """The mechanism on the distinct points."""
        first = self.points.first
        every_word = len(first) == len(self.vectors)
        outer = self.word_distances if every_word else VocabularyDistances(self.vectors[first], self.metric)
        inner = None if self.inner is None else VocabularyDistances(self.inner[first], Euclidean())
        return exact.Law(outer, self.points.summed(self.weights), inner, self.truncation)

    @cached_property
    def word_distances(self) -> VocabularyDistances:
        """Of the words in d."""
        return VocabularyDistances(self.vectors, self.metric)

    @cached_property
    def line(self) -> Line | None:
        """The fast exact path of one-dimensional vectors, where it applies."""
        if self.inner is not None or self.truncation < math.inf or not is_line(self.metric, self.vectors.shape[1]):
            return None
        values = np.asarray(self.vectors[self.points.first, 0], np.float64)
        return Line(values, self.points.summed(self.weights))

    def certify(self, scale: float) -> exact.Constant:
        """The exact constant at ``scale``; its worst pair as words."""
        return self._in_words(self.line.certify(scale) if self.line else exact.certify(self.law, scale))

    def calibrate(self, epsilon: float) -> exact.Constant:
        """The largest scale found with a constant of at most ``epsilon``; its worst pair as words."""
        return self._in_words(self.line.calibrate(epsilon) if self.line else exact.calibrate(self.law, epsilon))

    def _in_words(self, constant: exact.Constant) -> exact.Constant:
        first, second = self.points.first[[*constant.worst]].tolist()
        return replace(constant, worst=(first, second))

    def holds(self, constant: exact.Constant) -> bool:
        """Whether a stored constant agrees with the ratio of its worst pair, computed again."""
        first, second = constant.worst
        if not (0 <= first < len(self.vectors) and 0 <= second < len(self.vectors)):
            return False
        if not min(constant.epsilon, constant.scale, constant.smallest_distance) > 0:
            return False
        of_word = self.points.of_word
        at_points = replace(constant, worst=(int(of_word[first]), int(of_word[second])))
        return at_points.worst[0] != at_points.worst[1] and exact.same(self.law, at_points)

    def rows(self, scale: float) -> RowLaw:
        """The output rows at ``scale``, over the words."""
        inside = self.word_distances if self.inner is None else VocabularyDistances(self.inner, Euclidean())
        return RowLaw(inside, self.weights, scale, self.truncation)

    def facts(self) -> dict[str, Any]:
        """The facts that distinguish it beside the vectors, for the key of a stored certificate."""
        weights, inner = (
            None if each is None else hashlib.sha256(np.ascontiguousarray(each).tobytes()).hexdigest()
            for each in (self.weights, self.inner)
        )  # fmt: skip
        return {
            "metric": self.metric.name, "weights": weights, "inner": inner, "truncation": repr(self.truncation),
        }  # fmt: skip
