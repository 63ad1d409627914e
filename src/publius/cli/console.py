"""What commands print: one JSON object on standard output, or text for people."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Annotated, Any

import typer

from publius.errors import StorageError
from publius.settings import CONVENIENCE

Json = Annotated[bool, typer.Option("--json", help="Print one JSON object."), CONVENIENCE]


@contextmanager
def standard_output(done: str) -> Iterator[None]:
    """Print inside; when that fails, `StorageError` that says what is ``done`` all the same."""
    try:
        yield
        sys.stdout.flush()
    except OSError as error:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # what is buffered has nowhere to go
        raise StorageError(f"standard output failed ({error.strerror}); {done}") from None


@contextmanager
def waiting(task: str) -> Iterator[Callable[[str], None]]:
    """Say on standard error what takes its time, and for how long, on a terminal only; wiped at the end.

    What is yielded says what comes next.
    """
    if not sys.stderr.isatty():
        yield lambda task: None
        return
    from rich.console import Console
    from rich.progress import Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

    columns = (SpinnerColumn(), TextColumn("{task.description}"), TimeElapsedColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as shown:
        line = shown.add_task(task, total=None)
        yield lambda task: shown.update(line, description=task)


@contextmanager
def progress_bar(what: str, total: int | None) -> Iterator[Callable[[int], None]]:
    """How many of ``total`` are done, on standard error, on a terminal only; what is yielded says how many more are."""
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
        task = bar.add_task("preparing", total=total)

        def advance(done: int) -> None:
            if done:  # a run also says where it begins
                bar.update(task, advance=done, description=what)

        yield advance


def print_json(record: Mapping[str, Any]) -> None:
    """One object, nothing else, on standard output."""
    typer.echo(as_json(record))


def as_json(record: Mapping[str, Any]) -> str:
    """The same, to be printed elsewhere."""
    return json.dumps(record, ensure_ascii=False, allow_nan=False)


def print_table(header: Sequence[str], rows: Iterable[Sequence[object]]) -> None:
    """Columns aligned for a terminal, without colour or escapes; control characters are shown, not sent."""
    lines = [[printable(str(cell)) for cell in row] for row in (header, *rows)]
    widths = [max(len(line[column]) for line in lines) for column in range(len(header))]
    for line in lines:
        typer.echo("  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)).rstrip())


def printable(text: str) -> str:
    """``text`` with control and bidirectional characters replaced, so that it cannot drive a terminal."""
    return "".join(
        character if character.isprintable() else "\N{REPLACEMENT CHARACTER}" for character in text
    )
