"""Names of columns: in the header of a table, in rows that name their own, as paths into nested values."""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, Final

from publius.documents.document import BETWEEN, said
from publius.errors import DataError, UsageError
from publius.settings import Reading

_DEEPEST: Final = 4


class ChoiceError(DataError):
    """Only the curator can say which column or sheet is meant; a look takes ``instead``, fields of `Reading`, and notes it."""

    def __init__(
        self, message: str, instead: dict[str, Any] | None = None, notes: Sequence[tuple[str, int, str]] = ()
    ) -> None:
        super().__init__(message)
        self.instead, self.notes = instead or {}, notes


class Bare(dict[str, Any]):
    """A row that is no object, so that it names no column."""


# In a header ----------------------------------------------------------------------------------------------


def header_rows(reading: Reading) -> tuple[int, int]:
    """The first row of names of columns, from 0, and how many such rows there are."""
    found = re.fullmatch(r"(\d{1,7})(?:-(\d{1,7}))?", str(1 if reading.header_row is None else reading.header_row))
    first, last = (int(found[1]), int(found[2] or found[1])) if found else (0, 0)
    if not 1 <= first <= last:
        raise UsageError("--header-row counts from 1: 3, or 1-3 where several rows name the columns.")
    return first - 1, last - first + 1


def header_of(rows: Iterable[Sequence[str | None]]) -> list[str]:
    """The name of each column, from the first of these rows that has one."""
    cells = itertools.zip_longest(*([(cell or "").strip() for cell in row] for row in rows), fillvalue="")
    return [next(filter(None, each), "") for each in cells]


def places_of(header: Sequence[str], told: dict[str, tuple[int, str]]) -> dict[str, list[int]]:
    """Where the cells of each column stand: those of one name count as one column, and are ``told``."""
    places: dict[str, list[int]] = {}
    for place, name in enumerate(header):
        places.setdefault(name, []).append(place)
    if several := {name: len(each) for name, each in places.items() if name and len(each) > 1}:
        listed = ", ".join(f"{name} ({count})" for name, count in several.items())
        told["columns of one name, whose cells are read together"] = (sum(several.values()), listed)
    return places


def together(cells: Sequence[str | None]) -> str | None:
    """The cells of one column, as several values of a path."""
    return BETWEEN.join(filter(None, cells)) or cells[0]


# In rows that name their own ------------------------------------------------------------------------------


def columns_of(records: Iterable[Mapping[str, Any]]) -> tuple[str, ...]:
    """The columns of rows that name their own, and paths in the place of what is nested wherever it is there."""
    found: dict[str, bool] = {}

    def walk(value: Any, path: str, depth: int) -> None:
        if isinstance(value, dict) and value and depth < _DEEPEST:
            for name, each in value.items():
                walk(each, f"{path}.{name}" if path else str(name), depth + 1)
        elif isinstance(value, list) and any(isinstance(each, dict) for each in value) and depth < _DEEPEST:
            for each in value[:20]:
                walk(each, f"{path}[]", depth + 1)
        else:
            found[path] = found.get(path, False) or value not in (None, [], {})

    bare = False
    for record in records:
        if isinstance(record, Bare):
            bare = True
        else:
            walk(record, "", 0)
    nested = {path[:at] for path in found for at, sign in enumerate(path) if sign in ".["}
    return tuple(path for path, filled in found.items() if path and (filled or path not in nested)) or ("text",) * bare


def picked(records: Iterable[Mapping[str, Any]], names: Sequence[str | None]) -> Iterator[list[Any]]:
    """Of each row the values at these columns and paths; None where it has none, and for None."""
    wanted: Sequence[Any] = names
    if any(name is not None and ("." in name or "[" in name) for name in names):
        return ([_value_at(record, name) for name in wanted] for record in records)
    return ([record.get(name) for name in wanted] for record in records)


def _value_at(record: Mapping[str, Any], name: str | None) -> Any:
    if name is None or name in record:
        return None if name is None else record[name]
    found = [each for each in _at(record, _steps(name)) if each is not None]
    if "[]" not in name:
        return found[0] if found else None
    return BETWEEN.join(filter(None, (said(each) for each in found if not isinstance(each, (dict, list)))))


def _at(value: Any, steps: Sequence[str]) -> list[Any]:
    if not steps:
        return [value]
    if steps[0] == "[]":
        return [found for each in value for found in _at(each, steps[1:])] if isinstance(value, list) else []
    return _at(value[steps[0]], steps[1:]) if isinstance(value, dict) and steps[0] in value else []


def _steps(name: str) -> list[str]:
    """The steps of a path: ``answers[].a`` is "answers", "[]", "a"."""
    return [step for step in name.replace("[]", ".[]").split(".") if step]


# Those that somebody wants --------------------------------------------------------------------------------


def text_column(
    columns: Sequence[str], asked: str | None, longest: Callable[[], str | None], *, only: bool = True, of: str = ""
) -> str:
    """The column of texts: the one asked for, or text, or the ``only`` one of a header. `DataError` lists the columns.

    It proposes the one with the ``longest`` values; what a release reads is never chosen by what stands in cells.
    """
    if asked is not None or "text" in columns:
        wanted = "text" if asked is None else asked
        check_columns(columns, [wanted], of)
        return wanted
    if only and len(columns) == 1:
        return columns[0]
    proposed = longest()
    notes = [("no column is called text: name it with --text-field", 1, f"looked at: {proposed}")]
    message = _missing("text", columns, of, f" Use --text-field {proposed or 'NAME'}.")
    raise ChoiceError(message, {"text_field": proposed} if proposed else {}, notes)


def check_columns(columns: Sequence[str], wanted: Iterable[str | None], of: str = "") -> None:
    """`DataError` unless each of the ``wanted`` is a column, or a path that begins with one; None is none.

    It names the file that the columns are ``of``, if it is one of several.
    """
    for name in wanted:
        if name is not None and columns.count(name) > 1:
            raise DataError(f"{columns.count(name)} columns are called {name}: give each a name of its own")
        if name is not None and not has_column(columns, name):
            raise ChoiceError(_missing(name, columns, of))


def has_column(columns: Iterable[str], name: str) -> bool:
    """Whether it is a column, or a path that begins with one."""
    first = _steps(name)[:1]
    return name in columns or (first not in ([], [name]) and any(each.startswith(first[0]) for each in columns))


def _missing(name: str, columns: Sequence[str], of: str, way_out: str = "") -> str:
    """A table without a header begins with somebody's text, which no error shows."""
    found = f"Found: {', '.join(columns[:30])}{f' and {len(columns) - 30} more' * (len(columns) > 30)}.{way_out}"
    if any(len(each) > 48 or len(each.split()) > 5 or each.replace(".", "").isdigit() for each in columns):
        found = (
            "The first row may be no names of columns, so it is not shown: publius inspect lists it; --header-row N "
            "takes another, or write a row of names first."
        )
    several = " Where not all hold documents, name the files or folders that do, or add --subfolders."
    return f"{of}: No column {name}. {found}{several}" if of else f"No column {name}. {found}"
