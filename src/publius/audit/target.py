"""Anybody's mechanism as the audit sees it: a callable that the user names, and what it claims."""

from __future__ import annotations

import inspect
import math
import tomllib
from collections.abc import Iterable, Mapping
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, final

import numpy as np

from publius.arrays import Float64Array, FloatArray
from publius.distances.metrics import metric_named
from publius.errors import DataError, UsageError
from publius.files.reading import read_bytes_limited
from publius.files.user_code import PYTHON, object_at
from publius.files.workers import spawning
from publius.noise.randomness import Generator
from publius.settings import EUCLIDEAN
from publius.text.bag import Bag
from publius.vectors.embeddings import Embeddings

WORD: Final = "word"
BAG: Final = "bag"
Input = tuple[str, ...]
Output = str | tuple[str, ...]
_KEYS: Final = {"unit", "metric", "epsilon", "delta", "bound", "vocabulary", "vectors", "size"}
_LIMIT: Final = 64 << 20
_SEEDS: Final = 2**32


# Claims ---------------------------------------------------------------------------------------------------


@final
@dataclass(frozen=True)
class Claim:
    """What a mechanism says of itself: ln of the ratio is at most ``epsilon`` times d, or at most ``bound``.

    Attributes:
        unit: what it protects at a time: a word, or a bag of ``size`` words.
        vocabulary: the public words that inputs are made of.
        vectors: of the words, shape (V, n); None where ``bound`` holds whatever the distance.
        metric: name of d between words; bags are as far apart as their best matching.
        epsilon: per unit of d; None where ``bound`` is claimed.
        bound: in nats, for any two inputs; None where ``epsilon`` is claimed.
        delta: how much of the probability the exponent need not hold for.

    """

    unit: str
    size: int
    vocabulary: tuple[str, ...]
    vectors: FloatArray | None
    metric: str
    epsilon: float | None
    bound: float | None
    delta: float

    @classmethod
    def read(cls, path: Path) -> Claim:
        """From a TOML file; `DataError` for one that says too little, too much or what cannot be."""
        try:
            values = tomllib.loads(read_bytes_limited(path, _LIMIT).decode())
        except (tomllib.TOMLDecodeError, UnicodeDecodeError):
            raise DataError("the claim is not TOML in UTF-8") from None
        if foreign := sorted(set(values) - _KEYS):
            raise DataError(f"the claim says {foreign[0]!r}, which is none of {', '.join(sorted(_KEYS))}")
        unit = values.get("unit", WORD)
        if unit not in (WORD, BAG):
            raise DataError(f"the claim's unit must be {WORD} or {BAG}: no other can be tried yet")
        epsilon, bound = _number(values, "epsilon"), _number(values, "bound")
        if (epsilon is None) == (bound is None):
            raise DataError(
                "a claim states either epsilon (per unit of the metric) or bound (for any two inputs)"
            )
        delta, size = _number(values, "delta") or 0.0, values.get("size", 2 if unit == BAG else 1)
        if delta >= 1:
            raise DataError("the claim's delta must be below 1")
        if not isinstance(size, int) or size < 1 or (unit == WORD and size != 1):
            raise DataError("the claim's size is the number of words of a bag, from 1")
        words, vectors = _world(values, path.parent)
        if vectors is None and epsilon is not None:
            raise DataError("a claim per unit of a metric needs vectors: a list of them, or a stored name")
        if len(words) < 2 or len(set(words)) != len(words):
            raise DataError("the claim's vocabulary needs two words or more, each once")
        metric = values.get("metric", EUCLIDEAN)
        metric_named(metric)
        return cls(unit, size, words, vectors, metric, epsilon, bound, delta)

    def distances(self, words: Iterable[int]) -> Float64Array:
        """Claimed ln ratios of one word against another, shape (words, words)."""
        rows = np.fromiter(words, np.int64)
        if self.epsilon is None or self.vectors is None:
            return np.full((len(rows), len(rows)), self.bound) * ~np.eye(len(rows), dtype=bool)
        chosen = np.asarray(self.vectors[rows], np.float64)
        return self.epsilon * metric_named(self.metric).pairwise(chosen, chosen)


def _number(values: Mapping[str, Any], key: str) -> float | None:
    value = values.get(key)
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value < math.inf:
        raise DataError(f"the claim's {key} must be a number from 0")
    return float(value)


