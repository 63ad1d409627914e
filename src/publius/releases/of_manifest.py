"""Statements of a manifest, computed again: the plan behind a finished release, and whether they agree."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import fields, replace
from fractions import Fraction
from pathlib import Path
from typing import Any, Final, get_args

from publius.collections.strata import Field, Strata
from publius.distances.metrics import METRICS
from publius.errors import DataError, PolicyError, PubliusError, UsageError
from publius.files import os_errors, shown
from publius.files.user_code import PYTHON
from publius.mechanisms.finite.stored_certificates import NotStoredError, only_stored
from publius.mechanisms.kernel import Kernel
from publius.mechanisms.kernels.laplace import Laplace
from publius.mechanisms.lifted import PADDING
from publius.mechanisms.mechanism import PublicOutcome, Votes
from publius.mechanisms.prototype import fidelity
from publius.mechanisms.registry import MECHANISMS, is_ours, prepares, prints_labels, remade, votes_of
from publius.privacy.crowd import Crowd, CrowdGuarantee
from publius.privacy.guarantee import STATED, Guarantee
from publius.privacy.promise import author_promise, crowd_promise, promise
from publius.releases.contents import FILES, MANIFEST, NOISE, SUMMARY, public_words
from publius.releases.manifests import check_known, manifest_bytes
from publius.releases.near import (
    ANY_TWO_VALUES,
    LARGEST_DELTA,
    check_not_empty,
    emptiness,
    emptiness_of_bound,
)
from publius.releases.plan import (
    AS_READ,
    BAG,
    DECLARED_VALUE,
    EXACT,
    MANIFEST_VERSION,
    OF_ONE,
    ORDERED_TEXT,
    SHUFFLED,
    UPPER,
    Plan,
    placed,
    published,
    publius_version,
)
from publius.releases.summaries.names import COUNTED, MECHANISM, names_authors
from publius.releases.summaries.read_me import SOURCE
from publius.releases.summaries.spaces import facts_of, quotes
from publius.settings import EUCLIDEAN, FIELD, ReleaseSettings, UnknownPolicy
from publius.text.bag import UNKNOWN
from publius.text.tokenizer import OWN_LIST
from publius.vectors.learning.public_words import is_statement
from publius.vectors.learning.reference import Reference

_SAME: Final = (
    "vocabulary_sha256", "reference_sha256", "stop_words_sha256", "tokenizer", "size", "epsilon", "bound", "metric",
    "mechanism_parameters", "unknown",
)  # fmt: skip


_SLACK: Final = 1e-9
"""Relative difference of an epsilon computed twice."""

_FRACTION: Final = re.compile(r"[0-9]{1,60}(/[1-9][0-9]{0,59})?")
_EARLIER: Final = re.compile(r"an earlier summary \(epsilon [0-9.e+-]{1,20}\)")
_OF_TABLE: Final = ("cells", "epsilon", "noise", "scale")
_TAIL_SLACK: Final = 1e-8
"""Relative difference of a tail probability that another version or library computed."""

_NOT_OF_THE_PLAN: Final = frozenset(("crowd", "files", "numbers", "promise", "size_from", "versions"))
"""What follows from more than the plan of a release, or is the word of whoever made it."""
_STATED_OF_OTHERS: Final = frozenset((
    "epsilon", "epsilon_added_or_left_out", "bound", "bound_delta", "delta", "size", "evidence", "mechanism", "metric",
    "kept_between", "preserve", "crowd", "documents_per_author", "unit", "neighbours",
))  # fmt: skip
"""Numbers and names that are stated of a manifest of another version."""
_OF_THE_KERNEL: Final = frozenset(("mechanism", "mechanism_parameters", "delta", "evidence"))


def _number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)


def _count(least: int) -> Callable[[object], bool]:
    return lambda value: isinstance(value, int) and not isinstance(value, bool) and value >= least


def _probability(value: object) -> bool:
    return _number(value) and 0 <= value <= 1  # type: ignore[operator]


def _text(value: object) -> bool:
    return isinstance(value, str)


def _texts(value: object) -> bool:
    return isinstance(value, list) and all(map(_text, value))


def _each(possible: Callable[[Any], bool]) -> Callable[[object], bool]:
    return lambda value: isinstance(value, dict) and all(map(possible, value.values()))


def _fraction(value: object) -> bool:
    return isinstance(value, str) and _FRACTION.fullmatch(value) is not None and str(Fraction(value)) == value


def _matches(pattern: re.Pattern[str]) -> Callable[[object], bool]:
    return lambda value: isinstance(value, str) and pattern.fullmatch(value) is not None


def _or_none(possible: Callable[[Any], bool]) -> Callable[[object], bool]:
    return lambda value: value is None or possible(value)


def _one_of(*values: object) -> Callable[[object], bool]:
    return lambda value: any(type(value) is type(each) and value == each for each in values)


def _parameter(value: object) -> bool:
    """A number, a mark, a name, or several: what a mechanism states of itself."""
    if isinstance(value, list):
        return all(map(_parameter, value))
    return value is None or isinstance(value, bool) or _number(value) or _text(value)


_DIGEST: Final = _matches(re.compile(r"[0-9a-f]{64}"))
_STORED: Final = _matches(re.compile(r"[A-Za-z0-9][A-Za-z0-9._+-]{0,99}"))
_VERSIONS: Final = _matches(re.compile(r"[0-9]{1,6}(\.[0-9]{1,6}){1,3}((a|b|rc|\.post|\.dev)[0-9]{1,6})?"))
_IDENTIFIER: Final = _matches(re.compile(r"[^\W\d][\w.:-]{0,199}"))
_OF_SOURCE: Final[Mapping[str, Callable[[object], bool]]] = {
    "module": _matches(re.compile(r"[^\W\d]\w{0,99}(\.[^\W\d]\w{0,99}){0,20}")),
    "class": _matches(re.compile(r"[^\W\d]\w{0,99}(\.(<locals>|[^\W\d]\w{0,99})){0,20}")),
    "distribution": _or_none(_STORED),
    "version": _or_none(_STORED),
    "sha256": _DIGEST,
}


def _source(value: object) -> bool:
    """Where a class of somebody's own comes from: names, a version and a digest."""
    return (
        isinstance(value, dict)
        and value.keys() == _OF_SOURCE.keys()
        and all(possible(value[name]) for name, possible in _OF_SOURCE.items())
    )


