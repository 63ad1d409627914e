"""The one way out: a document or bag becomes a `Release`.

`Plan` holds every public decision and refuses what would break the promise; `protect` does the same for a batch of
documents with one search for all. A release holds the protected bag and nothing that refers to its document (R21).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any, Final, final, get_args

import numpy as np

import publius.text.tokenizer
from publius.arrays import IndexArray
from publius.documents.corpus import BadDocument, Document
from publius.errors import DataError, PolicyError, UnknownWordError, UsageError
from publius.mechanisms.base import AbstractMechanism
from publius.noise.randomness import RunKey
from publius.privacy.guarantee import Guarantee, promise
from publius.privacy.ledger import Charge, Ledger
from publius.text.bag import UNKNOWN, Bag, Encoded, Encoding, UnknownPolicy, words_of
from publius.text.tokenizer import Between, StopWords

MANIFEST_VERSION = 1
BAG: Final = "bag-of-words"
ORDERED_TEXT: Final = "ordered-text"
NO_WORDS = "no word is left to protect once stop words, and unknown words under the policy drop, are left out"


@final
@dataclass(frozen=True, slots=True)
class Experiment:
    """Leave to be weaker than a release. Everything made under it is marked NOT PRIVATE.

    Attributes:
        seed: makes the noise reproducible; with the seed known it can be taken away again.

    """

    seed: int | None = None

    def __post_init__(self) -> None:
        if self.seed is not None and (type(self.seed) is not int or self.seed < 0):
            raise UsageError(f"a seed must be a whole number from 0, not {self.seed!r}")


@final
@dataclass(frozen=True, slots=True)
class OrderedText:
    """A release of its own kind: the protected words in the order of the text, instead of a bag of them.

    Its guarantee is the weaker one for sequences (`Guarantee.in_order`); it is no Earth Mover's privacy.

    Attributes:
        keep: what stands unprotected between the words, for which nothing is promised: "none", "stop-words",
            "punctuation" (a few plain marks), or "all" of it.

    """

    keep: Between = "none"

    def __post_init__(self) -> None:
        if self.keep not in get_args(Between):
            raise UsageError(
                f"nothing that can be kept between words is called {self.keep!r}: "
                f"choose one of {', '.join(get_args(Between))}"
            )


@final
@dataclass(frozen=True, slots=True)
class Plan:
    """Every public decision of a release: what is in the manifest.

    Raises `PolicyError` where the decisions would break the promise and no experiment was asked for: a mechanism
    without a guarantee, or unknown words that pass. `UsageError` when the length N is not fixed.
    """

    mechanism: AbstractMechanism
    encoding: Encoding
    length_from_documents: bool = False
    experiment: Experiment | None = None
    labels: tuple[str, ...] = ()
    ordered: OrderedText | None = None

    def __post_init__(self) -> None:
        if self.encoding.length is None:
            raise UsageError(
                "a release needs a public length N: give a number, or take the shortest document's"
            )
        if self.experiment is not None:
            return
        if self.mechanism.guarantee.evidence == "none":
            raise PolicyError(
                f"the mechanism {self.mechanism.name} has no guarantee that can be stated, so it releases nothing: "
                "choose another, or run an experiment (NOT PRIVATE)"
            )
        if self.encoding.unknown == "keep":
            raise PolicyError(
                "unknown words that pass have no guarantee at all: choose unk, drop or reject, or run an experiment "
                "(NOT PRIVATE)"
            )

    @property
    def size(self) -> int:
        """N, the number of words of every bag."""
        return self.encoding.length or 0

    @property
    def guarantee(self) -> Guarantee:
        """The mechanism's guarantee, lifted to bags of N words, or for N words in order."""
        lifted = self.mechanism.guarantee.lifted(self.size)
        return lifted if self.ordered is None else lifted.in_order(self.ordered.keep)

    @property
    def kind(self) -> str:
        """What is released: `BAG` or `ORDERED_TEXT`."""
        return BAG if self.ordered is None else ORDERED_TEXT

    @property
    def warning(self) -> str | None:
        """NOT PRIVATE and why, for an experiment; None for a release."""
        if self.experiment is None:
            return None
        reasons = [
            ("REPRODUCIBLE", self.experiment.seed is not None),
            ("UNKNOWN WORDS PASS", self.encoding.unknown == "keep"),
            ("ORDER KEPT", self.ordered is not None),
            ("NO GUARANTEE", self.mechanism.guarantee.evidence == "none"),
        ]
        return "NOT PRIVATE: " + (", ".join(text for text, holds in reasons if holds) or "EXPERIMENT")

    def charges(self, ledger: Ledger, documents: Sequence[tuple[str, str | None]]) -> list[Charge]:
        """What releasing ``documents``, pairs of id and subject, costs in ``ledger``.

        Raises `PolicyError` for an experiment: no budget covers what is not private.
        """
        if self.experiment is not None:
            raise PolicyError(
                "an experiment is NOT PRIVATE, so no budget covers it: leave out the ledger or the experiment"
            )
        price = ledger.price(self.guarantee)
        return [Charge(document, price, subject) for document, subject in documents]

    def run_key(self) -> RunKey:
        """A fresh key for a release, the seed's for a seeded experiment."""
        if self.experiment is not None and self.experiment.seed is not None:
            return RunKey.seeded(self.experiment.seed)
        return RunKey.fresh()

    def manifest(self, documents: int) -> dict[str, Any]:
        """Everything revealed beside the bags themselves, and nothing else (R14, R15)."""
        embeddings, guarantee = self.mechanism.embeddings, self.guarantee
        return {
            "manifest_version": MANIFEST_VERSION,
            "publius_version": publius_version(),
            "private": self.experiment is None,
            **({"warning": self.warning} if self.warning else {}),
            "promise": promise(guarantee, private=self.experiment is None),
            "kind": self.kind,
            "documents": documents,
            "size": self.size,
            "size_from": "the shortest of the documents" if self.length_from_documents else "given",
            "epsilon": guarantee.epsilon,
            "epsilon_total": guarantee.epsilon_total,
            "delta": guarantee.delta,
            "evidence": guarantee.evidence,
            "mechanism": self.mechanism.name,
            "mechanism_parameters": self.mechanism.parameters,
            "metric": guarantee.metric,
            "embeddings": embeddings.name,
            "dimension": embeddings.dimension,
            "vocabulary_size": embeddings.size,
            "vocabulary_sha256": embeddings.sha256,
            "tokenizer": publius.text.tokenizer.PROFILES[self.encoding.profile].label,
            "stop_words": self.encoding.stop_words.name,
            "stop_words_sha256": self.encoding.stop_words.sha256,
            "unknown": self.encoding.unknown,
            "unknown_token": UNKNOWN,
            "labels": list(self.labels),
            "ordered": self.ordered is not None,
            **({"kept_between": self.ordered.keep} if self.ordered else {}),
            "randomness": "seeded ChaCha20"
            if self.run_is_seeded
            else "ChaCha20 keyed by the operating system",
            "versions": {"numpy": np.__version__},
        }

    @property
    def run_is_seeded(self) -> bool:
        """Whether the noise can be made again from a seed."""
        return self.experiment is not None and self.experiment.seed is not None