def _world(values: Mapping[str, Any], folder: Path) -> tuple[tuple[str, ...], FloatArray | None]:
    """The words and their vectors; those of stored vectors where no words are listed."""
    given, words = values.get("vectors"), values.get("vocabulary")
    if isinstance(words, str):
        words = read_bytes_limited(folder / words, _LIMIT).decode(errors="replace").split()
    if words is not None and not (isinstance(words, list) and all(isinstance(each, str) for each in words)):
        raise DataError("the claim's vocabulary is a list of words or a file with one a line")
    if isinstance(given, str):
        stored = Embeddings.load(given)
        places = [stored.index(word) for word in (words if words is not None else stored.vocabulary)]
        known = [place for place in places if place is not None]
        if len(known) < len(places):
            raise DataError(f"{len(places) - len(known)} words of the claim have no vector in {given!r}")
        return tuple(stored.vocabulary[place] for place in known), stored.vectors[known]
    if words is None:
        raise DataError("the claim names no vocabulary")
    if given is None:
        return tuple(words), None
    try:
        vectors = np.asarray(given, np.float64)
    except (TypeError, ValueError):
        vectors = np.empty(0)
    if vectors.ndim != 2 or len(vectors) != len(words) or not np.isfinite(vectors).all():
        raise DataError("the claim's vectors must be one list of finite numbers a word, all of one length")
    return tuple(words), vectors


# Targets --------------------------------------------------------------------------------------------------


@final
class Target:
    """The callable that stands at ``python:module:callable``, here because the user named it."""

    def __init__(self, name: str) -> None:
        """Import it from the installation, ``PYTHONPATH`` or the working folder; `UsageError` otherwise."""
        if not name.startswith(PYTHON):
            raise UsageError("a target is named python:MODULE:CALLABLE")
        self.name = name
        self._function = object_at(name, working_folder=True)
        if not callable(self._function):
            raise UsageError(f"{name} cannot be called")
        try:
            self.seeded = "seed" in inspect.signature(self._function).parameters
        except (TypeError, ValueError):
            self.seeded = False

    def draws(self, given: Input, unit: str, count: int, rng: Generator) -> list[Output] | None:
        """``count`` outputs for an input, each with a seed of its own where it takes one; None when it refuses."""
        content: Any = given[0] if unit == WORD else [*given]
        seeds = rng.integers(0, _SEEDS, count).tolist() if self.seeded else [None] * count
        found = []
        for seed in seeds:
            argument = content if unit == WORD else [*content]
            try:
                output = self._function(argument) if seed is None else self._function(argument, seed=seed)
            except Exception:  # whatever it raises, it gives no output
                return None
            found.append(_plain(output, unit))
        return found

    def stated(self, word: str) -> dict[Output, float] | None:
        """The probabilities that it states for a word; None when it refuses. `DataError` where they are none."""
        try:
            found = self._function.probabilities(word)
        except Exception:
            return None
        if not isinstance(found, Mapping):
            raise DataError("the target's probabilities(word) must map outputs to probabilities")
        values = {_plain(output, WORD): float(p) for output, p in found.items()}
        if not all(0 <= p <= 1 + 1e-9 for p in values.values()) or abs(sum(values.values()) - 1) > 1e-6:
            raise DataError("the target states probabilities that are below 0 or do not sum to 1")
        return values

    @property
    def states(self) -> bool:
        """Whether it states its probabilities."""
        return callable(getattr(self._function, "probabilities", None))


def _plain(output: Any, unit: str) -> Output:
    """An output as what can be counted and stored; the words of a bag in no order."""
    if isinstance(output, str):
        return output
    if isinstance(output, Bag):
        output = output.counts
    if isinstance(output, Mapping):
        return tuple(sorted(str(word) for word, count in output.items() for _ in range(int(count))))
    if isinstance(output, list | tuple):
        words = [str(each) for each in output]
        return tuple(sorted(words) if unit == BAG else words)
    if isinstance(output, int | float | np.number):
        return repr(output)
    raise DataError(f"an output is text, a number, words or a bag, not {type(output).__name__}")


def _first(name: str, given: Input, unit: str, count: int) -> list[Output] | None:
    from publius.noise.randomness import system_rng

    return Target(name).draws(given, unit, count, system_rng())


def first_draws(name: str, given: Input, unit: str, count: int) -> list[Output] | None:
    """The first outputs in a process of its own."""
    with ProcessPoolExecutor(1, spawning()) as process:
        return process.submit(_first, name, given, unit, count).result()