def _files(value: object) -> bool:
    """The digest of each file, in the order of their names."""
    return _each(_DIGEST)(value) and [*value] == sorted(value)  # type: ignore[misc, call-overload]


_DIGITS: Final = "[0-9][0-9.e+-]{0,20}"
_EMPTY: Final = re.compile(
    "|".join(
        re.escape(str(said)).replace(re.escape(number), _DIGITS)
        for number, said in (
            ("0.5", emptiness(0.5, None)),
            ("123", emptiness(0.0, 123.0)),
            ("123", emptiness_of_bound(123.0, ANY_TWO_VALUES)),
        )
    )
)
"""Why a promise is empty, with any number."""

_RANDOM: Final = " keyed by the operating system"

_POSITIVE: Final = _or_none(lambda value: _number(value) and value > 0)
_FIRST: Final[Mapping[str, Callable[[Any], bool]]] = {
    "manifest_version": _one_of(MANIFEST_VERSION),
    "publius_version": _text,  # see `is_own`
    "private": _one_of(True),
    "promise": _text,
    "empty": _matches(_EMPTY),
    "kind": _one_of(BAG, ORDERED_TEXT, DECLARED_VALUE, SUMMARY),
}


def _versions(*libraries: str) -> Callable[[object], bool]:
    return lambda value: _each(_VERSIONS)(value) and [*value] == [*libraries]  # type: ignore[misc]


