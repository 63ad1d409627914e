"""``publius ledger``: make and show privacy budgets, one account per author."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

from publius.cli import console
from publius.cli.console import Table
from publius.cli.parsing import Help, Json, new_app

app = new_app(name="ledger", help="Make and show privacy budgets: one account per author.")


@app.command
def init(
    ledger: Annotated[Path, Help("New file.")],
    *,
    budget: Annotated[float, Help("The most to be spent on one author, in all.")],
    unit: Annotated[
        Literal["epsilon", "exponent"], Help("epsilon, or exponent (of words). Default: epsilon.")
    ] = "epsilon",
    json: Json = False,
) -> None:
    """Make a new ledger."""
    from publius.privacy.ledger import Ledger, decimal

    made = Ledger.create(ledger, budget=budget, unit=unit)
    console.answer(
        {"ledger": str(ledger), "budget": float(made.budget), "unit": unit},
        f"Budget {decimal(made.budget)} ({unit}) for each author. Use it: --ledger {ledger} --author-field COLUMN",
        json=json,
    )


@app.command
def show(
    ledger: Annotated[Path, Help("The file.")],
    *,
    author: Annotated[str | None, Help("Show the account of one author.")] = None,
    json: Json = False,
) -> None:
    """Show what was spent, for the curator only."""
    from publius.privacy.ledger import Ledger, decimal

    found = Ledger(ledger)
    debits = found.check()
    accounts = found.accounts() if author is None else [found.account(author)]
    rows = [
        {"author": a.author, "spent": float(a.spent), "remaining": float(a.remaining), "releases": a.releases}
        for a in accounts
    ]
    ranked = sorted(accounts, key=lambda each: -each.spent)
    shown = [(each.author, decimal(each.spent), decimal(each.remaining), each.releases) for each in ranked[:20]]
    console.answer(
        {"budget": float(found.budget), "unit": found.unit, "debits": debits, "accounts": rows},
        f"Budget {decimal(found.budget)} ({found.unit}) for each author; {debits:,} releases were debited.",
        Table(("author", "spent", "left", "releases"), shown) if shown else None,
        f"{len(ranked) - len(shown):,} more authors: --json lists all." if len(ranked) > len(shown) else None,
        json=json,
    )
