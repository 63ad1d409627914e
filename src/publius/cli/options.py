"""Settings as a command's options: one decorator makes them, one class adds what the mechanisms declare."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Collection, Mapping
from dataclasses import MISSING, replace
from functools import wraps
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, get_args, get_origin

import typer

from publius.cli.config import ConfiguredCommand
from publius.cli.console import Json as Json
from publius.cli.console import waiting
from publius.cli.help import MECHANISM
from publius.cli.plain_values import quickly
from publius.option import Declared, Option, Settings, declared
from publius.settings import CONVENIENCE, MechanismSettings, names_of

if TYPE_CHECKING:
    from publius.mechanisms.kernel import Kernel

MAKING = "opening the vectors, certifying the mechanism"
REQUIRED = MISSING
OF_RELEASES = ("experiment", "seed", "order", "keep_between")
"""Options of no effect in commands that only state what a release would promise or become."""
_OWN = "publius.mechanism.parameters"
_NAMED = "publius.mechanism.names"
_PLAIN = (bool, int, float, str, Path)


def options(*, without: Collection[str] = (), **defaults: Any) -> Callable[[Any], Any]:
    """Let a command take settings: a parameter whose type is a settings dataclass becomes that class's options.

    ``defaults`` are those of this command alone, where it has its own or, with `REQUIRED`, none; options ``without``
    are not offered and keep the default of their class.
    """

    def decorate(command: Callable[..., None]) -> Callable[..., None]:
        own = inspect.signature(command, eval_str=True).parameters
        kinds = {name: each.annotation for name, each in own.items() if _is_settings(each.annotation)}
        offered = {
            name: [each for each in declared(kind) if each.name not in without]
            for name, kind in kinds.items()
        }
        parameters = [inspect.Parameter("ctx", inspect.Parameter.KEYWORD_ONLY, annotation=typer.Context)]
        for name, each in own.items():
            if name in kinds:
                parameters += [
                    _parameter(replace(one, default=defaults.get(one.name, one.default)))
                    for one in offered[name]
                    if not _is_open(one)
                ]
            elif name != "ctx":
                parameters.append(each.replace(kind=inspect.Parameter.KEYWORD_ONLY))

        parameters.sort(
            key=lambda each: each.default is not inspect.Parameter.empty
        )  # what is required comes first

        @wraps(command)
        def run(ctx: typer.Context, **values: Any) -> None:
            values |= {
                one.name: ctx.meta.get(_OWN, {}) for each in offered.values() for one in each if _is_open(one)
            }
            settings = {
                name: kinds[name](**{one.name: _value(one, values.pop(one.name)) for one in each})
                for name, each in offered.items()
            }
            context = {"ctx": ctx} if "ctx" in own else {}
            command(**values, **settings, **context)

        run.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
        return run

    return decorate


def _is_settings(annotation: Any) -> bool:
    return isinstance(annotation, type) and issubclass(annotation, Settings)


def _is_open(option: Declared) -> bool:
    """Whether it holds what the mechanisms declare, each of which is an option of its own."""
    return get_origin(option.type) is Mapping


def _is_list(option: Declared) -> bool:
    return option.option.parse is None and get_origin(option.type) is tuple


def _parameter(option: Declared) -> inspect.Parameter:
    """The option as Typer wants it: a type that it knows, the default as it is typed, help and bounds."""
    kind = _kind(option)
    default = None if option.default == () else option.default
    if kind is str and default is not None:
        many = default if isinstance(default, tuple) else (default,)
        default = ",".join(f"{each:g}" if isinstance(each, float) else str(each) for each in many)
    numeric = kind in (int, float)
    facts = typer.Option(
        option.option.flag or "--" + option.name.replace("_", "-"),
        *option.option.earlier,
        metavar=_metavar(option),
        help=_help(option.option),
        min=option.option.at_least if numeric else None,
        max=option.option.at_most if numeric else None,
        autocompletion=_completion(option),
    )
    optional = kind | None if default is None else kind
    return inspect.Parameter(
        option.name,
        inspect.Parameter.KEYWORD_ONLY,
        default=inspect.Parameter.empty if option.required else default,
        annotation=Annotated[optional, facts, CONVENIENCE]
        if option.option.convenience
        else Annotated[optional, facts],
    )


def _metavar(option: Declared) -> str | None:
    """The choices; None where there are none and the type says it all."""
    if _is_list(option):
        return "<str>"
    return f"[{'|'.join(map(str, option.choices))}]{',...' * _is_tuple(option)}" if option.choices else None


def _is_tuple(option: Declared) -> bool:
    return get_origin(option.type) is tuple


def _completion(option: Declared) -> Callable[[str], list[str]] | None:
    """The choices that a shell proposes."""
    choices = [str(each) for each in option.choices]
    return (lambda incomplete: [each for each in choices if each.startswith(incomplete)]) if choices else None


def _help(option: Option) -> str:
    """The help with the limits that a value may not reach; those that it may reach stand beside the type."""
    words = (("above", option.above), ("below", option.below))
    limits = " and ".join(f"{word} {limit:,g}" for word, limit in words if limit is not None)
    return f"{option.help} {limits.capitalize()}." if limits else option.help


def _kind(option: Declared) -> Any:
    if _is_list(option):
        return list[str]
    kinds = [kind for kind in (option.type, *get_args(option.type)) if kind in _PLAIN]
    return kinds[0] if kinds and option.option.parse is None else str


def _value(option: Declared, value: Any) -> Any:
    """The setting's value of the text that was typed."""
    if _is_list(option):
        return tuple(value or ())
    if value is None:
        return () if option.default == () else None  # an empty default cannot be typed
    return value if option.option.parse is None else option.option.parse(value)