_OF_ROWS: Final[Mapping[str, Callable[[Any], bool]]] = {
    **_FIRST,
    "documents": _count(1),
    "missing": _count(0),
    "size": _count(1),
    "size_from": _one_of("given", "the shortest of the documents"),
    "level": _one_of("word", "document", "author"),
    "epsilon": _POSITIVE,
    "epsilon_total": _POSITIVE,
    "bound": _or_none(lambda value: _number(value) and value >= 0),
    "bound_delta": _probability,
    "strength": _text,  # computed
    "probability_kept": _probability,
    "probability_kept_is": _one_of(OF_ONE, UPPER, EXACT),
    "outcomes_of_label": _each(_count(2)),
    "delta": _probability,
    "evidence": _one_of("proven", "certified", STATED, "none"),
    "mechanism": _IDENTIFIER,
    "mechanism_source": _source,
    "mechanism_parameters": _each(_parameter),
    "metric": _IDENTIFIER,
    "preserve": _or_none(lambda value: _IDENTIFIER(value) or (_text(value) and value.startswith(FIELD))),
    "reference": _or_none(_STORED),
    "reference_sha256": _or_none(_DIGEST),
    "reference_words": _or_none(is_statement),
    "embeddings": _or_none(_STORED),
    "dimension": _or_none(_count(1)),
    "first": _or_none(_count(1)),
    "metric_source": _source,
    "vocabulary_size": _count(1),
    "vocabulary_sha256": _DIGEST,
    "tokenizer": _STORED,
    "stop_words": _STORED,
    "stop_words_sha256": _DIGEST,
    "unknown": _one_of(*get_args(UnknownPolicy)),
    "unknown_token": _one_of(UNKNOWN),
    "padding": _one_of(PADDING),
    "labels": _texts,
    "ordered": lambda value: isinstance(value, bool),
    "kept_between": _IDENTIFIER,
    "randomness": _one_of(f"ChaCha20{_RANDOM}", f"SHAKE-256{_RANDOM}"),
    "versions": _versions("numpy"),
    "numbers": _one_of(AS_READ, SHUFFLED),
    "crowd": lambda value: (
        _each(_number)(value) and value.keys() == {each.name for each in fields(CrowdGuarantee)}
    ),
    FILES: _files,
}
_OF_SUMMARIES: Final[Mapping[str, Callable[[Any], bool]]] = {
    **{name: possible for name, possible in _FIRST.items() if name != "empty"},
    "unit": _one_of("author"),
    "author_field": lambda value: isinstance(value, str) and names_authors(value),
    "level": _one_of("word", "document", "author"),
    "epsilon": _POSITIVE,
    "epsilon_exactly": _fraction,
    "epsilon_added_or_left_out": _number,
    "delta": _probability,
    "evidence": _one_of("proven", "certified", STATED, "none"),
    "neighbours": _one_of("replace"),
    "documents_per_author": lambda value: isinstance(value, int),
    "shares": _each(_number),
    "strata": _each(_texts),
    "cells": _count(1),
    "tables": _each(lambda table: isinstance(table, dict) and tuple(table) == _OF_TABLE),
    "counted": _one_of(COUNTED),
    "mechanism": _one_of(MECHANISM),
    "reference": _or_none(_STORED),
    "vocabulary_sha256": _DIGEST,
    "subjects_sha256": _DIGEST,
    "passages": _one_of(SOURCE),
    "compared_with": _or_none(_matches(_EARLIER)),
    "tokenizer": _STORED,
    "stop_words": _STORED,
    "stop_words_sha256": _DIGEST,
    "randomness": _one_of(f"ChaCha20{_RANDOM}"),
    "versions": _versions("numpy", "matplotlib"),
    FILES: _files,
}
"""All that a manifest of each kind can state, in the order in which it does, and what is possible under the name.

A statement that is not listed is nobody's who wrote a release: it would be signed for, and mean whatever a reader takes
it to mean.
"""


def check_stated(manifest: Mapping[str, Any]) -> None:
    """`DataError` where a number or a name that is stated of a manifest is none, or does not agree with the others.

    What the numbers of another version were, its own rules said: of these only that they are numbers and names.
    """
    if is_own(manifest):
        if promised(manifest) != manifest.get("promise"):
            raise DataError("the manifest's promise is not the one that its numbers make: it was changed")
        check_statements({FILES: {}, **manifest}, signed=False)  # one that went to a file alone names none
        return
    known = _OF_SUMMARIES if manifest["kind"] == SUMMARY else _OF_ROWS
    for name in known.keys() & _STATED_OF_OTHERS & manifest.keys():
        _check_possible(known, name, manifest[name])


