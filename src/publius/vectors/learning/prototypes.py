"""Where public documents lie, and what may come out instead: features of words, and prototypes of documents.

Nothing here sees a document that is to be protected but as indices of words.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final, Literal, final

import numpy as np

from publius.arrays import Float64Array, IndexArray, Rows
from publius.errors import DataError, UsageError

Rule = Literal["nearest", "cosine"]

NONE_OF_THESE: Final = "none of these"
"""What a document is called that fits no prototype, or has no text."""

FARTHEST: Final = 0.99
"""Of held-out public documents, the share that is no further from its prototype than is stored."""

THEMES: Final = "themes"
"""The name of the reference that comes with Publius."""

GRID: Final = 2.0**-20
"""Features are multiples of this, so that sums of them are exact and means depend on nothing but the words."""

LARGEST_FEATURE: Final = 64.0
"""With it a sum of 10^8 words is exact in float64."""

WORD_DRAWS: Final = 2**32
"""The whole-number weights of a prototype's words sum to this: a word is drawn exactly with 32 random bits."""

_BLOCK: Final = 2**11
_FEW_WORDS: Final = 2**15  # of all documents together


@final
@dataclass(frozen=True, eq=False, repr=False)
class Prototypes:
    """M public points that a document may be released as, with the words that are drawn for each.

    Attributes:
        points: shape (M, m).
        labels: what each is called: its topic, or its most typical words.
        words: indices of the words that may be drawn for each, the likeliest first, shape (M, W).
        weights: how likely each of them is, out of `WORD_DRAWS`, whole numbers of shape (M, W).
        margin: half the gap between the nearest and the second nearest prototype, the median over public documents.
        quality: how much of the aspect the right prototype keeps, from 0 to 1, measured on the public documents.
        farthest: by each rule, how far 99 of 100 public documents are at most from their prototype, held-out ones or
            all, whichever is further; None
            where it was not measured. A document further away fits none.
    """

    points: Float64Array
    labels: tuple[str, ...]
    words: IndexArray
    weights: IndexArray
    margin: float
    quality: float = 1.0
    farthest: Mapping[Rule, float] | None = None

    def __post_init__(self) -> None:
        """Refuse what is no set of prototypes: `DataError`."""
        m = len(self.points)
        if self.points.ndim != 2 or not m or not np.isfinite(self.points).all():
            raise DataError("prototypes must be finite points of shape (M, m), at least one of them")
        if len(self.labels) != m or self.words.shape != self.weights.shape or len(self.words) != m:
            raise DataError(f"{m} prototypes need a label, words and weights each")
        if not ((self.weights >= 0).all() and (self.weights.sum(axis=1) == WORD_DRAWS).all()):
            raise DataError(
                "the weights of a prototype's words must be whole numbers from 0 that sum to 2^32"
            )
        if not (math.isfinite(self.margin) and self.margin >= 0):
            raise DataError(f"the margin of prototypes must be a number from 0, not {self.margin!r}")
        if not 0 <= self.quality <= 1:
            raise DataError(f"the quality of prototypes must be from 0 to 1, not {self.quality!r}")
        if NONE_OF_THESE in self.labels:
            raise DataError(
                f"no prototype can be called {NONE_OF_THESE!r}: documents are that fit no prototype"
            )
        if self.farthest is not None:
            known = set(self.farthest) == {"nearest", "cosine"}
            if not known or not all(math.isfinite(gap) and gap >= 0 for gap in self.farthest.values()):
                raise DataError(
                    "how far documents may be from prototypes must be a number from 0 for each rule"
                )

    @property
    def size(self) -> int:
        """M."""
        return len(self.points)

    def typical(self, prototype: int, count: int = 8) -> list[int]:
        """Indices of the words most likely to be drawn for a prototype, the likeliest first."""
        drawn = np.flatnonzero(self.weights[prototype])[:count]
        return [int(index) for index in self.words[prototype, drawn]]


