"""Whether a release, and what was measured on it, are still those that a page was made for."""

from __future__ import annotations

import html
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from publius.errors import DataError
from publius.files import shown
from publius.releases.contents import RECEIVERS
from publius.releases.digests import file_digest, file_digests, opened
from publius.releases.manifests import read_manifest_of
from publius.releases.metadata import METADATA
from publius.releases.of_manifest import is_own
from publius.releases.page_parts import references
from publius.releases.plan import publius_version
from publius.releases.signoff import check_own


def verify(
    release: Path, page: Path, evaluation: Path | None = None, texts: Path | None = None
) -> dict[str, Any]:
    """The record of a sign-off whose text, release and (where given) evaluation and texts are those it was made for.

    What this version wrote is compared with its manifest as for a new sign-off. Of another version's only the bytes
    are: `not_bound` says what that leaves open. Raises `DataError` that says what differs.
    """
    text, record = opened(page)
    bound_files = record.get("release")
    named = bound_files if isinstance(bound_files, dict) else {}
    # Metadata of this version are made anew and compared. A page for receivers that nobody signed for is anybody's, but
    # where it is the page that is looked at: it binds what lay there before it.
    beside = (
        *(METADATA if _is_of_this_version(release) else ()),
        *(RECEIVERS if page.absolute().parent == release.absolute() else ()),
    )
    lying = {
        name: digest for name, digest in file_digests(release).items() if name in named or name not in beside
    }
    _compare("the release", bound_files, lying)
    manifest = read_manifest_of(release)
    if is_own(manifest):
        check_own(release, manifest)
    elif is_own(record):
        raise DataError(
            f"{shown(page)} names {publius_version()} of Publius, which signs for no release of another version: it is "
            "no sign-off of this release"
        )
    said = record.get("promise")
    if said != manifest["promise"] or not isinstance(said, str) or html.escape(said) not in _plain(text):
        raise DataError(
            f"{shown(page)} states another promise than the release makes: make the sign-off anew"
        )
    if record.get("reference") != references(manifest):
        raise DataError(f"{shown(page)} names another reference than the release: make the sign-off anew")
    if evaluation is not None:
        if record.get("evaluation") is None:
            raise DataError(f"{shown(page)} was made without an evaluation: make the sign-off anew with it")
        _compare("the evaluation", record["evaluation"], file_digests(evaluation))
    if texts is not None:
        bound = record.get("texts")
        if not isinstance(bound, dict):
            raise DataError(f"{shown(page)} names no written texts: make the sign-off anew with them")
        if bound.get("sha256") != file_digest(texts):
            raise DataError(f"{shown(texts)} does not hold the texts that were signed for")
    return record


def _is_of_this_version(release: Path) -> bool:
    """Whether the manifest says so; one that cannot be read is compared with what was signed."""
    try:
        return is_own(read_manifest_of(release))
    except DataError:
        return False


def not_bound(record: Mapping[str, Any]) -> str | None:
    """What a sign-off of another version leaves open, in words; None for one of this version."""
    if is_own(record):
        return None
    return (
        f"It names version {record.get('publius_version')!r:.20} of Publius. Only bytes were compared: whether promise "
        "and rows follow from the manifest was not, and up to 0.2 nobody did when it was signed. Anybody can write "
        "such a page for any folder: believe it only if the digest that stands on it is the one on the paper that was "
        "signed."
    )


def _plain(page: str) -> str:
    """The page with the one way of writing quotes that `html.escape` has."""
    return page.replace("&#34;", "&quot;").replace("&#39;", "&#x27;")


def _compare(what: str, bound: object, found: Mapping[str, str]) -> None:
    if not isinstance(bound, dict):
        raise DataError(f"the sign-off binds no files of {what}: make it anew")
    missing, added = sorted(bound.keys() - found.keys()), sorted(found.keys() - bound.keys())
    changed = sorted(name for name in bound.keys() & found.keys() if bound[name] != found[name])
    if missing or added or changed:
        parts = (("missing", missing), ("added", added), ("changed", changed))
        said = "; ".join(f"{word}: {', '.join(map(repr, names[:5]))}" for word, names in parts if names)
        raise DataError(f"{what} is not the one that was signed for ({said})")
