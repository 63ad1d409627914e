"""How a command line is parsed: cyclopts over the functions in `publius.cli` and the classes of `publius.settings`.

cyclopts was chosen since it takes those dataclasses as they are. Its help is a page; ours is one screen.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from importlib import import_module
from pathlib import Path
from textwrap import fill
from types import NoneType
from typing import Annotated, Any, Final, cast, get_args

from cyclopts import App, Argument, CycloptsError, Group, MissingArgumentError, Parameter, UnusedCliTokensError, convert

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
        sys.stdout.write(help_of(name, app) + "\n")
        return None
    tokens = [_STANDARD if each == "-" else each for each in rest]
    try:
        return app(tokens, exit_on_error=False, print_error=False, result_action="return_value")
    except CycloptsError as error:
        said = " ".join(str(error).split()).replace(_STANDARD, "-")
        if isinstance(error, MissingArgumentError) and error.argument is not None:
            option, placed = error.argument.name, error.argument.field_info.is_positional
            said = f"{name_of(error.argument) if placed else option} is missing."
            if error.keyword is not None:
                said = f"{option} takes a value: {option} {value_of(error.argument)}."
        elif isinstance(error, UnusedCliTokensError):
            surplus = how_many(len(error.unused_tokens or ()), "argument")
            said = f"{surplus} too many: values of a list are separated by commas, A,B."
        raise UsageError(f"{said} See publius {arguments[0]} --help.") from None


# Help, on one screen -----------------------------------------------------------------------

EXPLAINED: Final = {"Reading": "inspect", "Words": "explain", "Run": "label", "People": "label"}
"""Groups that many commands take, and the command whose help explains each option."""
_COLUMN, _WIDTH = 25, 80
_OWN: Final = "Parameters"
_VALUES: Final = {
    "ask": "A,B", "by": "FIELD=A,B", "compare": "FILE", "contact": "TEXT", "delimiter": "SIGN", "epsilon": "E",
    "label": "COLUMN", "labels": "A,B", "languages": "A,B", "ledger": "FILE", "no-author": "VALUE", "public": "FILE",
    "purpose": "TEXT",
    "recipient": "TEXT", "review": "DATE", "set": "NAME=VALUE", "share": "TABLE=X", "text": "TEXT", "word": "WORD",
}  # fmt: skip
_KINDS: Final[dict[Any, str]] = {int: "N", float: "N", Path: "FILE", str: "NAME"}
"""What stands for the value of an option in help: by its name, else by its type."""


def name_of(argument: Argument) -> str:
    """An argument that is known by its place, in capitals."""
    return argument.name.lstrip("-").upper()


def value_of(argument: Argument) -> str:
    """What follows an option: a word in capitals for its value; nothing for a switch."""
    name, hint = argument.name.removeprefix("--"), argument.hint
    kinds = [each for each in get_args(hint) or (hint,) if each not in (NoneType, ...)]
    if kinds == [bool]:
        return ""
    if name.endswith("field") or name == "keep":
        return "COLUMN"
    return (
        _VALUES.get(name) or argument.parameter.metavar or (_KINDS.get(kinds[0], "KIND") if len(kinds) == 1 else "KIND")
    )


def _option(argument: Argument) -> str:
    """The line of an option: its name and value, what it is, its choices and default where the help does not say them."""
    said, default, choices = argument.parameter.help or "", argument.field_info.default, argument.get_choices() or ()
    if not all(each in said for each in choices):
        said += f" ({', '.join(choices)})"
    if isinstance(default, int | float | str | Path) and not isinstance(default, bool) and "Default" not in said:
        said += f" Default: {default:g}." if isinstance(default, float) else f" Default: {default}." if default else ""
    return _row(f"{argument.name} {value_of(argument)}".rstrip(), said)


def _title(argument: Argument) -> str:
    (group,) = cast(tuple[Group, ...], argument.parameter.group)
    return group.name


def _row(name: str, said: str) -> str:
    lead = f"  {name:<{_COLUMN}} " if len(name) <= _COLUMN else f"  {name} "
    return fill(lead + said, _WIDTH, subsequent_indent=" " * (_COLUMN + 3))


def help_of(name: str, app: App) -> str:
    """Help of one screen: a usage line, and a line for each option, or the names alone where another command explains them."""
    if app.default_command is None:
        rows = [_row(part, " ".join(app[part].help.split("\n")[0].split())) for part in sorted(app)]
        return "\n".join([f"Usage: publius {name} COMMAND\n", f"{app.help}\n", *rows])
    arguments = app.assemble_argument_collection(parse_docstring=True)
    placed = [each for each in arguments if each.index is not None]
    shown = [each for each in arguments if each.index is None and each.show]
    options = [each for at, each in enumerate(shown) if each.name not in {before.name for before in shown[:at]}]
    usage = ["publius", name]
    for each in placed:
        word = name_of(each) + "..." * each.is_var_positional()
        usage.append(word if each.required else f"[{word}]")
    usage += [f"{each.name} {value_of(each)}" for each in options if each.required]
    said = " ".join((app.default_command.__doc__ or "").split())
    usage += ["[OPTIONS]"] * any(not each.required for each in options)
    lines = [f"Usage: {' '.join(usage)}\n", fill(said, _WIDTH) + "\n"]
    lines += [_row(name_of(each), each.parameter.help or "") for each in placed if not each.is_var_positional()]
    titles = sorted({*map(_title, options)}, key=lambda title: (title != _OWN, title))
    for title in titles:
        those = [each for each in options if _title(each) == title]
        at = EXPLAINED.get(title)
        if at is not None and at != name:
            names = f"{title}: {', '.join(each.name for each in those)} (publius {at} --help)"
            lines.append(fill(names, _WIDTH, subsequent_indent="  ", break_on_hyphens=False))
        else:
            lines += [f"{title}:"] * (title != _OWN) + [_option(each) for each in those]
    return "\n".join(lines)
