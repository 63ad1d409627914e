"""The command line: parse, call, print. One file a noun, each with ``register(app)``."""

from __future__ import annotations

import os
import sys

import typer

from publius import __version__
from publius.cli import audit, bench, embeddings, obfuscate
from publius.errors import PubliusError

app = typer.Typer(
    name="publius",
    help="Release documents as noisy bags-of-words that keep their topic and hide their author.",
    no_args_is_help=True,
    add_completion=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)


def _version(asked: bool) -> None:
    if asked:
        typer.echo(f"publius {__version__}")
        raise typer.Exit


@app.callback()
def _top(
    version: bool = typer.Option(
        False, "--version", callback=_version, is_eager=True, help="Show the version."
    ),
) -> None: ...


obfuscate.register(app)
embeddings.register(app)
bench.register(app)
audit.register(app)


def main() -> None:
    """Run the command line; every error becomes one line on standard error and its exit code."""
    try:
        app()
    except PubliusError as error:
        typer.echo(f"publius: {error}", err=True)
        sys.exit(error.exit_code)
    except BrokenPipeError:
        os._exit(74)
    except KeyboardInterrupt:
        typer.echo("publius: interrupted; nothing was released under the final name", err=True)
        sys.exit(130)
    except Exception as error:  # the outermost frame: a bug must not print what it was working on (R17)
        typer.echo(
            f"publius: internal error: {_where(error)}. Please report it; no document text is shown.",
            err=True,
        )
        sys.exit(PubliusError.exit_code)


def _where(error: BaseException) -> str:
    """Type and place of a bug, without its message: a message may hold the text that was being worked on."""
    frame = error.__traceback__
    while frame is not None and frame.tb_next is not None:
        frame = frame.tb_next
    place = (
        f"{os.path.basename(frame.tb_frame.f_code.co_filename)}:{frame.tb_lineno}"
        if frame
        else "unknown place"
    )
    return f"{type(error).__name__} at {place}"
