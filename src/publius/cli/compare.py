"""``publius compare``: mechanisms on a common axis."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from publius.cli.console import print_json, print_table
from publius.cli.options import Json, MechanismCommand, options
from publius.errors import UsageError
from publius.settings import MechanismSettings, names

if TYPE_CHECKING:
    from publius.arrays import IndexArray
    from publius.mechanisms.comparison import Row
    from publius.vectors.embeddings import Embeddings


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command("compare", cls=MechanismCommand)(compare)


@options(without=("mechanism", "epsilon"))
def compare(
    mechanisms: Annotated[str, typer.Option(help="Names, separated by commas.")],
    settings: MechanismSettings,
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
    json: Json = False,
) -> None:
    """Find the epsilon at which each mechanism changes as many words, or moves them as far."""
    from publius.mechanisms import comparison
    from publius.vectors.embeddings import Embeddings

    vectors = Embeddings.load(settings.embeddings)
    target = comparison.Target(unchanged, mean_distance)
    rows = comparison.compare(
        names(mechanisms), vectors, target, _listed(words, vectors), draws=draws, curve=plot is not None,
        metric=settings.metric, **settings.parameters,
    )  # fmt: skip
    if plot is not None:
        comparison.draw_curves(
            rows, plot, f"{vectors.name}: {vectors.size:,} words, dimension {vectors.dimension}"
        )
    _print(rows, json)


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


def _print(rows: list[Row], json: bool) -> None:
    if json:
        print_json({"rows": [_record(row) for row in rows]})
        return
    header = ("mechanism", "epsilon", "unchanged", "mean distance", "evidence")
    print_table(header, [_cells(row) for row in rows])


def _cells(row: Row) -> tuple[str, ...]:
    if row.epsilon is None or row.unchanged is None or row.mean_distance is None:
        return (row.mechanism, "refused", "", "", row.refused or "")
    return (
        row.mechanism,
        f"{row.epsilon:.4g}",
        f"{row.unchanged:.4f}",
        f"{row.mean_distance:.4f}",
        row.evidence or "",
    )


def _record(row: Row) -> dict[str, Any]:
    record = {
        "mechanism": row.mechanism,
        "epsilon": row.epsilon,
        "unchanged": row.unchanged,
        "mean_distance": row.mean_distance,
        "evidence": row.evidence,
        "exact": row.exact,
    }
    return {**record, **({"refused": row.refused} if row.refused else {})}
