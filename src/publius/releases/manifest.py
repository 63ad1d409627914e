"""The records of a release: one model for each kind of manifest. Numbers travel here; sentences are made elsewhere.

``manifest.json`` holds one of these, in canonical bytes, and the digests of all other files of the folder; nothing of
it depends on the texts but through the mechanism.
"""

from __future__ import annotations

from typing import Annotated, Final, Literal

import msgspec
from msgspec import Meta, Struct

from publius.classifiers.classifier import Kind
from publius.errors import DataError

VERSION: Final = 1
Positive = Annotated[float, Meta(ge=1e-100, le=1e100)]
Share = Annotated[float, Meta(ge=0, le=1)]
Count = Annotated[int, Meta(ge=0, lt=2**62)]
One = Annotated[int, Meta(ge=1, lt=2**62)]


class _Record(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The base of all records here: frozen, by keyword, unknown keys refused."""


class PublicInput(_Record, frozen=True, kw_only=True):
    """Something public that a release was made with: texts, vectors, an encoder, a word list.

    Attributes:
        name: what it is called.
        kind: texts, vectors, encoder, classifier, words.
        sha256: digest of its content.
        licence: under which it was published; None where nobody said.
        trained: when it was trained or last changed, as far as known: later than the private texts it may hold them.
    """

    name: str
    kind: str
    sha256: str
    licence: str | None = None
    trained: str | None = None


class Accuracy(_Record, frozen=True, kw_only=True):
    """How often a classifier is right, measured on public texts by cross-validation, with a 95 % interval.

    Attributes:
        share: right answers of ``texts`` public texts.
        low: lower end of the interval.
        high: upper end.
        texts: how many public texts were classified.
        by_label: the share for each label.
    """

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
    manifest_version: int = VERSION
    publius_version: str
    private: bool
    warning: str | None = None
    promise: str
    public: tuple[PublicInput, ...] = ()
    files: dict[str, str] = {}


class LabelManifest(_Manifest, frozen=True, kw_only=True, tag_field="kind", tag="labels"):
    """A label for each document: randomized response on a classifier's answer.

    Attributes:
        epsilon: of one document, local.
        documents: how many rows there are; public.
        labels: all M labels, "other" the last.
        kept: columns that leave unprotected.
        ids: whether the documents' own ids leave.
        bag: words of each bag drawn from the label's public words; None without bags.
        shuffled: what holds for an author after shuffling, or for a document of a person with one where nobody named
            authors; None where that is above 0.9 of what holds without.
        author: what holds for an author; None where nobody named a column of authors.
    """

    unit: Literal["document"] = "document"
    epsilon: Positive
    delta: Share = 0.0
    documents: Count
    labels: Annotated[tuple[str, ...], Meta(min_length=2)]
    classifier: ClassifierFacts
    field: str | None = None
    labels_after_texts: bool = False
    bag: int | None = None
    ids: bool = False
    kept: tuple[str, ...] = ()
    shuffled: Pair | None = None
    author: AuthorFacts | None = None


class WordManifest(_Manifest, frozen=True, kw_only=True, tag_field="kind", tag="words"):
    """The words of each document as noisy bags: epsilon * N * E between documents at Earth Mover's distance E.

    Attributes:
        epsilon: of one word and unit of distance.
        length: N, words of every bag; public.
        exponent_per_distance: epsilon * N.
        nearest_pair: the exponent between two documents that differ in one word by its nearest, from public words.
        typical_pair: the same for a typical pair of public words.
        unchanged: the share of frequent public words that the noise leaves as they are; None where nobody computed it.
    """

    unit: Literal["document"] = "document"
    epsilon: Positive
    delta: Share = 0.0
    documents: Count
    length: One
    metric: str
    mechanism: str
    mechanism_parameters: dict[str, float | int | str | bool | None] = {}
    exponent_per_distance: Positive
    nearest_pair: float | None = None
    typical_pair: float | None = None
    unchanged: Share | None = None
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
    """What a collection says: noisy counts, each author protected.

    Attributes:
        epsilon: of an author, for all that the summary says; pure.
        authors: how many there are; public, since neighbours are collections with one author's documents replaced.
        documents_per_author: c, the contribution bound.
        by: the declared groups: a field and its values, "other" the last.
        epsilons: of each table; they add up to epsilon at most.
        scales: of the noise in each count of a table.
        statements: how many public statements were asked.
        statements_per_author: k, for how many of them an author counts at most.
        near: the cosine from which a text is like a statement.
        forced: drawn though these authors are too few.
        classifier: of topics.
        subjects: the classifier of subjects.
        compared_with: what changes are against.
    """

    unit: Literal["author"] = "author"
    neighbours: Literal["replace"] = "replace"
    epsilon: Positive
    delta: Share = 0.0
    authors: Count
    documents_per_author: One
    by: dict[str, tuple[str, ...]] = {}
    epsilons: dict[str, float] = {}
    scales: dict[str, float] = {}
    statements: Count = 0
    statements_per_author: int | None = None
    near: float | None = None
    forced: bool = False
    classifier: ClassifierFacts | None = None
    subjects: ClassifierFacts | None = None
    compared_with: str | None = None
    shuffled: None = None
    author: AuthorFacts | None = None


Manifest = LabelManifest | WordManifest | SummaryManifest
_DECODER = msgspec.json.Decoder(Manifest)


def encoded(manifest: Manifest) -> bytes:
    """The canonical bytes of a manifest: sorted by declaration, two blanks, a line feed at the end."""
    return msgspec.json.format(msgspec.json.encode(manifest), indent=2) + b"\n"


def decoded(content: bytes, where: str) -> Manifest:
    """The manifest in ``content``; `DataError` naming ``where`` for anything else."""
    try:
        found: Manifest = _DECODER.decode(content)
        return found
    except msgspec.MsgspecError as error:
        raise DataError(f"{where} is no manifest of Publius 1.0: {error}") from None
