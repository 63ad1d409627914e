"""``publius words``: what a mechanism does to a word."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from publius.cli.console import print_json, print_table, printable
from publius.cli.options import REQUIRED, Json, MechanismCommand, make, options
from publius.settings import MechanismSettings

if TYPE_CHECKING:
    from publius.mechanisms.kernel import Kernel
    from publius.mechanisms.word_outcomes import Outcomes


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command("words", cls=MechanismCommand)(words)


@options(epsilon=REQUIRED)
def words(
    word: Annotated[list[str], typer.Argument(help="Public words, as examples.", show_default=False)],
    settings: MechanismSettings,
    outputs: Annotated[int, typer.Option(min=1, help="How many outputs to list.")] = 10,
    draws: Annotated[
        int, typer.Option(min=100, help="Draws a word where probabilities are not available.")
    ] = 20_000,
    json: Json = False,
) -> None:
    """Show what becomes of words: likely outputs, staying, effective support."""
    from publius.mechanisms.word_outcomes import outcomes

    made = make(settings)
    found = [outcomes(made, each, count=outputs, draws=draws) for each in word]
    near = [_nearest(made, each, outputs) for each in word]
    if json:
        records = [{**each.record(), "neighbors": beside} for each, beside in zip(found, near, strict=True)]
        print_json(records[0] if len(records) == 1 else {"words": records})
        return
    for each, beside in zip(found, near, strict=True):
        _show(each, beside)


def _nearest(mechanism: Kernel, word: str, count: int) -> list[dict[str, Any]]:
    from publius.mechanisms.word_outcomes import nearest_words

    vectors = mechanism.embeddings
    places, distances = nearest_words(mechanism, vectors.index(word) or 0, count)
    return [
        {"word": vectors.word(place), "distance": distance}
        for place, distance in zip(places.tolist(), distances.tolist(), strict=True)
    ]


def _show(found: Outcomes, near: list[dict[str, Any]]) -> None:
    sure = (
        "exact"
        if found.draws is None
        else f"{found.draws:,} draws: {found.stay_low:.4f} to {found.stay_high:.4f}"
    )
    typer.echo(
        f"{found.word}: stays with probability {found.stay:.4f} ({sure}); {found.support:,} words make up 99 %; "
        f"mean distance {found.expected_distance:.3f}"
    )
    rows = [(each.word, f"{each.probability:.3g}", f"{each.distance:.3f}") for each in found.outputs]
    print_table(("output", "probability", "distance"), rows)
    typer.echo(
        "nearest words: " + printable(", ".join(f"{each['word']} {each['distance']:.2f}" for each in near))
    )
    typer.echo("")
