"""A look at a file before anything is decided or spent: for the curator's eyes; it warns and decides nothing."""

from __future__ import annotations

import contextlib
import hashlib
import re
from collections import Counter, defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any, Final, final

from publius.documents.clean import PLACEHOLDER, clean
from publius.documents.corpus import Corpus, Note, open_corpus
from publius.documents.document import CP1252, Document, NoTextColumnError, said
from publius.documents.office import SheetsError, Workbook
from publius.documents.sources import Source
from publius.documents.tables import Separated, header_rows
from publius.errors import MissingExtraError, extra, how_many
from publius.files.progress import stage
from publius.settings import Reading
from publius.text.author_names import author_key

LOOKED_AT: Final = 2_000  # texts whose language and words are looked at, at most
TRIED: Final = 300  # texts whose words are looked up one by one before anything is spent, at most
HARDLY: Final = 0.65  # a text of whose words fewer are known is hardly known: texts of another language, most of all
SHORT: Final = 200  # characters of a text that may be without words once it is clean
_COLUMNS: Final = 60
_NOBODY: Final = frozenset(
    "- -- . ? / n/a na n.a. none null nil nan anonymous anonym anon anonyme anónimo unknown unbekannt inconnu "
    "desconocido nobody niemand withheld private k.a. x xx xxx test guest gast".split()
) | {"no name", "not given", "not available", "not provided", "prefer not to say"}
_NUMBER_OR_DATE: Final = re.compile(r"\s*[-+]?\d[\d.,:/ T+-]*(?:Z|%|AM|PM)?\s*", re.IGNORECASE)
_DATE: Final = re.compile(
    r"\d{4}-\d{1,2}(-\d{1,2})?([T ].*)?|\d{1,2}[./-]\d{1,2}[./-]\d{2,4}( .*)?|\d{4}/\d{1,2}(/\d{1,2})?"
    r"|(\d{1,2}\.? )?[^\W\d_]{3,9}\.?,? \d{4}|[^\W\d_]{3,9} \d{1,2},? \d{4}|[34]\d{4}"
)
_JOINING: Final = re.compile(r"[\s\-_.'’,]+")
_ZEROS: Final = re.compile(r"(?<!\d)0+(?=\d)|\.0+$")


@final
@dataclass(frozen=True, slots=True)
class Inspection:
    """What stands in the files. ``languages`` counts texts by ISO 639 code, "unclear" those too short or mixed."""

    documents: int
    without_text: int
    columns: tuple[str, ...]
    text_field: str
    encoding: str
    languages: dict[str, int]
    notes: tuple[Note, ...]

    def record(self) -> dict[str, Any]:
        """As ``publius inspect --json`` prints it."""
        return asdict(self)


def inspect(
    source: str | Path | Sequence[str | Path], reading: Reading = Reading(), *, author_field: str | None = None,
    no_author: Sequence[str] = (), by: Mapping[str, Callable[[object], bool]] | None = None,
) -> Inspection:  # fmt: skip
    """Read everything and say what is there, where to look twice, and which values ``by`` would call other.

    Where the column of texts or the sheet is not told, one is looked at all the same, and said: only here.
    """
    corpus, notes = _opened(source, reading)
    columns = corpus.columns
    author = author_field or ("author" if "author" in columns else None)
    corpus.carrying([*(by or {})])
    corpus = corpus.carrying([*dict.fromkeys([*(by or {}), *columns[:_COLUMNS]])], author, no_author, gaps=True)
    seen = _Seen(corpus.plan.text, by or {}, authored=author is not None)
    with stage("Reading the rows"):
        for document in corpus:
            seen.take(document)
    headed = isinstance(corpus.tables[0], Separated | Workbook)
    header = header_rows(corpus.tables[0].reading) if headed else None
    notes += [*corpus.notes(), *seen.notes(header), *_rows_in_cells(corpus)]
    odd = sum(note.count for note in notes if note.what == CP1252)
    by_row = "utf-8" if not odd else "cp1252" if odd == seen.documents else f"utf-8, {odd:,} rows cp1252"
    names = ", ".join(sorted({(table.encoding or by_row).removesuffix("-sig") for table in corpus.tables}))
    languages = dict(seen.languages.most_common())
    return Inspection(seen.documents, seen.empty, columns, corpus.plan.text, names, languages, (*notes,))


