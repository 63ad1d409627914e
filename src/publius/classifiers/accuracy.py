"""How often a classifier is right on public texts: cross-validated, authors kept together, with a 95 % interval."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from typing import Any, Final

import numpy as np

from publius.arrays import Float64Array, IndexArray
from publius.statistics import author_mean
from publius.text.author_names import author_key

FOLDS: Final = 5


def groups_of(authors: Sequence[Any] | None, size: int) -> IndexArray:
    """The number of each text's author, shape (n,); a text without one has an author of its own."""
    keys = [author_key(author) for author in authors] if authors is not None else [None] * size
    places: dict[Any, int] = {}
    return np.array(
        [places.setdefault(row if key is None else key, len(places)) for row, key in enumerate(keys)], np.int64
    )


def folds_of(groups: IndexArray) -> IndexArray:
    """A fold of each text from 0, authors kept together: in an order that looks at their numbers alone."""
    found = np.unique(groups)
    order = sorted(found.tolist(), key=lambda group: hashlib.sha256(str(group).encode()).digest())
    fold = {group: place % FOLDS for place, group in enumerate(order)}
    return np.array([fold[group] for group in groups.tolist()], np.int64)


def measured(right: Float64Array, labels: Sequence[str], groups: IndexArray) -> dict[str, Any]:
    """The share of right answers with its interval, and of each label; ``right`` is 0 or 1 for each text.

    Authors are what is sampled (`publius.statistics.author_mean`): texts of one are no independent trials.
    """
    found, names = author_mean(right, groups.tolist()), np.asarray(labels)
    by_label = {str(label): float(right[names == label].mean()) for label in sorted(set(labels))}
    return {"share": found.value, "low": found.low, "high": found.high, "texts": len(right), "by_label": by_label}
