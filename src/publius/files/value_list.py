"""Lists of values that somebody declares: on the command line, quoted as in CSV, or in a file, one a line."""

from __future__ import annotations

import csv
from pathlib import Path
from typing import Final

from publius.errors import DataError, UsageError
from publius.files.paths import AnyPath
from publius.files.reading import WHOLE_LIMIT, file_sha256, read_bytes_limited

LISTED: Final[set[str]] = set()
"""Digests of the files whose lines this process took as public values: none of them is released (rule 11)."""


def listed(path: AnyPath, limit: int = WHOLE_LIMIT) -> bytes:
    """`read_bytes_limited` for a file of public values."""
    content = read_bytes_limited(path, limit)
    LISTED.add(file_sha256(path))
    return content


def value_list(given: str, what: str) -> list[str]:
    """The values in ``A,B,"C, D"`` or of ``@FILE``; ``what`` names them in an error.

    `UsageError` for text that is not quoted as in CSV, `DataError` for a file that is not UTF-8.
    """
    if given.startswith("@"):
        path = Path(given[1:])
        try:
            lines = listed(path).decode("utf-8-sig").split("\n")
        except UnicodeDecodeError:
            raise DataError(f"{path.name} is not in UTF-8: it must have one value a line") from None
        return [value for line in lines if (value := line.strip())]
    try:
        (values,) = csv.reader([given], strict=True, skipinitialspace=True)
    except (csv.Error, ValueError):
        raise UsageError(
            f'the values of {what} are not quoted as in CSV: write "a, b" for a value with a comma, and "" for a '
            "quotation mark in it"
        ) from None
    return [value.strip() for value in values]
