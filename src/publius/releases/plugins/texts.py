"""Base of the plug-ins: texts in, releases out, under one plan."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, Self, final

from publius.documents.corpus import accepted, given_document
from publius.errors import UsageError
from publius.mechanisms import mechanism as base
from publius.mechanisms.kernel import Kernel
from publius.noise.randomness import RunKey
from publius.privacy.ledger import Ledger
from publius.releases.plan import Plan
from publius.releases.protect import protect
from publius.releases.release import Release
from publius.settings import ReleaseSettings

Mechanism = Kernel | base.Mechanism


class ProtectedTable(NamedTuple):
    """A protected table, in the kind of the library that it came from, and the manifest of its release."""

    table: Any
    manifest: dict[str, Any]


@final
@dataclass(frozen=True)
class Texts:
    """Releases texts under one plan, each call under a key of its own."""

    plan: Plan
    ledger: Ledger | None = None

    @classmethod
    def of(cls, mechanism: Mechanism | None, ledger: Ledger | None = None, **settings: Any) -> Self:
        """With a ``mechanism`` or the one that ``settings`` name: those of `publius.settings.ReleaseSettings`.

        `UsageError` for a word mechanism without a ``length``, for ``seed`` and ``experiment``, and for ordered text.
        """
        if refused := sorted({"seed", "experiment", "order", "keep_between"} & {*settings}):
            raise UsageError(f"{refused[0]} is not offered here: what other tools get is a release, of bags")
        plan = Plan.of(ReleaseSettings(**settings), mechanism)
        if plan.mechanism.needs_length and settings.get("length") is None:
            raise UsageError("a release of words needs a public length N: give length=N")
        return cls(plan, ledger)

    def release(self, texts: Iterable[str], ids: Sequence[str] | None = None) -> list[Release]:
        """A release of each text; a ledger charges them to their ``ids``, all or none, before any draw.

        `DocumentError` for the first text that is none, `UsageError` where a ledger has no id to charge for each,
        `BudgetError` when a budget is spent.
        """
        documents = [
            accepted(given_document(str(place), text, place)) for place, text in enumerate(texts, start=1)
        ]
        if self.ledger is not None:
            if ids is None or not all(isinstance(each, str) for each in ids):
                raise UsageError("a ledger charges documents by their ids: give them")
            if len(ids) != len(documents):
                raise UsageError(f"{len(documents)} texts need as many ids to be charged to, not {len(ids)}")
            charged = [accepted(given_document(id, "-", place)) for place, id in enumerate(ids, start=1)]
            self.ledger.spend(self.plan.charges(self.ledger, [each.charged for each in charged]))
        results, _ = protect(documents, self.plan, RunKey.fresh())
        return [accepted(result) for result in results]

    def counts(self, texts: Iterable[str], ids: Sequence[str] | None = None) -> list[dict[str, int]]:
        """The words of each released bag with their counts, in the order of the alphabet."""
        return [dict(released.bag.counts) for released in self.release(texts, ids)]

    def manifest(self, documents: int) -> dict[str, Any]:
        """The manifest of a release of so many documents, as JSON has it."""
        return dict(json.loads(json.dumps(self.plan.manifest(documents))))
