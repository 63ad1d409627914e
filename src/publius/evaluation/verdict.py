"""Whether what was measured is within the limits that a curator set: PASS or FAIL, with the reason.

Everything is read on the safe side. Authors: where the holder of the originals is exact, no adversary does better
from one bag, and the upper limit of his interval decides; otherwise that of the strongest adversary measured,
and where none was, what the guarantee alone allows. Topics: the lower limit of the best classifier's interval.
Bound: what is stated between any two documents, rounded up; where nothing is stated there is no bound.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Final, final

from publius.errors import DataError, UsageError
from publius.evaluation.adversaries import ORIGINALS
from publius.evaluation.summary import Line
from publius.files import read_bytes_limited, shown, write_file

_LIMITS: Final = "limits.json"


@final
@dataclass(frozen=True, slots=True)
class Limits:
    """What is to hold; None is no limit. Shares from 0 to 1, the bound in nats between any two documents."""

    author_at_most: float | None = None
    topic_at_least: float | None = None
    bound_at_most: float | None = None

    def __post_init__(self) -> None:
        for share in (self.author_at_most, self.topic_at_least):
            if share is not None and not 0 <= share <= 1:
                raise UsageError(f"a limit on authors or topics is a share from 0 to 1, not {share}")
        if self.bound_at_most is not None and not self.bound_at_most >= 0:
            raise UsageError(f"a limit on the bound is a number of nats from 0, not {self.bound_at_most}")

    @property
    def any(self) -> bool:
        """Whether there is a limit at all."""
        return any(limit is not None for limit in asdict(self).values())


def write_limits(limits: Limits, folder: Path) -> None:
    """Keep them beside the results, so that the report can be made again."""
    with write_file(folder / _LIMITS) as file:
        file.write(json.dumps(asdict(limits)).encode() + b"\n")


def read_limits(folder: Path) -> Limits:
    """Those that were kept, or none."""
    path = folder / _LIMITS
    if not path.exists():
        return Limits()
    try:
        return Limits(**json.loads(read_bytes_limited(path)))
    except (ValueError, TypeError):
        raise DataError(f"{shown(path)} is damaged: remove it and run the evaluation again") from None


@final
@dataclass(frozen=True, slots=True)
class Verdict:
    """``passed`` and one sentence that says why; ``failed`` are the names of the settings that fail."""

    passed: bool
    text: str
    failed: tuple[str, ...]


@final
@dataclass(frozen=True, slots=True)
class _Finding:
    """One limit compared with one figure."""

    holds: bool
    text: str


def judge(lines: Sequence[Line], limits: Limits, facts: dict[str, Any]) -> Verdict | None:
    """The verdict on every protected line together: PASS only if all of them hold. None without limits.

    ``facts`` gives chance and floor. Raises `UsageError` for a limit on what was not measured.
    """
    if not limits.any:
        return None
    protected = [line for line in lines if not line.clean]
    if not protected:
        raise UsageError(
            "nothing was protected, so there is nothing to judge: give a mechanism and its epsilon"
        )
    clean = next((line for line in lines if line.clean), None)
    found = {line.name: _findings(line, limits, clean, facts) for line in protected}
    failed = tuple(name for name, parts in found.items() if not all(part.holds for part in parts))
    if not failed:
        return Verdict(True, f"PASS: {_sentence(found)}", ())
    reasons = {name: [part for part in found[name] if not part.holds] for name in failed}
    return Verdict(False, f"FAIL: {_sentence(reasons)}", failed)


def _sentence(found: dict[str, list[_Finding]]) -> str:
    return "; ".join(f"{name}: {', '.join(part.text for part in parts)}" for name, parts in found.items())


def _findings(line: Line, limits: Limits, clean: Line | None, facts: dict[str, Any]) -> list[_Finding]:
    found = []
    if limits.author_at_most is not None:
        found.append(_author(line, limits.author_at_most, clean, facts))
    if limits.topic_at_least is not None:
        found.append(_topic(line, limits.topic_at_least, clean))
    if limits.bound_at_most is not None:
        found.append(_bound(line, limits.bound_at_most))
    return found


def _author(line: Line, limit: float, clean: Line | None, facts: dict[str, Any]) -> _Finding:
    value, high, who = author_figure(line)
    beside = [f"chance {facts['chance']['author']:.3f}"]
    if facts["floor"] is not None:
        beside.append(f"topic alone {facts['floor']:.3f}")
    unprotected = clean.best("author") if clean is not None else None
    if unprotected is not None:
        beside.append(f"unprotected {unprotected.accuracy.value:.3f}")
    text = (
        f"authors named {value:.3f}, up to {high:.3f} on the safe side of the interval, by {who}; allowed {limit:g} "
        f"({', '.join(beside)})"
    )
    return _Finding(high <= limit, text)


def author_figure(line: Line) -> tuple[float, float, str]:
    """The share of authors named, its upper limit, and by whom."""
    originals, strongest = line.of(ORIGINALS, "author"), line.best("author")
    if originals is not None and originals.extra["exact"]:
        who = "the holder of the originals (per document: from one bag alone no adversary can do better)"
        return originals.accuracy.value, originals.accuracy.high, who
    if strongest is not None:
        return (
            strongest.accuracy.value,
            strongest.accuracy.high,
            f"the strongest adversary, {strongest.adversary}",
        )
    if originals is not None:
        return (
            originals.accuracy.value,
            float(originals.extra["at_most"]),
            "the holder of the originals (an attack; the upper figure is what the guarantee alone allows)",
        )
    raise UsageError("no adversary was asked for authors, so --author-at-most cannot be judged")


def _topic(line: Line, limit: float, clean: Line | None) -> _Finding:
    best = line.best("topic")
    if best is None:
        raise UsageError("no classifier was asked for topics, so --topic-at-least cannot be judged")
    unprotected = clean.best("topic") if clean is not None else None
    beside = "" if unprotected is None else f" (unprotected {unprotected.accuracy.value:.3f})"
    text = (
        f"topics named {best.accuracy.value:.3f}, at least {best.accuracy.low:.3f} on the safe side of the interval, "
        f"by {best.adversary}; wanted {limit:g}{beside}"
    )
    return _Finding(best.accuracy.low >= limit, text)


def _bound(line: Line, limit: float) -> _Finding:
    if line.bound is None:
        return _Finding(False, f"nothing bounds what tells any two documents apart; allowed {limit:g} nats")
    text = f"any two documents within {line.bound:,.3g} nats; allowed {limit:g}"
    return _Finding(line.bound <= limit, text)
