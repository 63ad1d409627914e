"""Options that are not typed: from the environment, and from a file.

A ``publius.toml`` that lies in the working folder may come from anybody who can put a file beside the documents: it may
set conveniences only, which options declare themselves to be. A file that the user names may set what can be typed.

What is typed comes first, then the environment (``PUBLIUS_EPSILON``), then the file (``epsilon = 10`` below
``[obfuscate]``), then the default. Both are read off the options that the commands declare: nothing is named twice.
"""

from __future__ import annotations

import inspect
import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final, Self, final

import typer
from typer.core import TyperCommand, TyperGroup

from publius.cli.help import heading_of, write_options
from publius.cli.help import keys_of as keys_of_option
from publius.cli.log import say
from publius.cli.plain_values import quickly
from publius.errors import DataError, UsageError
from publius.files import read_bytes_limited, shown
from publius.settings import CONVENIENCE

FILE: Final = "publius.toml"
TYPED: Final = frozenset({"experiment", "unconfined", "seed", "config", "help"})
"""Options that are always typed: what weakens a release must be seen where it is called."""

_PREFIX: Final = "PUBLIUS_"
_LIMIT: Final = 2**20
_LYING_THERE: Final = 2**16
"""Bytes of a file that nobody named: it is read before anything says whose it is."""

_DOTS: Final = 200
"""Dots in a line, at most: the parts of a key take the square of their number to read."""


@final
@dataclass(frozen=True)
class Configuration:
    """Options from the environment and one file, for any command; empty until it was read."""

    path: Path | None = None
    named: bool = True
    sections: Mapping[str, Any] = field(default_factory=dict)
    environment: Mapping[str, str] = field(default_factory=dict)

    @classmethod
    def read(cls, named: Path | None) -> Self:
        """The file that is ``named``, or the one in the working folder if there is one; `DataError` for no TOML."""
        path = named or Path(FILE)
        environment = {name: value for name, value in os.environ.items() if name.startswith(_PREFIX)}
        if named is None and not path.is_file():
            return cls(environment=environment)
        import tomllib

        try:
            data = read_bytes_limited(path, _LIMIT if named else _LYING_THERE)
            if any(line.count(b".") > _DOTS for line in data.splitlines()):
                raise ValueError
            sections = tomllib.loads(data.decode())
        except (ValueError, RecursionError):  # TOMLDecodeError and UnicodeDecodeError are such, too
            raise DataError(
                f"{shown(path)} is invalid TOML: write a section for each command, such as [obfuscate], and an option "
                "a line below it, such as epsilon = 10"
            ) from None
        return cls(path, named is not None, _with_start(sections), environment)

    def check(self, group: TyperGroup, ctx: typer.Context) -> None:
        """`UsageError` for a section that is no command, a key that is no option of it, or a value that is none."""
        for place, section in self.sections.items():
            self._check(group.commands.get(place), (place,), section, ctx)

    def _check(self, command: Any, place: tuple[str, ...], section: Any, ctx: typer.Context) -> None:
        if command is None or not isinstance(section, dict):
            raise UsageError(
                f"{shown(self.path or FILE)} has {'.'.join(place)!r}, which is no command: write the options of a "
                "command below its name, such as [obfuscate] or [ledger.init]"
            )
        if isinstance(command, TyperGroup):
            for name, inner in section.items():
                self._check(command.commands.get(name), (*place, name), inner, ctx)
            return
        inside = typer.Context(command, info_name=place[-1], parent=ctx)
        if self.named:  # a mechanism may be code, which nothing but a typed name may run
            command.note_named(inside, ["--mechanism", _text(section.get("mechanism", ""))])
        known = keys_of(command, inside)
        for name, value in section.items():
            key = name.replace("-", "_")
            if key in TYPED:
                raise UsageError(
                    f"{shown(self.path or FILE)} has {name!r} below [{'.'.join(place)}]: that is only typed, as "
                    f"--{name}"
                )
            if key not in known or not _fits(value):
                raise UsageError(
                    f"{shown(self.path or FILE)} has {name!r} below [{'.'.join(place)}], which is no option of it or "
                    f"has no value: see publius {' '.join(place)} --help"
                )

    def of(self, ctx: typer.Context) -> Iterator[tuple[str, Any, str]]:
        """Key, value and source of what is said for a command, by the file and then the environment."""
        for name, value in self.section(ctx).items():
            yield name, value, FILE if self.path is None else str(self.path)
        for name, text in self.environment.items():
            if text:
                yield name.removeprefix(_PREFIX).lower(), text, name

    def section(self, ctx: typer.Context) -> dict[str, Any]:
        """The file's options for a command, by key."""
        section: Any = self.sections
        for name in _names(ctx):
            section = section.get(name, {})
        return {name.replace("-", "_"): value for name, value in section.items()}


