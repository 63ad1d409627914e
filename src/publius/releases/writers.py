"""Releases to files: JSONL, CSV, Parquet, Matrix Market. A writer sees only released bags (R21).

Words come in vocabulary order and nothing else about their order is written (R11), except of ordered text, which is
marked so in every record. An experiment's warning is on every artefact (R10). Files are their owner's only: who made
the folder opens them to others when it has its place.
"""

from __future__ import annotations

import csv
import functools
import hashlib
import io
import json
import math
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from json.encoder import encode_basestring
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, BinaryIO, ClassVar, Final, Self, final

from publius.documents.row_readers import import_parquet
from publius.errors import UsageError
from publius.files import EarlyFlush, json_of, private
from publius.releases.plan import ORDERED_TEXT, Plan, published
from publius.releases.release import Release, ReleasedTogether
from publius.text.bag import Bag, drawn_json
from publius.text.known_words import IndexedVocabulary
from publius.text.tokenizer import joined

if TYPE_CHECKING:
    import pyarrow

COMPRESSION: Final = "zstd"
RESERVED = (
    "id", "size", "kind", "bag", "word", "count", "words", "counts", "kept", "text", "position", "warning", "private",
)  # fmt: skip

_JSON: Final = json.JSONEncoder(ensure_ascii=False, allow_nan=False)

LABEL: Final = ("label", "probability_kept")
"""What a row leads with, where the mechanism prints a label: it says what is released."""

PROTOTYPE: Final = ("prototype",)


