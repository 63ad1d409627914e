"""The evaluation of what a release did: every choice from its manifest, and no other setting judged in its place."""

from __future__ import annotations

import math
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from publius.distances.metrics import definition_of
from publius.errors import PolicyError, UsageError
from publius.evaluation.experiment import Cell, Setting
from publius.evaluation.protectors import AbstractProtector
from publius.evaluation.runner import EvaluationRequest
from publius.files import shown
from publius.files.user_code import PYTHON
from publius.mechanisms.outside import origin
from publius.mechanisms.registry import parameters_of
from publius.releases.manifests import check_known, place_in, read_manifest_of
from publius.releases.plan import SHUFFLED
from publius.text.tokenizer import StopWords

_FLAGS: Final = {
    "mechanisms": "--mechanism",
    "epsilons": "--epsilon",
    "bounds": "--bound",
    "parameters": "a parameter of the mechanism",
}
_READ: Final = {
    False: {each: each for each in ("metric", "embeddings", "unknown", "stop_words")},
    True: {"reference": "reference", "preserve": "preserve", "first": "first", "document_unknown": "unknown"},
}
"""How texts are read, without and with a reference: options of an evaluation, and their names in a manifest."""
_CHECKED_BY_DIGEST: Final = ("embeddings", "reference", "stop_words")
"""What may have another name here than where the release was made."""


def choices_of(release: Path, given: Mapping[str, Any]) -> dict[str, Any]:
    """The settings of an evaluation of the release in a folder; ``given`` are those that the user named himself.

    Raises `UsageError` where one of them differs from what the release was made with, `PolicyError` for a release that
    an evaluation of bags says nothing about, `DataError` for a folder that is no release.
    """
    manifest = read_manifest_of(release)
    if (place := place_in(manifest)) in given.get("mechanisms", ()):
        manifest["mechanism"] = place
    else:
        check_known(manifest, "where you know it, give --mechanism {place}")
    choices = choices_from(manifest, shown(release))
    _check_named(choices.get("metric"), given.get("metric"), release)
    for name, value in given.items():
        if name in choices and not _agrees(choices[name], value) and name not in _CHECKED_BY_DIGEST:
            flag = _FLAGS.get(name, "--" + name.replace("_", "-"))
            raise UsageError(
                f"{flag} asks for another setting than that of the release in {shown(release)} "
                f"({_said(choices[name])}): what holds for one says nothing about the other. Leave the option out, or "
                "leave out --release"
            )
    kept = {name: given[name] for name in _CHECKED_BY_DIGEST if name in given}
    return {**choices, **kept}


def _check_named(stated: object, named: object, release: Path) -> None:
    """`UsageError` for a metric to import, unless the user ``named`` it, too."""
    if str(stated).startswith(PYTHON) and stated != named:
        raise UsageError(
            f"the release in {shown(release)} was made in the metric {stated!s:.200}, and code that only a file names "
            f"is not imported: where you know it, give --metric {stated!s:.200}"
        )


def choices_from(manifest: Mapping[str, Any], what: str = "the plan") -> dict[str, Any]:
    """The same from a manifest: that of ``what``, a release or one that is only planned."""
    check_kind(manifest, what)
    bound = manifest.get("bound")
    strength = {"epsilons": (float(manifest["epsilon"]),)} if bound is None else {"bounds": (float(bound),)}
    parameters = dict(manifest["mechanism_parameters"])
    if "none_of_these" in parameters_of(manifest["mechanism"]):
        parameters.setdefault("none_of_these", False)  # releases of before 0.3 had no such outcome
    return {
        "mechanisms": (manifest["mechanism"],),
        "epsilons": (),
        "bounds": (),
        **strength,
        **{choice: manifest[name] for choice, name in _READ[manifest.get("reference") is not None].items()},
        "length": manifest["size"],
        "parameters": parameters,
    }


def aside_of(release: Path) -> str | None:
    """Fields and ids of the rows that no attack on bags is given, in words; None where there are none."""
    manifest = read_manifest_of(release)
    kept = ", ".join(manifest.get("labels", ()))
    found = [
        *([f"the kept columns ({kept})"] if kept else []),
        *([] if manifest.get("numbers") == SHUFFLED else ["the ids or the order of the rows"]),
    ]
    return " and ".join(found) or None


def _agrees(made_with: Any, named: Any) -> bool:
    """Of several parameters it is enough that those that are named are the release's."""
    if isinstance(made_with, dict):
        return bool(named.items() <= made_with.items())
    return bool(made_with == named)


def _said(value: Any) -> str:
    return ", ".join(map(str, value)) if isinstance(value, tuple) else str(value)


def check_kind(manifest: Mapping[str, Any], what: str) -> None:
    """`PolicyError` for ordered text: no evaluation of bags says anything about it."""
    if manifest.get("ordered"):
        raise PolicyError(
            f"{what} holds ordered text, and the adversaries here see bags: the evaluation would flatter it"
        )


def check_same(release: Path, request: EvaluationRequest, setting: Setting) -> None:
    """That what is evaluated is what the manifest states; `UsageError` where vectors or anything else differ."""
    manifest = read_manifest_of(release)
    cell = next(cell for cell in request.cells() if cell.mechanism in request.names)
    _check_code(manifest, setting.protector(cell), release)
    differing = sorted(_differing(manifest, request, setting, cell))
    if differing:
        raise UsageError(
            f"what is at hand is not what the release in {shown(release)} was made with ({', '.join(differing)} "
            "differ): give the same vectors (--embeddings) or reference (--reference)"
        )


def _check_code(manifest: Mapping[str, Any], protector: AbstractProtector, release: Path) -> None:
    """The same of the code of a class or a metric from outside."""
    mechanism, kernel = protector.mechanism, protector.kernel
    found = {
        "mechanism": None if mechanism is None else origin(mechanism.implementation),
        "metric": None if kernel is None else origin(definition_of(kernel.metric)),
    }
    for what, source in found.items():
        if (source or {}).get("sha256") != (manifest.get(f"{what}_source") or {}).get("sha256"):
            raise UsageError(
                f"the release in {shown(release)} was made with other code of the {what} {manifest[what]:.80} than is "
                "installed here: install that, or make the release anew"
            )


def _differing(
    manifest: Mapping[str, Any], request: EvaluationRequest, setting: Setting, cell: Cell
) -> list[str]:
    protector = setting.protector(cell)
    mechanism, stops = (
        protector.mechanism,
        getattr(setting.reading(cell.mechanism).public, "stop_words", None),
    )
    if mechanism is None:
        return []
    found = {
        "mechanism_parameters": mechanism.parameters,
        "vocabulary_sha256": mechanism.vocabulary.sha256,
        "stop_words_sha256": StopWords.load(stops or request.stop_words).sha256,
        "size": mechanism.length,
        "epsilon": mechanism.guarantee.epsilon,
        "bound": mechanism.guarantee.bound,
    }
    return [name for name, value in found.items() if not _same(manifest.get(name), value)]


def _same(stated: Any, found: Any) -> bool:
    """Equal, but for the last digits of a strength that was computed from another: epsilon from a bound, say."""
    if isinstance(stated, float) and isinstance(found, float):
        return math.isclose(stated, found, rel_tol=1e-12)
    return bool(stated == found)
