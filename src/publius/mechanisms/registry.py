"""The mechanisms by name."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from publius.embeddings import Embeddings
from publius.errors import UsageError
from publius.mechanisms.base import AbstractMechanism
from publius.mechanisms.laplace import Laplace

MECHANISMS: dict[str, Callable[..., AbstractMechanism]] = {Laplace.name: Laplace}


def make_mechanism(name: str, embeddings: Embeddings, **parameters: Any) -> AbstractMechanism:
    """The mechanism called ``name``, built with ``parameters``; `UsageError` when there is none."""
    if name not in MECHANISMS:
        raise UsageError(f"no mechanism is called {name!r}: choose one of {', '.join(MECHANISMS)}")
    return MECHANISMS[name](embeddings, **parameters)
