"""The command line: parse, call, print. One file a noun, each with ``register(app)``."""

from __future__ import annotations

import errno
import os
import signal
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from copy import copy
from pathlib import Path
from typing import NoReturn

import typer
from typer.main import get_command_name
from typer.models import CommandInfo, TyperInfo

from publius import __version__
from publius.cli import (
    audit,
    bench,
    calibrate,
    certify,
    check_mechanism,
    compare,
    demo,
    distance,
    doctor,
    embeddings,
    evaluate,
    explore,
    guarantee,
    inspect,
    ledger,
    obfuscate,
    outcomes,
    reconstruct,
    reference,
    signoff,
    start,
    utility,
    watch,
    words,
    write,
)
from publius.cli.config import FILE, ConfiguredCommand, Given
from publius.cli.log import Format, say, set_up
from publius.errors import PubliusError, StorageError, place_of

_COMPLETION = "_PUBLIUS_COMPLETE"

app = typer.Typer(
    name="publius",
    help="Release documents as noisy bags-of-words that keep their topic or meaning and blur their author.",
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
    ctx: typer.Context,
    version: bool = typer.Option(
        False, "--version", callback=_version, is_eager=True, help="Show the version."
    ),
    config: Path | None = typer.Option(
        None,
        envvar="PUBLIUS_CONFIG",
        help="Options, by command. Default: publius.toml, if there is one here.",
    ),
    verbose: int = typer.Option(
        0, "-v", "--verbose", count=True, envvar="PUBLIUS_VERBOSE", help="Say each step; twice: everything."
    ),
    log_format: Format = typer.Option(
        "text", envvar="PUBLIUS_LOG_FORMAT", help="What is said on standard error: text, or json lines."
    ),
) -> None:
    set_up(log_format, verbose)
    if ctx.obj is None:
        ctx.obj = Given.read(config)
        ctx.obj.check(ctx.command, ctx)


start.register(app)
demo.register(app)
obfuscate.register(app)
watch.register(app)
inspect.register(app)
embeddings.register(app)
reference.register(app)
outcomes.register(app)
for noun in (certify, words, compare, distance, guarantee, utility, ledger, evaluate, calibrate, explore):
    noun.register(app)
signoff.register(app)
write.register(app)
reconstruct.register(app)
bench.register(app)
audit.register(app)
check_mechanism.register(app)
doctor.register(app)
for each in (app, *(group.typer_instance for group in app.registered_groups)):
    for command in each.registered_commands if each is not None else ():
        if not issubclass(command.cls or object, ConfiguredCommand):
            command.cls = ConfiguredCommand


def asked(words: Sequence[str]) -> typer.Typer:
    """The application as far as ``words`` need it: making the options of all commands takes most of a start.

    A list of the commands needs no options, and a command those of no other. Where a file says options, all of them
    are needed to check it.
    """
    if "PUBLIUS_CONFIG" in os.environ or Path(FILE).is_file():
        return app
    name = words[0] if words else "--help"
    commands = [
        each.name or get_command_name(each.callback.__name__)
        for each in app.registered_commands
        if each.callback
    ]
    listed = name == "--help" and len(words) <= 1
    if not listed and name not in commands and name not in [each.name for each in app.registered_groups]:
        return app
    small = copy(app)
    small.registered_commands = [
        each if command == name else _without_options(each)
        for command, each in zip(commands, app.registered_commands, strict=True)
    ]
    small.registered_groups = [
        each if each.name == name else _without_commands(each) for each in app.registered_groups
    ]
    return small


def _without_options(command: CommandInfo) -> CommandInfo:
    def listed() -> None: ...

    listed.__name__, listed.__doc__ = getattr(command.callback, "__name__", ""), command.callback.__doc__
    command = copy(command)
    command.callback = listed
    return command


def _without_commands(group: TyperInfo) -> TyperInfo:
    group, inside = copy(group), copy(group.typer_instance)
    if inside is not None:
        inside.registered_commands = []
    group.typer_instance = inside
    return group


class _Stopped(SystemExit):
    """A signal asked the command to end. Not an `Exception`: it passes through everything that cleans up."""


def _stop(number: int, frame: object) -> None:
    raise _Stopped(128 + number)


@contextmanager
def _signals_stop() -> Iterator[None]:
    """Let SIGINT, SIGTERM and SIGHUP end the command in order, so that nothing half-made stays behind."""
    names = ("SIGINT", "SIGTERM", "SIGHUP")
    before = {
        number: signal.signal(number, _stop) for name in names if (number := getattr(signal, name, None))
    }
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def main() -> None:
    """Run the command line; every error becomes one line on standard error and its exit code."""
    set_up("text", 0)
    try:
        with _signals_stop():
            (app if _COMPLETION in os.environ else asked(sys.argv[1:]))()
    except PubliusError as error:
        _fail(str(error), error.exit_code)
    except _Stopped as stop:
        _fail("interrupted; nothing was released under the final name", int(str(stop.code)))
    except MemoryError:
        _fail("out of memory: try a smaller --length or fewer --workers", StorageError.exit_code)
    except OSError as error:
        _fail(f"reading or writing failed ({os.strerror(error.errno or errno.EIO)})", StorageError.exit_code)
    except Exception as error:  # the outermost frame: a bug must not print what it was working on (R17)
        _fail(
            f"internal error: {place_of(error)}. Please report it; no document text is shown.",
            PubliusError.exit_code,
        )


def _fail(message: str, code: int) -> NoReturn:
    with suppress(OSError):
        say(message, error=True)
    sys.exit(code)
