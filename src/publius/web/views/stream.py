"""Documents that come as lines, released some at a time: checked, then debited, then drawn."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, final

from pydantic import ValidationError

from publius.documents.corpus import REPEATED, BadDocument, Document, given_document
from publius.documents.seen_ids import IdSet
from publius.errors import BudgetError, DocumentError, PolicyError, PubliusError, UsageError
from publius.releases.engines.worker_pool import Batch, protect_batch
from publius.releases.layout import Layout, json_line
from publius.releases.release import Release
from publius.web import requests
from publius.web.errors import fault_of, wrong_form
from publius.web.guards.limits import MOST_WORDS
from publius.web.state import State

Line = tuple[int, bytes | None]
"""The number of a line from 1, and what it holds; None where it is too long."""

_SPENT: Final = (
    "the budget of this line's document, or of its subject, would be overspent: nothing of this line and of those "
    "after it was released or debited. See /v1/account"
)


_NOT_KEPT: Final = (
    "a field beside id, text and subject is not named in keep: leave it out, or name it in the first line"
)
"""Without the name: the answer is handed on whole."""


class StopError(Exception):
    """The stream ends before ``line``: ``lines`` are the answers to those before it.

    ``charged`` documents from there on were debited all the same; ``status`` is for when nothing was answered.
    """

    def __init__(
        self,
        line: int,
        error: Exception,
        lines: bytes = b"",
        *,
        charged: int = 0,
        status: int | None = None,
    ) -> None:
        super().__init__()
        found, self.fault = fault_of(error)
        self.status = status or found
        self.lines, self._facts = lines, {"from": line, "charged": charged}

    def answer(self) -> bytes:
        """The last line of the answer."""
        return json_line({"error": self.fault, **self._facts})


@final
class ReleaseStream:
    """One request's documents under one plan and one key. Not safe in threads: a part is answered after another."""

    def __init__(self, state: State, asked: requests.Stream) -> None:
        """`UsageError` for too many words at once; `PolicyError` for a choice that would tell who holds which words."""
        self._plan = plan = state.plan(asked)
        self.rows = asked.rows(plan.size)
        if self.rows * plan.size > MOST_WORDS:
            raise UsageError(f"batch times length must be at most {MOST_WORDS:,}: choose a smaller batch")
        if plan.encoding.unknown == "reject":
            raise PolicyError(
                "'reject' stops at a document with unknown words, so in a stream an unknown word would decide who is "
                "there: choose unk or drop, or send all to /v1/obfuscate, which refuses them together"
            )
        self._ledger = state.ledger
        if self._ledger is not None:
            plan.charges(self._ledger, ())  # refuses here what no budget covers
        self._key, self._ids, self._layout = plan.run_key(), IdSet(), Layout.of(plan)
        self._released = self._missing = 0

    def answers(self, lines: Sequence[Line]) -> bytes:
        """A line for each of ``lines``, in their order. `StopError` where a budget is spent or something fails."""
        batch, stop = self._paid([self._read(*line) for line in lines])
        try:
            results, _ = protect_batch(batch, self._plan, self._key)
            made = b"".join(map(self._line, results))
        except Exception as error:
            paid = sum(isinstance(item, Document) for item in batch) if self._ledger is not None else 0
            raise StopError(lines[0][0], error, charged=paid) from None
        bad = sum(isinstance(found, BadDocument) for found in results)
        self._released, self._missing = self._released + len(results) - bad, self._missing + bad
        if stop is not None:
            stop.lines = made
            raise stop
        return made

    def end(self) -> bytes:
        """The last line of an answer that is whole: the manifest."""
        return json_line({"manifest": self._plan.manifest(self._released, self._missing)})

    def _read(self, number: int, line: bytes | None) -> Document | BadDocument:
        if line is None:
            return BadDocument(number, None, "the line is too long: split the document")
        try:
            given = requests.GivenDocument.model_validate_json(line)
        except ValidationError as error:
            problems = error.errors(include_url=False, include_input=False, include_context=False)
            return BadDocument(number, None, wrong_form(problems, requests.FIELDS))
        keep = self._plan.labels
        if given.not_kept(keep) is not None:
            return BadDocument(number, None, _NOT_KEPT)
        found = given_document(
            given.id, given.text, number, subject=given.subject, blank=True, fields=given.fields, keep=keep
        )
        if isinstance(found, Document) and not self._ids.add(found.id):
            return BadDocument(number, None, REPEATED)
        return found

    def _paid(self, batch: Batch) -> tuple[Batch, StopError | None]:
        """What of ``batch`` is debited: all of it, or all before the first document that cannot be."""
        if self._ledger is None:
            return batch, None
        charges = self._plan.charges(
            self._ledger, [item.charged for item in batch if isinstance(item, Document)]
        )
        try:
            self._ledger.spend(charges)
        except (
            PubliusError
        ):  # one by one, so that the budget says where to stop, and not how lines came together
            left = iter(charges)
            for done, item in enumerate(batch):
                try:
                    self._ledger.spend([next(left)] if isinstance(item, Document) else [])
                except PubliusError as error:
                    told = BudgetError(_SPENT) if isinstance(error, BudgetError) else error
                    return batch[:done], StopError(item.position, told)
        return batch, None

    def _line(self, found: Release | BadDocument) -> bytes:
        if isinstance(found, BadDocument):
            fault = fault_of(DocumentError(found.reason))[1]
            return json_line({"line": found.position, "error": fault})
        return self._layout.json_line(found)
