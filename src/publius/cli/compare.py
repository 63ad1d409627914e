"""``publius compare``: mechanisms on a common axis."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final

import typer

from publius.cli.console import print_json, print_table
from publius.cli.options import Json, KernelCommand, options
from publius.errors import UsageError
from publius.settings import MechanismSettings, TextSettings, names

if TYPE_CHECKING:
    from publius.arrays import IndexArray
    from publius.mechanisms.comparison import ComparisonRow
    from publius.vectors.embeddings import Embeddings


_OF_WORDS: Final = ("unchanged", "mean_distance", "words", "plot", "draws")
_OF_A_DOCUMENT: Final = ("other", "length", "unknown", "stop_words")


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command("compare", cls=KernelCommand)(compare)


@options(without=("mechanism", "epsilon"))
def compare(
    ctx: typer.Context,
    mechanisms: Annotated[str, typer.Option(help="Names, separated by commas.")],
    settings: MechanismSettings,
    reading: TextSettings,
    unchanged: Annotated[
        float | None, typer.Option(help="Share of words to leave unchanged, between 0 and 1.")
    ] = None,
    mean_distance: Annotated[
        float | None, typer.Option(help="Mean distance of words and outputs instead.")
    ] = None,
    words: Annotated[
        Path | None, typer.Option(help="Public words, one a line. Default: the first 400 of the vocabulary.")
    ] = None,
    plot: Annotated[Path | None, typer.Option(help="Draw the curves to an .svg, .png or .pdf file.")] = None,
    draws: Annotated[
        int, typer.Option(min=1, help="Draws a word where probabilities are not available.")
    ] = 20,
    document: Annotated[
        str | None,
        typer.Option(
            help="A file with one document: curves against epsilon on its words, for your eyes only."
        ),
    ] = None,
    other: Annotated[
        str | None, typer.Option(help="With --document: a second one, for the exponent between the two.")
    ] = None,
    json: Json = False,
) -> None:
    """Find the epsilons at which mechanisms change words alike.

    Each changes the same share of words, or moves them as far. With --document: what each does to that document, at
    epsilons across its useful range.
    """
    from publius.distances.metrics import metric_asked
    from publius.mechanisms import comparison
    from publius.vectors.embeddings import Embeddings

    _check_one_way(ctx, document, settings)
    vectors = Embeddings.load(settings.embeddings)
    if document is not None:
        _show_curves(_curves(names(mechanisms), vectors, settings, reading, document, other), json)
        return
    target = comparison.ComparisonTarget(unchanged, mean_distance)
    rows = comparison.compare(
        names(mechanisms), vectors, target, _listed(words, vectors), draws=draws, curve=plot is not None,
        metric=metric_asked(settings.metric), **settings.parameters,
    )  # fmt: skip
    if plot is not None:
        comparison.draw_curves(
            rows, plot, f"{vectors.name}: {vectors.size:,} words, dimension {vectors.dimension}"
        )
    _print(rows, json)


def _check_one_way(ctx: typer.Context, document: str | None, settings: MechanismSettings) -> None:
    """`UsageError` for an option that would be passed over: of words with a document, of a document without one."""
    for name in _OF_WORDS if document is not None else _OF_A_DOCUMENT:
        source = ctx.get_parameter_source(name)
        if source is not None and source.name == "COMMANDLINE":
            option = f"--{name.replace('_', '-')}"
            raise UsageError(
                f"{option} belongs to --document: name a file with one document, or leave it out"
                if document is None
                else f"--document has epsilons of its own: leave out {option}"
            )
    if document is not None and settings.parameters:
        raise UsageError(
            "with --document mechanisms take no further parameters: leave them out, or compare on public words"
        )


def _curves(
    mechanisms: Sequence[str],
    vectors: Embeddings,
    settings: MechanismSettings,
    reading: TextSettings,
    document: str,
    other: str | None,
) -> dict[str, Any]:
    """What the explorer's view of epsilon shows of a document, for each mechanism."""
    from publius.cli.distance import one_text
    from publius.distances import transport_plan
    from publius.mechanisms import curves
    from publius.mechanisms.kernel import word_indices
    from publius.mechanisms.registry import mechanism_class
    from publius.text.bag import Bag, Encoding, words_of

    if reading.size is None:
        raise UsageError("--document needs a public --length: a number")
    size = reading.size
    encoding = Encoding.of(
        vectors.tokenizer, length=size, unknown=reading.unknown, stop_words=reading.stop_words
    )
    found = [words_of(one_text(each), vectors, encoding) for each in (document, other) if each is not None]
    indices = word_indices(curves.real_words(found[0]), vectors)
    apart = None
    if other is not None:
        a, b = (Bag(each.words) for each in found)
        apart = transport_plan(a, b, vectors, settings.metric).distance_upper
    supply = curves.LazyMechanisms(vectors)

    def record(name: str) -> dict[str, Any]:
        grid = curves.epsilons(supply, name, settings.metric)
        quick = mechanism_class(name).preparation == "none"
        bounds = (
            curves.utility(supply.get(name, grid[0], settings.metric), size, grid, apart) if quick else None
        )
        nats = None if apart is None else curves.exponents(settings.metric, size, grid, apart)
        return {**curves.curve(supply, name, settings.metric, indices), "utility": bounds, "exponent": nats}

    return {"size": size, "distance_to_other": apart, "curves": [record(name) for name in mechanisms]}


