"""Mechanisms ready to draw: each made once and kept, as many as memory should hold."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final, cast, final

import numpy as np

from publius.comparison import useful_range
from publius.embeddings import Embeddings
from publius.errors import PubliusError, UsageError
from publius.mechanisms.base import AbstractMechanism
from publius.mechanisms.cache import cached_weights
from publius.mechanisms.finite import AbstractFinite
from publius.mechanisms.laplace import Laplace
from publius.mechanisms.projected import ProjectedLaplace
from publius.mechanisms.registry import MECHANISMS, make_mechanism, parameters_of
from publius.mechanisms.tight import RepairedTight, Tight
from publius.metrics import Float64Array

_KEPT: Final = 24
_PAIRS: Final = 10**10
"""Pairs of words times dimensions / 50 that are certified while somebody waits: 100,000 words of 50 dimensions."""
_SOLVED: Final = 4 * 10**8
"""The same where a system of equations in all words is solved first."""
_RUNGS: Final = 7


@final
@dataclass(frozen=True, slots=True)
class Range:
    """Epsilons of use on a vocabulary: about 2 %, half and 98 % of its words stay, or the end of the search."""

    low: float
    middle: float
    high: float


@final
class Mechanisms:
    """The mechanisms on one vocabulary, by name, metric and epsilon. Safe in threads."""

    def __init__(self, embeddings: Embeddings) -> None:
        """Nothing is made yet."""
        self.embeddings = embeddings
        self._kept: OrderedDict[tuple[object, ...], Any] = OrderedDict()
        self._lock = threading.Lock()
        self._making = threading.Lock()

    def get(self, name: str, epsilon: float, metric: str = "euclidean") -> AbstractMechanism:
        """The mechanism; `UsageError` with the reason where it does not suit the vocabulary or the metric."""
        if reason := self.unsuitable(name):
            raise UsageError(f"the mechanism {name} is not offered here: {reason}")
        if name == Laplace.name:
            first = self._once(
                ("laplace", metric), lambda: Laplace(self.embeddings, epsilon=1.0, metric=metric)
            )
            return cast("Laplace", first).at(epsilon)
        made = self._once(
            (name, metric, epsilon),
            lambda: make_mechanism(name, self.embeddings, epsilon=epsilon, metric=metric),
        )
        return cast("AbstractMechanism", made)

    def is_quick(self, name: str) -> bool:
        """Whether it is made in a moment at any epsilon; the others are certified first."""
        return not issubclass(MECHANISMS[name], AbstractFinite) and name != ProjectedLaplace.name

    def is_ready(self, name: str, epsilon: float, metric: str) -> bool:
        """Whether it is made in a moment at this epsilon."""
        return self.is_quick(name) or self._look((name, metric, epsilon)) is not None

    def unsuitable(self, name: str) -> str | None:
        """Why the mechanism is not offered on this vocabulary, or None."""
        if not issubclass(MECHANISMS[name], AbstractFinite):
            return None
        size, dimension = self.embeddings.size, self.embeddings.dimension
        if size < 2:
            return "it needs at least two words"
        work = size**2 * max(1, dimension / 50) if dimension > 1 else size
        solved = name in (Tight.name, RepairedTight.name)
        if work > (_SOLVED if solved else _PAIRS):
            task = "solving for its weights" if solved else "certifying it"
            return f"{task} on {size:,} words of {dimension} dimensions takes too long: use the command line"
        return None

    def ladder(self, name: str, metric: str) -> list[AbstractFinite]:
        """A finite mechanism certified at scales across its useful range: the same whatever the document."""
        found = self.range(name, metric)
        ratio = (found.high / found.low) ** (1 / (_RUNGS - 1))
        rungs = []
        for step in range(_RUNGS):
            scale = float(f"{found.low * ratio**step:.3g}")
            try:
                rungs.append(self._at_scale(name, metric, scale))
            except PubliusError as error:
                if error.exit_code != 77:  # refused at this scale: the ladder has a gap there
                    raise
        return rungs

    def _at_scale(self, name: str, metric: str, scale: float) -> AbstractFinite:
        made = self._once(
            (name, metric, "scale", scale),
            lambda: make_mechanism(name, self.embeddings, scale=scale, metric=metric),
        )
        return cast("AbstractFinite", made)

    def range(self, name: str, metric: str = "euclidean") -> Range:
        """The epsilons between which there is something to see, found on a sample of the vocabulary."""
        if "metric" not in parameters_of(name):
            metric = "euclidean"
        key = ("range", *_family(name), metric)
        return cast("Range", self._once(key, lambda: self._range(_family(name)[0], metric)))

    def _range(self, name: str, metric: str) -> Range:
        """Kept beside the embeddings: it depends on nothing else."""

        def found() -> Float64Array:
            return np.array(useful_range(name, self.embeddings, metric=metric))

        facts = {"embeddings": self.embeddings.sha256, "range": name, "metric": metric}
        low, middle, high = cached_weights(facts, 3, found).tolist()
        return Range(low, middle, high)

    def _once(self, key: tuple[object, ...], make: Callable[[], object]) -> object:
        """What was made for ``key`` before, or is made now, one at a time; the longest unused is dropped."""
        found = self._look(key)
        if found is not None:
            return found
        with self._making:
            found = self._look(key)
            if found is None:
                found = make()
                with self._lock:
                    self._kept[key] = found
                    while len(self._kept) > _KEPT * 2:
                        self._kept.popitem(last=False)
        return found

    def _look(self, key: tuple[object, ...]) -> object | None:
        with self._lock:
            if key in self._kept:
                self._kept.move_to_end(key)
            return self._kept.get(key)


def _family(name: str) -> tuple[str]:
    """The mechanism whose range is that of ``name``, near enough: of the same noise or the same weights."""
    if not issubclass(MECHANISMS[name], AbstractFinite):
        return (name if name == ProjectedLaplace.name else Laplace.name,)
    return ("projected-exponential" if name == "projected-exponential" else "exponential",)
