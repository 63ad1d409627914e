"""Documents come in: one at a time, in order, each with an id, its text and the public labels that are kept.

A corpus can be read as often as needed and is never held in memory. A document that cannot be accepted comes
as a `BadDocument`, named by position and never by content, so that a run may skip it or stop.
"""

from __future__ import annotations

import errno
import hashlib
import json
import math
import os
import stat
import unicodedata
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import date
from pathlib import Path
from types import MappingProxyType
from typing import Any, Final, TypeVar, final

from publius.documents.foreign import KINDS as FOREIGN
from publius.documents.foreign import check_library, parquet_groups
from publius.documents.readers import LINES, READERS, SEPARATED, UNNAMED, WHOLE, kind_of_file, reader_of
from publius.documents.row_readers import RECORD_LIMIT, Row, bad_row, kind_of
from publius.documents.seen_ids import IdSet
from publius.documents.standard_input import DASH, held_input
from publius.documents.table_form import TableForm, checked_encoding, find_form
from publius.errors import DataError, DocumentError, PolicyError, UsageError
from publius.files import os_errors, shown, storage_error
from publius.files.arrivals import passed_over
from publius.files.reading import files_sha256
from publius.settings import InputSettings, Quotes
from publius.text.author_names import one_author
from publius.text.normal_form import compared

T = TypeVar("T")
LONGEST_ID: Final = 256
"""Longest id in characters."""

LONGEST_LABEL: Final = 256
"""Longest value of a kept field in characters; a label is public and no place for text."""

REPEATED: Final = "an earlier document has this id: make ids differ or number the documents"
"""Why a document whose id was there before is bad."""

CHANGED: Final = "the input was changed while it was read: rerun without editing it"
"""What is said where a file that several read was another for one of them."""

IS_LINK: Final = (
    "it is a symbolic link, which may lead anywhere: put the file itself there, or say --follow-links"
)
"""Why a symbolic link is bad."""

_IN_SUBFOLDER: Final = "it is in a folder within the folder: say --subfolders to read those, too"
_NO_FILE: Final = "it is neither a file nor a folder: take it out"
_UNKNOWN_KIND: Final = "it is of no kind that can be read: save it as .docx, .pdf or .txt, or take it out"
_REFUSED: Final = frozenset({"Cc", "Cs", "Zl", "Zp"})  # controls, lone surrogates, line and paragraph ends


@final
@dataclass(frozen=True, slots=True)
class Document:
    """A private text, the id and labels that are released with it, and its position in the corpus from 1.

    ``account`` is what a ledger calls it: its id, the file name of a .txt file, None for a numbered row, which has
    no name that lasts. ``subject`` is whom the ledger charges beside it, its author say. Neither is released.
    """

    id: str
    text: str = field(repr=False)
    labels: Mapping[str, str] = field(repr=False)
    position: int
    account: str | None = field(default=None, repr=False)
    subject: str | None = field(default=None, repr=False)

    def __reduce__(self) -> tuple[type[Document], tuple[object, ...]]:
        """For pickle, in a third of the time that it takes by itself: documents go to workers."""
        return Document, (self.id, self.text, self.labels, self.position, self.account, self.subject)

    @property
    def charged(self) -> tuple[str, str | None]:
        """Whom a ledger charges for it: the account and the subject. `UsageError` for a numbered row.

        `DocumentError` for a file name that no text can hold.
        """
        if self.account is None:
            raise UsageError(
                "a ledger charges documents by their ids, and numbered rows have none that last: name an id field"
            )
        try:
            self.account.encode()
        except UnicodeEncodeError:
            raise DocumentError(
                f"document {self.position}: the name of its file is not UTF-8, and a ledger charges .txt files by "
                "their names: rename the file. Nothing was released"
            ) from None
        return self.account, self.subject


