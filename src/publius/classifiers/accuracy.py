"""How often a classifier is right on public texts: cross-validated, authors kept together, with a 95 % interval."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Sequence
from typing import Any, Final

import numpy as np

from publius.arrays import Float64Array, IndexArray
from publius.text.author_names import author_key

FOLDS: Final = 5
_Z: Final = 1.959964


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

    The interval is Wilson's, for as many texts as would be as uncertain as these are where authors wrote several.
    """
    n, share = len(right), float(np.mean(right))
    sums = np.bincount(np.unique(groups, return_inverse=True)[1], weights=right - share)
    variance = share * (1 - share) * n
    effective = n / max(1.0, float(np.sum(sums**2)) / variance) if variance > 0 else n
    low, high = wilson(share, effective)
    names = np.asarray(labels)
    by_label = {str(label): float(right[names == label].mean()) for label in sorted(set(labels))}
    return {"share": share, "low": low, "high": high, "texts": n, "by_label": by_label}


def wilson(share: float, n: float) -> tuple[float, float]:
    """Wilson's 95 % interval of a share of n trials."""
    square = _Z**2 / n
    centre, half = share + square / 2, _Z * math.sqrt(share * (1 - share) / n + square / (4 * n))
    return max(0.0, (centre - half) / (1 + square)), min(1.0, (centre + half) / (1 + square))
