"""The result of a check: one record, whatever was checked.

Every check passes when its statistic is at most its threshold. Three kinds of statistic occur:

- a count of violations, threshold 0;
- an excess in nats over what the theorem allows, threshold a rounding bound;
- the surprise of a statistical test, -log10 of its p-value, threshold -log10 of the level `ALPHA`.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any, Final, final

FAMILY_ALPHA: Final = 1e-6
"""Probability that a whole audit of a correct implementation raises an alarm."""

LARGEST_FAMILY: Final = 500
"""Statistical checks that one audit may make; each gets an equal share of `FAMILY_ALPHA`."""

ALPHA: Final = FAMILY_ALPHA / LARGEST_FAMILY

MOST_SURPRISE: Final = 9999.0


@final
@dataclass(frozen=True)
class Check:
    """One line of the audit's table.

    Attributes:
        name: what was checked, such as "noise n=10: radius".
        samples: how many draws, cells, points, runs it rests on.
        statistic: see the module.
        threshold: the largest statistic that passes.

    """

    name: str
    samples: int
    statistic: float
    threshold: float

    @property
    def passed(self) -> bool:
        """Whether the statistic is at most the threshold; NaN is not."""
        return self.statistic <= self.threshold

    def as_json(self) -> dict[str, Any]:
        """The five keys of the interface."""
        return {
            "name": self.name,
            "samples": self.samples,
            "statistic": _finite(self.statistic),
            "threshold": _finite(self.threshold),
            "passed": self.passed,
        }


def _finite(value: float) -> float | None:
    """JSON has no infinity: what cannot be a number is null."""
    return float(f"{value:.6g}") if math.isfinite(value) else None


@final
@dataclass(frozen=True)
class Findings:
    """Results of one piece of an audit: checks, and figures for the report by name."""

    checks: tuple[Check, ...] = ()
    figures: Mapping[str, Any] = field(default_factory=lambda: MappingProxyType({}))


def surprise(name: str, samples: int, log_p: float, tests: int = 1) -> Check:
    """A statistical test with the natural logarithm of its p-value, the smallest of ``tests`` (Bonferroni)."""
    corrected = min(0.0, log_p + math.log(tests))
    return Check(name, samples, min(MOST_SURPRISE, -corrected / math.log(10)), -math.log10(ALPHA))


def violations(name: str, samples: int, count: int) -> Check:
    """A check that counts what must not happen."""
    return Check(name, samples, count, 0)


def failures(checks: Sequence[Check]) -> list[str]:
    """Names of the checks that did not pass."""
    return [check.name for check in checks if not check.passed]
