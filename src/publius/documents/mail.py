"""E-mail becomes rows of text: a message a file, or a mailbox of them. Attachments are never opened."""

from __future__ import annotations

import codecs
import contextlib
import email
import email.errors
import email.header
import email.policy
import mailbox
import re
from collections.abc import Iterator
from email.message import Message
from pathlib import Path
from typing import Any, Final

from publius.documents.office import Refused, html_text, whole_text
from publius.documents.row_readers import FILE_LIMIT, RECORD_LIMIT, TOO_LONG, Row, bad_row
from publius.documents.table_form import decoded
from publius.errors import PubliusError
from publius.files import os_errors, read_bytes_limited

PARTS_LIMIT: Final = 300
"""Parts of a message, which may stand within each other: parsing takes the square of that."""

FIELD_LIMIT: Final = 2**16
"""Longest header field in bytes that is parsed, with its parameters and its folds."""

_OF_NAMES: Final = frozenset({"idna", "punycode"})
"""Encodings of names of computers, which take the square of a text."""

_FIELD: Final = re.compile(
    rb"(?:\A|[\r\n])(?:content-[a-z-]{1,40}+|subject)[ \t]*+:[^\r\n]*+(?:(?:\r\n?|\n)[ \t][^\r\n]*+)*+",
    re.IGNORECASE,
)
_LONG_FIELD: Final = f"a header field has more than {FIELD_LIMIT >> 10} KiB: save the message as plain text"
_PARTS: Final = re.compile(rb"content-type|boundary", re.IGNORECASE)
_DAMAGED: Final = "the message cannot be read: save it again as plain text"


def read_eml(path: Path, columns: tuple[str, ...]) -> Iterator[Row]:
    """One row: the subject, then the body of the message."""
    yield whole_text(
        path, columns[0], lambda path: message_text(read_bytes_limited(path, FILE_LIMIT)), "e-mail"
    )


def read_mbox(path: Path, columns: tuple[str, ...]) -> Iterator[Row]:
    """One row a message of a mailbox, as `read_eml`."""
    with os_errors("open", path):
        box = mailbox.mbox(str(path), create=False)
        try:
            for number, key in enumerate(box.iterkeys(), start=1):
                with box.get_file(key) as stream:
                    data = stream.read(FILE_LIMIT + 1)
                yield _message_row(f"message {number}", data, columns[0])
        finally:
            box.close()


def _message_row(place: str, data: bytes, column: str) -> Row:
    if len(data) > FILE_LIMIT:
        return bad_row(
            place, f"the message has more than {FILE_LIMIT >> 20} MiB: save it without its attachments"
        )
    try:
        text = message_text(data)
    except Refused as refused:
        return bad_row(place, str(refused))
    except (PubliusError, MemoryError):
        raise
    except Exception:  # of the parser, on a message that it cannot read: its words may be the message's
        return bad_row(place, _DAMAGED)
    return bad_row(place, TOO_LONG) if len(text) > RECORD_LIMIT else Row(place, {column: text})


def message_text(data: bytes) -> str:
    """The subject and the body of a message: its plain text, else what its HTML shows; "" where it has neither.

    The standard library's newer policy parses every header field by a grammar, in the square of its length and with
    kilobytes of memory for each of its words. So the plain policy reads the message, and what it leaves is decoded
    here.
    """
    if len(_PARTS.findall(data)) > PARTS_LIMIT:
        raise Refused(_DAMAGED)
    if any(field.end() - field.start() > FIELD_LIMIT for field in _FIELD.finditer(data)):
        raise Refused(_LONG_FIELD)
    message = email.message_from_bytes(data, policy=email.policy.compat32)
    subjects = (str(value) for name, value in message.raw_items() if name.lower() == "subject")
    subject = _header_text(next(subjects, ""))
    return "\n\n".join(part for part in (subject, _body(message).strip()) if part)


def _body(message: Message) -> str:
    """The first plain text that is no attachment, else the first page of HTML."""
    html: Message | None = None
    pending: list[Any] = [message]
    while pending:
        part = pending.pop()
        kind = part.get_content_type()
        if part.is_multipart():
            if kind.startswith("multipart/"):  # another message within this one is an attachment
                pending.extend(reversed(part.get_payload()))
        elif not str(part.get("content-disposition", "")).strip().lower().startswith("attachment"):
            if kind == "text/plain":
                return _part_text(part)
            html = part if html is None and kind == "text/html" else html
    return "" if html is None else html_text(_part_text(html))


def _part_text(part: Message) -> str:
    data = part.get_payload(decode=True)
    if not isinstance(data, bytes):
        return ""
    return _as_said(data, part.get_content_charset())


def _as_said(data: bytes, charset: str | None) -> str:
    """Text in the encoding that a message names, where it is one of text and linear; else in the one it looks like."""
    if charset is not None:
        with contextlib.suppress(LookupError, UnicodeError, ValueError):
            if codecs.lookup(charset).name not in _OF_NAMES:
                return data.decode(charset)
    return decoded(data)


def _header_text(raw: str) -> str:
    """A header field as people read it: its encoded words decoded (RFC 2047), its folds unfolded."""
    unfolded = " ".join(raw.encode("ascii", "surrogateescape").decode("latin-1").split())
    try:
        words = email.header.decode_header(unfolded)
    except (email.errors.HeaderParseError, ValueError):  # not what it says: left as it stands
        words = [(unfolded, None)]
    return "".join(_word_text(word, charset) for word, charset in words).strip()


def _word_text(word: bytes | str, charset: str | None) -> str:
    return _as_said(word.encode("latin-1", "replace") if isinstance(word, str) else word, charset)
