"""One text made clean: what no author wrote goes. A public function of the one text, in time linear in its length."""

from __future__ import annotations

import html
import re
from typing import Final

from publius.text.normal_form import normal_form

# Markup is what has a tag of HTML by name: "a < b" and "<3" are an author's own.
_TAGS: Final = (
    "a|abbr|address|article|aside|b|big|blockquote|body|br|button|caption|center|cite|code|col|dd|del|details|div|dl|dt|"
    "em|figcaption|figure|font|footer|form|h[1-6]|head|header|hr|html|i|img|input|ins|kbd|label|li|link|main|mark|meta|"
    "nav|o:p|ol|option|p|pre|q|s|samp|script|section|select|small|span|strike|strong|style|sub|sup|table|tbody|td|textarea|tfoot|th|"
    "thead|time|title|tr|tt|u|ul|var|video|wbr"
)
_UNSEEN: Final = re.compile(r"<(script|style)\b[^<>]*>.*?(?:</\1\s*>|\Z)|<!--.*?(?:-->|\Z)", re.IGNORECASE | re.DOTALL)
_BLOCK: Final = re.compile(
    r"</?(?:address|article|blockquote|br|dd|div|dl|dt|footer|form|h[1-6]|header|hr|li|ol|p|pre|section|table|td|th|tr|ul)"
    r"(?:\s[^<>]*)?/?>",
    re.IGNORECASE,
)
_TAG: Final = re.compile(rf"</?(?:{_TAGS})(?:\s[^<>]*)?/?>|<!doctype[^<>]*>|<\?xml[^<>]*>", re.IGNORECASE)
_HYPHENS: Final = re.compile(r"(?<=[^\W\d_])[-\u2010]\r?\n[ \t]*(?=[^\W\d_])")
_BRACKETED: Final = (
    r"\[(?:[A-Z][A-Z _-]{2,30}[A-Z0-9]?|(?:redacted|removed|anonymi[sz]ed|name|person|deleted)[ _-]?\d{0,4})\]"
    r"|<[A-Z][A-Z_]{2,30}(?:_?\d{1,4})?>|\{\{?[A-Z][A-Z_]{2,30}\}?\}"
)
PLACEHOLDER: Final = re.compile(rf"{_BRACKETED}|\bX{{3,}}\b|\u2588{{2,}}")
"""What an earlier anonymisation put in the place of words: [NAME], <PERSON_1>, XXXX."""
_IN_BRACKETS: Final = re.compile(_BRACKETED)  # each begins with a bracket, so it is found quickly
_QUOTED: Final = re.compile(r"^[ \t]*>.*(?:\n|\Z)", re.MULTILINE)
_SAID_BEFORE: Final = re.compile(  # the line above a quotation
    r"^[^\n]{0,200}\b(?:wrote|schrieb|a écrit|escribió|ha scritto|schreef|escreveu)\b[^\n]{0,60}:[ \t\r]*\n"
    r"(?=(?:[ \t\r]*\n)?[ \t]*>)",
    re.MULTILINE,
)
_FORWARDED: Final = re.compile(
    r"^[ \t]*-{2,}[ \t]*(?:original message|ursprüngliche nachricht|message d'origine)\b", re.IGNORECASE | re.MULTILINE
)


_LONG_NUMBER: Final = re.compile(r"&#(?:[xX]0*[0-9a-fA-F]{7,}|0*[0-9]{8,});?")  # int() refuses very long ones


def unescaped(text: str) -> str:
    """Entities as characters; a number that is no character's, however long, as the replacement character."""
    return html.unescape(_LONG_NUMBER.sub("\ufffd", text))


def clean(text: str, *, keep_quotes: bool = False) -> str:
    r"""``text`` without what nobody wrote into it: mark-up, soft hyphens, cut words, placeholders, quoted mail.

    Tags of HTML go where there are some, and entities become characters; Unicode is brought into NFKC (ligatures, full
    width); soft hyphens and null characters go; words cut at the end of a line are joined; placeholders of an earlier
    anonymisation go; lines that quote mail (``> ``) go unless ``keep_quotes``.

    >>> clean("The <b>of\ufb01ce</b> was&nbsp;closed.<br>I wai-\nted.")
    'The office was closed.\nI waited.'
    """
    if "\0" in text:
        text = text.replace("\0", "")
    if not keep_quotes and (">" in text or "--" in text):
        text = without_quotes(text)
    if "<" in text and _TAG.search(text):
        text = _TAG.sub("", _BLOCK.sub("\n", _UNSEEN.sub("", text)))
        text = unescaped(text)
    elif "&" in text and ";" in text:
        text = unescaped(text)
    if "\xad" in text:
        text = text.replace("\xad", "")
    if not text.isascii():
        text = normal_form("NFKC", text)
    if "-\n" in text or "-\r" in text or "\u2010" in text:
        text = _HYPHENS.sub("", text)
    if "XXX" in text or "\u2588" in text:
        return PLACEHOLDER.sub(" ", text)
    return _IN_BRACKETS.sub(" ", text) if "[" in text or "<" in text or "{" in text else text


def without_quotes(text: str) -> str:
    """``text`` without the lines of mail that it quotes."""
    forwarded = _FORWARDED.search(text) if "--" in text else None
    if forwarded:
        text = text[: forwarded.start()]
    if text.startswith(">") or "\n>" in text or "\n " in text or "\n\t" in text:
        text = _QUOTED.sub("", _SAID_BEFORE.sub("", text))
    return text
