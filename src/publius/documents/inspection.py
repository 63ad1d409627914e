"""A look at a file before anything is decided or spent: for the curator's eyes; it warns and decides nothing."""

from __future__ import annotations

import contextlib
import hashlib
import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any, Final, final

import msgspec

from publius.documents.corpus import Batch, Corpus, Note, open_corpus
from publius.documents.document import PLACEHOLDER, Document
from publius.documents.office import Workbook
from publius.documents.plain import Separated
from publius.documents.sources import Source
from publius.documents.tables import ChoiceError
from publius.errors import MissingExtraError, extra, how_many
from publius.files.processes import mapped
from publius.files.progress import stage
from publius.settings import Reading
from publius.text.normal_form import CP1252, Tally, author_key, said

LOOKED_AT: Final = 2_000  # texts whose language and words are looked at, at most
TRIED: Final = 300  # the first texts, whose words are looked up one by one before anything is spent, at most
HARDLY: Final = 0.65  # a text of whose words fewer are known is hardly known: texts of another language, most of all
_COLUMNS: Final = 60
_AT_ONCE: Final = 5_000  # texts; to hand fewer to a worker takes nearly as long as to look at them
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
class Inspection(msgspec.Struct, frozen=True):
    """What stands in the files. ``languages`` counts texts by ISO 639 code, "unclear" those too short or mixed."""

    documents: int
    without_text: int
    columns: tuple[str, ...]
    text_field: str
    encoding: str
    languages: dict[str, int]
    notes: tuple[Note, ...]


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
    looked_at = dict.fromkeys([*(by or {}), corpus.plan.text, *columns[:_COLUMNS]])
    corpus = corpus.carrying([*looked_at], author, no_author, gaps=True)
    seen = _Seen(corpus, by or {}, authored=author is not None)
    with stage("Reading the rows"):
        for document in corpus:
            seen.take(document)
    notes += [*corpus.notes(), *(Note(*each) for each in seen.noticed() if each[1])]
    odd = sum(note.count for note in notes if note.what == CP1252)
    by_row = "utf-8" if not odd else "cp1252" if odd == seen.documents else f"utf-8, {odd:,} rows cp1252"
    names = ", ".join(sorted({(table.encoding or by_row).removesuffix("-sig") for table in corpus.tables}))
    languages = dict(seen.languages.most_common())
    return Inspection(seen.documents, seen.empty, columns, corpus.plan.text, names, languages, (*notes,))


def _opened(given: Any, reading: Reading) -> tuple[Corpus, list[Note]]:
    """The corpus, and what is taken for granted in it; the first error where that does not help."""
    source, notes, first = Source(given), list[Note](), None
    while True:
        try:
            return open_corpus(source, reading), notes
        except ChoiceError as error:
            first, before, reading = first or error, reading, replace(reading, **error.instead)
            if reading == before:
                raise first from None
            notes += [Note(*each) for each in error.notes]