def check_statements(manifest: Mapping[str, Any], *, signed: bool = True) -> None:
    """Whether the statements of a manifest agree with each other, as far as they can be computed again.

    `DataError` that names what does not agree; `PolicyError` for the marks of an experiment, and, where it is to be
    ``signed``, for a delta that makes the promise empty.
    """
    if not {"publius_version", "kind", "delta"} <= manifest.keys():
        raise DataError(f"the manifest is damaged, or of another version: {_ANEW}")
    if "warning" in manifest or str(manifest.get("randomness")).startswith("seeded"):
        raise PolicyError(
            "the manifest has the marks of an experiment, which promises nothing. Nobody can sign for it"
        )
    known = _OF_SUMMARIES if manifest["kind"] == SUMMARY else _OF_ROWS
    for name, value in manifest.items():
        if name not in known:
            raise DataError(f"the manifest states {name!r:.40}, which no release states: {_ANEW}")
        _check_possible(known, name, value)
    if signed:
        delta = max(manifest["delta"], manifest.get("bound_delta", 0.0))
        check_not_empty(emptiness(delta, None), "Nobody can sign for it")
    try:
        wrong = sorted({*(_wrong_of_summary(manifest) if manifest["kind"] == SUMMARY else _wrong(manifest))})
    except (KeyError, TypeError, ValueError, AttributeError, ArithmeticError, UsageError):
        raise DataError(f"the manifest is damaged, or of another version: {_ANEW}") from None
    if wrong:
        raise DataError(
            f"the manifest contradicts itself: its {', '.join(map(_called, wrong))} cannot be that of what else it "
            f"states: {_ANEW}"
        )


def _check_possible(known: Mapping[str, Callable[[Any], bool]], name: str, value: object) -> None:
    if not known[name](value):
        raise DataError(f"the manifest states something impossible as its {_called(name)}: {_ANEW}")


_ANEW: Final = "make the release anew"


def in_order(manifest: Mapping[str, Any]) -> dict[str, Any]:
    """A manifest with its statements in the order of a release's."""
    known = _OF_SUMMARIES if manifest.get("kind") == SUMMARY else _OF_ROWS
    return {name: manifest[name] for name in known if name in manifest} | {**manifest}


def check_written(release: Path, manifest: Mapping[str, Any]) -> None:
    """`DataError` for a manifest with another order, white space or digits than Publius writes: they could say more."""
    with os_errors("read", release):
        found = (release / MANIFEST).read_bytes()
    try:
        written = manifest_bytes(in_order(manifest))
    except ValueError:  # a number that is none
        written = b""
    if found != written:
        raise DataError(f"{shown(release / MANIFEST)} is not as Publius writes it: {_ANEW}")


def is_own(stated: Mapping[str, Any]) -> bool:
    """Whether a manifest or the record of a sign-off names this very version as its writer."""
    return stated.get("publius_version") == publius_version()


def promised(manifest: Mapping[str, Any]) -> str:
    """The promise that a manifest's numbers make; `DataError` where the manifest lacks something."""
    try:
        if manifest["kind"] == SUMMARY:
            epsilon, c = Fraction(manifest["epsilon_exactly"]), manifest["documents_per_author"]
            return author_promise(epsilon, c, manifest["author_field"])
        guarantee = Guarantee.of_manifest(manifest)
        said = promise(guarantee, private=True, labels=manifest["labels"], empty=manifest.get("empty"))
        said += placed(manifest.get("numbers"))
        crowd = manifest.get("crowd")
        return said if crowd is None else f"{said} {crowd_promise(CrowdGuarantee(**crowd))}"
    except (KeyError, TypeError, ValueError, AttributeError, ArithmeticError, UsageError):
        raise DataError(f"the manifest is damaged, or of another version: {_ANEW}") from None


