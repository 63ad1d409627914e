"""Classifiers in folders, ``meta.json`` and arrays of numbers with digests, and those in ``$PUBLIUS_HOME/classifiers``."""

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
from numpy.typing import NDArray

from publius.arrays import Float64Array
from publius.classifiers.classifier import Classifier, Python
from publius.classifiers.features import meaning, public_input, weighted
from publius.embeddings.catalogue import NAME, Shelf, owned_store
from publius.errors import AnyPath, DataError, UsageError, shown
from publius.files.reading import file_sha256, read_bytes_limited
from publius.files.user_code import PYTHON
from publius.files.writing import new_folder, write_file
from publius.text.known_words import count_matrix

if TYPE_CHECKING:
    from publius.classifiers.encoder import Encoder

META: Final = "meta.json"
_LARGEST: Final = 2**31
_AGAIN: Final = "remove the folder and train the classifier again"
PARTS: Final = "classifier"  # the folder of a summary that holds a classifier for each of its groups
Arrays = Mapping[str, np.ndarray[Any, np.dtype[Any]]]


class Meta(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What stands in ``meta.json``."""

    format: Literal["publius-classifier"] = "publius-classifier"
    version: int = 1
    kind: Literal["topics", "clusters", "summary"]
    name: str
    labels: tuple[str, ...]
    vocabulary: tuple[str, ...]  # the words that are looked up
    words: tuple[tuple[str, ...], ...] = ()  # public ones of each label, the most typical first
    settings: dict[str, str | int | float | bool | None] = {}  # further plain facts that decide the answers
    encoder: dict[str, str] | None = None  # name and digest of that beside the words; None for words alone
    trained: str | None = None
    accuracy: dict[str, Any] | None = None
    public: tuple[dict[str, str | None], ...] = ()
    trained_on: tuple[str, ...] = ()
    arrays: dict[str, str] = {}  # the digest of each array's file

    @property
    def sha256(self) -> str:
        """The digest of what decides the answers and the words of labels; not of its name, date and accuracy."""
        decides = [self.kind, self.labels, self.vocabulary, self.words, self.settings, self.encoder, self.arrays]
        return hashlib.sha256(msgspec.json.encode(decides, order="sorted")).hexdigest()


class StoredClassifier(Classifier):
    """A classifier that is made of a record and arrays, and can be saved."""

    vocabulary: tuple[str, ...]

    def __init__(self, meta: Meta, arrays: Arrays) -> None:
        from publius.classifiers.encoder import encoder_of

        self.arrays = {name: np.ascontiguousarray(array) for name, array in arrays.items()}
        digests = {name: hashlib.sha256(_bytes(array)).hexdigest() for name, array in self.arrays.items()}
        self.meta = msgspec.structs.replace(meta, arrays=dict(sorted(digests.items())))
        self.name, self.labels, self.accuracy, self._words = meta.name, meta.labels, meta.accuracy, meta.words
        self.vocabulary, self.trained_on, self.sha256 = meta.vocabulary, meta.trained_on, self.meta.sha256
        self.public = (public_input(meta.name, self.sha256, trained=meta.trained), *meta.public)
        self.encoder = encoder_of(meta.encoder)
        if len(self.arrays["idf"]) != len(self.vocabulary):
            raise ValueError("a weight for each word")
        self._prepare()

    @classmethod
    def taught(cls, arrays: Arrays, encoder: Encoder | None, **said: Any) -> Self:
        """One that was trained now; what else `Meta` says of it."""
        if encoder is not None:
            said |= {"encoder": {"name": encoder.name, "sha256": encoder.sha256}, "public": (encoder.public,)}
        return cls(Meta(trained=datetime.now(UTC).date().isoformat(), **said), arrays)

    @abstractmethod
    def _prepare(self) -> None:
        """Set what answering needs from ``arrays``; `KeyError` or `ValueError` where they do not fit."""

    def read(self, texts: Sequence[str]) -> tuple[Any, Float64Array, NDArray[np.bool_]]:
        """TF-IDF of texts (CSR), their meaning, and which can be read: by a known word, an encoder by any letter or digit."""
        words = weighted(count_matrix(texts, self.vocabulary, stop_words="none"), self.arrays["idf"])
        readable = np.diff(words.indptr) > 0
        if self.encoder is not None:
            readable |= np.array([any(map(str.isalnum, text)) for text in texts], np.bool_)
        return words, meaning(texts, self.encoder), readable

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
    from publius.classifiers.clusters import Clusters, SummaryClassifier
    from publius.classifiers.encoder import check_named
    from publius.classifiers.topics import TopicClassifier

    place = Path(folder)
    _as_drawn(place.resolve())
    try:
        meta = msgspec.json.decode(read_bytes_limited(place / META, _LARGEST), type=Meta)
    except msgspec.MsgspecError as error:
        raise DataError(f"{shown(place / META)} is no classifier of this Publius ({error}): {_AGAIN}") from None
    if meta.encoder is not None and not own:
        check_named(meta.encoder.get("name", ""))
    kinds: dict[str, type[StoredClassifier]] = {
        "topics": TopicClassifier, "clusters": Clusters, "summary": SummaryClassifier,
    }  # fmt: skip
    arrays = {}
    try:
        for name, digest in meta.arrays.items():
            path = place / f"{name}.npy"
            content = read_bytes_limited(path, _LARGEST) if NAME.fullmatch(name) else b""
            if hashlib.sha256(content).hexdigest() != digest:
                raise DataError(f"{shown(path)} was changed since the classifier was made: {_AGAIN}")
            arrays[name] = np.load(io.BytesIO(content), allow_pickle=False)
        return kinds[meta.kind](meta, arrays)
    except (UsageError, DataError):
        raise
    except (KeyError, ValueError, IndexError, EOFError):
        raise DataError(f"the arrays in {shown(place)} do not belong together: {_AGAIN}") from None


def load_classifier(name: AnyPath) -> Classifier:
    """A classifier by its stored name, the folder it was saved in, the folder of a summary, or ``python:MODULE:NAME``.

    ``subjects`` are those of the packaged word vectors. `UsageError` where there is none, or a summary has several:
    name one as SUMMARY/classifier/FIELD.
    """
    if str(name).startswith(PYTHON):
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


def _bytes(array: np.ndarray[Any, np.dtype[Any]]) -> bytes:
    stream = io.BytesIO()
    np.lib.format.write_array(stream, array, version=(1, 0), allow_pickle=False)
    return stream.getvalue()
