"""The store of word vectors: one folder for each vocabulary, opened in milliseconds and never copied.

A folder holds ``vectors.npy`` (little-endian float32, C order, shape (V, n), memory-mapped), ``words.txt`` (UTF-8,
one word a line) and ``meta.json``. Opening checks that the three agree in size, shape and type, and that the words
are admissible; the digest, for which every byte is read, is computed again where the folder is not the user's own.
"""

from __future__ import annotations

import hashlib
import io
import math
import os
import unicodedata
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any, Final, Literal

import msgspec
import numpy as np
from numpy.typing import NDArray

from publius.arrays import Float32Array
from publius.embeddings.catalogue import NAME, owned_store
from publius.errors import AnyPath, DataError, os_errors, shown
from publius.files.reading import read_bytes_limited
from publius.files.writing import new_folder
from publius.text.known_words import UNKNOWN

LONGEST_WORD: Final = 1_000  # characters
LARGEST_DIMENSION: Final = 10_000
LARGEST_NORM: Final = 1e18  # squares and products of two stay below 1e37, ten times below the largest float32
_CONTROLS: Final = frozenset(("Cc", "Cs", "Zl", "Zp"))
_BIDIRECTIONAL: Final = frozenset("\u061c\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")
_VECTORS: Final = "vectors.npy"
_WORDS: Final = "words.txt"
_META: Final = "meta.json"
_DTYPE: Final = np.dtype("<f4")
_META_LIMIT: Final = 2**20
_WORDS_LIMIT: Final = 2**31
_AGAIN: Final = "remove the folder and import the vectors again"
_Name = Annotated[str, msgspec.Meta(pattern=rf"^{NAME.pattern}\Z")]


class Record(
    msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, tag_field="format", tag="publius-embeddings"
):
    """What stands in ``meta.json``."""

    version: Literal[1] = 1
    dtype: Literal["float32"] = "float32"
    name: _Name
    sha256: Annotated[str, msgspec.Meta(pattern=r"^[0-9a-f]{64}\Z")]
    size: Annotated[int, msgspec.Meta(ge=1, lt=2**40)]
    dimension: Annotated[int, msgspec.Meta(ge=1, le=LARGEST_DIMENSION)]
    unknown_index: Annotated[int, msgspec.Meta(ge=0)]
    tokenizer: _Name
    source: dict[str, Any]

    def __post_init__(self) -> None:
        if self.unknown_index >= self.size:
            raise ValueError("unknown_index is beyond the last word")

    @property
    def header(self) -> bytes:
        """The first bytes of the vectors' file: those of NumPy, for this shape."""
        stream, shape = io.BytesIO(), (self.size, self.dimension)
        np.lib.format.write_array_header_1_0(stream, {"descr": "<f4", "fortran_order": False, "shape": shape})
        return stream.getvalue()


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
    with new_folder(folder, owner_only=owned_store(folder)) as temporary:
        with open(temporary / _VECTORS, "wb") as stream:  # NumPy's own writing passes over an error of its last flush
            stream.write(record.header)
            stream.write(np.ascontiguousarray(vectors, _DTYPE).data)
        with open(temporary / _WORDS, "wb") as stream:
            stream.writelines(f"{word}\n".encode() for word in words)
        (temporary / _META).write_bytes(msgspec.json.format(msgspec.json.encode(record), indent=1) + b"\n")


def open_store(folder: AnyPath) -> tuple[Record, tuple[str, ...], Float32Array]:
    """The record, the words and the read-only, memory-mapped vectors of a store; `DataError` where they do not agree."""
    place = Path(folder)
    for name in (_META, _WORDS, _VECTORS):
        with os_errors("read", place):
            there = (place / name).is_file() and not (place / name).is_symlink()
        if not there:
            raise DataError(
                f"{shown(place)} is not a store of Publius: it has no {name}, or one that is a link; import the vectors"
            )
    try:
        record = msgspec.json.decode(read_bytes_limited(place / _META, _META_LIMIT), type=Record)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
        wrong = "".join(filter(str.isprintable, str(error)))[:200]
        raise DataError(f"{shown(place / _META)} describes no store of this Publius ({wrong}): {_AGAIN}") from None
    return record, _read_words(place / _WORDS, record.size), _map_vectors(place / _VECTORS, record)


