"""``publius outcomes``: what a document or a word may become, and how probable each outcome is."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from publius.cli.before import with_what_is_kept
from publius.cli.console import print_json, print_table, printable
from publius.cli.options import OF_RELEASES, REQUIRED, Json, KernelCommand, MechanismCommand, make, options
from publius.errors import UsageError
from publius.settings import MechanismSettings, ReleaseSettings

if TYPE_CHECKING:
    from publius.mechanisms.kernel import Kernel
    from publius.mechanisms.word_outcomes import WordOutcomes

_SHOWN = 10

Outputs = Annotated[int, typer.Option(min=1, help="With words: how many outputs to list.")]
Draws = Annotated[int, typer.Option(min=100, help="With words: draws where probabilities are not available.")]


def register(app: typer.Typer) -> None:
    """Add the commands."""
    app.command("outcomes", cls=MechanismCommand)(outcomes)
    app.command("words", cls=KernelCommand, hidden=True)(words)


@options(without=OF_RELEASES, preserve=None)
def outcomes(
    settings: ReleaseSettings,
    of: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="DOCUMENT | WORDS...",
            show_default=False,
            help="With topic or meaning: a text file, of which private facts are shown. With words: public words.",
        ),
    ] = None,
    outputs: Outputs = 10,
    draws: Draws = 20_000,
    json: Json = False,
) -> None:
    """Show what a document or a word may become.

    With --preserve topic or meaning each prototype with its probability; with --preserve words the likely outputs of
    each word, how often it stays, and how many words share 99 % of the draws.
    """
    if not of:
        raise UsageError(
            "name a text file, publius outcomes TEXT.txt --preserve topic --reference themes --bound 7, or public "
            "words, publius outcomes river --preserve words --epsilon 3"
        )
    settings = with_what_is_kept(settings)
    chosen = settings.chosen
    if isinstance(chosen, MechanismSettings):
        _words(of, chosen, outputs, draws, json=json)
    elif len(of) > 1:
        raise UsageError("give one document: several arguments are words, which need --preserve words")
    else:
        _document(Path(of[0]), settings, json=json)


@options(epsilon=REQUIRED)
def words(
    word: Annotated[list[str], typer.Argument(help="Public words, as examples.", show_default=False)],
    settings: MechanismSettings,
    outputs: Outputs = 10,
    draws: Draws = 20_000,
    json: Json = False,
) -> None:
    """Show what a word may become.

    An earlier name of publius outcomes --preserve words.
    """
    _words(word, settings, outputs, draws, json=json)


# Documents ------------------------------------------------------------------------------------------------


def _document(document: Path, settings: ReleaseSettings, *, json: bool) -> None:
    from publius.cli.distance import one_text
    from publius.releases.document_outcomes import outcomes_of
    from publius.releases.plan import Plan

    found = outcomes_of(one_text(str(document)), Plan.of(settings))
    if json:
        print_json(found)
    else:
        _show_document(found)


def _show_document(found: dict[str, Any]) -> None:
    from publius.privacy.promise import rounded_up

    typer.echo("For the curator's eyes: these probabilities are of this document, and private.")
    first = found["outcomes"][:_SHOWN]
    rows = [(each["label"], f"{each['probability']:.4f}", " ".join(each["words"])) for each in first]
    print_table(("prototype", "probability", "typical words"), [tuple(map(printable, row)) for row in rows])
    if len(found["outcomes"]) > _SHOWN:
        rest = sum(each["probability"] for each in found["outcomes"][_SHOWN:])
        typer.echo(f"... and {len(found['outcomes']) - _SHOWN:,} more with {rest:.4f} in all")
    typer.echo(f"\nAt most {rounded_up(found['bound'], 6)} nats lie between any two documents.")


# Words ----------------------------------------------------------------------------------------------------


def _words(words: list[str], settings: MechanismSettings, outputs: int, draws: int, *, json: bool) -> None:
    from publius.mechanisms.word_outcomes import outcomes

    made = make(settings)
    found = [outcomes(made, each, count=outputs, draws=draws) for each in words]
    near = [_nearest(made, each, outputs) for each in words]
    if json:
        records = [{**each.record(), "neighbors": beside} for each, beside in zip(found, near, strict=True)]
        print_json(records[0] if len(records) == 1 else {"words": records})
        return
    for each, beside in zip(found, near, strict=True):
        _show_word(each, beside)


def _nearest(mechanism: Kernel, word: str, count: int) -> list[dict[str, Any]]:
    from publius.mechanisms.word_outcomes import nearest_words

    vectors = mechanism.embeddings
    places, distances = nearest_words(mechanism, vectors.index(word) or 0, count)
    return [
        {"word": vectors.word(place), "distance": distance}
        for place, distance in zip(places.tolist(), distances.tolist(), strict=True)
    ]


def _show_word(found: WordOutcomes, near: list[dict[str, Any]]) -> None:
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
