"""``publius outcomes``: what a document may become, and how probable each of it is."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from publius.cli.console import print_json, print_table, printable
from publius.cli.options import Json, MechanismCommand, options
from publius.settings import ReleaseSettings

_ELSEWHERE = ("experiment", "seed", "order", "keep_between", "embeddings", "metric")
_SHOWN = 10


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command("outcomes", cls=MechanismCommand)(outcomes)


@options(without=_ELSEWHERE, preserve="topic")
def outcomes(
    document: Annotated[
        Path, typer.Argument(help="A text file. What is shown is for your eyes: it is private.")
    ],
    settings: ReleaseSettings,
    json: Json = False,
) -> None:
    """Show what a document may become under a document mechanism: each prototype with its probability."""
    from publius.cli.distance import one_text
    from publius.releases.document_outcomes import outcomes_of
    from publius.releases.plan import Plan

    found = outcomes_of(one_text(str(document)), Plan.of(settings))
    if json:
        print_json(found)
    else:
        _show(found)


def _show(found: dict[str, Any]) -> None:
    typer.echo("For the curator's eyes: these probabilities are of this document, and private.")
    first = found["outcomes"][:_SHOWN]
    rows = [(each["label"], f"{each['probability']:.4f}", " ".join(each["words"])) for each in first]
    print_table(("prototype", "probability", "typical words"), [tuple(map(printable, row)) for row in rows])
    if len(found["outcomes"]) > _SHOWN:
        rest = sum(each["probability"] for each in found["outcomes"][_SHOWN:])
        typer.echo(f"... and {len(found['outcomes']) - _SHOWN:,} more with {rest:.4f} in all")
    typer.echo(
        f"\nAt most {found['bound']:g} nats lie between any two documents (kept: the {found['preserve']})."
    )
