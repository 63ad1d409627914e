"""Groups: fields with declared values. What is not declared is "other"; no value is ever read from the documents.

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
from functools import cached_property
from typing import Final, final

from publius.classifiers.classifier import OTHER
from publius.errors import UsageError
from publius.files.reading import value_list
from publius.text.normal_form import compared, normal_form

MOST_GROUPS: Final = 100_000
ALL: Final = "all"
"""The one group where nothing is grouped by."""

_MONTH: Final = re.compile(r"(\d{4})-(0[1-9]|1[0-2])")
_DATE: Final = re.compile(r"(\d{4}-(?:0[1-9]|1[0-2]))(?:-(?:0[1-9]|[12]\d|3[01])(?:[T ].*)?)?", re.DOTALL)


@final
@dataclass(frozen=True)
class Field:
    """A field of the documents with its declared values, which differ and are not "other"."""

    name: str
    values: tuple[str, ...]
    monthly: bool = False  # counts dates in their months, which the values are

    def __post_init__(self) -> None:
        if not self.name or not self.values:
            raise UsageError("--by needs a field and at least one value: FIELD=VALUE,VALUE")
        seen = [_seen(value) for value in self.values]
        if not all(seen):
            raise UsageError(f"a value of the field {self.name!r} is empty: remove the comma too many")
        if OTHER in seen:
            raise UsageError(
                f"leave {OTHER!r} out of the values of {self.name!r}: all that is not declared is called so"
            )
        if len({*seen}) < len(seen):
            raise UsageError(f"a value of the field {self.name!r} is declared twice, or two look alike: name each once")

    def place(self, value: object) -> int:
        """The place of a value among the declared ones; their number for any other, or for none."""
        if type(value) is str and not self.monthly and (found := self._places.get(value)) is not None:
            return found  # written as it is compared, as nearly all are
        text = compared(value)
        if self.monthly:
            dated = _DATE.fullmatch(text)
            text = dated[1] if dated else ""
        return self._places.get(text, len(self.values))

    def declares(self, value: object) -> bool:
        """Whether a value is one of the declared ones."""
        return self.place(value) < len(self.values)

    @property
    def labels(self) -> tuple[str, ...]:
        """The declared values, and "other"."""
        return (*self.values, OTHER)

    @cached_property
    def _places(self) -> dict[str, int]:
        return {compared(value): place for place, value in enumerate(self.values)}


def _seen(value: str) -> str:
    """A value as a reader of the tables sees it: characters of one look are one, those without a look are none."""
    plain = normal_form("NFKC", value)
    shown = (each for each in plain if each.isspace() or unicodedata.category(each) not in ("Cf", "Cc"))
    return " ".join("".join(shown).split())


@final
@dataclass(frozen=True)
class Groups:
    """All combinations of the values of ``fields``, "other" included; one group where there is no field."""

    fields: tuple[Field, ...] = ()

    def __post_init__(self) -> None:
        names = [field.name for field in self.fields]
        if len({*names}) < len(names):
            raise UsageError("a field of --by is given twice: name all of its values at once")
        if self.size > MOST_GROUPS:
            raise UsageError(f"{self.size:,} groups are more than {MOST_GROUPS:,}: declare fewer values")
        if len({*map(_seen, self.names)}) < self.size:
            raise UsageError("two groups have one name in the tables: leave ' / ' out of the values")

    @classmethod
    def of(cls, by: Groups | Mapping[str, Sequence[str]] | Iterable[str] | str) -> Groups:
        """Of declarations ``FIELD=V1,V2``, ``FIELD=@FILE`` or ``FIELD=2026-01..2026-12``, or a mapping."""
        if isinstance(by, Groups):
            return by
        if isinstance(by, Mapping):
            return cls(tuple(Field(name, tuple(values)) for name, values in by.items()))
        return cls(tuple(map(parse_field, [by] if isinstance(by, str) else by)))

    @property
    def size(self) -> int:
        """How many groups there are."""
        return math.prod(self.shape)

    @property
    def shape(self) -> tuple[int, ...]:
        """How many values each field has, "other" included."""
        return tuple(len(field.labels) for field in self.fields)

    @cached_property
    def names(self) -> tuple[str, ...]:
        """The name of each group in tables."""
        return tuple(" / ".join(labels) or ALL for labels in self.labels)

    @property
    def labels(self) -> Iterable[tuple[str, ...]]:
        """The values of each group."""
        return itertools.product(*(field.labels for field in self.fields))

    def place(self, row: Mapping[str, object]) -> int:
        """The group of a document with these fields; a field that it lacks is "other"."""
        place = 0
        for field in self.fields:
            place = place * (len(field.values) + 1) + field.place(row.get(field.name))
        return place


def parse_field(declaration: str) -> Field:
    """One field with its values: ``category=Loans,"Cards, prepaid"``, ``category=@FILE``, ``month=2026-01..2026-12``.

    Values are separated by commas and quoted as in CSV; a file has one a line. Months and ranges of months alone make
    a monthly field: it reads ISO dates.
    """
    name, equals, given = declaration.partition("=")
    name = name.strip()
    if not equals or not name or not given.strip():
        raise UsageError("groups are declared as --by FIELD=VALUE,VALUE or --by FIELD=@FILE")
    values = value_list(given.strip(), f"--by {name}")
    months = [] if given.startswith("@") else [_months(value) for value in values]
    if months and all(found is not None for found in months):
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
    if last - first >= MOST_GROUPS:
        raise UsageError(f"the months {value} are more than {MOST_GROUPS:,}")
    return [f"{month // 12:04}-{month % 12 + 1:02}" for month in range(first, last + 1)]