@final
@dataclass(frozen=True, slots=True)
class BadDocument:
    """A document that cannot be accepted: where it stands, its id if that can be read, why, the way out."""

    position: int
    id: str | None
    reason: str
    part: int | None = None
    """Number of its file among those of the corpus, from 0, where there are several: see `Corpus.file_name`."""

    def error(self) -> DocumentError:
        """The error to raise when the run is to stop here."""
        return DocumentError(f"document {self.position}: {self.reason}").of(self.id)


def accepted(item: T | BadDocument) -> T:
    """``item`` itself; the error of a document that cannot be accepted."""
    if isinstance(item, BadDocument):
        raise item.error()
    return item


def given_document(
    id: str, text: str, position: int, *, subject: str | None = None, blank: bool = False,
    fields: Mapping[str, object] = MappingProxyType({}), keep: Sequence[str] = (),
) -> Document | BadDocument:  # fmt: skip
    """A document that was handed over instead of read from a file, under the same rules; its account is its id.

    One without any text is refused, unless ``blank`` ones may come. Of its ``fields`` those to ``keep`` are public.
    """
    try:
        _short(id, "id", LONGEST_ID)
        if subject is not None:
            _short(subject, "subject", LONGEST_ID)
        if not _text({"text": text}, "text").strip() and not blank:
            raise DocumentError("the text is empty: give one")
        labels = {name: _label(fields, name) for name in keep}
    except DocumentError as refused:
        return BadDocument(position, None, str(refused))
    return Document(id, text, labels, position, id, subject)


@final
@dataclass(frozen=True, slots=True)
class FilePart:
    """A part of file number ``path`` (from 0) that can be read alone: bytes of JSON lines, rows of Parquet.

    ``stop`` None is the end of the file; ``whole`` files are read as they are, whatever their kind. Of JSON lines
    it may be known how many stand ``before`` it.
    """

    path: int
    start: int = 0
    stop: int | None = None
    before: int | None = None

    @property
    def whole(self) -> bool:
        """Whether it is all of the file."""
        return not self.start and self.stop is None


