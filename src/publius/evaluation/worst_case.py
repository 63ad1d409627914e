"""The worst-case attacker, who knows every original text and the mechanism, and what he leaves to everybody else.

He sees one released row, asks which candidate text it was made from, and names its author; before the release every
candidate is equally likely to him. Nobody who sees that one row does better than the best such rule (Bayes). Where the law
over outcomes can be written down its success is computed; elsewhere a likelihood stands in for it and the figure is a lower
bound of him, and the guarantee alone gives an upper one (docs/theory.md, labels).

Everything is computed within *groups* of texts: what is told beside the row, such as a text's topic or the fold that it is
attacked in, says which group it is of, and the ceiling for everybody told as much is that within it.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from publius.arrays import Float64Array, IndexArray
from publius.evaluation.attackers import naming

if TYPE_CHECKING:
    from publius.evaluation.attackers.informed import Transition
    from publius.noise.randomness import Generator

MOST_COMPARED: Final = 200
"""Texts up to which all Earth Mover's distances between them are computed for the ceiling."""

CANDIDATES: Final = 500
"""Texts, at most, that the worst-case attacker chooses among: of more, so many at random."""

_AT_ONCE: Final = 128
_TRIED_ON: Final = 20


def group_places(facts: Iterable[object]) -> IndexArray:
    """The group of each text: texts with equal ``facts`` are of one group."""
    found: dict[object, int] = {}
    return np.array([found.setdefault(each, len(found)) for each in facts], np.int64)


def each_group(authors: Sequence[str], groups: IndexArray) -> Iterator[tuple[IndexArray, IndexArray]]:
    """For each group the places of its texts, and the place of each one's author among those of the group."""
    places = np.unique(np.asarray(authors, dtype=str), return_inverse=True)[1]
    for group in range(int(groups.max()) + 1):
        at = np.flatnonzero(groups == group)
        yield at, np.unique(places[at], return_inverse=True)[1].astype(np.int64)


# What is known without any row ----------------------------------------------------------------------------


def baseline(authors: Sequence[str], groups: IndexArray) -> Float64Array:
    """How often each text's author is named without a row: by the best rule for one that is always the same, shape (n,)."""
    return exact_success(np.ones((len(authors), 1)), authors, groups)


def candidates_of(authors: Sequence[str], groups: IndexArray) -> float:
    """Among how many authors one is named: the mean over texts of the authors in a text's group."""
    return sum(len(at) * (int(own.max()) + 1) for at, own in each_group(authors, groups)) / len(authors)


# The exact rule -------------------------------------------------------------------------------------------


def exact_success(law: Float64Array, authors: Sequence[str], groups: IndexArray) -> Float64Array:
    """How often the author of each text is named by the best rule from one row, shape (n,).

    ``law`` is the probability of each outcome for each text, shape (n, outcomes). For each outcome the rule names the author
    whose texts in the group give it the most probability together; authors that are equal there share it.
    """
    found = np.zeros(len(authors))
    for at, own in each_group(authors, groups):
        totals = author_totals(law[at], own)
        best = totals >= totals.max(axis=0) * (1 - 1e-12)
        found[at] = (law[at] * (best / best.sum(axis=0))[own]).sum(axis=1)
    return found


def author_totals(law: Float64Array, own: IndexArray) -> Float64Array:
    """The rows of ``law`` added up by the place of their author, shape (authors, outcomes)."""
    totals = np.zeros((int(own.max()) + 1, law.shape[1]))
    np.add.at(totals, own, law)
    return totals


def ceiling_of(exponents: Float64Array, authors: Sequence[str], groups: IndexArray, delta: float = 0.0) -> float:
    """The success that nobody told as much exceeds, by the guarantee alone: the mean over texts.

    ``exponents`` are those of the guarantee between each two texts, shape (n, n). Whatever is seen is at least exp(-x) times
    as probable under another text that is x away, so the probability of the best author given the row has a limit; for n
    texts by n authors, all x apart, it is exp(x) / (exp(x) + n - 1).
    """
    total = 0.0
    for at, own in each_group(authors, groups):
        limits = []
        for author in range(int(own.max()) + 1):
            mine, others = at[own == author], at[own != author]
            away = exponents[np.ix_(mine, others)].max(axis=0)
            limits.append(1 / (1 + np.exp(-away).sum() / len(mine)))
        total += len(at) * min(1.0, max(limits) * (1 + 1e-12) + len(at) * delta)
    return min(1.0, total / len(authors))


def ceiling_of_epsilon(epsilon: float, authors: Sequence[str], groups: IndexArray) -> float:
    """The same where any two texts are within ``epsilon``, as for labels."""
    total = 0.0
    for at, own in each_group(authors, groups):
        most, size = int(np.bincount(own).max()), len(at)
        total += size / (1 + (size - most) / most * math.exp(-epsilon))
    return min(1.0, total / len(authors) * (1 + 1e-12))


