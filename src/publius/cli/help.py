"""How ``--help`` is laid out: commands in groups, everyday options before what tunes."""

from __future__ import annotations

from typing import Any, Final

from typer.core import TyperGroup

from publius.cli.commands import COMMANDS
from publius.cli.plain_values import quickly

EVERYDAY: Final = "Options"
MECHANISM: Final = "Options for words and mechanisms"
HEADINGS: Final = {
    MECHANISM: (
        "mechanism", "embeddings", "metric", "max_words", "stop_words", "length", "length_from", "unknown",
        "document_unknown",
    ),
    "Options for reading files": (
        "delimiter", "encoding", "quotes", "subfolders", "follow_links", "reading_seconds", "skip_bad", "accept_loss",
        "allow_padding",
    ),
    "Options for large runs": ("format", "workers", "engine", "master", "batch_size", "resume"),
    "Options for ordered text and experiments": ("order", "keep_between", "experiment", "seed"),
}  # fmt: skip
"""Options that stand under a heading of their own, by their keys in a file of options; all others are everyday ones."""
_HEADING_OF: Final = {key: heading for heading, keys in HEADINGS.items() for key in keys}
_PLACE_OF: Final = {key: place for place, key in enumerate(_HEADING_OF)}


def keys_of(option: Any) -> list[str]:
    """An option's keys in a file of options, the present one first: flags without hyphens, those of old included."""
    flags = [each for each in getattr(option, "opts", ()) if each.startswith("--")]
    return [each.lstrip("-").replace("-", "_") for each in flags]


def write_options(command: Any, ctx: Any, formatter: Any) -> None:
    """The arguments of a command, its everyday options, then the others under their headings."""
    shown = [
        (each, line) for each in command.get_params(ctx) if (line := each.get_help_record(ctx)) is not None
    ]
    arguments = [line for each, line in shown if each.param_type_name == "argument"]
    options = [(each, line) for each, line in shown if each.param_type_name == "option"]
    sections = {
        heading: [line for each, line in sorted(options, key=_place) if command.heading_of(each) == heading]
        for heading in (EVERYDAY, *HEADINGS)
    }
    for heading, lines in {"Arguments": arguments, **sections}.items():
        if lines:
            with formatter.section(heading):
                formatter.write_dl(lines)


def _place(shown: tuple[Any, Any]) -> int:
    """As `HEADINGS` has them; what it does not have comes last, in its own order."""
    return min((_PLACE_OF[key] for key in keys_of(shown[0]) if key in _PLACE_OF), default=len(_PLACE_OF))


def heading_of(option: Any) -> str:
    """The heading that an option stands under."""
    return next((_HEADING_OF[key] for key in keys_of(option) if key in _HEADING_OF), EVERYDAY)


class GroupedCommands(TyperGroup):
    """The commands of `COMMANDS`, under the groups that they belong to."""

    def get_params(self, ctx: Any) -> list[Any]:
        """The parameters, of which plain values are taken as they are."""
        return quickly(super().get_params(ctx))

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        """A section for each group, each command with its summary."""
        groups = dict.fromkeys(each.group for each in COMMANDS.values() if each.group)
        for group in groups:
            lines = [(name, each.summary) for name, each in COMMANDS.items() if each.group == group]
            with formatter.section(group):
                formatter.write_dl(lines)
