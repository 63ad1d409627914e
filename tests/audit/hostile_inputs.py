"""Input that is made to take long or to fill the memory (R28): texts of marks, Parquet that unpacks to gigabytes."""

from __future__ import annotations

import tempfile
import unicodedata
from itertools import groupby
from pathlib import Path
from types import SimpleNamespace
from typing import Any, Final

from audit.hostile_files import all_measured, hostile, within
from publius.audit.implementation import Subject
from publius.audit.outcomes import Check, violations
from publius.documents import row_readers
from publius.documents.corpus import Document, open_corpus
from publius.errors import DocumentError, PubliusError

HOSTILE: Final = "observable: a hostile file of each format ends at its limits"
COSTS: Final = "observable: hostile files of 16 MB cost what a file may"
_SMALL: Final = (
    ("eml", "many fields", 1_200_000),
    ("mbox", "many messages", 300_000),
    ("html", "many elements", 1_200_000),
    ("docx", "many paragraphs", 1_200_000),
    ("xlsx", "many cells", 300_000),
    ("pdf", "a bomb", 300_000),
    ("parquet", "many groups", 3_000_000),
    ("csv", "many rows", 300_000),
    ("jsonl", "many lines", 300_000),
    ("txt", "bytes of no encoding", 300_000),
)
"""Files with the size of each: to read it takes a quarter of a second and more, or more rows than it may have."""
_SECONDS: Final = 0.001
"""Of a processor. A system that counts its time in ticks ends a reader up to 10 ms later."""
_LENGTH: Final = 3000
_LONGEST_RUN: Final = 30
_HOSTILE: Final = (
    "\u0301\u0323",
    "\u0301",
    "\u0f73",
    "\u0344",
    "e\u0323\u0301",
    "\u1100\u1161\u11a8",
    "Σ\u0345",
    "İ",
)
_ORDINARY: Final = (
    "Cafe\u0301",
    "ΟΔΟΣ",
    "İstanbul",
    "हिन्दी",
    "a\u0323\u0302",
    "\u1112\u1161\u11ab",
    "co\xadop",
    "don\u2019t",
)


def check_texts(subject: Subject) -> list[Check]:
    """The normal form of hostile texts has no long run of combining marks; that of ordinary ones is NFC's own."""
    long = sum(_longest_run(subject.normalize("x" + kind * _LENGTH)) > _LONGEST_RUN for kind in _HOSTILE)
    changed = sum(subject.normalize(word) != _expected(word) for word in _ORDINARY)
    return [
        violations("text: runs of combining marks are short", len(_HOSTILE), long),
        violations("text: ordinary words are composed", len(_ORDINARY), changed),
    ]


def check_parquet(subject: Subject) -> list[Check]:
    """A file of kilobytes may neither declare gigabytes nor turn out to hold them; one that is what it says is read."""
    text = "a" * 2**20
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "file.parquet"
        path.write_bytes(bytes(193_000))
        bombs = [_declared(2**32, 272), _declared(1000, 2**32), *[_declared(2**28, 9) for _ in range(2)]]
        accepted = sum(_reads(subject, path, bomb, []) for bomb in bombs)
        swollen = _reads(subject, path, _declared(2**20, 272), [text] * 272)
        refused = int(not _reads(subject, path, _declared(2**20, 10), [text] * 10))
        refused += not _reads(subject, path, _declared(193_000, 10**6), ["spam"] * 10**5)
    return [
        violations("Parquet: what declares gigabytes is refused unread", len(bombs), accepted),
        violations("Parquet: what turns out to hold gigabytes is refused", 1, int(swollen)),
        violations("Parquet: files that are what they say are read", 2, refused),
    ]


def check_formats(kind: str = "") -> Check:
    """A hostile file of each format ends where its limits do.

    They are small files and small limits: each file would be read under the usual ones, or is one of those
    that the readers of this process have to count. Of one ``kind`` where that is named.
    """
    small = [each for each in _SMALL if kind in ("", each[0])]
    return violations(HOSTILE, len(small), sum(map(_read_under_small_limits, small)))


def check_costs() -> tuple[Check, list[str]]:
    """At full size all of them cost what a file may; and those that do not, with their cost."""
    costs = [(what, cost) for what, _, cost in all_measured()]
    worse = [f"{what}: {cost}" for what, cost in costs if not within(cost)]
    return violations(COSTS, len(costs), len(worse)), worse


def _read_under_small_limits(which: tuple[str, str, int], seconds: float = _SECONDS) -> bool:
    """Whether a small file is read to its end although it takes more than it may."""
    import pytest  # the processes of targets import what lies beside this, and need none

    *kind, size = which
    make = next(make for suffix, name, make in hostile(size) if [suffix, name] == kind)
    with tempfile.TemporaryDirectory() as folder, pytest.MonkeyPatch.context() as patch:
        patch.setattr(row_readers, "ROWS_LIMIT", 1_000)
        path = Path(folder, f"a.{which[0]}")
        path.write_bytes(make())
        try:
            return all(
                isinstance(item, Document) for item in open_corpus(path, number=True, reading_seconds=seconds)
            )
        except PubliusError:
            return False


def _declared(size: int, rows: int) -> Any:
    """What a footer says: one column, ``size`` bytes unpacked, and no page whose own header could say more."""
    chunk = SimpleNamespace(
        path_in_schema="text", total_uncompressed_size=size, total_compressed_size=0, data_page_offset=0,
        has_dictionary_page=False,
    )  # fmt: skip
    group = SimpleNamespace(column=lambda place: chunk, num_rows=rows)
    return SimpleNamespace(num_row_groups=1, num_columns=1, num_rows=rows, row_group=lambda place: group)


def _reads(subject: Subject, path: Path, metadata: Any, values: list[str]) -> bool:
    try:
        allowance = subject.allowance(path, metadata, ("text",))
        for value in values:
            allowance.take({"text": value})
    except DocumentError:
        return False
    return True


def _longest_run(text: str) -> int:
    runs = groupby(text, key=lambda character: unicodedata.combining(character) > 0)
    return max((sum(1 for _ in run) for marks, run in runs if marks), default=0)


def _expected(word: str) -> str:
    plain = unicodedata.normalize("NFC", word).replace("\xad", "").replace("\u2019", "'").lower()
    return unicodedata.normalize("NFC", plain)
