"""The command line: parse, call, print. One file a noun, each with ``register(app)``."""

from __future__ import annotations

import errno
import os
import sys
from collections.abc import Sequence
from contextlib import suppress
from copy import copy
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any, NoReturn

import typer

from publius import __version__
from publius.cli.commands import COMMANDS
from publius.cli.config import FILE, Configuration, ConfiguredCommand
from publius.cli.help import GroupedCommands
from publius.cli.log import Format, format_asked, say, say_here, set_up
from publius.cli.stopped import Stopped, interrupted, signals_stop
from publius.errors import BudgetError, DocumentError, PubliusError, StorageError, place_of
from publius.files.child import forget_foreign_folders
from publius.files.placed import placed_release, was_debited

_COMPLETION = "_PUBLIUS_COMPLETE"
_WrongUsage: Any = typer.BadParameter.__mro__[2]  # of the parser inside typer, which has no public name


def _version(asked: bool) -> None:
    if asked:
        typer.echo(f"publius {__version__}")
        raise typer.Exit


def _top(
    ctx: typer.Context,
    version: bool = typer.Option(
        False, "--version", callback=_version, is_eager=True, help="Show the version."
    ),
    config: Path | None = typer.Option(
        None,
        envvar="PUBLIUS_CONFIG",
        help="File of options, by command. Default: publius.toml in this folder, for conveniences only.",
    ),
    verbose: int = typer.Option(
        0, "-v", "--verbose", count=True, envvar="PUBLIUS_VERBOSE", help="Log steps; -vv for debug."
    ),
    log_format: Format = typer.Option(
        "text", envvar="PUBLIUS_LOG_FORMAT", help="Format of messages on standard error."
    ),
) -> None:
    set_up(log_format, verbose)
    if ctx.obj is None:
        ctx.obj = Configuration.read(config)
        ctx.obj.check(ctx.command, ctx)


_EMPTY = typer.Typer(
    name="publius",
    cls=GroupedCommands,
    help="Release documents as noisy bags of words that keep their topic or meaning and blur their author.",
    no_args_is_help=True,
    add_completion=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)
_EMPTY.callback()(_top)


def __getattr__(name: str) -> typer.Typer:
    """``app``, the application with all commands, made when it is asked for."""
    if name == "app":
        return whole()
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


@cache
def whole() -> typer.Typer:
    """The application with all commands, from the module of each."""
    made = copy(_EMPTY)
    made.registered_commands, made.registered_groups = [], []
    for module in dict.fromkeys(each.module for each in COMMANDS.values()):
        _register(module, made)
    return made


def asked(words: Sequence[str]) -> typer.Typer:
    """The application as far as ``words`` need it: loading all commands takes most of a start.

    A list of the commands needs none of them, and a command no other. Where a file says options, all of them are
    needed to check it.
    """
    if "PUBLIUS_CONFIG" in os.environ or Path(FILE).is_file():
        return whole()
    name = words[0] if words else "--help"
    listed = name == "--help" and len(words) <= 1
    if not listed and name not in COMMANDS:
        return whole()
    return _with(name)


@cache
def _with(name: str) -> typer.Typer:
    """All commands by name, this one alone with its options."""
    small = copy(_EMPTY)
    small.registered_commands, small.registered_groups = [], []
    for each, command in COMMANDS.items():
        if each == name:
            own = typer.Typer()
            _register(command.module, own)
            small.registered_commands += [found for found in own.registered_commands if found.name == name]
            small.registered_groups += own.registered_groups
        elif command.is_group:
            small.add_typer(typer.Typer(), name=each, help=command.summary)
        else:
            small.command(each, help=command.summary, hidden=command.group is None)(_nothing)
    return small


def _register(module: str, app: typer.Typer) -> None:
    import_module(f"publius.cli.{module}").register(app)
    for each in (app, *(group.typer_instance for group in app.registered_groups)):
        for command in each.registered_commands if each is not None else ():
            if not issubclass(command.cls or object, ConfiguredCommand):
                command.cls = ConfiguredCommand


def _nothing() -> None: ...


def main() -> None:
    """Run the command line; every error becomes one line on standard error and its exit code."""
    forget_foreign_folders()
    words = sys.argv[1:]
    said = format_asked(words)
    set_up(said, 0)
    try:
        with signals_stop():
            ended = (whole() if _COMPLETION in os.environ else asked(words))(standalone_mode=False)
        sys.exit(ended if isinstance(ended, int) else 0)
    except _WrongUsage as error:
        if said == "json":
            _fail(_in_a_line(error), error.exit_code)
        error.show()
        sys.exit(error.exit_code)
    except typer.Abort:
        _fail(interrupted(), 1)
    except PubliusError as error:
        told = _said(error)
        columns = f"Columns: {', '.join(map(repr, error.columns))}" if error.columns else ""
        _fail(told if error.debit_told else told + _paid(), error.exit_code, here=columns)
    except Stopped as stop:
        _fail(interrupted(), int(str(stop.code)))
    except Exception as error:  # the outermost frame: a bug must not print what it was working on (R17)
        _fail(*_told(error))


def _said(error: PubliusError) -> str:
    """The message; whose document or budget it is is for a curator's own terminal, not for a log."""
    if isinstance(error, DocumentError) and error.id is not None and sys.stderr.isatty():
        return f"{error} (its id is {error.id!r})"
    if not isinstance(error, BudgetError):
        return str(error)
    if error.account is not None and sys.stderr.isatty():
        return f"{error}. It is {error.account!r}"
    return f"{error}. 'publius ledger show' says who has what left"


def _paid() -> str:
    """The end of an error where a release was paid for and is not there."""
    return ". The ledger is debited" if was_debited() and placed_release() is None else ""


def _told(error: Exception) -> tuple[str, int]:
    """The error that ended the command, in one line, and its exit code."""
    if (stop := _stop_before(error)) is not None:
        return interrupted(), int(str(stop.code))
    if isinstance(error, MemoryError):
        return f"out of memory: try a smaller --length or fewer --workers{_paid()}", StorageError.exit_code
    if isinstance(error, OSError):
        reason = os.strerror(error.errno or errno.EIO)
        return f"reading or writing failed ({reason}){_paid()}", StorageError.exit_code
    bug = f"internal error: {place_of(error)}. Please report it; no document text is shown{_paid()}."
    return bug, PubliusError.exit_code


def _stop_before(error: BaseException) -> Stopped | None:
    """The signal that made ``error`` come up: workers that were just about to start cannot be shut down."""
    seen: BaseException | None = error
    while seen is not None and not isinstance(seen, Stopped):
        seen = seen.__cause__ or seen.__context__
    return seen


def _in_a_line(error: Any) -> str:
    """What is wrong with the call; where nothing was asked for, the parser would say all of the help."""
    asked_nothing = type(error).__name__ == "NoArgsIsHelpError"
    place = getattr(getattr(error, "ctx", None), "command_path", None) or "publius"
    told = "a command is missing" if asked_nothing else error.format_message()
    return f"{told} (see {place} --help)"


def _fail(message: str, code: int, here: str = "") -> NoReturn:
    """End with an error; what is for the curator's own terminal goes ``here``, and into no log."""
    with suppress(OSError):
        say(message, error=True)
        if here:
            say_here(here)
    sys.exit(code)
