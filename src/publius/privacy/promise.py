"""The promise in words, and what a number of releases promises between two documents: the one source of both."""

from __future__ import annotations

import decimal
import math
from collections.abc import Sequence
from fractions import Fraction
from typing import Any

from publius.privacy.crowd import CrowdGuarantee
from publius.privacy.guarantee import (
    STATED,
    STRENGTHS,
    Bound,
    Guarantee,
    factor,
    log10_factor,
    posterior_at_most,
)
from publius.settings import EUCLIDEAN, FIELD, MANHATTAN, Between


def statement(
    promised: Guarantee, distance: float, bound: Bound, *, releases: int = 1, candidates: int | None = None
) -> dict[str, Any]:
    """The promise of a number of releases between two documents, as ``publius guarantee --json`` prints it."""
    total = bound.repeated(releases)
    facts: dict[str, Any] = {
        "epsilon": promised.epsilon,
        "size": promised.size,
        "distance": distance,
        "metric": promised.metric,
        "releases": releases,
        "exponent": total.exponent,
        "factor": factor(total.exponent),
        "log10_factor": log10_factor(total.exponent),
        "delta": total.delta,
    }
    if candidates is not None:
        facts["prior"] = 1 / candidates
        facts["posterior_at_most"] = posterior_at_most(total.exponent, candidates)
    return facts


def percent(share: float) -> str:
    """A measured share for people: to the nearest tenth of a per cent, wherever it is said."""
    return f"{100 * share:.1f} %"


def percent_up(share: float) -> str:
    """A share that is an upper limit: up to the next tenth."""
    return f"{ceiling(100 * share, 1):.1f} %"


def percent_down(share: float) -> str:
    """A share that is a lower limit: down to the next tenth."""
    return f"{floor(100 * share, 1):.1f} %"


def factor_text(exponent: float) -> str:
    """The factor for people, rounded up: a number while it can be read, nats and a power of ten beyond."""
    value = factor(exponent)
    if value is not None and value < 1e4:
        return f"{float(rounded_up(value, 3)):,.4g}"
    if math.isinf(exponent):
        return "without bound"
    return f"10^{math.ceil(log10_factor(exponent) * 10) / 10:,} ({nats(exponent)} nats)"


def promise(
    guarantee: Guarantee, *, private: bool, labels: Sequence[str] = (), empty: str | None = None
) -> str:
    """The promise of a release in words: for the manifest, the summary, every report and page.

    ``labels`` are the fields that are kept beside each bag as they stand in the documents: nothing covers them.
    ``empty`` says why what is promised bounds nothing, where it does not.
    """
    if not private:
        return (
            "NOT PRIVATE. This is the output of an experiment: it promises nothing about the documents it was "
            "made from and must not be released."
        )
    said = "" if empty is None else f"THE PROMISE IS EMPTY: {empty}. Nobody can sign for it. "
    return said + _of_guarantee(guarantee) + _of_labels(labels)


def _known(guarantee: Guarantee) -> str:
    """How it is known, as part of a sentence."""
    return f"{STATED}," if guarantee.evidence == STATED else guarantee.evidence


def _of_labels(labels: Sequence[str]) -> str:
    if not labels:
        return ""
    names, one = ", ".join(map(repr, labels)), len(labels) == 1
    return (
        f" NOTHING is promised for the {'field' if one else 'fields'} {names}, which {'is' if one else 'are'} released "
        "with each document as in the input: what is said here compares documents that agree in "
        f"{'it' if one else 'them'}, and whoever knows what stands there may know whose document it is."
    )


def _of_guarantee(guarantee: Guarantee) -> str:
    if guarantee.bound is not None:
        return _document_promise(guarantee, guarantee.bound)
    if guarantee.ordered:
        return _ordered_promise(guarantee)
    n, total = guarantee.size or 1, rounded_up(guarantee.epsilon_total or 0.0, 6)
    unit = rounded_up(guarantee.epsilon or 0.0, 6)
    return (
        f"Take any two documents of {n} words whose Earth Mover's distance ({guarantee.metric}, on the public word "
        f"vectors) is E. Whatever is seen in this release is at most exp({total} * E) times as probable under "
        f"one as under the other ({_known(guarantee)} for epsilon = {unit} a word, N = {n}), but for "
        f"a probability of {delta_text(guarantee.delta, guarantee.evidence)}. "
        "A document of fewer words is filled up with words drawn from public ones, and E is then the largest that any "
        f"such words could make it. {_near_and_far(guarantee)} The topic is not hidden. Each "
        "further release of a document adds its exponent to this one's."
    )


