"""The evaluation of what a release did: every choice from its manifest, and no other setting judged in its place."""

from __future__ import annotations

import math
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from publius.errors import PolicyError, UsageError
from publius.evaluation.document_protector import DocumentProtector
from publius.evaluation.experiment import Cell, Setting
from publius.evaluation.protectors import WordProtector
from publius.evaluation.runner import Request
from publius.files import shown
from publius.releases.signoff import read_manifest_of
from publius.text.tokenizer import StopWords

_FLAGS: Final = {
    "mechanisms": "--mechanism",
    "epsilons": "--epsilon",
    "bounds": "--bound",
    "parameters": "a parameter of the mechanism",
}
_CHECKED_BY_DIGEST: Final = ("embeddings", "reference", "stop_words")
"""What may have another name here than where the release was made."""


def choices_of(release: Path, given: Mapping[str, Any]) -> dict[str, Any]:
    """The settings of an evaluation of the release in a folder; ``given`` are those that the user named himself.

    Raises `UsageError` where one of them differs from what the release was made with, `PolicyError` for a release that
    an evaluation of bags says nothing about, `DataError` for a folder that is no release.
    """
    choices = choices_from(read_manifest_of(release), shown(release))
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


def choices_from(manifest: Mapping[str, Any], what: str = "the plan") -> dict[str, Any]:
    """The same from a manifest: that of ``what``, a release or one that is only planned."""
    _check_kind(manifest, what)
    return _documents(manifest) if manifest.get("level") == "document" else _words(manifest)


def _agrees(made_with: Any, named: Any) -> bool:
    """Of several parameters it is enough that those that are named are the release's."""
    if isinstance(made_with, dict):
        return bool(named.items() <= made_with.items())
    return bool(made_with == named)


def _said(value: Any) -> str:
    return ", ".join(map(str, value)) if isinstance(value, tuple) else str(value)


def _check_kind(manifest: Mapping[str, Any], what: str) -> None:
    if manifest.get("ordered"):
        raise PolicyError(
            f"{what} holds ordered text, and the adversaries here see bags: the evaluation would flatter it"
        )


def _words(manifest: Mapping[str, Any]) -> dict[str, Any]:
    parameters = dict(manifest["mechanism_parameters"])
    return {
        "mechanisms": (manifest["mechanism"],),
        "epsilons": (float(manifest["epsilon"]),),
        "bounds": (),
        "metric": manifest["metric"],
        "embeddings": manifest["embeddings"],
        "length": manifest["size"],
        "unknown": manifest["unknown"],
        "stop_words": manifest["stop_words"],
        "parameters": parameters,
    }


def _documents(manifest: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "mechanisms": (manifest["mechanism"],),
        "epsilons": (),
        "bounds": (float(manifest["bound"]),),
        "reference": manifest["reference"],
        "preserve": manifest["preserve"],
        "first": manifest["first"],
        "document_unknown": manifest["unknown"],
        "length": manifest["size"],
        "parameters": dict(manifest["mechanism_parameters"]),
    }


def check_same(release: Path, request: Request, setting: Setting) -> None:
    """That what is evaluated is what the manifest states; `UsageError` where vectors or anything else differ."""
    manifest = read_manifest_of(release)
    cell = next(cell for cell in request.cells() if cell.mechanism in request.mechanisms)
    differing = sorted(_differing(manifest, request, setting, cell))
    if differing:
        raise UsageError(
            f"what is at hand is not what the release in {shown(release)} was made with ({', '.join(differing)} "
            "differ): give the same vectors (--embeddings) or reference (--reference)"
        )


def _differing(manifest: Mapping[str, Any], request: Request, setting: Setting, cell: Cell) -> list[str]:
    protector = setting.protector(cell)
    if isinstance(protector, WordProtector):
        mechanism = protector.mechanism
        found = {
            "vocabulary_sha256": mechanism.embeddings.sha256,
            "mechanism_parameters": mechanism.parameters,
            "stop_words_sha256": StopWords.load(request.stop_words).sha256,
            "size": setting.data.size,
            "epsilon": mechanism.guarantee.epsilon,
        }
    elif isinstance(protector, DocumentProtector) and setting.documents is not None:
        found = {
            "mechanism_parameters": protector.document_mechanism.parameters,
            "reference_sha256": setting.documents.reference.sha256,
            "bound": protector.bound,
            "epsilon": protector.epsilon,
            "size": setting.documents.length,
        }
    return [name for name, value in found.items() if not _same(manifest.get(name), value)]


def _same(stated: Any, found: Any) -> bool:
    """Equal, but for the last digits of a strength that was computed from another: epsilon from a bound, say."""
    if isinstance(stated, float) and isinstance(found, float):
        return math.isclose(stated, found, rel_tol=1e-12)
    return bool(stated == found)
