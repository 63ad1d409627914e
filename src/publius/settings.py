"""Shared options, each once: its name, type, default and help. Commands, Python, service and evaluation take these.

A command flattens a class into its own options (`publius.cli`); the sentence under a field is its help. What only one
command takes is a parameter of that command. A mechanism declares its parameters in a `Settings` class of its own
(`publius.option`).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Literal

from publius.errors import UsageError

UnknownPolicy = Literal["unk", "drop", "reject", "keep"]
Between = Literal["none", "stop-words", "punctuation", "all"]
"""Text left unprotected between the words of ordered text."""
Quotes = Literal["standard", "none", "backslash"]
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
"""Larger values of a label's epsilon are refused outside of ``--experiment``, of a summary's always (rule 13)."""
LARGEST_WORD_EXPONENT: Final = 1000.0
"""So is an exponent between two close words above this: no noise is left."""
MOST_UNCHANGED: Final = 0.99
"""So is noise that leaves more of the frequent public words than this as they are."""
LARGEST_DELTA: Final = 1e-6
"""So is a mechanism whose promise may fail more often than this: noise of a large epsilon reaches few words."""


@dataclass(frozen=True, kw_only=True)
class Reading:
    """Where the documents are in a file, and how the file is read."""

    text_field: str | None = None
    """Column of texts, or a path: 'a[].b'. Default: text."""
    delimiter: str | None = None
    """One character, or tab. Default: told by its header."""
    encoding: str | None = None
    """Of a whole file. Default: UTF-8 or cp1252, by row."""
    quotes: Quotes = "standard"
    """Default: standard (RFC 4180). none, or backslash."""
    sheet: tuple[str, ...] = ()
    """Sheet of a workbook; repeatable."""
    header_row: int | str | None = None
    """Row of names, or 1-3; rows before are left out."""
    lines: bool = False
    """Each line of a text file is a document."""
    subfolders: bool = False
    """Read the folders below a folder, too."""
    raw: bool = False
    """Texts as they are: no cleaning of mark-up or mail."""
    keep_quotes: bool = False
    """Keep what texts quote of others, as lines of mail."""


@dataclass(frozen=True, kw_only=True)
class People:
    """Who wrote the documents."""

    author_field: str | None = None
    """Column of authors; id: each document is its own."""
    no_author: tuple[str, ...] = ()
    """Authors who are nobody, as N/A,test: left out."""


@dataclass(frozen=True, kw_only=True)
class TextSettings:
    """How a text becomes the words of a bag."""

    stop_words: str = ENGLISH
    """Default: english; another language, none, file:PATH."""
    unknown: UnknownPolicy = "unk"
    """unk, drop, reject, keep (experiments). Default: unk."""


@dataclass(frozen=True, kw_only=True)
class Words(TextSettings):
    """How the words of documents are replaced."""

    mechanism: str = "laplace"
    """See explain --mechanism list. Default: laplace."""
    embeddings: str | None = None
    """Stored vectors or a file. Default: packaged GloVe."""
    metric: str = EUCLIDEAN
    """manhattan, python:MODULE:NAME. Default: euclidean."""
    set: tuple[str, ...] = ()
    """Parameter of the mechanism; repeatable."""


@dataclass(frozen=True, kw_only=True)
class Workers:
    """Who does the work."""

    workers: int | None = None
    """Processes. Default: one per CPU."""
    engine: Engine = "local"
    """local, or spark (extra spark)."""
    master: str | None = None
    """URL of the Spark master. Default: this machine."""
    estimate: bool = False
    """Only say time and memory, by a sample."""


@dataclass(frozen=True, kw_only=True)
class Run(Workers):
    """How rows are made and written."""

    format: Format = "jsonl"
    """Rows as jsonl, csv or parquet."""
    resume: bool = False
    """Go on with an interrupted run of the same output."""


@dataclass(frozen=True, kw_only=True)
class Leaving:
    """What leaves unprotected beside each row, and the budget it is charged to."""

    ids: bool = False
    """Documents' own ids. Default: numbers, secret order."""
    id_field: str = "id"
    """Column of the documents' ids."""
    keep: tuple[str, ...] = ()
    """Column that leaves unprotected; repeatable."""
    ledger: str | None = None
    """Charge authors' accounts; needs --author-field."""
    experiment: bool = False
    """A weaker run: what it writes says NOT PRIVATE."""
    seed: int | None = None
    """Reproducible noise; needs --experiment."""


@dataclass(frozen=True, kw_only=True)
class Tried(Words):
    """Of an evaluation: what replaces the words, and how texts are read for it."""

    mechanism: str = "laplace"
    """Kernels, as laplace,exponential."""
    unknown: UnknownPolicy | None = None  # type: ignore[assignment]
    """unk, drop, reject, keep (the paper's). Default: unk."""
    length: str | int | None = None
    """Words per bag, or shortest. Default: 40."""
    draws: int = 1
    """Draws of noise in each setting."""
    seed: int = 0
    """Of the noise, as in any experiment."""


@dataclass(frozen=True, kw_only=True)
class Limits:
    """Of an evaluation: limits that make a verdict; exit code 0 PASS, 1 FAIL, 3 INCONCLUSIVE."""

    identified_at_most: float | None = None
    """Share of texts whose author is named."""
    advantage_at_most: float | None = None
    """Share beyond the baseline."""
    topic_at_least: float | None = None
    """Share of texts whose topic is told."""
    tries: int = 0
    """Settings tried on these texts before."""

    def __post_init__(self) -> None:
        for name, share in self.given.items():
            if not 0 <= share <= 1:
                raise UsageError(f"--{name.replace('_', '-')} is a share from 0 to 1, not {share:g}.")
        if self.tries < 0:
            raise UsageError(f"--tries is a number from 0, not {self.tries}.")

    @property
    def given(self) -> dict[str, float]:
        """Those that are set."""
        return {name: share for name, share in vars(self).items() if name != "tries" and share is not None}
