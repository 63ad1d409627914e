"""A corpus: documents in files, read in order as often as needed, or handed to workers a batch at a time."""

from __future__ import annotations

import hashlib
import hmac
from collections import deque
from collections.abc import Container, Iterator, Sequence
from pathlib import Path
from typing import Any, Final, final

import msgspec

from publius.documents.document import Document, Plan
from publius.documents.sources import Source
from publius.documents.tables import Stored, Table, check_columns, chunked, has_column
from publius.errors import DataError, os_errors
from publius.files.reading import file_sha256, value_list
from publius.settings import Reading
from publius.text.normal_form import UNHEARD, Tally, author_key, said

OWN: Final = "id"  # the author field that makes each document its own author, where no column is called so


@final
class Note(msgspec.Struct, frozen=True):
    """What the curator is told of the files: what, how often, and where."""

    what: str
    count: int
    where: str


@final
class Batch(msgspec.Struct):
    """Documents in order, from number ``first`` on, of the corpus's ``table`` of that number; small, to be sent away."""

    first: int
    rows: Sequence[Sequence[Any]] | Stored
    plan: Plan
    table: int = 0

    def __len__(self) -> int:
        return len(self.rows)

    def _values(self, tally: Tally = UNHEARD) -> Iterator[tuple[int, Sequence[Any]]]:
        return enumerate(self.rows.read(tally) if isinstance(self.rows, Stored) else self.rows, start=self.first)

    def documents(self, tally: Tally = UNHEARD, only: Container[int] | None = None) -> list[Document]:
        """The documents, or those of some rows; what is odd about them and their rows is counted."""
        make = self.plan.document
        return [make(row, values, tally) for row, values in self._values(tally) if only is None or row in only]

    def authors(self) -> list[str | None]:
        """The key of the author of each document, whose text needs no cleaning for it."""
        writer = self.plan.writer
        return [author_key(writer(row, values[2])) for row, values in self._values()]

    def held(self) -> Batch:
        """With its values, for a machine that does not see the file."""
        return msgspec.structs.replace(self, rows=[values for _, values in self._values()])


