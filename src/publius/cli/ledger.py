"""``publius ledger``: make and show privacy budgets, one account per author."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

from publius.cli.parsing import new_app

app = new_app(name="ledger", help="Make and show privacy budgets: one account per author.")


@app.command
def init(ledger: Path, *, budget: float, unit: Literal["epsilon", "exponent"] = "epsilon", json: bool = False) -> None:
    """Make a new ledger.

    Parameters
    ----------
    ledger
        New file.
    budget
        The most that may be spent on one author, over all releases.
    unit
        What it counts: epsilon of labels and summaries, or the exponent (epsilon * N) of words.
    json
        Print one JSON object.
    """
    from publius.cli import console
    from publius.privacy.ledger import Ledger, decimal

    made = Ledger.create(ledger, budget=budget, unit=unit)
    if json:
        console.as_json({"ledger": str(ledger), "budget": float(made.budget), "unit": unit})
    else:
        console.say(
            f"Budget {decimal(made.budget)} ({unit}) for each author. Use it: --ledger {ledger} --author-field COLUMN"
        )


@app.command
def show(ledger: Path, *, author: str | None = None, json: bool = False) -> None:
    """Show what was spent, for the curator only.

    Parameters
    ----------
    ledger
        The file.
    author
        Show the account of one author.
    json
        Print one JSON object.
    """
    from publius.cli import console
    from publius.privacy.ledger import Ledger, decimal

    found = Ledger(ledger)
    debits = found.check()
    accounts = found.accounts() if author is None else [found.account(author)]
    if json:
        console.as_json({
            "budget": float(found.budget), "unit": found.unit, "debits": debits,
            "accounts": [
                {"author": each.author, "spent": float(each.spent), "remaining": float(each.remaining),
                 "releases": each.releases}
                for each in accounts
            ],
        })  # fmt: skip
        return
    console.say(f"Budget {decimal(found.budget)} ({found.unit}) for each author; {debits:,} releases were debited.")
    rows = sorted(accounts, key=lambda each: -each.spent)
    shown = [(each.author, decimal(each.spent), decimal(each.remaining), each.releases) for each in rows[:20]]
    if shown:
        console.table(("author", "spent", "left", "releases"), shown)
    if len(rows) > len(shown):
        console.say(f"{len(rows) - len(shown):,} more authors: --json lists all.")
