"""What a plan, or a finished release, states between documents: what ``publius guarantee`` says of every mechanism."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from publius.distances import transport_plan
from publius.errors import DataError, DocumentError, PolicyError, UsageError
from publius.mechanisms.documents.base import AbstractDocumentMechanism
from publius.mechanisms.outside import known_guarantee
from publius.privacy.document_guarantee import DocumentGuarantee, strength_of
from publius.privacy.guarantee import Bound, Guarantee
from publius.privacy.promise import promise, statement
from publius.releases.document_outcomes import places_of
from publius.releases.filled import filled_distance
from publius.releases.plan import Plan
from publius.releases.typical_pairs import (
    Pair,
    document_pairs,
    filled_pairs,
    frequent_words,
    text_pairs,
    word_pairs,
)
from publius.text.bag import Bag, Encoded, words_of


def of_documents(plan: Plan, pair: tuple[str, str] | None = None, *, releases: int = 1) -> dict[str, Any]:
    """The constants of a document mechanism, and the exponent between two texts or any two documents."""
    mechanism = _document_mechanism(plan)
    guarantee = mechanism.guarantee
    facts = {**_constants(guarantee), "mechanism": mechanism.name, "reference": mechanism.reference.name}
    exponent, extra = guarantee.privacy_map(None), {}
    if pair is not None:
        compared = mechanism.between(*(places_of(text, plan)[1] for text in pair))
        exponent = compared.exponent
        extra = {"distance": compared.distance, "exact": compared.exact}
    return {**facts, **extra, "releases": releases, **_exponent(exponent, releases)}


def _document_mechanism(plan: Plan) -> AbstractDocumentMechanism:
    if not isinstance(plan.mechanism, AbstractDocumentMechanism):
        raise UsageError("this is about whole documents: name a reference and what to keep of it")
    return plan.mechanism


def of_words(
    plan: Plan,
    pair: tuple[str, str] | None,
    distance: float | None,
    *,
    releases: int = 1,
    candidates: int | None = None,
) -> dict[str, Any]:
    """The statement of a word mechanism between two texts, or at a distance."""
    mechanism = plan.word_mechanism
    lifted = known_guarantee(mechanism).lifted(plan.size)
    if pair is not None:
        distance, bound = _between_words(_encoded(pair[0], plan), _encoded(pair[1], plan), plan)
    elif distance is not None:
        bound = mechanism.bound(plan.size, distance)
    else:
        raise UsageError("give --distance D, --between A B, or --public TEXTS for typical pairs")
    facts = statement(lifted, distance, bound, releases=releases, candidates=candidates)
    return {**facts, **named(mechanism.name, lifted.evidence, facts["exponent"])}


def _encoded(text: str, plan: Plan) -> Encoded:
    encoded = words_of(text, plan.vocabulary, plan.encoding)
    if encoded.padding == plan.size:
        raise DocumentError("one of the documents has no word left: it has only stop words or unknown ones")
    return encoded


def _between_words(a: Encoded, b: Encoded, plan: Plan) -> tuple[float, Bound]:
    """How far two documents are apart at most, filled up as they are, and what is stated between them."""
    mechanism = plan.word_mechanism
    if a.padding or b.padding:
        distance = filled_distance(a, b, plan)
        return distance, mechanism.bound(plan.size, distance)
    moved = transport_plan(Bag(a.words), Bag(b.words), mechanism.embeddings, mechanism.metric)
    return moved.distance_upper, mechanism.bound(plan.size, moved.distance_upper)


def named(mechanism: str, evidence: str, exponent: float) -> dict[str, Any]:
    """What is said of a word mechanism's statement beside its numbers."""
    return {
        "level": "word", "mechanism": mechanism, "evidence": evidence, "bound": None,
        "strength": strength_of(exponent),
    }  # fmt: skip


def of_manifest(manifest: Mapping[str, Any], distance: float | None, *, releases: int = 1) -> dict[str, Any]:
    """The same of a finished release, from its manifest alone; `PolicyError` for an experiment's."""
    if manifest["private"] is not True:
        raise PolicyError("the release is the output of an experiment and promises nothing")
    try:
        guarantee = _guarantee(manifest)
    except (KeyError, TypeError):
        raise DataError("the manifest is damaged, or of another version: make the release anew") from None
    facts = {**_constants(guarantee), "mechanism": manifest["mechanism"], "promise": manifest["promise"]}
    if isinstance(guarantee, Guarantee) and distance is None:
        return {**facts, "releases": releases, "exponent": None, "strength": "empty"}
    exponent = guarantee.privacy_map(distance)  # type: ignore[arg-type]  # a word's has a distance here
    return {**facts, "distance": distance, "releases": releases, **_exponent(exponent, releases)}


def _guarantee(manifest: Mapping[str, Any]) -> Guarantee | DocumentGuarantee:
    if manifest.get("level") == "document":
        return DocumentGuarantee(
            manifest["epsilon"], manifest["bound"], manifest["evidence"], manifest["delta"], manifest["bound_delta"],
            manifest["size"], manifest["preserve"],
        )  # fmt: skip
    return Guarantee(
        manifest["epsilon"], manifest["metric"], manifest["evidence"], manifest["delta"], manifest["size"],
        ordered=manifest["ordered"], kept=manifest.get("kept_between", "none"),
    )  # fmt: skip


def _constants(guarantee: Guarantee | DocumentGuarantee) -> dict[str, Any]:
    return {
        "level": guarantee.level,
        "epsilon": guarantee.epsilon,
        "bound": guarantee.bound,
        "delta": guarantee.delta,
        "size": guarantee.size,
        "evidence": guarantee.evidence,
        "promise": promise(guarantee, private=True),
    }


def _exponent(exponent: float, releases: int) -> dict[str, Any]:
    total = Bound(exponent, 0.0).repeated(releases).exponent
    return {"exponent": total if math.isfinite(total) else None, "strength": strength_of(total)}


def examples_of(plan: Plan) -> list[Pair]:
    """What it costs under a plan for words to replace one ordinary word of the vocabulary by its nearest neighbor."""
    mechanism = plan.word_mechanism
    return word_pairs(mechanism.embeddings, mechanism.metric, mechanism.guarantee.lifted(1).privacy_map)


def typical(plan: Plan, texts: Sequence[str]) -> list[Pair]:
    """Typical pairs under a plan: of public texts and, for word mechanisms, of their words."""
    if plan.level == "document":
        return document_pairs([places_of(text, plan)[1] for text in texts], _document_mechanism(plan))
    mechanism, size = plan.word_mechanism, plan.size
    lifted = mechanism.guarantee.lifted(size)
    read = [_encoded(text, plan) for text in texts]
    bags = [Bag(each.words) for each in read]
    one = mechanism.guarantee.lifted(1)
    words = word_pairs(mechanism.embeddings, mechanism.metric, one.privacy_map, frequent_words(bags))
    if any(each.padding for each in read):
        return [*words, *filled_pairs(read, lambda a, b: filled_distance(a, b, plan), lifted.privacy_map)]
    return [*words, *text_pairs(bags, mechanism.embeddings, mechanism.metric, lifted.privacy_map)]
