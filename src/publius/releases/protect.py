"""The one way out: a document or bag becomes a `Release`.

`Plan` holds every public decision and refuses what would break the promise; `protect` does the same for a batch of
documents with one search for all. A release holds the protected bag and nothing that refers to its document (R21).
"""

from __future__ import annotations

from collections.abc import Sequence

from publius.documents.corpus import BadDocument, Document
from publius.errors import DataError, PolicyError, UnknownWordError, UsageError
from publius.mechanisms.kernel import Kernel
from publius.mechanisms.lifted import as_mechanism
from publius.mechanisms.mechanism import Drawn, Mechanism, OrderedText, Outcome, Outcomes
from publius.noise.randomness import RunKey
from publius.privacy.guarantee import Guarantee
from publius.privacy.ledger import Ledger
from publius.releases.plan import Experiment, Plan
from publius.releases.release import Release, ReleasedTogether, Tally
from publius.settings import ReleaseSettings, TextSettings, UnknownPolicy
from publius.text.bag import Bag


def protect(
    documents: Sequence[Document], plan: Plan, key: RunKey, *, threads: int | None = None
) -> tuple[Sequence[Release | BadDocument], Tally]:
    """A batch of documents through the mechanism, one search for all; in the documents' order.

    Each document's noise comes from a generator of its own, keyed with the run key and its id. A document without
    any word is released as N public words, for no private word decides whether an id appears (R27); under the
    policy "reject" one with unknown words comes back as a `BadDocument`, which must stop the whole run.
    `UsageError` when two documents have one id, or ``key`` was used for an id before: they would get the same noise,
    and equal bags would tell equal texts. `PolicyError` for a seeded key under a plan that is no experiment.
    ``threads`` as in `Kernel.draw`.
    """
    if key.seeded_run and plan.experiment is None:
        raise PolicyError(
            "a seeded key makes noise that can be taken away again, so it releases nothing: use a fresh key, or a "
            "plan that is an experiment (NOT PRIVATE)"
        )
    ids = [document.id for document in documents]
    key.claim(ids)
    texts = [document.text for document in documents]
    drawn = plan.mechanism.protect(texts, ids, plan.encoding, key, threads=threads)
    promised = plan.guarantee if plan.experiment is None else None
    if isinstance(drawn.outcomes, Outcomes):  # nothing is refused, and nobody may ask for most of them
        labels = [document.labels for document in documents]
        together = ReleasedTogether(ids, labels, drawn.outcomes, promised, plan.warning)
        return together, _tally(drawn, len(ids), plan)
    results = [
        BadDocument(document.position, document.id, str(outcome))
        if isinstance(outcome, UnknownWordError)
        else _released(document, outcome, promised, plan.warning)
        for document, outcome in zip(documents, drawn.outcomes, strict=True)
    ]
    return results, _tally(drawn, sum(isinstance(each, Release) for each in results), plan)


def _tally(drawn: Drawn, count: int, plan: Plan) -> Tally:
    return Tally(count, plan.size * count, drawn.seen, drawn.unknown, drawn.padding)


def _released(
    document: Document, outcome: Outcome, promised: Guarantee | None, warning: str | None
) -> Release:
    prototype, label, bag, words, kept = outcome
    return Release(document.id, bag, promised, document.labels, warning, words, kept, prototype, label)


def release(
    document: str | Bag,
    mechanism: Kernel | Mechanism,
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
    size = document.size if length is None and isinstance(document, Bag) else length
    made = as_mechanism(mechanism, size, ordered)
    if isinstance(document, Bag):
        _check_bag(document, made)
    settings = ReleaseSettings(
        length=length,
        unknown=unknown,
        stop_words=stop_words,
        experiment=experiment is not None,
        seed=experiment.seed if experiment else None,
        order=ordered is not None,
        keep_between=ordered.keep if ordered else None,
    )
    plan = Plan.of(settings, made)
    key = plan.run_key()
    rng = key.rng(id)
    if ledger is not None:
        ledger.spend(plan.charges(ledger, [(id, subject)]))
    if isinstance(document, Bag):
        promised = None if experiment else plan.guarantee
        return _released(
            Document(id, "", {}, 1), plan.mechanism.randomize(document, rng), promised, plan.warning
        )
    results, _ = protect([Document(id, document, {}, 1)], plan, key)
    if isinstance(results[0], BadDocument):
        raise DataError(results[0].reason)
    return results[0]


def _check_bag(bag: Bag, mechanism: Mechanism) -> None:
    """Refuse a bag of which the mechanism's guarantee does not speak."""
    if mechanism.ordered is not None:
        raise UsageError("a bag has no order to keep: give the text")
    if mechanism.needs_length and mechanism.length != bag.size:
        raise UsageError(
            f"the bag has {bag.size} words, not {mechanism.length}: a bag is released at its own size"
        )
