"""Classifiers in folders: ``meta.json`` and arrays of numbers, with digests; and the catalogue of those that are stored.

A folder holds what decides a classifier's answers and nothing else: words, arrays (``allow_pickle=False``), and what is
said of it. Stored ones lie in ``$PUBLIUS_HOME/classifiers``.
"""

from __future__ import annotations

import hashlib
import io
from abc import abstractmethod
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Literal, Self

import msgspec
import numpy as np

from publius.classifiers.classifier import Classifier
from publius.embeddings.catalogue import NAME, Shelf, owned_store
from publius.errors import AnyPath, DataError, UsageError, shown
from publius.files.reading import file_sha256, read_bytes_limited
from publius.files.user_code import PYTHON
from publius.files.writing import new_folder, write_file

if TYPE_CHECKING:
    from publius.classifiers.encoder import Encoder

VERSION: Final = 1
META: Final = "meta.json"
_LARGEST: Final = 2**31
_AGAIN: Final = "remove the folder and train the classifier again"
PARTS: Final = "classifier"
"""The folder of a summary that holds a classifier for each of its groups."""
Arrays = Mapping[str, np.ndarray[Any, np.dtype[Any]]]


class Meta(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What stands in ``meta.json``.

    Attributes:
        vocabulary: the words that are looked up.
        words: public words of each label, the most typical first.
        settings: further plain facts that decide the answers.
        encoder: name and digest of the encoder beside the words; None for words alone.
        arrays: the digest of each array's file.
    """

    format: Literal["publius-classifier"] = "publius-classifier"
    version: int = VERSION
    kind: Literal["topics", "clusters", "summary"]
    name: str
    labels: tuple[str, ...]
    vocabulary: tuple[str, ...]
    words: tuple[tuple[str, ...], ...] = ()
    settings: dict[str, str | int | float | bool | None] = {}
    encoder: dict[str, str] | None = None
    trained: str | None = None
    accuracy: dict[str, Any] | None = None
    public: tuple[dict[str, str | None], ...] = ()
    trained_on: tuple[str, ...] = ()
    arrays: dict[str, str] = {}

    @property
    def sha256(self) -> str:
        """The digest of what decides the answers and the words of labels; not of its name, date and accuracy."""
        decides = [self.kind, self.labels, self.vocabulary, self.words, self.settings, self.encoder, self.arrays]
        return hashlib.sha256(msgspec.json.encode(decides, order="sorted")).hexdigest()


class StoredClassifier(Classifier):
    """A classifier that is made of a record and arrays, and can be saved."""

    def __init__(self, meta: Meta, arrays: Arrays) -> None:
        from publius.classifiers.encoder import encoder_of
        from publius.classifiers.features import Features

        self.arrays = {name: np.ascontiguousarray(array) for name, array in arrays.items()}
        digests = {name: hashlib.sha256(_bytes(array)).hexdigest() for name, array in self.arrays.items()}
        self.meta = msgspec.structs.replace(meta, arrays=dict(sorted(digests.items())))
        self.name, self.labels, self.accuracy = meta.name, meta.labels, meta.accuracy
        self.trained_on, self.sha256 = meta.trained_on, self.meta.sha256
        own = {"name": meta.name, "kind": "classifier", "sha256": self.sha256, "licence": None, "trained": meta.trained}
        self.public = (own, *meta.public)
        self.features = Features(meta.vocabulary, self.arrays["idf"], encoder_of(meta.encoder))
        self._prepare()

    @abstractmethod
    def _prepare(self) -> None:
        """Set what answering needs from ``arrays``; `KeyError` or `ValueError` where they do not fit."""

    def words(self, label: str) -> tuple[str, ...]:
        """See `Classifier.words`."""
        return dict(zip(self.labels, self.meta.words, strict=False)).get(label, ())

    def known(self, text: str) -> tuple[int, int]:
        """See `Classifier.known`."""
        return self.features.known(text)

    def save(self, folder: AnyPath) -> None:
        """Write it into a new folder, whole or not at all."""
        with new_folder(folder) as temporary:
            self.write(temporary)

    def write(self, folder: Path) -> None:
        """Write its files into a folder that is there."""
        for name, array in self.arrays.items():
            with write_file(folder / f"{name}.npy") as file:
                file.write(_bytes(array))
        with write_file(folder / META) as file:
            file.write(msgspec.json.format(msgspec.json.encode(self.meta), indent=1) + b"\n")

    def __reduce__(self) -> tuple[type[Self], tuple[Meta, Arrays]]:
        return type(self), (self.meta, self.arrays)


class _Summary(msgspec.Struct):
    """What is read of the manifest of a summary."""

    files: dict[str, str]


def _as_drawn(place: Path) -> None:
    """`DataError` where a summary's manifest names other files than lie in this folder of it."""
    top = place.parent.parent
    if place.parent.name != PARTS or not (top / "manifest.json").is_file():
        return
    try:
        files = msgspec.json.decode(read_bytes_limited(top / "manifest.json"), type=_Summary).files
    except msgspec.MsgspecError:
        raise DataError(f"{shown(top)} is no summary of this Publius") from None
    if any(files.get(each.relative_to(top).as_posix()) != file_sha256(each) for each in place.iterdir()):
        raise DataError(f"{shown(place)} is not as the summary was drawn: it was changed")


def read_folder(folder: AnyPath, *, own: bool = False) -> Classifier:
    """The classifier in a folder; `DataError` where a part is missing, changed or not one of ours.

    Code that the folder names is imported from the curator's ``own`` store alone, else where somebody named it before.
    """
    from publius.classifiers.encoder import check_named

    place = Path(folder)
    _as_drawn(place.resolve())
    try:
        meta = msgspec.json.decode(read_bytes_limited(place / META, _LARGEST), type=Meta)
    except msgspec.MsgspecError as error:
        raise DataError(f"{shown(place / META)} is no classifier of this Publius ({error}): {_AGAIN}") from None
    if meta.encoder is not None and not own:
        check_named(meta.encoder.get("name", ""))
    arrays = {}
    for name, digest in meta.arrays.items():
        path = place / f"{name}.npy"
        content = read_bytes_limited(path, _LARGEST) if NAME.fullmatch(name) else b""
        if hashlib.sha256(content).hexdigest() != digest:
            raise DataError(f"{shown(path)} was changed since the classifier was made: {_AGAIN}")
        try:
            arrays[name] = np.load(io.BytesIO(content), allow_pickle=False)
        except (ValueError, EOFError):
            raise DataError(f"{shown(path)} holds no array: {_AGAIN}") from None
    try:
        return _kinds()[meta.kind](meta, arrays)
    except (KeyError, ValueError, IndexError) as error:
        if isinstance(error, UsageError | DataError):
            raise
        raise DataError(f"the arrays in {shown(place)} do not belong together: {_AGAIN}") from None


def load_classifier(name: AnyPath) -> Classifier:
    """A classifier by its stored name, the folder it was saved in, the folder of a summary, or ``python:MODULE:NAME``.

    ``subjects`` are those of the packaged word vectors. `UsageError` where there is none, or a summary has several:
    name one as SUMMARY/classifier/FIELD.
    """
    if str(name).startswith(PYTHON):
        from publius.classifiers.python import Python

        return Python(str(name))
    if isinstance(name, str) and is_stored(name):
        return read_folder(SHELF.folder(name), own=True)
    if name == "subjects":
        from publius.classifiers.subjects import Subjects

        return Subjects()
    folder = Path(name)
    if (folder / META).is_file():
        return read_folder(folder)
    parts = sorted(each.parent for each in (folder / PARTS).glob(f"*/{META}"))
    if len(parts) == 1:
        return read_folder(parts[0])
    if parts:
        raise UsageError(f"this summary holds several classifiers, choose one: {', '.join(map(shown, parts))}")
    stored = ", ".join(stored_classifiers()) or "none yet"
    raise UsageError(
        f"no classifier is called {str(name)!r:.100}, and no folder holds one. Stored: {stored}. Train one on public "
        "texts: publius models train PUBLIC --label topic --name NAME"
    )


SHELF: Final = Shelf("classifiers", ("subjects",), META)
is_stored, stored_classifiers, free_name = SHELF.holds, SHELF.names, SHELF.new


def store(classifier: StoredClassifier) -> Path:
    """Keep it under its name, for its owner alone."""
    folder = free_name(classifier.name)
    owned_store(folder)
    classifier.save(folder)
    return folder


def _kinds() -> dict[str, type[StoredClassifier]]:
    from publius.classifiers.clusters import Clusters
    from publius.classifiers.summary import SummaryClassifier
    from publius.classifiers.topics import TopicClassifier

    return {"topics": TopicClassifier, "clusters": Clusters, "summary": SummaryClassifier}


def _bytes(array: np.ndarray[Any, np.dtype[Any]]) -> bytes:
    stream = io.BytesIO()
    np.lib.format.write_array(stream, array, version=(1, 0), allow_pickle=False)
    return stream.getvalue()


def taught(name: str, encoder: Encoder | None, trained_on: Sequence[str]) -> dict[str, Any]:
    """What `Meta` says of any classifier that was trained now."""
    return {
        "name": name, "encoder": None if encoder is None else encoder.about(), "trained_on": tuple(trained_on),
        "trained": datetime.now(UTC).date().isoformat(), "public": () if encoder is None else (encoder.public,),
    }  # fmt: skip


def checked_texts(texts: Sequence[str], labels: Sequence[Any] | None, authors: Sequence[Any] | None) -> None:
    """`DataError` unless there are as many of each."""
    for others, what in ((labels, "labels"), (authors, "authors")):
        if others is not None and len(others) != len(texts):
            raise DataError(f"{len(texts):,} public texts and {len(others):,} {what}: give one for each text")
