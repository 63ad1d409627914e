"""A look at a file of texts before anything is decided: for the curator's eyes, never released."""

from __future__ import annotations

import statistics
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from itertools import islice
from pathlib import Path
from typing import Any, Final, final

from publius.documents.corpus import Corpus, open_corpus, open_public_corpus
from publius.documents.foreign import columns_of, unseen_in
from publius.documents.languages import language_of
from publius.documents.readers import SEPARATED, UNNAMED
from publius.documents.row_readers import Row, check_width
from publius.documents.seen_ids import IdSet
from publius.documents.separated import UnsaidQuotesError, csv_header
from publius.errors import DocumentError, MissingExtraError, how_many
from publius.files import shown
from publius.files.progress import advance, counted, is_watched, stage
from publius.settings import Quotes
from publius.text.tokenizer import found_words, normalize

TEXT_NAMES: Final = (
    "text", "body", "content", "message", "comment", "complaint", "narrative", "description", "review", "abstract",
    "document", "post", "answer",
)  # fmt: skip
"""Names that a column of texts often has, the usual first."""

FORM: Final = ("delimiter", "encoding", "quotes")
"""What says how a table is written."""

SHORT: Final = 5
"""With fewer words a document says next to nothing."""

LONG: Final = 10
"""So many times the median makes a document odd, if it has `LONG_WORDS` words."""

LONG_WORDS: Final = 2_000
_HEADED: Final = SEPARATED | {".xlsx", ".parquet"}
"""Kinds whose names of columns stand once, in no row of anybody's."""

FIRST_ROWS: Final = 1_000
_PLACES: Final = 5
_HEADER_CELL: Final = 80


@final
@dataclass(frozen=True, slots=True)
class Column:
    """A column: its name, the share of rows where it is filled, and how many different values."""

    name: str
    filled: float
    values: int


@final
@dataclass(frozen=True, slots=True)
class Inspection:
    """Facts about a file: see `publius inspect`. ``problems`` name rows by place and never show their text.

    ``words`` are counts a document: "shortest", "median", "ninth_decile", "longest"; empty where there is no text.
    ``languages`` count documents by ISO 639 code, "unclear" for those too short or mixed. ``different`` is how many
    texts there are, each counted once; ``unread`` how many rows cannot be read.
    """

    rows: int
    columns: tuple[str, ...]
    delimiter: str | None
    encoding: str | None
    quotes: Quotes | None
    text_field: str | None
    words: dict[str, float]
    languages: dict[str, int]
    problems: tuple[str, ...]
    fields: tuple[Column, ...] = ()
    different: int = 0
    unread: int = 0
    lost: int = 0
    """How many documents no release would hold: rows and files that cannot be read, or have no text in its place."""

    documents: int = 0
    """How many there are with those."""

    guessed: tuple[str, ...] = ()
    """"text_field", "encoding" and "quotes", where the texts alone propose it: somebody has to say that it is so.

    Otherwise the letters or the length of one text would decide how all the others are read, and no bound would hold.
    """

    state: tuple[tuple[int, ...], ...] = field(default=(), repr=False)
    """Of its files, before they were read: what is released later must be what was looked at."""

    keyed: bool = False
    """Whether each row names its own fields, as a line of JSON does: one row may bring a field that no other has."""

    @property
    def form(self) -> dict[str, Any]:
        """How the table is written, as `publius.documents.corpus.open_corpus` takes it; empty for what is none."""
        return {} if self.delimiter is None else {name: getattr(self, name) for name in FORM}

    def by_name(self, usual: Iterable[str]) -> list[str]:
        """The columns that have one of the ``usual`` names, in their order, but for that of texts."""
        folded = [(name.strip().casefold(), name) for name in self.columns if name != self.text_field]
        return [name for each in usual for plain, name in folded if plain == each]

    def told_by_name(self, usual: Iterable[str]) -> str | None:
        """The first of these where the header names them; of rows with fields of their own the only one, else None."""
        found = self.by_name(usual)
        return found[0] if len(found) == 1 or (found and not self.keyed) else None

    def record(self) -> dict[str, Any]:
        """As `publius inspect --json` prints it."""
        return {
            "rows": self.rows, "columns": list(self.columns), "delimiter": self.delimiter, "encoding": self.encoding,
            "quotes": self.quotes, "text_field": self.text_field, "guessed": list(self.guessed), "words": self.words,
            "languages": self.languages, "problems": list(self.problems),
            "fields": [{"name": each.name, "filled": each.filled, "values": each.values} for each in self.fields],
        }  # fmt: skip