class _Seen:
    """What is noted of each document and of its short values; no text is kept, and of a date only its form."""

    def __init__(self, corpus: Corpus, by: Mapping[str, Callable[[object], bool]], *, authored: bool) -> None:
        self.text, self.by, self.authored, table = corpus.plan.text, by, authored, corpus.tables[0]
        self.header = table.header if isinstance(table, Separated | Workbook) else None
        tables = [each for each in corpus.tables if isinstance(each, Separated) and each.reading.quotes == "standard"]
        self.marks = {(table.delimiter, len(table.columns) - 1) for table in tables if len(table.columns) > 1}
        self.documents = self.empty = self.placeholders = 0
        self.texts, self.languages, self.nobody = Counter[bytes](), Counter[str](), Counter[str]()
        self.authors: dict[str, list[int]] = defaultdict(list)
        self.forms: dict[str, Counter[str]] = defaultdict(Counter)
        self.other: dict[str, Counter[str]] = defaultdict(Counter)
        self.numbers, self.named = Counter[str](), Counter[str]()
        self.heads: list[set[str]] = []
        self.holding: list[int] = []

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
            if key is None or key in _NOBODY:
                self.nobody[str(document.author or "''").strip()] += 1
            else:
                self.authors[key].append(document.row + 1)
        cells = {name: said(raw) or "" for name, raw in document.fields.items()}
        if self.marks and any(map(self._holds_rows, cells.values())):
            self.holding.append(document.row + 1)
        self.placeholders += PLACEHOLDER.search(cells.pop(self.text, "")) is not None
        words = {name for name, cell in cells.items() if self._is_words(name, cell.strip(), document.fields[name])}
        if len(self.heads) < 2:
            self.heads.append(words)

    def _holds_rows(self, cell: str) -> bool:
        """Whether it has lines which would be rows, or ends in a backslash: a stray mark took them in, or ended it."""
        below = cell.splitlines()[1:] if "\n" in cell else []
        return cell.endswith("\\") or any(line.count(each) == times for line in below for each, times in self.marks)

    def _is_words(self, name: str, value: str, raw: object) -> bool:
        """Note a value; whether it is a short one, and neither a number nor a date."""
        forms = self.forms[name]
        self.named[name] += value == name
        if name in self.by and not self.by[name](raw):
            self.other[name][value or "(empty)"] += 1
        if not 0 < len(value) < 40:
            return False
        is_date = _DATE.fullmatch(value)
        forms[re.sub(r"[^\W\d_]", "a", re.sub(r"\d", "9", value)) if is_date else ""] += 1
        is_number = _NUMBER_OR_DATE.fullmatch(value) is not None
        self.numbers[name] += is_number
        return not is_number

    def noticed(self) -> Iterator[tuple[str, int, str]]:
        """What is worth a second look, how often, and where."""
        if self.header is not None:
            first = self.header[0] + 1
            numeric = {name for name, count in self.numbers.items() if count >= max(4, 0.9 * self.documents - 2)}
            rows = [row for row, words in enumerate(self.heads, start=1) if words & numeric]
            if rows and len(rows) < self.documents / 2:
                way_out = f"--header-row {first}-{sum(self.header) + rows[-1]} takes them all for names"
                where = f"data row {', '.join(map(str, rows))}"
                yield f"rows that look like further header rows: {way_out}", len(rows), where
            odd = [  # of a box that was ticked its name is the only value
                name for name, forms in self.forms.items()
                if forms and (_NUMBER_OR_DATE.fullmatch(name) or 0 < self.named[name] < forms.total())
            ]  # fmt: skip
            what = "row of names that looks like a document: if it is one, write a row of names above it"
            yield what, len(odd[:1]), f"row {first}"
        yield "texts with placeholders of an earlier anonymisation, which count as no words", self.placeholders, ""
        again = [count for count in self.texts.values() if count > 1]
        yield "texts that are there more than once", sum(again), f"{len(again)} different"
        what = "rows whose author looks like nobody: --no-author VALUE leaves them out, --no-author '' empty ones"
        yield what, self.nobody.total(), _listed(self.nobody)
        alike: dict[str, list[int]] = defaultdict(list)
        for key, rows in self.authors.items():
            alike[_ZEROS.sub("", _JOINING.sub("", _ZEROS.sub("", key)))].append(rows[0])
        one = [firsts for firsts in alike.values() if len(firsts) > 1]
        what = "authors who differ by zeros, decimals or joining marks only: perhaps one person"
        places = ("rows " + ", ".join(map(str, firsts[:3])) for firsts in one[:5])
        yield what, sum(map(len, one)), "; ".join(places)
        most = max(self.authors.values(), key=len, default=[])
        if len(most) >= max(10, self.documents / 2):
            yield "rows of one author, half of all or more", len(most), f"first in row {most[0]}"
        for name, forms in self.forms.items():
            dates = Counter({form: count for form, count in forms.items() if form})
            if len(dates) > 1 and dates.total() > forms[""] * 2:
                what = "ways to write a date: groups are compared as they are written"
                yield what, len(dates), f"{name}: {_listed(dates)}"
        for name, other in self.other.items():
            yield "rows that --by would call other", other.total(), f"{name}: {_listed(other)}"
        what = "fields that hold lines which look like rows, or end in a backslash: other quotation marks?"
        where = f"data row {self.holding[0]}" if self.holding else ""
        yield f"{what} (--quotes none reads each line, --quotes backslash another escape)", len(self.holding), where


