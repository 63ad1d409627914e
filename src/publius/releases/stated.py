"""Statements of a plan, or of a finished release, between documents: ``publius guarantee`` for every mechanism."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from publius.errors import DataError, DocumentError, PolicyError, UsageError
from publius.mechanisms.mechanism import Pair
from publius.privacy.guarantee import Bound, Guarantee, strength_of
from publius.privacy.promise import promise, statement
from publius.releases.contents import SUMMARY
from publius.releases.near import LARGEST_DELTA
from publius.releases.of_manifest import check_stated
from publius.releases.plan import Plan
from publius.releases.typical_pairs import frequent_words, typical_pairs
from publius.text.bag import Bag, Encoded, given_words, words_of

Compared = tuple[str, str] | tuple[Sequence[str], Sequence[str]]
"""Two texts, or two lists of words as the vocabulary has them."""


def between(
    plan: Plan,
    pair: Compared | None = None,
    distance: float | None = None,
    *,
    releases: int = 1,
    candidates: int | None = None,
) -> dict[str, Any]:
    """The statement between two texts, at a distance, or between any two documents where a bound is.

    Of two texts it says how many of their words are unknown: between those no distance is measured.
    `UsageError` where neither a pair nor a distance is given and no bound is stated.
    """
    mechanism, guarantee = plan.mechanism, plan.guarantee
    unknown: dict[str, int] = {}
    if pair is not None:
        one, other = (_encoded(text, plan) for text in pair)
        compared = mechanism.compare(one, other, plan.encoding)
        unknown = {"unknown_a": one.unknown, "unknown_b": other.unknown}
    elif distance is not None:
        compared = mechanism.at_distance(distance)
    elif guarantee.bound is None:
        raise UsageError("give --distance D, --between A B, or --public TEXTS for typical pairs")
    else:
        return constants(plan, releases=releases)
    if guarantee.bound is None and compared.distance is not None:
        bound = Bound(compared.exponent, compared.delta)
        facts = statement(guarantee, compared.distance, bound, releases=releases, candidates=candidates)
        return {**facts, **named(mechanism.name, guarantee.evidence, facts["exponent"]), **unknown}
    extra = {"distance": compared.distance, "exact": compared.exact, **unknown}
    delta = max(compared.delta, _delta(guarantee))
    return {**constants(plan), **extra, "releases": releases, **_exponent(compared.exponent, delta, releases)}


def constants(plan: Plan, *, releases: int = 1) -> dict[str, Any]:
    """The constants of a plan's guarantee, and the exponent between any two documents, where one is stated."""
    reference = plan.mechanism.public_inputs(plan.encoding)["reference"]
    facts = {**_constants(plan.guarantee), "mechanism": plan.mechanism.name, "reference": reference}
    return {
        **facts,
        "releases": releases,
        **_exponent(plan.guarantee.map(), _delta(plan.guarantee), releases),
    }


def _encoded(text: str | Sequence[str], plan: Plan) -> Encoded:
    read = words_of if isinstance(text, str) else given_words
    encoded = read(text, plan.vocabulary, plan.encoding)  # type: ignore[arg-type]
    if encoded.padding == plan.size:
        raise DocumentError("one of the documents has no word left: it has only stop words or unknown ones")
    return encoded


def named(mechanism: str, evidence: str, exponent: float) -> dict[str, Any]:
    """Names and strength beside the numbers of a word mechanism's statement."""
    return {
        "level": "word", "mechanism": mechanism, "evidence": evidence, "bound": None,
        "strength": strength_of(exponent),
    }  # fmt: skip


def of_manifest(manifest: Mapping[str, Any], distance: float | None, *, releases: int = 1) -> dict[str, Any]:
    """The same of a finished release, from its manifest alone; `PolicyError` for an experiment's.

    `DataError` where one of this version contradicts itself, or any states what can be none; how older ones said their
    promise stays.
    """
    if manifest["private"] is not True:
        raise PolicyError("the release is the output of an experiment and promises nothing")
    check_stated(manifest)
    if manifest["kind"] == SUMMARY:
        return _of_summary(manifest, distance, releases)
    try:
        guarantee = Guarantee.of_manifest(manifest)
    except (KeyError, TypeError):
        raise DataError("the manifest is damaged, or of another version: make the release anew") from None
    facts = {**_constants(guarantee), "mechanism": manifest["mechanism"], "promise": manifest["promise"]}
    if distance is not None or guarantee.bound is not None:
        facts["distance"] = distance
    if "crowd" in manifest and releases == 1:  # it is that of one release
        facts["crowd"] = manifest["crowd"]
    return {
        **facts,
        "releases": releases,
        **_exponent(guarantee.map(distance), _delta(guarantee), releases),
    }


def _of_summary(manifest: Mapping[str, Any], distance: float | None, releases: int) -> dict[str, Any]:
    """What a summary promises each author; no distance has a say."""
    if distance is not None:
        raise UsageError("a summary promises the same whatever an author wrote: leave out the distance")
    names = ("epsilon", "epsilon_added_or_left_out", "delta", "evidence", "mechanism", "unit", "neighbours")
    facts = {name: manifest[name] for name in (*names, "documents_per_author", "promise")}
    more = {"level": "author", "bound": manifest["epsilon"], "size": None}
    return {
        **facts,
        **more,
        "releases": releases,
        **_exponent(manifest["epsilon"], manifest["delta"], releases),
    }


def _constants(guarantee: Guarantee) -> dict[str, Any]:
    return {
        "level": guarantee.level,
        "epsilon": guarantee.epsilon,
        "bound": guarantee.bound,
        "delta": guarantee.delta,
        "size": guarantee.size,
        "evidence": guarantee.evidence,
        "promise": promise(guarantee, private=True),
    }


def _exponent(exponent: float, delta: float, releases: int) -> dict[str, Any]:
    """Of so many releases seen together: exponents add up, and deltas do, beyond one of which nothing is promised."""
    total = Bound(exponent, delta).repeated(releases)
    found = total.exponent if math.isfinite(total.exponent) else None
    strength = strength_of(total.exponent if total.delta <= LARGEST_DELTA else None)
    return {"exponent": found, "delta": total.delta, "strength": strength}


def _delta(guarantee: Guarantee) -> float:
    """By which what is stated can be exceeded, per unit of distance or between any two documents."""
    return max(guarantee.delta, guarantee.bound_delta)


def examples_of(plan: Plan) -> list[Pair]:
    """The cost of replacing one ordinary word of the vocabulary by its nearest neighbor, where words are replaced."""
    return plan.mechanism.word_pairs()


def typical(plan: Plan, texts: Sequence[str]) -> list[Pair]:
    """Typical pairs under a plan: of public texts and, where words are replaced one by one, of their words."""
    read = [_encoded(text, plan) for text in texts]
    words = frequent_words([Bag(each.words) for each in read])
    return [*plan.mechanism.word_pairs(words), *typical_pairs(read, plan.mechanism, plan.encoding)]
