"""Readers of other tools' word vectors: word2vec binary and text, GloVe, fastText .vec, each also gzip.

One pass over a stream, a block of rows at a time. Memory grows with the rows that were read, never with what a header
claims. Words and vectors that `admissible` does not admit, repeated words and malformed rows are refused with their row
number, or, when asked, left out and counted. Nothing is unpickled; ``.npz``, ``.bin`` of fastText and other containers
are named and refused.
"""

from __future__ import annotations

import array
import io
import itertools
import re
import sys
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from typing import Final, NoReturn, final

import numpy as np

from publius.arrays import Float32Array
from publius.embeddings.admissible import LARGEST_DIMENSION, LONGEST_WORD, UNKNOWN, vector_faults, word_fault
from publius.errors import EmbeddingError, UsageError
from publius.files import AnyPath, largest_content, open_binary, shown
from publius.files.progress import Advance, unheard

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

_Block = tuple[list[int], list[bytes], Float32Array]


@final
@dataclass(frozen=True)
class WordVectors:
    """The contents of a file: the words that are kept, in its order, and their vectors, shape (V, n)."""

    words: tuple[str, ...]
    vectors: Float32Array
    format: str
    rows: int
    """Rows read, those included that were left out."""
    skipped: Mapping[str, int]
    """Rows left out because they are bad: how many for each reason."""
    unknown_rows: int
    """Rows of the file's own ``<unk>``, left out."""


def read_vectors(
    path: AnyPath,
    *,
    limit: int | None = None,
    vocabulary: AbstractSet[str] | None = None,
    skip_bad_rows: bool = False,
    progress: Advance = unheard,
) -> WordVectors:
    """Read a file of word vectors, its format told from its content.

    ``limit`` keeps the first words only (files hold the most frequent first); ``vocabulary`` keeps these words
    only, and other rows are passed over unchecked. ``progress`` hears how many more rows are read.

    `EmbeddingError` names the row and the way out; `StorageError` and `DataError` as in `files.open_binary`.
    """
    if limit is not None and limit < 1:
        raise UsageError(f"limit must be at least 1, not {limit}")
    with open_binary(path) as stream:
        layout = _layout_of(stream, path)
        table = _Table(path, layout, limit, vocabulary, skip_bad_rows)
        blocks = _binary_blocks if layout.format == WORD2VEC_BINARY else _text_blocks
        heard = 0
        for rows, words, vectors in blocks(stream, layout, table):
            table.add(rows, words, vectors)
            progress(table.rows - heard)
            heard = table.rows
    return table.result()


@final
@dataclass(frozen=True)
class _Layout:
    """How the rest of a stream is to be read."""

    format: str
    dimension: int
    count: int | None
    """Rows that the header claims; None without a header."""
    first_line: bytes | None = None
    """The first row, already taken from the stream, when there is no header."""


def _layout_of(stream: io.BufferedReader, path: AnyPath) -> _Layout:
    """Take the header, or the first row, from ``stream`` and tell the format; `EmbeddingError` when it is none."""
    for magic, what in _FOREIGN.items():
        if stream.peek(len(magic)).startswith(magic):
            raise EmbeddingError(f"{shown(path)} is {what}")
    line = stream.readline(_LINE_LIMIT + 1).removeprefix(_BYTE_ORDER_MARK)
    if not line:
        raise EmbeddingError(f"{shown(path)} is empty: {_FETCH}")
    if header := _HEADER.fullmatch(line):
        return _headed_layout(stream, path, header, len(line))
    dimension = len([*itertools.takewhile(_is_number, reversed(line.split()[1:]))])
    if not 1 <= dimension <= LARGEST_DIMENSION:
        raise EmbeddingError(
            f"{shown(path)}, row 1 has {dimension} numbers; a row is a word and 1 to {LARGEST_DIMENSION} numbers "
            "(word2vec, GloVe or fastText .vec): is this a file of word vectors?"
        )
    return _Layout(GLOVE, dimension, None, line)


def _is_number(field: bytes) -> bool:
    """Whether Python reads ``field`` as a number."""
    try:
        float(field)
    except ValueError:
        return False
    return True


