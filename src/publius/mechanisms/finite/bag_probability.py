"""The probability of a given bag, K*(b){c}: the permanent of K(x_i){c_j}, divided by the orders of equal words of c.

It is added up word by word over the bags that the words so far can have become: positive numbers in logarithms, so nothing
cancels or underflows. No quick way to a permanent is known; a bag of many different words is refused.
"""

from __future__ import annotations

import math
from typing import Final

import numpy as np

from publius.embeddings.embeddings import word_indices
from publius.errors import UsageError
from publius.mechanisms.kernel import Kernel
from publius.text.bag import UNKNOWN, Bag

MOST_STATES: Final = 2**18  # bags that a part of the words can have become; 18 different words make as many


def log_probability(mechanism: Kernel, original: Bag, released: Bag) -> float:
    """Ln of the probability with which ``mechanism`` makes ``released`` of ``original``; -inf where it cannot.

    Bags of different sizes never become each other: -inf. `DataError` for words outside the vocabulary, `UsageError`
    for a mechanism without probabilities and where there are more than `MOST_STATES` partial bags.

    >>> import publius
    >>> toy = publius.Embeddings.from_arrays(["north", "south"], [[0.0], [1.0]], name="toy")
    >>> coin = publius.make_kernel("exponential", toy, epsilon=1.0)
    >>> one_of_each = log_probability(coin, Bag(["north", "north"]), Bag(["north", "south"]))
    >>> stays = math.exp(coin.log_probabilities()[0, 0])
    >>> abs(math.exp(one_of_each) - 2 * stays * (1 - stays)) < 1e-12
    True
    """
    row_logs = getattr(mechanism, "log_probabilities", None)
    if row_logs is None:
        raise UsageError(
            "only a mechanism whose output probabilities can be computed says that of a bag: exponential, tight or "
            "another finite one"
        )
    inputs, outputs = (word_indices([*words], mechanism.embeddings) for words in (original.words(), released.counts))
    counts = [*released.counts.values()]
    if original.size != released.size or UNKNOWN in released.counts:  # no mechanism puts out that token
        return -math.inf
    shape = tuple(count + 1 for count in counts)
    if math.prod(shape) > MOST_STATES:
        raise UsageError(
            f"the released bag has {math.prod(shape):,} parts, more than {MOST_STATES:,}: the permanent takes "
            "too long; give bags of fewer different words"
        )
    found, places = np.unique(inputs, return_inverse=True)
    logs = row_logs(found)[:, outputs]
    reached = np.full(shape, -np.inf)
    reached[(0,) * len(shape)] = 0.0
    for row in logs[places]:
        grown = np.full(shape, -np.inf)
        for axis, chance in enumerate(row):
            one_more = (slice(None),) * axis + (slice(1, None),)
            before = (slice(None),) * axis + (slice(None, -1),)
            grown[one_more] = np.logaddexp(grown[one_more], reached[before] + chance)
        reached = grown
    return float(reached[(-1,) * len(shape)]) if counts else 0.0
