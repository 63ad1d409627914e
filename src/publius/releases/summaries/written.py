"""The tables of a summary as they are written, and read back."""

from __future__ import annotations

import csv
from collections.abc import Iterator
from pathlib import Path
from typing import Final

OF_COUNTS: Final = ("stratum", "theme", "contributed", "low", "high")
OF_WORDS: Final = ("stratum", "words")
COMPARED: Final = ("share_before", "ratio", "ratio_low", "ratio_high", "excess")
"""Columns that are empty where there is nothing to compare with."""
EVERYWHERE: Final = "all documents"
"""What stands for a theme where themes are not counted."""


def of_ranked(number: str) -> tuple[str, ...]:
    """Columns of a table of themes or subjects."""
    return ("words", "new", "contributed", "low", "high", "share", *COMPARED, "noisy", number)


def short(value: float) -> float:
    """With six digits, and a number still: as a text a negative one would be marked as no formula."""
    return float(f"{value:.6g}")


def table(path: Path, columns: tuple[str, ...]) -> Iterator[dict[str, str]]:
    """The rows of a table of these columns; `ValueError` where it is none."""
    with path.open(encoding="utf-8", newline="") as file:
        rows = csv.DictReader(file, strict=True)
        if tuple(rows.fieldnames or ()) != columns:
            raise ValueError
        for row in rows:
            if None in row or None in row.values():
                raise ValueError
            yield row
