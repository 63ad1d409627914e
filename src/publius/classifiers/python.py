"""Anybody's function of one text as a classifier: ``python:MODULE:NAME``."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from typing import Any, Final, final

import numpy as np

from publius.arrays import IndexArray
from publius.classifiers.classifier import Classifier
from publius.classifiers.values import checked_labels
from publius.errors import UsageError, place_of
from publius.files.user_code import object_at, silent, source_digest
from publius.text.normal_form import compared

_TRIED: Final = "A public sentence."


@final
class Python(Classifier):
    """An object with ``labels``, called with one text (or its ``predict``): it returns one of them.

    What it returns else, and what it raises, counts as "other": no text stops a release. `UsageError` where nothing
    such is at ``name``, or where it does not even answer a public sentence.
    """

    kind = "python"

    def __init__(self, name: str) -> None:
        self.name = name
        found = object_at(name, working_folder=True)
        made = found() if isinstance(found, type) else found
        function = getattr(made, "predict", made)
        labels = getattr(made, "labels", None)
        if not callable(function) or isinstance(labels, str) or not isinstance(labels, Sequence):
            raise UsageError(f"{name} must have labels, a list of texts, and take one text: def {_last(name)}(text)")
        self._function: Callable[[str], Any] = function
        self.labels = checked_labels(labels)
        self._places = {label: place for place, label in enumerate(self.labels)}
        try:
            with silent():
                function(_TRIED)
        except Exception as error:
            raise UsageError(f"{name} does not answer a sentence: {place_of(error)}") from None
        self.sha256 = hashlib.sha256("\n".join((name, *self.labels, source_digest(made))).encode()).hexdigest()
        about = {"licence": getattr(made, "licence", None), "trained": getattr(made, "trained", None)}
        self.public = ({"name": name, "kind": "classifier", "sha256": self.sha256, **about},)

    def answers(self, texts: Sequence[str]) -> IndexArray:
        """See `Classifier.answers`: it is called with one text at a time."""
        return np.array([self._answer(text) for text in texts], np.int64)

    def __reduce__(self) -> tuple[type[Python], tuple[str]]:
        return Python, (self.name,)

    def _answer(self, text: str) -> int:
        other = len(self.labels) - 1
        try:
            with silent():
                return self._places.get(compared(self._function(text)), other)
        except Exception:  # of foreign code, whatever it is: a refusal would tell of one text
            return other


def _last(name: str) -> str:
    return name.rpartition(":")[2]
