"""Lists of values that somebody declares: on the command line, quoted as in CSV, or in a file, one a line."""

from __future__ import annotations

import csv
from pathlib import Path

from publius.errors import DataError, UsageError
from publius.files.reading import read_bytes_limited


def value_list(given: str, what: str) -> list[str]:
    """The values in ``A,B,"C, D"`` or of ``@FILE``; ``what`` names them in an error.

    `UsageError` for text that is not quoted as in CSV, `DataError` for a file that is not UTF-8.
    """
    if given.startswith("@"):
        path = Path(given[1:])
        try:
            lines = read_bytes_limited(path).decode("utf-8-sig").split("\n")
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
