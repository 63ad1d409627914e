"""What an evaluation finds: one row for each mechanism, epsilon, repeat, adversary and task."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from typing import final

from publius.evaluation.data import Task
from publius.evaluation.statistics import clopper_pearson

CLEAN = "clean"
"""The mechanism's name in the rows of unprotected texts; their epsilon is None."""


@final
@dataclass(frozen=True, slots=True)
class Row:
    """One adversary's result on the unknown texts.

    Attributes:
        mechanism: its name; "clean" for unprotected texts.
        epsilon: None for unprotected texts.
        repeat: from 0; the same number means the same noise, scaled, at every epsilon.
        adversary: its name.
        task: "author" or "topic".
        correct: texts whose label was named.
        total: texts.
        accuracy: correct / total.
        low: lower limit of the exact 95 % binomial interval.
        high: upper limit.
        chance: accuracy of blind guessing.
        changed: share of the words in the vocabulary that changed.
        mean_distance: how far they went on average, in units of the metric.
        hits: for each unknown text in order, "1" where its label was named and "0" where not.

    """

    mechanism: str
    epsilon: float | None
    repeat: int
    adversary: str
    task: Task
    correct: int
    total: int
    accuracy: float
    low: float
    high: float
    chance: float
    changed: float
    mean_distance: float
    hits: str

    @property
    def setting(self) -> tuple[str, float | None]:
        """Mechanism and epsilon."""
        return self.mechanism, self.epsilon


def make_row(
    setting: tuple[str, float | None, int],
    adversary: str,
    task: Task,
    hits: Sequence[bool],
    chance: float,
    moved: tuple[float, float],
) -> Row:
    """A row from what was right, with its interval."""
    correct, total = sum(hits), len(hits)
    interval = clopper_pearson(correct, total)
    text = "".join("1" if hit else "0" for hit in hits)
    return Row(
        *setting,
        adversary,
        task,
        correct,
        total,
        interval.value,
        interval.low,
        interval.high,
        chance,
        *moved,
        text,
    )


def as_json_lines(rows: Iterable[Row]) -> bytes:
    """One object a line, as in ``rows.jsonl``."""
    return "".join(json.dumps(asdict(row), allow_nan=False) + "\n" for row in rows).encode()