def delta_text(delta: float, evidence: str, *, comma: str = "") -> str:
    """Delta, and what it is for; a class of somebody's own does not say that, and may not draw noise at all."""
    why = "" if evidence == STATED else f"{comma} for the finite range of the sampled noise"
    return f"{rounded_up(delta, 2)}{why}"


def _near_and_far(guarantee: Guarantee) -> str:
    """How to read the exponent: of a metric of somebody's own nobody knows what is near in it, and what is far."""
    if nearness_is_meaning(guarantee.metric):
        return (
            "Documents that mean nearly the same are hard to tell apart; documents far apart are not: for those the "
            "exponent is easily thousands of nats and then bounds nothing in practice."
        )
    return (
        "The smaller the exponent, the harder two documents are to tell apart; beyond "
        f"{STRENGTHS[-1][0]:g} nats it bounds nothing in practice."
    )


def nearness_is_meaning(metric: str) -> bool:
    """Whether a metric, by its name, is one of Publius on word vectors: near are words that mean nearly the same."""
    return metric.partition("-")[0] in (EUCLIDEAN, MANHATTAN, "mahalanobis")


_CANDIDATES = 1000


def _document_promise(guarantee: Guarantee, bound: float) -> str:
    but = (
        f", but for a probability of {rounded_up(guarantee.bound_delta, 2)}" if guarantee.bound_delta else ""
    )
    thresholds = ", ".join(f"{name} up to {largest:g}" for largest, name in STRENGTHS)
    return (
        f"Take any two documents whatever, of any lengths and on any subjects. Whatever is seen in this release is at "
        f"most {factor_text(bound)} times as probable under one as under the other{but}: exp({rounded_up(bound, 6)}), "
        f"{_known(guarantee)} for {_rests_on(guarantee)}. "
        f"So somebody who knows the text of {_CANDIDATES:,} documents, one of which this was, and thought them equally "
        f"likely, names the right one with a probability of at most "
        f"{rounded_up(posterior_at_most(bound, _CANDIDATES), 4)}; between two documents, "
        f"{rounded_up(posterior_at_most(bound, 2), 4)}. As bounds between any two documents go this one is "
        f"{guarantee.strength} ({thresholds} nats, empty beyond). "
        + _per_unit(guarantee)
        + _kept(guarantee)
        + "Each further release of a document adds its exponent to this one's."
    )


def crowd_promise(crowd: CrowdGuarantee) -> str:
    """The promise of the crowd in words: for a release whose rows have no ids and stand in a random order."""
    cap = "one" if crowd.documents_per_author == 1 else f"at most {crowd.documents_per_author:,}"
    return (
        "Rows are numbered in a random order, which leads to no document, so somebody who does not know which row is "
        f"whose may learn less. Take an author with {cap} of the {crowd.documents:,} documents: whatever he wrote, "
        f"what is seen in this release is at most exp({rounded_up(crowd.epsilon, 4)}) times as probable, but for a "
        f"probability of {rounded_up(crowd.delta, 2)}. This holds as long as nobody knows from elsewhere what was "
        "drawn for the others; how many rows there are is public."
    )


def _field(guarantee: Guarantee) -> str | None:
    """The field of declared values that is released itself; None where something is found in texts."""
    return guarantee.preserve.removeprefix(FIELD) if guarantee.preserve.startswith(FIELD) else None


def _rests_on(guarantee: Guarantee) -> str:
    if _field(guarantee) is None:
        return "the public reference that the release names"
    return "the values that were declared beforehand"


def _kept(guarantee: Guarantee) -> str:
    field = _field(guarantee)
    if field is not None:
        return f"What is kept is the field {field!r}, as far as the bound allows; it is not hidden. "
    if guarantee.evidence == STATED:  # what it keeps is for its author to say
        return "What a row tells of its document is not hidden, and limited by this bound alone. "
    return (
        f"What is kept is the {guarantee.preserve}, as far as the bound allows; it is not hidden. "
        f"The {guarantee.size} words of the bag are drawn from public words and cost nothing. "
    )


def _per_unit(guarantee: Guarantee) -> str:
    if _field(guarantee) is not None:
        return "Documents with the same value in the field are not told apart at all. "
    if guarantee.epsilon is None and guarantee.evidence == STATED:
        return "Nothing is stated per unit of distance. "
    if guarantee.epsilon is None:
        return (
            "Documents with the same probabilities over the public prototypes are not told apart at all; nothing is "
            "stated per unit of distance. "
        )
    return (
        f"Two documents whose Earth Mover's distance on the reference's features is E are told apart less: by at most "
        f"exp({rounded_up(guarantee.epsilon, 6)} * E), but for a probability of {rounded_up(guarantee.delta, 2)}. "
    )