def _read_words(path: Path, size: int) -> tuple[str, ...]:
    try:
        text = read_bytes_limited(path, _WORDS_LIMIT).decode()
    except UnicodeDecodeError as error:
        raise DataError(f"{shown(path)}: bytes that are not UTF-8 at byte {error.start}: {_AGAIN}") from None
    words = tuple(text.split("\n"))
    if words[-1] or len(words) != size + 1:
        raise DataError(f"{shown(path)}: {len(words) - 1} whole lines, and {_META} says {size} words: {_AGAIN}")
    words = words[:-1]
    for line, word in enumerate(() if surely_words(text, words) else words, 1):
        if fault := word_fault(word):
            raise DataError(f"{shown(path)}, line {line}: {fault}: {_AGAIN}")
    if UNKNOWN in words:
        raise DataError(f"{shown(path)}: the unknown token is among the words: {_AGAIN}")
    return words


def _map_vectors(path: Path, record: Record) -> Float32Array:
    """The vectors, memory-mapped; `DataError` for what is no array of the record's shape."""
    shape, header = (record.size, record.dimension), record.header
    with os_errors("read", path), open(path, "rb") as stream:
        start, size = stream.read(len(header)), os.fstat(stream.fileno()).st_size
        if start == header and size == len(header) + math.prod(shape) * _DTYPE.itemsize:
            return np.asarray(np.memmap(stream, _DTYPE, "r", len(header), shape))
    raise DataError(f"{shown(path)}: {size} bytes that are not a C-order float32 array of shape {shape}: {_AGAIN}")


# What may be in one, by whatever way it comes. ------------------------------------------------------------------
# A word is shown to people, written to files and compared with words of documents, so nothing invisible or able to
# drive a terminal is admitted. A vector takes part in sums of squares in float32, so none may overflow them.


def word_fault(word: str) -> str | None:
    """Why ``word`` cannot be in a vocabulary, or None; blanks inside (GloVe 840B has such words) and joiners can."""
    if word.isprintable() and 0 < len(word) <= LONGEST_WORD and " " not in (word[0], word[-1]):
        return None  # nearly always
    if not word:
        return "an empty word"
    if len(word) > LONGEST_WORD:
        return f"a word of more than {LONGEST_WORD} characters"
    if word[0] == " " or word[-1] == " ":
        return "a word that starts or ends with a blank" if word.strip() else "a word of blanks only"
    categories = {character: unicodedata.category(character) for character in word}
    for character, category in categories.items():
        if category in _CONTROLS or character == "\ufeff":
            return f"a control character (U+{ord(character):04X}) in the word"
        if character in _BIDIRECTIONAL:
            return f"a bidirectional control (U+{ord(character):04X}) in the word"
    return "a word of blanks only" if {"Zs", "Cf"}.issuperset(categories.values()) else None


def surely_words(lines: str, words: Sequence[str]) -> bool:
    """Whether `word_fault` finds nothing in any of ``words``, the lines of ``lines``; False where it must be asked."""
    blank = ("\n", " ")
    return (
        not lines.startswith(blank)
        and not any(pair in lines for pair in ("\n\n", "\n ", " \n"))
        and lines.replace("\n", "").isprintable()
        and max(map(len, words), default=0) <= LONGEST_WORD
    )


def vector_faults(vectors: NDArray[np.floating[Any]]) -> dict[int, str]:
    """The rows of ``vectors``, shape (k, n), that cannot be vectors of words, and why: NaN, infinite, too long."""
    squared = np.einsum("ij,ij->i", vectors, vectors, dtype=np.float64)
    found: dict[int, str] = {}
    for row in np.flatnonzero(~(squared <= LARGEST_NORM**2)).tolist():  # so that NaN counts as a fault
        found[row] = f"a vector longer than {LARGEST_NORM:.0e}, whose squares could overflow"
        if not np.isfinite(vectors[row]).all():
            found[row] = "NaN among the numbers" if np.isnan(vectors[row]).any() else "an infinite number"
    return found


def first_word_fault(words: Sequence[str]) -> tuple[int, str] | None:
    """The first position from 0 whose word cannot be in a vocabulary, and why; a repeated word counts."""
    lines, none_twice = "\n".join([*words, ""]), len({*words, UNKNOWN}) == len(words) + 1
    if none_twice and lines.count("\n") == len(words) and surely_words(lines, words):
        return None
    seen: set[str] = set()
    for position, word in enumerate(words):
        fault = "the unknown token, which is added by itself" if word == UNKNOWN else word_fault(word)
        if fault or word in seen:
            return position, fault or "a word that stood before"
        seen.add(word)
    return None
