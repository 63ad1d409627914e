"""What is kept between requests: vectors, kernels and classifiers, all public. No text, and nothing made from one."""

from __future__ import annotations

import threading
from collections.abc import Callable, Hashable, Sequence
from pathlib import Path
from typing import Any, Final, TypeVar, final

from cachetools import LRUCache

from publius.classifiers.classifier import Classifier
from publius.classifiers.store import load_classifier, stored_classifiers
from publius.embeddings import catalogue
from publius.embeddings.embeddings import Embeddings
from publius.errors import PubliusError, UsageError, place_of
from publius.files.progress import Watch
from publius.files.user_code import PYTHON
from publius.mechanisms.kernel import Kernel
from publius.mechanisms.lifted import Lifted
from publius.mechanisms.registry import make_kernel
from publius.settings import ENGLISH, EUCLIDEAN, UnknownPolicy

T = TypeVar("T")
_KEPT: Final = 64
_PATIENCE: Final = 0.3
"""Seconds that a view waits for something public; then it says that it is being computed, and asks again."""


class WaitError(UsageError):
    """It is being computed: ask again."""


@final
class State:
    """Public things by what they are made from, the last used ones; one request makes what others wait for."""

    def __init__(self, folder: Path) -> None:
        """``folder`` is where releases are looked for and files are found."""
        self.folder = folder.resolve()
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
        with self._lock:
            if key in self._kept:
                kept: T = self._kept[key]
                return kept
            if self._making is None or self._making[0] != key or self._making[1].watch.cancelled:
                if self._making is not None:
                    self._making[1].watch.cancel()

                def work(said: Callable[[str], object]) -> None:
                    with self._one:
                        self.once(key, make)

                self._making = key, Job(work)
            job = self._making[1]
        job.wait(_PATIENCE)
        if job.running:
            raise WaitError(f"Being computed: {what}.")
        with self._lock:
            if self._making is not None and self._making[1] is job:
                self._making = None
        if job.failed is not None:
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

    def kernel(
        self, name: str, epsilon: float, *, vectors: str | None = None, metric: str = EUCLIDEAN, **parameters: Any
    ) -> Kernel:  # fmt: skip
        """A kernel by the name of one of Publius's own; code is not imported for a request."""
        if PYTHON in (name[: len(PYTHON)], metric[: len(PYTHON)]):
            raise UsageError("here only mechanisms and metrics of Publius itself are used")
        embeddings = self.embeddings(vectors)
        base = name, embeddings.sha256, metric, *sorted(parameters.items())

        def made() -> Kernel:
            with self._lock:
                beside: Kernel | None = self._kept.get(base)
            if beside is not None:  # what depends on the vectors alone is there
                return beside.at(epsilon)
            return make_kernel(name, embeddings, epsilon=epsilon, metric=metric, parameters=parameters)

        kernel = self.once((*base, epsilon), made)
        return self.once(base, lambda: kernel) and kernel

    def lifted(
        self, kernel: Kernel, length: int, *, unknown: UnknownPolicy = "unk", stop_words: str = ENGLISH
    ) -> Lifted:
        """The kernel on each of ``length`` words; lists of stop words are packaged ones."""
        if stop_words.startswith("file:"):
            raise UsageError("stop words are a packaged list or none")
        return Lifted(kernel, length, unknown=unknown, stop_words=stop_words)

    def classifiers(self) -> list[str]:
        """The names of classifiers that are there without a path."""
        return [*stored_classifiers(), *(["subjects"] if catalogue.package_installed() else [])]

    def classifier(self, name: str | None, labels: Sequence[str] = ()) -> Classifier:
        """A stored classifier, or one that tells labels by their names."""
        if labels:
            from publius.classifiers.names import Names

            return self.once(("names", *labels), lambda: Names(labels))
        if name not in self.classifiers():
            there = ", ".join(self.classifiers()) or "none yet: publius models train PUBLIC --label FIELD --name NAME"
            raise UsageError(f"which classifier? Stored are {there}; or give labels")
        return self.once(("classifier", name), lambda: load_classifier(str(name)))


@final
class Job:
    """Long work in a thread: its lines, how far it is, and how it ended."""

    def __init__(self, work: Callable[[Callable[[str], object]], Any]) -> None:
        """``work`` is called with where to say its lines."""
        self.watch, self.lines = Watch(), list[str]()
        self.failed: PubliusError | None = None
        self.made: Any = None
        self._thread = threading.Thread(target=self._run, args=(work,), daemon=True)
        self._thread.start()

    @property
    def running(self) -> bool:
        """Whether it has not ended."""
        return self._thread.is_alive()

    @property
    def error(self) -> str | None:
        """Why it failed, as it is shown."""
        return None if self.failed is None else str(self.failed)

    def wait(self, seconds: float) -> None:
        """Until it has ended, or for so long."""
        self._thread.join(seconds)

    def _run(self, work: Callable[[Callable[[str], object]], Any]) -> None:
        try:
            self.made = self.watch.run(work, self.lines.append)
        except PubliusError as error:
            self.failed = error
        except Exception as error:  # a bug: its message may hold a text
            self.failed = PubliusError(f"a bug in Publius: {place_of(error)}. Please report this line.")
