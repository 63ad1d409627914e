"""``publius summarize``: what a collection says, its authors protected."""

from __future__ import annotations

from dataclasses import fields, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from publius.cli.before import say_unseen
from publius.cli.console import (
    as_json,
    print_json,
    print_table,
    printable,
    progress_bar,
    standard_output,
    waiting,
)
from publius.cli.log import say, say_here, seen_here
from publius.cli.options import Json, options
from publius.errors import UsageError, how_many
from publius.settings import AccuracySettings, FormSettings, SummaryRunSettings, SummarySettings

if TYPE_CHECKING:
    from publius.releases.summaries.run import Finished
    from publius.releases.summaries.summary import Summary

_SHOWN = 20


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command("summarize")(summarize)


@options()
def summarize(
    settings: SummarySettings,
    going: SummaryRunSettings,
    expected: AccuracySettings,
    input: Annotated[
        Path | None, typer.Argument(help="A file or folder of documents with their authors.", show_default=False)
    ] = None,
    author_field: Annotated[
        str | None, typer.Option(help="Field that names the author: who is protected, with all documents.")
    ] = None,
    output: Annotated[Path | None, typer.Option(help="New folder for the summary.")] = None,
    ledger: Annotated[
        Path | None, typer.Option(help="Budget to debit, once for each author; see publius ledger.")
    ] = None,
    json: Json = False,
) -> None:  # fmt: skip
    """State what a collection says, its authors protected.

    Counts of themes and subjects with limits, what is new, typical words, and rows to train on. Counted are contributed
    documents, at most --documents-per-author of an author; every author is protected with all documents together.
    """
    if expected.accuracy:
        _accuracy(settings, expected, json=json)
        return
    if input is None or output is None or author_field is None:
        raise UsageError(
            "name the documents, --author-field and --output; or ask first what counts will be worth, with --accuracy "
            "--authors 2000 --cells 400 --epsilon 1"
        )
    if replace(expected, authors=None) != AccuracySettings():
        raise UsageError("--cells and --wanted go with --accuracy")
    summary = _summary(settings, author_field)
    finished = _run(input, summary, output, ledger, going, expected.authors)
    told = {"output": str(output), **finished.manifest}
    tell_curator(finished)
    with standard_output(f"the summary in {output} is complete"):
        typer.echo(as_json(told) if json else _said(finished, output))


def _summary(settings: SummarySettings, author_field: str) -> Summary:
    from publius.releases.summaries.summary import Summary

    with waiting("opening the reference and the word vectors"):
        return Summary(
            settings.reference, settings.epsilon, settings.documents_per_author, settings.by, settings.share,
            author_field=author_field, text_field=settings.text_field,
            leave_out_without_author=settings.leave_out_without_author, embeddings=settings.embeddings,
        )  # fmt: skip


def _run(
    input: Path,
    summary: Summary,
    output: Path,
    ledger: Path | None,
    going: SummaryRunSettings,
    authors: int | None,
) -> Finished:
    from publius.mechanisms.threads import processors
    from publius.privacy.ledger import Ledger
    from publius.releases.summaries import run

    form = {each.name: getattr(going, each.name) for each in fields(FormSettings)}
    corpus = summary.corpus(input, **form)
    say_unseen(corpus)
    book = None if ledger is None else Ledger(ledger)
    with progress_bar("documents", corpus.count_hint) as progress:
        return run.summarize(
            corpus, summary, output, ledger=book, compare=going.compare, authors=authors,
            engine=going.engine, master=going.master, workers=going.workers or processors(),
            progress=progress, notice=lambda text: say(printable(text)),
        )  # fmt: skip


