"""`Reference`, which document mechanisms stand on, learned from *public* texts alone, and its store.

A reference says where a document lies (the mean of the features of its words) and what may come out instead of it (its
prototypes and their public words). A release names it by its digest. Stored it is a folder with plain arrays that are
memory-mapped, words and a record.
"""

from __future__ import annotations

import functools
import hashlib
import json
import os
import shutil
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, fields
from pathlib import Path
from types import MappingProxyType
from typing import Any, Final, final

import numpy as np

from publius.arrays import Float64Array
from publius.errors import DataError, EmbeddingError, PolicyError, PubliusError, StorageError, UsageError
from publius.files import (
    AnyPath,
    new_folder,
    os_errors,
    read_bytes_limited,
    shown,
    temporary_name,
    write_file,
)
from publius.text.tokenizer import PROFILES
from publius.vectors.admissible import UNKNOWN, surely_words, word_fault
from publius.vectors.catalogue import NAME, check_name, owned_store, store_root
from publius.vectors.embeddings import Embeddings
from publius.vectors.learning.prototypes import THEMES, Aspect, Prototypes, Rule
from publius.vectors.learning.public_counts import PublicCounts
from publius.vectors.store import mapped_array

VERSION: Final = 1
_RECORD: Final = "reference.json"
_WORDS: Final = "words.txt"
_TEXTS: Final = "texts.json"
_SUBJECT_WORDS: Final = "subjects.txt"
_RECORD_LIMIT: Final = 2**24
_WORDS_LIMIT: Final = 2**28
_AGAIN: Final = "remove the folder and fit the reference again"


@final
@dataclass(frozen=True, eq=False, repr=False)
class Reference:
    """Public words, their features, and prototypes for each `Aspect`.

    Attributes:
        name: under which it is stored.
        vocabulary: the V words, for the documents that come in and the bags that go out.
        background: how likely each word is in the public texts, shape (V,), sums to 1.
        aspects: by name.
        tokenizer: the profile of `text` by which words are cut.
        stop_words: name of the list of words left out.
        source: provenance: what it was learned from, the choices made and what they scored.
        counted: what summaries need beside; None where it was made before there were such, or of too few texts.
        folder: the store it is mapped from; None when it is in memory.
    """

    name: str
    vocabulary: tuple[str, ...]
    background: Float64Array
    aspects: Mapping[str, Aspect]
    tokenizer: str
    stop_words: str
    source: Mapping[str, Any]
    counted: PublicCounts | None = None
    folder: Path | None = None
    _known_sha256: str | None = field(default=None)

    def __post_init__(self) -> None:
        """Refuse what does not fit together: `DataError`."""
        v = len(self.vocabulary)
        if not self.aspects or any(len(aspect.features) != v + 1 for aspect in self.aspects.values()):
            raise DataError(f"every aspect of a reference of {v} words needs {v + 1} rows of features")
        if self.background.shape != (v,) or not (self.background > 0).all():
            raise DataError("every word of a reference needs a positive share of the public text")

    @classmethod
    def load(cls, name_or_path: str | Path) -> Reference:
        """A stored reference by name or path, or ``themes``, made from the default vectors at first use.

        `UsageError` when there is none; `EmbeddingError` when it is damaged.
        """
        if name_or_path == THEMES and not is_stored_reference(THEMES):
            return _themes()
        return open_named(name_or_path)

    @property
    def size(self) -> int:
        """V, the number of words."""
        return len(self.vocabulary)

    @property
    def unknown_index(self) -> int:
        """The index V, where unknown words and the empty document stand: a public point, no word."""
        return self.size

    @property
    def keeps(self) -> tuple[str, ...]:
        """The names of the aspects."""
        return tuple(self.aspects)

    def aspect(self, name: str) -> Aspect:
        """The aspect called ``name``; `UsageError` where the reference has none."""
        if name not in self.aspects:
            raise UsageError(
                f"the reference {self.name!r} can keep {' and '.join(self.keeps)}, not {name!r:.40}: fit another, with "
                "--label to keep topics, with --features embedding to keep the meaning"
            )
        return self.aspects[name]

    @functools.cached_property
    def places(self) -> Mapping[str, int]:
        """The position of each word in the vocabulary, from 0."""
        found = {word: index for index, word in enumerate(self.vocabulary)}
        if len(found) != self.size:
            raise EmbeddingError(f"the reference {self.name!r} has a word twice: fit it again")
        return found

    def index(self, word: str) -> int | None:
        """The position of ``word`` in the vocabulary, from 0; None when it is not there."""
        return self.places.get(word)

    def __contains__(self, word: object) -> bool:
        return word in self.places

    def __len__(self) -> int:
        return self.size

    @functools.cached_property
    def sha256(self) -> str:
        """The digest that identifies words, features and prototypes; see `digest`."""
        return self._known_sha256 or digest(self)

    def save(self, folder: str | Path) -> Reference:
        """Store in a new or empty folder, whole or not at all, and open what was stored."""
        write_reference(folder, self)
        return open_reference(folder)

    def verify(self) -> None:
        """Read every byte again and compare with the digest; `EmbeddingError` when it is another."""
        if digest(self) != self.sha256:
            raise EmbeddingError(
                f"the digest of the reference {self.name!r} does not match: it was changed or the disk fails; "
                "remove it and fit it again"
            )

    def check_learned_elsewhere(self, corpus_sha256: str) -> None:
        """Refuse to protect the very texts it was learned from, where their digest tells: `PolicyError` (R29)."""
        if corpus_sha256 == self.source.get("corpus_sha256"):
            raise PolicyError(
                f"the reference {self.name!r} was learned from these very documents, so it tells of them: fit one on "
                "public texts that are not to be released"
            )

    def arrays(self) -> Iterator[tuple[str, np.ndarray[Any, Any]]]:
        """Every array by the name it is stored under, in a fixed order."""
        yield "background", self.background
        for aspect in self.aspects.values():
            yield f"{aspect.name}.features", aspect.features
            yield f"{aspect.name}.box", np.stack([aspect.low, aspect.high])
            for found in aspect.sets:
                yield f"{aspect.name}.{found.size}.points", found.points
                yield f"{aspect.name}.{found.size}.words", found.words
                yield f"{aspect.name}.{found.size}.weights", found.weights
        if self.counted is not None:
            yield from self.counted.arrays(self.places)

    def __repr__(self) -> str:
        return f"Reference({self.name!r}, size={self.size}, keeps={self.keeps})"

    def __reduce__(self) -> tuple[Callable[..., Reference], tuple[Any, ...]]:
        if self.folder is not None:
            return _reopened, (str(self.folder), self.sha256)
        facts = {each.name: getattr(self, each.name) for each in fields(self) if each.init}
        return _received, ({**facts, "aspects": dict(self.aspects), "source": dict(self.source)},)


