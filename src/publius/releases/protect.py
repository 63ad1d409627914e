"""The one way out: a document or bag becomes a `Release`.

`Plan` holds every public decision and refuses what would break the promise; `protect` does the same for a batch of
documents with one search for all. A release holds the protected bag and nothing that refers to its document (R21).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import repeat
from typing import Any, final

import numpy as np

from publius.arrays import IndexArray
from publius.documents.corpus import BadDocument, Document
from publius.errors import DataError, PolicyError, UnknownWordError, UsageError
from publius.mechanisms.base import AbstractMechanism
from publius.mechanisms.documents.base import AbstractDocumentMechanism, Outcomes
from publius.noise.randomness import RunKey
from publius.privacy.ledger import Ledger
from publius.releases.plan import Experiment, OrderedText, Plan
from publius.releases.release import Release, ReleasedTogether, Tally
from publius.settings import SHORTEST, ReleaseSettings, TextSettings, UnknownPolicy
from publius.text.bag import UNKNOWN, Bag, Encoded, places_of_all, words_of, words_of_all
from publius.text.pads import BYTES, drawn_pads


def protect(
    documents: Sequence[Document], plan: Plan, key: RunKey, *, threads: int | None = None
) -> tuple[Sequence[Release | BadDocument], Tally]:
    """A batch of documents through the mechanism, one search for all; in the documents' order.

    Each document's noise comes from a generator of its own, keyed with the run key and its id. A document without
    any word is released as N public words, for no private word decides whether an id appears (R27); under the
    policy "reject" one with unknown words comes back as a `BadDocument`, which must stop the whole run.
    `UsageError` when two documents have one id, or ``key`` was used for an id before: they would get the same noise,
    and equal bags would tell equal texts. `PolicyError` for a seeded key under a plan that is no experiment.
    ``threads`` as in `AbstractMechanism.draw`.
    """
    if key.seeded_run and plan.experiment is None:
        raise PolicyError(
            "a seeded key makes noise that can be taken away again, so it releases nothing: use a fresh key, or a "
            "plan that is an experiment (NOT PRIVATE)"
        )
    key.claim([document.id for document in documents])
    if isinstance(plan.mechanism, AbstractDocumentMechanism):
        return _together(documents, plan, plan.mechanism, key)
    prepared = _prepared(documents, plan, key)
    good = [
        (document, ready)
        for document, ready in zip(documents, prepared, strict=True)
        if isinstance(ready, _Ready)
    ]
    words = [ready.indices if plan.ordered else without_order(ready.indices) for _, ready in good]
    rngs = [key.rng(document.id) for document, _ in good]
    outputs = plan.mechanism.draw(words, rngs, threads=threads)
    released = iter(
        [_release(document, ready, out, plan) for (document, ready), out in zip(good, outputs, strict=True)]
    )
    results = [ready if isinstance(ready, BadDocument) else next(released) for ready in prepared]
    return results, _tally([ready.encoded for _, ready in good], plan)


def _together(
    documents: Sequence[Document], plan: Plan, mechanism: AbstractDocumentMechanism, key: RunKey
) -> tuple[Sequence[Release], Tally]:
    """Documents through a mechanism on whole ones, in arrays: every one can be released, and none is filled up."""
    ids = [document.id for document in documents]
    found = places_of_all([document.text for document in documents], mechanism.vocabulary, plan.encoding)
    drawn = mechanism.draw_keyed(found.places, ids, key)
    labels = [document.labels for document in documents]
    promised = plan.guarantee if plan.experiment is None else None
    tally = Tally(len(ids), plan.size * len(ids), found.seen, found.unknown)
    if isinstance(drawn, Outcomes):
        return ReleasedTogether(ids, labels, drawn, promised, plan.warning), tally
    return [
        Release(id, bag, promised, kept, plan.warning, prototype=prototype, label=label)
        for id, kept, (prototype, label, bag) in zip(ids, labels, drawn, strict=True)
    ], tally


def _tally(found: Sequence[Encoded], plan: Plan) -> Tally:
    return Tally(
        len(found),
        plan.size * len(found),
        sum(each.seen for each in found),
        sum(each.unknown for each in found),
        sum(each.padding for each in found),
    )


def release(
    document: str | Bag,
    mechanism: AbstractMechanism | AbstractDocumentMechanism,
    *,
    length: int | None = None,
    id: str = "document",
    unknown: UnknownPolicy | None = None,
    stop_words: str = TextSettings.stop_words,
    experiment: Experiment | None = None,
    ordered: OrderedText | None = None,
    ledger: Ledger | None = None,
    subject: str | None = None,
) -> Release:
    """Release one document: a text of which the first ``length`` words count, or a `Bag` of known size.

    With a document mechanism all words count, a bag may have any size, and the mechanism says how many words leave.
    With ``ordered`` a text's words keep their order, under a weaker guarantee. A bag's own size is N; it is
    public, so choose it without looking at the document. A ``ledger`` is debited for ``id``, and for its
    ``subject``, before anything is drawn. Raises `PolicyError` where the promise would break, `BudgetError` when
    the budget is spent, `UsageError` for a text without length, `DataError` for unknown words under "reject".
    """
    whole = isinstance(mechanism, AbstractDocumentMechanism)
    size = length if isinstance(document, str) or whole else document.size
    if isinstance(document, Bag):
        _check_bag(document, None if whole else length, ordered)
    settings = ReleaseSettings(
        length=SHORTEST if size is None and not whole else size,
        unknown=unknown,
        stop_words=stop_words,
        experiment=experiment is not None,
        seed=experiment.seed if experiment else None,
        order=ordered is not None,
        keep_between=ordered.keep if ordered else None,
    )
    plan = Plan.of(settings, mechanism)
    key = plan.run_key()
    rng = key.rng(id)
    if ledger is not None:
        ledger.spend(plan.charges(ledger, [(id, subject)]))
    if isinstance(document, Bag):
        drawn = mechanism.randomize(document, rng)
        promised = None if experiment else plan.guarantee
        if isinstance(drawn, Bag):
            return Release(id, drawn, promised, warning=plan.warning)
        return Release(id, drawn.bag, promised, {}, plan.warning, None, (), drawn.prototype, drawn.label)
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
    """A document's words and, of those with a vector, their indices; ``known`` marks them, None for all."""

    encoded: Encoded
    indices: IndexArray
    known: np.ndarray[Any, np.dtype[np.bool_]] | None = None


