"""A document, and how the values of a row become one."""

from __future__ import annotations

import codecs
import datetime
import decimal
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Final

import msgspec

from publius.documents.clean import clean, quotes
from publius.errors import DataError
from publius.text.normal_form import LONGEST_TEXT

CP1252: Final = "rows that are not UTF-8, read as windows-1252"
LOST: Final = "texts with letters that an encoding lost (check --encoding)"
SEVERAL: Final = "texts of several authors, who together count as one of their own (write one name a text)"
QUOTED: Final = "texts that quote others, whose words are left out (--keep-quotes keeps them)"

Tally = Counter[str]
"""How many rows there were of each thing that a curator is told about."""
_DEEPEST: Final = 4
_BETWEEN: Final = "\n\n"  # the values of a path with several


class NoTextColumnError(DataError):
    """A column that is not there, the one of texts perhaps; ``longest`` is the column with the longest values."""

    longest: str | None = None


class Bare(dict[str, Any]):
    """A row that is no object, so that it names no column."""


class Document(msgspec.Struct, frozen=True, kw_only=True):
    """A private text, its position among the documents (from 0), and what else is known of it."""

    row: int
    text: str
    id: str | None = None
    author: str | None = None
    fields: dict[str, Any] = {}

    def __repr__(self) -> str:
        """Without content: it may reach a log."""
        return f"Document(row={self.row})"


class Plan(msgspec.Struct, frozen=True):
    """Which values of a row make a document; small, as it travels to every worker."""

    text: str
    id: str | None = None
    author: str | None = None
    fields: tuple[str, ...] = ()
    raw: bool = False
    keep_quotes: bool = False
    own: bool = False
    """Each document is its own author."""
    nobody: frozenset[str] = frozenset()
    """Keys of authors who name nobody, "" where none is named; their documents are left out."""

    def names(self) -> tuple[str | None, ...]:
        """The columns whose values `document` takes, in order."""
        return (self.text, self.id, self.author, *self.fields)

    def document(self, row: int, values: Sequence[Any], tally: Tally | None = None) -> Document:
        """The document of these values of `names`."""
        text = self.given(values, tally)
        author = str(row) if self.own else said(values[2])
        author = None if author is None or not author.strip() else author
        return Document(
            row=row, text=text if self.raw else clean(text, keep_quotes=self.keep_quotes), id=said(values[1]),
            author=author, fields=dict(zip(self.fields, values[3:], strict=True)) if self.fields else {},
        )  # fmt: skip

    def given(self, values: Sequence[Any], tally: Tally | None) -> str:
        """The text as it stands, counted where words of others will be left out, and where several wrote it."""
        text = text_of(values[0], tally)
        if tally is not None and (len(values[2]) > 1 if isinstance(values[2], list) else _BETWEEN in str(values[2])):
            tally[SEVERAL] += 1
        if tally is not None and not (self.raw or self.keep_quotes) and quotes(text):
            tally[QUOTED] += 1
        return text


def text_of(value: Any, tally: Tally | None = None) -> str:
    """The text of a value: no value refuses a row (rule 5)."""
    text: str = ""
    if isinstance(value, str):
        text = value
    elif not isinstance(value, (dict, list)):
        text = said(value) or ""
    elif tally is not None:
        tally["texts that are lists or objects, which count as empty"] += 1
    if tally is not None and "\ufffd" in text:
        tally[LOST] += 1
    if len(text) > LONGEST_TEXT:
        if tally is not None:
            tally[f"texts cut after {LONGEST_TEXT:,} characters"] += 1
        return text[:LONGEST_TEXT]
    return text


_CP1252: Final = "".join(bytes([each]).decode("cp1252", "ignore") or chr(each) for each in range(256))


def decoded(data: bytes, tally: Tally | None = None) -> str:
    """UTF-8, else cp1252; the bytes that it lacks as in Latin-1."""
    try:
        return data.decode()
    except UnicodeDecodeError:
        if tally is not None:
            tally[CP1252] += 1
        return cp1252(data)


def cp1252(data: bytes) -> str:
    """Windows-1252; the bytes that it lacks as in Latin-1."""
    return codecs.charmap_decode(data, "strict", _CP1252)[0]


def said(value: Any) -> str | None:
    """A value of a table as people write it: whole numbers without a point, dates in ISO form; None for no value."""
    if isinstance(value, str):
        return value
    if isinstance(value, decimal.Decimal):
        plain = f"{value:f}"
        return None if value.is_nan() else plain.rstrip("0").rstrip(".") if "." in plain else plain
    if value is None or value != value:
        return None
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    if isinstance(value, (datetime.date, datetime.time)):
        return value.isoformat()
    if isinstance(value, bytes):
        return decoded(value)
    if isinstance(value, list):
        return "; ".join(sorted(filter(None, map(said, value)))) or None
    return str(value)