@final
@dataclass(frozen=True, slots=True)
class Corpus:
    """Documents stored in files; iterate over it, as often as needed, for `Document` and `BadDocument`.

    Made by `open_corpus`. ``paths`` are the files in the order they are read; ``kind`` is the suffix of the first.
    ``delimiter``, ``encoding`` and ``quotes`` are those of separated values and of text; the encoding "" is each text's
    own, found when it is read. With ``gaps`` a kept field may be null or absent: the label is empty. ``left`` are files
    of a folder that cannot be read, with the reason: each is a `BadDocument` after the others. ``links`` says whether a
    symbolic link is followed where a file is opened, ``reading_seconds`` what a foreign file may take. With ``values``
    what stands in the text field is a value of any kind and no text: none of it makes a document bad. Of numbered
    documents ``charged_field`` is what a ledger calls each; it is not released. Fields that stand ``beside`` are looked
    at by the curator, among the labels: whatever is in them makes no document bad.
    """

    path: Path
    paths: tuple[Path, ...] = field(repr=False)
    kind: str
    id_field: str | None
    text_field: str
    keep: tuple[str, ...]
    subject_field: str | None = None
    delimiter: str = ","
    encoding: str = "utf-8"
    quotes: Quotes | None = None
    gaps: bool = False
    left: tuple[tuple[Path, str], ...] = field(default=(), repr=False)
    links: bool = True
    reading_seconds: float = InputSettings.reading_seconds
    values: bool = False
    charged_field: str | None = None
    beside: tuple[str, ...] = ()
    authors: str | None = None

    def __iter__(self) -> Iterator[Document | BadDocument]:
        """Each document in order. Raises `DocumentError` when the next cannot be found or there is none."""
        position = 0
        used = IdSet()
        for position, (row, path) in enumerate(self._rows(), start=1):
            yield self._document(position, row, used, path)
        yield from self._left(position + 1)
        if not position:
            raise DocumentError(f"{shown(self.path)} holds no document: check that it is the right file")

    @property
    def count_hint(self) -> int | None:
        """How many documents there are, bad ones counted, where that is known without reading them."""
        kinds = {kind_of_file(path.name) or self.kind for path in self.paths}
        if kinds <= WHOLE:
            return len(self.paths) + len(self.left)
        if kinds != {".parquet"}:
            return None
        groups = (parquet_groups(path, seconds=self.reading_seconds) for path in self.paths)
        return sum(rows for found in groups for rows, _ in found) + len(self.left)

    def sha256(self) -> str:
        """SHA-256 over its files, one after the other; `StorageError` where one cannot be read."""
        return files_sha256(self.paths)

    def state(self) -> tuple[tuple[int, ...], ...]:
        """Of each file what changes when somebody writes into it or puts another in its place; `StorageError`.

        So it is for one that lies elsewhere by now, where no link is followed: a folder may have become one.
        """
        found = []
        root = Path(os.path.realpath(self.path))
        for path in self.paths:
            with os_errors("read", path):
                told = path.stat()
                if not self.links and Path(os.path.realpath(path)) != root / path.relative_to(self.path):
                    raise OSError(errno.ELOOP, "a folder above it is a link")
            found.append((told.st_dev, told.st_ino, told.st_size, told.st_mtime_ns))
        return tuple(found)

    def check_unchanged(self, before: tuple[tuple[int, ...], ...]) -> None:
        """`DocumentError` where a file was changed since its `state` was ``before``.

        Who is read several times, by several readers, must be the same every time: who is charged is who is released.
        """
        if self.state() != before:
            raise DocumentError(CHANGED)

    def rows(self) -> Iterator[tuple[int, Row]]:
        """Each record as it stands with its position, also those that are no document under the rules above.

        For whoever has rules of his own on what a document is. Files of a folder that cannot be read come last.
        """
        position = 0
        for position, (row, _) in enumerate(self._rows(), start=1):
            yield position, row
        for number, (_, reason) in enumerate(self.left, start=position + 1):
            yield number, bad_row("", reason)

    def file_name(self, bad: BadDocument) -> str | None:
        """Name of the file of a bad document, for its curator's eyes only; None where there is one file."""
        parts = [*self.paths, *(path for path, _ in self.left)]
        if bad.part is None or not 0 <= bad.part < len(parts):
            return None
        return self.name_of(parts[bad.part])

    def name_of(self, path: Path) -> str:
        """Name of a file below the folder of the corpus: for its curator's eyes only."""
        return path.relative_to(self.path).as_posix() if path.is_relative_to(self.path) else path.name

    @property
    def form(self) -> TableForm:
        """How a table is written, or a text."""
        return TableForm(self.delimiter, self.encoding, self.quotes)

    def reader_at(self, number: int) -> Callable[..., Iterator[Row]]:
        """The reader of file ``number`` of `paths`, see `publius.documents.readers.reader_of`."""
        return reader_of(self.kind_at(number), self.form, seconds=self.reading_seconds, links=self.links)

    def kind_at(self, number: int) -> str:
        """The kind of file ``number`` of `paths`."""
        return kind_of_file(self.paths[number].name) or self.kind

    def _columns(self) -> tuple[str, ...]:
        fields = (self.text_field, self.id_field, *self.keep, self.subject_field, self.charged_field)
        names = (*fields, *self.beside)
        return tuple(dict.fromkeys(name for name in names if name is not None))

    def _rows(self) -> Iterator[tuple[Row, int]]:
        columns = self._columns()
        for number, path in enumerate(self.paths):
            for row in self._placed(number, self.reader_at(number)(path, columns)):
                yield row, number

    def _left(self, first: int) -> Iterator[BadDocument]:
        """The files of the folder that cannot be read, the first at position ``first``."""
        for number, (_, reason) in enumerate(self.left):
            yield BadDocument(first + number, None, reason, len(self.paths) + number)

    def _placed(self, number: int, rows: Iterable[Row]) -> Iterator[Row]:
        if len(self.paths) == 1:
            yield from rows
            return
        part = f"part {number + 1}"
        for row in rows:
            yield Row(", ".join(filter(None, (part, row.place))), row.fields, row.problem)

    def read_range(
        self, part: FilePart, first: int, used: IdSet | None = None
    ) -> Iterator[Document | BadDocument]:
        """Read a range of one file, the first item at position ``first``; ids are compared with those ``used``.

        The range after those of all files holds what is left of a folder.
        """
        if part.path == len(self.paths):
            yield from self._left(first)
            return
        for position, row in enumerate(self.rows_of(part), start=first):
            yield self._document(position, row, used, part.path)

    def rows_of(self, part: FilePart) -> Iterator[Row]:
        """Each record in a range as it stands; see `rows`."""
        if part.path == len(self.paths):
            yield from (bad_row("", reason) for _, reason in self.left)
            return
        between = () if part.whole else (part.start, part.stop)
        known = {} if part.before is None else {"before": part.before}
        read = self.reader_at(part.path)(self.paths[part.path], self._columns(), *between, **known)
        yield from self._placed(part.path, read)

    def _document(
        self, position: int, row: Row, used: IdSet | None, path: int | None = None
    ) -> Document | BadDocument:
        if row.problem is not None:
            return self._bad(position, None, row.place, row.problem, path)
        identity: str | None = None
        try:
            identity = str(position) if self.id_field is None else _id(row.fields, self.id_field)
            if self.id_field is not None and used is not None:
                _claim(identity, used)
            text = (
                _as_value(row.fields, self.text_field) if self.values else _text(row.fields, self.text_field)
            )
            labels = {name: self._label(row.fields, name) for name in self.keep} if self.keep else {}
            if self.beside:
                labels |= {
                    name: _looked_at(self._of_one(row.fields.get(name), name, position, row.place))
                    for name in self.beside
                    if name not in labels
                }
            subject = None if self.subject_field is None else _id(row.fields, self.subject_field, "subject")
            charged = None if self.charged_field is None else _id(row.fields, self.charged_field)
        except DocumentError as refused:
            return self._bad(position, identity, row.place, str(refused), path)
        return Document(identity, text, labels, position, charged or self._account(path, identity), subject)

    def _of_one(self, value: object, name: str, position: int, place: str) -> object:
        """A value of a field that stands beside; of that of authors the one that it names."""
        if name != self.authors:
            return value
        try:
            return one_author(value)
        except DataError as error:
            raise DataError(f"{', '.join(filter(None, (f'document {position}', place)))}: {error}") from None

    def _bad(
        self, position: int, identity: str | None, place: str, reason: str, path: int | None
    ) -> BadDocument:
        part = path if len(self.paths) + len(self.left) > 1 else None
        return BadDocument(position, identity, f"{place}: {reason}" if place else reason, part)

    def _label(self, fields: Mapping[str, object], name: str) -> str:
        return "" if self.gaps and fields.get(name) is None else _label(fields, name)

    def _account(self, path: int | None, identity: str) -> str | None:
        if path is not None and self.kind in UNNAMED and self.kind_at(path) in WHOLE:
            return self.name_of(self.paths[path]) if len(self.paths) > 1 else self.paths[path].name
        return None if self.id_field is None else identity