def _prepared(documents: Sequence[Document], plan: Plan, key: RunKey) -> list[_Ready | BadDocument]:
    if plan.ordered is None and plan.encoding.unknown != "reject":
        texts = [document.text for document in documents]
        found = words_of_all(texts, plan.vocabulary, plan.encoding)
        return [
            _ready(encoded, plan, key, document.id)
            for document, encoded in zip(documents, found, strict=True)
        ]
    return [_prepare(document, plan, key) for document in documents]


def _prepare(document: Document, plan: Plan, key: RunKey) -> _Ready | BadDocument:
    keep = plan.ordered.keep if plan.ordered else "none"
    try:
        encoded = words_of(document.text, plan.vocabulary, plan.encoding, keep)
        return _ready(encoded, plan, key, document.id)
    except UnknownWordError as error:
        return BadDocument(document.position, document.id, str(error))


def _ready(encoded: Encoded, plan: Plan, key: RunKey, id: str) -> _Ready:
    if encoded.places is not None:
        places = filled_up(encoded.places, encoded.padding, plan, key, id)
        return _Ready(encoded, places)
    if plan.encoding.unknown == "keep":
        known = np.array([word == UNKNOWN or word in plan.vocabulary for word in encoded.words])
        words = [word for word, is_known in zip(encoded.words, known, strict=True) if is_known]
    else:
        known, words = None, list(encoded.words)
    indices = filled_up(plan.mechanism.indices(words), encoded.padding, plan, key, id)
    return _Ready(encoded, indices, known)


def filled_up(places: IndexArray, padding: int, plan: Plan, key: RunKey, id: str) -> IndexArray:
    """The places of a document's words, whose last ``padding`` become public words drawn for it (`publius.text.pads`).

    The draws come from a key of their own, so that the noise of a document does not depend on how long it is.
    """
    if not padding:
        return places
    bits = RunKey(key.derive("pads")).bits([id], BYTES * padding)[0]
    pads = drawn_pads(plan.vocabulary, plan.encoding.stop_words, bits)
    return np.concatenate([places[: len(places) - padding], pads])


def without_order(words: IndexArray) -> IndexArray:
    """The words of a bag, sorted: the same ones get the same noise however they stood in the text."""
    return np.sort(words)


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
        return Release(document.id, plan.word_mechanism.bag(outputs), plan.guarantee, document.labels)
    vocabulary = plan.vocabulary.vocabulary
    protected = iter([vocabulary[index] for index in outputs.tolist()])
    marks = repeat(True, len(ready.encoded.words)) if ready.known is None else ready.known.tolist()
    words = [
        next(protected) if known else word for word, known in zip(ready.encoded.words, marks, strict=True)
    ]
    guarantee = plan.guarantee if plan.experiment is None else None
    facts = (document.id, Bag(words), guarantee, document.labels, plan.warning)
    if plan.ordered is None:
        return Release(*facts)
    return Release(*facts, *_interleaved(words, ready.encoded.between))
