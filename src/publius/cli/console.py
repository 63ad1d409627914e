"""Output of commands: one JSON object on standard output, or text for people; progress on standard error."""

from __future__ import annotations

import json
import os
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Annotated, Any, Final

import typer

from publius.cli.log import say
from publius.errors import StorageError
from publius.files.progress import Advance, Progress, unheard
from publius.settings import CONVENIENCE

Json = Annotated[bool, typer.Option("--json", help="Print one JSON object."), CONVENIENCE]


FOUND_BEFORE: Final = "found from before"
"""What progress calls the parts that an earlier run has done."""


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
def progress_bar(what: str, total: int | None) -> Iterator[Advance]:
    """How many of ``total`` are done, on standard error, on a terminal only; what is yielded says how many more are."""
    with progress_shown(quiet=True) as progress:
        done = 0

        def advance(more: int) -> None:
            nonlocal done
            done += more
            if more:  # a run also says where it begins
                progress(what, done, total or 0)

        yield advance


@contextmanager
def progress_shown(*, quiet: bool) -> Iterator[Progress]:
    """A bar on a terminal, a line a part otherwise unless ``quiet``, with the time left; on standard error."""
    if sys.stderr.isatty():
        with _bar() as progress:
            yield progress
    elif quiet:
        yield unheard
    else:
        yield _lines_with_time_left()


def _lines_with_time_left() -> Progress:
    """A line a part; the time left is that of the parts done, for as many as are missing.

    A search runs several evaluations one after the other: with each the clock starts anew.
    """
    started, before, last = time.monotonic(), 0, 0

    def progress(part: str, done: int, total: int) -> None:
        nonlocal started, before, last
        if part == FOUND_BEFORE or done <= last:
            started, before = time.monotonic(), done
        last = done
        if not part:  # within one
            return
        elapsed, fresh = time.monotonic() - started, done - before
        left = f", {duration(elapsed / fresh * (total - done))} left" if fresh and done < total else ""
        say(f"{done}/{total} {printable(part)}{left}", plain=True)

    return progress


def duration(seconds: float) -> str:
    """For people: "about 40 s", "about 3 min"."""
    return f"about {max(1, round(seconds))} s" if seconds < 90 else f"about {round(seconds / 60)} min"


@contextmanager
def _bar() -> Iterator[Progress]:
    from rich.console import Console
    from rich.progress import (
        BarColumn,
        MofNCompleteColumn,
        TextColumn,
        TimeElapsedColumn,
        TimeRemainingColumn,
    )
    from rich.progress import Progress as Bar

    columns = (
        TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn(), TextColumn("left"),
        TimeRemainingColumn(),
    )  # fmt: skip
    with Bar(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task("preparing", total=None)
        last = 0

        def progress(part: str, done: int, total: int) -> None:
            nonlocal last
            if done <= last:  # the next evaluation of a search
                bar.reset(task)
            last = done
            bar.update(
                task, completed=done, total=total or None, description=printable(part) if part else None
            )

        yield progress


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