def _claim(identity: str, used: IdSet) -> None:
    """Refuse an id that was there before: two documents of one id would get the same noise."""
    if not used.add(identity):
        raise DocumentError(REPEATED)


def _value(fields: Mapping[str, object], name: str) -> object:
    if name not in fields:
        raise DocumentError(f"there is no field {name!r}: name the field that is there, or add it")
    return fields[name]


def _id(fields: Mapping[str, object], name: str, role: str = "id") -> str:
    value = _value(fields, name)
    if not isinstance(value, str | int) or isinstance(value, bool):
        raise DocumentError(f"the {role} field {name!r} is {kind_of(value)}: give a string or a whole number")
    return _short(str(value), role, LONGEST_ID, name)


def _short(value: str, role: str, longest: int, field: str = "") -> str:
    """``value``, or why it cannot be what the ``role`` says, in a table with the name of its ``field``."""
    if not value.strip():
        fault = "is empty: fill it in, or name another"
    elif len(value) > longest:
        fault = f"has {len(value):,} characters, more than {longest}: shorten it, or name another"
    elif not value.isprintable() and any(unicodedata.category(character) in _REFUSED for character in value):
        fault = "holds control characters or lone surrogates: take them out"
    else:
        return value
    raise DocumentError(f"the {role} field {field!r} {fault}" if field else f"the {role} {fault}")


