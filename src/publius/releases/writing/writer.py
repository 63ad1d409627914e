"""`AbstractTextWriter`, the base of writers: it sees a release and public things, and writes a text for each bag."""

from __future__ import annotations

import inspect
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, final

from publius.documents.corpus import Corpus
from publius.errors import PolicyError, UsageError
from publius.files.user_code import object_at
from publius.releases.writing.released_bags import ReleasedBag
from publius.settings import StopWordSettings, WritingSettings
from publius.text.tokenizer import StopWords, profile_labelled, tokenize
from publius.vectors.learning.reference import Reference


@final
@dataclass(frozen=True)
class WriterInput:
    """All that a writer is shown beside the bags.

    Attributes:
        manifest: of the release.
        settings: the public choices of whoever wants text.
        reference: the public reference that the release was made with, where it is at hand.
        public: public texts to quote or to learn from.
        public_sha256: SHA-256 over the files of ``public``.
        own_texts: whether ``public`` is what the reference was learned from; None where that cannot be told.

    """

    manifest: Mapping[str, Any]
    settings: WritingSettings
    reference: Reference | None = None
    public: Corpus | None = None
    public_sha256: str | None = None
    own_texts: bool | None = None

    @property
    def profile(self) -> str:
        """The profile by which the release's words were cut."""
        found = profile_labelled(str(self.manifest.get("tokenizer")))
        return "glove" if found is None else found.name

    @property
    def stop_words(self) -> StopWords:
        """The words that were left out; the usual ones where the release's list is somebody's own file."""
        name = self.manifest.get("stop_words")
        return StopWords.load(name if name in ("english-1", "none") else StopWordSettings.stop_words)

    def words(self, text: str, stop_words: StopWords) -> list[str]:
        """The words of a public text, cut as the release's were."""
        return [word for word in tokenize(text, self.profile) if word not in stop_words]


@final
@dataclass(frozen=True, slots=True)
class Written:
    """The text of a bag, or the reason why there is none.

    Attributes:
        text: None where nothing came that may be passed on.
        source: what the text stands on: a place in a public corpus, a model.
        fault: why there is no text.

    """

    text: str | None
    source: Mapping[str, Any]
    fault: str | None = None


class AbstractTextWriter(ABC):
    """Makes a text of a released bag. Its process is shown the release and public things, and can open nothing else."""

    name: str
    """What each line says of who wrote it."""

    note: str
    """What each line says of the text."""

    at_once: int = 1
    """How many bags it takes at the same time, in threads."""

    def __init__(self, seen: WriterInput) -> None:
        """Learn what is to be learned from public things; typed errors where something is missing."""
        self.seen = seen
        self.sending: Callable[[Mapping[str, Any]], None] = _ignored
        """Told of everything that is sent to another process, before it is."""

    @abstractmethod
    def write(self, released: ReleasedBag) -> Written:
        """A text for one bag."""

    def stop(self) -> None:  # noqa: B027  # most have nothing to stop
        """The run ends: what is being written need not be finished."""


def length_said(writer: str, usual: int) -> int:
    """The length of n-grams in a writer's name such as ``ngram:2``; ``usual`` where it says none."""
    name, _, said = writer.partition(":")
    if said and not (said.isdecimal() and int(said)):
        raise UsageError(f"the length of n-grams is a number from 1, not {said!r:.20}: say {name}:{usual}")
    return int(said) if said else usual


def _ignored(record: Mapping[str, Any]) -> None:
    pass


def imported(name: str) -> type[AbstractTextWriter]:
    """The class at ``python:package.module:Class``; importing it runs its code, as the user asks for."""
    found = object_at(name)
    if not (isinstance(found, type) and issubclass(found, AbstractTextWriter)):
        raise PolicyError(
            f"{name} is no writer: derive the class from publius.releases.writing.writer.AbstractTextWriter"
        )
    if inspect.isabstract(found):
        raise PolicyError(f"{name} does not define {', '.join(sorted(found.__abstractmethods__))}")
    if not isinstance(getattr(found, "note", None), str):
        raise PolicyError(f"{name} has no note: say in the class what its texts are")
    return found
