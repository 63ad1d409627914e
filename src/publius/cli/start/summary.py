"""``publius start`` where readers need what the collection says."""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from publius.cli.console import printable, progress_bar, waiting
from publius.cli.start.asking import Asking
from publius.cli.start.releasing import show_commands
from publius.cli.start.texts import show_found, texts_in
from publius.cli.summarize import tell_curator
from publius.errors import UsageError, how_many
from publius.evaluation.steps.questions import (
    EPSILON_OF_AUTHOR,
    GO_ON,
    NO,
    STRATUM,
    WRITER,
    YES,
    with_columns,
)
from publius.settings import AUTHORS_AT_LEAST, ReadersSettings, StartSettings

if TYPE_CHECKING:
    from publius.evaluation.steps.summarizing import Seen, SummaryWorkflow


def summary_walk(
    file: Path,
    output: Path,
    choices: StartSettings,
    readers: ReadersSettings,
    ledger: Path | None,
    ask: Asking,
) -> dict[str, Any]:
    """Ask what has to be known, say how sure the counts will be, and release the summary with a page to sign."""
    from publius.evaluation.steps.older import maybe_author
    from publius.evaluation.steps.summarizing import FOLDER, SummaryWorkflow, column_of_authors, seen
    from publius.files import check_new_folder

    check_new_folder(output)
    typer.echo("1. What is in the file")
    found, choices = texts_in(file, choices, ask)
    show_found(found)
    names = [name for name in found.columns if name != found.text_field]
    author = column_of_authors(found, choices)
    if choices.author_field is None:
        proposed = author if ask.yes else author or maybe_author(found)
        author = ask(replace(with_columns(WRITER, names), proposed=proposed))
    if author not in names:
        raise UsageError(
            f"there is no column {author!r:.80} of authors among {how_many(len(names), 'column')}: publius inspect "
            "shows them"
        ).among(names)
    choices = replace(choices, author_field=author)
    with waiting("looking at the columns"):
        private = seen(file, found, choices)
    typer.echo("2. What to count by")
    by = list(readers.by) or _strata(private, ask)
    if not by:
        typer.echo("   By nothing: all documents together.")
    with waiting("opening the reference and the word vectors"):
        flow = SummaryWorkflow(file, found, choices, by)
    typer.echo("3. How sure the counts will be")
    flow = _epsilon(flow, private, choices, ask)
    if (why := flow.says_nothing(private.authors)) is not None:
        typer.echo(f"   Careful: {why}. Whoever sees the summary is not told.")
    typer.echo("4. The summary")
    typer.echo(f"   {printable(flow.summary.promise)}")
    if not ask.agreed(GO_ON):
        raise UsageError("cancelled; nothing was released")
    finished = _release(flow, output, ledger)
    tell_curator(finished)
    return {
        "verdict": None,
        "summary": str(output / FOLDER),
        "signoff": str(output / "signoff.html"),
        "by": by,
        "epsilon": flow.epsilon,
        "commands": flow.commands(output, ledger),
    }


def _strata(private: Seen, ask: Asking) -> list[str]:
    """Columns with few values whose list is public, as the curator says."""
    from publius.evaluation.steps.summarizing import declared

    found = []
    for name, values in private.values.items():
        shown = ", ".join(values) if _is_seen() else f"{len(values):,}, shown on a terminal only"
        typer.echo(f"   The column {printable(repr(name))} has few values: {printable(shown)}.")
        if rare := private.rare[name]:
            named = ", ".join(rare) if _is_seen() else f"{len(rare):,}"
            typer.echo(
                f"   Left out, since fewer than {AUTHORS_AT_LEAST} authors have them: {printable(named)}. Type the "
                "list if they are public, too."
            )
        answer = ask(STRATUM)
        if answer == YES and not _is_seen():
            raise UsageError(
                "nobody was shown the list, so nobody can say that it is public: type the values with commas, or "
                f"declare them with --by {name}=..."
            )
        if answer == YES:
            found.append(declared(name, values))
        elif answer != NO:
            found.append(f"{name}={answer}")
    return found


def _is_seen() -> bool:
    """Whether a person reads what is written: values of private documents are shown to nobody else."""
    return sys.stdout.isatty()  # where `typer.echo` writes: what is kept of the talk, by tee, say, is a file


def _epsilon(flow: SummaryWorkflow, private: Seen, choices: StartSettings, ask: Asking) -> SummaryWorkflow:
    """With the epsilon that is stated, or chosen with its accuracy in sight."""
    if choices.epsilon is None:
        for sentence in flow.accuracy(private.authors):
            typer.echo(f"   At epsilon {flow.epsilon:g}, {sentence}")
        flow = flow.at(float(ask(EPSILON_OF_AUTHOR)))
    for sentence in flow.accuracy(private.authors):
        typer.echo(f"   At epsilon {flow.epsilon:g}, {sentence}")
    return flow


def _release(flow: SummaryWorkflow, output: Path, ledger: Path | None) -> Any:
    from publius.privacy.ledger import Ledger

    with progress_bar("documents", None) as progress:
        return flow.release(
            output, None if ledger is None else Ledger(ledger), progress=progress,
            notice=lambda text: typer.echo(f"   {printable(text)}"),
        )  # fmt: skip


def show_summary_end(result: dict[str, Any]) -> None:
    """Where a summary is, and the commands that do the same."""
    typer.echo(
        f"\nRead {result['summary']}/report.html and {result['signoff']} in a browser, print the page, sign it. The "
        f"summary may leave: {result['summary']}"
    )
    show_commands(result["commands"])
