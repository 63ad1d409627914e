"""A document mechanism whose rows leave without ids and without order: the crowd hides each document further.

`publius.privacy.crowd` has the theorem. What it asks of a release, all of it public and to be stated with the numbers:

- No ids, no order of rows or files that depends on the documents, no fields that are kept. Where a public field is kept
  the crowd is the documents with the same value, and n is their number.
- n is public: an author's documents are replaced one for one.
- What was drawn for the others is not known from elsewhere. A document that is released twice counts no more.
- A person has at most c documents, fixed before looking.

The bound of the mechanism stays true beside it, for those who know which row is whose.
"""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import final

from publius.errors import DataError, PolicyError, UsageError
from publius.mechanisms.kernel import Kernel
from publius.mechanisms.lifted import Lifted
from publius.mechanisms.position import Position
from publius.mechanisms.prototype import Prototype
from publius.mechanisms.randomized_response import RandomizedResponse
from publius.privacy.crowd import Crowd, CrowdGuarantee, ShareEstimate, default_delta, unbiased_shares


@final
class Shuffled:
    """The promise of ``documents`` rows of ``mechanism`` without ids and order to each author.

    Args:
        mechanism: a `Prototype` or `RandomizedResponse`; `PolicyError` for any other, with the reason.
        documents: n, how many rows are released together.
        documents_per_author: c, the most documents of one author.
        delta: what is stated to the author; by default min(1e-6, 1 / (100 n)).

    Raises `UsageError` for numbers that do not exist.
    """

    def __init__(
        self,
        mechanism: object,
        documents: int,
        documents_per_author: int = 1,
        delta: float | None = None,
    ) -> None:
        if not isinstance(mechanism, Prototype | RandomizedResponse):
            raise PolicyError(_reason(mechanism))
        self.mechanism = mechanism
        self.documents, self.documents_per_author = documents, documents_per_author
        self._bound, self._outcomes = _bound_of(mechanism), len(mechanism.outcomes)
        self._crowd = Crowd(self._bound, self._outcomes, documents)
        self.delta = default_delta(documents) if delta is None else delta
        if not 0 <= self.delta < 1:
            raise UsageError(f"delta must be a number from 0 and below 1, not {delta!r}")
        if documents_per_author > documents:
            raise UsageError(f"of {documents:,} documents an author cannot have {documents_per_author:,}")

    @functools.cached_property
    def guarantee(self) -> CrowdGuarantee:
        """(epsilon, delta) of an author with all of his documents, rounded up."""
        return self._crowd.guarantee(self.delta, documents_per_author=self.documents_per_author)

    def delta_at(self, epsilon: float) -> float:
        """The author's delta at another ``epsilon``, rounded up."""
        return self._crowd.delta_at(epsilon, documents_per_author=self.documents_per_author)

    def shares(self, counts: Sequence[int], *, level: float = 0.95) -> list[ShareEstimate]:
        """Each prototype's share of the documents, from how often each was released; by inverting the known law.

        A row shows k with probability (1 + (e^B - 1) q_k) / Z, q the law of its document, so that the mean of q_k over
        all documents is (Z count_k / n - 1) / (e^B - 1) in the mean. With gamma 0 that is the share of documents
        whose prototype is k, otherwise the mean of their soft memberships. A count is a sum of independent rows of
        different chances, which varies less than a binomial one (Hoeffding 1956): so the intervals of Clopper and
        Pearson hold, here for all M prototypes together (each at 1 - (1 - level) / M). The noise alone is covered:
        what the documents themselves are a sample of is another question.

        `DataError` unless there is one count for each prototype and they sum to n.
        """
        outcomes, n = self._outcomes, self.documents
        values = [int(count) for count in counts]
        if len(values) != outcomes or min(values) < 0 or sum(values) != n:
            raise DataError(
                f"there must be {outcomes} counts from 0 that sum to {n:,}, one for each prototype"
            )
        return unbiased_shares(values, self._bound, outcomes, n, level=level)


def _bound_of(mechanism: Prototype | RandomizedResponse) -> float:
    bound = mechanism.guarantee.bound
    if bound is None:
        raise PolicyError(
            "a prototype mechanism without a bound between any two documents has no crowd to hide in"
        )
    return bound


def _reason(mechanism: object) -> str:
    name = getattr(mechanism, "name", type(mechanism).__name__)
    if isinstance(mechanism, Kernel | Lifted):
        return (
            f"the crowd adds nothing that can be stated for {name}: a bag of words replaced one by one is as good as "
            "an id, and no outcome has a chance that is the same for all documents. Use the mechanism prototype"
        )
    if isinstance(mechanism, Position):
        return (
            "the crowd adds nothing that can be stated for position: its noise is centred on the document, so no share "
            "of the rows is drawn the same way whatever the document is. Use the mechanism prototype"
        )
    return f"the crowd's guarantee is proven for the mechanism prototype only, not for {name}"
