"""Whether an author is in a summary: attacked by somebody who knows everything else.

The adversary knows all documents of all other authors, and two worlds: in one the author wrote his documents, in the
other somebody's documents stand in their place. He is shown a summary of one of them, each equally likely, and names
the likelier one by the exact law of the noise (Neyman and Pearson: nobody does better). Under epsilon he is right with
a probability of at most e^epsilon / (1 + e^epsilon), whatever the documents.
"""

from __future__ import annotations

import math
import re
from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any, Final, final

import numpy as np

from publius.arrays import IndexArray
from publius.collections.contributions import Contributions
from publius.collections.strata import Field, Strata
from publius.errors import DataError
from publius.evaluation.statistics import clopper_pearson
from publius.files.progress import Advance
from publius.noise.randomness import Generator, RunKey, system_rng
from publius.releases.manifests import read_manifest_of
from publius.releases.summaries.said import Told
from publius.releases.summaries.summary import Seen, Summary

_Tables = dict[str, dict[tuple[int, ...], int]]

ATTACKS: Final = 500
_MONTH: Final = re.compile(r"\d{4}-(0[1-9]|1[0-2])")
_TRIED: Final = 20
"""Of so many other authors' documents those that differ most are what stands in the other world."""


@final
@dataclass(frozen=True, slots=True)
class Membership:
    """How often the adversary was right.

    Attributes:
        attacks: how many summaries he was shown, each of another draw.
        success: the share that he named rightly; one half is a coin.
        low, high: its 95 % interval.
        bound: what it can be at most, e^epsilon / (1 + e^epsilon).
        authors: among whom the attacked ones were chosen.
    """

    attacks: int
    success: float
    low: float
    high: float
    bound: float
    authors: int

    @property
    def holds(self) -> bool:
        """Whether the measurement is compatible with the bound."""
        return self.low <= self.bound

    @property
    def sentence(self) -> str:
        """The result beside the bound."""
        return (
            f"Who knows all other authors' documents and both worlds is right in {self.success:.3f} of "
            f"{self.attacks:,} attacks ({self.low:.3f} to {self.high:.3f}); under this promise it can be "
            f"{self.bound:.4f} at most, and a coin has 0.5."
        )


def membership(
    summary: Summary,
    rows: Iterable[Mapping[str, object]],
    *,
    attacks: int = ATTACKS,
    rng: Generator | None = None,
    progress: Advance = lambda done: None,
) -> Membership:
    """Attack authors of ``rows`` at random, each in a summary of its own draw.

    `DataError` for fewer than two, and where no row has a text.
    """
    rng = system_rng() if rng is None else rng
    cells = _contributed(summary, rows)
    if len(cells) < 2:
        raise DataError(
            f"to attack an author there must be two at least in the field {summary.author_field!r}: name another with "
            "--author-field"
        )
    tables = [_tables(summary, each) for each in cells]
    everybody = np.concatenate(cells)
    whole = _tables(summary, everybody)
    starts = np.concatenate([[0], np.cumsum([len(each) for each in cells])])
    right = 0
    for _ in range(attacks):
        one = int(rng.integers(len(cells)))
        others = [place for place in rng.permutation(len(cells))[: _TRIED + 1].tolist() if place != one]
        other = max(others, key=lambda place: _apart(tables[one], tables[place]))
        in_his_place = bool(rng.integers(2))
        rest = np.concatenate([everybody[: starts[one]], everybody[starts[one + 1] :]])
        told = summary.draw(np.concatenate([rest, cells[other if in_his_place else one]]))
        score = _evidence(summary, told, whole, tables[one], tables[other])
        guess = bool(rng.integers(2)) if score == 0 else score > 0
        right += guess == in_his_place
        progress(1)
    interval = clopper_pearson(right, attacks)
    bound = 1 / (1 + math.exp(-float(summary.epsilon)))
    return Membership(attacks, right / attacks, interval.low, interval.high, bound, len(cells))


def _contributed(summary: Summary, rows: Iterable[Mapping[str, object]]) -> list[IndexArray]:
    """The cells of each author's contributed documents."""
    by_author: defaultdict[str, list[tuple[str, str, int]]] = defaultdict(list)
    seen = Seen()
    for some in summary.read(summary.rows(rows), seen):
        for written in some:
            by_author[written[0]].append(written)
    if 0 < seen.documents - seen.without_author == seen.unreadable:
        raise DataError(
            f"no row has a text that can be read in its field {summary.text_field!r}: name the field with --text-field"
        )
    key, found = RunKey.fresh(), []
    for own in by_author.values():
        contributions = Contributions(key, summary.documents_per_author)
        summary.contribute(own, contributions)
        found.append(contributions.cells)
    return found


def _tables(summary: Summary, cells: IndexArray) -> _Tables:
    """How many documents each table has in each cell that has some."""
    strata, themes, subjects = (each.tolist() for each in np.unravel_index(cells, summary.counting.shape))
    places: dict[str, list[tuple[int, ...]]] = {
        "totals": [(each,) for each in strata],
        "themes": list(zip(strata, themes, strict=True)),
        "subjects": [(each,) for each in subjects],
    }
    found: _Tables = {}
    for name in summary.shares.parts:
        counts: defaultdict[tuple[int, ...], int] = defaultdict(int)
        for place in places[name]:
            counts[place] += 1
        found[name] = dict(counts)
    return found


def _apart(one: _Tables, other: _Tables) -> int:
    """In how many documents the tables of two authors differ."""
    return sum(
        abs(one[name].get(cell, 0) - other[name].get(cell, 0))
        for name in one
        for cell in {*one[name], *other[name]}
    )


def _evidence(summary: Summary, told: Told, whole: _Tables, one: _Tables, other: _Tables) -> float:
    """Ln of how much likelier the tables are with the documents of ``other`` in the place of those of ``one``."""
    score = Fraction(0)
    for name in summary.shares.parts:
        values = getattr(told, name).values
        scale = summary.noise(name).scale
        for cell in {*one[name], *other[name]}:
            with_him = whole[name].get(cell, 0)
            without = with_him - one[name].get(cell, 0) + other[name].get(cell, 0)
            value = int(values[cell])
            score += (abs(value - with_him) - abs(value - without)) / scale
    return float(score)


def of_release(folder: Path, **fields: Any) -> Summary:
    """The `Summary` that a released one was made with, by its manifest; ``fields`` name the text, and other authors."""
    manifest = read_manifest_of(folder)
    by = Strata(tuple(_field(name, labels[:-1]) for name, labels in manifest["strata"].items()))
    shares = {name: Fraction(table["epsilon"]) for name, table in manifest["tables"].items()}
    epsilon = Fraction(manifest["epsilon_exactly"])
    summary = Summary(
        manifest["reference"], epsilon, manifest["documents_per_author"], by,
        {name: share / epsilon for name, share in shares.items()},
        **{"author_field": manifest["author_field"], **fields},
    )  # fmt: skip
    stated = manifest["vocabulary_sha256"], manifest["subjects_sha256"]
    if (summary.spaces.themes_sha256, summary.spaces.subjects_sha256) != stated:
        raise DataError(
            "the reference of this name, or the word vectors, are not those that the summary was made with: store them "
            "under the same name"
        )
    return summary


def _field(name: str, values: list[str]) -> Field:
    """A field as it was declared: months alone make a monthly one."""
    return Field(name, tuple(values), monthly=all(_MONTH.fullmatch(each) for each in values))
