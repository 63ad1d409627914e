"""The store of word vectors: one folder for each vocabulary, opened in milliseconds and never copied.

A folder holds ``vectors.npy`` (little-endian float32, C order, shape (V, n), memory-mapped), ``words.txt`` (UTF-8,
one word a line) and ``meta.json``. Opening checks that the three agree in size, shape and type, and that the words
are admissible; the digest, for which every byte is read, is computed again where the folder is not the user's own.
"""

from __future__ import annotations

import hashlib
import json
import re
import stat
import tokenize
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, BinaryIO, Final, TypeGuard, final

import numpy as np
from numpy.typing import NDArray

from publius.arrays import Float32Array
from publius.embeddings.admissible import LARGEST_DIMENSION, UNKNOWN, surely_words, word_fault
from publius.embeddings.catalogue import NAME, owned_store
from publius.errors import EmbeddingError
from publius.files import AnyPath, new_folder, read_bytes_limited, shown, storage_error

VERSION: Final = 1
_VECTORS: Final = "vectors.npy"
_WORDS: Final = "words.txt"
_META: Final = "meta.json"
_DTYPE: Final = np.dtype("<f4")
_META_LIMIT: Final = 2**20
_WORDS_LIMIT: Final = 2**31
_AGAIN: Final = "remove the folder and import the vectors again"


@final
@dataclass(frozen=True)
class Record:
    """The contents of ``meta.json``, beside the version and the type of the numbers."""

    name: str
    sha256: str
    size: int
    dimension: int
    unknown_index: int
    tokenizer: str
    source: Mapping[str, Any]


def digest(words: Sequence[str], vectors: Float32Array) -> str:
    """The SHA-256, in hexadecimal, that identifies a vocabulary and its vectors.

    Over, in this order: the bytes ``publius/embeddings/v1`` and a zero byte; V and n, each as 8 bytes, little
    endian; each word in UTF-8 followed by a newline byte (no word holds one); the vectors row by row, each number
    as little-endian float32.
    """
    state = hashlib.sha256(b"publius/embeddings/v1\0")
    for number in vectors.shape:
        state.update(number.to_bytes(8, "little"))
    for start in range(0, len(words), 2**16):
        state.update("".join(f"{word}\n" for word in words[start : start + 2**16]).encode())
    for start in range(0, len(vectors), 2**14):
        state.update(np.ascontiguousarray(vectors[start : start + 2**14], _DTYPE).data)
    return state.hexdigest()


def write_store(folder: AnyPath, record: Record, words: Sequence[str], vectors: Float32Array) -> None:
    """Make a store, whole or not at all, for its owner alone. `UsageError` when ``folder`` is there and not empty."""
    meta = {"format": "publius-embeddings", "version": VERSION, "dtype": "float32", **asdict(record)}
    with new_folder(folder, owner_only=owned_store(folder)) as temporary:
        with open(temporary / _VECTORS, "wb") as stream:
            _write_array(stream, np.ascontiguousarray(vectors, _DTYPE))
        with open(temporary / _WORDS, "wb") as stream:
            stream.writelines(f"{word}\n".encode() for word in words)
        text = json.dumps(meta, ensure_ascii=False, allow_nan=False, indent=1)
        (temporary / _META).write_text(text + "\n", encoding="utf-8")


def _write_array(stream: BinaryIO, array: NDArray[np.float32]) -> None:
    """An array as NumPy stores it. NumPy's own writing to a file passes over an error of its last flush."""
    np.lib.format.write_array_header_1_0(stream, np.lib.format.header_data_from_array_1_0(array))
    stream.write(array.data)


def open_store(folder: AnyPath) -> tuple[Record, tuple[str, ...], Float32Array]:
    """The record, the words and the read-only, memory-mapped vectors of a store.

    `EmbeddingError` when a part is missing, malformed, a link, or does not agree with the others.
    """
    record = read_record(folder)
    words = _read_words(Path(folder, _WORDS), record.size)
    return record, words, _map_vectors(Path(folder, _VECTORS), record)


