"""``publius bench mechanisms``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from publius.cli.console import print_json, print_table


def mechanisms(
    words: Annotated[int, typer.Option(min=2, help="Vocabulary size of the synthetic vectors.")] = 33_860,
    dimension: Annotated[int, typer.Option(min=1, help="Dimension of the synthetic vectors.")] = 300,
    embeddings: Annotated[
        str | None, typer.Option(help="Real vectors instead: a stored name or a file.")
    ] = None,
    names: Annotated[
        str, typer.Option("--mechanisms", help="Names, separated by commas; the first is the reference.")
    ] = "laplace,exponential",
    unchanged: Annotated[float, typer.Option(help="Share of words that each leaves unchanged.")] = 0.83,
    text: Annotated[
        list[Path] | None,
        typer.Option(help="Public text to draw words from; repeatable. Default: Zipf's law."),
    ] = None,
    total: Annotated[int, typer.Option(min=8000, help="Words to release.")] = 200_000,
    json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
) -> None:
    """The certificate against bare sgemm, and each mechanism's words a second, file to file."""
    from publius.checks.bench.mechanisms import bench_mechanisms
    from publius.checks.bench.search import synthetic_embeddings
    from publius.vectors.embeddings import Embeddings

    vectors = synthetic_embeddings(words, dimension) if embeddings is None else Embeddings.load(embeddings)
    chosen = [name.strip() for name in names.split(",") if name.strip()]
    report = bench_mechanisms(vectors, names=chosen, unchanged=unchanged, texts=text or (), words=total)
    if json:
        print_json(report)
        return
    rows = report.pop("rows")
    print_table(("figure", "value"), [(key.replace("_", " "), value) for key, value in report.items()])
    columns = ("mechanism", "epsilon", "unchanged", "words", "words_per_second", "times_reference")
    print_table(columns, [[row.get(column, "") for column in columns] for row in rows])
