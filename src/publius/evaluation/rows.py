"""Rows of results: one for each mechanism, epsilon, repeat, adversary and task."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any, final

from publius.evaluation.statistics import Interval, clopper_pearson

CLEAN = "clean"
"""The mechanism's name in the rows of unprotected texts; their epsilon is None."""

Setting = tuple[str, float | None, float | None]
"""Mechanism, epsilon, and the bound between any two documents."""


@final
@dataclass(frozen=True, slots=True)
class ResultRow:
    """One adversary's result on the unknown texts.

    Attributes:
        mechanism: its name; "clean" for unprotected texts.
        epsilon: None for unprotected texts.
        repeat: from 0; the same number means the same noise, scaled, at every epsilon.
        adversary: its name.
        task: "author", "topic", or what else was asked.
        correct: texts whose label was named, or how many are to be expected where that was computed.
        total: texts.
        accuracy: correct / total.
        low: lower limit of the exact 95 % binomial interval.
        high: upper limit.
        chance: accuracy of blind guessing.
        changed: share of the words in the vocabulary that changed; None where words are not replaced one by one.
        mean_distance: how far they went on average, in units of the metric.
        hits: for each unknown text in order, "1" where its label was named and "0" where not; empty where the
            accuracy was computed and not counted.
        bound: nats between any two documents; None where there is no such bound.
        extra: what only some adversaries have beside this, such as "exact"; written as further fields.

    """

    mechanism: str
    epsilon: float | None
    repeat: int
    adversary: str
    task: str
    correct: float
    total: int
    accuracy: float
    low: float
    high: float
    chance: float
    changed: float | None
    mean_distance: float | None
    hits: str
    bound: float | None = None
    extra: dict[str, Any] = field(default_factory=dict)

    @property
    def setting(self) -> Setting:
        """Mechanism, epsilon and bound: what repeats share."""
        return self.mechanism, self.epsilon, self.bound


@final
@dataclass(frozen=True, slots=True)
class Protection:
    """How the texts of a cell were protected: what all its rows state.

    Attributes as in `ResultRow`.
    """

    mechanism: str
    epsilon: float | None
    bound: float | None
    repeat: int
    changed: float | None
    mean_distance: float | None


def make_row(
    protection: Protection,
    adversary: str,
    task: str,
    hits: Sequence[bool],
    chance: float,
    extra: dict[str, Any] | None = None,
) -> ResultRow:
    """A row from what was right, with its exact binomial interval."""
    marks = "".join("1" if hit else "0" for hit in hits)
    interval = clopper_pearson(sum(hits), len(hits))
    return measured_row(protection, adversary, task, (interval, len(hits)), chance, extra, marks)


def measured_row(
    protection: Protection,
    adversary: str,
    task: str,
    found: tuple[Interval, int],
    chance: float,
    extra: dict[str, Any] | None = None,
    hits: str = "",
) -> ResultRow:
    """A row from a share with its interval, and the number of texts it is of."""
    accuracy, total = found
    correct = hits.count("1") if hits else accuracy.value * total
    return ResultRow(
        protection.mechanism, protection.epsilon, protection.repeat, adversary, task, correct, total, accuracy.value,
        accuracy.low, accuracy.high, chance, protection.changed, protection.mean_distance, hits, protection.bound,
        extra or {},
    )  # fmt: skip


def as_record(row: ResultRow) -> dict[str, Any]:
    """The row as one flat object."""
    record = asdict(row)
    extra = record.pop("extra")
    return {**record, **extra}


def as_json_lines(rows: Iterable[ResultRow]) -> bytes:
    """One object a line, as in ``rows.jsonl``."""
    return "".join(json.dumps(as_record(row), allow_nan=False) + "\n" for row in rows).encode()
