"""The public references that documents can be released with: each opened once, by its stored name only."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, final

from publius.errors import PubliusError, UsageError
from publius.vectors.catalogue import package_installed
from publius.vectors.learning import themes
from publius.vectors.learning.reference import (
    Reference,
    read_reference_record,
    references_root,
    stored_reference_names,
)
from publius.web.mechanism_cache import Cache

_KEPT: Final = 4


@final
class ReferenceCache:
    """The stored references and ``themes``. Safe in threads."""

    def __init__(self) -> None:
        """Nothing is opened yet."""
        self._opened = Cache(_KEPT)

    def get(self, name: str) -> Reference:
        """The reference stored under ``name``; `UsageError`, without the name, when there is none: never a path."""
        known = _names()
        if name not in known:
            raise UsageError(
                f"no reference of this name is stored here: known are {', '.join(known) or 'none'}; make one from "
                "public texts with: publius reference fit PUBLIC --label topic --name NAME"
            )
        return self._opened.get(stored_now(name), lambda: Reference.load(name))

    def is_ready(self, name: str) -> bool:
        """Whether it is open already."""
        try:
            return name in _names() and stored_now(name) in self._opened
        except PubliusError:
            return False

    def listing(self) -> list[dict[str, Any]]:
        """The references: aspects, size and origin of each; the user's own first."""
        return [self._entry(name) for name in _names()]

    def _entry(self, name: str) -> dict[str, Any]:
        entry = {"name": name, "ready": self.is_ready(name), "made": True, "fault": None}
        if name == themes.NAME:
            return {**entry, **_themes(), "made": themes.is_made()}
        try:
            return {**entry, **_recorded(read_reference_record(references_root() / name))}
        except (PubliusError, KeyError, TypeError, ValueError):
            fault = f"damaged: see publius reference verify {name}"
            return {**entry, "size": 0, "sha256": None, "keeps": {}, "learned_from": "", "fault": fault}


def stored_now(name: str) -> tuple[str, str]:
    """The name and the digest of what is stored under it now: another reference may be, after one was removed."""
    if name == themes.NAME:
        return name, ""
    return name, str(read_reference_record(references_root() / name).get("sha256"))


def _names() -> list[str]:
    own = [name for name in stored_reference_names() if name != themes.NAME]
    return [*own, themes.NAME] if package_installed() else own


def _themes() -> dict[str, Any]:
    keeps = {
        aspect: {"features": "embedding", "prototypes": list(sizes)} for aspect, sizes in themes.SIZES.items()
    }
    learned = "frequent words of the packaged vectors, clustered: for trying things, without texts of yours"
    return {"size": themes.WORDS, "sha256": None, "keeps": keeps, "learned_from": learned}


def _recorded(record: Mapping[str, Any]) -> dict[str, Any]:
    keeps = {
        str(aspect["name"]): {
            "features": str(aspect["kind"]),
            "prototypes": [int(found["size"]) for found in aspect["sets"]],
        }
        for aspect in record["aspects"]
    }
    facts = {"size": int(record["size"]), "sha256": str(record["sha256"]), "keeps": keeps}
    return {**facts, "learned_from": _provenance(record["source"])}


def _provenance(source: Mapping[str, Any]) -> str:
    """The origin of a reference, in short."""
    documents, topics = int(source.get("documents", 0)), len(source.get("topics") or ())
    kinds = f" on {topics:,} topics" if topics else ""
    corpus = f" of {source['corpus']}" if source.get("corpus") else ""
    return f"{documents:,} public documents{kinds}{corpus}" if documents else "public texts"