@final
class Corpus:
    """Documents stored in files; iterate over it, as often as needed. Made by `open_corpus`."""

    def __init__(self, source: Source, tables: Sequence[Table], plans: Sequence[Plan]) -> None:
        self.source, self.tables, self.plans = source, tuple(tables), tuple(plans)  # the source holds standard input
        self.counted = 0  # how many documents there are; 0 as long as nobody has read to their end
        self.tallies: list[Tally] | None = None  # what was seen in each table's documents by who read all of them last
        self._met: set[str] = set()
        self._digests: dict[tuple[int, ...], str] = {}

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
        """The same files and texts, with these columns beside them; with ``gaps`` a file need not have them all."""
        named = [each for given in no_author for each in value_list(given or '""', "--no-author")]
        nobody = frozenset(author_key(each) or "" for each in named)
        beside, plans = () if gaps else fields, []
        needed = [name for name in (author_field, id_field, *beside) if name is not None and name != OWN]
        for table, plan, columns in zip(self.tables, self.plans, _columns_with(needed, self.tables), strict=True):
            own, id = author_field == OWN, None if id_field == OWN and OWN not in columns else id_field
            of = table.name if len(self.tables) > 1 else ""
            check_columns(columns, (None if own else author_field, id, *beside), of)
            told = {"id": id, "author": author_field, "own": own, "fields": (*fields,), "nobody": nobody}
            plans.append(msgspec.structs.replace(plan, **told))
        return Corpus(self.source, self.tables, plans)

    def __iter__(self) -> Iterator[Document]:
        """The documents in order."""
        tallies = [Tally() for _ in self.tables]
        for batch in self.batches(500):
            yield from batch.documents(tallies[batch.table])
        self.tallies = tallies

    def batches(self, size: int = 1000) -> Iterator[Batch]:
        """The documents in order, at most ``size`` at a time and fewer where they are long."""
        first = 0
        for number, (table, plan) in enumerate(zip(self.tables, self.plans, strict=True)):
            names, nobody = plan.names(), plan.nobody
            somebodys = chunked(self._somebodys(table.rows(names), nobody), size) if nobody else None
            for some in somebodys or table.chunks(names, size):
                yield Batch(first, some, plan, number)
                first += len(some)
        self.counted = first

    def _somebodys(self, rows: Iterator[Sequence[Any]], nobody: frozenset[str]) -> Iterator[Sequence[Any]]:
        for row in rows:
            if (key := author_key(said(row[2])) or "") in nobody:
                self._met.add(key)
            else:
                yield row

    def digests(self) -> tuple[str, ...]:
        """SHA-256 of each file; of files of one document each one of all: no author's file decides what is known (rule 5)."""
        found = {table.path: (self._digest(table.path), table.alone) for table in self.tables}
        alone = sorted(sha256 for sha256, single in found.values() if single)
        many = [sha256 for sha256, single in found.values() if not single]
        return (*many, *([hashlib.sha256("".join(alone).encode()).hexdigest()] if len(alone) > 1 else alone))

    def _digest(self, path: Path) -> str:
        """That of a file, computed again where it was written again."""
        with os_errors("read", path):
            state = path.stat()
        of = (state.st_dev, state.st_ino, state.st_size, state.st_mtime_ns, state.st_ctime_ns)
        return self._digests.get(of) or self._digests.setdefault(of, file_sha256(path))

    def fingerprint(self, key: bytes) -> str:
        """A keyed digest of the files and of how they are read, by which an interrupted run knows its input again."""
        told = msgspec.json.encode([self.digests(), self.plans, [each.reading for each in self.tables]], order="sorted")
        return hmac.new(key, told, hashlib.sha256).hexdigest()

    def notes(self) -> list[Note]:
        """What was noticed while it was read; it is read once for this."""
        if self.tallies is None:
            deque(self, maxlen=0)
        found: dict[str, Note] = {}
        for what, count, where in self._noticed():
            before = found.get(what, Note(what, 0, where))
            found[what] = Note(what, count + before.count, where if where == before.where else "several files")
        return [note for note in found.values() if note.count]

    def _noticed(self) -> Iterator[tuple[str, int, str]]:
        for table, tally in zip(self.tables, self.tallies or (), strict=True):
            name = table.name if len(self.tables) > 1 else ""
            for what, (count, place) in table.told.items():
                yield what, count, ", ".join(filter(None, [name, place]))
            for what, count in (table.tally + tally).items():
                yield what, count, name
        yield from ((what, count, place) for what, (count, place) in self.source.told.items())
        absent = self.plan.nobody - self._met
        yield "values of --no-author that no row has", len(absent), ", ".join(map(repr, sorted(absent)))


def _columns_with(wanted: Sequence[str], tables: Sequence[Table]) -> list[tuple[str, ...]]:
    """The columns of each file; without a header, where rows decide them, those of all such files together."""
    found = [table.columns_with(wanted) for table in tables]
    pairs = [*zip(tables, found, strict=True)]
    together = dict.fromkeys(name for table, columns in pairs if not table.headed for name in columns)
    return [columns if table.headed else (*together,) for table, columns in pairs]


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
    tables = opened.tables(reading)
    filled = [table for table in tables if table.columns or next(table.rows(()), None) is not None]
    nothing = DataError(
        f"{opened.name} holds no document: check that it is the right one; --subfolders reads folders in a folder."
    )
    if not any(table.columns for table in filled):
        raise nothing
    if len(filled) < len(tables):
        opened.told["files without any document"] = (len(tables) - len(filled), "")
    plans, lacking = [], 0
    for table, columns in zip(filled, _columns_with([reading.text_field or "text"], filled), strict=True):
        text = table.text_column(columns, table.name if len(filled) > 1 else "")
        plans.append(Plan(text=text, raw=reading.raw, keep_quotes=reading.keep_quotes))
        lacking += not has_column(table.columns_with([text]), text)
    if lacking:
        opened.told["files without the column of texts, which count as empty"] = (lacking, "")
    corpus = Corpus(opened, filled, plans).carrying(fields, author_field, no_author, id_field)
    if next(corpus.batches(1), None) is None and not corpus.plan.nobody:
        raise nothing
    return corpus
