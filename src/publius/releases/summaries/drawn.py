"""Raw noisy counts as they were drawn, and the numbers that follow from them alone."""

from __future__ import annotations

import functools
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any, Final, final

import numpy as np

from publius.arrays import Float64Array, IndexArray
from publius.collections.tables import NoisyTable, estimated_totals, reconciled
from publius.files import json_of, read_bytes_limited
from publius.noise.discrete_laplace import DiscreteLaplace
from publius.releases.summaries.names import LEVEL, NOISY

NAMES: Final = "names"
_OF_SIZE: Final = 0.99
"""How sure the size of a collection is, of the 95 % that all of a comparison has together."""
NEW_AT: Final = LEVEL + (1 - _OF_SIZE)
"""How sure what is called new is, the size of the collection once known."""
_LIMIT: Final = 2**30
_LARGEST: Final = 2**53


@final
@dataclass(frozen=True, eq=False)
class Counts:
    """Contributed documents of each cell: cleaned, and between which limits the true number lies."""

    contributed: IndexArray
    low: IndexArray
    high: IndexArray

    @classmethod
    def of(cls, cleaned: IndexArray, limits: tuple[IndexArray, IndexArray]) -> Counts:
        """Limits are moved outwards where cleaning moved a count beyond them: they hold all the more."""
        low, high = limits
        return cls(cleaned, np.minimum(low, cleaned), np.maximum(high, cleaned))


@final
@dataclass(frozen=True, eq=False)
class Drawn:
    """The noisy tables of a summary; None for each that has no share of epsilon.

    Attributes:
        totals: documents of each stratum, shape (S,).
        themes: of each stratum and theme, shape (S, K + 2).
        subjects: of each subject and "no words", shape (U + 1,).
    """

    totals: NoisyTable | None
    themes: NoisyTable | None
    subjects: NoisyTable | None

    def written(self, names: Mapping[str, Sequence[str]]) -> bytes:
        """The raw counts as JSON, table by table, and the ``names`` of what is counted, in the order of the counts."""
        tables = {"totals": self.totals, "themes": self.themes, "subjects": self.subjects}
        found = {name: table.values.tolist() for name, table in tables.items() if table is not None}
        whole = {**found, NAMES: {name: list(each) for name, each in names.items()}}
        return json.dumps(whole, separators=(",", ":"), ensure_ascii=False).encode() + b"\n"

    @classmethod
    def read(cls, folder: Path, manifest: Mapping[str, Any], strata: int) -> Drawn:
        """Those of a summary's folder; `ValueError` where they are not of the tables that its manifest states.

        Nor if they are written in another way: white space can say something, too.
        """
        content, stated = read_bytes_limited(folder / NOISY, _LIMIT), manifest["tables"]
        found = json_of(content)
        wanted = [*(each for each in _ORDER if each in stated), NAMES]
        if not isinstance(found, dict) or list(found) != wanted or not isinstance(found[NAMES], dict):
            raise ValueError
        names = found.pop(NAMES)
        tables = dict[str, NoisyTable]()
        for name, values in found.items():
            cells = stated[name]["cells"]
            shape = (strata, cells // strata) if name == "themes" else (cells,)
            rows = values if name == "themes" else [values]
            if not all(type(each) is int and abs(each) < _LARGEST for row in rows for each in row):
                raise ValueError
            noise = DiscreteLaplace(Fraction(stated[name]["scale"]))
            tables[name] = NoisyTable(np.array(values, np.int64).reshape(shape), noise)
            if tables[name].values.tolist() != values:
                raise ValueError
        drawn = cls(tables.get("totals"), tables.get("themes"), tables.get("subjects"))
        if drawn.written(names) != content:
            raise ValueError
        return drawn

    @functools.cached_property
    def counts(self) -> Counts | None:
        """Of each stratum and theme; of each stratum alone, in one column, where themes have no share."""
        table, totals = self.themes, self.totals
        if table is not None:
            return Counts.of(reconciled(table, totals), table.intervals(LEVEL))
        if totals is not None:
            low, high = totals.intervals(LEVEL)
            return Counts.of(np.maximum(totals.values, 0)[:, None], (low[:, None], high[:, None]))
        return None

    @functools.cached_property
    def of_strata(self) -> Counts | None:
        """Of each stratum; all limits hold together."""
        table, totals = self.themes, self.totals
        if table is not None:
            limits = totals.intervals(LEVEL) if totals is not None else table.sums(LEVEL, axis=1)[1:]
            return Counts.of(estimated_totals(table, totals), limits)
        return None if totals is None else Counts.of(np.maximum(totals.values, 0), totals.intervals(LEVEL))

    @functools.cached_property
    def of_themes(self) -> tuple[IndexArray, Counts] | None:
        """Raw sums over the strata, and counts, of each theme; all limits hold together."""
        if self.themes is None or self.counts is None:
            return None
        noisy, low, high = self.themes.sums(LEVEL, axis=0)
        return noisy, Counts.of(self.counts.contributed.sum(axis=0), (low, high))

    @functools.cached_property
    def of_subjects(self) -> tuple[IndexArray, Counts] | None:
        """Raw and other counts of each subject; all limits hold together."""
        table = self.subjects
        if table is None:
            return None
        row = NoisyTable(table.values[None, :], table.noise)
        return table.values, Counts.of(reconciled(row)[0], table.intervals(LEVEL))

    @functools.cached_property
    def size(self) -> tuple[int, int]:
        """Between which numbers of contributed documents there are, at 99 %: the narrowest of what was drawn."""
        found = [_size(each) for each in (self.totals, self.themes, self.subjects) if each is not None]
        # Each of up to three limits may miss; the narrowest is chosen after the fact.
        low, high = min(found, key=lambda limits: limits[1] - limits[0])
        return max(0, low), max(0, high)

    @property
    def documents(self) -> tuple[int, int]:
        """The same, for shares: of nothing there are none."""
        least, most = self.size
        return max(1, least), max(1, most)

    def shares(self, noisy: IndexArray) -> Float64Array:
        """The share of the contributed documents that raw counts are."""
        return np.asarray(np.maximum(noisy, 0) / (sum(self.documents) / 2))


_ORDER: Final = ("totals", "themes", "subjects")


def _size(table: NoisyTable) -> tuple[int, int]:
    """Limits of how many documents a table counts, at 99 % for three tables together."""
    cells = table.values.size
    width = table.noise.half_width_of_sum(cells, 1 - (1 - _OF_SIZE) / 3)
    total = int(table.values.sum())
    return total - width, total + width
