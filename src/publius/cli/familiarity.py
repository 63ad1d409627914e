"""Whether a reference can be trusted, what it promises, and whether it knows the documents to be released."""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import dataclass
from typing import Final, final

import numpy as np

from publius.documents.corpus import BadDocument, Corpus
from publius.documents.languages import language_of
from publius.errors import DocumentError, MissingExtraError, PubliusError
from publius.mechanisms.mechanism import TOTAL
from publius.mechanisms.prototype import Prototype
from publius.mechanisms.registry import DOCUMENT_MECHANISMS, make_document_mechanism
from publius.text.bag import Encoding, words_of
from publius.vectors.learning.reference import Reference

BOUNDS: Final = (3.0, 5.0, 7.0)
"""Nats between any two documents for which is said what a reference promises."""

UNFAMILIAR: Final = 0.8
"""Share of unknown words from which on a document is said to be hardly known: as a release warns."""

_LOOKED_AT: Final = 2_000
_INACCURACY: Final = 1e-9


@final
@dataclass(frozen=True)
class Promise:
    """The promise of a mechanism on a reference at one bound.

    Attributes:
        preserve: what is kept.
        mechanism: its name.
        bound: nats between any two documents.
        epsilon: nats per unit of distance; None where nothing is stated per unit.
        evidence: "certified" or "proven".
        prototypes: how many it chooses among; None where it names none.
    """

    preserve: str
    mechanism: str
    bound: float
    epsilon: float | None
    evidence: str
    prototypes: int | None


@final
@dataclass(frozen=True)
class Familiarity:
    """How well a reference knows the documents of a corpus: for the curator's eyes, never released.

    Attributes:
        documents: how many were read.
        unreadable: how many could not be.
        words: words that count, stop words left out.
        known_share: the share of them that the reference knows.
        hardly_known: documents of whose words it knows a fifth at most.
        languages: documents by ISO 639 code, "unclear" for those too short or mixed; None without the extra.
    """

    documents: int
    unreadable: int
    words: int
    known_share: float
    hardly_known: int
    languages: dict[str, int] | None


def intact(reference: Reference) -> str:
    """Every byte against the digest, and the law of documents of one word, and of none, against the bound."""
    reference.verify()
    documents = [np.zeros(0, np.int64), *np.arange(min(reference.size, _LOOKED_AT))[:, None]]
    worst = -math.inf
    for preserve in reference.keeps:
        for bound in BOUNDS:
            logs = np.log(Prototype(reference, preserve=preserve, bound=bound).weights(documents) / TOTAL)
            worst = max(worst, float((logs.max(axis=0) - logs.min(axis=0)).max()) - bound)
    if worst > _INACCURACY:
        raise PubliusError(
            f"documents of one word are {worst:.3g} nats beyond the bound: do not release with it"
        )
    return f"{reference.size:,} words, keeps {' and '.join(reference.keeps)}, sha256 {reference.sha256[:16]}"


def promises(reference: Reference) -> list[Promise]:
    """The promise of each document mechanism on ``reference`` at `BOUNDS`, for each aspect that it can keep."""
    made = [
        make_document_mechanism(name, reference, preserve=preserve, bound=bound)
        for preserve in reference.keeps
        for name in DOCUMENT_MECHANISMS
        for bound in BOUNDS
    ]
    return [
        Promise(
            each.preserve,
            each.name,
            each.guarantee.map(),
            each.guarantee.epsilon,
            each.guarantee.evidence,
            each.parameters.get("prototypes"),
        )
        for each in made
    ]


def familiarity(reference: Reference, corpus: Corpus) -> Familiarity:
    """How much of ``corpus`` the reference knows; `DocumentError` where no document can be read."""
    encoding = Encoding.of(reference.tokenizer, stop_words=reference.stop_words)
    documents = unreadable = words = unknown = hardly = 0
    languages: Counter[str] | None = Counter()
    for item in corpus:
        if isinstance(item, BadDocument):
            unreadable += 1
            continue
        found = words_of(item.text, reference, encoding)
        documents += 1
        words += found.seen
        unknown += found.unknown
        hardly += bool(found.seen) and found.unknown >= UNFAMILIAR * found.seen
        if languages is not None:
            try:
                languages[language_of(item.text) or "unclear"] += 1
            except MissingExtraError:
                languages = None
    if not documents:
        raise DocumentError("no document could be read: see 'publius inspect' for what stands in the file")
    known = 1 - unknown / words if words else 0.0
    told = None if languages is None else dict(languages.most_common())
    return Familiarity(documents, unreadable, words, known, hardly, told)
