"""A corpus: documents in files, read in order as often as needed, or handed to workers a batch at a time."""

from __future__ import annotations

import hashlib
import hmac
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, final

import msgspec

from publius.documents.document import (
    Document,
    NoTextColumnError,
    Plan,
    Tally,
    check_columns,
    has_column,
    said,
    text_column,
)
from publius.documents.sources import Source, tables_of
from publius.documents.tables import Chunk, Table
from publius.errors import DataError
from publius.files.reading import files_sha256
from publius.files.value_list import value_list
from publius.settings import Reading
from publius.text.author_names import author_key

OWN: Final = "id"
"""The author field that makes each document its own author, where no column is called so."""


@final
@dataclass(frozen=True, slots=True)
class Note:
    """What the curator is told of the files: what, how often, and where."""

    what: str
    count: int
    where: str


@final
class Batch(msgspec.Struct):
    """Documents in order, from number ``first`` on; what travels to a worker is small and decoded there."""

    first: int
    chunk: Any
    plan: Plan

    def __len__(self) -> int:
        return len(self.chunk)

    def documents(self, tally: Tally | None = None) -> list[Document]:
        """The documents; `DataError` with the row where one is malformed."""
        make, rows = self.plan.document, self.chunk.values(self.plan, tally)
        return [make(row, values, tally) for row, values in enumerate(rows, start=self.first)]