@final
@dataclass(frozen=True)
class Layout:
    """How releases are written: words in vocabulary order, exactly the labels asked for, an experiment's warning.

    ``ordered`` is for ordered text: each record says so, and has the words as they follow each other too. With
    ``prototypes`` each has the public prototype that stands for the document.

    ``probability_kept`` is the public constant that stands beside each label (`Mechanism.probability_kept`); None where
    no label is printed. Without ``bags`` a label is all that is released.
    """

    vocabulary: IndexedVocabulary
    labels: tuple[str, ...] = ()
    warning: str | None = None
    ordered: bool = False
    prototypes: bool = False
    probability_kept: float | None = None
    bags: bool = True

    def __post_init__(self) -> None:
        taken = {*RESERVED, *self.leading, *(PROTOTYPE if self.prototypes else ())}
        if clash := sorted(set(self.labels) & taken):
            raise UsageError(f"a kept field cannot be called {clash[0]!r}: that name is the release's own")

    @classmethod
    def of(cls, plan: Plan) -> Self:
        """The layout of a plan's releases; `UsageError` when a kept field has a name of the release's own."""
        mechanism, kept = plan.mechanism, plan.mechanism.probability_kept
        return cls(
            plan.vocabulary, plan.labels, plan.warning, plan.ordered is not None, "prototype" in mechanism.fields,
            None if kept is None else published(kept), mechanism.releases_bags,
        )  # fmt: skip

    @property
    def leading(self) -> tuple[str, ...]:
        """The fields that a row begins with, before the id."""
        return () if self.probability_kept is None else LABEL

    def counts(self, release: Release) -> dict[str, int]:
        """The bag's words in vocabulary order; words outside it (an experiment's) last."""
        places, counts = self.vocabulary.places, release.bag.counts
        try:
            order = sorted(counts, key=places.__getitem__)
        except KeyError:
            order = sorted(counts, key=lambda word: (places.get(word, math.inf), word))
        return {word: counts[word] for word in order}

    def record(self, release: Release) -> dict[str, Any]:
        """Id, size, the kind of ordered text, an experiment's warning, and exactly the labels that were asked for."""
        if (release.words is not None) != self.ordered:
            raise UsageError("a release is of another kind than the plan: bags and ordered text do not mix")
        rest = {**self._marked(release.prototype), **self._kept(release.labels)}
        size = {"size": release.bag.size} if self.bags else {}
        return {**self._leading(release.label), "id": release.id, **size, **rest}

    def _leading(self, label: str | None) -> dict[str, Any]:
        return (
            {}
            if self.probability_kept is None
            else dict(zip(LABEL, (label, self.probability_kept), strict=True))
        )

    def _marked(self, prototype: int | None) -> dict[str, Any]:
        """What is the same of many documents: the kind of ordered text, a warning, the prototype."""
        kind = {"kind": ORDERED_TEXT} if self.ordered else {}
        warning = {"warning": self.warning} if self.warning else {}
        named = {"prototype": prototype} if self.prototypes else {}
        return {**kind, **warning, **named}

    def _kept(self, labels: Mapping[str, Any]) -> dict[str, Any]:
        if labels.keys() != {*self.labels}:
            raise UsageError("a release has other labels than the plan keeps: give both the same fields")
        return {label: labels[label] for label in self.labels}

    def json_line(self, release: Release) -> bytes:
        """The line of ``bags.jsonl``: label, id, size, bag, kept fields; ordered text has words, kept and text, too."""
        record = self.record(release)
        first = {name: record.pop(name) for name in (*self.leading, "id")}
        head = _JSON.encode(first)[:-1]
        if self.bags:
            bag = drawn_json(release.bag, self.vocabulary.vocabulary) or _JSON.encode(self.counts(release))
            head += f', "size": {record.pop("size")}, "bag": {bag}'
        rest = {**record, **self._in_order(release)}
        few = not self.labels and not self.ordered
        return (head + (_tail(tuple(rest.items())) if few else _encoded(rest))).encode()

    def json_lines(self, releases: Sequence[Release]) -> bytes:
        """The `json_line` of each, one behind the other; quicker where they were drawn together."""
        if isinstance(releases, ReleasedTogether) and not self.ordered:
            bags = releases.outcomes.bags
            if bags.alphabet.vocabulary is self.vocabulary.vocabulary and bags.texts is not None:
                return self._lines_together(releases, bags.size, bags.texts)
        return b"".join(map(self.json_line, releases))

    def _lines_together(self, releases: ReleasedTogether, size: int, bags: Sequence[str]) -> bytes:
        named = releases.outcomes.named
        marked = {each: self._marked(each[0]) for each in {*named}}
        lead = {each: _JSON.encode({**self._leading(each[1]), "id": ""})[:-3] for each in marked}
        if self.labels or any(releases.labels):
            pairs = zip(named, map(self._kept, releases.labels), strict=True)
            ends = [_encoded({**marked[each], **own}) for each, own in pairs]
        else:
            tails = {each: _encoded(marks) for each, marks in marked.items()}
            ends = [tails[each] for each in named]
        parts = zip(
            [lead[each] for each in named], map(encode_basestring, releases.ids), bags, ends, strict=True
        )
        lines = [f'{first}{id}, "size": {size}, "bag": {bag}{end}' for first, id, bag, end in parts]
        return "".join(lines).encode()

    def _in_order(self, release: Release) -> dict[str, Any]:
        """The words of ordered text as they follow each other, the places of those kept, and all as one line."""
        if release.words is None:
            return {}
        return {"words": list(release.words), "kept": list(release.kept), "text": joined(release.words)}

    def schema(self) -> pyarrow.Schema:
        """The columns of Parquet: label, id, size, the kept fields, words, counts; `MissingExtraError` without pyarrow.

        Ordered text has words, kept and text instead of words and counts.
        """
        pa = import_parquet()[0]
        marks = {name: text for name, text in self._marks().items() if text is not None}
        fields = list(zip(self.leading, (pa.string(), pa.float64()), strict=False))
        fields += [("id", pa.string()), *((("size", pa.int64()),) if self.bags else ())]
        fields += [(name, pa.string()) for name in marks]
        fields += [("prototype", pa.int64())] if self.prototypes else []
        fields += [(label, pa.string()) for label in self.labels]
        if not self.bags:
            return pa.schema(fields, metadata=marks or None)
        fields += [("words", pa.list_(pa.string()))]
        if self.ordered:
            fields += [("kept", pa.list_(pa.int64())), ("text", pa.string())]
        else:
            fields += [("counts", pa.list_(pa.int64()))]
        return pa.schema(fields, metadata=marks or None)

    def _marks(self) -> dict[str, str | None]:
        return {"kind": ORDERED_TEXT if self.ordered else None, "warning": self.warning}

    def rows(self, releases: Sequence[Release]) -> pyarrow.RecordBatch:
        """Releases as rows of `schema`."""
        records = []
        for release in releases:
            counts = self.counts(release)
            labels = {label: _text(value) for label, value in release.labels.items()}
            columns = self._in_order(release) or {"words": list(counts), "counts": list(counts.values())}
            records.append({**self.record(release), **labels, **(columns if self.bags else {})})
        return import_parquet()[0].RecordBatch.from_pylist(records, schema=self.schema())


