"""Readers of other tools' word vectors: word2vec binary and text, GloVe, fastText .vec, each also gzip.

One pass over a stream, a block of rows at a time. Memory grows with the rows that were read, never with what a header
claims. Nothing is unpickled.
"""

from __future__ import annotations

import array
import io
import itertools
import re
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from collections.abc import Set as AbstractSet
from contextlib import suppress
from typing import Any, Final, final

import numpy as np

from publius.arrays import Float32Array
from publius.embeddings.store import LARGEST_DIMENSION, LONGEST_WORD, vector_faults, word_fault
from publius.errors import AnyPath, DataError, UsageError, shown
from publius.files.progress import advance, stage
from publius.files.reading import largest_content, open_binary
from publius.text.known_words import UNKNOWN

WORD2VEC_BINARY: Final = "word2vec-binary"
WORD2VEC_TEXT: Final = "word2vec-text"
GLOVE: Final = "glove"
FASTTEXT: Final = "fasttext"
_LINE_LIMIT: Final = 2**20
_BYTE_ORDER_MARK: Final = b"\xef\xbb\xbf"
_FETCH: Final = "fetch the file again"
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
_SKIP: Final = "correct the file, or leave such rows out with skip_bad_rows (--skip-bad-rows)"
_CHUNK: Final = 2**22
_NUMBERS_IN_A_BLOCK: Final = 2**17
_LONGEST_WORD_BYTES: Final = 4 * LONGEST_WORD + 2

_Block = tuple[list[tuple[int, bytes]], Float32Array]  # k row numbers with their words, and vectors of shape (k, n)
Contents = tuple[tuple[str, ...], Float32Array, dict[str, Any]]
"""The V words that are kept, in the file's order; their vectors, shape (V, n); and what `Embeddings.source` says."""


def read_vectors(
    path: AnyPath, *, limit: int | None = None, vocabulary: AbstractSet[str] | None = None, skip_bad_rows: bool = False
) -> Contents:
    """Read a file of word vectors, its format told from its content.

    ``limit`` keeps the first words only (files hold the most frequent first); ``vocabulary`` keeps these words
    only, and other rows are passed over unchecked. `DataError` names the row and the way out.
    """
    if limit is not None and limit < 1:
        raise UsageError(f"limit must be at least 1, not {limit}")
    with open_binary(path) as stream, stage("reading vectors"):
        return _Reader(path, stream, limit, vocabulary, skip_bad_rows).read()


def _is_number(field: bytes) -> bool:
    try:
        float(field)
    except ValueError:
        return False
    return True


def _looks_binary(sample: bytes, dimension: int) -> bool:
    """Whether float32 bytes follow the first word, and not ``dimension`` numbers in printable characters."""
    fields = sample.partition(b"\n")[0].rstrip(b" \t\r").rsplit(b" ", dimension)
    if len(fields) == dimension + 1 and all(map(_is_number, fields[1:])):
        return False
    line = sample.partition(b" ")[2][: 4 * dimension].partition(b"\n")[0]
    if any(byte in _BINARY_BYTES or byte > 126 for byte in line):
        return True
    return len(line) < 2 * dimension - 1 and not any(map(_is_number, line.split()))


