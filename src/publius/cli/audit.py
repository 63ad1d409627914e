"""``publius audit``: the implementation against its guarantee."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from publius.cli.console import print_json, print_table
from publius.cli.options import Json, options
from publius.settings import EPSILON_TO_TRY, MechanismSettings

if TYPE_CHECKING:
    from publius.audit.runs import Audit

_FAILED = 70


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command("audit")(audit)


@options(without=("metric", "parameters"), epsilon=EPSILON_TO_TRY)
def audit(
    settings: MechanismSettings,
    level: Annotated[str, typer.Option(help="quick (under a minute) or full (under an hour).")] = "quick",
    seed: Annotated[
        int | None, typer.Option(min=0, help="Seed of all samples. Default: a fresh one.")
    ] = None,
    output: Annotated[
        Path | None,
        typer.Option(
            help="Folder for the results; an interrupted audit goes on there. Default: in the store."
        ),
    ] = None,
    page: Annotated[Path | None, typer.Option(help="Write the results as a page (Markdown) too.")] = None,
    json: Json = False,
) -> None:
    """Check the implementation against its guarantee.

    Exits 70 if a check fails.
    """
    from publius.audit.levels import level_named
    from publius.audit.report import write_page
    from publius.audit.runs import Request, run_audit
    from publius.noise.laplace import checked_epsilon

    chosen = _fresh_seed() if seed is None else seed
    epsilon = checked_epsilon(settings.epsilon or 0.0)
    request = Request(level_named(level), settings.embeddings, settings.mechanism, epsilon, chosen)
    folder = output or _default_folder(level, chosen)
    with _progress() as progress:
        found = run_audit(request, folder, progress)
    if page is not None:
        write_page(found, folder, page)
    _show(found, folder, json)
    if not found.passed:
        raise typer.Exit(_FAILED)


def _fresh_seed() -> int:
    from publius.noise.randomness import entropy

    return int.from_bytes(entropy(4), "little")


def _default_folder(level: str, seed: int) -> Path:
    import time

    from publius.vectors.catalogue import store_root

    return store_root().parent / "audits" / f"{time.strftime('%Y%m%dT%H%M%SZ', time.gmtime())}-{level}-{seed}"


def _show(found: Audit, folder: Path, json: bool) -> None:
    from publius.audit.report import NOT_TRIED, cell

    report = found.as_json()
    if json:
        if not report["mutants"]["total"]:
            typer.echo(NOT_TRIED, err=True)
        print_json({**report, "output": str(folder)})
        return
    columns = ("check", "samples", "statistic", "threshold", "verdict")
    print_table(columns, ([*map(cell, check.values())] for check in report["checks"]))
    caught = report["mutants"]
    broken = (
        f"broken versions caught: {caught['caught']} of {caught['total']}" if caught["total"] else NOT_TRIED
    )
    typer.echo(
        f"\n{report['exact_cells']:,} exact cells, worst excess {cell(report['worst_excess'])} nats; "
        f"tightness {cell(report['tightness'])}; {broken}\n"
        f"seed {report['seed']}, {report['seconds']:g} s, recorded in {folder}\n"
        + ("passed" if found.passed else "FAILED: do not release with this installation; please report it")
    )


@contextmanager
def _progress() -> Iterator[Callable[[int, int, str], None]]:
    """Pieces done, on standard error: one line that is wiped on a terminal, a line a piece elsewhere."""
    terminal = sys.stderr.isatty()

    def show(done: int, total: int, name: str) -> None:
        line = f"{done}/{total} {name}"
        typer.echo(f"\r\x1b[K{line}" if terminal else line, err=True, nl=not terminal)

    try:
        yield show
    finally:
        if terminal:
            typer.echo("\r\x1b[K", err=True, nl=False)
