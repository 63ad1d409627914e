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
from publius.cli.options import Floor, Json, Metric, Project, Vectors
from publius.errors import UsageError

if TYPE_CHECKING:
    from publius.evaluation.runner import Evaluation, Progress, Request

CorpusArgument = Annotated[
    str,
    typer.Argument(
        help="Labelled corpus: rows (JSONL, CSV, Parquet) with id, text, author, topic, role; a PAN folder; folders of "
        "stories; or demo:PROBLEM."
    ),
]
TopicsOption = Annotated[Path | None, typer.Option(help="Public rows with text and topic that teach topics.")]
MechanismOption = Annotated[str, typer.Option(help="Mechanisms, separated by commas.")]
AdversariesOption = Annotated[str, typer.Option(help="Adversaries, separated by commas, or all.")]
TasksOption = Annotated[str, typer.Option(help="What to name: author,topic or one of them.")]
UnknownOption = Annotated[
    str, typer.Option(help="Words outside the vocabulary: unk or drop; keep lets them pass, as in the paper.")
]
LengthOption = Annotated[str, typer.Option(help="Words a bag: a number, or 'shortest'.")]
TrainingOption = Annotated[
    str, typer.Option(help="Words adversaries learn from: 'same' as released, or 'all' of the known texts.")
]
StopWordsOption = Annotated[str, typer.Option(help="Words left out: english, none or file:PATH.")]
WorkersOption = Annotated[int | None, typer.Option(min=1, help="Processes. Default: one a processor.")]
SeedOption = Annotated[int | None, typer.Option(min=0, help="Seed of the noise. Default: drawn and kept.")]


def register(app: typer.Typer) -> None:
    """Add the commands."""
    app.command("evaluate")(evaluate)
    app.command("report")(report)


def evaluate(
    corpus: CorpusArgument,
    epsilon: Annotated[str, typer.Option(help="Epsilons, separated by commas; 'none' is always run.")],
    output: Annotated[
        Path, typer.Option(help="Folder for the results; a run that was cut short goes on there.")
    ],
    topics: TopicsOption = None,
    mechanism: MechanismOption = "laplace",
    repeats: Annotated[int, typer.Option(min=1, help="Runs with other noise.")] = 1,
    adversaries: AdversariesOption = "all",
    tasks: TasksOption = "author,topic",
    unknown: UnknownOption = "unk",
    length: LengthOption = "shortest",
    training: TrainingOption = "same",
    stop_words: StopWordsOption = "english",
    embeddings: Vectors = None,
    metric: Metric = "euclidean",
    project: Project = None,
    floor: Floor = None,
    snippet: Annotated[
        str | None, typer.Option(help="Id of a text of which the report may show the first words.")
    ] = None,
    workers: WorkersOption = None,
    seed: SeedOption = None,
    json: Json = False,
) -> None:
    """Attack protected documents of known authors and topics, and report what was found (an experiment)."""
    from publius.evaluation.report import write_report
    from publius.evaluation.summary import summarize

    options = {
        "mechanism": mechanism, "repeats": repeats, "adversaries": adversaries, "tasks": tasks, "unknown": unknown,
        "length": length, "training": training, "stop_words": stop_words, "metric": metric, "snippet": snippet,
        "project": project, "floor": floor,
    }  # fmt: skip
    request = request_of(numbers(epsilon), **options)
    evaluation = prepared(corpus, topics, embeddings, request, output, seed)
    with progress_shown(quiet=json) as progress:
        evaluation.run(request.cells(), workers=workers or os.cpu_count() or 1, progress=progress)
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


def numbers(text: str) -> tuple[float, ...]:
    """Epsilons from "10,15,none"."""
    try:
        return tuple(float(part) for part in text.split(",") if part.strip() not in ("", "none"))
    except ValueError:
        raise UsageError(f"epsilons are numbers separated by commas, not {text!r}") from None


def names(text: str) -> tuple[str, ...]:
    """Names from "a,b"."""
    return tuple(dict.fromkeys(part.strip() for part in text.split(",") if part.strip()))


def request_of(epsilons: tuple[float, ...], **options: Any) -> Request:
    """The request that the options make."""
    from typing import get_args

    from publius.evaluation.adversaries import choose_adversaries
    from publius.evaluation.encoding import Training
    from publius.evaluation.runner import Request

    if options["training"] not in get_args(Training):
        raise UsageError(f"--training is {' or '.join(get_args(Training))}, not {options['training']!r}")
    if options["unknown"] == "reject":
        raise UsageError("--unknown reject has nothing to evaluate: choose unk, drop or keep")
    parameters = {name: value for name in ("project", "floor") if (value := options.pop(name)) is not None}
    return Request(
        parameters=parameters,
        mechanisms=names(options.pop("mechanism")),
        epsilons=epsilons,
        adversaries=choose_adversaries(names(options.pop("adversaries"))),
        tasks=names(options.pop("tasks")),  # type: ignore[arg-type]  # checked against the data
        **options,
    )


def prepared(
    corpus: str, topics: Path | None, embeddings: str | None, request: Request, output: Path, seed: int | None
) -> Evaluation:
    """The evaluation with its texts read and encoded."""
    from publius.evaluation.data import check_tasks
    from publius.evaluation.dataset_files import open_dataset
    from publius.evaluation.encoding import encode_dataset
    from publius.evaluation.runner import Evaluation, facts_of
    from publius.text.bag import Encoding
    from publius.text.tokenizer import StopWords
    from publius.vectors.embeddings import Embeddings

    vectors = Embeddings.load(embeddings)
    unknown: Any = request.unknown
    training: Any = request.training
    stops = StopWords.load(request.stop_words)
    encoding = Encoding(words_a_bag(request.length), unknown, stops, vectors.tokenizer)
    dataset = open_dataset(corpus, topics)
    check_tasks(dataset, request.tasks)
    data = encode_dataset(dataset, vectors, encoding, training)
    evaluation = Evaluation(output, request, facts_of(request, dataset, data, vectors), seed)
    evaluation.prepare(data, vectors)
    return evaluation


def words_a_bag(length: str) -> int | None:
    """N, or None for the shortest text's."""
    if length == "shortest":
        return None
    if not length.isascii() or not length.isdigit() or not 1 <= int(length[:12]) <= 10_000_000:
        raise UsageError(
            f"--length must be a whole number from 1 to 10,000,000, or 'shortest', not {length!r}"
        )
    return int(length)


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
