"""What a mechanism does to public words: exact where output probabilities are available, simulated where not."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import asdict, dataclass
from functools import cache, partial
from typing import Any, NamedTuple, final

import numpy as np

from publius import __version__
from publius.arrays import IndexArray
from publius.distances.metrics import is_own
from publius.embeddings.catalogue import computed
from publius.embeddings.embeddings import Embeddings
from publius.errors import PolicyError, UsageError
from publius.files.user_code import is_foreign
from publius.mechanisms.kernel import Kernel
from publius.mechanisms.kernels.laplace import Laplace
from publius.mechanisms.lifted import Lifted
from publius.noise.laplace import EuclideanLaplace
from publius.noise.randomness import Generator, seeded_rng, system_rng
from publius.settings import EUCLIDEAN
from publius.statistics import Interval, clopper_pearson

WORDS = 400
DRAWS = 20_000
REMAINDER = 0.01  # the effective support leaves out at most this probability
_LEVEL = 0.01  # of an interval of what was drawn
_ROWS = 16
_PANEL = 5 * WORDS  # of the vocabulary, all frequent words in the first; its products stay in the cache
_LARGEST = 1e4


@final
@dataclass(frozen=True)
class LikelyWord:
    """A likely output of a word: its probability and its distance from the word in the mechanism's metric."""

    word: str
    probability: float
    distance: float


@final
@dataclass(frozen=True)
class WordOutcomes:
    """The distribution of outputs for a word: how often it stays, with a 99 % interval where that was drawn."""

    word: str
    stay: float
    stay_low: float
    stay_high: float
    support: int  # the least number of words with probability at least 0.99 together; from draws a lower bound
    expected_distance: float
    outputs: tuple[LikelyWord, ...]  # likeliest first
    draws: int | None  # None where exact

    def record(self) -> dict[str, Any]:
        """As ``publius explain --word --json`` prints it: an interval where it was drawn."""
        found = {**asdict(self), "exact": self.draws is None}
        if self.draws is None:
            del found["stay_low"], found["stay_high"]
        return found


def outcomes(
    mechanism: Kernel, word: str, *, count: int = 10, draws: int = DRAWS, rng: Generator | None = None
) -> WordOutcomes:
    """The outputs of a mechanism for the public ``word``; `UsageError` when it is not in the vocabulary."""
    embeddings = mechanism.embeddings
    index = embeddings.index(word)
    if index is None:
        raise UsageError(
            f"{word!r} is not in the vocabulary {embeddings.name!r}: it would become the unknown token, which stands at "
            f"{embeddings.word(embeddings.unknown_index)!r}"
        )
    logs = getattr(mechanism, "log_probabilities", None)
    if logs is not None:
        row = np.exp(logs(np.array([index]))[0])
        row /= row.sum()
    else:
        found = mechanism.draw([np.full(draws, index)], [rng or system_rng()])[0]
        row = np.bincount(found, minlength=embeddings.size) / draws
    order = np.argsort(-row, kind="stable")
    reached = order[row[order] > 0]
    far = np.zeros(len(row))
    far[reached] = mechanism.metric.pairwise(embeddings.vectors[[index]], embeddings.vectors[reached])[0]
    support = min(1 + int(np.searchsorted(np.cumsum(row[order]), 1 - REMAINDER)), len(reached))
    stay = float(row[index])
    near = Interval(stay, stay, stay) if logs else clopper_pearson(round(stay * draws), draws, _LEVEL)
    likely = (LikelyWord(embeddings.word(i), float(row[i]), float(far[i])) for i in reached[:count].tolist())
    return WordOutcomes(
        embeddings.word(index), stay, near.low, near.high, support, float(row @ far), tuple(likely), None if logs else draws
    )  # fmt: skip


class Distortion(NamedTuple):
    """The average effect of a mechanism on a list of public words: the share that stays, and the mean d(word, output)."""

    unchanged: float
    mean_distance: float


