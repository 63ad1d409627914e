"""What a setting of words comes to, from public words alone: before a document is looked at."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import cache
from typing import Any, Final

import numpy as np

from publius.embeddings.embeddings import Embeddings
from publius.errors import PolicyError, UsageError
from publius.mechanisms.finite.base import AbstractFinite
from publius.mechanisms.kernel import Kernel
from publius.mechanisms.lifted import Lifted
from publius.mechanisms.word_outcomes import Distortion, distortion
from publius.noise.randomness import seeded_rng
from publius.privacy.bounds import displacement_quantile, lower_bound_after_nearest, paper_bound_refuted

WORDS: Final = 400
_DRAWS: Final = 5
_LARGEST: Final = 1e4


def setting(mechanism: Lifted) -> dict[str, Any]:
    """The certificate and what it does to public words: constants, pairs, share unchanged, utility."""
    kernel, facts = mechanism.kernel, mechanism.facts()
    found = of_frequent_words(kernel)
    n = kernel.utility_dimension
    utility = None
    if n is not None:
        near = displacement_quantile(kernel.epsilon, mechanism.length, n, 0.5)
        at = kernel.epsilon, mechanism.length, n, 2 * near
        utility = {
            "distance": 2 * near,
            "probability": lower_bound_after_nearest(*at),
            "paper_refuted": paper_bound_refuted(*at),
        }
    worst = None
    if isinstance(kernel, AbstractFinite):
        worst = [kernel.embeddings.word(place) for place in kernel.constant.worst]
    kept = (
        "mechanism", "epsilon", "delta", "length", "metric", "evidence", "exponent_per_distance",
        "nearest_pair", "typical_pair",
    )  # fmt: skip
    return {
        **{name: facts[name] for name in kept}, "parameters": facts["mechanism_parameters"],
        "worst_pair": worst, "unchanged": found.unchanged, "mean_distance": found.mean_distance, "utility": utility,
    }  # fmt: skip


def of_frequent_words(kernel: Kernel) -> Distortion:
    """What a mechanism does to frequent public words; its noise is seeded, nothing is released."""
    return distortion(kernel, words_of(kernel.embeddings), draws=_DRAWS, rng=seeded_rng(1))


def epsilon_for(make: Callable[[float], Kernel], unchanged: float) -> tuple[float, float]:
    """The epsilon at which a mechanism keeps the share ``unchanged`` of public words, and the share found.

    The words are public and the noise seeded, nothing is released. `UsageError` where no epsilon up to 10,000 does.
    """
    from scipy.optimize import brentq

    if not 0 < unchanged < 1:
        raise UsageError(f"--unchanged is a share between 0 and 1, not {unchanged!r}")

    @cache
    def share(epsilon: float) -> float:
        try:
            kernel = make(epsilon)
        except PolicyError:  # tight constraints do not exist at small epsilons
            return 0.0
        return distortion(kernel, words_of(kernel.embeddings), rng=seeded_rng(1)).unchanged

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


def words_of(embeddings: Embeddings) -> np.ndarray[Any, np.dtype[np.int64]]:
    """The first plain words of a vocabulary, which mostly stand in order of frequency."""
    plain = [place for place, word in enumerate(embeddings.vocabulary[: 4 * WORDS]) if word.isalpha() and len(word) > 2]
    return np.array(plain[:WORDS] or range(min(WORDS, embeddings.size)), np.int64)
