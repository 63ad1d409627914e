"""The store of references: one folder each, with plain arrays that are memory-mapped, words and a record."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any, Final

import numpy as np

from publius.errors import EmbeddingError, PubliusError, StorageError, UsageError
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
from publius.vectors.admissible import UNKNOWN, word_fault
from publius.vectors.catalogue import NAME, check_name, owned_store, store_root
from publius.vectors.learning.reference import Aspect, Prototypes, Reference

VERSION: Final = 1
_RECORD: Final = "reference.json"
_WORDS: Final = "words.txt"
_TEXTS: Final = "texts.json"
_RECORD_LIMIT: Final = 2**24
_WORDS_LIMIT: Final = 2**28
_AGAIN: Final = "remove the folder and fit the reference again"


def references_root() -> Path:
    """Where references are stored: beside the embeddings."""
    return store_root().parent / "references"


def is_stored_reference(name: str) -> bool:
    """Whether there is something stored under this name, be it damaged."""
    return os.path.lexists(references_root() / check_name(name))


def new_reference_folder(name: str) -> Path:
    """Where a reference that is to be called ``name`` goes; `UsageError` when the name is taken or not allowed."""
    if name == "themes":
        raise UsageError("'themes' is the name of the reference that comes with Publius: choose another")
    folder = references_root() / check_name(name)
    if is_stored_reference(name):
        raise UsageError(
            f"a reference called {name!r} is stored: choose another name, or remove it with: publius reference remove "
            f"{name}"
        )
    return folder


def remove_reference(name: str) -> None:
    """Remove a stored reference with everything that it keeps of its texts, damaged or not.

    `UsageError` where none is stored under this name, `StorageError` where it cannot be removed.
    """
    if name == "themes":
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
    """The names of the stored references, sorted."""
    root = references_root()
    with os_errors("read the folder", root):
        return sorted(path.name for path in root.iterdir() if path.is_dir()) if root.is_dir() else []


def open_named(name_or_path: AnyPath) -> Reference:
    """The reference stored under a name, or in a folder; `UsageError` where there is none."""
    given = os.fspath(name_or_path)
    plain = isinstance(name_or_path, str) and Path(given).name == given
    if plain and given not in (".", "..") and is_stored_reference(given):
        folder = references_root() / given
        if folder.is_symlink():
            raise EmbeddingError(f"{shown(folder)} is a link: give the path that it leads to instead")
        return open_reference(folder)
    if Path(given).is_dir():
        return open_reference(given)
    known = ", ".join(["themes", *stored_reference_names()])
    raise UsageError(
        f"no reference is called {given!r:.120}: known are {known}; make one from public texts with: "
        "publius reference fit PUBLIC --label topic --name NAME"
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
        state.update(np.ascontiguousarray(array, _stored_type(array)).tobytes())
    return state.hexdigest()


def _stored_type(array: np.ndarray[Any, Any]) -> np.dtype[Any]:
    return np.dtype("<f8") if array.dtype.kind == "f" else np.dtype("<i8")


def _decisions(reference: Reference) -> dict[str, Any]:
    return {
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
                    }
                    for found in aspect.sets
                ],
            }
            for aspect in reference.aspects.values()
        ],
    }


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
        folder=place.resolve(),
        _known_sha256=str(record["sha256"]),
    )


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
    )


def _array(place: Path, name: str, kind: str, dimensions: int) -> np.ndarray[Any, Any]:
    path = place / f"{name}.npy"
    if path.is_symlink() or not path.is_file():
        raise EmbeddingError(f"{path.name} is missing")
    array = np.load(path, mmap_mode="r", allow_pickle=False)
    if array.dtype != np.dtype(kind) or array.ndim != dimensions or not array.flags.c_contiguous:
        raise EmbeddingError(f"{path.name} is not the array it should be")
    return np.asarray(array)


def _words(path: Path, size: int) -> tuple[str, ...]:
    if path.is_symlink() or not path.is_file():
        raise EmbeddingError(f"{path.name} is missing")
    words = tuple(read_bytes_limited(path, _WORDS_LIMIT).decode().split("\n"))
    if words[-1] or len(words) != size + 1:
        raise EmbeddingError(f"{path.name} has not the recorded number of words")
    words = words[:-1]
    if UNKNOWN in words or any(word_fault(word) for word in words):
        raise EmbeddingError(f"{path.name} holds a word that is not admitted")
    return words