def distortion(mechanism: Kernel, words: IndexArray, *, draws: int = 20, rng: Generator | None = None) -> Distortion:
    """Exact where output probabilities are available, from ``draws`` draws a word where not."""
    vectors, metric = mechanism.embeddings.vectors, mechanism.metric
    words = np.asarray(words, np.int64)
    logs = getattr(mechanism, "log_probabilities", None)
    if logs is not None:
        stayed, moved_by = 0.0, 0.0
        for start in range(0, len(words), _ROWS):
            part = words[start : start + _ROWS]
            chances = np.exp(logs(part))
            stayed += float(chances[np.arange(len(part)), part].sum())
            moved_by += float(np.einsum("ij,ij->", chances, metric.pairwise(vectors[part], vectors)))
        return Distortion(stayed / len(words), moved_by / len(words))
    repeated = np.tile(words, draws)
    found = mechanism.draw([repeated], [rng or system_rng()])[0]
    moved = np.flatnonzero(found != repeated)
    far = metric.paired(vectors[repeated[moved]], vectors[found[moved]])
    return Distortion((len(found) - len(moved)) / len(found), float(far.sum()) / len(found))


def setting(mechanism: Lifted) -> dict[str, Any]:
    """The certificate and what it does to public words: constants, pairs, share unchanged, utility."""
    from publius.mechanisms.finite.base import AbstractFinite  # which a release of the paper's mechanism does without
    from publius.privacy.bounds import displacement_quantile, lower_bound_after_nearest, paper_bound_refuted

    kernel, facts = mechanism.kernel, mechanism.facts()
    found = of_frequent_words(kernel)
    n, utility = kernel.embeddings.dimension, None
    if isinstance(kernel, Laplace) and kernel.metric.name == EUCLIDEAN:
        near = displacement_quantile(kernel.epsilon, mechanism.length, n, 0.5)
        at = kernel.epsilon, mechanism.length, n, 2 * near
        probability, refuted = lower_bound_after_nearest(*at), paper_bound_refuted(*at)
        utility = {"distance": 2 * near, "probability": probability, "paper_refuted": refuted}
    worst = [*map(kernel.embeddings.word, kernel.constant.worst)] if isinstance(kernel, AbstractFinite) else None
    kept = "mechanism epsilon delta length metric evidence exponent_per_distance nearest_pair typical_pair".split()
    return {
        **{name: facts[name] for name in kept}, "parameters": facts["mechanism_parameters"], "worst_pair": worst,
        **found._asdict(), "unchanged": share_unchanged(kernel), "utility": utility,
    }  # fmt: skip


def of_frequent_words(kernel: Kernel) -> Distortion:
    """What a mechanism does to frequent public words; kept, but for a class from outside, whose code may change."""
    made = partial(distortion, kernel, frequent_words(kernel.embeddings), draws=5, rng=seeded_rng(1))
    if is_foreign(type(kernel)) or is_own(kernel.metric):
        return made()
    asked = [__version__, kernel.name, kernel.metric.name, repr(kernel.epsilon), vars(kernel.chosen)]
    facts = {"frequent words": asked, "sha256": kernel.embeddings.sha256}
    return computed(facts, Distortion, lambda kept: 0 <= kept.unchanged <= 1 + 1e-9 and kept.mean_distance >= 0, made)


def share_unchanged(kernel: Kernel) -> float:
    """The share of frequent public words that a mechanism leaves as they are; where it is drawn, within 3 points.

    The paper's noise r*u / epsilon, Gamma(n) in length r and uniform in direction u, leaves a word w where it is if r*s <
    epsilon, s the largest slope 2 u.(v-w) / |v-w|^2 to another word v. Those of seeded directions serve every epsilon, so
    they are kept; the chance of such a length is exact. In a line or plane words may lie too close for float32.
    """
    if type(kernel) is not Laplace or kernel.metric.name != EUCLIDEAN or kernel.embeddings.dimension < 3:
        return of_frequent_words(kernel).unchanged
    facts = {"slopes of frequent words": __version__, "sha256": kernel.embeddings.sha256}
    slopes = computed(facts, list[float], lambda kept: bool(kept) and min(kept) >= 0, partial(_slopes, kernel))
    r, k = kernel.epsilon / np.maximum(slopes, 1e-9 * kernel.epsilon), np.arange(kernel.embeddings.dimension)
    longer = np.exp(k * np.log(r)[:, None] - r[:, None] - np.cumsum(np.log(np.maximum(k, 1)))).sum(axis=1)
    return round(1 - float(longer.mean()), 4)