def author_promise(epsilon: Fraction, documents_per_author: int, author_field: str) -> str:
    """The promise of a summary, to whoever wrote documents in the collection, by the column that says who did."""
    value = float(epsilon)
    half = rounded_up(posterior_at_most(value / 2, 2), 4)
    documents = "one document" if documents_per_author == 1 else f"{documents_per_author} documents"
    return (
        f"This covers whatever one author wrote, all of it. Take any two collections that differ in all documents of "
        f"one author, who has others in their place: whatever is seen in this release is at most "
        f"exp({rounded_up(value, 6)}) = {factor_text(value)} times as probable under one as under the other, without "
        f"exception (delta = 0, proven). So somebody who knows all other documents, and thought both collections "
        f"equally likely, is right about which it was with a probability of at most "
        f"{rounded_up(posterior_at_most(value, 2), 4)}. Where the author is added or left out instead of replaced, the "
        f"exponent is {rounded_up(value / 2, 6)} and that probability {half}. Counted are contributed documents, at "
        f"most {documents} an author, never all that was written. Who counts as one author is as the column "
        f"{author_field!r} says: nothing is promised to somebody who writes under several names beyond what these add "
        "up to. Each further summary of the same authors adds its epsilon to this one's."
    )


_KEPT: dict[Between, str] = {
    "none": "",
    "stop-words": "the stop words",
    "punctuation": "the punctuation",
    "all": "the stop words and the punctuation",
}


def _ordered_promise(guarantee: Guarantee) -> str:
    n, unit = guarantee.size or 1, rounded_up(guarantee.epsilon or 0.0, 6)
    agreeing = f" that agree in {_KEPT[guarantee.kept]} kept" if guarantee.kept != "none" else ""
    return (
        "ORDERED TEXT: this is not a bag-of-words and has no Earth Mover's privacy. "
        f"Take any two sequences of {n} words{agreeing}, and let S be the sum of the distances "
        f"({guarantee.metric}, on the public word vectors) of their first words, their second words and so on. "
        f"Whatever is seen in this release is at most exp({rounded_up(guarantee.per_unit, 6)} * S) times as probable "
        f"under one as under the other ({_known(guarantee)} for epsilon = {unit} a word), but for a "
        f"probability of {delta_text(guarantee.delta, guarantee.evidence)}. This is weaker than what a bag of the "
        "same words promises: two texts of the same words in another order are far apart. A text of fewer words is "
        "filled up with words drawn from public ones, and S is then the largest that any such words could make it. "
        + _nothing_for(guarantee.kept)
        + "The topic is not hidden, nor is the order in which it unfolds. Each further release of a document adds its "
        "exponent to this one's."
    )


def stand(kept: Between) -> str:
    """The text left unprotected between the words, as a clause; empty where there is none."""
    return f"{_KEPT[kept]} stand as in the document" if kept != "none" else ""


def _nothing_for(kept: Between) -> str:
    """What is kept between the words is promised nothing; a bag's silence about style would be a lie here."""
    if kept == "none":
        return ""
    style = (
        " Stop words are among the strongest marks of an author's style, and nothing of the style in them is hidden."
        if kept in ("stop-words", "all")
        else ""
    )
    return (
        f"NOTHING is promised for what is kept: {stand(kept)}, at their places between the "
        f"words; their number, and where they end, show how long the document is.{style} "
    )


_NOISE = 1e-9
"""Of the last digit that is shown: what arithmetic on shares leaves over."""


def ceiling(value: float, digits: int) -> float:
    """An upper limit with so many digits after the point, rounded up."""
    return math.ceil(value * 10.0**digits - _NOISE) / 10.0**digits


def floor(value: float, digits: int) -> float:
    """A lower limit with so many digits after the point, rounded down."""
    return math.floor(value * 10.0**digits + _NOISE) / 10.0**digits


def rounded_up(value: float, digits: int) -> str:
    """``value`` with at most so many significant digits, rounded up."""
    upward = decimal.Context(prec=digits, rounding=decimal.ROUND_CEILING).create_decimal(repr(value))
    return format(float(upward), f".{digits}g")


def nats(exponent: float) -> str:
    """An exponent for people, thousands grouped: six digits, rounded up."""
    return f"{float(rounded_up(exponent, 6)):,}"