def _reopened(folder: str, sha256: str) -> Reference:
    reference = open_reference(folder)
    if reference.sha256 != sha256:
        raise EmbeddingError(f"the reference in {folder!r} was replaced while it was in use: start again")
    return reference


def _received(facts: dict[str, Any]) -> Reference:
    proxies = {key: MappingProxyType(facts[key]) for key in ("aspects", "source")}
    return Reference(**{**facts, **proxies})


def references_root() -> Path:
    """Where references are stored: beside the embeddings."""
    return store_root().parent / "references"


def is_stored_reference(name: str) -> bool:
    """Whether there is something stored under this name, be it damaged."""
    return os.path.lexists(references_root() / check_name(name))


def new_reference_folder(name: str) -> Path:
    """Where a reference that is to be called ``name`` goes; `UsageError` when the name is taken or not allowed."""
    if name == THEMES:
        raise UsageError("'themes' is the name of the reference that comes with Publius: choose another")
    folder = references_root() / check_name(name)
    if is_stored_reference(name):
        raise name_taken(name)
    return folder


def name_taken(name: str) -> UsageError:
    """For a name under which another reference is stored."""
    return UsageError(
        f"a reference called {name!r} is stored: choose another name, or remove it with: publius reference remove "
        f"{name}"
    )


def remove_reference(name: str) -> None:
    """Remove a stored reference with everything that it keeps of its texts, damaged or not.

    `UsageError` where none is stored under this name, `StorageError` where it cannot be removed.
    """
    if name == THEMES:
        raise UsageError(
            "'themes' comes with Publius and tells of nobody's texts: there is nothing to remove"
        )
    known = ", ".join(stored_reference_names()) or "none"
    if Path(name).name != name or not NAME.fullmatch(name) or not is_stored_reference(name):
        raise UsageError(f"no reference of this name is stored: known are {known}")
    folder = references_root() / name
    with os_errors("remove the reference", folder):
        if folder.is_symlink() or not folder.is_dir():
            folder.unlink()  # what a link leads to is somebody else's
            return
        gone = temporary_name(folder.parent)
        folder.rename(gone)  # whole or not at all, whatever happens on the way
        shutil.rmtree(gone)


