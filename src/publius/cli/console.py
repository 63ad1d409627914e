"""What a command prints: tables, bars, one sentence; JSON where asked for; progress on standard error.

Standard output holds the result alone. Piped, nothing is coloured and nothing moves.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from json import dumps
from typing import IO, TYPE_CHECKING, Any, NamedTuple, TypeVar

from publius.files.progress import Watch

if TYPE_CHECKING:
    import threading

T = TypeVar("T")


def say(text: str) -> None:
    """Print one sentence of a result, its control characters escaped."""
    sys.stdout.write(printable(text) + "\n")


def note(text: str) -> None:
    """Print a note or a warning on standard error."""
    sys.stderr.write(printable(text) + "\n")


class Table(NamedTuple):
    """A table to print; columns that hold numbers only are set flush right."""

    columns: Sequence[str]
    rows: Iterable[Sequence[Any]]


class Note(str):
    """A sentence that stands on standard error, beside the result."""


def answer(record: Mapping[str, Any], *parts: str | Table | Note | None, json: bool) -> None:
    """Print the result of a command: with ``json`` its record as one object, else sentences, tables and notes."""
    if json:
        sys.stdout.write(dumps(record, ensure_ascii=False, indent=2, allow_nan=False) + "\n")
        return
    for part in parts:
        if isinstance(part, Table):
            _print(part)
        elif part is not None:
            (note if isinstance(part, Note) else say)(part)


def _print(given: Table) -> None:
    from rich import box
    from rich.console import Console
    from rich.table import Table as Drawn

    rows = [[_cell(value) for value in row] for row in given.rows]
    made = Drawn(box=box.SIMPLE_HEAD, pad_edge=False)
    for place, column in enumerate(given.columns):
        right = bool(rows) and all(row[place][:1].isdigit() or row[place] in ("", "-") for row in rows)
        made.add_column(column, justify="right" if right else "left", overflow="fold")
    for row in rows:
        made.add_row(*row)
    Console(highlight=False, markup=False).print(made)


def bar(share: float, width: int = 20) -> str:
    """A bar of text for a share from 0 to 1."""
    filled = round(min(max(share, 0.0), 1.0) * width)
    return "█" * filled + "░" * (width - filled)


def printable(text: str) -> str:
    """``text`` without characters that could drive a terminal."""
    return "".join(c if c.isprintable() or c == "\n" else f"\\x{ord(c):02x}" for c in text)


def watched(work: Callable[..., T], *arguments: Any, **named: Any) -> T:
    """``work(...)``; what it says with `publius.files.progress` is shown on a terminal once it takes over two seconds."""
    import threading

    watch = Watch()
    ended = threading.Event()
    painter = threading.Thread(target=_paint, args=(watch, ended, sys.stderr), daemon=True)
    if sys.stderr.isatty():
        painter.start()
    try:
        return watch.run(lambda: work(*arguments, **named))
    finally:
        ended.set()
        if painter.is_alive():
            painter.join()


def estimate(work: Callable[[Any], object], corpus: Any, workers: int | None = None, *, json: bool) -> None:
    """Say how long ``work`` on each batch of a corpus will take, or on documents of which it takes every n-th."""
    from publius.releases.estimate import by_samples, estimated

    found = watched(by_samples, work, corpus) if isinstance(corpus, int) else watched(estimated, work, corpus, workers)
    answer(found._asdict(), str(found), json=json)


def _paint(watch: Watch, ended: threading.Event, place: IO[str]) -> None:
    """Draw the watch's stage, work done, rate and time left until ``ended``; foreign code silences ``sys.stderr``."""
    if ended.wait(2.0):
        return
    from rich.console import Console
    from rich.live import Live
    from rich.text import Text

    with Live(console=Console(file=place), transient=True, refresh_per_second=4) as live:
        while not ended.wait(0.25):
            live.update(Text(progress_line(watch.record())))


def progress_line(record: Mapping[str, Any]) -> str:
    """One line of `Watch.record`: what is done, of how much, how fast, and time left."""
    done, total, seconds, left = record["done"], record["total"], record["seconds"], record["left"]
    line = str(record["stage"] or "working")
    if total:
        line += f" {bar(done / total)} {done:,} of {total:,}"
    if done and seconds:
        line += f", {done / seconds:,.0f} a second"
    return line + (f", {left:,.0f} s left" if left is not None else "")


def _cell(value: Any) -> str:
    if isinstance(value, float):
        return f"{value:,.4g}"
    if isinstance(value, int) and not isinstance(value, bool):
        return f"{value:,}"
    return printable("" if value is None else str(value))
