"""E-mail becomes rows of text: a message a file, or a mailbox of them. Attachments are never opened."""

from __future__ import annotations

import email
import email.policy
import mailbox
import re
from collections.abc import Iterator
from email.message import EmailMessage
from pathlib import Path
from typing import Final, cast

from publius.documents.office import FILE_LIMIT, Refused, html_text, whole_text
from publius.documents.row_readers import RECORD_LIMIT, TOO_LONG, Row, bad_row
from publius.errors import PubliusError
from publius.files import os_errors, read_bytes_limited

PARTS_LIMIT: Final = 300
"""Parts of a message, which may stand within each other: parsing takes the square of that."""

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
    except (PubliusError, MemoryError):
        raise
    except Exception:  # of the parser, on a message that it cannot read: its words may be the message's
        return bad_row(place, _DAMAGED)
    return bad_row(place, TOO_LONG) if len(text) > RECORD_LIMIT else Row(place, {column: text})


def message_text(data: bytes) -> str:
    """The subject and the body of a message: its plain text, else what its HTML shows; "" where it has neither."""
    if len(_PARTS.findall(data)) > PARTS_LIMIT:
        raise Refused(_DAMAGED)
    message = email.message_from_bytes(data, policy=email.policy.default)
    subject = str(message["subject"] or "").strip()
    body = message.get_body(preferencelist=("plain", "html"))
    text = "" if body is None else str(cast("EmailMessage", body).get_content())
    if body is not None and body.get_content_type() == "text/html":
        text = html_text(text)
    return "\n\n".join(part for part in (subject, text.strip()) if part)
