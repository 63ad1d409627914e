"""Shared options, each once: its name, type, default and help. Commands, Python, service and evaluation take these.

A command flattens a class into its own options (`publius.cli`); the sentence under a field is its help. What only one
command takes is a parameter of that command. A mechanism declares its parameters in a `Settings` class of its own
(`publius.option`).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Literal

Metric = Literal["euclidean", "manhattan"]
SafePolicy = Literal["unk", "drop", "reject"]
UnknownPolicy = Literal["unk", "drop", "reject", "keep"]
Between = Literal["none", "stop-words", "punctuation", "all"]
"""Text left unprotected between the words of ordered text."""
Quotes = Literal["standard", "none"]
Format = Literal["jsonl", "csv", "parquet"]
Engine = Literal["local", "spark"]

EUCLIDEAN: Final = "euclidean"
MANHATTAN: Final = "manhattan"
ENGLISH: Final = "english"
STOP_WORD_LANGUAGES: Final = {
    "german": "de", "french": "fr", "spanish": "es", "italian": "it", "portuguese": "pt", "dutch": "nl", "greek": "el",
}  # fmt: skip
"""Languages whose stop words come with the extra ``languages``, and their ISO 639 codes."""
LONGEST: Final = 10_000_000
"""The most words that a bag may have."""
AUTHORS_AT_LEAST: Final = 5
"""Authors of public texts who must use a word before it may leave (the list rule)."""
LARGEST_LOCAL_EPSILON: Final = 20.0
"""Larger values of a label's epsilon are refused outside of ``--experiment`` (rule 13)."""


@dataclass(frozen=True, kw_only=True)
class Reading:
    """Where the documents are in a file, and how the file is read."""

    text_field: str | None = None
    """Column of texts, or a path such as 'answers[].a'. Needed unless it is named text or is the only column."""
    delimiter: str | None = None
    """Separator of a table: one character, or tab. Default: told by its header."""
    encoding: str | None = None
    """Encoding of a whole file. Default: its byte order mark, else UTF-8 or cp1252 row by row."""
    quotes: Quotes = "standard"
    """Quotation marks in tables: standard (RFC 4180), or none (each line is a row)."""
    sheet: tuple[str, ...] = ()
    """Sheet of a workbook; repeatable."""
    header_row: int | None = None
    """Row of the column names, from 1; rows before it are left out. Default: 1."""
    lines: bool = False
    """Each line of a text file is a document."""
    subfolders: bool = False
    """Read the folders below a folder, too."""
    raw: bool = False
    """Take texts as they are: no removal of mark-up, soft hyphens and quoted mail."""
    keep_quotes: bool = False
    """Keep the quoted lines of mail."""


@dataclass(frozen=True, kw_only=True)
class People:
    """Who wrote the documents."""

    author_field: str | None = None
    """Column that names the author, such as ResponseId; id where each document is its own author."""
    no_author: tuple[str, ...] = ()
    """Value of that column that names nobody, such as N/A; repeatable or comma-separated. Those rows are left out."""


@dataclass(frozen=True, kw_only=True)
class TextSettings:
    """How a text becomes the words of a bag."""

    stop_words: str = ENGLISH
    """Words left out: english, german, french, spanish, italian, portuguese, dutch, greek, none or file:PATH."""
    unknown: UnknownPolicy = "unk"
    """Words outside the vocabulary: unk, drop or reject (keep: experiments only)."""


@dataclass(frozen=True, kw_only=True)
class Words(TextSettings):
    """How the words of documents are replaced."""

    mechanism: str = "laplace"
    """Kernel on each word, of those in `explain --mechanism list`, or python:MODULE:NAME."""
    embeddings: str | None = None
    """Word vectors: a stored name or a file. Default: the packaged GloVe."""
    metric: str = EUCLIDEAN
    """Distance between words: euclidean, manhattan or python:MODULE:NAME."""
    set: tuple[str, ...] = ()
    """A parameter of the mechanism, NAME=VALUE; repeatable."""


@dataclass(frozen=True, kw_only=True)
class Run:
    """How a release is run and written."""

    workers: int | None = None
    """Processes. Default: one per CPU."""
    engine: Engine = "local"
    """local, or spark (extra spark)."""
    master: str | None = None
    """URL of the Spark master. Default: this machine."""
    format: Format = "jsonl"
    """Rows as jsonl, csv or parquet."""
    resume: bool = False
    """Go on with an interrupted run of the same output."""


@dataclass(frozen=True, kw_only=True)
class Leaving:
    """What leaves unprotected beside each row, and the budget it is charged to."""

    ids: bool = False
    """Release the documents' own ids. Default: numbers in a secret order."""
    id_field: str = "id"
    """Column of the documents' ids."""
    keep: tuple[str, ...] = ()
    """Column that leaves unprotected beside each row; repeatable."""
    ledger: str | None = None
    """Charge each author's account in this ledger; needs --author-field."""
    experiment: bool = False
    """Allow a weaker run; everything it writes says NOT PRIVATE."""
    seed: int | None = None
    """Reproducible noise; needs --experiment."""
