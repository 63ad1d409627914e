"""The records of a release: one model for each kind of manifest. Numbers travel here; sentences are made elsewhere.

``manifest.json`` holds one of these, in canonical bytes, and the digests of all other files of the folder; nothing of
it depends on the texts but through the mechanism.
"""

from __future__ import annotations

from typing import Annotated, Literal

import msgspec
from msgspec import Meta, Struct

from publius.classifiers.classifier import Kind
from publius.errors import DataError

Positive = Annotated[float, Meta(ge=1e-100, le=1e100)]
Share = Annotated[float, Meta(ge=0, le=1)]
Count = Annotated[int, Meta(ge=0, lt=2**62)]
One = Annotated[int, Meta(ge=1, lt=2**62)]


class _Record(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The base of all records here."""


class PublicInput(_Record, frozen=True, kw_only=True):
    """Something public that a release was made with: texts, vectors, an encoder, a classifier, a word list."""

    name: str
    kind: str
    sha256: str
    licence: str | None = None
    trained: str | None = None  # when, or last changed: later than the private texts it may hold them


class Accuracy(_Record, frozen=True, kw_only=True):
    """How often a classifier is right, measured on public texts by cross-validation, with a 95 % interval."""

    share: Share
    low: Share
    high: Share
    texts: Count
    by_label: dict[str, Share] = {}


class ClassifierFacts(_Record, frozen=True, kw_only=True):
    """Which classifier answered."""

    name: str
    kind: Kind
    sha256: str
    accuracy: Accuracy | None = None


class Pair(_Record, frozen=True, kw_only=True):
    """An (epsilon, delta) pair, such as that after shuffling."""

    epsilon: Positive
    delta: Share


class AuthorFacts(_Record, frozen=True, kw_only=True):
    """What holds for an author: at most so many documents leave, epsilon and delta for what they say, all together."""

    documents: One
    epsilon: Positive
    delta: Share = 0.0


class _Manifest(_Record, frozen=True, kw_only=True):
    manifest_version: int = 1
    publius_version: str
    private: bool
    warning: str | None = None
    promise: str
    public: tuple[PublicInput, ...] = ()
    files: dict[str, str] = {}


class LabelManifest(_Manifest, frozen=True, kw_only=True, tag_field="kind", tag="labels"):
    """A label for each document: randomized response on a classifier's answer."""

    unit: Literal["document"] = "document"
    epsilon: Positive
    delta: Share = 0.0
    documents: Count
    labels: Annotated[tuple[str, ...], Meta(min_length=2)]  # "other" the last
    classifier: ClassifierFacts
    field: str | None = None
    labels_after_texts: bool = False
    bag: int | None = None  # words drawn from the label's public words
    ids: bool = False
    kept: tuple[str, ...] = ()
    shuffled: Pair | None = None  # for an author, or a person with one document; None where it says little more
    author: AuthorFacts | None = None


class WordManifest(_Manifest, frozen=True, kw_only=True, tag_field="kind", tag="words"):
    """The words of each document as noisy bags: epsilon * N * E between documents at Earth Mover's distance E."""

    unit: Literal["document"] = "document"
    epsilon: Positive  # of one word and unit of distance
    delta: Share = 0.0
    documents: Count
    length: One
    metric: str
    mechanism: str
    mechanism_parameters: dict[str, float | int | str | bool | None] = {}
    exponent_per_distance: Positive  # epsilon * length
    nearest_pair: float | None = None  # exponent between two documents that differ in one word by its nearest
    typical_pair: float | None = None  # by a typical public word
    unchanged: Share | None = None  # of frequent public words; None where nobody computed it
    evidence: Literal["proven", "certified", "stated", "none"] = "proven"
    ordered: bool = False
    between: str = "none"
    unknown: str = "unk"
    stop_words: str = "english"
    stop_words_sha256: str = ""
    tokenizer: str = ""
    vocabulary_sha256: str = ""
    ids: bool = False
    kept: tuple[str, ...] = ()
    shuffled: None = None
    author: AuthorFacts | None = None


class SummaryManifest(_Manifest, frozen=True, kw_only=True, tag_field="kind", tag="summary"):
    """What a collection says: noisy counts, each author protected."""

    unit: Literal["author"] = "author"
    neighbours: Literal["replace"] = "replace"
    epsilon: Positive  # of an author, for all that the summary says
    delta: Share = 0.0
    authors: Count  # public, since neighbours have one author's documents replaced
    documents_per_author: One
    by: dict[str, tuple[str, ...]] = {}  # "other" the last of each field's values
    epsilons: dict[str, float] = {}  # of the tables
    scales: dict[str, float] = {}
    statements: Count = 0
    statements_per_author: int | None = None
    near: float | None = None  # the cosine from which a text is like a statement
    forced: bool = False  # drawn though the authors are too few
    classifier: ClassifierFacts | None = None
    subjects: ClassifierFacts | None = None
    compared_with: str | None = None
    shuffled: None = None
    author: AuthorFacts | None = None


Manifest = LabelManifest | WordManifest | SummaryManifest


def encoded(manifest: Manifest) -> bytes:
    """The canonical bytes of a manifest: sorted by declaration, two blanks, a line feed at the end."""
    return msgspec.json.format(msgspec.json.encode(manifest), indent=2) + b"\n"


def decoded(content: bytes, where: str) -> Manifest:
    """The manifest in ``content``; `DataError` naming ``where`` for anything else."""
    try:
        found: Manifest = msgspec.json.decode(content, type=Manifest)
        return found
    except msgspec.MsgspecError as error:
        raise DataError(f"{where} is no manifest of Publius 1.0: {error}") from None
