"""``publius summarize``: what a collection says, each author protected."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

from publius.cli import console
from publius.cli.parsing import AsRead, ByAuthors, Documents, Folder, Json, More, files_of
from publius.errors import UsageError
from publius.settings import People, Reading

if TYPE_CHECKING:
    from publius.summaries.run import Result
    from publius.summaries.summary import Summary

_ROWS = 5


def summarize(
    file: Documents | None = None,
    *more: More,
    classifier: str | None = None,
    by: tuple[str, ...] = (),
    epsilon: str = "1",
    output: Folder | None = None,
    documents_per_author: int = 1,
    compare: str | None = None,
    ask: str | None = None,
    statements_per_author: int = 3,
    share: str | None = None,
    synthetic: int | None = None,
    accuracy: bool = False,
    estimate: bool = False,
    force: bool = False,
    ledger: str | None = None,
    workers: int | None = None,
    json: Json = False,
    reading: AsRead = Reading(),
    people: ByAuthors = People(),
) -> None:
    """Release what a collection says: counts, each author protected.

    Args:
        classifier: Stored, or python:MODULE:NAME. Default: subjects.
        by: Groups: FIELD=A,B or FIELD=@FILE; repeatable.
        epsilon: Of each author, for the whole summary.
        output: New folder for the summary.
        documents_per_author: How many of an author count.
        compare: Earlier summary, or file of public texts.
        ask: Statements, @FILE: how many authors wrote so.
        statements_per_author: How many an author counts for.
        share: Of epsilon: totals=0.2,topics=0.5,subjects=0.3.
        synthetic: Made-up rows. Default: as counted, to 10,000.
        accuracy: Only say how large a count shows; reads nothing.
        estimate: Only say time and memory, by a sample.
        force: Draw though every count would be noise.
        ledger: Charge each author's account in this ledger.
        workers: Processes. Default: one per CPU.
    """
    from publius.files.value_list import value_list
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
    if file is None or (output is None and not estimate):
        raise UsageError(f"{'which file? publius summarize FILE' if file is None else '--output'} is missing")
    from publius.documents.corpus import open_corpus
    from publius.documents.inspection import look
    from publius.files import remove_leftovers
    from publius.noise.randomness import RunKey
    from publius.privacy.ledger import Ledger
    from publius.start.steps import beforehand
    from publius.summaries.counting import count_batch
    from publius.summaries.run import summarize_corpus

    corpus = open_corpus(
        files_of(file, more, by[-1] if by else None), reading, author_field=people.author_field, no_author=people.no_author,
        fields=[field.name for field in summary.groups.fields],
    )  # fmt: skip
    check_authors(corpus)
    counts = summary.classifier or summary.subjects
    for line in console.watched(look, corpus, None if counts is None else counts.known):
        console.note(line)
    for line in beforehand(summary):
        console.note(line)
    if output is None or estimate:
        cells = summary.cells_of(RunKey.fresh())
        console.estimate(lambda batch: count_batch(cells, batch), corpus, workers, json=json)
        return
    remove_leftovers(output)
    found = console.watched(
        summarize_corpus, corpus, summary, Path(output), compare=compare, reading=reading, synthetic=synthetic,
        force=force, ledger=None if ledger is None else Ledger(ledger), workers=workers,
    )  # fmt: skip
    _print(found, output, json=json)


def _say_accuracy(summary: Summary, *, json: bool) -> None:
    from publius.summaries.summary import expected

    found = expected(summary)
    if json:
        console.as_json({"epsilon": float(summary.epsilon), "tables": [asdict(each) for each in found]})
        return
    rows = [(each.table, each.cells, each.epsilon, f"{each.within:,}", each.told) for each in found]
    console.table(("table", "counts", "epsilon", "95 % within", "sure to show from"), rows)
    console.say(
        f"Each author moves at most {summary.documents_per_author} "
        f"{'document' if summary.documents_per_author == 1 else 'documents'}; smaller counts may show, too. Nothing was read."
    )


def _print(found: Result, output: str, *, json: bool) -> None:
    from publius.privacy.promise import meaning

    manifest, told = found.manifest, found.told
    if found.left_out:
        console.note(f"{found.left_out:,} documents name no author and count nowhere.")
    for name, count in found.undeclared.items():
        console.note(f"{count:,} documents have an undeclared {name} and count as other.")
    if json:
        import msgspec

        rows: dict[str, Any] = {}
        if told is not None:
            rows = {name: getattr(told, name) for name in ("groups", "topics", "subjects", "statements")}
        console.as_json({**msgspec.to_builtins(manifest), **rows, "folder": output, "left_out": found.left_out})
        return
    if manifest.warning:
        console.say(manifest.warning)
    if told is not None:
        _lists(told)
    console.say(meaning(manifest))
    console.say(f"Summary of {manifest.authors:,} authors: {output}. Read {output}/release.html")


def _lists(told: Any) -> None:
    """The largest subjects, topics or statements: at most five lines."""
    name, ranked = "subject", told.subjects
    if told.statements:
        name, ranked = "statement", told.statements
    elif told.topics or not ranked:
        name, ranked = "topic", told.topics or ranked
    counted = "authors" if told.statements else "documents"
    key = "statement" if told.statements else "words"
    first = sorted(ranked, key=lambda row: -row[counted])[:_ROWS]
    if not first:
        console.say("Noise hides every count of a subject: none is listed.")
        return
    most = max(row["high"] for row in first) or 1
    for row in first:
        limits = f"{row['low']:,} to {row['high']:,}"
        console.say(f"{console.bar(row[counted] / most, 12)} {limits:>16}  {row[key][:44]}")
    left = f", {len(ranked) - len(first)} more in the folder" if len(ranked) > len(first) else ""
    console.say(f"{counted.capitalize()} by {name}, 95 % limits{left}.")
