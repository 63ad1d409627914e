"""The manifest of a finished release, read from its folder, and whether an evaluation measured its setting."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from publius.errors import DataError, UsageError
from publius.files import json_of, read_bytes_limited, shown
from publius.files.user_code import PYTHON
from publius.mechanisms.registry import described
from publius.releases.contents import MANIFEST, SUMMARY

_MANIFEST_LIMIT: Final = 2**20
_NEEDED: Final = (
    "private", "promise", "kind", "documents", "size", "epsilon", "evidence", "mechanism", "vocabulary_sha256",
    "labels", "delta", "metric", "ordered", "mechanism_parameters",
)  # fmt: skip
_NEEDED_OF_SUMMARIES: Final = (
    "private", "promise", "epsilon", "delta", "unit", "documents_per_author", "shares", "strata", "cells", "tables",
    "author_field", "reference", "vocabulary_sha256", "compared_with", "epsilon_exactly", "files",
)  # fmt: skip


def manifest_bytes(manifest: Mapping[str, Any]) -> bytes:
    """A manifest as it is written."""
    return json.dumps(manifest, indent=2, ensure_ascii=False, allow_nan=False).encode() + b"\n"


def read_manifest_of(release: Path) -> dict[str, Any]:
    """The manifest of a release folder; `DataError` when there is none or it is damaged."""
    path = release / MANIFEST
    if not path.is_file():
        raise DataError(f"{shown(release)} holds no {MANIFEST}: name the folder of a finished release")
    try:
        manifest = json_of(read_bytes_limited(path, _MANIFEST_LIMIT))
    except ValueError:
        manifest = None
    needed = (
        _NEEDED_OF_SUMMARIES if isinstance(manifest, dict) and manifest.get("kind") == SUMMARY else _NEEDED
    )
    if not isinstance(manifest, dict) or any(name not in manifest for name in needed):
        raise DataError(f"{shown(path)} is damaged, or of another version: make the release anew")
    check_no_code(manifest, shown(path))
    return manifest


def check_no_code(manifest: Mapping[str, Any], what: str) -> None:
    """`DataError` where the mechanism of ``what`` is one to import: releases name it, only users say where it lies."""
    if str(manifest.get("mechanism")).startswith(PYTHON):
        raise DataError(
            f"{what} calls its mechanism {manifest['mechanism']!r:.80}, which no release does, and code that only a "
            "file names is not imported: make the release anew"
        )


def place_in(manifest: Mapping[str, Any]) -> str | None:
    """The place of the class from outside that made a release, ``python:MODULE:CLASS``; None for a class of ours."""
    source = manifest.get("mechanism_source")
    if source is None:
        return None
    if not isinstance(source, dict) or not {"module", "class", "sha256"} <= source.keys():
        raise DataError(
            "the manifest's mechanism source is damaged, or of another version: make the release anew"
        )
    return f"{PYTHON}{source['module']}:{source['class']}"


def check_known(manifest: Mapping[str, Any], way_out: str) -> None:
    """`UsageError` with the ``way_out`` where a class made the release that has no name here, only a place."""
    place = place_in(manifest)
    if place is not None and manifest["mechanism"] not in described():
        raise UsageError(
            f"the release was made by the class {place:.200}, and code that only a file names is not imported: "
            f"{way_out.format(place=place)}"
        )


def matching(manifest: Mapping[str, Any], facts: Mapping[str, Any]) -> None:
    """`UsageError` when an evaluation's facts name another setting than a release's manifest where both say."""
    same = (
        "vocabulary_sha256",
        "reference_sha256",
        "size",
        "tokenizer",
        "unknown",
        "stop_words_sha256",
        "preserve",
    )
    differing = [
        name
        for name in same
        if None not in (facts.get(name), manifest.get(name)) and facts[name] != manifest[name]
    ]
    if differing:
        said = "; ".join(
            f"{name.replace('_', ' ')} {_brief(facts[name])} instead of {_brief(manifest[name])}"
            for name in differing
        )
        raise UsageError(
            f"the evaluation measured another setting than the release has ({said}): evaluate the release's own setting"
        )


def _brief(value: object) -> str:
    text = str(value)
    return text if len(text) < 40 else text[:12] + "…"