def _listed(counts: Counter[str]) -> str:
    return ", ".join(f"{value} ({count})" for value, count in counts.most_common(12))


# Before anything is spent ---------------------------------------------------------------------------------


def look(
    corpus: Corpus, known: Callable[[str], tuple[int, int]] | None = None, *, by: str = "this classifier",
    workers: int | None = 1,
) -> list[str]:  # fmt: skip
    """Lines before anything is spent: how many texts, how many without words, how many hardly known; and what was odd.

    ``known`` tells of a text how many words were looked up and how many are known. It warns; nothing depends on it.
    """

    def meanwhile() -> None:
        corpus.digests()
        import scipy.sparse  # noqa: F401  # slow to start; the workers that answer are copies of this process

    empty = none = looked = 0
    foreign: list[str] = []
    authors: Counter[str | None] = Counter()
    tallies = [Tally() for _ in corpus.tables]
    glances = mapped(_glanced, known, corpus.batches(_AT_ONCE), workers=workers, meanwhile=meanwhile)
    for table, without, tried, names, tally in glances:
        empty += without
        looked += len(tried)
        none += sum(not found for _, _, found in tried)
        foreign += [text for text, words, found in tried if found < HARDLY * words or not found]
        authors.update(names)
        tallies[table] += tally
    corpus.tallies, documents = tallies, corpus.counted
    keys = {author: author_key(author) for author in authors}
    nobody = sum(authors[author] for author, key in keys.items() if key is None or key in _NOBODY)
    by_authors = f" by {how_many(len({*keys.values()} - {None}), 'author')}" if keys else ""
    lines = [f"{how_many(documents, 'text')}{by_authors}."]
    if empty:
        one, more = "has no words: it counts as a text without any.", "have no words: they count as texts without any."
        lines.append(how_many(empty, one, more))
    if len(foreign) > looked / 5:
        languages: Counter[str] = Counter()
        for text in foreign:
            count_language(text, languages)
        of = f"{looked:,} texts" if looked + empty >= documents else f"the {looked:,} texts looked at"
        told = f"a third of the words or more is unknown to {by} in {len(foreign):,} of {of}"
        told = told if none <= looked / 5 else f"no word of {none:,} of {of} is known to {by}"
        told += f" (languages: {_listed(languages)})" * bool(languages)
        lines.append(f"{told}. publius label --labels A,B reads sixteen languages.")
    if nobody:
        told = how_many(nobody, "text has", "texts have")
        lines.append(f"{told} an author like nobody: --no-author VALUE leaves them out, --no-author '' empty ones.")
    return lines + [f"{each.what}: {each.count:,}" + f" ({each.where})" * bool(each.where) for each in corpus.notes()]


def _glanced(
    known: Callable[[str], tuple[int, int]] | None, batch: Batch
) -> tuple[int, int, list[tuple[str, int, int]], Counter[str | None], Tally]:
    """Of a batch its table, how many texts have no words, how many of the first others' are known, authors, what is odd."""
    tally = Tally()
    documents = batch.documents(tally)
    texts = [(each.row, each.text) for each in documents if any(map(str.isalnum, each.text))]
    tried = [(text, *known(text)) for row, text in texts if row < TRIED] if known is not None else []
    authors = Counter(each.author for each in documents if batch.plan.author is not None)
    return batch.table, len(batch) - len(texts), tried, authors, tally


@cache
def _identifier() -> Any:
    with extra("documents", "py3langid"):
        from py3langid.langid import MODEL_FILE, LanguageIdentifier
    return LanguageIdentifier.from_model_file(MODEL_FILE, norm_probs=True)


def count_language(text: str, counts: Counter[str]) -> None:
    """Count a text's language by its code, "unclear" where it is too short or mixed; nothing without the extra."""
    with contextlib.suppress(MissingExtraError):
        identified, start = _identifier().classify, text[:2_000]
        language, probability = identified(start) if sum(map(str.isalpha, start)) >= 12 else ("", 0)
        counts[str(language) if probability >= 0.8 else "unclear"] += 1