@final
@dataclass(slots=True)
class _Notes:
    """Notes taken row by row; places only, no text."""

    rows: int = 0
    lengths: list[int] = field(default_factory=list)
    long: list[tuple[str, int]] = field(default_factory=list)
    languages: Counter[str] = field(default_factory=Counter)
    other: dict[str, list[str]] = field(default_factory=dict)
    unread: list[str] = field(default_factory=list)
    empty: list[str] = field(default_factory=list)
    encodings: dict[str, list[str]] = field(default_factory=dict)
    missing: int = 0
    repeated: list[str] = field(default_factory=list)
    short: list[str] = field(default_factory=list)
    texts: IdSet = field(default_factory=IdSet)
    named: bool = True


def inspect(
    path: Path,
    *,
    text_field: str | None = None,
    delimiter: str | None = None,
    encoding: str | None = None,
    quotes: Quotes | None = None,
    **reading: Any,
) -> Inspection:
    """Read everything at ``path`` and say what is there; the column of texts is found where it is not given.

    ``reading`` are further options of `publius.documents.corpus.open_corpus`: of folders, links and foreign files.

    Raises `DocumentError` for a file that cannot be read on or holds nothing, `UsageError` for a column that is not
    there, a kind of file that is not known, or an encoding that cannot be told.
    """
    corpus = open_public_corpus(
        path, number=True, text_field=text_field or "text", delimiter=delimiter, encoding=encoding, quotes=quotes,
        **reading,
    )  # fmt: skip
    if corpus.kind not in SEPARATED:
        return _inspected(corpus, text_field)
    said = open_corpus(path, number=True, delimiter=corpus.delimiter, quotes=quotes, **reading)
    proposed = ("encoding",) if encoding is None and corpus.encoding != said.encoding else ()
    try:
        return _inspected(replace(corpus, quotes=said.quotes), text_field, proposed)
    except UnsaidQuotesError:
        proposed = (*proposed, "quotes")
    try:
        return _inspected(replace(corpus, quotes="fields"), text_field, proposed)
    except DocumentError:  # its rows are not quoted as that says
        return _inspected(replace(corpus, quotes="letters"), text_field, proposed)


def _inspected(corpus: Corpus, text_field: str | None, proposed: tuple[str, ...] = ()) -> Inspection:
    """What stands in a corpus, of whose form its texts have ``proposed`` this."""
    path, state = corpus.path, corpus.state()
    names, problems = _columns(corpus)
    chosen = text_field or next(iter(_usual(names)), None) or _longest(corpus, names)
    if chosen is not None and chosen not in names:
        raise DocumentError(
            f"{shown(path)} has no column {chosen!r} among its {how_many(len(names), 'column')}: publius inspect shows "
            "them"
        ).among(names)
    notes, tallies = _Notes(), {name: _Column() for name in names}
    with stage("Reading the rows"):
        for row in counted(_rows(corpus, names), _count(corpus, names)):
            _note(notes, row, chosen, tallies)
    if not notes.rows:
        raise DocumentError(f"{shown(path)} holds no row: check that it is the right file")
    if chosen is None:
        problems.append("no column holds texts: name it with --text-field")
    separated = corpus.kind in SEPARATED
    return Inspection(
        notes.rows,
        tuple(names),
        corpus.delimiter if separated else None,
        corpus.encoding if separated else None,
        corpus.quotes if separated else None,
        chosen,
        _lengths(notes.lengths),
        dict(notes.languages.most_common()),
        (
            *problems,
            *unseen(corpus),
            *_left(corpus),
            *_problems(notes),
            *_id_problems(corpus, tallies, notes.rows),
        ),
        tuple(column.field(name, notes.rows) for name, column in tallies.items()),
        len(notes.texts),
        len(notes.unread),
        len(notes.unread) + notes.missing + len(corpus.left),
        notes.rows + len(corpus.left),
        (*(("text_field",) if _is_guess(corpus, text_field, chosen, names) else ()), *proposed),
        state,
        corpus.kind not in _HEADED,
    )


def _left(corpus: Corpus) -> Iterator[str]:
    """The files of a folder that cannot be read, by name."""
    reasons: dict[str, list[str]] = {}
    for path, reason in corpus.left:
        reasons.setdefault(reason, []).append(repr(corpus.name_of(path)))
    for reason, names in reasons.items():
        yield f"{how_many(len(names), 'file')} left out ({reason}): {_places(names)}"