def stored_reference_names() -> list[str]:
    """The names of the stored references, sorted; what is being stored or removed has a name that none can have."""
    root = references_root()
    with os_errors("read the folder", root):
        found = [path for path in root.iterdir() if path.is_dir()] if root.is_dir() else []
    return sorted(path.name for path in found if not path.name.startswith("."))


def open_named(name_or_path: AnyPath) -> Reference:
    """The reference stored under a name, or in a folder; `UsageError` where there is none."""
    given = os.fspath(name_or_path)
    plain = isinstance(name_or_path, str) and Path(given).name == given
    if plain and given not in (".", "..") and is_stored_reference(given):
        folder = references_root() / given
        if folder.is_symlink():
            raise EmbeddingError(f"{shown(folder)} is a link: give the path that it leads to instead")
        return open_reference(folder)
    if not plain and Path(given).is_dir():  # what lies beside the documents is not taken for what is stored
        return open_reference(given)
    known = ", ".join([THEMES, *stored_reference_names()])
    raise UsageError(
        f"no reference is called {given!r:.120}: known are {known}; make one from public texts with: "
        "publius reference fit PUBLIC --label topic --name NAME"
        + (f". A folder is named by its path: ./{given:.120}" if plain else "")
    )


def digest(reference: Reference) -> str:
    """The SHA-256 that identifies a reference: its public decisions, its words and every array.

    Over ``publius/reference/v1`` and a zero byte, the record of `_decisions` as sorted JSON and a zero byte, the
    words each with a newline, and each array's name, shape and little-endian bytes in the order of
    `Reference.arrays`. The record says how the words were counted, too, where that is known. Where else it came from
    is not part of it.
    """
    state = hashlib.sha256(b"publius/reference/v1\0")
    decisions = _decisions(reference)
    if "public_words" in reference.source:  # references of before have none
        decisions["public_words"] = reference.source["public_words"]
    state.update(json.dumps(decisions, sort_keys=True, ensure_ascii=False).encode() + b"\0")
    state.update("".join(f"{word}\n" for word in reference.vocabulary).encode())
    for name, array in reference.arrays():
        state.update(f"{name}{array.shape}".encode())
        state.update(np.ascontiguousarray(array, _stored_type(array)).data)
    return state.hexdigest()


def _stored_type(array: np.ndarray[Any, Any]) -> np.dtype[Any]:
    return np.dtype("<f8") if array.dtype.kind == "f" else np.dtype("<i8")


def _decisions(reference: Reference) -> dict[str, Any]:
    counted = {} if reference.counted is None else {"counted": _counted(reference.counted)}
    return {
        **counted,
        "tokenizer": reference.tokenizer,
        "stop_words": reference.stop_words,
        "aspects": [
            {
                "name": aspect.name,
                "kind": aspect.kind,
                "rule": aspect.rule,
                "lipschitz": aspect.lipschitz,
                "sets": [
                    {
                        "size": found.size,
                        "labels": list(found.labels),
                        "margin": found.margin,
                        "quality": found.quality,
                        **({} if found.farthest is None else {"farthest": dict(found.farthest)}),
                    }
                    for found in aspect.sets
                ],
            }
            for aspect in reference.aspects.values()
        ],
    }


def _counted(counted: PublicCounts) -> dict[str, Any]:
    words = () if counted.subjects is None else counted.subjects.vocabulary
    return {**counted.facts(), "words_sha256": hashlib.sha256("\n".join(words).encode()).hexdigest()}


def write_reference(folder: AnyPath, reference: Reference) -> None:
    """Store a reference, whole or not at all, for its owner alone: to publish it is a decision of its own.

    `UsageError` when ``folder`` is there and not empty.
    """
    record = {
        "format": "publius-reference",
        "version": VERSION,
        "name": check_name(reference.name),
        "sha256": reference.sha256,
        "size": reference.size,
        **_decisions(reference),
        "source": dict(reference.source),
    }
    with new_folder(folder, owner_only=owned_store(folder)) as temporary:
        for name, array in reference.arrays():
            with open(temporary / f"{name}.npy", "wb") as stream:
                plain = np.ascontiguousarray(array, _stored_type(array))
                np.lib.format.write_array_header_1_0(stream, np.lib.format.header_data_from_array_1_0(plain))
                stream.write(plain.tobytes())
        (temporary / _WORDS).write_bytes("".join(f"{word}\n" for word in reference.vocabulary).encode())
        if reference.counted is not None and reference.counted.subjects is not None:
            words = reference.counted.subjects.vocabulary
            (temporary / _SUBJECT_WORDS).write_bytes("".join(f"{word}\n" for word in words).encode())
        text = json.dumps(record, ensure_ascii=False, allow_nan=False, indent=1)
        (temporary / _RECORD).write_text(text + "\n", encoding="utf-8")


