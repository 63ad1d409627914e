"""A look at a file before anything is decided or spent: for the curator's eyes; it warns and decides nothing."""

from __future__ import annotations

import hashlib
import re
from collections import Counter, defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from functools import cache
from itertools import islice
from pathlib import Path
from typing import Any, Final, final

from publius.documents.clean import PLACEHOLDER
from publius.documents.corpus import Corpus, Note, open_corpus
from publius.documents.document import Document, NoTextColumnError, said
from publius.documents.office import SheetsError
from publius.documents.sources import Source
from publius.documents.tables import CP1252, Separated
from publius.errors import MissingExtraError, extra
from publius.files.progress import stage
from publius.settings import Reading
from publius.text.author_names import author_key

LOOKED_AT: Final = 2_000
"""Texts whose language and words are looked at, at most."""
HARDLY: Final = 0.3
"""A text of whose words fewer are known is hardly known."""
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
        return {**asdict(self), "columns": [*self.columns]}


def inspect(
    source: str | Path | Sequence[str | Path], reading: Reading = Reading(), *, author_field: str | None = None,
    no_author: Sequence[str] = (), by: Mapping[str, Sequence[str]] | None = None,
) -> Inspection:  # fmt: skip
    """Read everything and say what is there, where to look twice, and what the groups ``by`` would leave as other.

    Where the column of texts or the sheet is not told, one is looked at all the same, and said: only here.
    """
    corpus, notes = _opened(source, reading)
    columns = corpus.columns
    author = author_field or ("author" if "author" in columns else None)
    named = [*dict.fromkeys([*(by or {}), *columns[:_COLUMNS]])]
    corpus = corpus.carrying(named, author, no_author, gaps=True)
    seen = _Seen(corpus, author is not None, by or {}, named)
    with stage("Reading the rows"):
        for document in corpus:
            seen.take(document)
    found = [*notes, *corpus.notes(), *seen.notes(), *_rows_in_cells(corpus)]
    odd = sum(note.count for note in found if note.what == CP1252)
    by_row = "utf-8" if not odd else "cp1252" if odd == seen.documents else f"utf-8, {odd:,} rows cp1252"
    names = sorted({(table.encoding or by_row).removesuffix("-sig") for table in corpus.tables})
    languages = seen.languages
    if languages is None:
        found.append(
            Note("languages were not looked at: pip install 'publius[documents]'", seen.documents, "")
        )
    return Inspection(
        seen.documents, seen.empty, columns, corpus.plan.text, ", ".join(names), dict((languages or Counter()).most_common()),
        (*found,),
    )  # fmt: skip


def _opened(source: Any, reading: Reading) -> tuple[Corpus, list[Note]]:
    notes: list[Note] = []
    source = Source(source)
    while True:
        try:
            return open_corpus(source, reading), notes
        except NoTextColumnError as error:
            if error.longest is None or error.longest == reading.text_field:
                raise
            notes.append(
                Note("no column is called text: name it with --text-field", 1, f"looked at: {error.longest}")
            )
            reading = replace(reading, text_field=error.longest)
        except SheetsError as error:
            listed = "; ".join(
                f"{name}: names of columns in row {row}, {rows} rows" for name, row, rows in error.choices
            )
            name, row, _ = error.choices[0]
            notes.append(
                Note(
                    "sheets that are not one table: name some with --sheet and --header-row",
                    len(error.choices),
                    listed,
                )
            )
            notes.append(Note("sheet that is looked at here", 1, f"--sheet {name} --header-row {row}"))
            reading = replace(reading, sheet=(name,), header_row=row)


