"""An earlier summary, opened to compare with: its raw noisy counts, of the same themes or the same subjects."""

from __future__ import annotations

import csv
import io
from collections.abc import Mapping
from fractions import Fraction
from pathlib import Path
from typing import Any, Final

import numpy as np

from publius.arrays import IndexArray
from publius.collections.novelty import Sample
from publius.errors import DataError, PolicyError, UsageError
from publius.files import read_bytes_limited, shown
from publius.noise.discrete_laplace import DiscreteLaplace, LaplaceSum
from publius.releases.contents import SUMMARY, check_contents
from publius.releases.manifests import read_manifest_of
from publius.releases.of_manifest import check_statements
from publius.releases.summaries.names import SUBJECTS, THEMES
from publius.releases.summaries.said import Earlier
from publius.releases.summaries.summary import Summary
from publius.releases.summaries.written import NUMBER

_LIMIT: Final = 2**28
_LEVEL: Final = 0.99


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
        if _same(manifest, summary, "themes", "vocabulary_sha256", summary.spaces.themes_sha256):
            strata = _product(manifest["strata"])
            noise = LaplaceSum(_noise(manifest, "themes"), strata)
            cells = summary.spaces.themes.size
            themes = _sample(folder / THEMES, noise, cells, manifest)
        if _same(manifest, summary, "subjects", "subjects_sha256", summary.spaces.subjects_sha256):
            cells = summary.spaces.subjects.size
            subjects = _sample(folder / SUBJECTS, _noise(manifest, "subjects"), cells, manifest)
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


def _noise(manifest: Mapping[str, Any], what: str) -> DiscreteLaplace:
    return DiscreteLaplace(Fraction(manifest["tables"][what]["scale"]))


def _sample(
    path: Path, noise: DiscreteLaplace | LaplaceSum, cells: int, manifest: Mapping[str, Any]
) -> Sample:
    """Raw counts by number; how many documents there were lies in limits of their sum."""
    rows = csv.DictReader(io.StringIO(read_bytes_limited(path, _LIMIT).decode()))
    counts: IndexArray = np.zeros(cells, np.int64)
    found = 0
    for found, row in enumerate(rows, start=1):  # noqa: B007
        counts[int(row[NUMBER])] = int(row["noisy"])
    if found != cells:
        raise ValueError
    summed = (
        LaplaceSum(noise, cells)
        if isinstance(noise, DiscreteLaplace)
        else LaplaceSum(noise.noise, noise.terms * cells)
    )
    width, total = summed.half_width(_LEVEL), sum(counts.tolist())
    documents = max(1, total - width), max(1, total + width)
    return Sample(counts, documents, noise, int(manifest["documents_per_author"]))