@final
class _Reader:
    """One pass over a stream: how it is laid out, and the rows that are kept, checked a block at a time."""

    def __init__(
        self, path: AnyPath, stream: io.BufferedReader, limit: int | None, wanted: AbstractSet[str] | None, skip: bool
    ) -> None:
        self._path, self._stream, self._skip = path, stream, skip
        self._limit = limit
        self._vocabulary = None if wanted is None else {word.encode("utf-8", "replace") for word in wanted}
        self._words: dict[str, int] = {}
        self._numbers = bytearray()  # grows in its place
        self._skipped: Counter[str] = Counter()
        self._unknown_rows = self._rows = 0
        self._format, self._dimension = GLOVE, 0
        self._count: int | None = None  # rows that the header claims; None without a header

    def read(self) -> Contents:
        """The rows that are kept; `DataError` when there are none."""
        first = self._opening()
        for block in self._binary_blocks() if self._format == WORD2VEC_BINARY else self._text_blocks(first):
            self._add(*block)
            advance(self._rows, self._count or 0)
        if not self._words:
            hint = "check that the vocabulary has the same case and script" if self._vocabulary else _FETCH
            raise self._error(f": none of its {self._rows} rows is a word to keep: {hint}")
        vectors = np.frombuffer(self._numbers, np.float32).reshape(-1, self._dimension)
        source = {
            "format": self._format, "rows": self._rows, "limit": self._limit,
            "vocabulary": None if self._vocabulary is None else len(self._vocabulary),
            "skipped": dict(sorted(self._skipped.items())), "unknown_rows": self._unknown_rows,
        }  # fmt: skip
        return tuple(self._words), vectors, source

    def _error(self, said: str, row: int | None = None) -> DataError:
        """What is wrong with the file, or with a row of it."""
        line = "" if self._format == WORD2VEC_BINARY else f" (line {(row or 0) + (self._count is not None)})"
        return DataError(f"{shown(self._path)}{'' if row is None else f', row {row}{line}: '}{said}")

    def _bad(self, row: int, fault: str, kind: str | None = None) -> None:
        """Refuse a row, or count it under ``kind`` when bad rows are to be left out."""
        if not self._skip:
            raise self._error(f"{fault}; {_SKIP}", row)
        self._skipped[re.sub(r" \(U\+\w+\)", "", kind or fault)] += 1

    def _opening(self) -> bytes:
        """Take the header, or the first row, from the stream and tell the format; that row where there is no header."""
        for magic, what in _FOREIGN.items():
            if self._stream.peek(len(magic)).startswith(magic):
                raise self._error(f" is {what}")
        line = self._stream.readline(_LINE_LIMIT + 1).removeprefix(_BYTE_ORDER_MARK)
        if not line:
            raise self._error(f" is empty: {_FETCH}")
        if header := _HEADER.fullmatch(line):
            self._take_header(header[1], header[2], len(line))
            return b""
        self._dimension = len([*itertools.takewhile(_is_number, reversed(line.split()[1:]))])
        if not 1 <= self._dimension <= LARGEST_DIMENSION:
            raise self._error(
                f", row 1 has {self._dimension} numbers; a row is a word and 1 to {LARGEST_DIMENSION} numbers "
                "(word2vec, GloVe or fastText .vec): is this a file of word vectors?"
            )
        return line

    def _take_header(self, words: bytes, numbers: bytes, size: int) -> None:
        if max(len(words), len(numbers)) > 18:
            raise self._error(f", header: a number of more than 18 digits; {_FETCH}")
        self._count, self._dimension = count, dimension = int(words), int(numbers)
        if count < 1 or not 1 <= dimension <= LARGEST_DIMENSION:
            raise self._error(
                f", header: {count} words of {dimension} numbers; there must be at least one word "
                f"and 1 to {LARGEST_DIMENSION} numbers: {_FETCH}"
            )
        binary, content = _looks_binary(self._stream.peek(_LINE_LIMIT), dimension), largest_content(self._path)
        least = count * (2 + dimension * (4 if binary else 2)) - 2  # a text file may lack the last newline
        if content is not None and least > content - size:
            raise self._error(
                f", header: {count} words of {dimension} numbers take at least {least} bytes, and the "
                f"file can hold {content - size}: it is cut short or the header is wrong; {_FETCH}"
            )
        fasttext = str(self._path).removesuffix(".gz").endswith(".vec")
        self._format = WORD2VEC_BINARY if binary else FASTTEXT if fasttext else WORD2VEC_TEXT

    @property
    def _room(self) -> int:
        """How many more words may be kept; the rows after them are not read."""
        return (sys.maxsize if self._limit is None else self._limit) - len(self._words)

    def _wants(self, word: bytes) -> bool:
        return self._vocabulary is None or word in self._vocabulary

    def _add(self, rows: Sequence[tuple[int, bytes]], vectors: Float32Array) -> None:
        faults, kept = vector_faults(vectors), []
        for index, (row, raw) in enumerate(rows):
            try:
                word = raw.decode()
            except UnicodeDecodeError:
                self._bad(row, "bytes that are not UTF-8 in the word")
                continue
            if word == UNKNOWN:
                self._unknown_rows += 1
            elif word in self._words:
                self._bad(row, f"the word of row {self._words[word]} again", kind="a repeated word")
            elif fault := word_fault(word) or faults.get(index):
                self._bad(row, fault)
            else:
                self._words[word] = row
                kept.append(index)
        try:
            self._numbers += np.ascontiguousarray(vectors[kept], np.float32).data
        except MemoryError:
            raise self._error(
                f": {len(self._words)} words of {self._dimension} numbers do not fit into memory: "
                "keep fewer with limit (--limit) or vocabulary (--vocabulary)"
            ) from None

    def _binary_blocks(self) -> Iterator[_Block]:
        """Rows of a word, a blank, little-endian float32 numbers; some tools put a newline before the word."""
        count, width, buffer = self._count or 0, 4 * self._dimension, b""
        while self._rows < count and self._room:
            buffer += self._stream.read(_CHUNK)
            rows: list[tuple[int, bytes]] = []
            parts: list[bytes] = []
            position, most = 0, min(_CHUNK, self._room)
            while self._rows < count and len(rows) < most:
                space = buffer.find(b" ", position, position + _LONGEST_WORD_BYTES)
                end = space + 1 + width
                if space < 0 or end > len(buffer):
                    break
                self._rows += 1
                word = buffer[position:space].lstrip(b"\n")
                if self._wants(word):
                    rows.append((self._rows, word))
                    parts.append(buffer[space + 1 : end])
                position = end
            if not position:
                fault = f"the file ends here and its header says {count} words: it is cut short"
                if b" " not in buffer[:_LONGEST_WORD_BYTES] and len(buffer) > _LONGEST_WORD_BYTES:
                    fault = f"no word ends within {_LONGEST_WORD_BYTES} bytes: the rows before are damaged"
                raise self._error(f"{fault}; {_FETCH}", self._rows + 1)
            yield rows, np.frombuffer(b"".join(parts), "<f4").reshape(-1, self._dimension)
            buffer = buffer[position:]
        if self._room and (buffer + self._stream.read(1)).strip(b"\n"):
            raise self._error(f"more follows than the {count} words that the header says; {_FETCH}", self._rows)

    def _text_blocks(self, first: bytes) -> Iterator[_Block]:
        """Lines of a word, which may hold blanks, and numbers, separated by single blanks."""
        lines, most = self._lines(first), max(1, _NUMBERS_IN_A_BLOCK // self._dimension)
        while batch := list(itertools.islice(lines, min(most, self._room))):
            rows: list[tuple[int, bytes]] = []
            numbers = array.array("d")
            for row, line in batch:
                word, *fields = line.rsplit(b" ", self._dimension)
                if self._wants(word) and (values := self._values(row, word, fields)):
                    rows.append((row, word))
                    numbers.extend(values)
            with np.errstate(over="ignore"):  # what is beyond float32 becomes infinite and is refused as such
                vectors = np.array(numbers, np.float64).reshape(-1, self._dimension).astype(np.float32)
            yield rows, vectors

    def _lines(self, first: bytes) -> Iterator[tuple[int, bytes]]:
        """Pairs (row, line without blanks at its end); empty lines are allowed at the end of the file only."""
        empty = 0
        while line := first or self._stream.readline(_LINE_LIMIT + 1):
            first = b""
            self._rows += 1
            if len(line) > _LINE_LIMIT:
                raise self._error(f"a line of more than {_LINE_LIMIT} bytes; {_FETCH}", self._rows)
            if not (stripped := line.rstrip(b" \t\r\n")):
                empty += 1
                continue
            for before in range(empty, 0, -1):
                self._bad(self._rows - before, "an empty line")
            empty = 0
            if self._count is not None and self._rows > self._count:
                raise self._error(f"the header says {self._count} words; correct it or remove the row", self._rows)
            yield self._rows, stripped
        self._rows -= empty
        if self._count is not None and self._rows < self._count:
            raise self._error(f"the file ends here and its header says {self._count} words; {_FETCH}", self._rows)

    def _values(self, row: int, word: bytes, fields: list[bytes]) -> list[float] | None:
        """The numbers of a row; None when the row is bad and left out."""
        if len(fields) < self._dimension:
            self._bad(row, f"{len(fields)} numbers instead of {self._dimension}", kind="too few numbers")
        elif b" " in word and _is_number(word.rsplit(b" ", 1)[1]):
            self._bad(row, f"more than {self._dimension} numbers", kind="too many numbers")
        else:
            with suppress(ValueError):
                if b"_" not in b"".join(fields):  # Python reads 1_0 as 10, other tools do not
                    return list(map(float, fields))
            self._bad(row, "something that is not a number among the numbers")
        return None