@functools.lru_cache(maxsize=1024)
def _tail(items: tuple[tuple[str, Any], ...]) -> str:
    """`_encoded` for what is the same of many documents: a prototype, an experiment's warning."""
    return _encoded(dict(items))


def _encoded(rest: dict[str, Any]) -> str:
    """The end of a line of JSON with ``rest`` in it, after other keys."""
    return f", {_JSON.encode(rest)[1:]}\n" if rest else "}\n"


def json_line(record: dict[str, Any]) -> bytes:
    """A record as a line of JSON."""
    return _JSON.encode(record).encode() + b"\n"


def record_of(line: bytes) -> dict[str, Any]:
    """The record that `json_line` wrote, without the newline; `ValueError` for another line that says the same."""
    record: dict[str, Any] = json_of(line)
    if json_line(record) != line + b"\n":
        raise ValueError("not as it is written")
    return record


def release_of(line: bytes, plan: Plan) -> Release:
    """The release that `Layout.json_line` wrote under ``plan``."""
    record = json.loads(line)
    return Release(
        record["id"],
        Bag.from_counts(record["bag"]) if plan.mechanism.releases_bags else Bag([record["label"]]),
        None if plan.experiment else plan.guarantee,
        {label: record[label] for label in plan.labels},
        record.get("warning"),
        tuple(record["words"]) if plan.ordered else None,
        tuple(record["kept"]) if plan.ordered else (),
        record.get("prototype"),
        record["label"] if plan.mechanism.probability_kept is not None else None,
    )


def _text(value: object) -> str | None:
    return value if isinstance(value, str) or value is None else json.dumps(value)


class AbstractWriter(ABC):
    """Writes releases to a folder, one after another; use it as a context manager."""

    format: ClassVar[str]
    keeps_order: ClassVar[bool] = True

    def __init__(self, folder: Path, layout: Layout) -> None:
        """Write into ``folder`` as ``layout`` says."""
        self.check(layout)
        self.folder = folder
        self.layout = layout
        self._open()

    @final
    @classmethod
    def check(cls, layout: Layout) -> None:
        """`UsageError` when ``layout`` has what this format cannot hold."""
        if layout.ordered and not cls.keeps_order:
            raise UsageError(
                f"the {cls.format} format has no order: choose jsonl, csv or parquet for ordered text"
            )
        if not layout.bags and not cls.keeps_order:
            raise UsageError(f"the {cls.format} format holds bags only: choose jsonl, csv or parquet")

    @abstractmethod
    def _open(self) -> None: ...

    @classmethod
    @abstractmethod
    def encoded(cls, layout: Layout, releases: Sequence[Release]) -> Any:
        """Finished bytes of ``releases`` for `add`, which a worker makes and which go to another process by pickle."""

    @abstractmethod
    def add(self, encoded: Any) -> None:
        """Add what `encoded` made. Where those parts begin and end is not seen in the files."""

    @property
    def digests(self) -> dict[str, str]:
        """SHA-256 of the files by name, of those of which it is known when all is written."""
        return {}

    @final
    def write(self, release: Release) -> None:
        """Add one release."""
        self.write_all([release])

    @final
    def write_all(self, releases: Sequence[Release]) -> None:
        """Add many."""
        self.add(self.encoded(self.layout, releases))

    @abstractmethod
    def close(self) -> None:
        """Finish the files."""

    @final
    def __enter__(self) -> Self:
        return self

    @final
    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