def unseen(corpus: Corpus) -> Iterator[str]:
    """Notes on the hidden rows of Excel workbooks, which are read, and on other sheets, which are not."""
    for path in corpus.paths if corpus.kind == ".xlsx" else ():
        sheets, count, first = unseen_in(path, seconds=corpus.reading_seconds)
        part = f"file {corpus.name_of(path)!r}: " if len(corpus.paths) > 1 else ""
        if count:
            many, places = how_many(count, "row is", "rows are"), [f"row {number}" for number in first]
            yield f"{part}{many} hidden, as by a filter, and read all the same: {_places(places, total=count)}"
        if sheets > 1:
            yield f"{part}of {sheets:,} sheets only the first is read"


def _columns(corpus: Corpus) -> tuple[list[str], list[str]]:
    """The names of the columns, those that stand once, and what is wrong with them."""
    header = _header(corpus)
    check_width(corpus.paths[0], len(header))  # each column is counted by itself
    counts = Counter(header)
    problems = []
    if doubled := sorted(name for name, count in counts.items() if count > 1 and name.strip()):
        problems.append(
            f"{how_many(len(doubled), 'column name stands', 'column names stand')} twice and cannot be used: make "
            "names differ"
        )
    if corpus.kind in {*SEPARATED, ".xlsx"} and _no_header(header):
        problems.append("the first row does not look like names of columns: put a header above the texts")
    return [name for name in dict.fromkeys(header) if counts[name] == 1 and name.strip()], problems


def _no_header(header: list[str]) -> bool:
    return not header or any(
        len(cell) > _HEADER_CELL or cell.strip().replace(".", "").isdigit() for cell in header
    )


def _header(corpus: Corpus) -> list[str]:
    path = corpus.paths[0]
    if corpus.kind in UNNAMED:
        return ["text"]
    if corpus.kind in SEPARATED:
        return csv_header(path, corpus.form)
    if corpus.kind in (".xlsx", ".parquet"):
        return columns_of(corpus.kind, path, seconds=corpus.reading_seconds)
    rows = islice(corpus.reader_at(0)(path, ()), FIRST_ROWS)
    return list(dict.fromkeys(name for row in rows for name in row.fields))


def _rows(corpus: Corpus, names: Iterable[str]) -> Iterator[Row]:
    for number, path in enumerate(corpus.paths):
        part = f"file {corpus.name_of(path)!r}" if len(corpus.paths) > 1 else ""
        for row in corpus.reader_at(number)(path, tuple(names)):
            place = ", ".join(filter(None, (part, row.place))) or "the file"
            yield Row(place, row.fields, row.problem, row.encoding)


def _count(corpus: Corpus, names: list[str]) -> int:
    """Number of rows, for the progress bar: reading takes little of the time that looking into them does."""
    if not is_watched():
        return 0
    count = corpus.count_hint
    if count is None:
        count = 0
        for _ in _rows(corpus, names):
            advance(0, 0)
            count += 1
    return count


def _usual(names: list[str]) -> list[str]:
    """The columns that are called as columns of texts are, the most usual first."""
    by_name = {name.strip().lower(): name for name in reversed(names)}
    return [by_name[usual] for usual in TEXT_NAMES if usual in by_name]


def _is_guess(corpus: Corpus, said: str | None, chosen: str | None, names: list[str]) -> bool:
    """Whether only the texts tell the column ``chosen``: where each row names its own, one may bring a further one."""
    usual = _usual(names)
    told = bool(usual) and (corpus.kind in _HEADED or len(usual) == 1)
    return said is None and chosen is not None and len(names) > 1 and not told


def _longest(corpus: Corpus, names: list[str]) -> str | None:
    """The column with the longest values; None where none is long."""
    lengths: Counter[str] = Counter()
    rows = 0
    for row in islice(_rows(corpus, names), FIRST_ROWS):
        rows += 1
        lengths.update({name: len(value) for name, value in row.fields.items() if isinstance(value, str)})
    longest = lengths.most_common(1)
    return longest[0][0] if longest and longest[0][1] >= rows * _HEADER_CELL else None