# Labels: closed forms -------------------------------------------------------------------------------------


def label_law(answers: IndexArray, labels: int, epsilon: float) -> Float64Array:
    """Randomized response: the probability of each of ``labels`` labels for each answer, shape (n, labels)."""
    other = 1 / (math.exp(epsilon) + labels - 1) if epsilon < 700 else 0.0
    law = np.full((len(answers), labels), other)
    law[np.arange(len(answers)), answers] = 1 - (labels - 1) * other
    return law


# Words ----------------------------------------------------------------------------------------------------


def mixture_scores(texts: Sequence[IndexArray], released: Sequence[IndexArray], transition: Transition) -> Float64Array:
    """How likely each released bag is under each candidate text (ln), shape (bags, texts); both are places of words.

    The released words are taken for independent draws from the text's own words pushed through the mechanism. That ignores
    that each word of the text gives exactly one, so this is an attack and no likelihood: a lower bound of the best.
    """
    seen, counts = _counted(released)
    scores = np.zeros((len(released), len(texts)))
    for start in range(0, len(texts), _AT_ONCE):
        block = texts[start : start + _AT_ONCE]
        words = np.unique(np.concatenate([*block]))
        shares = np.zeros((len(block), len(words)))
        for row, text in enumerate(block):
            np.add.at(shares[row], np.searchsorted(words, text), 1 / max(1, len(text)))
        pushed = transition.push(shares, words)[:, seen]
        scores[:, start : start + len(block)] = counts @ np.log(np.maximum(pushed, 1e-300)).T
    return scores


def distance_scores(
    texts: Sequence[IndexArray], released: Sequence[IndexArray], kernel: Any, rng: Generator
) -> Float64Array:
    """The same for a kernel whose probabilities are not to be had, only its draws.

    How likely a word is to come from another is modelled by their distance: exp(-t d^p). The attacker tries shapes and widths
    on releases that he makes himself of the candidates, and keeps what works best there.
    """
    places = rng.permutation(len(texts))[:_TRIED_ON]
    own = [texts[place] for place in places.tolist()]
    made = kernel.draw(own, [rng] * len(own), threads=1)
    # Power and factor: exponential ones round epsilon, Gaussian ones round the variance (n + 1) / epsilon^2.
    width = kernel.epsilon**2 / (2 * (kernel.embeddings.dimension + 1))
    decays = [*((1, kernel.epsilon * part) for part in (1.5, 1.0, 0.6, 0.3)), (2, width), (2, 4 * width)]
    tried = _by_distance(own, made, kernel, decays)
    right = [float(naming(scores)[np.arange(len(own)), np.arange(len(own))].mean()) for scores in tried]
    return _by_distance(texts, released, kernel, [decays[int(np.argmax(right))]])[0]


def _by_distance(
    texts: Sequence[IndexArray], released: Sequence[IndexArray], kernel: Any, decays: Sequence[tuple[int, float]]
) -> list[Float64Array]:
    seen, counts = _counted(released)
    vectors = kernel.embeddings.vectors
    scores = [np.zeros((len(released), len(texts))) for _ in decays]
    for column, text in enumerate(texts):
        words, times = np.unique(text, return_counts=True)
        distances = kernel.metric.pairwise(vectors[seen], vectors[words])
        for table, (power, factor) in zip(scores, decays, strict=True):
            logs = -factor * distances**power
            most = logs.max(axis=1)
            table[:, column] = counts @ (most + np.log(np.exp(logs - most[:, None]) @ (times / times.sum())))
    return scores


def _counted(released: Sequence[IndexArray]) -> tuple[IndexArray, Any]:
    """The words of all bags, each once, and how often each bag has them."""
    from scipy.sparse import csr_array

    seen, columns = np.unique(np.concatenate([*released]), return_inverse=True)
    rows = np.repeat(np.arange(len(released)), [len(bag) for bag in released])
    return seen, csr_array((np.ones(len(rows)), (rows, columns)), (len(released), len(seen)))


def author_success(scores: Float64Array, authors: Sequence[str], groups: IndexArray) -> Float64Array:
    """How often each bag's author is named, ties by expectation, from ln likelihoods under each text, shape (n, n)."""
    from scipy.special import logsumexp

    found = np.zeros(len(authors))
    for at, own in each_group(authors, groups):
        texts_of = [at[own == author] for author in range(int(own.max()) + 1)]
        sums = np.stack([logsumexp(scores[np.ix_(at, texts)], axis=1) for texts in texts_of], axis=1)
        found[at] = naming(sums)[np.arange(len(at)), own]
    return found
