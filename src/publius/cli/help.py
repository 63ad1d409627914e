"""The help of a command, on one screen: usage, then a line for each option, or the names that another command explains."""

from __future__ import annotations

from pathlib import Path
from textwrap import fill
from types import NoneType
from typing import Any, Final, cast, get_args

from cyclopts import App, Argument, Group

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
