"""How a command line is parsed: cyclopts over the functions in `publius.cli` and the classes of `publius.settings`.

cyclopts was chosen since it takes those dataclasses as they are and imports a command only when it is called.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from difflib import get_close_matches
from typing import Annotated, Any, Final, get_args

from cyclopts import App, CycloptsError, Group, MissingArgumentError, Parameter, convert

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


EXPLAINED: Final = {"Reading": "inspect", "Words": "explain", "Run": "label", "People": "label"}
"""Groups that many commands take, and the command whose help explains each option."""
_COLUMN: Final = 24


def _shown(console: Any, options: Any, panel: Any) -> None:
    """One group of a command's help: a line for each option, or the names alone where another command explains them."""
    from textwrap import fill

    entries = [entry for entry in panel.entries if entry.display_labels]
    if not entries or panel.title == "Arguments":
        return
    at, width = EXPLAINED.get(panel.title), 80
    if at is not None and at not in sys.argv[1:2]:
        names = ", ".join(entry.names[0] for entry in entries)
        said = fill(f"{panel.title}: {names} (publius {at} --help)", width, subsequent_indent="  ")
        console.print(said, markup=False, highlight=False, soft_wrap=True)
        return
    title = "" if panel.title in ("Parameters", "Commands") else f"{panel.title}:"
    if title:
        console.print(title, markup=False, highlight=False)
    for entry in entries:
        given = entry.default if isinstance(entry.default, str) and entry.default else None
        with console.capture() as captured:
            console.print(entry.description, emoji=False)
        said = " ".join(captured.get().split())
        if entry.choices and not all(each in said for each in entry.choices):
            said += f" ({', '.join(entry.choices)})"
        said = f"{said} Default: {given}." if given and "Default" not in said else said
        name = entry.positional_label or (entry.names or ("",))[0]
        indent = " " * (_COLUMN + 2)
        lead = f"  {name:<{_COLUMN}}" if len(name) < _COLUMN else f"  {name}  "
        console.print(fill(lead + said, width, subsequent_indent=indent), markup=False, highlight=False, soft_wrap=True)


def _converted(kind: Any, tokens: Any) -> Any:
    """As cyclopts converts, but 1.5 is no whole number: it would be rounded in silence."""
    if int in (kinds := get_args(kind) or (kind,)) and float not in kinds and any("." in each.value for each in tokens):
        raise ValueError(f"{tokens[0].value} is no whole number.")
    return convert(kind, tokens)


def new_app(**facts: Any) -> App:
    """An `App` with the house's conventions: no negative flags, plain help, no default that says nothing."""
    shown = Parameter(
        converter=_converted,
        negative=(),
        show_default=lambda value: str(value) if value not in ((), False, None, "") else "",
    )
    return App(default_parameter=shown, help_format="plaintext", help_formatter=_shown, version_flags=(), **facts)


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
        if isinstance(error, MissingArgumentError) and error.argument is not None and error.keyword is None:
            name = error.argument.name
            placed = error.argument.field_info.is_positional
            raise UsageError(
                f"{name.lstrip('-').upper() if placed else name} is missing. See publius {arguments[0]} --help."
            ) from None
        said = " ".join(str(error).split()).replace(_STANDARD, "-")
        raise UsageError(f"{said} See publius {arguments[0]} --help.") from None