@final
class JsonLines(AbstractWriter):
    """``bags.jsonl``: one object a line with id, size, bag and the kept fields."""

    format = "jsonl"
    _NAME: ClassVar[str] = "bags.jsonl"

    def _open(self) -> None:
        self._file: BinaryIO = open(self.folder / self._NAME, "xb", opener=private)  # noqa: SIM115
        self._early = EarlyFlush(self._file)
        self._digest = hashlib.sha256()

    @classmethod
    def encoded(cls, layout: Layout, releases: Sequence[Release]) -> bytes:
        """See `AbstractWriter.encoded`."""
        return layout.json_lines(releases)

    def add(self, encoded: bytes) -> None:
        """See `AbstractWriter.add`."""
        self._file.write(encoded)
        self._early.wrote(len(encoded))
        self._digest.update(encoded)

    @property
    def digests(self) -> dict[str, str]:
        """See `AbstractWriter.digests`."""
        return {self._NAME: self._digest.hexdigest()}

    def close(self) -> None:
        """See `AbstractWriter.close`."""
        self._file.close()


@final
class Csv(AbstractWriter):
    """``bags.csv``: one row a word with id, size, the kept fields, word and count.

    Ordered text has a row a place instead: position (from 1), word, and whether it is kept (0 or 1). A cell that a
    spreadsheet would run as a formula gets an apostrophe in front.
    """

    format = "csv"

    def _open(self) -> None:
        self._file: BinaryIO = open(self.folder / "bags.csv", "xb", opener=private)  # noqa: SIM115
        self._early = EarlyFlush(self._file)
        kind = ["kind"] if self.layout.ordered else []
        warning = ["warning"] if self.layout.warning else []
        last = (
            ["position", "word", "kept"]
            if self.layout.ordered
            else ["word", "count"]
            if self.layout.bags
            else []
        )
        named = PROTOTYPE if self.layout.prototypes else ()
        labels = map(spreadsheet_safe, self.layout.labels)
        size = ["size"] if self.layout.bags else []
        header = [*self.layout.leading, "id", *size, *kind, *warning, *named, *labels, *last]
        self.add(csv_rows([header]))

    @classmethod
    def encoded(cls, layout: Layout, releases: Sequence[Release]) -> bytes:
        """See `AbstractWriter.encoded`."""
        return csv_rows(row for release in releases for row in cls._rows_of(layout, release))

    def add(self, encoded: bytes) -> None:
        """See `AbstractWriter.add`."""
        self._file.write(encoded)
        self._early.wrote(len(encoded))

    @classmethod
    def _rows_of(cls, layout: Layout, release: Release) -> Iterator[list[Any]]:
        head = [spreadsheet_safe(value) for value in layout.record(release).values()]
        for cells in cls._cells(layout, release):
            yield [*head, *map(spreadsheet_safe, cells)]

    @staticmethod
    def _cells(layout: Layout, release: Release) -> Iterator[Sequence[Any]]:
        if not layout.bags:
            yield ()
            return
        if release.words is None:
            yield from layout.counts(release).items()
            return
        kept = set(release.kept)
        for place, word in enumerate(release.words):
            yield place + 1, word, int(place in kept)

    def close(self) -> None:
        """See `AbstractWriter.close`."""
        self._file.close()


def csv_rows(rows: Iterable[Sequence[Any]]) -> bytes:
    """Rows of a table as they are written."""
    lines = io.StringIO()
    csv.writer(lines, lineterminator="\r\n").writerows(rows)
    return lines.getvalue().encode()


def spreadsheet_safe(value: Any) -> Any:
    """``value``, with an apostrophe in front where a spreadsheet would read a formula."""
    return (
        f"'{value}"
        if isinstance(value, str) and value.startswith(("=", "+", "-", "@", "\t", "\r"))
        else value
    )


def unmarked(text: str) -> str:
    """A text of a table without the apostrophe of `spreadsheet_safe`."""
    return text[1:] if text[:1] == "'" and spreadsheet_safe(text[1:]) != text[1:] else text


