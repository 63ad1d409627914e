"""Two releases of the same texts: how often a row of the one is matched with the row of the same text in the other.

Whoever links knows the mechanism and the exact texts, and that both releases hold all of them, each once, in a secret
order. For two rows that show k and l he compares how probable that is for one text with how probable it is for two: the
mean over the texts x of P_x(k) P_x(l) against the product of the means. For each row of the first release he takes the
row of the second with the largest ratio, the first of equals at random. No ratio is above e^B, which bounds what
anybody can find of a pair that he sees alone; who sees all rows can be surer (`posterior_with_all_rows`).
"""

from __future__ import annotations

from typing import Final

import numpy as np

from publius.arrays import Float64Array
from publius.noise.randomness import Generator
from publius.privacy.guarantee import posterior_with_all_rows

DRAWS: Final = 40


def linked_releases(law: Float64Array, bound: float, rng: Generator) -> dict[str, float]:
    """The share of rows that are matched rightly, the mean over `DRAWS` pairs of releases; beside chance and ceiling.

    Args:
        law: the probability of each outcome for each text, shape (n, M).
        bound: nats between any two texts.
        rng: for the draws.
    """
    count = len(law)
    means = law.mean(axis=0)
    ratio = (law.T @ law / count) / np.outer(means, means)
    ends = np.cumsum(law, axis=1)
    named = 0.0
    for _ in range(DRAWS):
        one, two = (
            np.minimum((ends < rng.random(count)[:, None] * ends[:, -1:]).sum(axis=1), law.shape[1] - 1)
            for _ in range(2)
        )
        shown = np.bincount(two, minlength=law.shape[1])
        seen = np.where(shown > 0, ratio[one], -np.inf)
        best = seen >= seen.max(axis=1, keepdims=True) * (1 - 1e-12)
        own = best[np.arange(count), two]
        named += float((own / (best * shown).sum(axis=1)).mean())
    return {
        "texts": count,
        "named": named / DRAWS,
        "chance": 1 / count,
        "ceiling": posterior_with_all_rows(bound, count),
    }
