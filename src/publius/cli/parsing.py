"""How a command line is parsed: cyclopts over the functions in `publius.cli` and the classes of `publius.settings`.

cyclopts was chosen since it takes those dataclasses as they are and imports a command only when it is called.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from importlib import import_module
from pathlib import Path
from typing import Annotated, Any, Final, get_args

from cyclopts import App, CycloptsError, Group, MissingArgumentError, Parameter, UnusedCliTokensError, convert

from publius.cli import COMMANDS
from publius.errors import UsageError, how_many
from publius.settings import People, Reading, Words

_STANDARD: Final = "\N{SYMBOL FOR NULL}"  # what "-" is while the line is parsed: cyclopts takes it for an option


def Help(text: str) -> Parameter:  # it stands in annotations, as a class would
    """The line of an option in the help of its command."""
    return Parameter(help=text)


File = Annotated[str, Parameter(metavar="FILE")]
"""A path, or - for standard input or output."""
Folder = Annotated[str, Parameter(metavar="FOLDER")]
Documents = Annotated[str, Help("File or folder of documents, or -.")]
More = Annotated[str, Help("Further files, read after it.")]
Json = Annotated[bool, Help("Print one JSON object.")]


def flat(name: str) -> Parameter:
    """The marker with which a command takes a class of `publius.settings` as options of its own."""
    return Parameter(name="*", group=Group(name))


AsRead = Annotated[Reading, flat("Reading")]
ByAuthors = Annotated[People, flat("People")]
WordOptions = Annotated[Words, flat("Words")]


def files_of(file: str, more: Sequence[str], listed: str | None = None) -> str | list[str]:
    """The files of a command; `UsageError` where blanks stand between values of a list, ``listed``, typed before."""
    if more and listed and "," not in listed and not Path(more[0]).exists():
        raise UsageError(f'there is no file {more[0]!r:.40}. Values of a list are separated by commas: A,B,"C D"')
    return [file, *more] if more else file


def _converted(kind: Any, tokens: Any) -> Any:
    """As cyclopts converts, but "-" is itself, and 1.5 is no whole number: it would be rounded in silence."""
    if int in (kinds := get_args(kind) or (kind,)) and float not in kinds and any("." in each.value for each in tokens):
        raise ValueError(f"{tokens[0].value} is no whole number.")
    found = convert(kind, tokens)
    return found.replace(_STANDARD, "-") if isinstance(found, str) else found


def new_app(**facts: Any) -> App:
    """An `App` with the house's conventions: no negative flags."""
    return App(default_parameter=Parameter(converter=_converted, negative=()), help_flags=(), version_flags=(), **facts)


def _command(name: str) -> App:
    """One command; its module is imported here, and no other."""
    homes = {name: home for commands in COMMANDS.values() for name, (home, _) in commands.items()}
    if name not in homes:
        from difflib import get_close_matches

        near = get_close_matches(name, homes, 1)
        proposed = f" Did you mean {near[0]}?" if near else f" Commands: {', '.join(homes)}."
        raise UsageError(f"no command {name!r:.40}.{proposed}")
    module, _, attribute = homes[name].partition(":")
    found = getattr(import_module(f"publius.cli.{module}"), attribute)
    if isinstance(found, App):
        return found
    app = new_app(name=name)
    app.default(found)
    return app


def call(arguments: Sequence[str]) -> Any:
    """Run one command; what it returns. `UsageError` for a line that fits no command."""
    name, *rest = arguments
    app = _command(name)
    if app.default_command is None and rest[:1] and rest[0] in app:
        conventions, name, app, rest = app.default_parameter, f"{name} {rest[0]}", app[rest[0]], rest[1:]
        app.default_parameter = conventions  # which a part called by itself has not
    if {"--help", "-h"} & {*rest} or (app.default_command is None and not rest):
        from publius.cli.help import help_of

        sys.stdout.write(help_of(name, app) + "\n")
        return None
    tokens = [_STANDARD if each == "-" else each for each in rest]
    try:
        return app(tokens, exit_on_error=False, print_error=False, result_action="return_value")
    except CycloptsError as error:
        from publius.cli import help

        said = " ".join(str(error).split()).replace(_STANDARD, "-")
        if isinstance(error, MissingArgumentError) and error.argument is not None:
            option, placed = error.argument.name, error.argument.field_info.is_positional
            said = f"{help.name_of(error.argument) if placed else option} is missing."
            if error.keyword is not None:
                said = f"{option} takes a value: {option} {help.value_of(error.argument)}."
        elif isinstance(error, UnusedCliTokensError):
            surplus = how_many(len(error.unused_tokens or ()), "argument")
            said = f"{surplus} too many: values of a list are separated by commas, A,B."
        raise UsageError(f"{said} See publius {arguments[0]} --help.") from None
