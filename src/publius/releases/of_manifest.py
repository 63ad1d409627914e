"""The plan behind a finished release, made again from its manifest, so that more can be said of it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from publius.errors import DataError, PolicyError, UsageError
from publius.mechanisms.registry import remade
from publius.releases.plan import Plan
from publius.settings import ReleaseSettings

_SAME: Final = (
    "vocabulary_sha256", "reference_sha256", "stop_words_sha256", "tokenizer", "size", "epsilon", "bound", "metric",
    "mechanism_parameters", "unknown",
)  # fmt: skip


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