# Names of columns and paths into nested values -------------------------------------------------------------


def steps_of(name: str) -> list[str]:
    """The steps of a path: ``answers[].a`` is "answers", each "[]", "a"."""
    return [step for part in name.split(".") for step in part.replace("[]", ".[]").split(".") if step]


def pick(record: Mapping[str, Any], name: str | None) -> Any:
    """The value at a column or path; None where the row has none. Several values are parted by an empty line."""
    if name is None:
        return None
    if name in record or ("." not in name and "[]" not in name):
        return record.get(name)
    found = [each for each in _at(record, steps_of(name)) if each is not None]
    if "[]" not in name:
        return found[0] if found else None
    return _BETWEEN.join(filter(None, (said(each) for each in found if not isinstance(each, (dict, list)))))


def together(cells: Sequence[str | None]) -> str | None:
    """The cells of one column, as several values of a path."""
    return _BETWEEN.join(filter(None, cells)) or cells[0]


def _at(value: Any, steps: Sequence[str]) -> list[Any]:
    if not steps:
        return [value]
    if steps[0] == "[]":
        return [found for each in value for found in _at(each, steps[1:])] if isinstance(value, list) else []
    return _at(value[steps[0]], steps[1:]) if isinstance(value, dict) and steps[0] in value else []


def columns_of(records: Iterable[Mapping[str, Any]]) -> tuple[str, ...]:
    """The columns of rows that name their own, and paths in the place of what is nested wherever it is there."""
    found: dict[str, bool] = {}

    def walk(value: Any, path: str, depth: int) -> None:
        if isinstance(value, dict) and value and depth < _DEEPEST:
            for name, each in value.items():
                walk(each, f"{path}.{name}" if path else str(name), depth + 1)
        elif isinstance(value, list) and any(isinstance(each, dict) for each in value) and depth < _DEEPEST:
            for each in value[:20]:
                walk(each, f"{path}[]", depth + 1)
        else:
            found[path] = found.get(path, False) or value not in (None, [], {})

    bare = False
    for record in records:
        if isinstance(record, Bare):
            bare = True
        else:
            walk(record, "", 0)
    nested = {path[:at] for path in found for at, sign in enumerate(path) if sign in ".["}
    return tuple(path for path, filled in found.items() if path and (filled or path not in nested)) or ("text",) * bare


def text_column(
    columns: Sequence[str], asked: str | None, longest: Callable[[], str | None], *, only: bool = True
) -> str:
    """The column of texts: the one asked for, or text, or the ``only`` one of a header. `DataError` lists the columns.

    It proposes the one with the ``longest`` values; what a release reads is never chosen by what stands in cells.
    """
    if asked is not None:
        check_columns(columns, [asked])
        return asked
    if "text" in columns:
        check_columns(columns, ["text"])
        return "text"
    if only and len(columns) == 1:
        return columns[0]
    proposed = longest()
    error = _missing("text", columns, f" Use --text-field {proposed or 'NAME'}.")
    error.longest = proposed
    raise error


def check_columns(columns: Sequence[str], wanted: Iterable[str]) -> None:
    """`DataError` unless each of the ``wanted`` is a column, or a path that begins with one."""
    for name in wanted:
        if columns.count(name) > 1:
            raise DataError(f"{columns.count(name)} columns are called {name}: give each a name of its own")
        if not has_column(columns, name):
            raise _missing(name, columns)


def has_column(columns: Iterable[str], name: str) -> bool:
    """Whether it is a column, or a path that begins with one."""
    first = steps_of(name)[:1]
    return name in columns or (first not in ([], [name]) and any(each.startswith(first[0]) for each in columns))


def are_names(columns: Iterable[str]) -> bool:
    """Whether these look like names of columns: a table without a header begins with somebody's text."""
    return not any(len(each) > 48 or len(each.split()) > 5 or each.replace(".", "").isdigit() for each in columns)


def _missing(name: str, columns: Sequence[str], way_out: str = "") -> NoTextColumnError:
    if not are_names(columns):
        return NoTextColumnError(
            f"No column {name}. The first row may be no names of columns, so it is not shown: publius inspect lists "
            "it; --header-row N takes another, or write a row of names first."
        )
    listed = ", ".join(columns[:30]) + (f" and {len(columns) - 30} more" if len(columns) > 30 else "")
    return NoTextColumnError(f"No column {name}. Found: {listed}.{way_out}")
