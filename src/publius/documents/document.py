"""A document, and how the values of a row become one."""

from __future__ import annotations

import codecs
import datetime
import decimal
from collections import Counter
from collections.abc import Sequence
from typing import Any, Final

import msgspec

from publius.documents.clean import clean
from publius.text.normal_form import LONGEST_TEXT

CP1252: Final = "rows that are not UTF-8, read as windows-1252"
LOST: Final = "texts with letters that an encoding lost (check --encoding)"
SEVERAL: Final = "texts of several authors, who together count as one of their own (write one name a text)"
QUOTED: Final = "texts that quote others, whose words are left out (--keep-quotes keeps them)"
BETWEEN: Final = "\n\n"  # the values of a column or path that has several in a row
Tally = Counter[str]  # how many rows there were of each thing that a curator is told about
UNHEARD: Final = Tally()  # where nobody is told


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
    own: bool = False  # a document without an author is its own, under a name that nobody has
    nobody: frozenset[str] = frozenset()  # keys of authors whose documents are left out, "" where none is named

    def names(self) -> tuple[str | None, ...]:
        """The columns whose values `document` takes, in order."""
        return (self.text, self.id, self.author, *self.fields)

    def document(self, row: int, values: Sequence[Any], tally: Tally = UNHEARD) -> Document:
        """The document of these values of `names`; what is odd about it is counted."""
        text, writer = text_of(values[0], tally), values[2]
        if not self.raw:
            text, quotes = clean(text, keep_quotes=self.keep_quotes)
            if quotes:
                tally[QUOTED] += 1
        if (isinstance(writer, list) and len(writer) > 1) or (isinstance(writer, str) and BETWEEN in writer):
            tally[SEVERAL] += 1
        return Document(
            row=row, text=text, id=said(values[1]), author=self.writer(row, writer),
            fields=dict(zip(self.fields, values[3:], strict=True)) if self.fields else {},
        )  # fmt: skip

    def writer(self, row: int, value: Any) -> str | None:
        """Who wrote the document of a row, by the value of its column."""
        named = (said(value) or "").replace("\0", "")
        return named if named.strip() else f"\0{row}" if self.own else None


def text_of(value: Any, tally: Tally = UNHEARD) -> str:
    """The text of a value: no value refuses a row (rule 5)."""
    if isinstance(value, (dict, list)):
        tally["texts that are lists or objects, which count as empty"] += 1
        return ""
    text = said(value) or ""
    if "\ufffd" in text:
        tally[LOST] += 1
    if len(text) > LONGEST_TEXT:
        tally[f"texts cut after {LONGEST_TEXT:,} characters"] += 1
    return text[:LONGEST_TEXT]


# The bytes that Windows-1252 lacks are as in Latin-1.
_CP1252: Final = "".join(bytes([each]).decode("cp1252", "ignore") or chr(each) for each in range(256))


def decoded(data: bytes, tally: Tally = UNHEARD, whole: str | None = None) -> str:
    """Text in the encoding of the ``whole`` file if it has one; else UTF-8, or cp1252 where it is not."""
    if whole is not None:
        return data.decode(whole, "replace")
    try:
        return data.decode()
    except UnicodeDecodeError:
        tally[CP1252] += 1
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
