"""The rows that are kept of a file of vectors: checked a block at a time, refused or counted when bad."""

from __future__ import annotations

import re
import sys
from collections import Counter
from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from typing import Final, NoReturn, final

import numpy as np

from publius.arrays import Float32Array
from publius.errors import EmbeddingError
from publius.files import AnyPath, shown
from publius.embeddings.admissible import UNKNOWN, vector_faults, word_fault
from publius.embeddings.importing.file_format import FETCH, WORD2VEC_BINARY, FileLayout

_SKIP: Final = "correct the file, or leave such rows out with skip_bad_rows (--skip-bad-rows)"


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


@final
class Table:
    """The rows that are kept, checked a block at a time."""

    def __init__(
        self,
        path: AnyPath,
        layout: FileLayout,
        limit: int | None,
        vocabulary: AbstractSet[str] | None,
        skip_bad_rows: bool,
    ) -> None:
        self.rows = 0
        self._path, self._layout, self._limit, self._skip = path, layout, limit, skip_bad_rows
        self._vocabulary = (
            None if vocabulary is None else {word.encode("utf-8", "replace") for word in vocabulary}
        )
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
        word = decoded(raw)
        if word == UNKNOWN:
            self._unknown_rows += 1
            return False
        if word is None:
            fault = "bytes that are not UTF-8 in the word"
        elif word in self._words:
            fault = f"the word of row {self._words[word]} again"
        else:
            fault = word_fault(word) or fault
        if fault is None and word is not None:
            self._words[word] = row
            return True
        self.bad(row, str(fault), kind="a repeated word" if word in self._words else None)
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
        try:
            self._vectors.resize(
                (rows, self._layout.dimension), refcheck=False
            )  # no view exists; no copy is made
        except MemoryError:
            raise EmbeddingError(
                f"{shown(self._path)}: {rows} words of {self._layout.dimension} numbers do not fit into memory: "
                "keep fewer with limit (--limit) or vocabulary (--vocabulary)"
            ) from None

    def result(self) -> WordVectors:
        """The rows that were kept; `EmbeddingError` when there are none."""
        if not self._words:
            raise EmbeddingError(
                f"{shown(self._path)}: none of its {self.rows} rows is a word to keep: {self._hint()}"
            )
        self._resize(len(self._words))
        self._vectors.flags.writeable = False
        return WordVectors(
            words=tuple(self._words),
            vectors=self._vectors,
            format=self._layout.format,
            rows=self.rows,
            skipped=dict(sorted(self._skipped.items())),
            unknown_rows=self._unknown_rows,
        )

    def _hint(self) -> str:
        return FETCH if self._vocabulary is None else "check that the vocabulary has the same case and script"


def decoded(word: bytes) -> str | None:
    """The UTF-8 text of ``word``; None when it is not UTF-8."""
    try:
        return word.decode()
    except UnicodeDecodeError:
        return None
