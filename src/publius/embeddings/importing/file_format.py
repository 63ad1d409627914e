"""Which of the formats a file has, told from its first rows, and what its header claims."""

from __future__ import annotations

import io
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, final

from publius.errors import EmbeddingError
from publius.files import AnyPath, largest_content, shown
from publius.embeddings.admissible import LARGEST_DIMENSION

WORD2VEC_BINARY: Final = "word2vec-binary"
WORD2VEC_TEXT: Final = "word2vec-text"
GLOVE: Final = "glove"
FASTTEXT: Final = "fasttext"

LINE_LIMIT: Final = 2**20
BYTE_ORDER_MARK: Final = b"\xef\xbb\xbf"
FETCH: Final = "fetch the file again"

_HEADER: Final = re.compile(rb"\s*([+-]?\d+)[ \t]+([+-]?\d+)\s*")
_BINARY_BYTES: Final = frozenset(range(32)) - frozenset(b"\t\n\r")
_FOREIGN: Final = {
    b"PK\x03\x04": "a zip or npz archive: unpack it, or give the arrays to Embeddings.from_arrays",
    b"\x93NUMPY": "a NumPy array without words: give it to Embeddings.from_arrays with its words",
    b"\x80": "a Python pickle, which is never opened: save the vectors in word2vec format",
    b"\xba\x16\x4f\x2f": "a fastText model: give the .vec file beside it",
    b"\x89HDF": "an HDF5 file: save the vectors in word2vec format",
    b"PAR1\x15": "a Parquet file: save the vectors in word2vec format",
    b"BZh91AY&SY": "a bzip2 file: unpack it",
    b"\xfd7zXZ": "an xz file: unpack it",
}


@final
@dataclass(frozen=True)
class FileLayout:
    """How the rest of a stream is to be read."""

    format: str
    dimension: int
    count: int | None
    """Rows that the header claims; None without a header."""
    first_line: bytes | None = None
    """The first row, already taken from the stream, when there is no header."""


def layout_of(stream: io.BufferedReader, path: AnyPath) -> FileLayout:
    """Take the header, or the first row, from ``stream`` and tell the format; `EmbeddingError` when it is none."""
    for magic, what in _FOREIGN.items():
        if stream.peek(len(magic)).startswith(magic):
            raise EmbeddingError(f"{shown(path)} is {what}")
    line = stream.readline(LINE_LIMIT + 1).removeprefix(BYTE_ORDER_MARK)
    if not line:
        raise EmbeddingError(f"{shown(path)} is empty: {FETCH}")
    if header := _HEADER.fullmatch(line):
        return _headed_layout(stream, path, header, len(line))
    dimension = _trailing_numbers(line.split())
    if not 1 <= dimension <= LARGEST_DIMENSION:
        raise EmbeddingError(
            f"{shown(path)}, row 1 has {dimension} numbers; a row is a word and 1 to {LARGEST_DIMENSION} numbers "
            "(word2vec, GloVe or fastText .vec): is this a file of word vectors?"
        )
    return FileLayout(GLOVE, dimension, None, line)


def _trailing_numbers(fields: Sequence[bytes]) -> int:
    """How many fields at the end are numbers, the first field set aside as the word."""
    for count, field in enumerate(reversed(fields[1:])):
        if not is_number(field):
            return count
    return max(0, len(fields) - 1)


def is_number(field: bytes) -> bool:
    """Whether Python reads ``field`` as a number."""
    try:
        float(field)
    except ValueError:
        return False
    return True


def _headed_layout(
    stream: io.BufferedReader, path: AnyPath, header: re.Match[bytes], header_size: int
) -> FileLayout:
    if max(map(len, header.groups())) > 18:
        raise EmbeddingError(f"{shown(path)}, header: a number of more than 18 digits; {FETCH}")
    count, dimension = map(int, header.groups())
    if count < 1 or not 1 <= dimension <= LARGEST_DIMENSION:
        raise EmbeddingError(
            f"{shown(path)}, header: {count} words of {dimension} numbers; there must be at least one word "
            f"and 1 to {LARGEST_DIMENSION} numbers: {FETCH}"
        )
    binary = _looks_binary(stream.peek(LINE_LIMIT), dimension)
    content = largest_content(path)
    least = count * (2 + dimension * (4 if binary else 2)) - 2  # a text file may lack the last newline
    if content is not None and least > content - header_size:
        raise EmbeddingError(
            f"{shown(path)}, header: {count} words of {dimension} numbers take at least {least} bytes, and the "
            f"file can hold {content - header_size}: it is cut short or the header is wrong; {FETCH}"
        )
    if binary:
        return FileLayout(WORD2VEC_BINARY, dimension, count)
    name = str(path).removesuffix(".gz")
    return FileLayout(FASTTEXT if name.endswith(".vec") else WORD2VEC_TEXT, dimension, count)


def _looks_binary(sample: bytes, dimension: int) -> bool:
    """Whether float32 bytes follow the first word, and not ``dimension`` numbers in printable characters."""
    if _ends_in_numbers(sample.partition(b"\n")[0], dimension):
        return False
    _, _, rest = sample.partition(b" ")
    line = rest[: 4 * dimension].partition(b"\n")[0]
    if any(byte in _BINARY_BYTES or byte > 126 for byte in line):
        return True
    return len(line) < 2 * dimension - 1 and not any(map(is_number, line.split()))


def _ends_in_numbers(line: bytes, dimension: int) -> bool:
    fields = line.rstrip(b" \t\r").rsplit(b" ", dimension)
    return len(fields) == dimension + 1 and all(map(is_number, fields[1:]))
