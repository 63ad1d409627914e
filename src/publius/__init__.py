"""Publius: documents become noisy bags-of-words that keep their topic or meaning and blur their author.

The names below are the public interface; they are imported at first use, so that ``import publius`` is quick.
"""

import sys

if sys.argv[:1] == ["-m"] and not sys.flags.safe_path:
    # This is the start of ``python -m publius``, which looks into the working folder before anything else: no module
    # that lies there may take the place of one of Python's or of a library.
    del sys.path[0]

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from publius.distances import earth_movers_distance
    from publius.documents.corpus import Document, open_corpus
    from publius.errors import BudgetError, DataError, PolicyError, PubliusError, StorageError, UsageError
    from publius.mechanisms.kernel import AbstractMechanism, Kernel
    from publius.mechanisms.kernels.laplace import Laplace
    from publius.mechanisms.lifted import Lifted
    from publius.mechanisms.mechanism import Mechanism, OrderedText
    from publius.mechanisms.position import Position
    from publius.mechanisms.prototype import Prototype
    from publius.mechanisms.registry import make_document_mechanism, make_mechanism
    from publius.mechanisms.shuffled import Shuffled
    from publius.mechanisms.vector_bags import randomize_bag
    from publius.privacy.guarantee import Guarantee
    from publius.privacy.ledger import Ledger
    from publius.releases.engines import protect_corpus
    from publius.releases.plan import Experiment, Plan
    from publius.releases.protect import release
    from publius.releases.release import Release
    from publius.releases.summaries.summary import Summary
    from publius.releases.tables import protect_table
    from publius.text.bag import Bag
    from publius.vectors.embeddings import Embeddings
    from publius.vectors.learning.reference import Reference

__version__ = "0.3.0"

_HOMES = {
    "AbstractMechanism": "mechanisms.kernel",
    "Bag": "text.bag",
    "BudgetError": "errors",
    "DataError": "errors",
    "Document": "documents.corpus",
    "Embeddings": "vectors.embeddings",
    "Experiment": "releases.plan",
    "Guarantee": "privacy.guarantee",
    "Kernel": "mechanisms.kernel",
    "Laplace": "mechanisms.kernels.laplace",
    "Ledger": "privacy.ledger",
    "Lifted": "mechanisms.lifted",
    "Mechanism": "mechanisms.mechanism",
    "OrderedText": "mechanisms.mechanism",
    "Plan": "releases.plan",
    "PolicyError": "errors",
    "Position": "mechanisms.position",
    "Prototype": "mechanisms.prototype",
    "PubliusError": "errors",
    "Reference": "vectors.learning.reference",
    "Release": "releases.release",
    "Shuffled": "mechanisms.shuffled",
    "StorageError": "errors",
    "Summary": "releases.summaries.summary",
    "UsageError": "errors",
    "earth_movers_distance": "distances",
    "make_document_mechanism": "mechanisms.registry",
    "make_mechanism": "mechanisms.registry",
    "open_corpus": "documents.corpus",
    "protect_corpus": "releases.engines",
    "protect_table": "releases.tables",
    "randomize_bag": "mechanisms.vector_bags",
    "release": "releases.protect",
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
    "Kernel",
    "Laplace",
    "Ledger",
    "Lifted",
    "Mechanism",
    "OrderedText",
    "Plan",
    "PolicyError",
    "Position",
    "Prototype",
    "PubliusError",
    "Reference",
    "Release",
    "Shuffled",
    "StorageError",
    "Summary",
    "UsageError",
    "__version__",
    "earth_movers_distance",
    "make_document_mechanism",
    "make_mechanism",
    "open_corpus",
    "protect_corpus",
    "protect_table",
    "randomize_bag",
    "release",
]


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'publius' has no attribute {name!r}")
    return getattr(import_module(f"publius.{_HOMES[name]}"), name)


def __dir__() -> list[str]:
    return __all__
