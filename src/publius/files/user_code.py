"""Objects of the user's own code, named ``python:package.module:Name``; importing them runs that code."""

from __future__ import annotations

from importlib import import_module
from typing import Any, Final

from publius.errors import UsageError

PYTHON: Final = "python:"


def object_at(name: str) -> Any:
    """What stands at ``python:package.module:Name``; `UsageError` where nothing does."""
    module, _, attribute = name.removeprefix(PYTHON).partition(":")
    try:
        return getattr(import_module(module), attribute)
    except (ImportError, AttributeError, ValueError):
        raise UsageError(
            f"{name} is not python:MODULE:NAME of something that can be imported: is it on PYTHONPATH?"
        ) from None
