"""One text released, and a finished release read again."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, final

from publius.errors import DataError, shown
from publius.mechanisms.mechanism import check_release
from publius.noise.randomness import RunKey
from publius.releases.manifest import Manifest
from publius.releases.register import whole
from publius.releases.rows import read_rows, records, unmarked

if TYPE_CHECKING:
    from publius.mechanisms.mechanism import Mechanism, Outcome


def release(text: str, mechanism: Mechanism, *, experiment: bool = False) -> Outcome:
    """What is released instead of one text: an `Outcome` with a label, a bag of words, or words in order.

    Every call draws anew under a fresh key: each is one more release of this text, and their epsilons add.
    `PolicyError` for what only an ``experiment`` may draw: a label above epsilon 20, words that nothing protects.

    >>> import publius
    >>> toy = publius.Embeddings.from_arrays(["north", "south"], [[0.0], [1.0]], name="toy")
    >>> publius.release("north, north", publius.Lifted(publius.Laplace(toy, epsilon=2.0), length=3)).bag.size
    3
    """
    if not experiment:
        check_release(mechanism)
    return mechanism.protect([text], [0], RunKey.fresh())[0]


@final
@dataclass(frozen=True, slots=True)
class ReleasedFolder:
    """A finished release: its manifest, its rows and its tables.

    Attributes:
        folder: where it is.
        manifest: a `LabelManifest`, `WordManifest` or `SummaryManifest`.
    """

    folder: Path
    manifest: Manifest

    def rows(self) -> Iterator[dict[str, Any]]:
        """The rows, one after another, whatever their format; the synthetic ones of a summary."""
        return read_rows(self.folder)

    @property
    def tables(self) -> tuple[str, ...]:
        """The names of its tables, such as ``labels`` or ``topics``."""
        return tuple(sorted(name[:-4] for name in self.manifest.files if name.endswith(".csv") and name != "rows.csv"))

    def table(self, name: str) -> list[dict[str, str]]:
        """A table, row by row; `DataError` where there is none of that name."""
        if name not in self.tables:
            raise DataError(f"{shown(self.folder)} has no table {name!r}: {', '.join(self.tables) or 'none at all'}")
        with (self.folder / f"{name}.csv").open(encoding="utf-8", newline="") as file:
            return [{key: unmarked(cell) for key, cell in row.items()} for row in records(file)]


def read_release(folder: str | os.PathLike[str]) -> ReleasedFolder:
    """A finished release; anybody's code may work on it, since what is made of a release alone keeps its promise.

    `DataError` unless ``folder`` holds exactly the files that its manifest names, as they were drawn.
    """
    return ReleasedFolder(Path(folder), whole(folder)[0])
