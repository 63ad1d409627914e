"""Statements of a manifest, computed again: the plan behind a finished release, and whether they agree."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from fractions import Fraction
from typing import Any, Final

from publius.errors import DataError, PolicyError, PubliusError, UsageError
from publius.mechanisms.mechanism import Mechanism
from publius.mechanisms.registry import remade
from publius.privacy.crowd import Crowd, CrowdGuarantee
from publius.privacy.guarantee import Guarantee
from publius.privacy.promise import author_promise, crowd_promise, promise
from publius.releases.contents import SUMMARY
from publius.releases.near import LARGEST_DELTA, check_not_empty, emptiness
from publius.releases.plan import AS_READ, DECLARED_VALUE, SHUFFLED, Plan, published, publius_version
from publius.settings import ReleaseSettings

_SAME: Final = (
    "vocabulary_sha256", "reference_sha256", "stop_words_sha256", "tokenizer", "size", "epsilon", "bound", "metric",
    "mechanism_parameters", "unknown",
)  # fmt: skip


_SLACK: Final = 1e-9
"""Relative difference of an epsilon computed twice."""

_TAIL_SLACK: Final = 1e-8
"""Relative difference of a tail probability that another version or library computed."""


def _number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)


def _count(least: int) -> Callable[[object], bool]:
    return lambda value: isinstance(value, int) and not isinstance(value, bool) and value >= least


def _probability(value: object) -> bool:
    return _number(value) and 0 <= value <= 1  # type: ignore[operator]


_POSSIBLE: Final[Mapping[str, Callable[[Any], bool]]] = {
    "documents": _count(1),
    "missing": _count(0),
    "size": _count(1),
    "epsilon": lambda value: value is None or (_number(value) and value > 0),
    "epsilon_total": lambda value: value is None or (_number(value) and value > 0),
    "bound": lambda value: value is None or (_number(value) and value >= 0),
    "bound_delta": _probability,
    "delta": _probability,
    "probability_kept": _probability,
    "promise": lambda value: isinstance(value, str),
    "labels": lambda value: isinstance(value, list) and all(isinstance(each, str) for each in value),
    "randomness": lambda value: isinstance(value, str),
    "numbers": lambda value: value in (AS_READ, SHUFFLED),
}
"""What a manifest can state under each name, where it states anything."""


def check_statements(manifest: Mapping[str, Any]) -> None:
    """Whether the statements of a manifest agree with each other, as far as they can be computed again.

    `DataError` that names what does not agree; `PolicyError` for the marks of an experiment, and for a delta that
    makes the promise empty.
    """
    for name, possible in _POSSIBLE.items():
        if name in manifest and not possible(manifest[name]):
            raise DataError(f"the manifest states something impossible as its {_called(name)}: {_ANEW}")
    if "warning" in manifest or manifest.get("randomness", "").startswith("seeded"):
        raise PolicyError(
            "the manifest has the marks of an experiment, which promises nothing. Nobody can sign for it"
        )
    check_not_empty(
        emptiness(max(manifest["delta"], manifest.get("bound_delta", 0.0)), None), "Nobody can sign for it"
    )
    try:
        wrong = sorted(_wrong_of_summary(manifest) if manifest["kind"] == SUMMARY else _wrong(manifest))
    except (KeyError, TypeError, ValueError, AttributeError, ArithmeticError, UsageError):
        raise DataError(f"the manifest is damaged, or of another version: {_ANEW}") from None
    if wrong:
        raise DataError(
            f"the manifest contradicts itself: its {', '.join(map(_called, wrong))} cannot be that of what else it "
            f"states: {_ANEW}"
        )


_ANEW: Final = "make the release anew"


def _called(name: str) -> str:
    return name.replace("_", " ")


def _wrong(manifest: Mapping[str, Any]) -> Iterator[str]:
    """The names of statements that others contradict."""
    guarantee = Guarantee.of_manifest(manifest)
    total = manifest.get("epsilon_total", guarantee.epsilon_total)
    if total is None or guarantee.epsilon_total is None:
        if total is not guarantee.epsilon_total and guarantee.bound is None:
            yield "epsilon_total"
    elif not math.isclose(total, guarantee.epsilon_total, rel_tol=_SLACK):
        yield "epsilon_total"
    if guarantee.bound is not None and manifest.get("strength", guarantee.strength) != guarantee.strength:
        yield "strength"
    crowd = None if "crowd" not in manifest else CrowdGuarantee(**manifest["crowd"])
    if manifest.get("publius_version") == publius_version():  # others may have said the same in other words
        said = promise(guarantee, private=True, labels=manifest["labels"], empty=manifest.get("empty"))
        if manifest["promise"] != (said if crowd is None else f"{said} {crowd_promise(crowd)}"):
            yield "promise"
    mechanism = _mechanism(manifest)
    if crowd is not None and not _holds(crowd, manifest, mechanism):
        yield "crowd"
    if mechanism is not None:
        constants = mechanism.constants
        for name in ("bound", "epsilon_total", "strength"):
            if name in constants and name in manifest and constants[name] != manifest[name]:
                yield name
        tails = [facts["bound_delta"] for facts in (constants, manifest) if "bound_delta" in facts]
        if len(tails) == 2 and not math.isclose(*tails, rel_tol=_TAIL_SLACK):
            yield "bound_delta"
        kept, told = mechanism.probability_kept, manifest.get("probability_kept")
        if kept is not None and told is not None and not math.isclose(published(kept), told, abs_tol=1e-9):
            yield "probability_kept"
        if manifest["vocabulary_sha256"] != mechanism.vocabulary.sha256:
            yield "mechanism_parameters"


def _wrong_of_summary(manifest: Mapping[str, Any]) -> Iterator[str]:
    """The same of a summary: all of its promise follows from epsilon, c, the shares and the strata."""
    epsilon, c = Fraction(manifest["epsilon_exactly"]), manifest["documents_per_author"]
    if not _count(1)(c) or epsilon <= 0:
        yield "documents_per_author" if epsilon > 0 else "epsilon_exactly"
        return
    if not math.isclose(manifest["epsilon"], epsilon, rel_tol=_SLACK):
        yield "epsilon"
    if not math.isclose(manifest["epsilon_added_or_left_out"], epsilon / 2, rel_tol=_SLACK):
        yield "epsilon_added_or_left_out"
    always = {"delta": 0, "unit": "author", "level": "author", "neighbours": "replace", "evidence": "proven"}
    yield from (name for name, value in always.items() if manifest[name] != value)
    parts = {name: Fraction(table["epsilon"]) for name, table in manifest["tables"].items()}
    shares = manifest["shares"]
    if set(shares) != set(parts) or any(
        not math.isclose(shares[name], part / epsilon, rel_tol=_SLACK) for name, part in parts.items()
    ):
        yield "shares"
    strata = math.prod(len(labels) for labels in manifest["strata"].values())
    for name, table in manifest["tables"].items():
        fits = (
            table["cells"] == strata
            if name == "totals"
            else name == "subjects" or table["cells"] % strata == 0
        )
        if parts[name] <= 0 or Fraction(table["scale"]) != 2 * c / parts[name] or not fits:
            yield f"table of {name}"
    if sum(parts.values()) > epsilon or manifest["cells"] != sum(
        table["cells"] for table in manifest["tables"].values()
    ):
        yield "tables"
    if manifest.get("publius_version") == publius_version() and manifest["promise"] != author_promise(
        epsilon, c
    ):
        yield "promise"


def _mechanism(manifest: Mapping[str, Any]) -> Mechanism | None:
    """What the release was drawn by, where everything that it takes stands in the manifest or is stored here."""
    if manifest["kind"] != DECLARED_VALUE:
        if manifest.get("bound") is None or manifest.get("reference") is None or "preserve" not in manifest:
            return None
        try:
            return plan_of(manifest).mechanism
        except (PubliusError, OSError):  # another machine, or another reference of this name
            return None
    found = remade(manifest)
    return found if isinstance(found, Mechanism) else None


def _holds(crowd: CrowdGuarantee, manifest: Mapping[str, Any], mechanism: Mechanism | None) -> bool:
    """Whether a crowd of so many rows promises each author what is stated."""
    if crowd.documents != manifest["documents"] or manifest["labels"] or not 0 < crowd.delta <= LARGEST_DELTA:
        return False
    outcomes = None if mechanism is None else mechanism.crowd_outcomes
    if outcomes is None:  # nobody can compute it here
        return 0 < crowd.epsilon <= crowd.documents_per_author * float(manifest["bound"]) * (1 + _SLACK)
    found = Crowd(float(manifest["bound"]), outcomes, crowd.documents)
    least = found.guarantee(crowd.delta, documents_per_author=crowd.documents_per_author).epsilon
    return crowd.epsilon >= least * (1 - _SLACK)


def plan_of(manifest: Mapping[str, Any], embeddings: str | None = None, reference: str | None = None) -> Plan:
    """The plan that a release of bags was made by, on the same public vectors or the same reference.

    They are looked for under the names in the manifest, or those given. `PolicyError` for an experiment, `UsageError`
    for ordered text, `DataError` where what is found is not what the release was made with.
    """
    if manifest["private"] is not True:
        raise PolicyError("the release is the output of an experiment and promises nothing")
    if manifest.get("ordered"):
        raise UsageError("this compares bags, and the release is of words in order: give --distance")
    try:
        plan = _plan(manifest, embeddings, reference)
        found = plan.manifest(0)
    except (KeyError, TypeError):
        raise DataError("the manifest is damaged, or of another version: make the release anew") from None
    differing = [name.replace("_", " ") for name in _SAME if found.get(name) != manifest.get(name)]
    if differing:
        raise DataError(
            f"what is stored here is not what the release was made with ({', '.join(differing)} differ): name the same "
            "vectors with --embeddings, or the same reference with --reference"
        )
    return plan


def _plan(manifest: Mapping[str, Any], embeddings: str | None, reference: str | None) -> Plan:
    settings = ReleaseSettings(
        length=manifest["size"], first=manifest.get("first"), unknown=manifest["unknown"],
        stop_words=manifest["stop_words"],
    )  # fmt: skip
    return Plan.of(settings, remade(manifest, embeddings, reference))
