"""Every kind of file that documents come in, by the suffix of its name."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import lru_cache, partial
from pathlib import PurePath
from typing import Any, Final

from publius.documents.foreign import KINDS as FOREIGN
from publius.documents.foreign import read_foreign
from publius.documents.row_readers import Row, read_jsonl, read_txt
from publius.documents.separated import read_csv
from publius.documents.table_form import TableForm
from publius.settings import InputSettings

READERS: Final[Mapping[str, Callable[..., Iterator[Row]]]] = {
    ".txt": read_txt,
    ".jsonl": read_jsonl,
    ".ndjson": read_jsonl,
    ".csv": read_csv,
    ".tsv": read_csv,
    **{kind: partial(read_foreign, kind) for kind in sorted(FOREIGN)},
}
"""The reader of each kind of file, by the suffix before ``.gz``: our own, or one in a process of its own."""

SEPARATED: Final = frozenset({".csv", ".tsv"})
"""Kinds whose fields are separated by a character and whose encoding may be told."""

LINES: Final = frozenset({".jsonl", ".ndjson"})
"""Kinds that have an object a line."""

WHOLE: Final = frozenset({".txt", ".docx", ".pdf", ".html", ".htm", ".eml"})
"""Kinds of which a file is one document."""

UNNAMED: Final = WHOLE | {".mbox"}
"""Kinds whose documents have no fields, so no ids: they are numbered, and may stand in one folder."""

PACKED: Final = frozenset({".txt", ".jsonl", ".ndjson", ".csv", ".tsv", ".html", ".htm", ".eml"})
"""Kinds that may be ``.gz``."""


RANGES: Final = LINES | {".parquet"}
"""Kinds of which a range can be read: bytes of JSON lines, rows of Parquet."""


def reader_of(
    kind: str,
    form: TableForm = TableForm(),
    *,
    seconds: float = InputSettings.reading_seconds,
    links: bool = True,
) -> Callable[..., Iterator[Row]]:
    """The reader of a kind of file: ``reader(path, columns)``, and of `RANGES` ``reader(path, columns, start, stop)``.

    ``form`` is that of text, ``seconds`` what a foreign file may take, ``links`` whether a symbolic link is followed.
    """
    told: dict[str, Any] = {"seconds": seconds} if kind in FOREIGN else {"form": form}
    return partial(READERS[kind], links=links, **told)


@lru_cache(256)  # it is asked for every document
def kind_of_file(name: str) -> str | None:
    """The kind of a file by the suffix of its name, ``.gz`` passed over; None for one that cannot be read."""
    suffixes = [suffix.lower() for suffix in PurePath(name).suffixes[-2:]]
    packed = suffixes[-1:] == [".gz"]
    suffix = (suffixes[:-1] if packed else suffixes)[-1:]
    kind = suffix[0] if suffix else ""
    return kind if kind in (PACKED if packed else READERS) else None
