"""The mechanisms by name."""

from __future__ import annotations

import inspect
from typing import Any

from publius.errors import UsageError
from publius.mechanisms.base import AbstractMechanism
from publius.mechanisms.words.exponential import Exponential
from publius.mechanisms.words.laplace import Laplace
from publius.mechanisms.words.mahalanobis import Mahalanobis
from publius.mechanisms.words.projected import ProjectedExponential, ProjectedLaplace
from publius.mechanisms.words.tight import RepairedTight, Tight
from publius.mechanisms.words.truncated import TruncatedExponential
from publius.mechanisms.words.vickrey import Vickrey
from publius.vectors.embeddings import Embeddings

MECHANISMS: dict[str, Any] = {
    mechanism.name: mechanism
    for mechanism in (
        Laplace,
        Exponential,
        Tight,
        RepairedTight,
        ProjectedLaplace,
        ProjectedExponential,
        TruncatedExponential,
        Mahalanobis,
        Vickrey,
    )
}


def parameters_of(name: str) -> frozenset[str]:
    """The keyword parameters that the mechanism called ``name`` takes; `UsageError` when there is none."""
    if name not in MECHANISMS:
        raise UsageError(f"no mechanism is called {name!r}: choose one of {', '.join(MECHANISMS)}")
    return frozenset(inspect.signature(MECHANISMS[name].__init__).parameters) - {"self", "embeddings"}


def make_mechanism(name: str, embeddings: Embeddings, **parameters: Any) -> AbstractMechanism:
    """The mechanism called ``name``, built with those of ``parameters`` that are not None.

    `UsageError` when there is no such mechanism or it does not take a parameter that is given. The default metric
    may be given to a mechanism that has a metric of its own.
    """
    taken = parameters_of(name)
    given = {key: value for key, value in parameters.items() if value is not None}
    if given.get("metric") == "euclidean" and "metric" not in taken:
        del given["metric"]
    if foreign := sorted(set(given) - taken):
        raise UsageError(f"the mechanism {name} takes no {' and no '.join(foreign)}")
    mechanism: AbstractMechanism = MECHANISMS[name](embeddings, **given)
    return mechanism