@final
class _Column:
    """How often a column is filled, with how many values, and how often one is there again."""

    def __init__(self) -> None:
        self.filled = 0
        self._values = IdSet()

    @property
    def repeats(self) -> int:
        return self.filled - len(self._values)

    def add(self, value: object) -> None:
        if value is not None and str(value).strip():
            self.filled += 1
            self._values.add(_safe(str(value)))

    def field(self, name: str, rows: int) -> Column:
        return Column(name, round(self.filled / rows, 4), len(self._values))


def _safe(text: str) -> str:
    """Without lone surrogates, which have no bytes."""
    return text.encode("utf-8", "replace").decode()


def _note(notes: _Notes, row: Row, column: str | None, tallies: dict[str, _Column]) -> None:
    notes.rows += 1
    if row.problem is not None:
        notes.unread.append(f"{row.place} ({row.problem})")
        return
    for name, tally in tallies.items():
        tally.add(row.fields.get(name))
    text = row.fields.get(column) if column is not None else None
    if row.encoding not in (None, "utf-8"):
        notes.encodings.setdefault(str(row.encoding), []).append(row.place)
    if column is None:
        return
    notes.missing += not isinstance(text, str)
    if not isinstance(text, str) or not text.strip():
        notes.empty.append(row.place)
        return
    _note_text(notes, row.place, text)


def _note_text(notes: _Notes, place: str, text: str) -> None:
    if not notes.texts.add(_safe(" ".join(text.split()))):
        notes.repeated.append(place)
    count = sum(1 for _ in found_words(normalize(text)))
    notes.lengths.append(count)
    if count < SHORT:
        notes.short.append(place)
    if count >= LONG_WORDS:
        notes.long.append((place, count))
    if notes.named:
        try:
            language = language_of(text) or "unclear"
        except MissingExtraError:
            notes.named = False
            return
        notes.languages[language] += 1
        places = notes.other.setdefault(language, [])
        if len(places) < _PLACES:
            places.append(place)


def _lengths(lengths: list[int]) -> dict[str, float]:
    if not lengths:
        return {}
    ordered = sorted(lengths)
    return {
        "shortest": ordered[0],
        "median": statistics.median(ordered),
        "ninth_decile": ordered[min(len(ordered) - 1, len(ordered) * 9 // 10)],
        "longest": ordered[-1],
    }


def _problems(notes: _Notes) -> Iterator[str]:
    if notes.unread:
        yield f"{how_many(len(notes.unread), 'row')} cannot be read: {_places(notes.unread, '; ')}"
    for encoding, places in notes.encodings.items():
        yield f"{how_many(len(places), 'text')} not in UTF-8, read as {encoding}: {_places(places)}"
    if notes.empty:
        yield f"{how_many(len(notes.empty), 'row')} without text (empty): {_places(notes.empty)}"
    if notes.repeated:
        alike = len(notes.texts) == 1
        yield (
            f"{how_many(len(notes.repeated), 'duplicate')}, the same text as an earlier row"
            + ("; all texts are alike" if alike else "")
            + f": {_places(notes.repeated)}"
        )
    if notes.short:
        yield f"{how_many(len(notes.short), 'row')} of fewer than {SHORT} words: {_places(notes.short)}"
    median = statistics.median(notes.lengths) if notes.lengths else 0
    if odd := [f"{place} ({count:,} words)" for place, count in notes.long if count > LONG * median]:
        yield f"{how_many(len(odd), 'row')} far longer than the others: {_places(odd)}"
    yield from _language_problems(notes)


def _language_problems(notes: _Notes) -> Iterator[str]:
    if not notes.named:
        yield "languages were not looked at: pip install 'publius[documents]'"
    known = [(name, count) for name, count in notes.languages.most_common() if name != "unclear"]
    for name, count in known[1:]:
        yield (
            f"{how_many(count, 'row')} in another language ({name}) than most ({known[0][0]}): "
            f"{_places(notes.other[name], total=count)}"
        )


def _id_problems(corpus: Corpus, tallies: dict[str, _Column], rows: int) -> Iterator[str]:
    if corpus.kind in UNNAMED:
        return
    ids = tallies.get("id")
    if ids is None:
        yield "no column 'id': number the documents with --number, or name another with --id-field"
    elif ids.repeats or ids.filled < rows:
        yield (
            f"the column 'id' repeats {ids.repeats:,} and lacks {rows - ids.filled:,} values: "
            "number the documents with --number"
        )


def _places(places: list[str], separator: str = ", ", total: int | None = None) -> str:
    more = (total or len(places)) - min(len(places), _PLACES)
    return separator.join(places[:_PLACES]) + (f" and {more:,} more" if more else "")
