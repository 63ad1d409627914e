"""``publius bench``: speed as a ratio to its limit or a peer in the same run."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from publius.cli.bench_mechanisms import mechanisms
from publius.cli.console import print_json, print_table

group = typer.Typer(help="Speed, as a ratio to its limit in the same run.", no_args_is_help=True)

Words = Annotated[int, typer.Option(min=2, help="Vocabulary size of the synthetic vectors.")]
Dimension = Annotated[int, typer.Option(min=1, help="Dimension of the synthetic vectors.")]
Vectors = Annotated[
    str | None, typer.Option("--embeddings", help="Real vectors instead: a stored name or a file.")
]
Json = Annotated[bool, typer.Option("--json", help="Print one JSON object.")]


def register(app: typer.Typer) -> None:
    """Add the ``bench`` commands."""
    group.command("mechanisms")(mechanisms)
    app.add_typer(group, name="bench")


@group.command("search")
def search(
    words: Words = 33_860, dimension: Dimension = 300, embeddings: Vectors = None, json: Json = False
) -> None:
    """The exact nearest-word search against bare sgemm on the same shapes."""
    from publius.bench.search import bench_search

    show(bench_search(_vectors(words, dimension, embeddings)), json)


@group.command("end-to-end")
def end_to_end(
    words: Words = 33_860, dimension: Dimension = 300, embeddings: Vectors = None, json: Json = False
) -> None:
    """File to file, after loading, against bare sgemm on the same shapes."""
    from publius.bench.search import bench_end_to_end

    show(bench_end_to_end(_vectors(words, dimension, embeddings)), json)


@group.command("transport")
def transport(
    words: Words = 33_860, dimension: Dimension = 300, embeddings: Vectors = None, json: Json = False
) -> None:
    """Earth Mover's distance of two documents of 400 words against gensim's on the same documents."""
    from publius.bench.transport import bench_transport

    show(bench_transport(_vectors(words, dimension, embeddings)), json)


def _vectors(words: int, dimension: int, name: str | None) -> Any:
    from publius.bench.search import synthetic_embeddings
    from publius.embeddings import Embeddings

    return synthetic_embeddings(words, dimension) if name is None else Embeddings.load(name)


def show(report: dict[str, Any], json: bool) -> None:
    """One report, as JSON or as a table."""
    if json:
        print_json(report)
    else:
        print_table(("figure", "value"), [(key.replace("_", " "), value) for key, value in report.items()])