def _opened(given: Any, reading: Reading) -> tuple[Corpus, list[Note]]:
    notes: list[Note] = []
    source, first = Source(given), None
    while True:
        try:
            return open_corpus(source, reading), notes
        except NoTextColumnError as error:
            if error.longest is None or error.longest == reading.text_field:
                raise first or error from None
            first = first or error
            reading = replace(reading, text_field=error.longest)
            what = "no column is called text: name it with --text-field"
            notes.append(Note(what, 1, f"looked at: {error.longest}"))
        except SheetsError as error:
            listed = "; ".join(f"{name}: names in row {row}, {rows} rows" for name, row, rows in error.choices)
            name, row, _ = error.choices[0]
            reading = replace(reading, sheet=(name,), header_row=row)
            what = "sheets that are not one table: name some with --sheet and --header-row"
            notes.append(Note(what, len(error.choices), listed))
            notes.append(Note("sheet that is looked at here", 1, f"--sheet {name} --header-row {row}"))


class _Seen:
    """What is noted of each document; no text is kept."""

    def __init__(self, text: str, by: Mapping[str, Callable[[object], bool]], *, authored: bool) -> None:
        self.text, self.by, self.authored = text, by, authored
        self.documents = self.empty = self.placeholders = 0
        self.texts: Counter[bytes] = Counter()
        self.authors: Counter[str] = Counter()
        self.nobody: Counter[str] = Counter()
        self.languages: Counter[str] = Counter()
        self.first: dict[str, int] = {}
        self.forms: dict[str, Counter[str]] = defaultdict(Counter)
        self.numbers: Counter[str] = Counter()
        self.heads: list[set[str]] = []
        self.named: Counter[str] = Counter()
        self.other: dict[str, Counter[str]] = defaultdict(Counter)

    def take(self, document: Document) -> None:
        """Look at one."""
        self.documents += 1
        if text := " ".join(document.text.split()):
            self.texts[hashlib.blake2b(text.encode("utf-8", "replace"), digest_size=12).digest()] += 1
            if self.documents <= LOOKED_AT:
                count_language(text, self.languages)
        else:
            self.empty += 1
        if self.authored:
            key = author_key(document.author)
            if is_nobody(key):
                self.nobody[str(document.author or "''").strip()] += 1
            elif key is not None:
                self.authors[key] += 1
                self.first.setdefault(key, document.row + 1)
        words = set()
        for name, raw in document.fields.items():
            value = (said(raw) or "").strip()
            if name == self.text:
                self.placeholders += PLACEHOLDER.search(value) is not None
            elif name in self.by and not self.by[name](raw):
                self.other[name][value or "(empty)"] += 1
            self.named[name] += value == name
            if value and name != self.text and len(value) < 40:
                is_date = _DATE.fullmatch(value)
                form = re.sub(r"[^\W\d_]", "a", re.sub(r"\d", "9", value)) if is_date else ""
                self.forms[name][form] += 1
                if _NUMBER_OR_DATE.fullmatch(value):
                    self.numbers[name] += 1
                else:
                    words.add(name)
        if len(self.heads) < 2:
            self.heads.append(words)

    def notes(self, header: tuple[int, int] | None) -> list[Note]:
        """What is worth a second look; ``header`` says which rows name the columns, where rows do."""
        found: list[Note] = []

        def note(what: str, count: int, where: str = "") -> None:
            if count:
                found.append(Note(what, count, where))

        if header is not None:
            numeric = {name for name, count in self.numbers.items() if count >= max(4, 0.9 * self.documents - 2)}
            rows = [row for row, words in enumerate(self.heads, start=1) if words & numeric]
            if rows and len(rows) < self.documents / 2:
                way_out = f"--header-row {header[0] + 1}-{sum(header) + rows[-1]} takes them all for names"
                where = f"data row {', '.join(map(str, rows))}"
                note(f"rows that look like further header rows: {way_out}", len(rows), where)
            for name, forms in self.forms.items():  # of a box that was ticked its name is the only value
                if _NUMBER_OR_DATE.fullmatch(name) or 0 < self.named[name] < forms.total():
                    what = "row of names that looks like a document: if it is one, write a row of names above it"
                    note(what, 1, f"row {header[0] + 1}")
                    break
        note("texts with placeholders of an earlier anonymisation, which count as no words", self.placeholders)
        again = [count for count in self.texts.values() if count > 1]
        note("texts that are there more than once", sum(again), f"{len(again)} different")
        what = "rows whose author looks like nobody: --no-author VALUE leaves them out, --no-author '' empty ones"
        note(what, self.nobody.total(), _listed(self.nobody))
        alike: dict[str, list[str]] = defaultdict(list)
        for key in self.authors:
            alike[_ZEROS.sub("", _JOINING.sub("", _ZEROS.sub("", key)))].append(key)
        one = [keys for keys in alike.values() if len(keys) > 1]
        places = ("rows " + ", ".join(str(self.first[key]) for key in keys[:3]) for keys in one[:5])
        what = "authors who differ by zeros, decimals or joining marks only: perhaps one person"
        note(what, sum(map(len, one)), "; ".join(places))
        for key, most in self.authors.most_common(1):
            if most >= max(10, self.documents / 2):
                note("rows of one author, half of all or more", most, f"first in row {self.first[key]}")
        for name, forms in self.forms.items():
            dates = Counter({form: count for form, count in forms.items() if form})
            if len(dates) > 1 and dates.total() > forms[""] * 2:
                what = "ways to write a date: groups are compared as they are written"
                note(what, len(dates), f"{name}: {_listed(dates)}")
        for name, values in self.other.items():
            note("rows that --by would call other", values.total(), f"{name}: {_listed(values)}")
        return found


