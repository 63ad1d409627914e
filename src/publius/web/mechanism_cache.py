"""Mechanisms ready to draw: each made once and kept, as many as memory should hold."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Final, TypeVar, cast, final

from publius.errors import UsageError
from publius.files.progress import advance, stage
from publius.mechanisms.curves import kept_range, ladder
from publius.mechanisms.finite.base import AbstractFinite
from publius.mechanisms.kernel import Kernel
from publius.mechanisms.registry import make_mechanism, mechanism_class
from publius.settings import EUCLIDEAN, VectorSettings
from publius.vectors.embeddings import Embeddings

T = TypeVar("T")
_PATIENCE: Final = 0.2  # seconds after which who waits looks whether to go on
_PAIRS: Final = 10**10
"""Pairs of words times dimensions / 50 that are certified while somebody waits: 100,000 words of 50 dimensions."""
_SOLVED: Final = 4 * 10**8
"""The same where a system of equations in all words is solved first."""


@final
@dataclass(frozen=True, slots=True)
class EpsilonRange:
    """Epsilons of use on a vocabulary: about 2 %, half and 98 % of its words stay, or the end of the search."""

    low: float
    middle: float
    high: float


@final
class MechanismCache:
    """The mechanisms on one vocabulary, by name, metric and epsilon. Safe in threads."""

    def __init__(self, embeddings: Embeddings) -> None:
        """Nothing is made yet."""
        self.embeddings = embeddings
        self._first, self._quick, self._certified = Cache(2), Cache(8), Cache(8)
        self._ladders, self._ranges = Cache(2), Cache(16)

    def get(
        self, name: str, epsilon: float, metric: str = VectorSettings.metric, **parameters: Any
    ) -> Kernel:
        """The mechanism; `UsageError` with the reason where it does not suit the vocabulary or the metric."""
        if reason := self.unsuitable(name):
            raise UsageError(f"the mechanism {name} is not offered here: {reason}")

        def made(at: float) -> Kernel:
            return make_mechanism(name, self.embeddings, epsilon=at, metric=metric, **parameters)

        own = tuple(sorted(parameters.items()))
        key = (name, metric, epsilon, *own)
        if not self.is_quick(name):
            return self._certified.get(key, lambda: made(epsilon))
        # What depends on the vectors alone is kept.
        first = self._first.get((name, metric, *own), lambda: made(epsilon))
        return self._quick.get(key, lambda: first.at(epsilon))

    def is_quick(self, name: str) -> bool:
        """Whether it is made in a moment at any epsilon; the others are certified first."""
        return mechanism_class(name).preparation == "none"

    def is_ready(self, name: str, epsilon: float, metric: str, **parameters: Any) -> bool:
        """Whether it is made in a moment at this epsilon."""
        key = (name, metric, epsilon, *sorted(parameters.items()))
        return self.is_quick(name) or key in self._certified

    def unsuitable(self, name: str) -> str | None:
        """Why the mechanism is not offered on this vocabulary, or None."""
        if self.is_quick(name):
            return None
        size, dimension = self.embeddings.size, self.embeddings.dimension
        if size < 2:
            return "it needs at least two words"
        work = size**2 * max(1, dimension / 50) if dimension > 1 else size
        solved = mechanism_class(name).preparation == "equations"
        if work > (_SOLVED if solved else _PAIRS):
            task = "solving for its weights" if solved else "certifying it"
            return f"{task} on {size:,} words of {dimension} dimensions takes too long: use the command line"
        return None

    def ladder(self, name: str, metric: str) -> list[AbstractFinite]:
        """A finite mechanism certified at scales across its useful range: the same whatever the document."""
        return self._ladders.get((name, metric), lambda: self._ladder(name, metric))

    def _ladder(self, name: str, metric: str) -> list[AbstractFinite]:
        return ladder(name, self.embeddings, metric, *self.ends(name, metric))

    def ends(self, name: str, metric: str) -> tuple[float, float]:
        """The ends of the range."""
        found = self.range(name, metric)
        return found.low, found.high

    def range(self, name: str, metric: str = VectorSettings.metric) -> EpsilonRange:
        """The epsilons between which there is something to see, found on a sample of the vocabulary."""
        kind = mechanism_class(name)
        metric = metric if kind.metrics else EUCLIDEAN
        near = kind.range_of or name
        return self._ranges.get(
            (near, metric), lambda: EpsilonRange(*kept_range(near, self.embeddings, metric))
        )


@final
class Cache:
    """A few things by key, each made once, one at a time; the longest unused is dropped. Safe in threads."""

    def __init__(self, most: int) -> None:
        """Keep ``most`` of them."""
        self._most = most
        self._found: OrderedDict[tuple[object, ...], Any] = OrderedDict()
        self._lock, self._making = threading.Lock(), threading.Lock()

    def __len__(self) -> int:
        return len(self._found)

    def __contains__(self, key: object) -> bool:
        with self._lock:
            return key in self._found

    def get(self, key: tuple[object, ...], make: Callable[[], T]) -> T:
        """The value made for ``key`` before, or made now.

        Who stops making it stops nobody else: the next who waits makes it.
        """
        found = self._look(key)
        if found is None:
            with self._turn():
                found = self._look(key)
                if found is None:
                    found = self._keep(key, make())
        return cast("T", found)

    @contextmanager
    def _turn(self) -> Iterator[None]:
        """While nobody else makes anything; the wait for that can be stopped."""
        if not self._making.acquire(blocking=False):
            with stage("Waiting for what is being prepared already"):
                while not self._making.acquire(timeout=_PATIENCE):
                    advance(0, 0)
        try:
            yield
        finally:
            self._making.release()

    def _look(self, key: tuple[object, ...]) -> object | None:
        with self._lock:
            if key in self._found:
                self._found.move_to_end(key)
            return self._found.get(key)

    def _keep(self, key: tuple[object, ...], made: T) -> T:
        with self._lock:
            self._found[key] = made
            while len(self._found) > self._most:
                self._found.popitem(last=False)
        return made
