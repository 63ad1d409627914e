"""What is kept between requests: vectors, kernels and classifiers, all public. No text, and nothing made from one."""

from __future__ import annotations

import threading
from collections.abc import Callable, Hashable, Sequence
from pathlib import Path
from typing import Any, Final, TypeVar, final

from cachetools import LRUCache

from publius.classifiers.classifier import Classifier, Names
from publius.classifiers.store import load_classifier, stored_classifiers
from publius.embeddings import catalogue
from publius.embeddings.embeddings import Embeddings
from publius.errors import PubliusError, UsageError, place_of
from publius.files.progress import Watch
from publius.files.user_code import PYTHON
from publius.mechanisms.kernel import Kernel
from publius.mechanisms.registry import make_kernel

T = TypeVar("T")
_KEPT: Final = 64
_PATIENCE: Final = 0.3  # seconds that a view waits; then it says that something is being computed, and asks again


class WaitError(UsageError):
    """It is being computed: ask again."""


@final
class State:
    """Public things by what they are made from, the last used ones; one request makes what others wait for."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder.resolve()  # where releases are looked for and files are found
        self.job: Job | None = None
        self._making: tuple[Hashable, Job] | None = None
        self._one = threading.Lock()
        self._kept: LRUCache[Hashable, Any] = LRUCache(_KEPT)
        self._locks: LRUCache[Hashable, threading.Lock] = LRUCache(10 * _KEPT)
        self._lock = threading.Lock()

    def once(self, key: Hashable, make: Callable[[], T]) -> T:
        """What ``make`` gives, kept under ``key``, which holds public values alone; errors are not kept."""
        with self._lock:
            lock = self._locks.setdefault(key, threading.Lock())
        with lock:
            with self._lock:
                if key in self._kept:
                    found: T = self._kept[key]
                    return found
            made = make()
            with self._lock:
                self._kept[key] = made
            return made

    def soon(self, key: Hashable, make: Callable[[], T], what: str) -> T:
        """As `once` where it takes a moment; else it goes on in a thread, one at a time, and `WaitError` says ``what``.

        Asking for something else stops it where it says how far it is.
        """
        if key in self._kept:
            return self.once(key, make)
        with self._lock:
            before, job = self._making or (None, None)
            done = job is not None and not job.is_alive() and job.failed is None  # and what it made is kept no more
            if job is None or before != key or job.watch.cancelled or done:
                if job is not None:
                    job.watch.cancelled = True

                def work(said: Callable[[str], object]) -> None:
                    with self._one:
                        self.once(key, make)

                job = Job(work)
                self._making = key, job
        job.join(_PATIENCE)
        if job.is_alive():
            raise WaitError(f"Being computed: {what}.")
        if job.failed is not None:
            job.watch.cancelled = True  # who asks again begins anew
            raise job.failed
        return self.once(key, make)

    def vectors(self) -> list[str]:
        """The names of word vectors, the default first."""
        packaged = list(catalogue.PACKAGED) if catalogue.package_installed() else []
        return packaged + catalogue.stored_names()

    def embeddings(self, name: str | None) -> Embeddings:
        """Word vectors by name; the first there are for None."""
        known = self.vectors()
        chosen = name or next(iter(known), catalogue.DEFAULT)
        if known and chosen not in known:
            raise UsageError(f"no word vectors are called {chosen!r:.100}: {', '.join(known)}")
        return self.once(("vectors", chosen), lambda: Embeddings.load(chosen))

    def kernel(self, name: str, epsilon: float, vectors: str | None = None) -> Kernel:
        """A kernel by the name of one of Publius's own; code is not imported for a request."""
        if name.startswith(PYTHON):
            raise UsageError("here only mechanisms of Publius itself are used")
        embeddings = self.embeddings(vectors)
        key = name, embeddings.sha256
        first = self.once(key, lambda: make_kernel(name, embeddings, epsilon=epsilon))
        if first.epsilon == epsilon:
            return first
        return self.once((*key, epsilon), lambda: first.at(epsilon))  # what depends on the vectors alone is there

    def classifiers(self) -> list[str]:
        """The names of classifiers that are there without a path."""
        return [*stored_classifiers(), *(["subjects"] if catalogue.package_installed() else [])]

    def classifier(self, name: str | None, labels: Sequence[str] = ()) -> Classifier:
        """A stored classifier, or one that tells labels by their names."""
        if labels:
            return self.once(("names", *labels), lambda: Names(labels))
        if name not in self.classifiers():
            there = ", ".join(self.classifiers()) or "none yet: publius models train PUBLIC --label FIELD --name NAME"
            raise UsageError(f"which classifier? Stored are {there}; or give labels")
        return self.once(("classifier", name), lambda: load_classifier(str(name)))


@final
class Job(threading.Thread):
    """Long work in a thread: its lines, how far it is, and how it ended."""

    def __init__(self, work: Callable[[Callable[[str], object]], object]) -> None:
        super().__init__(daemon=True)
        self.work, self.watch, self.lines = work, Watch(), list[str]()
        self.failed: PubliusError | None = None
        self.start()

    @property
    def error(self) -> str | None:
        """Why it failed, as it is shown."""
        return None if self.failed is None else str(self.failed)

    def run(self) -> None:
        """See `threading.Thread`."""
        try:
            self.watch.run(self.work, self.lines.append)
        except PubliusError as error:
            self.failed = error
        except Exception as error:  # a bug: its message may hold a text
            self.failed = PubliusError(f"a bug in Publius: {place_of(error)}. Please report this line.")