def _text(fields: Mapping[str, object], name: str) -> str:
    value = _value(fields, name)
    if not isinstance(value, str):
        raise DocumentError(f"the text field {name!r} is {kind_of(value)}: give a string")
    if len(value) > RECORD_LIMIT:
        raise DocumentError(f"the text has more than {RECORD_LIMIT:,} characters: split it into documents")
    return value


def _as_value(fields: Mapping[str, object], name: str) -> str:
    """A value as it is compared with declared ones; what cannot be one is the empty value, so nobody sees what it was.

    Were a document bad for its value, who is missing from a release would tell the value.
    """
    value = fields.get(name)
    if not isinstance(value, str | int | float | date):
        return ""
    try:
        found = compared(value)
    except (ValueError, OverflowError):  # a number with too many digits
        return ""
    return found if len(found) <= LONGEST_LABEL else ""


def _looked_at(value: object) -> str:
    """A value that nobody releases as text, with escapes for what no label may hold; no two values as one."""
    if isinstance(value, list | tuple) and len(value) == 1:
        value = value[0]
    if value is None or (isinstance(value, float) and math.isnan(value)):
        return ""
    label = value if isinstance(value, str) else json.dumps(value, default=repr)
    if not label.isprintable() and any(unicodedata.category(character) in _REFUSED for character in label):
        label = label.encode("unicode_escape").decode("ascii")
    if len(label) <= LONGEST_LABEL:
        return label
    digest = hashlib.sha256(label.encode()).hexdigest()
    return label[: LONGEST_LABEL - len(digest)] + digest


def _label(fields: Mapping[str, object], name: str) -> str:
    value = _value(fields, name)
    if not isinstance(value, str | int | float) or (isinstance(value, float) and not math.isfinite(value)):
        raise DocumentError(
            f"the kept field {name!r} is {kind_of(value)}: give a string, a finite number, true or false"
        )
    label = value if isinstance(value, str) else json.dumps(value)
    return _short(label, "kept", LONGEST_LABEL, name) if label else ""