def read_reference_record(folder: AnyPath) -> dict[str, Any]:
    """The record of a stored reference; `EmbeddingError` when it is missing or malformed."""
    path = Path(folder, _RECORD)
    if path.is_symlink() or not path.is_file():
        raise EmbeddingError(f"{shown(folder)} is not a reference of Publius: it has no {_RECORD}")
    try:
        record = json.loads(read_bytes_limited(path, _RECORD_LIMIT))
    except (ValueError, RecursionError) as error:
        if isinstance(error, PubliusError):
            raise
        raise EmbeddingError(f"{shown(path)} is not JSON: {_AGAIN}") from None
    if not isinstance(record, dict) or record.get("format") != "publius-reference":
        raise EmbeddingError(f"{shown(path)} does not describe a reference of Publius: {_AGAIN}")
    if record.get("version") != VERSION:
        raise EmbeddingError(
            f"{shown(path)}: version {record.get('version')!r:.20}; this Publius reads {VERSION}: {_AGAIN}"
        )
    return record


def remember_texts(folder: AnyPath, texts: Path, text_field: str) -> None:
    """Note beside a stored reference where its public texts lie on this machine; no part of the reference."""
    record = json.dumps({"path": os.path.abspath(texts), "text_field": text_field}, ensure_ascii=False)
    with write_file(Path(folder, _TEXTS), 0o600) as file:
        file.write(record.encode("utf-8", "surrogateescape") + b"\n")


def parts_of(folder: AnyPath) -> list[Path]:
    """The files of a stored reference, without the note of where its texts lie on this machine."""
    return [path for path in sorted(Path(folder).iterdir()) if path.name != _TEXTS]


def remember_lasting_texts(texts: Path, sha256: str, text_field: str) -> None:
    """The same for every stored reference that was learned from these very texts at a place where none are now."""
    for name in stored_reference_names():
        folder = references_root() / name
        with suppress(PubliusError, KeyError, TypeError):
            before = remembered_texts(folder)
            learned_from = read_reference_record(folder)["source"].get("corpus_sha256")
            if before is not None and not before[0].exists() and learned_from == sha256:
                remember_texts(folder, texts, text_field)


def remembered_texts(folder: AnyPath) -> tuple[Path, str] | None:
    """Where the public texts of a stored reference lay, and their text field; None where nobody noted it."""
    path = Path(folder, _TEXTS)
    try:
        record = json.loads(read_bytes_limited(path, _RECORD_LIMIT).decode("utf-8", "surrogateescape"))
        return Path(record["path"]), str(record["text_field"])
    except (StorageError, ValueError, KeyError, TypeError):
        return None


def open_reference(folder: AnyPath) -> Reference:
    """The reference in ``folder``, memory-mapped; `EmbeddingError` when a part is missing or does not fit.

    Every byte is read and the digest compared with the recorded one: a release states it for what was drawn from.
    """
    place = Path(folder)
    record = read_reference_record(place)
    try:
        found = _opened(place, record)
        _check_digest(found)
        return found
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        reason = str(error) if isinstance(error, PubliusError) else "a part is missing or malformed"
        raise EmbeddingError(f"{shown(place)}: {reason}: {_AGAIN}") from None


def _check_digest(reference: Reference) -> None:
    """`EmbeddingError` where the arrays, words or decisions are not those that the digest was recorded for."""
    if digest(reference) != reference.sha256:
        raise EmbeddingError("the digest does not match: a number, a word or the record was changed")


def _opened(place: Path, record: Mapping[str, Any]) -> Reference:
    words = _words(place / _WORDS, int(record["size"]))
    if record["tokenizer"] not in PROFILES:
        raise EmbeddingError("its tokenizer is not known to this Publius")
    aspects = {}
    for facts in record["aspects"]:
        name = check_name(facts["name"])
        low, high = _array(place, f"{name}.box", "<f8", 2)
        sets = tuple(_prototypes(place, name, found) for found in facts["sets"])
        features = _array(place, f"{name}.features", "<f8", 2)
        if facts["rule"] not in ("nearest", "cosine") or float(facts["lipschitz"]) != 1.0:
            raise EmbeddingError("a rule or a constant is not known to this Publius")
        aspects[name] = Aspect(name, str(facts["kind"]), features, facts["rule"], low, high, sets)
    return Reference(
        name=check_name(record["name"]),
        vocabulary=words,
        background=_array(place, "background", "<f8", 1),
        aspects=MappingProxyType(aspects),
        tokenizer=record["tokenizer"],
        stop_words=str(record["stop_words"]),
        source=MappingProxyType(dict(record["source"])),
        counted=_counts(place, record, words),
        folder=place.resolve(),
        _known_sha256=str(record["sha256"]),
    )


