"""An earlier summary, opened to compare with: its raw noisy counts, of the same themes or the same subjects."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from publius.collections.novelty import Sample
from publius.errors import DataError, PolicyError, UsageError
from publius.files import shown
from publius.noise.discrete_laplace import LaplaceSum
from publius.releases.contents import SUMMARY, check_contents
from publius.releases.manifests import read_manifest_of
from publius.releases.of_manifest import check_statements
from publius.releases.summaries.drawn import Drawn
from publius.releases.summaries.said import Earlier
from publius.releases.summaries.summary import Summary


def open_earlier(folder: Path, summary: Summary) -> Earlier:
    """The themes and subjects of an earlier summary in ``folder`` that ``summary`` counts in, too.

    `UsageError` where it is no summary, of other themes and other subjects, or counts another number of documents of an
    author; `PolicyError` for one that is not
    private; `DataError` where it is damaged.
    """
    manifest = read_manifest_of(folder)
    if manifest.get("kind") != SUMMARY:
        raise UsageError(f"{shown(folder)} is no summary: name the folder of an earlier one to compare with")
    if manifest["private"] is not True:
        raise PolicyError(f"{shown(folder)} is NOT PRIVATE: it is nothing to compare with in a release")
    check_statements(manifest)
    if (most := manifest["documents_per_author"]) != summary.documents_per_author:
        raise UsageError(
            f"{shown(folder)} counts at most {most} of an author's documents and this summary will "
            f"{summary.documents_per_author}: who writes much writes of something else, so that shares would differ "
            "without any change. Take the same --documents-per-author, or leave out --compare"
        )
    check_contents(folder, manifest)
    try:
        themes = subjects = None
        drawn = Drawn.read(folder, manifest, _product(manifest["strata"]))
        if _same(manifest, summary, "themes", "vocabulary_sha256", summary.spaces.themes_sha256):
            table, found = drawn.themes, drawn.of_themes
            if table is not None and found is not None:
                noise = LaplaceSum(table.noise, len(table.values))
                themes = Sample(found[0][: summary.spaces.themes.size], drawn.documents, noise, most)
        if _same(manifest, summary, "subjects", "subjects_sha256", summary.spaces.subjects_sha256):
            table, found = drawn.subjects, drawn.of_subjects
            if table is not None and found is not None:
                subjects = Sample(
                    found[0][: summary.spaces.subjects.size], drawn.documents, table.noise, most
                )
    except (LookupError, ValueError, TypeError, ArithmeticError):
        raise DataError(f"{shown(folder)} is damaged, or of another version") from None
    if themes is None and subjects is None:
        raise UsageError(
            f"{shown(folder)} counts in other themes and other subjects than this summary will: take the same "
            "reference and word vectors, or leave out --compare"
        )
    return Earlier(themes, subjects, f"an earlier summary (epsilon {manifest['epsilon']:g})")


def _same(manifest: Mapping[str, Any], summary: Summary, what: Any, key: str, own: str) -> bool:
    return summary.has(what) and what in manifest["tables"] and manifest[key] == own


def _product(strata: Mapping[str, Any]) -> int:
    size = 1
    for labels in strata.values():
        size *= len(labels)
    return size
