"""A public prior on words from a file."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np

from publius.arrays import Float64Array
from publius.errors import DataError
from publius.files import read_lines, shown
from publius.vectors.embeddings import Embeddings


def read_prior(path: Path, embeddings: Embeddings) -> Float64Array:
    """Weights, shape (V,), from lines ``word<TAB>weight``, such as public frequencies; other words are passed over.

    `DataError` with the line number where a line is malformed or a word stands twice, and when a word of the
    vocabulary has no weight: a word without one would never be an output.
    """
    weights = np.full(embeddings.size, np.nan)
    for number, line in read_lines(path):
        where = f"{shown(path)}, line {number}"
        try:
            word, _, weight = line.decode("utf-8").rstrip("\r").rpartition("\t")
            value = float(weight)
        except ValueError:
            raise DataError(f"{where}: expected word, tab, positive weight, in UTF-8") from None
        if not (math.isfinite(value) and value > 0):
            raise DataError(f"{where}: a weight must be a positive finite number")
        index = embeddings.index(word)
        if index is None:
            continue
        if not math.isnan(weights[index]):
            raise DataError(f"{where}: the word stands twice")
        weights[index] = value
    if missing := int(np.isnan(weights).sum()):
        raise DataError(
            f"{shown(path)} has no weight for {missing:,} of the {embeddings.size:,} words of {embeddings.name!r}: "
            "give each a positive weight, or keep fewer words when importing the vectors"
        )
    return weights
