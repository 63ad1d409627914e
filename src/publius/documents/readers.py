"""Every kind of file that documents come in, by the suffix of its name."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache, partial
from pathlib import PurePath
from typing import Final

from publius.documents import row_readers
from publius.documents.mail import read_eml, read_mbox
from publius.documents.office import read_docx, read_html, read_pdf, read_xlsx
from publius.documents.row_readers import Reader, read_csv
from publius.documents.table_form import TableForm

READERS: Final[Mapping[str, Reader]] = {
    **row_readers.READERS,
    ".tsv": read_csv,
    ".xlsx": read_xlsx,
    ".docx": read_docx,
    ".pdf": read_pdf,
    ".html": read_html,
    ".htm": read_html,
    ".eml": read_eml,
    ".mbox": read_mbox,
}
"""The reader of each kind of file, by the suffix before ``.gz``."""

SEPARATED: Final = frozenset({".csv", ".tsv"})
"""Kinds whose fields are separated by a character and whose encoding may be told."""

WHOLE: Final = frozenset({".txt", ".docx", ".pdf", ".html", ".htm", ".eml"})
"""Kinds of which a file is one document."""

UNNAMED: Final = WHOLE | {".mbox"}
"""Kinds whose documents have no fields, so no ids: they are numbered, and may stand in one folder."""

PACKED: Final = frozenset({".txt", ".jsonl", ".ndjson", ".csv", ".tsv", ".html", ".htm", ".eml"})
"""Kinds that may be ``.gz``."""


def reader_of(kind: str, form: TableForm) -> Reader:
    """The reader of a kind of file, with the form of its tables where it has one."""
    reader = READERS[kind]
    return partial(read_csv, form=form) if reader is read_csv else reader


@lru_cache(256)  # it is asked for every document
def kind_of_file(name: str) -> str | None:
    """The kind of a file by the suffix of its name, ``.gz`` passed over; None for one that cannot be read."""
    suffixes = [suffix.lower() for suffix in PurePath(name).suffixes[-2:]]
    packed = suffixes[-1:] == [".gz"]
    suffix = (suffixes[:-1] if packed else suffixes)[-1:]
    kind = suffix[0] if suffix else ""
    return kind if kind in (PACKED if packed else READERS) else None
