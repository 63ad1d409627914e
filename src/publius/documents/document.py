"""A document, and how the values of a row become one."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

import msgspec

from publius.documents.clean import clean
from publius.text.normal_form import LONGEST_TEXT, UNHEARD, Tally, said

LOST: Final = "texts with letters that an encoding lost (check --encoding)"
SEVERAL: Final = "texts of several authors, who together count as one of their own (write one name a text)"
QUOTED: Final = "texts that quote others, whose words are left out (--keep-quotes keeps them)"
BETWEEN: Final = "\n\n"  # the values of a column or path that has several in a row


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