def _counts(place: Path, record: Mapping[str, Any], words: Sequence[str]) -> PublicCounts | None:
    """What summaries need; None in references of before."""
    facts = record.get("counted")
    if facts is None:
        return None
    has_subjects = facts["subjects"] is not None
    names = _COUNTED if has_subjects else tuple(name for name in _COUNTED if name not in _OF_SUBJECTS)
    found = {f"counted.{name}": _array(place, f"counted.{name}", *_COUNTED[name]) for name in names}
    size = len(found["counted.members"]) if has_subjects else 0
    return PublicCounts.of_arrays(
        facts, found, words, _words(place / _SUBJECT_WORDS, size) if has_subjects else ()
    )


_COUNTED: Final = MappingProxyType(
    {
        "vocabulary": ("<i8", 1), "rarity": ("<f8", 1), "axes": ("<f8", 2), "centres": ("<f8", 2), "words": ("<f8", 2),
        "holding": ("<f8", 2), "documents": ("<i8", 1), "members": ("<i8", 1), "weights": ("<f8", 1),
        "subjects": ("<i8", 1),
    }
)  # fmt: skip
_OF_SUBJECTS: Final = ("members", "weights", "subjects")


def _prototypes(place: Path, aspect: str, facts: Mapping[str, Any]) -> Prototypes:
    start = f"{aspect}.{int(facts['size'])}"
    points = _array(place, f"{start}.points", "<f8", 2)
    if len(points) != int(facts["size"]):
        raise EmbeddingError("the number of prototypes is not as recorded")
    return Prototypes(
        points,
        tuple(str(label) for label in facts["labels"]),
        _array(place, f"{start}.words", "<i8", 2),
        _array(place, f"{start}.weights", "<i8", 2),
        float(facts["margin"]),
        float(facts["quality"]),
        _farthest(facts),
    )


def _farthest(facts: Mapping[str, Any]) -> Mapping[Rule, float] | None:
    """How far documents may be from prototypes; None in references of before, and where there were no texts."""
    found = facts.get("farthest")
    return None if found is None else {rule: float(gap) for rule, gap in found.items()}


def _array(place: Path, name: str, kind: str, dimensions: int) -> np.ndarray[Any, Any]:
    path = place / f"{name}.npy"
    if path.is_symlink() or not path.is_file():
        raise EmbeddingError(f"{path.name} is missing")
    array = mapped_array(path)
    if (
        array is None
        or array.dtype != np.dtype(kind)
        or array.ndim != dimensions
        or not array.flags.c_contiguous
    ):
        raise EmbeddingError(f"{path.name} is not the array it should be")
    return np.asarray(array)


def _words(path: Path, size: int) -> tuple[str, ...]:
    if path.is_symlink() or not path.is_file():
        raise EmbeddingError(f"{path.name} is missing")
    words, rest, admitted = _read_words(read_bytes_limited(path, _WORDS_LIMIT))
    if rest or len(words) != size:
        raise EmbeddingError(f"{path.name} has not the recorded number of words")
    if not admitted:
        raise EmbeddingError(f"{path.name} holds a word that is not admitted")
    return words


@functools.lru_cache(maxsize=8)
def _read_words(content: bytes) -> tuple[tuple[str, ...], str, bool]:
    """The lines of a file, what stands after the last, and whether all may be words: looked over once a content."""
    text = content.decode()
    *words, rest = text.split("\n")
    admitted = surely_words(text, words) or not any(word_fault(word) for word in words)
    return tuple(words), rest, admitted and UNKNOWN not in words


def _themes() -> Reference:
    """The stored themes of the default vectors, made now where there are none yet."""
    from publius.vectors.learning.themes import place_of

    embeddings = Embeddings.load()
    folder = place_of(embeddings)
    if is_stored_reference(folder.name) or folder.is_dir():
        return open_reference(folder)
    made = make_themes(embeddings)
    try:
        return made.save(folder)
    except (StorageError, UsageError):  # no place to write, or another process was quicker: memory will do
        return made


def make_themes(embeddings: Embeddings) -> Reference:
    """Themes of the most frequent words of ``embeddings``, which stand in the order of frequency."""
    from publius.vectors.learning.themes import themes_of

    return Reference(**themes_of(embeddings))