@final
@dataclass(frozen=True, eq=False, repr=False)
class Aspect:
    """A property of documents that can be kept: the features that tell of it, and prototypes.

    The distance d of two words is the Euclidean distance of their features, so the mean of the features is
    1-Lipschitz in the Earth Mover's distance for d (docs/documents.md, coupling lemma).

    Attributes:
        name: "topic" or "meaning".
        kind: what the features are: log-odds, discriminants, embedding.
        features: of the V words, and in the last row of the point where unknown words and the empty document stand;
            shape (V + 1, m), multiples of `GRID`.
        rule: how a prototype is chosen where no Lipschitz property is needed: the nearest, or by cosine.
        low, high: the box a position is clipped to, shape (m,).
        sets: prototypes in ascending number.
        lipschitz: |phi(w) - phi(w')| <= lipschitz * d(w, w') for all words.
    """

    name: str
    kind: str
    features: Float64Array
    rule: Rule
    low: Float64Array
    high: Float64Array
    sets: tuple[Prototypes, ...]
    lipschitz: float = 1.0

    def __post_init__(self) -> None:
        """Refuse what does not fit together: `DataError`."""
        m = self.features.shape[1] if self.features.ndim == 2 else 0
        if not m or len(self.features) < 2 or not np.isfinite(self.features).all():
            raise DataError("features must be finite numbers of shape (V + 1, m) for at least one word")
        if np.abs(self.features).max() > LARGEST_FEATURE:
            raise DataError(f"a feature is beyond {LARGEST_FEATURE:g}: scale the features down")
        if (self.features / GRID != np.round(self.features / GRID)).any():
            raise DataError("features must be multiples of 2^-20, so that their sums are exact")
        if self.low.shape != (m,) or self.high.shape != (m,) or not (self.low <= self.high).all():
            raise DataError(f"a box needs {m} lower and {m} upper ends, the lower ones first")
        if not (np.isfinite(self.low).all() and np.isfinite(self.high).all()):
            raise DataError("the ends of a box must be finite")
        if not self.sets or any(found.points.shape[1] != m for found in self.sets):
            raise DataError(f"an aspect needs prototypes, each of {m} coordinates")
        if any(
            int(found.words.max()) >= len(self.features) - 1 or found.words.min() < 0 for found in self.sets
        ):
            raise DataError("the words of a prototype must be words of the reference")

    @property
    def dimension(self) -> int:
        """The number of features m."""
        return int(self.features.shape[1])

    @property
    def empty(self) -> Float64Array:
        """The public point where the empty document and unknown words stand, shape (m,)."""
        return np.asarray(self.features[-1])

    @property
    def diameter(self) -> float:
        """The largest distance of two points of the box, rounded up."""
        widths = np.nextafter(self.high - self.low, np.inf)
        return float(np.nextafter(math.sqrt(math.fsum(widths**2)) * (1 + 2.0**-50), np.inf))

    def prototypes(self, size: int) -> Prototypes:
        """The set of ``size`` prototypes; `UsageError` where there is none."""
        for found in self.sets:
            if found.size == size:
                return found
        sizes = ", ".join(str(found.size) for found in self.sets)
        raise UsageError(f"this reference has no {size} prototypes for its {self.name}: it has {sizes}")

    def positions(self, documents: Sequence[IndexArray]) -> Float64Array:
        """Where documents lie: the mean of the features of their words, shape (n, m).

        Each document is an array of word indices, V for the unknown token; the empty one lies where that stands.
        Sums are exact, so that the result depends on the words' shares only, not on order, batch or size.
        """
        rows = Rows.of(documents)
        flat, counts = rows.flat, np.diff(rows.starts)
        if not len(counts):
            return np.zeros((0, self.dimension))
        if len(flat) and not (flat.min() >= 0 and flat.max() < len(self.features)):
            raise DataError("a document holds an index that is no word of the reference")
        sums = _sums(self.features, flat, rows.starts)
        sums[counts == 0] = self.empty
        return np.asarray(sums / np.maximum(counts, 1)[:, None])

    def saturated(self, positions: Float64Array) -> Float64Array:
        """Positions clipped to the box: never further apart than before."""
        return np.clip(positions, self.low, self.high)


