"""The holder of the originals: an adversary with the mechanism and the exact text of every candidate document.

It sees one released bag, asks which candidate it was made from, and names that one's author. Before the release
every candidate is equally likely to it. Nobody who names authors from one bag alone, whatever it knows or has learned,
does better than the best such rule (the Bayes rule): the author is a function of which document it was, and the rule
takes the likeliest author given all that can be known. Where the mechanism's law over outcomes can be written down,
the success of that rule is computed; elsewhere a likelihood that can be computed stands in for it, and the figure is
a lower bound.

Who knows which bags belong together, all those of one author, learns more: `together_by_law` and `together_by_scores`
attack them as one.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import combinations_with_replacement
from typing import TYPE_CHECKING, Final

import numpy as np

from publius.arrays import Float64Array, IndexArray
from publius.evaluation.transition import AbstractTransition
from publius.noise.randomness import Generator

if TYPE_CHECKING:
    from scipy.sparse import csr_array

MOST_OUTCOMES: Final = 20_000
"""Bags up to which the law over them all is written down."""

CANDIDATES_AT_ONCE: Final = 128


def exact_naming(law: Float64Array, authors: Sequence[str]) -> Float64Array:
    """How often each author is named for each document by the best rule, shape (k, authors), sorted by name.

    Args:
        law: probability of each outcome for each candidate document, shape (k, outcomes).
        authors: of the k documents, all equally likely.

    For each outcome the rule names the author whose documents give it the most probability together; authors that
    are equal there share it.

    """
    totals = _by_author(law, authors)
    best = totals >= totals.max(axis=0) * (1 - 1e-12)
    return np.asarray(law @ (best / best.sum(axis=0)).T)


def exact_success(law: Float64Array, authors: Sequence[str]) -> Float64Array:
    """How often the author of each document is named by the best rule, shape (k,); the mean is its success."""
    return success_of(exact_naming(law, authors), authors)


def success_of(naming: Float64Array, authors: Sequence[str]) -> Float64Array:
    """How often each document's own author is named, shape (k,)."""
    return np.asarray(naming[np.arange(len(authors)), _places(authors)])


def _places(authors: Sequence[str]) -> IndexArray:
    names = {name: place for place, name in enumerate(sorted(set(authors)))}
    return np.array([names[author] for author in authors], np.int64)


def _by_author(values: Float64Array, authors: Sequence[str]) -> Float64Array:
    totals = np.zeros((len(set(authors)), values.shape[1]))
    np.add.at(totals, _places(authors), values)
    return totals


DRAWS: Final = 1_000
"""How often all bags of an author are drawn to find how often he is named from them together."""

_FEWEST_DRAWS: Final = 100
_MOST_STEPS: Final = 10**9


