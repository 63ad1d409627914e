"""``publius evaluate`` and ``report``: what adversaries find in protected documents."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from publius.cli.console import print_json, print_table, printable
from publius.cli.options import REQUIRED, Json, MechanismCommand, options
from publius.settings import EvaluationSettings, ExperimenterSettings

if TYPE_CHECKING:
    from publius.evaluation.runner import Evaluation, Progress, Request

CorpusArgument = Annotated[
    str,
    typer.Argument(
        help="Labelled corpus: rows (JSONL, CSV, Parquet) with id, text, author, topic, role; a PAN folder; folders of "
        "stories; or demo:PROBLEM."
    ),
]


def register(app: typer.Typer) -> None:
    """Add the commands."""
    app.command("evaluate", cls=MechanismCommand)(evaluate)
    app.command("report")(report)


@options(epsilons=REQUIRED)
def evaluate(
    corpus: CorpusArgument,
    settings: EvaluationSettings,
    output: Annotated[
        Path, typer.Option(help="Folder for the results; a run that was cut short goes on there.")
    ],
    work: ExperimenterSettings,
    json: Json = False,
) -> None:
    """Attack protected documents of known authors and topics, and report what was found (an experiment)."""
    from publius.evaluation.report import write_report
    from publius.evaluation.runner import Request
    from publius.evaluation.summary import summarize

    request = Request.of(settings)
    evaluation = prepared(corpus, request, work, output)
    with progress_shown(quiet=json) as progress:
        evaluation.run(request.cells(), workers=work.workers or os.cpu_count() or 1, progress=progress)
    results = evaluation.results()
    lines = summarize(results)
    write_report(results, lines, output)
    _show(lines, output, evaluation.facts, json=json)


def report(
    folder: Annotated[Path, typer.Argument(help="Folder of an evaluation.")], json: Json = False
) -> None:
    """Write rows.jsonl, table.csv and report.html of an evaluation again, from what its cells found."""
    from publius.evaluation.report import write_report
    from publius.evaluation.runner import read_results
    from publius.evaluation.summary import summarize

    results = read_results(folder)
    lines = summarize(results)
    write_report(results, lines, folder)
    _show(lines, folder, results.facts, json=json)


def prepared(corpus: str, request: Request, work: ExperimenterSettings, output: Path) -> Evaluation:
    """The evaluation with its texts read and encoded."""
    from publius.evaluation.data import check_tasks
    from publius.evaluation.dataset_files import open_dataset
    from publius.evaluation.encoding import encode_dataset
    from publius.evaluation.runner import Evaluation, facts_of
    from publius.text.bag import Encoding
    from publius.vectors.embeddings import Embeddings

    vectors = Embeddings.load(request.embeddings)
    encoding = Encoding.of(
        vectors.tokenizer, length=request.size, unknown=request.unknown, stop_words=request.stop_words
    )
    dataset = open_dataset(corpus, work.topics)
    check_tasks(dataset, request.tasks)
    data = encode_dataset(dataset, vectors, encoding, request.training)
    evaluation = Evaluation(output, request, facts_of(request, dataset, data, vectors), work.seed)
    evaluation.prepare(data, vectors)
    return evaluation


@contextmanager
def progress_shown(*, quiet: bool) -> Iterator[Progress]:
    """A bar on a terminal, a line a part otherwise unless ``quiet``; on standard error."""
    if sys.stderr.isatty():
        with _bar() as progress:
            yield progress
    elif quiet:
        yield lambda part, done, total: None
    else:
        yield lambda part, done, total: typer.echo(f"{done}/{total} {printable(part)}", err=True)


@contextmanager
def _bar() -> Iterator[Callable[[str, int, int], None]]:
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task("evaluating", total=None)
        yield lambda part, done, total: bar.update(
            task, completed=done, total=total, description=printable(part)
        )


def _show(lines: Any, output: Path, facts: dict[str, Any], *, json: bool) -> None:
    from publius.evaluation.summary import PAPER, as_records

    records = as_records(lines)
    if json:
        print_json({
            "output": str(output), "report": str(output / "report.html"), "size": facts["size"],
            "seed": facts["seed"], "chance": facts["chance"], "floor": facts["floor"], "table": records,
        })  # fmt: skip
        return
    header = ("mechanism", "epsilon", *PAPER, "strongest adversary", "accuracy", "topic", "changed")
    print_table(header, [_cells(record, list(PAPER)) for record in records])
    floor = "" if facts["floor"] is None else f"; an adversary who knows only the topic: {facts['floor']:.3f}"
    chances = ", ".join(f"{task} {value:.3f}" for task, value in facts["chance"].items())
    typer.echo(f"\nOf {facts['unknown_texts']} texts of {facts['size']} words. By chance: {chances}{floor}.")
    typer.echo(
        f"An experiment, NOT PRIVATE: keep {output} as you keep the texts. Report: {output / 'report.html'}"
    )


def _cells(record: dict[str, Any], paper: list[str]) -> tuple[object, ...]:
    def shown(value: Any, form: str) -> str:
        return "-" if value is None else format(value, form)

    epsilon = "none" if record["epsilon"] is None else f"{record['epsilon']:g}"
    strongest = record["strongest"] or "-"
    return (
        record["mechanism"], epsilon, *(shown(record[column], ".4g") for column in paper), strongest,
        shown(record["strongest_accuracy"], ".3f"), shown(record["topic_accuracy"], ".3f"),
        shown(record["changed"], ".3f"),
    )  # fmt: skip
