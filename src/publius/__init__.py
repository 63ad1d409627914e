"""Publius: release what documents say, or a label for each, or their words, with a proof of how much it tells.

The names below are the public interface; they are imported at first use, so that ``import publius`` is quick.
"""

import sys

if sys.argv[:1] == ["-m"] and not sys.flags.safe_path:
    # This is the start of ``python -m publius``, which looks into the working folder before anything else: no module
    # that lies there may take the place of one of Python's or of a library.
    del sys.path[0]

from importlib import import_module
from typing import Any

__version__ = "1.0.0"

_HOMES = {
    "Bag": "text.bag",
    "BudgetError": "errors",
    "Classifier": "classifiers.classifier",
    "Clusters": "classifiers.clusters",
    "DataError": "errors",
    "Document": "documents.document",
    "Embeddings": "embeddings.embeddings",
    "Guarantee": "privacy.guarantee",
    "Kernel": "mechanisms.kernel",
    "Laplace": "mechanisms.kernels.laplace",
    "Ledger": "privacy.ledger",
    "Lifted": "mechanisms.lifted",
    "Mechanism": "mechanisms.mechanism",
    "Names": "classifiers.classifier",
    "PolicyError": "errors",
    "PubliusError": "errors",
    "RandomizedResponse": "mechanisms.randomized_response",
    "Shuffled": "mechanisms.randomized_response",
    "StorageError": "errors",
    "Subjects": "classifiers.subjects",
    "Summary": "summaries.summary",
    "TopicClassifier": "classifiers.topics",
    "UsageError": "errors",
    "Values": "classifiers.classifier",
    "bag_bound": "mechanisms.vector_bags",
    "earth_movers_distance": "distances.earth_mover",
    "log_probability": "mechanisms.finite.bag_probability",
    "make_kernel": "mechanisms.registry",
    "open_corpus": "documents.corpus",
    "protect_corpus": "releases.run",
    "protect_table": "releases.tables",
    "randomize_bag": "mechanisms.vector_bags",
    "read_release": "releases.rows",
    "release": "mechanisms.mechanism",
}

__all__ = [*_HOMES, "__version__"]  # noqa: PLE0604


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'publius' has no attribute {name!r}")
    return getattr(import_module(f"publius.{_HOMES[name]}"), name)


def __dir__() -> list[str]:
    return __all__
