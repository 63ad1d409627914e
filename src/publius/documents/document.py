"""A document, how the values of a row become one, and how its text is made clean.

What no author wrote goes: by a public function of the one text, in time linear in its length.
"""

from __future__ import annotations

import html
import re
from collections.abc import Sequence
from typing import Any, Final

import msgspec

from publius.text.normal_form import LONGEST_TEXT, UNHEARD, Tally, normal_form, said

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


# A clean text ---------------------------------------------------------------------------------------------

BLOCKS: Final = frozenset(  # elements of HTML that begin a line
    "address article aside blockquote br caption dd div dl dt figcaption figure footer form h1 h2 h3 h4 h5 h6 header hr "
    "legend li main nav ol option p pre section table td th title tr ul".split()
)
# Markup is what has a tag of HTML by name: "a < b" and "<3" are an author's own.
_INLINE: Final = (
    "a|abbr|b|big|body|button|center|cite|code|col|del|details|em|font|head|html|i|img|input|ins|kbd|label|link|mark|meta|o:p|"
    "q|s|samp|script|select|small|span|strike|strong|style|sub|sup|tbody|textarea|tfoot|thead|time|tt|u|var|video|wbr"
)
_UNSEEN: Final = re.compile(r"<(script|style)\b[^<>]*>.*?(?:</\1\s*>|\Z)|<!--.*?(?:-->|\Z)", re.IGNORECASE | re.DOTALL)
_BLOCK: Final = re.compile(rf"</?(?:{'|'.join(sorted(BLOCKS))})(?:\s[^<>]*)?/?>", re.IGNORECASE)
_TAG: Final = re.compile(rf"</?(?:{_INLINE})(?:\s[^<>]*)?/?>|<!doctype[^<>]*>|<\?xml[^<>]*>", re.IGNORECASE)
_HYPHENS: Final = re.compile(r"(?<=[^\W\d_])[-\u2010]\r?\n[ \t]*(?=[^\W\d_])")
_BRACKETED: Final = (
    r"\[(?:[A-Z][A-Z _-]{2,30}[A-Z0-9]?|(?:redacted|removed|anonymi[sz]ed|name|person|deleted)[ _-]?\d{0,4})\]"
    r"|<[A-Z][A-Z_]{2,30}(?:_?\d{1,4})?>|\{\{?[A-Z][A-Z_]{2,30}\}?\}"
)
# What an earlier anonymisation put in the place of words: [NAME], <PERSON_1>, XXXX.
PLACEHOLDER: Final = re.compile(rf"{_BRACKETED}|\bX{{3,}}\b|\u2588{{2,}}")
_IN_BRACKETS: Final = re.compile(_BRACKETED)  # each begins with a bracket, so it is found quickly
# What quotes another person, as mail programs, forums and trackers write it.
_SUBJECT: Final = "(?:Subject|Betreff|Objet|Asunto|Oggetto|Onderwerp|Assunto|Ämne|Temat)"
_WROTE: Final = r"\b(?:wrote|schrieb|a écrit|escribió|ha scritto|schreef|escreveu)\b"
_QUOTED: Final = tuple(  # a character and a sign without which there is none, which are found quickly
    (character, re.compile(sign), re.compile(pattern, re.MULTILINE))
    for character, sign, pattern in (
        # all below the line of a forwarded message, or below the head of one after somebody's own words
        ("-", "--", r"^[ \t]*-{2,}[ \t]*(?i:original message|ursprüngliche nachricht|message d'origine)\b(?s:.*)"),
        (":", rf"\n[ \t*_>]*{_SUBJECT}", r"(?<=\S)\s*\n[ \t*_>]*(?:From|Von|De|Da|Van|Från|Od)\b[ *_]*:.*\n"
         rf"(?:[ \t*_>]*[^\W\d_][^\n:]{{0,30}}:.*\n){{1,5}}?[ \t*_>]*{_SUBJECT}[ *_]*:(?s:.*)"),
        # the line above quoted ones, which a program may have broken, and these
        (">", _WROTE, r"^(?:(?:On|Am|Le|El|Il|Op|Em)\b.{0,200}\n)?.{0,200}"
         rf"{_WROTE}.{{0,60}}:[ \t\r]*\n(?=(?:[ \t\r]*\n){{0,3}}[ \t]*>)"),
        (">", ">", r"^[ \t]*>.*(?:\n|\Z)"),
        ("{", r"\{quote\}", r"\{quote\}(?s:.*?)\{quote\}"),
        ("q", r"bq\. ", r"^[ \t]*bq\. .*(?:\n|\Z)"),
    )
)  # fmt: skip
_NESTED: Final = re.compile(  # the end of a quotation is the group
    r"\[quote\b[^\]\n]{0,300}\]|<blockquote\b[^<>]*>|<aside\b[^<>]{0,200}\bquote\b[^<>]*>"
    r"|(\[/quote\]|</(?:blockquote|aside)\s*>)", re.IGNORECASE
)  # fmt: skip
_LONG_NUMBER: Final = re.compile(r"&#(?:[xX]0*[0-9a-fA-F]{7,}|0*[0-9]{8,});?")  # int() refuses very long ones


def unescaped(text: str) -> str:
    """Entities as characters; a number that is no character's, however long, as the replacement character."""
    return html.unescape(_LONG_NUMBER.sub("\ufffd", text))


def clean(text: str, *, keep_quotes: bool = False) -> tuple[str, bool]:
    r"""``text`` without what its author did not write, and whether words of others were left out.

    >>> clean("The <b>of\ufb01ce</b> was&nbsp;closed.<br>I wai-\nted.")
    ('The office was closed.\nI waited.', False)
    """
    quotes = False
    if "\0" in text:
        text = text.replace("\0", "")
    if not keep_quotes and ("[" in text or "<" in text) and ("quote" in text or "QUOTE" in text):
        text, quotes = _without_nested(text)
    if "<" in text and (_BLOCK.search(text) or _TAG.search(text)):
        text = unescaped(_TAG.sub("", _BLOCK.sub("\n", _UNSEEN.sub("", text))))
    elif "&" in text and ";" in text:
        text = unescaped(text)
    for character, sign, pattern in () if keep_quotes else _QUOTED:
        if character in text and sign.search(text):
            text, times = pattern.subn("", text)
            quotes = quotes or times > 0
    if not text.isascii():
        text = normal_form("NFKC", text.replace("\xad", ""))
    if "\n" in text and (("-" in text and ("-\n" in text or "-\r" in text)) or "\u2010" in text):
        text = _HYPHENS.sub("", text)
    if ("X" in text and "XXX" in text) or "\u2588" in text:
        text = PLACEHOLDER.sub(" ", text)
    elif "[" in text or "<" in text or "{" in text:
        text = _IN_BRACKETS.sub(" ", text)
    return text, quotes


def _without_nested(text: str) -> tuple[str, bool]:
    """``text`` without quotations that may hold others, and whether there are some; one that never ends stays."""
    kept, depth, last = list[str](), 0, 0
    for found in _NESTED.finditer(text):
        if not found[1]:
            if not depth:
                kept.append(text[last : found.start()])
                last = found.start()
            depth += 1
        elif depth:
            depth -= 1
            last = last if depth else found.end()
    rest = kept.pop() + text[last:] if depth else text[last:]
    return "\n>\n".join([*kept, rest]), bool(kept)  # so that the line above it is known for what it is
