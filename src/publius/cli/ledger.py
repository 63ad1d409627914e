"""``publius ledger``: a budget for documents and authors, kept in a file."""

from __future__ import annotations

from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from publius.cli.console import print_json, print_table
from publius.cli.options import Json

if TYPE_CHECKING:
    from publius.privacy.ledger import Account, Ledger

group = typer.Typer(help="Keep a privacy budget that refuses when it is spent.", no_args_is_help=True)

File = Annotated[Path, typer.Argument(help="The ledger.")]
_SHOWN = 20


def register(app: typer.Typer) -> None:
    """Add the ``ledger`` commands."""
    app.add_typer(group, name="ledger")


@group.command("init")
def init(
    file: Annotated[Path, typer.Argument(help="New file; an existing one is never replaced.")],
    budget: Annotated[float, typer.Option(help="Most that may be spent on a document.")],
    unit: Annotated[
        str,
        typer.Option(
            help="epsilon-n (nats per unit of Earth Mover's distance), epsilon, epsilon-n-ordered (per unit of the "
            "mean distance word by word: for ordered text, and bags too), or bound (nats between any two: for topic, "
            "meaning and summaries)."
        ),
    ] = "epsilon-n",
    subject_budget: Annotated[
        float | None, typer.Option(help="Most that may be spent on an author. Default: the budget.")
    ] = None,
    hide_ids: Annotated[
        bool, typer.Option("--hide-ids", help="Keep ids as HMAC under a new key in FILE.key.")
    ] = False,
    json: Json = False,
) -> None:
    """Make a new ledger."""
    from publius.privacy.ledger import Ledger, as_written

    most_subject = None if subject_budget is None else as_written(subject_budget, "the subject's budget")
    ledger = Ledger.create(
        file,
        budget=as_written(budget, "the budget"),
        unit=unit,  # type: ignore[arg-type]  # checked there
        subject_budget=most_subject,
        hide_ids=hide_ids,
    )
    if json:
        print_json(_facts(ledger))
        return
    print_table(("ledger", str(file)), _rows(_facts(ledger)))


@group.command("show")
def show(
    file: File,
    document: Annotated[str | None, typer.Option(help="Only the document with this id.")] = None,
    subject: Annotated[str | None, typer.Option(help="Only the subject of this name.")] = None,
    json: Json = False,
) -> None:
    """Show what was spent and what is left."""
    from publius.privacy.ledger import Ledger

    ledger = Ledger(file)
    facts = _facts(ledger)
    if document is not None or subject is not None:
        accounts = [ledger.document(document)] if document is not None else []
        accounts += [ledger.subject(subject)] if subject is not None else []
        left_out = 0
    else:
        accounts = list(ledger.accounts() if json else islice(ledger.accounts(), _SHOWN))
        left_out = facts["documents"] + facts["subjects"] - len(accounts)
    rows = [_account(account) for account in accounts]
    if json:
        print_json({**facts, "accounts": rows})
        return
    print_table(("ledger", str(file)), _rows(facts))
    if rows:
        typer.echo()
        print_table(tuple(rows[0]), [tuple(row.values()) for row in rows])
    if left_out:
        typer.echo(f"... and {left_out:,} more: see --json, --document or --subject")


@group.command("check")
def check(file: File, json: Json = False) -> None:
    """Read all of a ledger and say whether it can be trusted; exit 65 when it cannot."""
    from publius.privacy.ledger import Ledger

    ledger = Ledger(file)
    ledger.check()
    if json:
        print_json({"ok": True, **_facts(ledger)})
    else:
        typer.echo(f"{file} is whole: every account is within its budget and adds up to its debits.")


def _facts(ledger: Ledger) -> dict[str, Any]:
    documents, subjects, debits = ledger.counts()
    return {
        "unit": ledger.unit,
        "budget": float(ledger.budget),
        "subject_budget": float(ledger.subject_budget),
        "hides_ids": ledger.hides_ids,
        "documents": documents,
        "subjects": subjects,
        "debits": debits,
    }


def _account(account: Account) -> dict[str, Any]:
    return {
        "kind": account.kind,
        "id": account.name,
        "spent": float(account.spent),
        "remaining": float(account.remaining),
        "releases": account.releases,
    }


def _rows(facts: dict[str, Any]) -> list[tuple[str, Any]]:
    return [
        (key.replace("_", " "), f"{value:g}" if isinstance(value, float) else value)
        for key, value in facts.items()
    ]