def not_checked(manifest: Mapping[str, Any]) -> Iterator[str]:
    """What could not be compared, because what a release was made on, or compared with, does not lie here."""
    if manifest.get("compared_with") is not None:
        yield "What is new against the earlier summary: that one does not lie here, and nothing was compared again."
    if manifest["kind"] != SUMMARY and "mechanism_source" in manifest:
        yield "What the mechanism states of itself: its class is not one of Publius, and nothing was computed."
    if manifest["kind"] == DECLARED_VALUE:
        return
    if manifest["kind"] != SUMMARY and _own_list(manifest):
        yield "Which stop words were left out, or kept: their list is somebody's own, and lies in no release."
    if public_words(manifest) is not None:
        if manifest["kind"] != SUMMARY and "mechanism_source" not in manifest and _remade(manifest) is None:
            yield (
                f"The constants of the mechanism {manifest['mechanism']}, its parameters and its delta: they take all "
                "pairs of words, and were not computed again for this page."
            )
        return
    name = manifest.get("reference")
    thing = f"public reference {name!r}" if name else f"public word vectors {manifest.get('embeddings')!r}"
    numbers = "" if manifest.get("bound") is None else " the exponent per unit of distance,"
    if prints_labels(manifest) and votes_of(manifest) is None:
        numbers += " how often a label is kept,"
    yield (
        f"The statements that rest on the {thing}, which are not stored where this page was made:{numbers} the words "
        "and the labels of the rows. Whoever has it can sign again."
    )


def _called(name: str) -> str:
    return name.replace("_", " ")


def _wrong(manifest: Mapping[str, Any]) -> Iterator[str]:
    """The names of statements that others contradict."""
    guarantee = Guarantee.of_manifest(manifest)
    total = manifest["epsilon_total"]
    if total is None or guarantee.epsilon_total is None:
        if total is not guarantee.epsilon_total and guarantee.bound is None:
            yield "epsilon_total"
    elif not math.isclose(total, guarantee.epsilon_total, rel_tol=_SLACK):
        yield "epsilon_total"
    computed = {
        "level": guarantee.level,
        **({} if guarantee.bound is None else {"strength": guarantee.strength}),
    }
    yield from (name for name, value in computed.items() if manifest.get(name, value) != value)
    if manifest["ordered"] is not (manifest["kind"] == ORDERED_TEXT):
        yield "ordered"
    crowd = None if "crowd" not in manifest else CrowdGuarantee(**manifest["crowd"])
    if manifest["promise"] != promised(manifest):
        yield "promise"
    if emptiness(guarantee.between_any_delta, None) not in (None, manifest.get("empty")):
        yield "empty"
    if manifest["kind"] == DECLARED_VALUE:  # read from no text, with no vectors
        nothing = ("reference", "reference_sha256", "reference_words", "embeddings", "dimension", "first")
        yield from (name for name in nothing if manifest.get(name) is not None)
    needed = ("manifest_version", "missing", "size_from", "level", "files")
    yield from (name for name in needed if name not in manifest)
    votes = None if guarantee.bound is None else votes_of(manifest)
    theirs = not is_ours(manifest["mechanism"])
    if theirs is not ("mechanism_source" in manifest):
        yield "mechanism_source"
    if (
        manifest["metric"] in METRICS
        if "metric_source" in manifest
        else manifest["metric"].startswith(PYTHON)
    ):
        yield "metric_source"
    if theirs and manifest["evidence"] != STATED:
        yield "evidence"
    if guarantee.bound is None and "strength" in manifest:
        yield "strength"
    if (
        not theirs and manifest["kind"] != DECLARED_VALUE
    ):  # whole documents by a reference, words by their vectors
        of, none = ("embeddings", "reference") if guarantee.bound is None else ("reference", "embeddings")
        yield from (
            name
            for name, known in ((of, True), (none, False))
            if (manifest.get(name) is not None) is not known
        )
    if not theirs:
        yield from _wrong_of_labels(manifest, votes)
    if crowd is not None and not _holds(crowd, manifest, votes):
        yield "crowd"
    plan = _remade(manifest)
    if plan is not None:
        made = plan.manifest(manifest["documents"], manifest["missing"])
        names = (made.keys() | manifest.keys()) - _NOT_OF_THE_PLAN - _own_list(manifest).keys()
        yield from (name for name in names if not _same_value(made.get(name), manifest.get(name)))
    elif not theirs and manifest.get("reference") and public_words(manifest) is not None:
        yield "mechanism_parameters"  # the very reference is here, and gives another release
    elif manifest["mechanism"] in MECHANISMS:
        yield from _wrong_of_prepared(manifest)


