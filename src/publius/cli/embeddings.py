"""``publius embeddings``: list, info, import, verify."""

from __future__ import annotations

import typer


def register(app: typer.Typer) -> None:
    """Add the ``embeddings`` commands."""
