"""``publius watch``: release what arrives in a folder, each file once."""

from __future__ import annotations

import time
from collections import Counter
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from publius.cli.before import check_own_mechanism, check_strength, say_emptiness, with_what_is_kept
from publius.cli.console import print_json, printable, standard_output, waiting
from publius.cli.log import say
from publius.cli.options import MAKING, Json, MechanismCommand, options
from publius.errors import DataError, UsageError
from publius.settings import InputSettings, ReleaseSettings, RunSettings, WatchSettings

if TYPE_CHECKING:
    from publius.releases.watching import Event

_NOT_HERE = ("experiment", "seed", "number", "engine", "master", "workers", "resume", "subfolders")


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command("watch", cls=MechanismCommand)(watch)


@options(without=_NOT_HERE, preserve=None)
def watch(
    folder: Annotated[
        Path, typer.Argument(help="Where files arrive: text, tables, Word, PDF, HTML, e-mail.")
    ],
    settings: ReleaseSettings,
    output: Annotated[Path, typer.Option(help="Folder for the releases: a numbered folder for each file.")],
    ledger: Annotated[Path, typer.Option(help="Budget to debit before each release; see publius ledger.")],
    fields: InputSettings,
    work: RunSettings,
    looking: WatchSettings,
    json: Json = False,
) -> None:
    """Release what arrives in a folder, each file once.

    Stopped or killed: rerun to resume. Ends by Ctrl-C or a signal; exits 65 if every file was refused.
    OUTPUT.publius-watch/files.jsonl lists the number of each file, for you alone.
    """
    from publius.privacy.ledger import Ledger
    from publius.releases.plan import Plan
    from publius.releases.watching import FolderWatch

    book = Ledger(ledger)
    settings = with_what_is_kept(settings)
    check_strength(settings)
    if settings.length is not None and settings.chosen.size is None:
        raise UsageError(
            "what will arrive is not known, so there is no shortest document: give --length a number"
        )
    with waiting(MAKING):
        plan = Plan.of(settings, labels=fields.keep)
    check_own_mechanism(plan, settings.mechanism, settings.parameters)
    say_emptiness(plan)
    reading = {name: value for name, value in asdict(fields).items() if name != "number"}
    counts: Counter[str] = Counter()
    watched = FolderWatch(folder, output, plan, book, settle=looking.settle, run=work, reading=reading)
    try:
        with watched:
            while True:
                for event in watched.look():
                    counts[event.what] += 1
                    _tell(event, output, json=json)
                if looking.once and not watched.unsettled:
                    break
                time.sleep(looking.pause)
    except SystemExit:  # a signal: that is how it ends, and what was begun goes on with the next call
        say("stopped; rerun to resume")
    if not json:
        told = ", ".join(f"{count:,} {what}" for what, count in sorted(counts.items())) or "nothing arrived"
        typer.echo(f"Files: {told}")
    if code := _exit_code(counts):
        raise typer.Exit(code)


def _exit_code(counts: Counter[str]) -> int:
    """Where there was something to release and nothing of it was."""
    return DataError.exit_code if counts["refused"] and not counts["released"] else 0


def _tell(event: Event, output: Path, *, json: bool) -> None:
    """One line a file: its number, never its name."""
    place = output / f"{event.number:08d}" if event.what == "released" else None
    with standard_output(f"file {event.number} was {event.what}"):
        if json:
            print_json({**asdict(event), "output": None if place is None else str(place)})
        elif place is not None:
            left_out = f", {event.left_out:,} left out" if event.left_out else ""
            typer.echo(f"file {event.number}: {event.documents:,} released to {place}{left_out}")
    if not json:
        for sentence in event.said:
            say(f"file {event.number}: {printable(sentence)}")
