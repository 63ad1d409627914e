"""Before and after on public texts."""

from __future__ import annotations

from dataclasses import dataclass, field
from statistics import median
from typing import Final, final

from publius.documents.corpus import Document
from publius.evaluation.steps.older import PublicCorpus, Row
from publius.evaluation.steps.walk import Walk
from publius.releases.plan import Plan
from publius.releases.protect import protect
from publius.releases.release import Release

BEFORE: Final = 30
"""Words of a text that are shown."""

AFTER: Final = 12
"""Words of a bag that are shown, the most frequent first."""


@final
@dataclass(frozen=True, slots=True)
class Example:
    """A public text and one draw of what would be released instead of it.

    ``before`` is its beginning, ``after`` the most frequent words of the bag with their counts, ``label`` what the
    public prototype that stands for it is called, where one does.
    """

    before: str = field(repr=False)
    words: int
    after: tuple[tuple[str, int], ...] = field(repr=False)
    size: int
    label: str | None


def examples(walk: Walk, plan: Plan, count: int = 2) -> list[Example]:
    """Some of the *public* texts of middling length, of different topics where there are such, before and after."""
    chosen = [] if walk.older is None else _chosen(walk.older, count)
    documents = [Document(row["id"], row["text"], {}, place) for place, row in enumerate(chosen, start=1)]
    drawn, _ = protect(documents, plan, plan.run_key())
    return [
        _example(document.text, release)
        for document, release in zip(documents, drawn, strict=True)
        if isinstance(release, Release)
    ]


def _chosen(older: PublicCorpus, count: int) -> list[Row]:
    middle = median(len(row["text"].split()) for row in older.attacked)
    found: dict[str, Row] = {}
    for row in sorted(older.attacked, key=lambda row: abs(len(row["text"].split()) - middle)):
        found.setdefault(row.get("topic", str(len(found))), row)
        if len(found) == count:
            break
    return list(found.values())


def _example(text: str, release: Release) -> Example:
    words = text.split()
    often = sorted(release.bag.counts.items(), key=lambda item: (-item[1], item[0]))
    more = " ..." if len(words) > BEFORE else ""
    return Example(
        " ".join(words[:BEFORE]) + more, len(words), tuple(often[:AFTER]), release.bag.size, release.label
    )