@final
@dataclass(frozen=True, slots=True)
class Release:
    """A protected bag: what may leave.

    Attributes:
        id: the id the user gave the document.
        bag: exactly N words of the vocabulary, without order.
        guarantee: what holds for it; None for an experiment.
        labels: public labels kept with it.
        warning: NOT PRIVATE and why, for an experiment.
        words: in ordered text, the words in order, with what is kept between them.
        kept: the places (from 0) of those of ``words`` that are kept unprotected.

    """

    id: str
    bag: Bag
    guarantee: Guarantee | None
    labels: Mapping[str, Any] = field(default_factory=lambda: MappingProxyType({}))
    warning: str | None = None
    words: tuple[str, ...] | None = field(default=None, repr=False)
    kept: tuple[int, ...] = field(default=(), repr=False)

    def __reduce__(self) -> tuple[type[Release], tuple[Any, ...]]:
        """A worker's releases go to the parent process by pickle."""
        facts = (self.id, self.bag, self.guarantee, dict(self.labels), self.warning)
        return Release, (*facts, self.words, self.kept)


@final
@dataclass(frozen=True, slots=True)
class Tally:
    """Counts for the curator's summary; they describe the documents and are never written to a release."""

    documents: int = 0
    words: int = 0
    seen: int = 0
    unknown: int = 0
    padding: int = 0

    def __add__(self, other: Tally) -> Tally:
        return Tally(
            self.documents + other.documents,
            self.words + other.words,
            self.seen + other.seen,
            self.unknown + other.unknown,
            self.padding + other.padding,
        )

    @property
    def unknown_share(self) -> float:
        """Share of the words looked up that were outside the vocabulary."""
        return self.unknown / self.seen if self.seen else 0.0


def protect(
    documents: Sequence[Document], plan: Plan, key: RunKey
) -> tuple[list[Release | BadDocument], Tally]:
    """A batch of documents through the mechanism, one search for all; in the documents' order.

    Each document's noise comes from a generator of its own, keyed with the run key and its id. A document without
    any word, or with unknown words under the policy "reject", comes back as a `BadDocument`. `UsageError` when two
    documents have one id: they would get the same noise.
    """
    if len({document.id for document in documents}) < len(documents):
        raise UsageError("two documents have the same id, so they would get the same noise: make ids differ")
    prepared = [_prepare(document, plan) for document in documents]
    good = [
        (document, ready)
        for document, ready in zip(documents, prepared, strict=True)
        if isinstance(ready, _Ready)
    ]
    outputs = _randomize([(document.id, ready) for document, ready in good], plan, key)
    released = iter(
        [_release(document, ready, out, plan) for (document, ready), out in zip(good, outputs, strict=True)]
    )
    results = [ready if isinstance(ready, BadDocument) else next(released) for ready in prepared]
    tally = sum(
        (Tally(1, plan.size, r.encoded.seen, r.encoded.unknown, r.encoded.padding) for _, r in good), Tally()
    )
    return results, tally


