"""The document's position, clipped to a public box, with Laplace noise; a bag is drawn from words that lie there.

Clipping never moves two positions further apart, so n-dimensional Laplace noise in the m dimensions of the features
is epsilon*E_d-private by the coupling lemma, and any two documents are within epsilon times the diameter of the box
(docs/documents.md). The noisy position never leaves: it is put on a public grid, and a bag is drawn from the
exponential tilt of the public words whose mean feature comes near it.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, Final, final

import numpy as np

from publius.arrays import Float64Array, IndexArray
from publius.errors import UsageError
from publius.mechanisms.mechanism import Outcomes
from publius.mechanisms.whole import LENGTH, WORD_BYTES, Noise, WholeDocument, random_bits
from publius.noise.laplace import EuclideanLaplace, checked_epsilon
from publius.noise.randomness import Generator
from publius.privacy.guarantee import Guarantee
from publius.text.drawn_bags import DrawnBags
from publius.vectors.learning.reference import Reference
from publius.vectors.learning.typical_words import drawable, tilt

_STEPS: Final = 2**12
"""Steps of the public grid along the longest side of the box."""

_WORDS: Final = 3000
"""Words that may be drawn."""

_APART: Final = 6.0


@final
class Position(WholeDocument):
    """Each document's place among public features gets Laplace noise, and words are drawn for the noisy place.

    The place is clipped first; see the module.

    >>> import publius
    >>> mechanism = publius.Position(publius.Reference.load("themes"), bound=7)
    >>> mechanism.guarantee.map(), mechanism.guarantee.map(0.0)
    (7.0, 0.0)
    """

    name = "position"
    tells_preserved = True
    epsilon: float

    def __init__(
        self,
        reference: Reference,
        *,
        preserve: str = "topic",
        epsilon: float | None = None,
        bound: float | None = None,
        length: int = LENGTH,
    ) -> None:
        """Take ``epsilon`` per unit of distance or ``bound``, the nats between any two documents.

        With both, the smaller noise level that keeps both: epsilon, or bound divided by the diameter of the box.
        """
        self._take(reference, preserve, length)
        if epsilon is None and bound is None:
            raise UsageError("the mechanism position needs a bound in nats, or epsilon per unit of distance")
        diameter = self.aspect.diameter
        given = [] if epsilon is None else [checked_epsilon(epsilon)]
        if bound is not None:
            given.append(checked_epsilon(checked_epsilon(bound) / diameter * (1 - 2.0**-50)))
        self.epsilon = min(given)
        self._noise = EuclideanLaplace(self.aspect.dimension, self.epsilon / self.aspect.lipschitz)
        reach = float(np.nextafter(self._noise.epsilon * diameter * (1 + 2.0**-50), np.inf))
        if not math.isfinite(reach):
            raise UsageError("the bound is beyond all numbers: give a smaller epsilon")
        most = reach if bound is None else min(reach, bound)
        delta = self._noise.truncation_delta(most)
        self._guarantee = self._stated(self.epsilon, most, "proven", delta, delta)
        self._prepare_words()

    def _prepare_words(self) -> None:
        """The words that may be drawn, how far a position is amplified, and how far the tilt gives way to noise.

        All from public numbers. A position is amplified until the ends of the box lie beyond the scatter of the mean
        of so many words; the tilt of a noisy position is drawn towards the public words by the noise's variance.
        """
        background = self.reference.background
        self._words = np.argsort(-background, kind="stable")[:_WORDS]
        self._base = background[self._words] / background[self._words].sum()
        self._features = np.asarray(self.aspect.features[self._words])
        self._middle = (self.aspect.low + self.aspect.high) / 2
        scatter = math.sqrt(float((self._base @ (self._features - self._middle) ** 2).sum()) / self.length)
        half = self.aspect.diameter / 2
        self._amplified = max(1.0, _APART * scatter / half) if half > 0 else 1.0
        per_coordinate = (self.aspect.dimension + 1) / self.epsilon**2
        self._ridge = max(1e-6, min(per_coordinate, half**2)) * self._amplified
        self._grid = max(float((self.aspect.high - self.aspect.low).max()), 1e-9) / _STEPS

    @property
    def guarantee(self) -> Guarantee:
        """See `Mechanism.guarantee`; proven."""
        return self._guarantee

    @property
    def parameters(self) -> dict[str, Any]:
        """See `Mechanism.parameters`."""
        return {"dimension": self.aspect.dimension, "diameter": self.aspect.diameter}

    def noise(self, rng: Generator) -> Noise:
        """See `Mechanism.noise`: a Laplace vector of m numbers and 32 bits for each word."""
        return Noise(self._noise.sample(rng, 1)[0], random_bits(rng, WORD_BYTES * self.length))

    def apply(self, documents: Sequence[IndexArray], noise: Sequence[Noise]) -> Outcomes:
        """See `Mechanism.apply`."""
        places = self.centres(documents)
        words = np.empty((len(places), self.length), np.int64)
        for row, (place, found) in enumerate(zip(places, noise, strict=True)):
            words[row] = self._words_near(place + found.values, found.bits)
        return Outcomes(DrawnBags(self._alphabet, words), [(None, None)] * len(words))

    def centres(self, documents: Sequence[IndexArray]) -> Float64Array:
        """Where the noise of each document is centred: its position, clipped to the box; shape (n, m). Private."""
        return self.aspect.saturated(self.positions(documents))

    @property
    def noise_epsilon(self) -> float:
        """Of the Laplace noise, per unit of the features' Euclidean distance."""
        return self._noise.epsilon

    def _words_near(self, noisy: Float64Array, bits: bytes) -> IndexArray:
        """Words drawn for a noisy position: on the public grid and in the box before anything is made of it."""
        seen = np.round(np.clip(noisy, self.aspect.low, self.aspect.high) / self._grid) * self._grid
        target = self._middle + self._amplified * (seen - self._middle)
        chances = tilt(self._base, self._features, target, self._ridge)
        words, weights = drawable(chances[None, :], len(chances))
        draws = np.frombuffer(bits, "<u4").astype(np.int64)
        return np.asarray(self._words[words[0]][np.searchsorted(np.cumsum(weights[0]), draws, side="right")])
