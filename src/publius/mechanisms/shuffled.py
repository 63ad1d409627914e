"""Labels that leave without ids and without order promise more: `publius.privacy.shuffling` has the theorem."""

from __future__ import annotations

import functools
from typing import final

from publius.errors import PolicyError, UsageError
from publius.mechanisms.mechanism import Mechanism
from publius.mechanisms.randomized_response import RandomizedResponse
from publius.privacy.shuffling import ShuffledGuarantee, Shuffling, default_delta


@final
class Shuffled:
    """What ``documents`` labels of ``mechanism`` promise to each author when they leave without ids and order.

    It asks of a release: no ids, no order that depends on the documents, no kept fields (beside one, n is the number of
    rows with the same value); n public; what was drawn for the others not known from elsewhere; at most c documents a
    person. Epsilon of one document stays true beside it, for those who know which row is whose.

    >>> import publius
    >>> labels = publius.RandomizedResponse(publius.Values(["open", "closed"]), epsilon=5)
    >>> publius.Shuffled(labels, documents=10_000).guarantee.epsilon < 1
    True

    Args:
        mechanism: labels by randomized response; `PolicyError` for words, whose bags are as good as an id.
        documents: n, how many rows are released together.
        documents_per_author: c, the most documents of one author.
        delta: what is stated to the author; by default min(1e-6, 1 / (100 n)).

    Raises `UsageError` for numbers that do not exist.
    """

    def __init__(
        self, mechanism: Mechanism, documents: int, documents_per_author: int = 1, delta: float | None = None
    ) -> None:
        if not isinstance(mechanism, RandomizedResponse):
            raise PolicyError(
                f"shuffling adds nothing that can be stated for {mechanism.name}: a bag of words is as good as an id"
            )
        self.documents, self.documents_per_author = documents, documents_per_author
        self._shuffling = Shuffling(mechanism.epsilon, len(mechanism.labels), documents)
        self.delta = default_delta(documents) if delta is None else delta
        if not 0 <= self.delta < 1:
            raise UsageError(f"delta must be a number from 0 and below 1, not {delta!r}")
        if documents_per_author > documents:
            raise UsageError(f"of {documents:,} documents an author cannot have {documents_per_author:,}")

    @functools.cached_property
    def guarantee(self) -> ShuffledGuarantee:
        """(epsilon, delta) of an author with all documents, rounded up."""
        return self._shuffling.guarantee(self.delta, documents_per_author=self.documents_per_author)