def _with_start(sections: dict[str, Any]) -> dict[str, Any]:
    """The answers of ``publius start`` may stand without a section."""
    plain = {name: value for name, value in sections.items() if not isinstance(value, dict)}
    rest = {name: value for name, value in sections.items() if isinstance(value, dict)}
    return {**rest, "start": {**plain, **rest.get("start", {})}} if plain else rest


def _names(ctx: Any) -> list[str]:
    names: list[str] = []
    while ctx.parent is not None:
        names.insert(0, ctx.info_name)
        ctx = ctx.parent
    return names


def keys_of(command: Any, ctx: Any) -> dict[str, Any]:
    """The options of a command by their keys in a file, earlier names included."""
    options = [each for each in command.get_params(ctx) if each.param_type_name == "option"]
    return {key: each for each in options for key in keys_of_option(each)}


def _fits(value: Any) -> bool:
    if isinstance(value, list):
        return all(isinstance(each, str | int | float) and not isinstance(each, bool) for each in value)
    return isinstance(value, str | int | float | bool)


def _text(value: Any) -> str:
    return ",".join(map(str, value)) if isinstance(value, list) else str(value)


def _value(option: Any, value: Any) -> Any:
    """A value as the option takes it: a list where it may be repeated, text where it is one text."""
    if option.multiple:
        return [str(each) for each in (value if isinstance(value, list) else _text(value).split(","))]
    return _text(value) if not isinstance(value, bool) else str(value).lower()


class ConfiguredCommand(TyperCommand):
    """A command that takes what was not typed from the environment and the file."""

    def get_params(self, ctx: Any) -> list[Any]:
        """The parameters, of which plain values are taken as they are."""
        return quickly(super().get_params(ctx))

    def heading_of(self, option: Any) -> str:
        """The heading of an option in the help."""
        return heading_of(option)

    def format_options(self, ctx: Any, formatter: Any) -> None:
        """Everyday options first."""
        write_options(self, ctx, formatter)

    def note_named(self, ctx: Any, mechanisms: list[str]) -> None:
        """Note mechanisms that bring options of their own."""

    def parse_args(self, ctx: Any, args: list[str]) -> Any:
        """Let what is said elsewhere stand in for defaults, and say so."""
        if isinstance(ctx.obj, Configuration):
            if ctx.obj.section(ctx):  # before anything that it names is looked up
                self._refuse_unnamed(ctx, keys_of(self, ctx))
            said = {key: (value, source) for key, value, source in ctx.obj.of(ctx) if key not in TYPED}
            self.note_named(
                ctx, [*args, *(["--mechanism", _text(said["mechanism"][0])] if "mechanism" in said else [])]
            )
            known = keys_of(self, ctx) if said or ctx.obj.section(ctx) else {}
            self._refuse_unnamed(ctx, known)
            mine = {key: each for key, each in said.items() if key in known}
            ctx.default_map = {known[key].name: _value(known[key], value) for key, (value, _) in mine.items()}
            _say(mine)
        return super().parse_args(ctx, args)

    def _refuse_unnamed(self, ctx: Any, known: Mapping[str, Any]) -> None:
        """`UsageError` where a file that nobody named says more than conveniences."""
        given: Configuration = ctx.obj
        if given.named:
            return
        allowed = conveniences(self)
        refused = [key for key in given.section(ctx) if key in known and known[key].name not in allowed]
        if refused:
            flags = ", ".join("--" + key.replace("_", "-") for key in refused)
            file = shown(given.path or FILE)
            raise UsageError(
                f"{file} lies in the working folder and says {flags}: a file that nobody named may set conveniences "
                "only, never what is kept, read, published, sent or promised. Type these options, or name the file: "
                f"publius --config {given.path} {' '.join(_names(ctx))} ..."
            )


def conveniences(command: Any) -> frozenset[str]:
    """The options of a command that are declared as conveniences, by the names of their parameters."""
    own = inspect.signature(command.callback, eval_str=True).parameters
    return frozenset(
        name for name, each in own.items() if CONVENIENCE in getattr(each.annotation, "__metadata__", ())
    )


def _say(taken: Mapping[str, tuple[Any, str]]) -> None:
    sources: dict[str, list[str]] = {}
    for key, (_, source) in taken.items():
        where = "the environment" if source.startswith(_PREFIX) else shown(source)
        sources.setdefault(where, []).append("--" + key.replace("_", "-"))
    for where, flags in sources.items():
        say(f"from {where}, where nothing else is typed: {', '.join(flags)}")