@final
class Corpus:
    """Documents stored in files; iterate over it, as often as needed. Made by `open_corpus`."""

    def __init__(self, source: Source, tables: Sequence[Table], plans: Sequence[Plan]) -> None:
        """``source`` holds what was read from standard input as long as the corpus lives; a plan for each table."""
        self.source, self.tables, self.plans = source, tuple(tables), tuple(plans)
        self._tally: Tally | None = None
        self._count: int | None = None
        self._met: set[str] = set()

    @property
    def plan(self) -> Plan:
        """Which columns make the documents of the first file."""
        return self.plans[0]

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns of the files, each once."""
        return tuple(dict.fromkeys(name for table in self.tables for name in table.columns))

    def carrying(
        self, fields: Sequence[str] = (), author_field: str | None = None, no_author: Sequence[str] = (),
        id_field: str | None = None, *, gaps: bool = False,
    ) -> Corpus:  # fmt: skip
        """The same files and texts, with these columns beside them; `DataError` where one is not there.

        With ``gaps`` a file need not have them all.
        """
        named = [each for given in no_author for each in value_list(given or '""', "--no-author")]
        nobody = frozenset(author_key(each) or "" for each in named)
        plans, needed = [], [name for name in (author_field, id_field, *(() if gaps else fields)) if name is not None]
        columns_of = _columns_with([name for name in needed if name != OWN], self.tables)
        for table, plan, columns in zip(self.tables, self.plans, columns_of, strict=True):
            own = author_field == OWN and OWN not in columns
            author = None if own else author_field
            id = None if id_field == OWN and OWN not in columns else id_field
            wanted = [name for name in (author, id, *(() if gaps else fields)) if name is not None]
            with _named_in(table, len(self.tables) > 1):
                check_columns(columns, wanted)
            told = {"id": id, "author": author, "own": own, "fields": (*fields,), "nobody": nobody}
            plans.append(msgspec.structs.replace(plan, **told))
        return Corpus(self.source, self.tables, plans)

    def __iter__(self) -> Iterator[Document]:
        """The documents in order."""
        tally = Tally()
        for batch in self._batches(500, tally):
            yield from batch.documents(tally)
        self._tally = tally

    def texts(self) -> Iterator[tuple[str, Any]]:
        """Each text with the value of its author, as they stand: a look that takes less than half of the time."""
        tally = Tally()
        for batch in self._batches(500, tally):
            for values in batch.chunk.values(batch.plan, tally):
                yield batch.plan.given(values, tally), values[2]
        self._tally = tally

    def batches(self, size: int = 1000) -> Iterator[Batch]:
        """The documents in order, at most ``size`` at a time, undecoded where that can be."""
        return self._batches(size, None)

    def _batches(self, size: int, tally: Tally | None) -> Iterator[Batch]:
        first = 0
        for table, plan in zip(self.tables, self.plans, strict=True):
            for chunk in table.chunks(plan, size):
                part = self._named(chunk, plan, tally) if plan.nobody else chunk
                if len(part):
                    yield Batch(first, part, plan)
                    first += len(part)
        self._count = first

    def _named(self, chunk: Chunk, plan: Plan, tally: Tally | None) -> Chunk:
        """The rows whose author is somebody."""
        rows = [(author_key(said(row[2])) or "", row) for row in chunk.values(plan, tally)]
        self._met.update(key for key, _ in rows if key in plan.nobody)
        return Chunk([row for key, row in rows if key not in plan.nobody])

    @property
    def counted(self) -> int:
        """How many documents there are, 0 as long as nobody has read to their end."""
        return self._count or 0

    def count(self) -> int:
        """How many documents there are."""
        if self._count is None:
            self._count = sum(map(len, self.batches(10_000)))
        return self._count

    def digests(self) -> tuple[str, ...]:
        """SHA-256 of each file."""
        return tuple(files_sha256([path]) for path in dict.fromkeys(table.path for table in self.tables))

    def fingerprint(self, key: bytes) -> str:
        """A keyed digest of the files and of how they are read, by which an interrupted run knows its input again."""
        readings = [table.reading for table in self.tables]
        told = msgspec.json.encode([self.digests(), self.plans, readings], order="sorted")
        return hmac.new(key, told, hashlib.sha256).hexdigest()

    def notes(self) -> list[Note]:
        """What was noticed while it was read; it is read once for this."""
        if self._tally is None:
            for _ in self:
                pass
        found: dict[str, Note] = {}

        def note(what: str, count: int, *places: str) -> None:
            where = ", ".join(filter(None, places))
            if before := found.get(what):
                where = before.where if where in ("", before.where) else "several files"
                count += before.count
            found[what] = Note(what, count, where)

        for table in self.tables:
            name = table.name if len(self.tables) > 1 else ""
            for what, (count, place) in table.told.items():
                note(what, count, name, place)
            for what, count in table.tally.items():
                note(what, count, name)
        for what, count in (self._tally or {}).items():
            note(what, count)
        for what, (count, place) in self.source.told.items():
            note(what, count, place)
        if absent := self.plan.nobody - self._met:
            note("values of --no-author that no row has", len(absent), ", ".join(map(repr, sorted(absent))))
        return [*found.values()]


def _columns_with(wanted: Sequence[str], tables: Sequence[Table]) -> list[tuple[str, ...]]:
    """The columns of each file; without a header, where rows decide them, those of all such files together."""
    found = [table.columns_with(wanted) for table in tables]
    together = dict.fromkeys(
        name for table, columns in zip(tables, found, strict=True) if not table.headed for name in columns
    )
    return [columns if table.headed else (*together,) for table, columns in zip(tables, found, strict=True)]


@contextmanager
def _named_in(table: Table, several: bool) -> Iterator[None]:
    """The file in an error of a missing column, where there are several."""
    try:
        yield
    except NoTextColumnError as error:
        if several:
            way_out = "Where not all hold documents, name the files or folders that do, or add --subfolders."
            error.args = (f"{table.name}: {error} {way_out}",)
        raise


def open_corpus(
    source: str | Path | Sequence[str | Path] | Source, reading: Reading = Reading(), *, id_field: str | None = None,
    author_field: str | None = None, no_author: Sequence[str] = (), fields: Sequence[str] = (),
) -> Corpus:  # fmt: skip
    """The documents of a file, a folder, several of them, or ``-`` for standard input.

    Args:
        source: where they are. A folder gives the files in it, in the order of their names.
        reading: how they are read, as the options of the command line.
        id_field: column of ids; where a file is one document its name without the suffix.
        author_field: column of authors; "id" where there is no such column makes each document its own author.
        no_author: values of that column that name nobody; their rows are left out.
        fields: further columns that each document carries.

    Raises:
        UsageError: an option that does not fit.
        DataError: a file that is broken, of a kind that is not read, without the columns, or without any row.
        StorageError: one that cannot be read.

    """
    opened = source if isinstance(source, Source) else Source(source)
    tables = tables_of(opened, reading)
    nothing = DataError(
        f"{opened.name} holds no document: check that it is the right one; --subfolders reads folders in a folder."
    )
    filled = [table for table in tables if table.columns or any(map(len, table.chunks(Plan(text=""), 1)))]
    if not any(table.columns for table in filled):
        raise nothing
    if len(filled) < len(tables):
        opened.told["files without any document"] = (len(tables) - len(filled), "")
    tables, wanted, texts = filled, reading.text_field, []
    for table, columns in zip(tables, _columns_with([wanted or "text"], tables), strict=True):
        with _named_in(table, len(tables) > 1):
            texts.append(text_column(columns, wanted, table.longest, only=table.headed))
    lacking = [
        table for table, text in zip(tables, texts, strict=True) if not has_column(table.columns_with([text]), text)
    ]
    if lacking:
        opened.told["files without the column of texts, which count as empty"] = (len(lacking), "")
    plans = [Plan(text=text, raw=reading.raw, keep_quotes=reading.keep_quotes) for text in texts]
    corpus = Corpus(opened, tables, plans).carrying(fields, author_field, no_author, id_field)
    if next(corpus.batches(1), None) is None and not corpus.plan.nobody:
        raise nothing
    return corpus
