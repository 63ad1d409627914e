"""How a command line is parsed: cyclopts over the functions in `publius.cli` and the classes of `publius.settings`.

cyclopts was chosen since it takes those dataclasses as they are and imports a command only when it is called.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Sequence
from difflib import get_close_matches
from pathlib import Path
from textwrap import fill
from typing import Annotated, Any, Final, get_args

from cyclopts import App, CycloptsError, Group, MissingArgumentError, Parameter, UnusedCliTokensError, convert

from publius.cli import ABOUT, COMMANDS
from publius.errors import UsageError, how_many
from publius.settings import People, Reading, Words

_STANDARD: Final = "\N{SYMBOL FOR NULL}"  # what "-" is while the line is parsed: cyclopts takes it for an option


def _standard(_kind: Any, tokens: Any) -> str:
    return str(tokens[0].value).replace(_STANDARD, "-")


File = Annotated[str, Parameter(converter=_standard, metavar="FILE")]
"""A path, or - for standard input or output."""
Folder = Annotated[str, Parameter(converter=_standard, metavar="FOLDER")]
Documents = Annotated[str, Parameter(converter=_standard, help="File or folder of documents, or -.")]
More = Annotated[str, Parameter(converter=_standard, help="Further files, read after it.")]
Json = Annotated[bool, Parameter(help="Print one JSON object.")]


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


EXPLAINED: Final = {"Reading": "inspect", "Words": "explain", "Run": "label", "People": "label"}
"""Groups that many commands take, and the command whose help explains each option."""
_COLUMN, _WIDTH = 25, 80
_VALUES: Final = {
    "ask": "A,B", "by": "FIELD=A,B", "compare": "FILE", "contact": "TEXT", "delimiter": "SIGN", "epsilon": "E",
    "label": "COLUMN", "labels": "A,B", "languages": "A,B", "ledger": "FILE", "no-author": "VALUE", "public": "FILE",
    "purpose": "TEXT",
    "recipient": "TEXT", "review": "DATE", "set": "NAME=VALUE", "share": "TABLE=X", "text": "TEXT", "word": "WORD",
}  # fmt: skip
_KINDS: Final = {"INT": "N", "FLOAT": "N", "PATH": "FILE", "STR": "NAME", "FILE": "FILE", "FOLDER": "FOLDER"}
"""What stands for the value of an option in help: by its name, else by its type."""


def _value(option: str, kind: str | None) -> str:
    """What follows an option: a word in capitals for its value; nothing for a switch."""
    name = option.removeprefix("--")
    if kind is None:
        return ""
    return (
        "COLUMN"
        if name.endswith("field") or name == "keep"
        else _VALUES.get(name) or _KINDS.get(kind.split(".")[0], "KIND")
    )


class _Help:
    """Help of one screen: a usage line, and a line for each option, or the names alone where another command explains them."""

    def render_usage(self, console: Any, options: Any, usage: Any) -> None:
        """The command, its arguments, then what must be given."""
        said = str(usage).strip().removeprefix("Usage: ")
        needed = re.findall(r" (--[a-z-]+) ([A-Z]+)", said)
        for option, kind in needed:
            said = said.replace(f" {option} {kind}", "")
        given = "".join(f" {option} {_value(option, kind)}" for option, kind in needed)
        first, options_, rest = said.partition(" [OPTIONS]")
        self._print(console, f"Usage: {first}{rest}{given}{options_}\n")

    def render_description(self, console: Any, options: Any, description: Any) -> None:
        """The first lines of the docstring."""
        self._print(console, fill(self._plain(console, description), _WIDTH) + "\n")

    def __call__(self, console: Any, options: Any, panel: Any) -> None:
        """One group of options, or the commands of a group."""
        entries = [entry for entry in panel.entries if entry.display_labels]
        if not entries or panel.title == "Arguments":
            return
        if (at := EXPLAINED.get(panel.title)) is not None and at not in sys.argv[1:2]:
            names = ", ".join(entry.names[0] for entry in entries)
            said = f"{panel.title}: {names} (publius {at} --help)"
            self._print(console, fill(said, _WIDTH, subsequent_indent="  ", break_on_hyphens=False))
            return
        if panel.title not in ("Parameters", "Commands"):
            self._print(console, f"{panel.title}:")
        for entry in entries:
            said = self._plain(console, entry.description)
            if entry.choices and not all(each in said for each in entry.choices):
                said += f" ({', '.join(entry.choices)})"
            if isinstance(entry.default, str) and entry.default and "Default" not in said:
                said += f" Default: {entry.default}."
            name = entry.positional_label or f"{(entry.names or ('',))[0]}"
            if entry.positional_label is None and panel.title != "Commands":
                name = f"{name} {_value(name, entry.metavar)}".rstrip()
            lead = f"  {name:<{_COLUMN}} " if len(name) <= _COLUMN else f"  {name} "
            self._print(console, fill(lead + said, _WIDTH, subsequent_indent=" " * (_COLUMN + 3)))

    @staticmethod
    def _plain(console: Any, text: Any) -> str:
        with console.capture() as captured:
            console.print(text, emoji=False)
        return " ".join(captured.get().split()) if text is not None else ""

    @staticmethod
    def _print(console: Any, text: str) -> None:
        console.print(text, markup=False, highlight=False, soft_wrap=True)


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
        show_default=lambda value: f"{value:g}" if isinstance(value, float) else str(value) if value else "",
    )
    return App(default_parameter=shown, help_format="plaintext", help_formatter=_Help(), version_flags=(), **facts)


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
        if isinstance(error, MissingArgumentError) and error.argument is not None:
            name, placed = error.argument.name, error.argument.field_info.is_positional
            said = f"{name.lstrip('-').upper() if placed else name} is missing."
            if error.keyword is not None:
                said = f"{name} takes a value: {name} {_value(name, error.argument.parameter.metavar or 'STR')}."
        elif isinstance(error, UnusedCliTokensError):
            surplus = how_many(len(error.unused_tokens or ()), "argument")
            said = f"{surplus} too many: values of a list are separated by commas, A,B."
        raise UsageError(f"{said} See publius {arguments[0]} --help.") from None
