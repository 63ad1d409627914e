"""Where today differs from 0.2 on purpose: each difference by its key, with what it was, what it is and why.

A change names the answers it is about (a pattern of ``group/case``), the key (a pattern of the path within), and what
stands there today, as a value or as a function of what 0.2 said. A difference that no change tells fails the golden
test, and so does a change that tells of nothing. `ABSENT` stands for a key that is not there.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final


class _Absent:
    def __repr__(self) -> str:
        return "ABSENT"


ABSENT: Final = _Absent()


@dataclass(frozen=True)
class Change:
    """One deliberate difference.

    Attributes:
        answers: pattern of ``group/case``, as for files: ``seeded/*``.
        key: pattern of the key's path within the answer: ``manifest/delta``, ``exit``.
        now: what stands there today: a value, or a test of what 0.2 gave, what is there, and 0.2's whole answer.
        why: in a sentence.

    """

    answers: str
    key: str
    now: Any | Callable[[Any, Any, Any], bool]
    why: str

    def explains(self, was: Any, now: Any, answer: Any) -> bool:
        """Whether this change makes ``now`` of ``was``, in what is ``answer`` otherwise."""
        return bool(self.now(was, now, answer)) if callable(self.now) else same(self.now, now)


def same(was: Any, now: Any) -> bool:
    """Equal; numbers to the last digits only, which processors round differently."""
    if isinstance(was, float) and isinstance(now, float):
        return abs(was - now) <= 1e-9 * max(abs(was), abs(now))
    return type(was) is type(now) and bool(was == now)


def _digests_of_the_same_files(was: Any, now: Any, answer: Any) -> bool:
    """Every file by name with its SHA-256; those of text can be computed from what 0.2 wrote."""
    if was is not ABSENT or {*now} != {*answer["files"]}:
        return False
    digests = {name: hashlib.sha256(text.encode()).hexdigest() for name, text in answer["files"].items()
               if isinstance(text, str)}  # fmt: skip
    return all(now[name] == digest for name, digest in digests.items()) and all(
        re.fullmatch("[0-9a-f]{64}", digest) for digest in now.values()
    )


def _digests_of_bags(was: Any, now: Any, _: Any) -> bool:
    """Of an unseeded release: its one file, and a SHA-256."""
    return (
        was is ABSENT and [*now] == ["bags.jsonl"] and bool(re.fullmatch("[0-9a-f]{64}", now["bags.jsonl"]))
    )


def _the_same_bags_under_other_numbers(was: Any, now: Any, _: Any) -> bool:
    """As lines of JSON: each bag is there, and the numbers from 1, whichever stands before which."""

    def parts(text: str) -> tuple[list[str], list[str]]:
        lines = [re.sub(r'"id": "\d+"', "", line) for line in text.splitlines()]
        return sorted(lines), re.findall(r'"id": "(\d+)"', text)

    return was != now and parts(was) == parts(now)


def _a_digest(was: Any, now: Any, _: Any) -> bool:
    return was is ABSENT and all(re.fullmatch("[0-9a-f]{64}", digest) for digest in now.values())


def _a_little_more(was: Any, now: Any, _: Any) -> bool:
    return bool(was < now < was * (1 + 1e-8))


NUMBERS: Final = "numbers are given in a secret random order, so that none tells a line of the input"

CHANGES: tuple[Change, ...] = (
    Change(
        "seeded/*",
        "manifest/files",
        _digests_of_the_same_files,
        "a manifest states every file of the release",
    ),
    Change("seeded/*", "json/files", "as in the manifest", "what is printed holds the manifest"),
    Change("*", "json/files", _digests_of_bags, "what is printed holds the manifest"),
    Change(
        "*", "*/delta", _a_little_more, "delta covers whichever two words: a rounding more on the safe side"
    ),
    Change(
        "seeded/words, manhattan",
        "manifest/delta",
        5.688823472960471e-294,
        "delta was counted as if every coordinate could move by the whole distance",
    ),
    Change(
        "commands/guarantee between",
        "json/delta",
        8.105173016242448e-293,
        "delta is that of whichever two words, as in the manifest, and not of this distance",
    ),
    *(
        change
        for numbered in ("seeded/*, numbered", "seeded/* from folder")
        for change in (
            Change(numbered, "files/bags.jsonl", _the_same_bags_under_other_numbers, NUMBERS),
            Change(numbered, "manifest/numbers", "in a secret random order", NUMBERS),
            Change(numbered, "json/numbers", "as in the manifest", NUMBERS),
            Change(numbered, "manifest/files", _a_digest, "of the files under other numbers"),
        )
    ),
)