def release(
    document: str | Bag,
    mechanism: AbstractMechanism,
    *,
    length: int | None = None,
    id: str = "document",
    unknown: UnknownPolicy = "unk",
    stop_words: str = "english",
    experiment: Experiment | None = None,
    ordered: OrderedText | None = None,
    ledger: Ledger | None = None,
    subject: str | None = None,
) -> Release:
    """Release one document: a text of which the first ``length`` words count, or a `Bag` of known size.

    With ``ordered`` a text's words keep their order, under a weaker guarantee. A bag's own size is N; it is
    public, so choose it without looking at the document. A ``ledger`` is debited for ``id``, and for its
    ``subject``, before anything is drawn. Raises `PolicyError` where the promise would break, `BudgetError` when
    the budget is spent, `UsageError` for a text without length, `DataError` for one without words.
    """
    size = length if isinstance(document, str) else document.size
    if isinstance(document, Bag):
        _check_bag(document, length, ordered)
    encoding = Encoding(size, unknown, StopWords.load(stop_words), mechanism.embeddings.tokenizer)
    plan = Plan(mechanism, encoding, experiment=experiment, ordered=ordered)
    key = plan.run_key()
    rng = key.rng(id)
    if ledger is not None:
        ledger.spend(plan.charges(ledger, [(id, subject)]))
    if isinstance(document, Bag):
        bag = mechanism.randomize(document, rng)
        return Release(id, bag, None if experiment else plan.guarantee, warning=plan.warning)
    results, _ = protect([Document(id, document, {}, 1)], plan, key)
    if isinstance(results[0], BadDocument):
        raise DataError(results[0].reason)
    return results[0]


def _check_bag(bag: Bag, length: int | None, ordered: OrderedText | None) -> None:
    if length not in (None, bag.size):
        raise UsageError(f"the bag has {bag.size} words, not {length}: a bag is released at its own size")
    if ordered is not None:
        raise UsageError("a bag has no order to keep: give the text")


@final
@dataclass(frozen=True, slots=True)
class _Ready:
    """A document's words and, of those with a vector, their indices; ``known`` marks them."""

    encoded: Encoded
    indices: IndexArray
    known: np.ndarray[Any, np.dtype[np.bool_]]


def _prepare(document: Document, plan: Plan) -> _Ready | BadDocument:
    embeddings = plan.mechanism.embeddings
    try:
        keep = plan.ordered.keep if plan.ordered else "none"
        encoded = words_of(document.text, embeddings, plan.encoding, keep)
    except UnknownWordError as error:
        return BadDocument(document.position, document.id, str(error))
    if encoded.padding == plan.size:
        return BadDocument(document.position, document.id, NO_WORDS)
    if plan.encoding.unknown == "keep":
        known = np.array([word == UNKNOWN or word in embeddings for word in encoded.words])
        words = [word for word, is_known in zip(encoded.words, known, strict=True) if is_known]
    else:
        known, words = np.ones(len(encoded.words), bool), list(encoded.words)
    return _Ready(encoded, plan.mechanism.indices(words), known)


def _randomize(batch: Sequence[tuple[str, _Ready]], plan: Plan, key: RunKey) -> list[IndexArray]:
    if not batch:
        return []
    mechanism = plan.mechanism
    noise = np.concatenate([mechanism.noise(len(ready.indices), key.rng(id)) for id, ready in batch])
    outputs = mechanism.apply(np.concatenate([ready.indices for _, ready in batch]), noise)
    return np.split(outputs, np.cumsum([len(ready.indices) for _, ready in batch])[:-1])


def _interleaved(
    words: Sequence[str], between: Sequence[tuple[int, str]]
) -> tuple[tuple[str, ...], tuple[int, ...]]:
    """The words with what is kept at its places between them, and those places in the result."""
    merged: list[str] = []
    places: list[int] = []
    done = 0
    for before, kept in between:
        merged += words[done:before]
        done = before
        places.append(len(merged))
        merged.append(kept)
    return (*merged, *words[done:]), tuple(places)


def _release(document: Document, ready: _Ready, outputs: IndexArray, plan: Plan) -> Release:
    if plan.experiment is None and plan.ordered is None:
        return Release(document.id, plan.mechanism.bag(outputs), plan.guarantee, document.labels)
    vocabulary = plan.mechanism.embeddings.vocabulary
    protected = iter([vocabulary[index] for index in outputs.tolist()])
    words = [
        next(protected) if known else word
        for word, known in zip(ready.encoded.words, ready.known, strict=True)
    ]
    guarantee = plan.guarantee if plan.experiment is None else None
    facts = (document.id, Bag(words), guarantee, document.labels, plan.warning)
    if plan.ordered is None:
        return Release(*facts)
    return Release(*facts, *_interleaved(words, ready.encoded.between))


def publius_version() -> str:
    """Of the installed package."""
    from importlib.metadata import version

    return version("publius")
