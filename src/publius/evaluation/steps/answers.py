"""The answers that a first release needs: given, read from a TOML file, kept in one."""

from __future__ import annotations

import json
import tomllib
from dataclasses import asdict, fields
from pathlib import Path
from typing import Final

from publius.errors import DataError, UsageError
from publius.files import read_bytes_limited, shown
from publius.option import Declared, declared
from publius.settings import StartSettings

_LIMIT: Final = 2**20

Choices = StartSettings
"""The answers."""


def together(given: Choices, kept: Choices) -> Choices:
    """The answers that were ``given``, and where nothing was said those that were ``kept``."""
    mine, other = asdict(given), asdict(kept)
    return Choices(**{name: value or other[name] for name, value in mine.items()})


def read_config(path: Path) -> Choices:
    """The answers in a TOML file, below ``[start]`` or in no section.

    `UsageError` for a name that is none, `DataError` for invalid TOML.
    """
    try:
        values = tomllib.loads(read_bytes_limited(path, _LIMIT).decode())
    except (tomllib.TOMLDecodeError, UnicodeDecodeError):
        raise DataError(
            f"{shown(path)} is invalid TOML: write one answer a line, such as bound = 7"
        ) from None
    values = values["start"] if isinstance(values.get("start"), dict) else values
    known = {each.name: each for each in declared(Choices)}
    for name, value in values.items():
        if name not in known or type(value) not in _kinds(known[name]):
            raise UsageError(
                f"{shown(path)} has {name!r}, which is no answer or of another kind: see publius start --help"
            )
    kept = values.get("keep", [])
    if not all(isinstance(name, str) for name in kept):
        raise UsageError(f"{shown(path)} has a field to keep that is no text: see publius start --help")
    return Choices(**{**values, "keep": tuple(kept)})


def _kinds(answer: Declared) -> tuple[type, ...]:
    if answer.name in ("bound", "epsilon", "author_at_most", "reading_seconds"):
        return (int, float)
    if answer.name == "keep":
        return (list,)
    if answer.name in ("length", "authors_at_least", "documents_per_author"):
        return (int,)
    return (bool,) if answer.default is False else (str,)


def config_text(choices: Choices) -> str:
    """The answers as TOML."""
    said = {each.name: getattr(choices, each.name) for each in fields(choices)}
    lines = [f"{name} = {json.dumps(value, ensure_ascii=False)}" for name, value in said.items() if value]
    return "# Answers of publius start; use them again with --config.\n[start]\n" + "\n".join(lines) + "\n"