def _wrong_of_prepared(manifest: Mapping[str, Any]) -> Iterator[str]:
    """The same of words whose mechanism, or whose own metric, is computed over the whole vocabulary first.

    Its constants are not made again. All else is what the Laplace mechanism states on the same vectors.
    """
    kind: type[Kernel] = MECHANISMS[manifest["mechanism"]]
    own = "metric_source" in manifest
    if manifest["evidence"] != (STATED if own else kind.evidence):
        yield "evidence"
    if not kind.may_state(manifest["mechanism_parameters"], manifest["epsilon"]):
        yield "mechanism_parameters"
    bags = [replace(Guarantee.of_manifest(manifest), size=None, delta=delta) for delta in kind.deltas]
    stated = [each.lifted(manifest["size"]).delta for each in bags]
    if stated and manifest["delta"] not in stated:
        yield "delta"
    if public_words(manifest) is None:
        return
    metric = EUCLIDEAN if own else manifest["metric"]
    stops = _own_list(manifest)
    drawn: dict[str, Any] = {"mechanism": Laplace.name, "mechanism_parameters": {}, "metric": metric}
    plan = _plan({**manifest, **drawn, **stops}, None, None)
    made = plan.manifest(manifest["documents"], manifest["missing"])
    names = (made.keys() | manifest.keys()) - _NOT_OF_THE_PLAN - _OF_THE_KERNEL - stops.keys()
    names -= {"metric", "metric_source"} if own else set()
    yield from (name for name in names if not _same_value(made.get(name), manifest.get(name)))


def _same_value(made: object, stated: object) -> bool:
    """Whether a statement is the one that was made again; numbers as another library computes them."""
    if isinstance(made, Mapping) and isinstance(stated, Mapping):
        return [*made] == [*stated] and all(_same_value(made[name], stated[name]) for name in made)
    if isinstance(made, list | tuple) and isinstance(stated, list):
        return len(made) == len(stated) and all(map(_same_value, made, stated))
    if isinstance(made, float) and _number(stated):
        return math.isclose(made, float(stated), rel_tol=_TAIL_SLACK)  # type: ignore[arg-type]
    return type(made) is type(stated) and made == stated


def _wrong_of_labels(manifest: Mapping[str, Any], votes: Votes | None) -> Iterator[str]:
    """What is stated of labels, as far as it follows from the bound and the votes; see `_remade` for another law."""
    shared = manifest.get("outcomes_of_label", {})
    if not prints_labels(manifest):
        facts = ("probability_kept", "probability_kept_is", "outcomes_of_label")
        yield from (name for name in facts if name in manifest)
        return
    if votes is None:
        yield from (name for name in ("probability_kept", "probability_kept_is") if name not in manifest)
        return
    kept = published(fidelity(float(manifest["bound"]), votes.outcomes))
    if not math.isclose(kept, manifest["probability_kept"], abs_tol=1e-9):
        yield "probability_kept"
    is_what = OF_ONE if shared else UPPER if votes.soft else EXACT
    if manifest["probability_kept_is"] != is_what:
        yield "probability_kept_is"
    if sum(shared.values()) > votes.outcomes:
        yield "outcomes_of_label"


def _wrong_of_summary(manifest: Mapping[str, Any]) -> Iterator[str]:
    """The same of a summary: all of its promise follows from epsilon, c, the shares and the strata."""
    if lacking := [name for name in _OF_SUMMARIES if name not in manifest and name != "passages"]:
        yield from lacking
        return
    for name, table in manifest["tables"].items():
        if table["noise"] != NOISE or not (_fraction(table["epsilon"]) and _fraction(table["scale"])):
            yield f"table of {name}"
            return
    epsilon, c = Fraction(manifest["epsilon_exactly"]), manifest["documents_per_author"]
    if not _count(1)(c) or epsilon <= 0:
        yield "documents_per_author" if epsilon > 0 else "epsilon_exactly"
        return
    always = {
        "epsilon": _as_written(epsilon), "epsilon_added_or_left_out": _as_written(epsilon / 2), "delta": 0,
        "unit": "author", "level": "author", "neighbours": "replace", "evidence": "proven",
    }  # fmt: skip
    yield from (name for name, value in always.items() if not _one_of(value)(manifest[name]))
    parts = {name: Fraction(table["epsilon"]) for name, table in manifest["tables"].items()}
    shares = manifest["shares"]
    if [*shares] != [*parts] or not all(
        _one_of(_as_written(part / epsilon))(shares[name]) for name, part in parts.items()
    ):
        yield "shares"
    by = Strata(tuple(Field(name, (*values,)) for name, (*values, _) in manifest["strata"].items()))
    if {field.name: [*field.labels] for field in by.fields} != manifest["strata"]:
        yield "strata"
    strata = by.size
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
    if manifest["promise"] != promised(manifest):
        yield "promise"
    public = public_words(manifest)
    if isinstance(public, Reference):
        stated = {
            **facts_of(public),
            **({"passages": SOURCE} if quotes(public) and "themes" in parts else {}),
        }
        names = (*facts_of(public), "passages")
        yield from (name for name in names if manifest.get(name) != stated.get(name))