def _sums(features: Float64Array, flat: IndexArray, starts: IndexArray) -> Float64Array:
    """The sum of the features of the words of each document; exact, so both ways give the same.

    The import for the quicker one takes as long as some ten thousand words.
    """
    if len(flat) < _FEW_WORDS:
        sums = np.zeros((len(starts) - 1, features.shape[1]))
        full = np.flatnonzero(np.diff(starts))  # reduceat takes the next word for a document that has none
        if len(full):
            sums[full] = np.add.reduceat(features.take(flat, axis=0), starts[full], axis=0)
        return sums
    from scipy.sparse import csr_array

    held = csr_array((np.ones(len(flat)), flat, starts), (len(starts) - 1, len(features)))
    return np.asarray(held @ features)


def distances_to(points: Float64Array, prototypes: Float64Array) -> Float64Array:
    """Euclidean distances, shape (n, m) and (M, m) -> (n, M); a row depends on its point alone, bit by bit."""
    result = np.empty((len(points), len(prototypes)))
    for start in range(0, len(points), _BLOCK):
        block = np.ascontiguousarray(points[start : start + _BLOCK].T)
        squares = np.zeros((len(prototypes), block.shape[1]))  # a row for each prototype: few long ones
        gaps = np.empty_like(squares)
        for axis in range(points.shape[1]):
            np.subtract(block[axis], prototypes[:, axis, None], out=gaps)
            np.multiply(gaps, gaps, out=gaps)
            squares += gaps
        np.sqrt(squares.T, out=result[start : start + _BLOCK])
    return result


def nearest_by(rule: Rule, points: Float64Array, prototypes: Float64Array) -> IndexArray:
    """The prototype of each point by a public rule, the first of equals; shape (n,).

    Cosine compares directions; a point or a prototype without one has cosine 0 to all.
    """
    return nearest_with_gap(rule, points, prototypes)[0]


def nearest_with_gap(
    rule: Rule, points: Float64Array, prototypes: Float64Array
) -> tuple[IndexArray, Float64Array]:
    """The same, and how far it is: the Euclidean distance, or 1 less the cosine; each of shape (n,)."""
    if rule == "nearest":
        gaps = distances_to(points, prototypes)
        chosen = np.asarray(gaps.argmin(axis=1))
        return chosen, np.asarray(gaps[np.arange(len(gaps)), chosen])
    lengths = np.sqrt((prototypes**2).sum(axis=1, keepdims=True))
    directions = prototypes / np.where(lengths > 0, lengths, 1.0)
    result, apart = np.empty(len(points), np.int64), np.empty(len(points))
    for start in range(0, len(points), _BLOCK):
        block = points[start : start + _BLOCK]
        products = np.zeros((len(block), len(prototypes)))
        for axis in range(points.shape[1]):
            products += block[:, axis, None] * directions[None, :, axis]
        result[start : start + _BLOCK] = products.argmax(axis=1)
        sizes = np.zeros(len(block))
        for axis in range(points.shape[1]):
            sizes += block[:, axis] ** 2
        apart[start : start + _BLOCK] = 1 - products.max(axis=1) / np.sqrt(np.where(sizes > 0, sizes, 1.0))
    return result, apart


def farthest(held_out: Float64Array, points: Float64Array) -> dict[Rule, float]:
    """How far 99 of 100 positions are at most from the nearest of ``points``, by each rule."""
    rules: tuple[Rule, ...] = ("nearest", "cosine")
    return {
        rule: max(0.0, float(np.quantile(nearest_with_gap(rule, held_out, points)[1], FARTHEST)))
        for rule in rules
    }


def on_grid(features: Float64Array) -> Float64Array:
    """Features rounded to the grid, and scaled down by a power of two where they are beyond `LARGEST_FEATURE`."""
    largest = float(np.abs(features).max(initial=0.0))
    if not math.isfinite(largest):
        raise DataError("a feature is not a finite number")
    while largest > LARGEST_FEATURE - 1:
        features, largest = features / 2, largest / 2
    return np.asarray(np.round(features / GRID) * GRID)
