"""The cost of a run in a ledger: noted as its documents go by, refused early, debited as one before the release."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import final

from publius.documents.corpus import BadDocument, Document
from publius.privacy.ledger import Charge, Ledger
from publius.releases.engines.worker_pool import Batch
from publius.releases.plan import Plan


@final
class Charges:
    """The charges of a run, by the positions of its documents; without a ledger nothing is noted and paid."""

    def __init__(self, ledger: Ledger | None, plan: Plan) -> None:
        """`PolicyError` for what no budget covers, before any work is done."""
        self._ledger, self._plan = ledger, plan
        if ledger is not None:
            plan.charges(ledger, ())
        self._charges: dict[int, Charge] = {}

    @property
    def any(self) -> bool:
        """Whether there is a ledger."""
        return self._ledger is not None

    def note(self, batches: Iterable[Batch], *, finished: bool = False) -> Iterator[Batch]:
        """The same batches; `BudgetError` at the first with a document that has not enough left.

        Batches ``finished`` before an interruption are not refused: they may have been paid for already.
        """
        for batch in batches:
            if self._ledger is not None:
                documents = [item for item in batch if isinstance(item, Document)]
                new = self._plan.charges(self._ledger, [item.charged for item in documents])
                if not finished:
                    self._ledger.admit(new)
                self._charges.update(zip([item.position for item in documents], new, strict=True))
            yield batch

    def pay(self, left_out: Sequence[BadDocument], *, token: str | None = None) -> None:
        """Debit everything but what was left out in one durable step, or nothing: `BudgetError`.

        A run that can be resumed gives its ``token``: it is debited once, however often it goes on.
        """
        for (
            item
        ) in left_out:  # by position: a repeated id is also that of an earlier document, which is released
            self._charges.pop(item.position, None)
        if self._ledger is not None:
            self._ledger.spend(self._charges.values(), token=token)
