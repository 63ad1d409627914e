"""``publius ledger``: make and show privacy budgets, one account per author."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

from publius.cli import console
from publius.cli.parsing import Json, new_app

app = new_app(name="ledger", help="Make and show privacy budgets: one account per author.")


@app.command
def init(ledger: Path, *, budget: float, unit: Literal["epsilon", "exponent"] = "epsilon", json: Json = False) -> None:
    """Make a new ledger.

    Args:
        ledger: New file.
        budget: The most to be spent on one author, in all.
        unit: epsilon, or exponent (of words). Default: epsilon.
    """
    from publius.privacy.ledger import Ledger, decimal

    made = Ledger.create(ledger, budget=budget, unit=unit)
    if json:
        console.as_json({"ledger": str(ledger), "budget": float(made.budget), "unit": unit})
    else:
        console.say(
            f"Budget {decimal(made.budget)} ({unit}) for each author. Use it: --ledger {ledger} --author-field COLUMN"
        )


@app.command
def show(ledger: Path, *, author: str | None = None, json: Json = False) -> None:
    """Show what was spent, for the curator only.

    Args:
        ledger: The file.
        author: Show the account of one author.
    """
    from publius.privacy.ledger import Ledger, decimal

    found = Ledger(ledger)
    debits = found.check()
    accounts = found.accounts() if author is None else [found.account(author)]
    if json:
        rows = [
            {
                "author": each.author,
                "spent": float(each.spent),
                "remaining": float(each.remaining),
                "releases": each.releases,
            }
            for each in accounts
        ]
        console.as_json({"budget": float(found.budget), "unit": found.unit, "debits": debits, "accounts": rows})
        return
    console.say(f"Budget {decimal(found.budget)} ({found.unit}) for each author; {debits:,} releases were debited.")
    ranked = sorted(accounts, key=lambda each: -each.spent)
    shown = [(each.author, decimal(each.spent), decimal(each.remaining), each.releases) for each in ranked[:20]]
    if shown:
        console.table(("author", "spent", "left", "releases"), shown)
    if len(ranked) > len(shown):
        console.say(f"{len(ranked) - len(shown):,} more authors: --json lists all.")