@final
class Parquet(AbstractWriter):
    """``bags.parquet``: one row a document with id, size, the kept fields, words and counts (lists)."""

    format = "parquet"
    _BATCH: ClassVar[int] = 1024

    def _open(self) -> None:
        parquet = import_parquet()[1]
        self._stream: BinaryIO = open(self.folder / "bags.parquet", "xb", opener=private)  # noqa: SIM115
        self._file = parquet.ParquetWriter(self._stream, self.layout.schema(), compression=COMPRESSION)
        self._waiting: list[pyarrow.RecordBatch] = []
        self._rows = 0

    @classmethod
    def encoded(cls, layout: Layout, releases: Sequence[Release]) -> pyarrow.RecordBatch:
        """See `AbstractWriter.encoded`."""
        return layout.rows(releases)

    def add(self, encoded: pyarrow.RecordBatch) -> None:
        """See `AbstractWriter.add`; groups of rows are of one size, however many come at once."""
        self._waiting.append(encoded)
        self._rows += encoded.num_rows
        if self._rows >= self._BATCH:
            self._flush()

    def _flush(self) -> None:
        pa = import_parquet()[0]
        whole = pa.Table.from_batches(self._waiting, self.layout.schema()).combine_chunks()
        while len(whole) >= self._BATCH:
            self._write_group(whole.slice(0, self._BATCH))
            whole = whole.slice(self._BATCH)
        self._waiting, self._rows = whole.to_batches(), len(whole)

    def _write_group(self, rows: pyarrow.Table) -> None:
        for batch in rows.to_batches():
            self._file.write_batch(batch)

    def close(self) -> None:
        """See `AbstractWriter.close`."""
        with self._stream, self._file:
            if self._rows:
                whole = import_parquet()[0].Table.from_batches(self._waiting, self.layout.schema())
                self._write_group(whole.combine_chunks())


@final
class MatrixMarket(AbstractWriter):
    """``bags.mtx`` (documents x vocabulary, coordinates), ``vocabulary.txt``, ``documents.jsonl``.

    The counts are whole numbers under a header that says real: gensim reads no other.
    """

    format = "mtx"
    keeps_order = False
    _WIDTH: ClassVar[int] = 20  # room for each number of the size line, which is known only at the end

    def _open(self) -> None:
        self._matrix: BinaryIO = open(self.folder / "bags.mtx", "xb", opener=private)  # noqa: SIM115
        self._documents: BinaryIO = open(self.folder / "documents.jsonl", "xb", opener=private)  # noqa: SIM115
        self._rows = self._entries = 0
        warning = f"% {self.layout.warning}\n" if self.layout.warning else ""
        self._matrix.write(f"%%MatrixMarket matrix coordinate real general\n{warning}".encode())
        self._size_line_at = self._matrix.tell()
        self._write_size_line()

    def _write_size_line(self) -> None:
        sizes = (self._rows, len(self.layout.vocabulary.vocabulary), self._entries)
        self._matrix.write((" ".join(str(size).rjust(self._WIDTH) for size in sizes) + "\n").encode())

    @classmethod
    def encoded(cls, layout: Layout, releases: Sequence[Release]) -> tuple[bytes, list[list[bytes]]]:
        """See `AbstractWriter.encoded`: lines of documents, and of each the ends of its entries' lines.

        A word outside the vocabulary (an experiment's) has no column: refused.
        """
        records, entries = io.BytesIO(), []
        for release in releases:
            ends = []
            for word, count in layout.counts(release).items():
                index = layout.vocabulary.index(word)
                if index is None:
                    raise UsageError(
                        "the mtx format has columns for the vocabulary only: choose jsonl, csv or parquet"
                    )
                ends.append(b" %d %d\n" % (index + 1, count))
            entries.append(ends)
            records.write(json_line(layout.record(release)))
        return records.getvalue(), entries

    def add(self, encoded: tuple[bytes, list[list[bytes]]]) -> None:
        """See `AbstractWriter.add`; which row a document has is known here only."""
        records, entries = encoded
        for ends in entries:
            self._rows += 1
            self._entries += len(ends)
            row = b"%d" % self._rows
            self._matrix.write(b"".join([part for end in ends for part in (row, end)]))
        self._documents.write(records)

    def close(self) -> None:
        """See `AbstractWriter.close`."""
        self._matrix.seek(self._size_line_at)
        self._write_size_line()
        self._matrix.close()
        self._documents.close()
        with open(
            self.folder / "vocabulary.txt", "x", encoding="utf-8", newline="\n", opener=private
        ) as file:
            file.writelines(f"{word}\n" for word in self.layout.vocabulary.vocabulary)


WRITERS: dict[str, type[AbstractWriter]] = {
    writer.format: writer for writer in (JsonLines, Csv, Parquet, MatrixMarket)
}