# Mechanisms -----------------------------------------------------------------------------------------------


class MechanismCommand(ConfiguredCommand):
    """A command that takes the parameters of every mechanism, and lists the mechanisms below its help.

    The mechanisms are read only when the command is used, so that other commands need not wait for them.
    """

    kernels_only: ClassVar[bool] = False

    def note_named(self, ctx: Any, mechanisms: list[str]) -> None:
        """Those from outside bring parameters that are not known before."""
        words = " ".join(mechanisms).replace("=", " ").split()
        ctx.meta[_NAMED] = [
            name
            for flag, value in pairwise(words)
            if flag in ("--mechanism", "--mechanisms")
            for name in names_of(value.split(","))
        ]

    def heading_of(self, option: Any) -> str:
        """The heading in ``--help`` under which an option stands; a mechanism's own have one of their own."""
        own = option in self.params or option.name == "help"
        return super().heading_of(option) if own else MECHANISM

    def get_params(self, ctx: Any) -> list[Any]:
        """The options of the command, then those of the mechanisms."""
        own = super().get_params(ctx)
        taken = {each.name for each in own}
        return [*own[:-1], *(each for each in self._parameters(ctx) if each.name not in taken), own[-1]]

    def invoke(self, ctx: Any) -> Any:
        """Take what was given for the mechanism out of the way of the command, which gets it with its settings."""
        known = {each.name for each in self.params}
        found = {name: ctx.params.pop(name) for name in [*ctx.params] if name not in known}
        ctx.meta[_OWN] = {name: value for name, value in found.items() if value is not None}
        return super().invoke(ctx)

    def format_epilog(self, ctx: Any, formatter: Any) -> None:
        """The mechanisms with a line each."""
        from publius.mechanisms.registry import described

        with formatter.section("Mechanisms"):
            formatter.write_dl([*described(kernels_only=self.kernels_only).items()])

    def _parameters(self, ctx: Any) -> list[Any]:
        from publius.mechanisms.registry import all_parameters

        def nothing() -> None: ...

        found = all_parameters(ctx.meta.get(_NAMED, ()), kernels_only=self.kernels_only)
        parameters = [_parameter(each) for each in found]
        nothing.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
        scratch = typer.Typer(add_completion=False)
        scratch.command()(nothing)
        return quickly(typer.main.get_command(scratch).params)


class KernelCommand(MechanismCommand):
    """The same for a command that knows mechanisms on words alone."""

    kernels_only = True


def make(settings: MechanismSettings) -> Kernel:
    """The mechanism that the options name, on the vectors they name."""
    from publius.mechanisms.registry import mechanism_of

    with waiting(MAKING):
        return mechanism_of(settings)