class _Seen:
    """What is noted of each document; no text is kept."""

    def __init__(
        self, corpus: Corpus, authored: bool, by: Mapping[str, Sequence[str]], named: Sequence[str]
    ) -> None:
        self.corpus, self.authored, self.by, self.named = corpus, authored, by, named
        self.documents = self.empty = self.placeholders = 0
        self.texts: Counter[bytes] = Counter()
        self.authors: Counter[str] = Counter()
        self.nobody: Counter[str] = Counter()
        self.first: dict[str, int] = {}
        self.languages: Counter[str] | None = Counter()
        self.forms: dict[str, Counter[str]] = defaultdict(Counter)
        self.shapes: dict[str, Counter[bool]] = defaultdict(Counter)
        self.heads: list[dict[str, bool]] = []
        self.other: dict[str, Counter[str]] = defaultdict(Counter)

    def take(self, document: Document) -> None:
        self.documents += 1
        if not document.text.strip():
            self.empty += 1
        else:
            self.texts[
                hashlib.blake2b(
                    " ".join(document.text.split()).encode("utf-8", "replace"), digest_size=12
                ).digest()
            ] += 1
        if self.languages is not None and self.documents <= LOOKED_AT and document.text.strip():
            try:
                self.languages[language_of(document.text) or "unclear"] += 1
            except MissingExtraError:
                self.languages = None
        if self.authored:
            key = author_key(document.author)
            if key is None or key in _NOBODY:
                self.nobody["(empty)" if key is None else str(document.author).strip()] += 1
            else:
                self.authors[key] += 1
                self.first.setdefault(key, document.row + 1)
        shape: dict[str, bool] = {}
        for name, raw in document.fields.items():
            value = said(raw) if not isinstance(raw, dict) else None
            if name == self.corpus.plan.text:
                self.placeholders += bool(value and PLACEHOLDER.search(value))
                continue
            if name in self.by and author_key(value) not in self._declared(name):
                self.other[name][value or "(empty)"] += 1
            if value and len(value) < 40:
                plain = _NUMBER_OR_DATE.fullmatch(value) is not None
                self.shapes[name][plain] += 1
                shape[name] = plain
                if _DATE.fullmatch(value.strip()):
                    self.forms[name][re.sub(r"[^\W\d_]", "a", re.sub(r"\d", "9", value.strip()))] += 1
                else:
                    self.forms[name][""] += 1
        if len(self.heads) < 2:
            self.heads.append(shape)

    @cache  # noqa: B019  # as long as one inspection
    def _declared(self, name: str) -> frozenset[str | None]:
        return frozenset(map(author_key, self.by[name]))

    def notes(self) -> list[Note]:
        found: list[Note] = []
        headed = [row for row, shape in enumerate(self.heads, start=1) if self.documents > 5 and any(
            not plain and self.shapes[name][True] >= 0.9 * self.documents - 2 for name, plain in shape.items())]  # fmt: skip
        if headed:
            rows = ", ".join(map(str, headed))
            found.append(
                Note(
                    "rows that look like further header rows: --header-row N takes row N for names",
                    len(headed),
                    f"data row {rows}",
                )
            )
        if self.placeholders:
            found.append(
                Note(
                    "texts with placeholders of an earlier anonymisation, which count as no words",
                    self.placeholders,
                    "",
                )
            )
        if repeated := sum(count for count in self.texts.values() if count > 1):
            found.append(
                Note(
                    "texts that are there more than once",
                    repeated,
                    f"{sum(count > 1 for count in self.texts.values())} different",
                )
            )
        found += self._of_authors()
        for name, forms in self.forms.items():
            dates = {form: count for form, count in forms.most_common() if form}
            if len(dates) > 1 and sum(dates.values()) > forms[""] * 2:
                listed = ", ".join(f"{form} ({count})" for form, count in islice(dates.items(), 12))
                found.append(
                    Note(
                        "ways to write a date: groups are compared as they are written",
                        len(dates),
                        f"{name}: {listed}",
                    )
                )
        for name in self.by:
            if count := sum(self.other[name].values()):
                values = ", ".join(f"{value} ({rows})" for value, rows in self.other[name].most_common(12))
                found.append(Note("rows that --by would call other", count, f"{name}: {values}"))
        return found

    def _of_authors(self) -> list[Note]:
        found = []
        if self.nobody:
            values = ", ".join(f"{value} ({count})" for value, count in self.nobody.most_common(12))
            found.append(
                Note(
                    "rows whose author looks like nobody: --no-author leaves them out",
                    self.nobody.total(),
                    values,
                )
            )
        alike: dict[str, list[str]] = defaultdict(list)
        for key in self.authors:
            alike[_ZEROS.sub("", _JOINING.sub("", _ZEROS.sub("", key)))].append(key)
        if one := [keys for keys in alike.values() if len(keys) > 1]:
            places = "; ".join(
                "rows " + ", ".join(str(self.first[key]) for key in keys[:3]) for keys in one[:5]
            )
            found.append(
                Note(
                    "authors who differ by zeros, decimals or joining marks only: perhaps one person",
                    sum(map(len, one)),
                    places,
                )
            )
        if self.authors:
            key, most = self.authors.most_common(1)[0]
            if most >= 10 and most > self.documents / 2:
                found.append(
                    Note("rows of one author, more than half of all", most, f"first in row {self.first[key]}")
                )
        return found


def _rows_in_cells(corpus: Corpus) -> list[Note]:
    """A field in quotation marks that holds lines which would be rows: a stray mark may have taken them in."""
    count, first = 0, ""
    for table in corpus.tables:
        if isinstance(table, Separated) and len(table.columns) > 1 and table.delimiter:
            for row, record in enumerate(table.records(), start=1):
                lines = [
                    line
                    for cell in record.values()
                    if cell and "\n" in cell
                    for line in cell.splitlines()[1:]
                ]
                if any(line.count(table.delimiter) == len(table.columns) - 1 for line in lines):
                    count, first = count + 1, first or f"data row {row}"
    what = "quoted fields that hold lines which look like rows: a stray quotation mark? (--quotes none reads each line)"
    return [Note(what, count, first)] if count else []


# Before anything is spent ---------------------------------------------------------------------------------


def look(
    corpus: Corpus, known: Callable[[str], tuple[int, int]] | None = None, *, by: str = "this classifier"
) -> list[str]:
    """At most three lines before anything is spent: how many texts, how many without words, how many hardly known.

    ``known`` tells of a text how many words were looked up and how many are known. It warns; nothing depends on it.
    """
    documents = empty = none = hardly = looked = 0
    languages: Counter[str] = Counter()
    authors: set[str | None] = set()
    for document in corpus:
        documents += 1
        authors.add(author_key(document.author))
        if not any(map(str.isalnum, document.text)):
            empty += 1
        elif known is not None and looked < LOOKED_AT:
            looked += 1
            words, found = known(document.text)
            none += not found
            if found < HARDLY * words or not found:
                hardly += 1
                try:
                    languages[language_of(document.text) or "unclear"] += 1
                except MissingExtraError:
                    languages.clear()
    authors.discard(None)
    lines = [f"{documents:,} texts" + (f" by {len(authors):,} authors" if authors else "") + "."]
    if empty:
        lines.append(f"{empty:,} have no words: they count as texts without any.")
    if none > looked / 5 or hardly > looked / 5:
        of = f"{looked:,} texts" if looked == documents - empty else f"the {looked:,} texts looked at"
        listed = ", ".join(f"{name} {count:,}" for name, count in languages.most_common(4))
        said_of = f"no word of {none:,} of {of}" if none > looked / 5 else f"few words of {hardly:,} of {of}"
        lines.append(
            f"{said_of} {'is' if none > looked / 5 else 'are'} known to {by}"
            + (f" (languages: {listed})." if listed else ".")
        )
    return lines


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
