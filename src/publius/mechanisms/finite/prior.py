"""A public prior on words, given or from a file."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from publius.arrays import Float64Array
from publius.errors import DataError
from publius.files import read_lines, shown
from publius.mechanisms.finite.certificate.exact import SMALLEST_WEIGHT_RATIO
from publius.option import Settings, option
from publius.vectors.embeddings import Embeddings


@dataclass(frozen=True, kw_only=True)
class PriorParameters(Settings):
    """Of a mechanism that weighs the words."""

    prior: Path | Sequence[float] | None = option(
        None, help="Public word weights: a file with word TAB weight a line."
    )
    floor: float = option(0.0, help="Share of draws from the prior alone.", at_least=0, below=1)


def checked_prior(prior: Any, embeddings: Embeddings) -> Float64Array:
    """``prior``, weights or a file of them, as V positive numbers with sum 1; all equal where it is None.

    `DataError` otherwise.
    """
    size = embeddings.size
    if prior is None:
        return np.full(size, 1.0 / size)
    weights = (
        read_prior(Path(prior), embeddings)
        if isinstance(prior, (str, Path))
        else np.asarray(prior, np.float64)
    )
    if weights.shape != (size,):
        raise DataError(f"a prior needs one number for each of the {size} words, not shape {weights.shape}")
    if not np.isfinite(weights).all() or not weights.min() > 0:
        raise DataError("a prior needs positive finite numbers: a word of weight 0 is never an output")
    if weights.min() < SMALLEST_WEIGHT_RATIO * weights.max():
        raise DataError(
            f"the smallest weight of a prior must be at least {SMALLEST_WEIGHT_RATIO:g} of the largest: raise it"
        )
    return np.asarray(weights / weights.sum())


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