def read_record(folder: AnyPath) -> Record:
    """The record of a store whose three files are there; `EmbeddingError` otherwise."""
    for name in (_META, _WORDS, _VECTORS):
        _check_regular(Path(folder, name))
    path = Path(folder, _META)
    data = read_bytes_limited(path, _META_LIMIT)
    try:
        meta = json.loads(data)
    except (ValueError, RecursionError):
        raise EmbeddingError(f"{shown(path)} is not JSON: {_AGAIN}") from None
    if not isinstance(meta, dict) or meta.pop("format", None) != "publius-embeddings":
        raise EmbeddingError(f"{shown(path)} does not describe a store of Publius: {_AGAIN}")
    if (version := meta.pop("version", None)) != VERSION:
        raise EmbeddingError(f"{shown(path)}: version {version!r:.20} of the store; this Publius reads {VERSION}")
    _check_meta(meta, path)
    return Record(**meta)


def _check_regular(path: Path) -> None:
    try:
        mode = path.lstat().st_mode
    except FileNotFoundError:
        raise EmbeddingError(
            f"{shown(path.parent)} is not a store of Publius: it has no {path.name}; import the vectors first"
        ) from None
    except OSError as error:
        raise storage_error("read", path, error) from None
    if not stat.S_ISREG(mode):
        raise EmbeddingError(f"{shown(path)} is a link or not a file: {_AGAIN}")


def _check_meta(meta: dict[str, Any], path: Path) -> None:
    size, n, place = meta.get("size"), meta.get("dimension"), meta.get("unknown_index")
    named = {key: isinstance(meta.get(key), str) and NAME.fullmatch(meta[key]) for key in ("name", "tokenizer")}
    right = {
        "dtype": meta.pop("dtype", None) == "float32",
        "name": named["name"],
        "sha256": re.fullmatch(r"[0-9a-f]{64}", str(meta.get("sha256"))),
        "size": _is_count(size),
        "dimension": _is_count(n) and n <= LARGEST_DIMENSION,
        "unknown_index": _is_count(size) and type(place) is int and 0 <= place < size,
        "tokenizer": named["tokenizer"],
        "source": isinstance(meta.get("source"), dict),
        "a key too many": len(meta) == 7,
    }
    for key, fine in right.items():
        if not fine:
            raise EmbeddingError(f"{shown(path)}: {key} is missing or wrong: {_AGAIN}")


def _is_count(value: object) -> TypeGuard[int]:
    return type(value) is int and 1 <= value < 2**40


def _read_words(path: Path, size: int) -> tuple[str, ...]:
    try:
        text = read_bytes_limited(path, _WORDS_LIMIT).decode()
    except UnicodeDecodeError as error:
        raise EmbeddingError(f"{shown(path)}: bytes that are not UTF-8 at byte {error.start}: {_AGAIN}") from None
    words = tuple(text.split("\n"))
    if words[-1] or len(words) != size + 1:
        raise EmbeddingError(f"{shown(path)}: {len(words) - 1} whole lines, and {_META} says {size} words: {_AGAIN}")
    words = words[:-1]
    for line, word in enumerate(() if surely_words(text, words) else words, 1):
        if fault := word_fault(word):
            raise EmbeddingError(f"{shown(path)}, line {line}: {fault}: {_AGAIN}")
    if UNKNOWN in words:
        raise EmbeddingError(f"{shown(path)}: the unknown token is among the words: {_AGAIN}")
    return words


def _map_vectors(path: Path, record: Record) -> Float32Array:
    """The vectors, memory-mapped; `EmbeddingError` for what is no array of the record's shape."""
    shape, size = (record.size, record.dimension), path.stat().st_size
    found: Any = None
    try:
        with np.errstate(over="ignore"):  # a shape whose size no integer holds is refused as such
            found = np.load(path, mmap_mode="r", allow_pickle=False)
    except (ValueError, EOFError, TypeError, SyntaxError, OverflowError, tokenize.TokenError):
        pass  # whatever its header says, it is no array
    except OSError as error:
        raise storage_error("read", path, error) from None
    if isinstance(found, np.lib.npyio.NpzFile):  # several arrays: it stays open until somebody closes it
        found.close()
    if (
        not isinstance(found, np.memmap)
        or (found.shape, found.dtype, found.flags.c_contiguous) != (shape, _DTYPE, True)
        or found.offset + found.nbytes != size
    ):
        raise EmbeddingError(
            f"{shown(path)}: {size} bytes that are not a C-order float32 array of shape {shape}: {_AGAIN}"
        )
    return np.asarray(found)