def together_by_law(law: Float64Array, authors: Sequence[str], rng: Generator) -> tuple[Float64Array, int]:
    """How often each author is named from all bags of his together, in the order of the sorted names, shape (authors,).

    The adversary holds all originals and knows which bags belong together; before the release every author is equally
    likely to it. It names the author with the largest product, over the bags, of the mean probability under his
    documents: a lower bound of the best rule, which would weigh every way of matching bags and documents. Each
    author's bags are drawn as often as the second number says.

    Args:
        law: probability of each outcome for each candidate document, shape (k, outcomes).
        authors: of the k documents.
        rng: for the draws.

    """
    places = _places(authors)
    count = int(places.max()) + 1
    draws = max(_FEWEST_DRAWS, min(DRAWS, _MOST_STEPS // (len(places) * count)))
    means = _by_author(law, authors) / np.bincount(places)[:, None]
    logs = np.log(np.maximum(means, 1e-300)).T
    ends = np.cumsum(law, axis=1)
    named = np.zeros(count)
    for author in range(count):
        scores = np.zeros((draws, count))
        for document in np.flatnonzero(places == author):
            drawn = np.searchsorted(ends[document], rng.random(draws) * ends[document, -1], side="right")
            scores += logs[np.minimum(drawn, law.shape[1] - 1)]
        best = scores >= scores.max(axis=1, keepdims=True) - 1e-9
        named[author] = (best[:, author] / best.sum(axis=1)).mean()
    return named, draws


def together_by_scores(scores: Float64Array, authors: Sequence[str]) -> Float64Array:
    """Whether each author is named from all bags of his that were released, shape (authors,): the same rule, one draw.

    Args:
        scores: how likely each released bag is under each candidate document, in nats, shape (k, k).
        authors: of the k documents, and of the k bags in the same order.

    """
    places = _places(authors)
    means = author_scores(scores, authors) - np.log(np.bincount(places))
    sums = np.zeros((means.shape[1], means.shape[1]))
    np.add.at(sums, places, means)
    best = sums >= sums.max(axis=1, keepdims=True) - 1e-9
    return np.asarray(np.diag(best) / best.sum(axis=1))


# Word mechanisms ------------------------------------------------------------------------------------------


def outcomes_of_bags(vocabulary: int, size: int) -> int:
    """How many bags of ``size`` words there are."""
    return math.comb(vocabulary + size - 1, size)


def bag_law(rows: Float64Array) -> dict[tuple[int, ...], float]:
    """The probability of every released bag, as sorted words, where word i of a document has the law ``rows[i]``.

    Shape of ``rows``: (N, V). Words are drawn one after the other and added to the bag, so the sum over orders is
    never written out: the number of steps is N times V times the number of bags.
    """
    law: dict[tuple[int, ...], float] = {(): 1.0}
    for row in rows:
        longer: dict[tuple[int, ...], float] = {}
        for bag, probability in law.items():
            for word, share in enumerate(row.tolist()):
                key = tuple(sorted((*bag, word)))
                longer[key] = longer.get(key, 0.0) + probability * share
        law = longer
    return law


def bag_laws(rows: Sequence[Float64Array]) -> Float64Array:
    """The law over all bags for each document, shape (k, bags): see `bag_law`."""
    size, vocabulary = rows[0].shape
    bags = list(combinations_with_replacement(range(vocabulary), size))
    found = [bag_law(each) for each in rows]
    return np.array([[law.get(bag, 0.0) for bag in bags] for law in found])


def mixture_scores(
    documents: Sequence[IndexArray], counts: csr_array, transition: AbstractTransition
) -> Float64Array:
    """How likely each released bag is under each candidate document, in nats, shape (bags, k).

    The released words are taken for independent draws from the document's own words pushed through the mechanism.
    That ignores that each word of the document gives exactly one, so this is an attack and no likelihood: its
    success is a lower bound of what the holder of the originals achieves.

    Args:
        documents: vocabulary indices of each candidate.
        counts: of the released words, shape (bags, V).
        transition: of the mechanism, exact.

    """
    scores = np.zeros((counts.shape[0], len(documents)))
    used = np.unique(counts.indices)
    seen = counts[:, used]
    for start in range(0, len(documents), CANDIDATES_AT_ONCE):
        block = documents[start : start + CANDIDATES_AT_ONCE]
        pushed = _pushed(block, transition)[:, used]
        scores[:, start : start + len(block)] = seen @ np.log(np.maximum(pushed, 1e-300)).T
    return scores


def _pushed(documents: Sequence[IndexArray], transition: AbstractTransition) -> Float64Array:
    words = np.unique(np.concatenate(list(documents)))
    shares = np.zeros((len(documents), len(words)))
    for row, document in enumerate(documents):
        np.add.at(shares[row], np.searchsorted(words, document), 1 / len(document))
    return transition.push(shares, words)


# Both -----------------------------------------------------------------------------------------------------


def author_scores(scores: Float64Array, authors: Sequence[str]) -> Float64Array:
    """From log likelihoods of documents, shape (bags, k), those of authors, shape (bags, authors), sorted by name."""
    from scipy.special import logsumexp

    places = _places(authors)
    columns = [logsumexp(scores[:, places == place], axis=1) for place in range(len(set(authors)))]
    return np.stack(columns, axis=1)


def success_at_most(exponents: Float64Array, authors: Sequence[str], delta: float = 0.0) -> float:
    """No adversary names the author of one document, from its bag alone, more often than this: by the guarantee alone.

    Args:
        exponents: nats between each two candidate documents, shape (k, k).
        authors: of the k documents.
        delta: of the guarantee of one document.

    Whatever is seen is at least exp(-x) times as probable under another document that is x nats away, so the
    probability of the best author given the release has a limit; for k documents by k authors, all x apart, it is
    exp(x) / (exp(x) + k - 1).

    """
    places = _places(authors)
    limits = []
    for place in range(len(set(authors))):
        own = places == place
        away = exponents[np.ix_(own, ~own)].max(axis=0)
        limits.append(1 / (1 + np.exp(-away).sum() / own.sum()))
    return min(1.0, float(max(limits)) * (1 + 1e-12) + len(places) * delta)


def limit_of_bound(bound: float, authors: Sequence[str], delta: float = 0.0) -> float:
    """As `success_at_most` where any two documents are within ``bound`` nats."""
    return success_at_most(np.full((len(authors), len(authors)), bound), authors, delta)
