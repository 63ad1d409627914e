"""Publius: documents become noisy bags-of-words that keep their topic and hide their author.

The names below are the public interface; they are imported at first use, so that ``import publius`` is quick.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from publius.accounting import Ledger
    from publius.bag import Bag
    from publius.corpus import Document, open_corpus
    from publius.embeddings import Embeddings
    from publius.engines import protect_corpus
    from publius.errors import BudgetError, DataError, PolicyError, PubliusError, StorageError, UsageError
    from publius.mechanisms.base import AbstractMechanism
    from publius.mechanisms.laplace import Laplace
    from publius.mechanisms.registry import make_mechanism
    from publius.privacy import Guarantee
    from publius.releases import Experiment, OrderedText, Plan, Release, release
    from publius.tables import protect_table
    from publius.transport import earth_movers_distance

__version__ = "0.1.0"

_HOMES = {
    "AbstractMechanism": "mechanisms.base",
    "Bag": "bag",
    "BudgetError": "errors",
    "DataError": "errors",
    "Document": "corpus",
    "Embeddings": "embeddings",
    "Experiment": "releases",
    "Guarantee": "privacy",
    "Laplace": "mechanisms.laplace",
    "Ledger": "accounting",
    "OrderedText": "releases",
    "Plan": "releases",
    "PolicyError": "errors",
    "PubliusError": "errors",
    "Release": "releases",
    "StorageError": "errors",
    "UsageError": "errors",
    "earth_movers_distance": "transport",
    "make_mechanism": "mechanisms.registry",
    "open_corpus": "corpus",
    "protect_corpus": "engines",
    "protect_table": "tables",
    "release": "releases",
}

__all__ = [
    "AbstractMechanism",
    "Bag",
    "BudgetError",
    "DataError",
    "Document",
    "Embeddings",
    "Experiment",
    "Guarantee",
    "Laplace",
    "Ledger",
    "OrderedText",
    "Plan",
    "PolicyError",
    "PubliusError",
    "Release",
    "StorageError",
    "UsageError",
    "__version__",
    "earth_movers_distance",
    "make_mechanism",
    "open_corpus",
    "protect_corpus",
    "protect_table",
    "release",
]


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'publius' has no attribute {name!r}")
    return getattr(import_module(f"publius.{_HOMES[name]}"), name)


def __dir__() -> list[str]:
    return __all__
