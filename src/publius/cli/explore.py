"""``publius explore``: the explorer's page and service on this machine."""

from __future__ import annotations

import os
from collections.abc import Callable
from contextlib import suppress
from importlib.util import find_spec
from pathlib import Path
from tempfile import gettempdir
from typing import TYPE_CHECKING, Annotated

import typer

from publius.cli.log import say
from publius.cli.options import options
from publius.errors import MissingExtraError
from publius.settings import CONVENIENCE, VectorSettings

if TYPE_CHECKING:
    from publius.web.state import State


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command("explore")(explore)


@options(without=("metric",))
def explore(
    settings: VectorSettings,
    port: Annotated[int, typer.Option(min=0, max=65535, help="Port on 127.0.0.1. Default: a free one.")] = 0,
    no_browser: Annotated[
        bool, typer.Option("--no-browser", help="Print the address only."), CONVENIENCE
    ] = False,
    ledger: Annotated[
        Path | None, typer.Option(help="Budget to debit before each release; see publius ledger.")
    ] = None,
    output: Annotated[Path, typer.Option(help="Folder in which each release gets a new folder.")] = Path(
        "publius-releases"
    ),
    token_file: Annotated[
        Path | None,
        typer.Option(
            help="File that keeps the token for its owner alone; made if missing. It is not printed."
        ),
    ] = None,
    report: Annotated[
        list[Path] | None, typer.Option(help="Result folder of publius evaluate to show; repeatable.")
    ] = None,
) -> None:
    """Open a page that shows what a choice does.

    It also serves programs on this machine, until it is interrupted.
    """
    from publius.files import private_folder, remove_leftovers, remove_unfinished, shown

    for needed in ("fastapi", "uvicorn", "starlette", "pydantic", "h11"):
        if find_spec(needed) is None:
            raise MissingExtraError(needed, "web")
    from publius.web.server import HOST, kept_token, listening_socket, new_token, serve

    for left in (*remove_leftovers(output / "new"), *remove_leftovers(Path(gettempdir(), "new"))):
        say(f"removed {shown(left)}, which an explorer or a run that was killed left behind")
    made = _state(settings, ledger, output, report or [])
    token = new_token() if token_file is None else kept_token(token_file)
    listener = listening_socket(port)
    bare = f"http://{HOST}:{listener.getsockname()[1]}/"
    address = f"{bare}#token={token}"
    told = address if token_file is None else f"{bare}#token= and what {shown(token_file)} holds"

    with suppress(KeyboardInterrupt, SystemExit), listener, private_folder(gettempdir()) as folder:

        def started() -> None:
            typer.echo(told)
            if not no_browser:
                _open(address, folder)

        serve(made, listener, token, started)
    remove_unfinished()  # a second interrupt does not wait for those who send files
    os._exit(0)  # releases are finished; a certificate that is being computed is not waited for


def _state(
    settings: VectorSettings, ledger: Path | None, output: Path, reports: list[Path]
) -> Callable[[], State]:
    """What makes the state when the page is served: what can be wrong with what was asked for is found now."""
    from publius.vectors.embeddings import Embeddings

    embeddings, book = Embeddings.load(settings.embeddings), None
    if ledger is not None:
        from publius.privacy.ledger import Ledger

        book = Ledger(ledger)
    if reports:
        from publius.web.reports import Reports

        Reports(reports)

    def made() -> State:
        from publius.web.state import State

        return State(embeddings, ledger=book, releases=output, reports=reports)

    return made


def _open(address: str, folder: Path) -> None:
    """Show the address in the browser by way of a private file: every user sees the arguments of a process."""
    import webbrowser
    from threading import Thread

    from publius.files import write_file

    page = folder / "publius.html"
    with write_file(page, 0o600) as file:
        file.write(
            f'<!doctype html><title>Publius</title><meta http-equiv="refresh" content="0;url={address}">'.encode()
        )
    Thread(target=webbrowser.open, args=(page.as_uri(),), daemon=True).start()