def tell_curator(finished: Finished) -> None:
    """Tell the curator alone: on standard error, never in the folder."""
    seen = finished.seen
    say("What follows describes your documents; it is for you alone and stands in no file.")
    public = (
        "wrote public texts of the reference, too: these are public, and nothing protects what stands in them"
    )
    if "passages" in finished.manifest:
        public += ", nor do passages that are quoted from there: they can be theirs"
    for count, one, more in (
        (seen.unreadable, "document has no text that can be read: it counts as having no words",
         "documents have no text that can be read: they count as having no words (a table that is not in UTF-8 needs "
         "--encoding)"),
        (seen.without_author, "document that does not name one author was left out",
         "documents that do not name one author were left out"),
        (seen.undeclared, "document has a value that was not declared: it counts as other",
         "documents have a value that was not declared: they count as other"),
        (finished.left_out, "author has not enough budget left and was left out",
         "authors have not enough budget left and were left out"),
        (finished.in_public, f"author {public}", f"authors {public}"),
    ):  # fmt: skip
        if count:
            say(how_many(count, one, more))
    if finished.alike:
        say(
            how_many(len(finished.alike), "group of authors looks", "groups of authors look")
            + " like one person's names; each name is protected alone"
            + (":" if seen_here() else ". They are shown on a terminal alone")
        )
        for group in finished.alike[:_SHOWN]:
            rest = [f"{len(group) - _SHOWN:,} more"] if len(group) > _SHOWN else []
            say_here(printable("  " + " | ".join([*group[:_SHOWN], *rest])))
        if len(finished.alike) > _SHOWN:
            say(f"... and {len(finished.alike) - _SHOWN:,} more")


def _said(finished: Finished, output: Path) -> str:
    from publius.privacy.promise import rounded_up

    said, manifest = finished.said, finished.manifest
    low, high = said.size
    lines = [
        f"Summary in {output}",
        f"  contributed     between {low:,} and {high:,} documents, at most {manifest['documents_per_author']} an "
        "author",
        f"  strata          {len(said.strata):,}; noisy counts {manifest['cells']:,}",
        f"  promise         epsilon {rounded_up(manifest['epsilon'], 6)} for each author, delta 0",
        *(
            f"  new {name:<12}{len(ranked.new):,} of {len(ranked.cells):,}"
            for name, ranked in (("subjects", said.subjects), ("themes", said.themes))
            if ranked is not None and ranked.compared is not None
            if name == "subjects" or said.earlier is not None  # of others no theme is called new
        ),
        "",
        manifest["promise"],
        "",
        f"Open {output / 'report.html'} in a browser; give READ-ME.txt to whoever receives the folder.",
    ]
    return "\n".join(printable(line) for line in lines)


# Before anything is spent ---------------------------------------------------------------------------------------------


def _accuracy(settings: SummarySettings, expected: AccuracySettings, *, json: bool) -> None:
    from publius.collections.accuracy import accuracy, said_beforehand
    from publius.collections.strata import Strata
    from publius.releases.summaries.summary import exact_number

    authors, cells = expected.authors, expected.cells
    if authors is None or cells is None:
        raise UsageError("--accuracy needs --authors and --cells: how many are expected, and how many counts")
    epsilon, c = exact_number(settings.epsilon, "epsilon"), settings.documents_per_author
    found = accuracy(authors, cells, epsilon, documents_per_author=c)
    strata = Strata.parse(settings.by).size
    facts = said_beforehand(found, epsilon, strata=strata, wanted=expected.wanted)
    if json:
        print_json(facts)
        return
    rows = [
        ("a count may be off by", f"{how_many(found.count_95, 'document')} (95 % of single counts)"),
        ("all counts at once by", f"{found.all_95:,}"),
        ("told from empty from", f"{how_many(found.smallest_95, 'document')} on"),
        ("told from each other by", f"{found.difference_95:,}, a share of {found.share_95:.2%}"),
        ("themes that pay", f"about {facts['themes_that_pay']:,} with {strata:,} strata"),
    ]
    if expected.wanted is not None:
        rows.append((f"to be within {expected.wanted:,}", f"epsilon {facts['epsilon_for_wanted']:g}"))
    print_table(
        (f"{authors:,} authors, {cells:,} counts", f"epsilon {float(epsilon):g} for these counts"), rows
    )
    if found.says_nothing:
        typer.echo(
            "\nNothing could be told apart: not even a count ten times the average. With --authors a summary refuses."
        )