def _headed_layout(stream: io.BufferedReader, path: AnyPath, header: re.Match[bytes], header_size: int) -> _Layout:
    if max(map(len, header.groups())) > 18:
        raise EmbeddingError(f"{shown(path)}, header: a number of more than 18 digits; {_FETCH}")
    count, dimension = map(int, header.groups())
    if count < 1 or not 1 <= dimension <= LARGEST_DIMENSION:
        raise EmbeddingError(
            f"{shown(path)}, header: {count} words of {dimension} numbers; there must be at least one word "
            f"and 1 to {LARGEST_DIMENSION} numbers: {_FETCH}"
        )
    binary = _looks_binary(stream.peek(_LINE_LIMIT), dimension)
    content = largest_content(path)
    least = count * (2 + dimension * (4 if binary else 2)) - 2  # a text file may lack the last newline
    if content is not None and least > content - header_size:
        raise EmbeddingError(
            f"{shown(path)}, header: {count} words of {dimension} numbers take at least {least} bytes, and the "
            f"file can hold {content - header_size}: it is cut short or the header is wrong; {_FETCH}"
        )
    if binary:
        return _Layout(WORD2VEC_BINARY, dimension, count)
    name = str(path).removesuffix(".gz")
    return _Layout(FASTTEXT if name.endswith(".vec") else WORD2VEC_TEXT, dimension, count)


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
class _Table:
    """The rows that are kept, checked a block at a time."""

    def __init__(
        self, path: AnyPath, layout: _Layout, limit: int | None, vocabulary: AbstractSet[str] | None, skip: bool
    ) -> None:
        self.rows = 0
        self._path, self._layout, self._limit, self._skip = path, layout, limit, skip
        self._vocabulary = None if vocabulary is None else {word.encode("utf-8", "replace") for word in vocabulary}
        self._words: dict[str, int] = {}
        self._vectors: Float32Array = np.empty((0, layout.dimension), np.float32)
        self._skipped: Counter[str] = Counter()
        self._unknown_rows = 0

    @property
    def room(self) -> int:
        """How many more words may be kept; the rows after them are not read."""
        return sys.maxsize if self._limit is None else self._limit - len(self._words)

    def wants(self, word: bytes) -> bool:
        """Whether a row with this word is to be looked at."""
        return self._vocabulary is None or word in self._vocabulary

    def place(self, row: int) -> str:
        """Where a row is, for a message."""
        headed = self._layout.count is not None
        line = "" if self._layout.format == WORD2VEC_BINARY else f" (line {row + headed})"
        return f"{shown(self._path)}, row {row}{line}"

    def bad(self, row: int, fault: str, kind: str | None = None) -> None:
        """Refuse a row, or count it under ``kind`` when bad rows are to be left out."""
        if not self._skip:
            raise EmbeddingError(f"{self.place(row)}: {fault}; {_SKIP}")
        self._skipped[re.sub(r" \(U\+\w+\)", "", kind or fault)] += 1

    def broken(self, row: int, fault: str) -> NoReturn:
        """Refuse the file: what follows this row cannot be told."""
        raise EmbeddingError(f"{self.place(row)}: {fault}")

    def add(self, rows: Sequence[int], words: Sequence[bytes], vectors: Float32Array) -> None:
        """Check and keep a block: row numbers, words, vectors of shape (k, n)."""
        faults = vector_faults(vectors)
        kept = []
        for index, (row, word) in enumerate(zip(rows, words, strict=True)):
            if self._admit(row, word, faults.get(index)):
                kept.append(index)
        self._append(vectors if len(kept) == len(vectors) else vectors[kept])

    def _admit(self, row: int, raw: bytes, fault: str | None) -> bool:
        try:
            word = raw.decode()
        except UnicodeDecodeError:
            self.bad(row, "bytes that are not UTF-8 in the word")
            return False
        if word == UNKNOWN:
            self._unknown_rows += 1
        elif word in self._words:
            self.bad(row, f"the word of row {self._words[word]} again", kind="a repeated word")
        elif fault := word_fault(word) or fault:
            self.bad(row, fault)
        else:
            self._words[word] = row
            return True
        return False

    def _append(self, vectors: Float32Array) -> None:
        end = len(self._words)
        start = end - len(vectors)
        if end > len(self._vectors):
            capacity = max(end, len(self._vectors) * 5 // 4)
            most = [count for count in (self._layout.count, self._limit) if count is not None]
            self._resize(min([capacity, *most]))
        self._vectors[start:end] = vectors

    def _resize(self, rows: int) -> None:
        try:  # no view exists; no copy is made
            self._vectors.resize((rows, self._layout.dimension), refcheck=False)
        except MemoryError:
            raise EmbeddingError(
                f"{shown(self._path)}: {rows} words of {self._layout.dimension} numbers do not fit into memory: "
                "keep fewer with limit (--limit) or vocabulary (--vocabulary)"
            ) from None

    def result(self) -> WordVectors:
        """The rows that were kept; `EmbeddingError` when there are none."""
        if not self._words:
            hint = "check that the vocabulary has the same case and script" if self._vocabulary else _FETCH
            raise EmbeddingError(f"{shown(self._path)}: none of its {self.rows} rows is a word to keep: {hint}")
        self._resize(len(self._words))
        self._vectors.flags.writeable = False
        skipped = dict(sorted(self._skipped.items()))
        words = tuple(self._words)
        return WordVectors(words, self._vectors, self._layout.format, self.rows, skipped, self._unknown_rows)


def _binary_blocks(stream: io.BufferedReader, layout: _Layout, table: _Table) -> Iterator[_Block]:
    """Rows of a word, a blank, little-endian float32 numbers; some tools put a newline before the word."""
    count, width, buffer = layout.count or 0, 4 * layout.dimension, b""
    while table.rows < count and table.room:
        buffer += stream.read(_CHUNK)
        rows: list[int] = []
        words: list[bytes] = []
        parts: list[bytes] = []
        position, row, most = 0, table.rows, min(_CHUNK, table.room)
        while row < count and len(rows) < most:
            space = buffer.find(b" ", position, position + _LONGEST_WORD_BYTES)
            end = space + 1 + width
            if space < 0 or end > len(buffer):
                break
            row += 1
            word = buffer[position:space].lstrip(b"\n")
            if table.wants(word):
                rows.append(row)
                words.append(word)
                parts.append(buffer[space + 1 : end])
            position = end
        table.rows = row
        if not position:
            endless = b" " not in buffer[:_LONGEST_WORD_BYTES] and len(buffer) > _LONGEST_WORD_BYTES
            fault = f"the file ends here and its header says {count} words: it is cut short"
            if endless:
                fault = f"no word ends within {_LONGEST_WORD_BYTES} bytes: the rows before are damaged"
            table.broken(table.rows + 1, f"{fault}; {_FETCH}")
        yield rows, words, np.frombuffer(bytearray().join(parts), "<f4").reshape(-1, layout.dimension)
        buffer = buffer[position:]
    if table.room and (buffer + stream.read(1)).strip(b"\n"):
        table.broken(table.rows, f"more follows than the {count} words that the header says; {_FETCH}")


def _text_blocks(stream: io.BufferedReader, layout: _Layout, table: _Table) -> Iterator[_Block]:
    """Lines of a word, which may hold blanks, and numbers, separated by single blanks."""
    lines = _text_lines(stream, layout, table)
    most = max(1, _NUMBERS_IN_A_BLOCK // layout.dimension)
    while batch := list(itertools.islice(lines, min(most, table.room))):
        rows: list[int] = []
        words: list[bytes] = []
        numbers = array.array("d")
        for row, line in batch:
            fields = line.rsplit(b" ", layout.dimension)
            if table.wants(fields[0]) and (values := _numbers(row, fields, layout.dimension, table)):
                rows.append(row)
                words.append(fields[0])
                numbers.extend(values)
        with np.errstate(over="ignore"):  # what is beyond float32 becomes infinite and is refused as such
            vectors = np.array(numbers, np.float64).reshape(-1, layout.dimension).astype(np.float32)
        yield rows, words, vectors


def _text_lines(stream: io.BufferedReader, layout: _Layout, table: _Table) -> Iterator[tuple[int, bytes]]:
    """Pairs (row, line without blanks at its end); empty lines are allowed at the end of the file only."""
    line = layout.first_line or stream.readline(_LINE_LIMIT + 1)
    empty = 0
    while line:
        table.rows += 1
        if len(line) > _LINE_LIMIT:
            table.broken(table.rows, f"a line of more than {_LINE_LIMIT} bytes; {_FETCH}")
        if stripped := line.rstrip(b" \t\r\n"):
            for before in range(empty, 0, -1):
                table.bad(table.rows - before, "an empty line")
            empty = 0
            if layout.count is not None and table.rows > layout.count:
                table.broken(table.rows, f"the header says {layout.count} words; correct it or remove the row")
            yield table.rows, stripped
        else:
            empty += 1
        line = stream.readline(_LINE_LIMIT + 1)
    table.rows -= empty
    if layout.count is not None and table.rows < layout.count:
        table.broken(table.rows, f"the file ends here and its header says {layout.count} words; {_FETCH}")


def _numbers(row: int, fields: list[bytes], dimension: int, table: _Table) -> list[float] | None:
    """The numbers of a row; None when the row is bad and left out."""
    word, *numbers = fields
    if len(numbers) < dimension:
        table.bad(row, f"{len(numbers)} numbers instead of {dimension}", kind="too few numbers")
        return None
    if b" " in word and _is_number(word.rsplit(b" ", 1)[1]):
        table.bad(row, f"more than {dimension} numbers", kind="too many numbers")
        return None
    try:
        if b"_" in b"".join(numbers):  # Python reads 1_0 as 10, other tools do not
            raise ValueError
        return list(map(float, numbers))
    except ValueError:
        table.bad(row, "something that is not a number among the numbers")
        return None