def open_corpus(
    path: str | os.PathLike[str],
    *,
    id_field: str = InputSettings.id_field,
    text_field: str = InputSettings.text_field,
    keep: Sequence[str] = (),
    number: bool = False,
    subject_field: str | None = None,
    delimiter: str | None = None,
    encoding: str | None = None,
    quotes: Quotes | None = None,
    reading_seconds: float = InputSettings.reading_seconds,
    subfolders: bool = InputSettings.subfolders,
    follow_links: bool = InputSettings.follow_links,
) -> Corpus:
    """The corpus at ``path``: a file, a folder of files, read in the order of their names, or "-": standard input.

    A ``.txt``, ``.docx``, ``.pdf``, ``.html`` or ``.eml`` file is one document, an ``.mbox`` one a message; a folder
    may mix them. ``.jsonl`` or ``.ndjson`` has an object a line, ``.csv``, ``.tsv`` and ``.xlsx`` a header and a record
    a row, ``.parquet`` a row a document; a folder has one kind of these. It is read with the ``subfolders`` below it
    where that is said; a symbolic link in it is followed with ``follow_links`` only. What cannot be read there is a
    `BadDocument` after the others; files of systems are passed over (`publius.files.arrivals.passed_over`). Text may be
    ``.gz``. ``id_field``,
    ``text_field`` and the public labels ``keep`` name their fields. With ``number``, and always where there are no
    fields, the id is the position "1", "2", ...: a file name may say too much to be released. ``subject_field``
    names whom a ledger charges, the author say; it is not released. Standard input has JSON lines. ``delimiter``
    and ``encoding`` are those of separated values and text. Without a delimiter the first file of a table shows it;
    without an encoding each text that is a file shows its own, and a table is UTF-8 or what the mark at its start says.
    ``quotes`` says what quotation marks of a table are, see `publius.documents.separated`. Foreign
    files have ``reading_seconds`` of a processor for each 16 MiB.

    Raises `StorageError` when the path cannot be read, `UsageError` for a kind that is not known or fields
    that do not fit, `PolicyError` when the text itself would be released as an id or a label.
    """
    path = Path(path)
    paths, kind, left = _files(path, subfolders=subfolders, links=follow_links)
    if kind in FOREIGN:
        check_library(kind)
    plain = kind in UNNAMED
    named = None if number or plain else id_field
    if plain and (keep or subject_field is not None):
        raise UsageError(f"a {kind} file has no fields: use .jsonl, .csv or .parquet for labels and subjects")
    check_fields(named, text_field, keep)
    if subject_field == text_field:
        raise PolicyError(
            f"the field {text_field!r} is the private text, so it cannot be the subject: name another"
        )
    alone = paths == (path,)  # whoever names a file says which
    corpus = Corpus(
        path, paths, kind, named, text_field, tuple(keep), subject_field, left=left, links=follow_links or alone,
        reading_seconds=reading_seconds,
    )  # fmt: skip
    if kind not in SEPARATED:
        return replace(corpus, encoding=_encoding(paths, kind, encoding))
    between = delimiter or ("\t" if kind == ".tsv" else None)
    form = find_form(paths[0], corpus._columns(), delimiter=between, encoding=encoding, quotes=quotes)
    told = quotes or (form.quotes if len(paths) == 1 else None)  # no header says it of another table
    return replace(corpus, delimiter=form.delimiter, encoding=form.encoding, quotes=told)


def open_released_corpus(path: str | os.PathLike[str], field: str | None, **options: Any) -> Corpus:
    """As `open_corpus` with its ``options``; a ``field`` that is released itself stands in the place of the text."""
    if field is None:
        return open_corpus(path, **options)
    return replace(open_corpus(path, **{**options, "text_field": field}), values=True)


def open_public_corpus(path: str | os.PathLike[str], **options: Any) -> Corpus:
    """As `open_corpus` with its ``options``; but what nobody says of how a table is written, its texts may tell.

    They are public: no bound is promised for them. A table without an encoding is in that which its letters show, and
    quotation marks enclose fields. Errors as there; `UsageError` too where an encoding cannot be told.
    """
    corpus = open_corpus(path, **options)
    if corpus.kind not in SEPARATED:
        return corpus
    form = find_form(
        corpus.paths[0], delimiter=corpus.delimiter, encoding=options.get("encoding"),
        quotes=corpus.quotes or "fields", by_letters=True,
    )  # fmt: skip
    return replace(corpus, encoding=form.encoding, quotes=form.quotes)


def documents_of(
    rows: Iterable[Mapping[str, object]],
    *,
    id_field: str = InputSettings.id_field,
    text_field: str = InputSettings.text_field,
    keep: Sequence[str] = (),
    number: bool = False,
    subject_field: str | None = None,
    gaps: bool = False,
) -> Iterator[Document | BadDocument]:
    """Documents handed over as rows of fields instead of read from files, under the rules of `open_corpus`.

    With ``gaps`` a kept field may be null.
    """
    named = None if number else id_field
    check_fields(named, text_field, keep)
    reading = Corpus(Path(), (), ".jsonl", named, text_field, tuple(keep), subject_field, gaps=gaps)
    used = IdSet()
    for position, fields in enumerate(rows, start=1):
        yield reading._document(position, Row("", fields), used)


