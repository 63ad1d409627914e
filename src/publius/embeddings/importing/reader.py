"""Readers of other tools' word vectors: word2vec binary and text, GloVe, fastText .vec, each also gzip.

One pass over a stream, a block of rows at a time. Memory grows with the rows that were read, never with what a
header claims. Words and vectors that `vocabulary` does not admit, repeated words and malformed rows are refused
with their row number, or, when asked, left out and counted. Nothing is unpickled; ``.npz``, ``.bin`` of fastText
and other containers are named and refused.
"""

from __future__ import annotations

import array
import io
import itertools
from collections.abc import Iterator
from collections.abc import Set as AbstractSet
from typing import Final, NoReturn

import numpy as np

from publius.arrays import Float32Array
from publius.errors import EmbeddingError, UsageError
from publius.files import AnyPath, open_binary, read_lines, shown
from publius.files.progress import Advance, unheard
from publius.embeddings.admissible import LONGEST_WORD, word_fault
from publius.embeddings.importing.file_format import (
    BYTE_ORDER_MARK,
    FETCH,
    LINE_LIMIT,
    WORD2VEC_BINARY,
    FileLayout,
    is_number,
    layout_of,
)
from publius.embeddings.importing.kept_rows import Table, WordVectors, decoded

_CHUNK: Final = 2**22
_NUMBERS_IN_A_BLOCK: Final = 2**17
_LONGEST_WORD_BYTES: Final = 4 * LONGEST_WORD + 2

_Block = tuple[list[int], list[bytes], Float32Array]


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
        layout = layout_of(stream, path)
        table = Table(path, layout, limit, vocabulary, skip_bad_rows)
        blocks = _binary_blocks if layout.format == WORD2VEC_BINARY else _text_blocks
        heard = 0
        for rows, words, vectors in blocks(stream, layout, table):
            table.add(rows, words, vectors)
            progress(table.rows - heard)
            heard = table.rows
    return table.result()


def read_word_list(path: AnyPath) -> frozenset[str]:
    """The words of a UTF-8 text file, one a line; empty lines are passed over. `EmbeddingError` names the line."""
    words = set()
    for number, line in read_lines(path, LINE_LIMIT):
        line = line.removesuffix(b"\r")
        word = decoded(line.removeprefix(BYTE_ORDER_MARK) if number == 1 else line)
        fault = "bytes that are not UTF-8" if word is None else word and word_fault(word)
        if word is None or fault:
            raise EmbeddingError(
                f"{shown(path)}, line {number}: {fault}; correct the line: one word a line, UTF-8"
            )
        words.add(word)
    words.discard("")
    if not words:
        raise EmbeddingError(f"{shown(path)} has no words: one word a line, UTF-8")
    return frozenset(words)


def _binary_blocks(stream: io.BufferedReader, layout: FileLayout, table: Table) -> Iterator[_Block]:
    """Rows of a word, a blank, little-endian float32 numbers; some tools put a newline before the word."""
    count = layout.count or 0
    buffer = b""
    while table.rows < count and table.room:
        buffer += stream.read(_CHUNK)
        rows, words, parts, used = _split_binary(buffer, layout, table, min(_CHUNK, table.room))
        if not used:
            _refuse_binary_row(buffer, count, table)
        yield rows, words, np.frombuffer(bytearray().join(parts), "<f4").reshape(-1, layout.dimension)
        buffer = buffer[used:]
    if table.room and (buffer + stream.read(1)).strip(b"\n"):
        table.broken(table.rows, f"more follows than the {count} words that the header says; {FETCH}")


def _split_binary(
    buffer: bytes, layout: FileLayout, table: Table, most: int
) -> tuple[list[int], list[bytes], list[bytes], int]:
    """The whole rows at the start of ``buffer`` that are wanted, at most ``most``, and the bytes they take."""
    rows: list[int] = []
    words: list[bytes] = []
    parts: list[bytes] = []
    row, last, width, position = table.rows, layout.count or 0, 4 * layout.dimension, 0
    while row < last and len(rows) < most:
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
    return rows, words, parts, position


def _refuse_binary_row(buffer: bytes, count: int, table: Table) -> NoReturn:
    row = table.rows + 1
    if b" " not in buffer[:_LONGEST_WORD_BYTES] and len(buffer) > _LONGEST_WORD_BYTES:
        table.broken(
            row, f"no word ends within {_LONGEST_WORD_BYTES} bytes: the rows before are damaged; {FETCH}"
        )
    table.broken(row, f"the file ends here and its header says {count} words: it is cut short; {FETCH}")


def _text_blocks(stream: io.BufferedReader, layout: FileLayout, table: Table) -> Iterator[_Block]:
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


def _text_lines(stream: io.BufferedReader, layout: FileLayout, table: Table) -> Iterator[tuple[int, bytes]]:
    """Pairs (row, line without blanks at its end); empty lines are allowed at the end of the file only."""
    line = layout.first_line or stream.readline(LINE_LIMIT + 1)
    empty = 0
    while line:
        table.rows += 1
        if len(line) > LINE_LIMIT:
            table.broken(table.rows, f"a line of more than {LINE_LIMIT} bytes; {FETCH}")
        if stripped := line.rstrip(b" \t\r\n"):
            for before in range(empty, 0, -1):
                table.bad(table.rows - before, "an empty line")
            empty = 0
            if layout.count is not None and table.rows > layout.count:
                table.broken(
                    table.rows, f"the header says {layout.count} words; correct it or remove the row"
                )
            yield table.rows, stripped
        else:
            empty += 1
        line = stream.readline(LINE_LIMIT + 1)
    table.rows -= empty
    if layout.count is not None and table.rows < layout.count:
        table.broken(table.rows, f"the file ends here and its header says {layout.count} words; {FETCH}")


def _numbers(row: int, fields: list[bytes], dimension: int, table: Table) -> list[float] | None:
    """The numbers of a row; None when the row is bad and left out."""
    word, *numbers = fields
    if len(numbers) < dimension:
        table.bad(row, f"{len(numbers)} numbers instead of {dimension}", kind="too few numbers")
        return None
    if b" " in word and is_number(word.rsplit(b" ", 1)[1]):
        table.bad(row, f"more than {dimension} numbers", kind="too many numbers")
        return None
    try:
        if b"_" in b"".join(numbers):  # Python reads 1_0 as 10, other tools do not
            raise ValueError
        return list(map(float, numbers))
    except ValueError:
        table.bad(row, "something that is not a number among the numbers")
        return None
