"""The document mechanisms by name."""

from __future__ import annotations

import inspect
from typing import Any, Final

from publius.errors import UsageError
from publius.mechanisms.documents.base import AbstractDocumentMechanism
from publius.mechanisms.documents.position import Position
from publius.mechanisms.documents.prototype import Prototype
from publius.vectors.learning.reference import Reference

DOCUMENT_MECHANISMS: Final[dict[str, Any]] = {
    mechanism.name: mechanism for mechanism in (Prototype, Position)
}


def make_document_mechanism(
    name: str, reference: Reference, *, preserve: str = "topic", **parameters: Any
) -> AbstractDocumentMechanism:
    """The mechanism called ``name`` on a public reference, with those of ``parameters`` that are not None.

    `UsageError` when there is no such mechanism, it does not take a parameter that is given, or the reference cannot
    keep what is asked for.
    """
    if name not in DOCUMENT_MECHANISMS:
        known = ", ".join(DOCUMENT_MECHANISMS)
        raise UsageError(f"no document mechanism is called {name!r:.40}: choose one of {known}")
    taken = frozenset(inspect.signature(DOCUMENT_MECHANISMS[name].__init__).parameters) - {
        "self",
        "reference",
    }
    given = {key: value for key, value in parameters.items() if value is not None}
    if foreign := sorted(set(given) - taken):
        raise UsageError(f"the mechanism {name} takes no {' and no '.join(foreign)}")
    mechanism: AbstractDocumentMechanism = DOCUMENT_MECHANISMS[name](reference, preserve=preserve, **given)
    return mechanism