def _slopes(kernel: Kernel) -> list[float]:
    """From each frequent word in a direction and its opposite; float32 finds the largest, float64 says how large it is."""
    vectors, words = kernel.embeddings.vectors, frequent_words(kernel.embeddings)
    dot = partial(np.einsum, "ij,ij->i")  # not BLAS: the same on every processor
    unit = max(float(np.abs(vectors[words]).max()), 1e-30)
    own, ones, most = vectors[words] / np.float64(unit), np.ones((len(words), 1)), np.zeros((2, len(words)))
    ways = EuclideanLaplace(own.shape[1], 1.0).sample(seeded_rng(1), len(own))
    ways /= np.sqrt(dot(ways, ways))[:, None]
    rows = np.block([[-own, ones, dot(own, own)[:, None] / 2], [ways, 0 * ones, -dot(own, ways)[:, None]]]).astype("f4")
    for start in range(0, len(vectors), _PANEL):
        part = vectors[start : start + _PANEL] / np.float64(unit)
        panel = np.column_stack([part, dot(part, part) / 2, np.ones(len(part))]).astype("f4")
        halves, slopes = np.split(rows @ panel.T, 2)
        slopes /= np.maximum(halves, 1e-6, out=halves)
        if start == 0:
            slopes[np.arange(len(own)), words] = 0
        for found in (slopes.argmax(axis=1), slopes.argmin(axis=1)):
            apart = part[found] - own
            slope = 2 * dot(apart, ways) / np.maximum(dot(apart, apart), 1e-300)
            most = np.maximum(most, [slope, -slope])
    _, first, again = np.unique(vectors[: words.max() + 1], axis=0, return_index=True, return_inverse=True)
    most[:, first[again.ravel()[words]] < words] = 1e150  # a copy of an earlier word, which always wins
    return [float(each) / unit for each in most.flat]


def epsilon_for(make: Callable[[float], Kernel], unchanged: float) -> tuple[float, float]:
    """The epsilon at which a mechanism keeps the share ``unchanged`` of public words, and the share found."""
    from scipy.optimize import brentq

    if not 0 < unchanged < 1:
        raise UsageError(f"--unchanged is a share between 0 and 1, not {unchanged!r}")

    @cache
    def share(epsilon: float) -> float:
        try:
            kernel = make(epsilon)
        except PolicyError:  # tight constraints do not exist at small epsilons
            return 0.0
        return distortion(kernel, frequent_words(kernel.embeddings), rng=seeded_rng(1)).unchanged

    low = high = 1.0
    while share(high) < unchanged:
        low, high = high, high * 2
        if high > _LARGEST:
            raise UsageError(f"no epsilon up to {_LARGEST:,.0f} leaves {unchanged:.0%} of words unchanged")
    while low > 1e-3 and share(low) > unchanged:
        low, high = low / 2, low
    if share(low) < unchanged:
        place = brentq(lambda at: share(math.exp(at)) - unchanged, math.log(low), math.log(high), xtol=1e-4)
        low = math.exp(float(place))
    return low, share(low)


def frequent_words(embeddings: Embeddings) -> np.ndarray[Any, np.dtype[np.int64]]:
    """The first plain words of a vocabulary, which mostly stand in order of frequency."""
    plain = [place for place, word in enumerate(embeddings.vocabulary[: 4 * WORDS]) if word.isalpha() and len(word) > 2]
    return np.array(plain[:WORDS] or range(min(WORDS, embeddings.size)), np.int64)
