"""A column of declared values as a classifier: the values are typed by the curator, never read from the file."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from typing import Final, final

import numpy as np

from publius.arrays import IndexArray
from publius.classifiers.classifier import OTHER, Classifier
from publius.errors import UsageError
from publius.text.normal_form import compared

MOST: Final = 100_000
_LONGEST: Final = 200


def checked_labels(labels: Sequence[str], what: str = "label") -> tuple[str, ...]:
    """Labels that were typed, in normal form, with "other" last; `UsageError` for none, twice the same, or too long."""
    found = tuple(compared(label) for label in labels)
    found = tuple(label for label in found if label != OTHER)
    if not 1 <= len(found) <= MOST:
        raise UsageError(f"give from 1 to {MOST:,} {what}s beside {OTHER!r}, not {len(found):,}")
    for label in found:
        if not label or len(label) > _LONGEST or not label.isprintable():
            raise UsageError(f"a {what} has from 1 to {_LONGEST} characters that can be printed, not {label!r:.40}")
    if len(set(found)) < len(found):
        twice = next(label for label in found if found.count(label) > 1)
        raise UsageError(f"the {what} {twice!r} is given twice")
    return (*found, OTHER)


@final
class Values(Classifier):
    """A text is its value: one of those declared, in normal form and trimmed; any other is "other".

    `UsageError` for no value, one that is declared twice, empty or too long.
    """

    kind = "values"

    def __init__(self, values: Sequence[str], *, name: str = "values") -> None:
        self.name = name
        self.labels = checked_labels(values, "value")
        self._places = {value: place for place, value in enumerate(self.labels)}
        self.sha256 = hashlib.sha256("\n".join(self.labels).encode()).hexdigest()

    def answers(self, texts: Sequence[str]) -> IndexArray:
        """See `Classifier.answers`."""
        other = len(self.labels) - 1
        return np.array([self._places.get(compared(text), other) for text in texts], np.int64)

    def known(self, text: str) -> tuple[int, int]:
        """See `Classifier.known`: whether it was declared."""
        return 1, int(compared(text) in self._places)