def _as_written(number: Fraction) -> float:
    """The number as a summary states it: whole, or the float that is nearest."""
    return int(number) if number.denominator == 1 else float(number)


def _remade(manifest: Mapping[str, Any]) -> Plan | None:
    """What the release was drawn by, where all that it takes stands in the manifest or is stored here.

    None for a mechanism or a metric of somebody's own, which nobody runs to read a manifest, and for a mechanism that
    would have to be computed over the whole vocabulary first.
    """
    if (
        not is_ours(manifest["mechanism"])
        or "metric_source" in manifest
        or manifest["metric"].startswith(PYTHON)
    ):
        return None
    if manifest["kind"] == DECLARED_VALUE:
        return _plan(manifest, None, None)
    manifest = {**manifest, **_own_list(manifest)}
    words = manifest.get("reference") is None
    if public_words(manifest) is None:
        return None
    if words and prepares(manifest["mechanism"]):
        return _remade_from_stored(manifest)
    try:
        return _plan(manifest, None, None)
    except (PubliusError, OSError):
        if words:
            raise
        return None


def _remade_from_stored(manifest: Mapping[str, Any]) -> Plan | None:
    """The same where the certificate of the mechanism is stored here, or is that of a few words.

    None with weights of words, which no manifest holds, and at a scale that somebody named: what is stored is what
    follows from epsilon.
    """
    given = manifest["mechanism_parameters"]
    if "prior_sha256" in given:
        return None
    parameters = {name: value for name, value in given.items() if name != "scale"}
    try:
        with only_stored():
            plan = _plan({**manifest, "mechanism_parameters": parameters}, None, None)
    except (PolicyError, NotStoredError):
        return None
    scale = plan.mechanism.parameters.get("scale")
    return plan if scale is None or _same_value(scale, given.get("scale")) else None


def outcomes_of(manifest: Mapping[str, Any]) -> list[PublicOutcome] | None:
    """The public outcomes that rows can name; None where nobody can tell here.

    `DataError` where the manifest is damaged.
    """
    if manifest["kind"] == SUMMARY:
        return None
    try:
        plan = _remade(manifest)
    except (KeyError, TypeError, ValueError, AttributeError, ArithmeticError, UsageError):
        raise DataError(f"the manifest is damaged, or of another version: {_ANEW}") from None
    return None if plan is None or plan.mechanism.probability_kept is None else plan.mechanism.outcomes


def _holds(crowd: CrowdGuarantee, manifest: Mapping[str, Any], votes: Votes | None) -> bool:
    """Whether a crowd of so many rows promises each author what is stated."""
    if crowd.documents != manifest["documents"] or manifest["labels"] or not 0 < crowd.delta <= LARGEST_DELTA:
        return False
    if votes is None or manifest.get("numbers") != SHUFFLED:  # rows that can be told apart are no crowd
        return False
    found = Crowd(float(manifest["bound"]), votes.outcomes, crowd.documents)
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
    check_known(manifest, "give it a name with an entry point, see docs/how-to/add-a-mechanism.md")
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
        stop_words=manifest["stop_words"], order=bool(manifest["ordered"]), keep_between=manifest.get("kept_between"),
    )  # fmt: skip
    return Plan.of(settings, remade(manifest, embeddings, reference), labels=manifest["labels"])


def _own_list(manifest: Mapping[str, Any]) -> dict[str, Any]:
    """What a manifest says of a list of stop words that is somebody's own, and lies in no release.

    It is compared with nothing; all else that is stated rests on no such list.
    """
    return {"stop_words": "none", "stop_words_sha256": ""} if manifest["stop_words"] == OWN_LIST else {}
