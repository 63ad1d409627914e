"""Strata: fields with declared values. What is not declared is "other"; no value is ever read from the documents.

The cells of a table are part of what is released. If they came from the documents, a category with a single document
would show that document whatever the noise is.
"""

from __future__ import annotations

import itertools
import math
import re
import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, final

from publius.errors import UsageError
from publius.files.value_list import value_list
from publius.text.normal_form import compared, normal_form

OTHER: Final = "other"
MOST_STRATA: Final = 100_000

_MONTH: Final = re.compile(r"(\d{4})-(0[1-9]|1[0-2])")
_DATE: Final = re.compile(r"(\d{4}-(?:0[1-9]|1[0-2]))(?:-(?:0[1-9]|[12]\d|3[01])(?:[T ].*)?)?", re.DOTALL)


@final
@dataclass(frozen=True)
class Field:
    """A field of the documents with its declared values.

    Attributes:
        name: the field's.
        values: declared, different, none of them "other".
        monthly: whether dates are counted in their months, which the values are.
    """

    name: str
    values: tuple[str, ...]
    monthly: bool = False

    def __post_init__(self) -> None:
        """Refuse values that are empty, repeated or "other": `UsageError`."""
        if not self.name or not self.values:
            raise UsageError("a stratum needs a field and at least one value: FIELD=VALUE,VALUE,...")
        seen = [_seen(value) for value in self.values]
        if len({*seen}) < len(seen):
            raise UsageError(
                f"a value of the field {self.name!r} is declared twice, or two look alike: name each once, in one "
                "spelling"
            )
        if OTHER in seen:
            raise UsageError(
                f"leave {OTHER!r} out of the values of {self.name!r}: all that is not declared is called so"
            )
        if not all(seen):
            raise UsageError(f"a value of the field {self.name!r} is empty: remove the comma too many")

    def place(self, value: object) -> int:
        """The place of a document's value among the declared ones; their number for any other, or for none."""
        if type(value) is str and not self.monthly and (found := self._places.get(value)) is not None:
            return found  # written as it is compared, as nearly all are
        text = compared(value)
        if self.monthly:
            dated = _DATE.fullmatch(text)
            text = dated[1] if dated else ""
        return self._places.get(text, len(self.values))

    @property
    def labels(self) -> tuple[str, ...]:
        """The declared values, and "other"."""
        return (*self.values, OTHER)

    @property
    def _places(self) -> dict[str, int]:
        places: dict[str, int] | None = self.__dict__.get("_found")
        if places is None:
            places = {compared(value): place for place, value in enumerate(self.values)}
            self.__dict__["_found"] = places
        return places


def _seen(value: str) -> str:
    """A value as a reader of the tables sees it: characters of one look are one, those without a look are none."""
    plain = normal_form("NFKC", value)
    shown = (each for each in plain if each.isspace() or unicodedata.category(each) not in ("Cf", "Cc"))
    return " ".join("".join(shown).split())


def stratum_name(labels: Sequence[str]) -> str:
    """The name of a stratum in tables: its values, or "all" where nothing is counted by."""
    return " / ".join(labels) or "all"


@final
@dataclass(frozen=True)
class Strata:
    """All combinations of the values of ``fields``, "other" included; one stratum where there is no field."""

    fields: tuple[Field, ...] = ()

    def __post_init__(self) -> None:
        """Refuse a field twice and more than 100,000 strata: `UsageError`."""
        names = [field.name for field in self.fields]
        if len({*names}) < len(names):
            raise UsageError("a field is given twice: name all of its values at once")
        if self.size > MOST_STRATA:
            raise UsageError(f"{self.size:,} strata are more than {MOST_STRATA:,}: declare fewer values")
        labels = (map(_seen, field.labels) for field in self.fields)
        if len({*map(stratum_name, itertools.product(*labels))}) < self.size:
            raise UsageError("two strata have one name in the tables: leave ' / ' out of the values")

    @classmethod
    def parse(cls, declarations: Iterable[str]) -> Strata:
        """Strata of ``FIELD=V1,V2,...``, ``FIELD=@FILE`` or ``FIELD=2026-01..2026-12``, one a field."""
        return cls(tuple(map(parse_field, declarations)))

    @property
    def size(self) -> int:
        """How many strata there are."""
        return math.prod(len(field.labels) for field in self.fields)

    def place(self, row: Mapping[str, object]) -> int:
        """The stratum of a document with these fields; a field that it lacks is "other"."""
        place = 0
        for field in self.fields:
            place = place * (len(field.values) + 1) + field.place(row.get(field.name))
        return place

    def labels(self, place: int) -> tuple[str, ...]:
        """The value of each field in a stratum."""
        found = []
        for field in reversed(self.fields):
            place, own = divmod(place, len(field.labels))
            found.append(field.labels[own])
        return tuple(reversed(found))

    def is_other(self, place: int) -> bool:
        """Whether a stratum is "other" in some field."""
        for field in reversed(self.fields):
            declared = len(field.values)
            place, own = divmod(place, declared + 1)
            if own == declared:
                return True
        return False


def parse_field(declaration: str) -> Field:
    """One field with its values: ``category=Loans,"Cards, prepaid"``, ``category=@FILE``, ``month=2026-01..2026-12``.

    Values are separated by commas and quoted as in CSV. A file has one value a line. Months and ranges of months alone
    make a monthly field: it reads ISO dates. `UsageError` for what is none of these, `DataError` for a file's contents.
    """
    name, equals, given = declaration.partition("=")
    name = name.strip()
    if not equals or not name or not given.strip():
        raise UsageError("strata are declared as FIELD=VALUE,VALUE,... or FIELD=@FILE")
    values = value_list(given, repr(name))
    if given.startswith("@"):
        return Field(name, tuple(values))
    months = [_months(value) for value in values]
    if all(found is not None for found in months):
        return Field(name, tuple(month for found in months for month in found or ()), monthly=True)
    return Field(name, tuple(values))


def _months(value: str) -> list[str] | None:
    """The months of one month or of a range of them; None where it is neither."""
    ends = [_MONTH.fullmatch(end.strip()) for end in value.split("..")]
    if not 1 <= len(ends) <= 2 or None in ends:
        return None
    first, last = (12 * int(end[1]) + int(end[2]) - 1 for end in (ends[0], ends[-1]) if end is not None)
    if last < first:
        raise UsageError(f"the months {value} end before they begin")
    if last - first >= MOST_STRATA:
        raise UsageError(f"the months {value} are more than {MOST_STRATA:,}")
    return [f"{month // 12:04}-{month % 12 + 1:02}" for month in range(first, last + 1)]
