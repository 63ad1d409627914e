"""``publius obfuscate`` and ``publius demo``: documents in, protected bags out."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from publius.cli.console import print_json, printable, standard_output, waiting
from publius.cli.options import MAKING, Floor, Prior, Project, extras
from publius.errors import UsageError

if TYPE_CHECKING:
    from publius.documents.corpus import Corpus
    from publius.privacy.ledger import Ledger
    from publius.releases.engines import Found, Summary
    from publius.releases.plan import OrderedText, Plan

_BAD_SHOWN = 20


def register(app: typer.Typer) -> None:
    """Add the commands."""
    app.command("obfuscate")(obfuscate)
    app.command("demo")(demo)


def obfuscate(
    input: Annotated[
        Path, typer.Argument(help="A .txt, .jsonl(.gz), .csv(.gz) or .parquet file, or a folder.")
    ],
    epsilon: Annotated[
        float, typer.Option(help="Privacy parameter per unit of word distance; smaller hides more.")
    ],
    output: Annotated[Path, typer.Option(help="New folder for the bags and their manifest.")],
    mechanism: Annotated[str, typer.Option(help="Word mechanism.")] = "laplace",
    metric: Annotated[str, typer.Option(help="Word distance: euclidean or manhattan.")] = "euclidean",
    project: Project = None,
    prior: Prior = None,
    floor: Floor = None,
    embeddings: Annotated[
        str | None, typer.Option(help="Word vectors: a stored name or a file. Default: the packaged GloVe.")
    ] = None,
    length: Annotated[
        str,
        typer.Option(help="Words a bag: a number N (first N words, shorter texts padded), or 'shortest'."),
    ] = "400",
    unknown: Annotated[
        str, typer.Option(help="Words outside the vocabulary: unk, drop or reject (keep: experiments only).")
    ] = "unk",
    stop_words: Annotated[str, typer.Option(help="Words left out: english, none or file:PATH.")] = "english",
    id_field: Annotated[str, typer.Option(help="Field that holds a document's id.")] = "id",
    text_field: Annotated[str, typer.Option(help="Field that holds its text.")] = "text",
    keep: Annotated[
        list[str] | None, typer.Option(help="Public field to keep, such as topic; repeatable.")
    ] = None,
    number: Annotated[
        bool, typer.Option("--number", help="Number the documents instead of reading ids.")
    ] = False,
    format: Annotated[
        str | None,
        typer.Option(help="File format of the bags: jsonl (default), csv, parquet or mtx; Spark: parquet."),
    ] = None,
    engine: Annotated[str, typer.Option(help="Where to work: local (processes) or spark.")] = "local",
    master: Annotated[
        str | None, typer.Option(help="Spark master, such as spark://HOST:7077. Default: this machine.")
    ] = None,
    workers: Annotated[int | None, typer.Option(min=1, help="Processes. Default: one a processor.")] = None,
    batch_size: Annotated[
        int | None,
        typer.Option(min=1, help="Documents searched together. Default: what suits the mechanism."),
    ] = None,
    resume: Annotated[
        bool,
        typer.Option("--resume", help="Keep what is finished, so that the same call goes on after a kill."),
    ] = False,
    skip_bad: Annotated[
        bool, typer.Option("--skip-bad", help="Leave out documents that cannot be read.")
    ] = False,
    ledger: Annotated[
        Path | None, typer.Option(help="Budget to debit before the release; see publius ledger.")
    ] = None,
    subject_field: Annotated[
        str | None, typer.Option(help="Field with whom to charge beside the document, such as author.")
    ] = None,
    json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
    experiment: Annotated[
        bool, typer.Option("--experiment", help="Allow weaker runs; every artefact is marked NOT PRIVATE.")
    ] = False,
    seed: Annotated[int | None, typer.Option(help="Reproducible noise (with --experiment).")] = None,
    order: Annotated[
        bool,
        typer.Option(
            "--order", help="Ordered text instead of bags: protected words in place, a weaker promise."
        ),
    ] = False,
    keep_between: Annotated[
        str | None,
        typer.Option(
            help="What stands UNPROTECTED between ordered words: none (default), stop-words, punctuation or all."
        ),
    ] = None,
) -> None:
    """Turn documents into protected bags-of-words, or into ordered text under a weaker promise."""
    from publius.documents.corpus import open_corpus

    _check_format(format)
    book = _ledger(ledger, subject_field)
    labels = tuple(keep or ())
    corpus = open_corpus(
        input,
        id_field=id_field,
        text_field=text_field,
        keep=labels,
        number=number,
        subject_field=subject_field,
    )
    plan = _plan(
        corpus, epsilon, mechanism, metric, embeddings, length, unknown, stop_words, labels, skip_bad=skip_bad,
        experiment=experiment, seed=seed, ordered=_ordered(order, keep_between), choices=(project, prior, floor),
    )  # fmt: skip
    options = {
        "workers": workers or os.cpu_count(),
        "batch_size": batch_size,
        "skip_bad": skip_bad,
        "resume": resume,
        "ledger": book,
    }
    _run(corpus, plan, output, json=json, format=format, engine=engine, master=master, **options)


def demo(
    output: Annotated[Path, typer.Option(help="New folder for the bags and their manifest.")] = Path(
        "publius-demo"
    ),
    epsilon: Annotated[float, typer.Option(help="Privacy parameter per unit of word distance.")] = 10.0,
    json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
) -> None:
    """Protect the Federalist papers with the packaged vectors and show what was released."""
    from publius.documents.corpus import open_corpus
    from publius.documents.samples import federalist_papers

    corpus = open_corpus(federalist_papers())
    plan = _plan(corpus, epsilon, "laplace", "euclidean", None, "400", "unk", "english", ())
    _run(corpus, plan, output, json=json)
    if not json:
        _show_first(output / "bags.jsonl")


def _check_format(format: str | None) -> None:
    from publius.releases.writers import WRITERS

    if format is not None and format not in WRITERS:
        raise UsageError(f"no format is called {format!r}: choose one of {', '.join(WRITERS)}")


def _plan(
    corpus: Corpus,
    epsilon: float,
    mechanism: str,
    metric: str,
    embeddings: str | None,
    length: str,
    unknown: Any,
    stop_words: str,
    labels: tuple[str, ...],
    *,
    skip_bad: bool = False,
    experiment: bool = False,
    seed: int | None = None,
    ordered: OrderedText | None = None,
    choices: tuple[int | None, Path | None, float | None] = (None, None, None),
) -> Plan:
    from publius.errors import PolicyError
    from publius.mechanisms.registry import make_mechanism
    from publius.noise.laplace import checked_epsilon
    from publius.releases.engines import shortest_length
    from publius.releases.plan import Experiment, Plan
    from publius.text.bag import Encoding
    from publius.text.tokenizer import StopWords
    from publius.vectors.embeddings import Embeddings

    if not experiment and seed is not None:
        raise PolicyError("--seed makes a run that is NOT PRIVATE: it is allowed only with --experiment")
    checked_epsilon(epsilon)
    given = None if length == "shortest" else _whole_number(length)
    with waiting(MAKING):
        vectors = Embeddings.load(embeddings)
        more = extras(vectors, *choices)
        made = make_mechanism(mechanism, vectors, epsilon=epsilon, metric=metric, **more)
    encoding = Encoding(given or 1, unknown, StopWords.load(stop_words), vectors.tokenizer)
    allowed = Experiment(seed) if experiment else None
    plan = Plan(made, encoding, given is None, allowed, labels, ordered)
    if given is not None:
        return plan
    from dataclasses import replace

    with waiting("looking for the shortest document"):
        shortest = shortest_length(corpus, encoding, vectors, skip_bad=skip_bad)
    return replace(plan, encoding=replace(encoding, length=shortest))


def _ordered(order: bool, keep_between: str | None) -> OrderedText | None:
    from publius.releases.plan import OrderedText

    if keep_between is not None and not order:
        raise UsageError("--keep-between says what stands between ordered words: give --order too")
    return OrderedText(keep_between or "none") if order else None  # type: ignore[arg-type]  # checked there


def _whole_number(length: str) -> int:
    if not length.isascii() or not length.isdigit() or not 1 <= int(length[:12]) <= 10_000_000:
        raise UsageError(
            f"--length must be a whole number from 1 to 10,000,000, or 'shortest', not {length!r}"
        )
    return int(length)


def _ledger(path: Path | None, subject_field: str | None) -> Ledger | None:
    from publius.privacy.ledger import Ledger

    if path is None and subject_field is not None:
        raise UsageError("--subject-field says whom a ledger charges: give --ledger FILE too")
    return None if path is None else Ledger(path)


def _run(corpus: Corpus, plan: Plan, output: Path, *, json: bool, **options: Any) -> None:
    """``options`` are those of `publius.releases.engines.protect_corpus`."""
    from publius.releases.engines import protect_corpus

    with _progress_bar(corpus) as progress:
        summary = protect_corpus(corpus, plan, output, progress=progress, notice=_say_found, **options)
    with standard_output(f"the release in {output} is complete"):
        if json:
            print_json(_as_json(summary, output))
        else:
            _print_summary(summary, output)


def _say_found(found: Found) -> None:
    typer.echo(
        f"publius: going on with an unfinished run: {found.documents:,} documents were finished"
        + (f", {found.left_out:,} left out" if found.left_out else "")
        + (f"; {found.torn_bytes:,} bytes of an unfinished batch were cut off" if found.torn_bytes else ""),
        err=True,
    )


@contextmanager
def _progress_bar(corpus: Corpus) -> Iterator[Callable[[int], None]]:
    """Progress on standard error, on a terminal only."""
    if not sys.stderr.isatty():
        yield lambda done: None
        return
    from rich.console import Console
    from rich.progress import (
        BarColumn,
        MofNCompleteColumn,
        Progress,
        SpinnerColumn,
        TextColumn,
        TimeRemainingColumn,
    )

    text, rest = TextColumn("{task.description}"), TimeRemainingColumn()
    columns = (SpinnerColumn(), text, BarColumn(), MofNCompleteColumn(), rest)
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task("preparing", total=corpus.count_hint)

        def advance(done: int) -> None:
            if done:  # a run also says where it begins
                bar.update(task, advance=done, description="documents")

        yield advance


def _as_json(summary: Summary, output: Path) -> dict[str, Any]:
    tally = summary.tally
    return {
        "output": str(output),
        "documents": tally.documents,
        "words": tally.words,
        "unknown_share": round(tally.unknown_share, 6),
        "padding_words": tally.padding,
        **({"resumed": asdict(summary.found)} if summary.found else {}),
        "skipped": [{"position": bad.position, "id": bad.id, "reason": bad.reason} for bad in summary.bad],
        **summary.manifest,
    }


def _print_summary(summary: Summary, output: Path) -> None:
    tally, manifest = summary.tally, summary.manifest
    lines = [
        f"Released to {output}",
        f"  documents       {tally.documents:,}"
        + (f" ({len(summary.bad):,} left out)" if summary.bad else ""),
        f"  words           {tally.words:,} (N = {manifest['size']:,} a document, {manifest['size_from']})",
        f"  unknown words   {tally.unknown_share:.1%} of the words read ({manifest['unknown']}); "
        f"padding {tally.padding / tally.words:.1%} of the words released",
        f"  mechanism       {manifest['mechanism']}, {manifest['metric']}, {manifest['embeddings']} "
        f"({manifest['vocabulary_size']:,} words, {manifest['dimension']} dimensions)",
        f"  epsilon         {manifest['epsilon']:g} a word; epsilon*N = {manifest['epsilon_total']:g}; "
        f"delta = {manifest['delta']:.1e}",
        "The share of unknown words and padding describe your documents; they are shown to you and released nowhere.",
        "",
        *(f"left out: {bad.error()}" for bad in summary.bad[:_BAD_SHOWN]),
        *([f"... and {len(summary.bad) - _BAD_SHOWN:,} more"] if len(summary.bad) > _BAD_SHOWN else []),
        manifest["promise"],
    ]
    typer.echo("\n".join(printable(line) for line in lines))


def _show_first(bags: Path) -> None:
    """The most frequent words of the first bag: what a reader of the release sees."""
    import json

    with bags.open(encoding="utf-8") as file:
        record = json.loads(file.readline())
    words = sorted(record["bag"].items(), key=lambda item: (-item[1], item[0]))[:12]
    typer.echo(f"\nThe first bag ({record['size']} words) begins, by frequency:")
    for word, count in words:
        typer.echo(f"  {count:>3} {'#' * min(count, 60)} {printable(word)}")