def _listed(counts: Counter[str]) -> str:
    return ", ".join(f"{value} ({count})" for value, count in counts.most_common(12))


def is_nobody(key: str | None) -> bool:
    """Whether the key of an author looks like nobody's name."""
    return key is None or key in _NOBODY


def _rows_in_cells(corpus: Corpus) -> list[Note]:
    """A field in quotation marks that holds lines which would be rows: a stray mark may have taken them in."""
    rows = []
    for table in corpus.tables:
        if isinstance(table, Separated) and len(table.columns) > 1:
            marks = len(table.columns) - 1
            for row, record in enumerate(table.records(), start=1):
                cells = [cell for cell in record.values() if "\n" in cell]
                if any(line.count(table.delimiter) == marks for cell in cells for line in cell.splitlines()[1:]):
                    rows.append(row)
    what = "quoted fields that hold lines which look like rows: a stray quotation mark? (--quotes none reads each line)"
    return [Note(what, len(rows), f"data row {rows[0]}")] if rows else []


# Before anything is spent ---------------------------------------------------------------------------------


def look(
    corpus: Corpus, known: Callable[[str], tuple[int, int]] | None = None, *, by: str = "this classifier"
) -> list[str]:
    """Lines before anything is spent: how many texts, how many without words, how many hardly known; and what was odd.

    ``known`` tells of a text how many words were looked up and how many are known. It warns; nothing depends on it.
    """
    plan = corpus.plan
    documents = empty = none = hardly = looked = 0
    foreign: list[str] = []
    authors: Counter[Any] = Counter()
    for given, author in corpus.texts():
        documents += 1
        authors[said(author)] += plan.author is not None
        near = documents <= LOOKED_AT or len(given) < SHORT
        text = clean(given, keep_quotes=plan.keep_quotes) if near and not plan.raw else given
        if not any(map(str.isalnum, text)):
            empty += 1
        elif known is not None and looked < TRIED:
            looked += 1
            words, found = known(text)
            none += not found
            if found < HARDLY * words or not found:
                hardly += 1
                foreign.append(text)
    keys = {author: author_key(author) for author in authors if authors[author]}
    nobody = sum(authors[author] for author, key in keys.items() if is_nobody(key))
    by_authors = f" by {how_many(len({*keys.values()} - {None}), 'author')}" if keys else ""
    lines = [f"{how_many(documents, 'text')}{by_authors}."]
    if empty:
        one, more = "has no words: it counts as a text without any.", "have no words: they count as texts without any."
        lines.append(how_many(empty, one, more))
    if hardly > looked / 5:
        languages: Counter[str] = Counter()
        for text in foreign:
            count_language(text, languages)
        of = f"{looked:,} texts" if looked + empty >= documents else f"the {looked:,} texts looked at"
        told = f"a third of the words or more is unknown to {by} in {hardly:,} of {of}"
        told = told if none <= looked / 5 else f"no word of {none:,} of {of} is known to {by}"
        told += f" (languages: {_listed(languages)})" * bool(languages)
        lines.append(f"{told}. publius label --labels A,B reads sixteen languages.")
    if nobody:
        told = how_many(nobody, "text has", "texts have")
        lines.append(f"{told} an author like nobody: --no-author VALUE leaves them out, --no-author '' empty ones.")
    return lines + [f"{each.what}: {each.count:,}" + f" ({each.where})" * bool(each.where) for each in corpus.notes()]


@cache
def _identifier() -> Any:
    with extra("documents", "py3langid"):
        from py3langid.langid import MODEL_FILE, LanguageIdentifier
    return LanguageIdentifier.from_model_file(MODEL_FILE, norm_probs=True)


def language_of(text: str) -> str | None:
    """The language as an ISO 639 code; None for a text too short, or where the identifier is not sure."""
    start = text[:2_000]
    if sum(map(str.isalpha, start)) < 12:
        return None
    language, probability = _identifier().classify(start)
    return str(language) if probability >= 0.8 else None


def count_language(text: str, counts: Counter[str]) -> None:
    """Count a text's language, "unclear" where it is; nothing where the extra is not installed."""
    with contextlib.suppress(MissingExtraError):
        counts[language_of(text) or "unclear"] += 1