def _show_curves(found: dict[str, Any], json: bool) -> None:
    if json:
        print_json(found)
        return
    header = ["mechanism", "epsilon", "words that stay", "99 % interval", "mean distance"]
    rows = [
        (
            curve["mechanism"], f"{point['epsilon']:.4g}", f"{point['unchanged']:.1%}",
            f"{point['unchanged_low']:.1%} to {point['unchanged_high']:.1%}", f"{point['mean_distance']:.3f}",
        )
        for curve in found["curves"]
        for point in curve["points"]
    ]  # fmt: skip
    print_table(header, rows)
    bounds = [
        (curve["mechanism"], f"{one['epsilon']:.4g}", *_bounds(curve, place))
        for curve in found["curves"]
        if curve["utility"] or curve["exponent"]
        for place, one in enumerate(curve["utility"] or curve["exponent"])
    ]
    if bounds:
        typer.echo()
        print_table(("mechanism", "epsilon", "95 % of releases within", "nats to the other"), bounds)
    if found["distance_to_other"] is not None:
        typer.echo(f"The documents are {found['distance_to_other']:.4g} apart.")


def _bounds(curve: dict[str, Any], place: int) -> tuple[str, str]:
    from publius.privacy.promise import rounded_up

    within, exponents = curve["utility"], curve["exponent"]
    return (
        f"{within[place]['distance_95_at_most']:.4g}" if within else "",
        rounded_up(exponents[place]["exponent"], 6) if exponents else "",
    )


def _listed(path: Path | None, embeddings: Embeddings) -> IndexArray:
    import numpy as np

    from publius.mechanisms.comparison import WORDS
    from publius.vectors.importing.reader import read_word_list

    if path is None:
        return np.arange(min(WORDS, embeddings.size))
    found = [embeddings.index(word) for word in sorted(read_word_list(path))]
    known = [index for index in found if index is not None]
    if not known:
        raise UsageError(f"none of the {len(found)} words listed is in the vocabulary {embeddings.name!r}")
    return np.array(known, np.int64)


def _print(rows: list[ComparisonRow], json: bool) -> None:
    if json:
        print_json({"rows": [_record(row) for row in rows], "evaluate": _matched(rows)})
        return
    header = ("mechanism", "epsilon", "unchanged", "mean distance", "evidence")
    print_table(header, [_cells(row) for row in rows])
    if matched := _matched(rows):
        typer.echo(f"\nTo attack texts at these strengths: publius evaluate CORPUS --mechanism {matched}")


def _matched(rows: list[ComparisonRow]) -> str:
    """The mechanisms at the epsilons found, as ``evaluate`` takes them."""
    return ",".join(f"{row.mechanism}:{row.epsilon:.4g}" for row in rows if row.epsilon is not None)


def _cells(row: ComparisonRow) -> tuple[str, ...]:
    if row.epsilon is None or row.unchanged is None or row.mean_distance is None:
        return (row.mechanism, "refused", "", "", row.refused or "")
    return (
        row.mechanism,
        f"{row.epsilon:.4g}",
        f"{row.unchanged:.4f}",
        f"{row.mean_distance:.4f}",
        row.evidence or "",
    )


def _record(row: ComparisonRow) -> dict[str, Any]:
    record = {
        "mechanism": row.mechanism,
        "epsilon": row.epsilon,
        "unchanged": row.unchanged,
        "mean_distance": row.mean_distance,
        "evidence": row.evidence,
        "exact": row.exact,
    }
    return {**record, **({"refused": row.refused} if row.refused else {})}
