"""``publius summarize``: what a collection says, each author protected."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from publius.cli import console
from publius.cli.console import Table
from publius.cli.parsing import AsRead, ByAuthors, Documents, Folder, Help, Json, More, files_of, flat
from publius.errors import UsageError, how_many
from publius.settings import People, Reading, Workers

if TYPE_CHECKING:
    from publius.summaries.run import Result
    from publius.summaries.summary import Summary

_ROWS = 5


def summarize(
    file: Documents | None = None,
    *more: More,
    classifier: Annotated[str | None, Help("Stored, or python:MODULE:NAME. Default: subjects.")] = None,
    by: Annotated[tuple[str, ...], Help("Groups: FIELD=A,B or FIELD=@FILE; repeatable.")] = (),
    epsilon: Annotated[str, Help("Of each author, for the whole summary.")] = "1",
    output: Annotated[Folder | None, Help("New folder for the summary.")] = None,
    documents_per_author: Annotated[int, Help("How many of an author count.")] = 1,
    compare: Annotated[str | None, Help("Earlier summary, or file of public texts.")] = None,
    ask: Annotated[str | None, Help("Statements, @FILE: how many authors wrote so.")] = None,
    statements_per_author: Annotated[int, Help("How many an author counts for.")] = 3,
    share: Annotated[str | None, Help("Of epsilon: totals=0.2,topics=0.5,subjects=0.3.")] = None,
    synthetic: Annotated[int | None, Help("Made-up rows. Default: as counted, to 10,000.")] = None,
    accuracy: Annotated[bool, Help("Only say how large a count shows; reads nothing.")] = False,
    force: Annotated[bool, Help("Draw though every count would be noise.")] = False,
    ledger: Annotated[str | None, Help("Charge each author's account in this ledger.")] = None,
    json: Json = False,
    run: Annotated[Workers, flat("Run")] = Workers(),
    reading: AsRead = Reading(),
    people: ByAuthors = People(),
) -> None:
    """Release what a collection says: counts, each author protected."""
    import msgspec

    from publius.files.reading import value_list
    from publius.summaries.summary import Summary, check_authors

    chosen = None
    if classifier is not None:
        from publius.classifiers import load_classifier

        chosen = load_classifier(classifier)
    summary = Summary(
        chosen, epsilon, documents_per_author=documents_per_author, by=by, shares=share,
        ask=() if ask is None else value_list(ask, "--ask"), statements_per_author=statements_per_author,
    )  # fmt: skip
    if accuracy:
        _say_accuracy(summary, json=json)
        return
    if file is None or (output is None and not run.estimate):
        raise UsageError(f"{'which file? publius summarize FILE' if file is None else '--output'} is missing")
    from publius.documents.corpus import open_corpus
    from publius.documents.inspection import look
    from publius.files.writing import remove_leftovers
    from publius.privacy.ledger import Ledger
    from publius.start.steps import beforehand
    from publius.summaries.run import summarize_corpus

    corpus = open_corpus(
        files_of(file, more, by[-1] if by else None), reading, fields=[field.name for field in summary.groups.fields],
        **vars(people),
    )  # fmt: skip
    check_authors(corpus)
    counts = summary.classifier or summary.subjects
    for line in console.watched(look, corpus, None if counts is None else counts.known, workers=run.workers):
        console.note(line)
    for line in beforehand(summary):
        console.note(line)
    if output is None or run.estimate:
        console.estimate(console.watched(summary.sampled, corpus), corpus, run.workers, json=json)
        return
    remove_leftovers(output)
    found = console.watched(
        summarize_corpus, corpus, summary, Path(output), compare=compare, reading=reading, synthetic=synthetic,
        force=force, ledger=None if ledger is None else Ledger(ledger), workers=run.workers, engine=run.engine,
        master=run.master,
    )  # fmt: skip
    if found.left_out:
        console.note(f"Documents that name no author and count nowhere: {found.left_out:,}.")
    for name, count in found.undeclared.items():
        console.note(f"{count:,} documents have an undeclared {name} and count as other.")
    tables = ("groups", "topics", "subjects", "statements")
    record = msgspec.to_builtins(found.manifest) | {name: getattr(found.told, name) for name in tables}
    record |= {"folder": output, "left_out": found.left_out}
    console.answer(record, *_shown(found, output), json=json)


def _say_accuracy(summary: Summary, *, json: bool) -> None:
    from publius.summaries.summary import expected

    found = expected(summary)
    rows = [(each.table, each.cells, each.epsilon, f"{each.within:,}", each.told) for each in found]
    console.answer(
        {"epsilon": float(summary.epsilon), "tables": [asdict(each) for each in found]},
        Table(("table", "counts", "epsilon", "95 % within", "sure to show from"), rows),
        f"Each author moves at most {how_many(summary.documents_per_author, 'document')}; smaller counts may show, too. "
        "Nothing was read.", json=json,
    )  # fmt: skip


def _shown(found: Result, output: str) -> Iterator[str]:
    from publius.privacy.promise import meaning

    if found.manifest.warning:
        yield found.manifest.warning
    yield from _largest(found.told)
    yield meaning(found.manifest)
    yield f"Summary of {found.manifest.authors:,} authors: {output}. Read {output}/release.html"


def _largest(told: Any) -> Iterator[str]:
    """The largest statements, topics or subjects: at most five lines."""
    kinds = (("statement", told.statements), ("topic", told.topics), ("subject", told.subjects))
    name, ranked = next((each for each in kinds if each[1]), ("", ()))
    if not ranked:
        yield "Noise hides every count of a subject: none is listed."
        return
    key, counted = ("statement", "authors") if name == "statement" else ("words", "documents")
    first = sorted(ranked, key=lambda row: -row[counted])[:_ROWS]
    most = max(row["high"] for row in first) or 1
    for row in first:
        limits = f"{row['low']:,} to {row['high']:,}"
        yield f"{console.bar(row[counted] / most, 12)} {limits:>16}  {row[key][:44]}"
    left = f", {len(ranked) - len(first)} more in the folder" if len(ranked) > len(first) else ""
    yield f"{counted.capitalize()} by {name}, 95 % limits{left}."
