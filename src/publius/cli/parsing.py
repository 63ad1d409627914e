"""How a command line is parsed: cyclopts over the functions in `publius.cli` and the classes of `publius.settings`.

cyclopts was chosen since it takes those dataclasses as they are and imports a command only when it is called.
"""

from __future__ import annotations

from collections.abc import Sequence
from difflib import get_close_matches
from typing import Annotated, Any, Final

from cyclopts import App, CycloptsError, Group, Parameter

from publius.cli import ABOUT, COMMANDS
from publius.errors import UsageError

_STANDARD: Final = "\N{SYMBOL FOR NULL}"  # what "-" is while the line is parsed: cyclopts takes it for an option


def _standard(_kind: Any, tokens: Any) -> str:
    return str(tokens[0].value).replace(_STANDARD, "-")


File = Annotated[str, Parameter(converter=_standard)]
"""A path, or - for standard input or output."""


def flat(name: str) -> Parameter:
    """The marker with which a command takes a class of `publius.settings` as options of its own."""
    return Parameter(name="*", group=Group(name))


def new_app(**facts: Any) -> App:
    """An `App` with the house's conventions: no negative flags, plain help."""
    return App(default_parameter=Parameter(negative=()), help_format="plaintext", version_flags=(), **facts)


def make_app() -> App:
    """The whole command line; the module of a command is imported when it is called."""
    app = new_app(name="publius", help=ABOUT)
    for commands in COMMANDS.values():
        for name, (home, summary) in commands.items():
            app.command(f"publius.cli.{home}", name=name, help=summary)
    return app


def call(arguments: Sequence[str]) -> Any:
    """Run one command; what it returns. `UsageError` for a line that fits no command."""
    known = [name for commands in COMMANDS.values() for name in commands]
    if arguments[0] not in known:
        near = get_close_matches(arguments[0], known, 1)
        proposed = f" Did you mean {near[0]}?" if near else f" Commands: {', '.join(known)}."
        raise UsageError(f"no command {arguments[0]!r:.40}.{proposed}")
    tokens = [_STANDARD if each == "-" else each for each in arguments]
    try:
        return make_app()(tokens, exit_on_error=False, print_error=False, result_action="return_value")
    except CycloptsError as error:
        said = " ".join(str(error).split()).replace(_STANDARD, "-")
        raise UsageError(f"{said} See publius {arguments[0]} --help.") from None
