"""Broken finite mechanisms. Each claims to be the exponential mechanism, certified at its epsilon."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import final

import numpy as np

from audit.mutants.mutant import Mutant, Probe
from publius.arrays import Float64Array, IndexArray
from publius.audit.implementation import GENUINE, Subject
from publius.audit.outcomes import Check
from publius.audit.theorem import check_theorem
from publius.audit.toy_vocabularies import worlds
from publius.audit.words import check_words
from publius.mechanisms.kernel import Kernel
from publius.mechanisms.kernels.exponential import Exponential
from publius.noise.randomness import Generator, RunKey
from publius.privacy.guarantee import Guarantee
from publius.vectors.embeddings import Embeddings

_WORLDS = worlds(10)
_SAMPLED = worlds(10)[-1]  # where each of them shows
_SAMPLES = 4 * 10**6

Rows = Callable[[Exponential], Float64Array]
"""Probabilities K[x, w] made from the genuine mechanism, shape (V, V)."""


@final
class Weighed(Kernel):
    """Claims what ``inner`` claims, states the probabilities ``stated`` and draws with ``drawn``."""

    name = Exponential.name

    def __init__(self, inner: Exponential, stated: Float64Array, drawn: Float64Array) -> None:
        self.embeddings, self.metric, self.epsilon = inner.embeddings, inner.metric, inner.epsilon
        self._inner, self._stated = inner, stated
        self._cumulative = np.cumsum(drawn / drawn.sum(axis=1, keepdims=True), axis=1)

    @property
    def guarantee(self) -> Guarantee:
        """See `Kernel.guarantee`: the claim."""
        return self._inner.guarantee

    def noise(self, count: int, rng: Generator) -> Float64Array:
        """See `Kernel.noise`: one uniform a word."""
        return rng.random((count, 1))

    def apply(self, words: IndexArray, noise: Float64Array, *, threads: int = 1) -> IndexArray:
        """See `Kernel.apply`."""
        found = (self._cumulative[words] < noise).sum(axis=1)
        return np.asarray(np.minimum(found, self.embeddings.size - 1))

    def log_probabilities(self) -> Float64Array:
        """What it states, shape (V, V); a probability of 0 is the smallest there is."""
        return np.log(np.maximum(self._stated, np.finfo(np.float64).tiny))


def _genuine(embeddings: Embeddings, epsilon: float) -> Kernel:
    return Exponential(embeddings, epsilon=epsilon, threads=1)


GENUINE_FINITE = replace(GENUINE, mechanism=_genuine)


def _subject(stated: Rows, drawn: Rows | None = None) -> Subject:
    def mechanism(embeddings: Embeddings, epsilon: float) -> Kernel:
        inner = Exponential(embeddings, epsilon=epsilon, threads=1)
        return Weighed(inner, stated(inner), (drawn or stated)(inner))

    return replace(GENUINE, mechanism=mechanism)


def _exact(inner: Exponential) -> Float64Array:
    return np.exp(inner.log_probabilities())


def _weights(inner: Exponential, factor: float = 1.0) -> Float64Array:
    """Prior_w exp(-s d(x, w)), its scale ``factor`` times the certified one."""
    vectors = inner.embeddings.vectors
    distances = inner.metric.pairwise(vectors, vectors)
    return np.asarray(inner.shape.prior * np.exp(-factor * inner.constant.scale * distances))


def _normalized(weights: Float64Array) -> Float64Array:
    return np.asarray(weights / weights.sum(axis=1, keepdims=True))


def _steeper(factor: float) -> Rows:
    return lambda inner: _normalized(_weights(inner, factor))


def _half_textbook(inner: Exponential) -> Float64Array:
    """As if epsilon = s held: the normalizers' share of the loss is forgotten."""
    return _normalized(_weights(inner, inner.epsilon / inner.constant.scale))


def _one_normalizer(inner: Exponential) -> Float64Array:
    weights = _weights(inner)
    return np.asarray(weights / weights.sum(axis=1).mean())


def _cut(inner: Exponential) -> Float64Array:
    """The least likely output of every word is left out, as an approximate search would."""
    rows = _exact(inner)
    rows[np.arange(len(rows)), rows.argmin(axis=1)] = 0
    return _normalized(rows)


def _underflown(inner: Exponential) -> Float64Array:
    """Weights of eight bits' range: what is far away becomes impossible."""
    return _normalized(np.where((weights := _weights(inner)) < weights.max() * 2.0**-8, 0, weights))


def _nearest_pair(inner: Exponential) -> Float64Array:
    """The constant of the nearest pair of words, taken for that of all."""
    vectors = inner.embeddings.vectors
    distances = inner.metric.pairwise(vectors, vectors)
    np.fill_diagonal(distances, np.inf)
    one, two = np.unravel_index(distances.argmin(), distances.shape)
    rows = _exact(inner)
    loss = np.abs(np.log(rows[one]) - np.log(rows[two])).max() / distances[one, two]
    return _normalized(_weights(inner, inner.epsilon / loss))


def _own_word_kept(inner: Exponential) -> Float64Array:
    """One word in a hundred stays, whatever was drawn."""
    rows = _exact(inner)
    return np.asarray(0.99 * rows + 0.01 * np.eye(len(rows)))


def _coarse(inner: Exponential) -> Float64Array:
    """Drawn with uniforms of eight bits."""
    cumulative = np.cumsum(_exact(inner), axis=1)
    reached = np.floor(np.minimum(cumulative, 1) * 2**8) / 2**8
    return np.asarray(np.maximum(np.diff(reached, axis=1, prepend=0), 0))


def probe_stated(subject: Subject, key: RunKey) -> Sequence[Check]:
    """The theorem on the probabilities that are stated, for bags of two words."""
    return check_theorem(subject, [(world, 2) for world in _WORLDS]).checks


def probe_drawn(subject: Subject, key: RunKey) -> Sequence[Check]:
    """Words that come out against the probabilities that are stated."""
    check = check_words(subject, _SAMPLED, _SAMPLES, key)
    return [] if check is None else [check]


def finite_mutants() -> list[Mutant]:
    """Ten broken ways to weigh the vocabulary."""
    excess = "theorem: worst excess over all cells (nats)"
    sums = "theorem: kernels whose rows do not sum to 1"
    words = f"words against the kernel: {_SAMPLED.name}"
    rows: tuple[tuple[str, Subject, Probe, str], ...] = (
        ("scale 2 % too large", _subject(_steeper(1.02)), probe_stated, excess),
        ("normalizers forgotten in the constant", _subject(_half_textbook), probe_stated, excess),
        ("constant of the nearest pair", _subject(_nearest_pair), probe_stated, excess),
        ("one normalizer for all words", _subject(_one_normalizer), probe_stated, sums),
        ("least likely output left out", _subject(_cut), probe_stated, excess),
        ("weights underflow", _subject(_underflown), probe_stated, excess),
        ("drawn at a scale 2 % larger than stated", _subject(_exact, _steeper(1.02)), probe_drawn, words),
        ("drawn without the least likely output", _subject(_exact, _cut), probe_drawn, words),
        ("one word in a hundred stays", _subject(_exact, _own_word_kept), probe_drawn, words),
        ("uniforms of eight bits", _subject(_exact, _coarse), probe_drawn, words),
    )  # fmt: skip
    return [
        Mutant(f"finite: {name}", subject, probe, check, genuine=GENUINE_FINITE)
        for name, subject, probe, check in rows
    ]