def check_fields(id_field: str | None, text_field: str, keep: Sequence[str]) -> None:
    """`PolicyError` where the text itself would be kept, `UsageError` where a field would be kept twice."""
    if isinstance(keep, str):
        raise UsageError(f"the fields to keep are a list: give [{keep!r}]")
    if text_field in (id_field, *keep):
        raise PolicyError(
            f"the field {text_field!r} is the private text, so it can be neither id nor label: name another"
        )
    if len({*keep}) != len(keep) or id_field in keep:
        raise UsageError("each field can be kept once, and the id is always kept: name each label once")


def _encoding(paths: tuple[Path, ...], kind: str, encoding: str | None) -> str:
    """That of text: what is given; else each text's own, and UTF-8 where lines are JSON, as its standard says."""
    found = checked_encoding(encoding)
    if kind in LINES and found is not None and found.startswith(("utf-16", "utf-32")):
        raise UsageError(f"{shown(paths[0])} is cut at lines, which {found} has not: convert it to UTF-8")
    return found or ("" if kind in UNNAMED else "utf-8")


_Left = tuple[tuple[Path, str], ...]


def _files(path: Path, *, subfolders: bool, links: bool) -> tuple[tuple[Path, ...], str, _Left]:
    """The files of a corpus in order, the kind of the first, and those that cannot be read with the reason."""
    if str(path) == DASH:
        return (held_input(),), ".jsonl", ()
    left: list[tuple[Path, str]] = []
    try:
        mode = path.stat().st_mode
        paths = tuple(_parts(path, left, subfolders, links)) if stat.S_ISDIR(mode) else (path,)
    except OSError as error:
        raise storage_error("open", path, error) from None
    except ValueError:
        raise UsageError(f"{shown(path)} is no path: check it") from None
    if not stat.S_ISDIR(mode) and not stat.S_ISREG(mode):
        raise UsageError(f"{shown(path)} is neither a file nor a folder: store the documents in a file first")
    kinds = sorted({_kind(part) for part in paths})
    if not kinds or not ({*kinds} <= UNNAMED or (len(kinds) == 1 and kinds[0] in READERS)):
        found, known = ", ".join(kinds) or "nothing that can be read", ", ".join(READERS)
        raise UsageError(
            f"{shown(path)} is or holds {found}: give files of one kind of {known}; "
            "documents that are files of their own may be of several"
        )
    return paths, _kind(paths[0]), tuple(left)


def _parts(
    folder: Path, left: list[tuple[Path, str]], subfolders: bool, links: bool, above: tuple[str, ...] = ()
) -> Iterator[Path]:
    """The contents of a folder, by name, and of those below it; ``left`` gets what cannot be read, and why."""
    above = (*above, os.path.realpath(folder))
    for part in sorted(folder.iterdir()):
        if passed_over(part.name):
            continue
        if part.is_symlink() and not links:
            left.append((part, IS_LINK))
        elif part.is_dir():
            if os.path.realpath(part) in above:  # a link to where we come from
                continue
            below: list[tuple[Path, str]] = left if subfolders else []
            found = _parts(part, below, subfolders, links and subfolders, above)
            if subfolders:
                yield from found
            else:
                left += [(each, _IN_SUBFOLDER) for each in (*found, *(path for path, _ in below))]
        elif not part.is_file():
            left.append((part, _NO_FILE))
        elif kind_of_file(part.name) is None:
            left.append((part, _UNKNOWN_KIND))
        else:
            yield part


def _kind(path: Path) -> str:
    """The suffix that tells how to read a file; never more of its name."""
    if not path.is_file():
        return "a folder or device"
    return kind_of_file(path.name) or "another kind of file"
