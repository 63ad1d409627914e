"""Releases: checked, then debited, then drawn; to the caller or into a folder."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from publius.documents.corpus import Document, accepted, given_document
from publius.errors import UsageError
from publius.files import new_folder
from publius.noise.randomness import entropy
from publius.releases.engines.engine import finish_folder
from publius.releases.layout import Layout
from publius.releases.plan import Plan
from publius.releases.protect import protect
from publius.releases.release import Release as Released
from publius.releases.release import Tally
from publius.releases.writers import JsonLines
from publius.web import answers, requests
from publius.web.errors import no_such_field
from publius.web.guards.limits import MOST_WORDS
from publius.web.state import State, read


def obfuscate(state: State, asked: requests.Obfuscate) -> answers.Releases:
    """Release documents to the caller; with a ledger, debited before anything is drawn."""
    plan = state.plan(asked)
    if len(asked.documents) * plan.size > MOST_WORDS:
        raise UsageError(f"documents times length must be at most {MOST_WORDS:,}: send fewer at once")
    layout = Layout.of(plan)
    releases, tally = _released(state, plan, asked.documents)
    bags = [
        answers.ReleasedBag(
            id=each.id, size=each.bag.size, bag=layout.counts(each), **_named(plan, each), **each.labels
        )
        for each in releases
    ]
    return answers.Releases(releases=bags, manifest=plan.manifest(tally.documents))


def release(state: State, asked: requests.Release) -> answers.Released:
    """Release one document into a new folder with a random name, which has its place before anything is debited."""
    plan = state.plan(asked)
    folder = state.releases / f"release-{entropy(8).hex()}"
    with new_folder(folder) as made:
        given = requests.GivenDocument(id=asked.id, text=asked.text, subject=asked.subject)
        releases, tally = _released(state, plan, [given])
        manifest = _write(made, plan, releases, tally)
    return answers.Released(
        folder=str(folder),
        bag=sorted(Layout.of(plan).counts(releases[0]).items()),
        manifest=manifest,
        account=_account(state, asked.id),
        **_named(plan, releases[0]),
    )


def account(state: State, asked: requests.Account) -> answers.Account:
    """Spending on a document, what is left, and what a release with this choice would cost."""
    plan = state.plan(asked)
    price = None if state.ledger is None else float(state.ledger.price(plan.guarantee))
    return answers.Account(account=_account(state, asked.id), price=price)


def _named(plan: Plan, found: Released) -> dict[str, Any]:
    """What leaves beside the bag, such as the public prototype that stands for a document."""
    return {name: getattr(found, name) for name in plan.mechanism.fields}


def _released(
    state: State, plan: Plan, given: Sequence[requests.GivenDocument]
) -> tuple[list[Released], Tally]:
    documents = [_document(plan, each, position) for position, each in enumerate(given, start=1)]
    if len({document.id for document in documents}) < len(documents):  # before anything is paid
        raise UsageError("two documents have the same id, so they would get the same noise: make ids differ")
    key = plan.run_key()  # without entropy nothing is debited
    if state.ledger is not None:
        pairs = [document.charged for document in documents]
        state.ledger.spend(plan.charges(state.ledger, pairs))
    results, tally = protect(documents, plan, key)
    return [accepted(result) for result in results], tally


def _document(plan: Plan, given: requests.GivenDocument, position: int) -> Document:
    """A document that can be released: refused before anything is paid where it cannot."""
    if (wrong := given.not_kept(plan.labels)) is not None:
        raise UsageError(f"documents.{position - 1}: {no_such_field(wrong)}, or name it in keep")
    found = accepted(
        given_document(
            given.id, given.text, position, subject=given.subject, fields=given.fields, keep=plan.labels
        )
    )
    read(given.text, plan.vocabulary, plan.encoding, f"document {position}: ")
    return found


def _write(made: Path, plan: Plan, releases: Sequence[Released], tally: Tally) -> dict[str, Any]:
    with JsonLines(made, Layout.of(plan)) as writer:
        for each in releases:
            writer.write(each)
    return finish_folder(made, plan, tally.documents)


def _account(state: State, id: str) -> answers.Balance | None:
    if state.ledger is None:
        return None
    found = state.ledger.document(id)
    return answers.Balance(
        unit=state.ledger.unit,
        budget=float(state.ledger.budget),
        spent=float(found.spent),
        remaining=float(found.remaining),
        releases=found.releases,
    )
