"""Facts that need no document: mechanisms, vectors, this session, what an epsilon promises."""

from __future__ import annotations

import math
from typing import Any

from publius.errors import PubliusError, UsageError
from publius.mechanisms import outside
from publius.mechanisms.kernel import Kernel, is_exact
from publius.mechanisms.registry import available, mechanism_class, summary
from publius.privacy.guarantee import STATED, Bound, factor, log10_factor, posterior_at_most
from publius.privacy.promise import promise, statement
from publius.releases.plan import Plan, publius_version
from publius.releases.stated import named
from publius.settings import EUCLIDEAN
from publius.vectors.catalogue import PACKAGED, package_installed, stored_folder, stored_names
from publius.vectors.embeddings import Embeddings
from publius.vectors.store import Record, read_record
from publius.web import answers, document_answers, requests, start_answers
from publius.web.guards.limits import ServerLimits
from publius.web.state import State

NOTE = (
    "This page shows the original beside what is drawn from it: for your eyes. Nothing here is a release until you "
    "press release; only then a bag is drawn anew, charged and written."
)


def mechanisms(state: State, name: requests.MechanismName | None = None) -> answers.Mechanisms:
    """Every mechanism, whether it can be used on these vectors, and a range of epsilons to look at.

    Or only the one of this name: a page can begin with it while the others are certified.
    """
    names = [name] if name else available()
    return answers.Mechanisms(mechanisms=[_mechanism(state, each) for each in names])


def _mechanism(state: State, name: str) -> answers.Mechanism:
    kind = mechanism_class(name)
    reason = state.mechanisms.unsuitable(name)
    found = None if reason else state.mechanisms.range(name)
    return answers.Mechanism(
        name=name,
        summary=summary(kind),
        evidence=STATED if outside.is_outside(kind) else kind.evidence,
        exact=is_exact(kind),
        quick=state.mechanisms.is_quick(name),
        releasable=reason is None,
        available=reason is None,
        reason=reason,
        metrics=list(kind.metrics) or [EUCLIDEAN],
        epsilon_low=found and found.low,
        epsilon_high=found and found.high,
        epsilon_default=found and found.middle,
    )


def embeddings(state: State) -> answers.Embeddings:
    """The vectors in use, and those that another start could use."""
    current = state.embeddings
    names = [*(PACKAGED if package_installed() else ()), *stored_names()]
    others = (_stored(name) for name in names if name != current.name)
    found = [_vectors(current.name, current, current=True), *(each for each in others if each is not None)]
    return answers.Embeddings(embeddings=found)


def _stored(name: str) -> answers.Vectors | None:
    if name in PACKAGED:
        return answers.Vectors(
            name=name, size=PACKAGED[name], dimension=50, sha256=None, tokenizer="glove", current=False
        )
    try:
        return _vectors(name, read_record(stored_folder(name)), current=False)
    except PubliusError:
        return None


def _vectors(name: str, found: Embeddings | Record, *, current: bool) -> answers.Vectors:
    return answers.Vectors(
        name=name, size=found.size, dimension=found.dimension, sha256=found.sha256, tokenizer=found.tokenizer,
        current=current,
    )  # fmt: skip


def session(state: State, limits: ServerLimits) -> dict[str, Any]:
    """The settings that this explorer was started with."""
    return {
        "version": publius_version(),
        "embeddings": state.embeddings.name,
        "ledger": _ledger(state),
        "releases": state.releases.resolve().name,
        "limits": limits.stated(),
        "limits_in_words": limits.sentence,
        "promise_note": NOTE,
        "reports": state.reports.listing(),
        "summaries": state.reports.listing(summaries=True),
        "samples": state.samples.listing(),
    }


def sample(state: State, id: str) -> dict[str, Any]:
    """A public document to try."""
    return state.samples.one(id)


def report(state: State, id: str) -> dict[str, Any]:
    """The rows of an evaluation."""
    return state.reports.one(id)


def ticket(state: State, id: str) -> start_answers.Ticket:
    """An address at which the page of an evaluation can be read once."""
    return start_answers.Ticket(address=state.reports.ticket(id))


def _ledger(state: State) -> dict[str, Any] | None:
    if state.ledger is None:
        return None
    documents, subjects, debits = state.ledger.counts()
    return {
        "unit": state.ledger.unit,
        "budget": float(state.ledger.budget),
        "subject_budget": float(state.ledger.subject_budget),
        "documents": documents,
        "subjects": subjects,
        "debits": debits,
    }


def guarantee(state: State, asked: requests.Guarantee) -> document_answers.AnyGuarantee:
    """The object of ``publius guarantee --json``, and the promise in words; without a distance, no exponent.

    Where a topic or meaning is kept there always is one: that between any two documents, if no distance is given.
    """
    plan = state.plan(asked)
    if plan.guarantee.bound is not None:
        return _of_documents(plan, asked)
    size, mechanism = plan.size, plan.mechanism.kernel
    promised = outside.known_guarantee(mechanism).lifted(size)
    facts: dict[str, Any] = {
        "mechanism": mechanism.name,
        "epsilon": promised.epsilon,
        "size": promised.size,
        "metric": promised.metric,
        "delta": promised.delta,
    }
    if asked.distance is not None:
        bound = mechanism.bound(size, asked.distance)
        facts |= statement(
            promised, asked.distance, bound, releases=asked.releases, candidates=asked.candidates
        )
        if not math.isfinite(facts["exponent"]):
            raise UsageError("the exponent is beyond all numbers: give a smaller distance")
        facts |= named(mechanism.name, promised.evidence, facts["exponent"])
    facts |= {"epsilon_total": promised.epsilon_total, "evidence": promised.evidence}
    return answers.Guarantee.of(**facts, promise=promise(promised, private=True))


def _of_documents(plan: Plan, asked: requests.Guarantee) -> document_answers.DocumentGuarantee:
    """The guarantee of whole documents: its constants, and the exponent at a distance or between any two."""
    promised = plan.guarantee
    exponent = promised.map(asked.distance)
    delta = promised.delta if exponent < promised.map() else promised.bound_delta
    total = Bound(exponent, delta).repeated(asked.releases)
    facts = {
        name: getattr(promised, name) for name in ("level", "epsilon", "bound", "size", "metric", "preserve")
    }
    if asked.candidates is not None:
        facts["prior"] = 1 / asked.candidates
        facts["posterior_at_most"] = posterior_at_most(total.exponent, asked.candidates)
    return document_answers.DocumentGuarantee.of(
        **facts,
        mechanism=plan.mechanism.name,
        mechanism_parameters=plan.mechanism.parameters,
        reference=asked.reference,
        evidence=promised.evidence,
        strength=promised.strength,
        distance=asked.distance,
        releases=asked.releases,
        exponent=total.exponent,
        factor=factor(total.exponent),
        log10_factor=log10_factor(total.exponent),
        delta=total.delta,
        promise=promise(promised, private=True),
    )


def stated(mechanism: Kernel, size: int) -> dict[str, Any]:
    """The guarantee of a bag of ``size`` words, and the promise in words."""
    promised = outside.known_guarantee(mechanism).lifted(size)
    facts = {
        "epsilon": promised.epsilon,
        "epsilon_total": promised.epsilon_total,
        "size": promised.size,
        "metric": promised.metric,
        "evidence": promised.evidence,
        "delta": promised.delta,
    }
    private = promised.evidence != "none"
    return {"guarantee": facts, "promise": promise(promised, private=private)}
