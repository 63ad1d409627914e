"""An option of a mechanism: a field of a frozen dataclass with its help and bounds.

The options of commands stand in `publius.settings`; those of a mechanism in a dataclass beside it.
"""

from __future__ import annotations

import math
import numbers
from dataclasses import MISSING, dataclass, field, fields
from functools import cache
from typing import Any, Literal, final, get_args, get_origin, get_type_hints

from publius.errors import UsageError


@final
@dataclass(frozen=True, slots=True)
class Option:
    """Help and bounds of an option, beside its name, type and default; None where there is no bound."""

    help: str
    at_least: float | None = None
    above: float | None = None
    at_most: float | None = None
    below: float | None = None

    @property
    def bounds(self) -> str:
        """The bounds in words, such as "at least 1 and below 2"; empty where there are none."""
        named = {"at least": self.at_least, "above": self.above, "at most": self.at_most, "below": self.below}
        return " and ".join(f"{word} {limit:,g}" for word, limit in named.items() if limit is not None)

    def allows(self, number: float) -> bool:
        """Whether a finite number is within the bounds."""
        return (
            math.isfinite(number)
            and (self.at_least is None or number >= self.at_least)
            and (self.above is None or number > self.above)
            and (self.at_most is None or number <= self.at_most)
            and (self.below is None or number < self.below)
        )


def option(default: Any = MISSING, *, help: str, **bounds: float) -> Any:
    """A field of a `Settings` dataclass; required without ``default``. ``bounds``: see `Option`."""
    return field(default=default, metadata={"option": Option(help, **bounds)})


@final
@dataclass(frozen=True, slots=True)
class Declared:
    """A field that was declared with `option`."""

    name: str
    type: Any
    option: Option

    def check(self, value: Any) -> None:
        """`UsageError`, with the choices or the bounds, when ``value`` is none of what is allowed; None always is."""
        kinds = (self.type, *get_args(self.type))
        choices = next((get_args(kind) for kind in kinds if get_origin(kind) is Literal), ())
        if choices and value is not None and value not in choices:
            raise UsageError(f"no {self.name} is called {value!r}: choose one of {', '.join(map(str, choices))}")
        number = isinstance(value, numbers.Real) and not isinstance(value, bool)
        wanted = value is not None and not choices and {int, float}.intersection(kinds)
        if (number or wanted) and not (number and self.option.allows(float(value))):
            raise UsageError(f"{self.name} must be {self.option.bounds or 'a finite number'}, not {value!r}")


def declared(settings: type) -> tuple[Declared, ...]:
    """The options of a settings dataclass, in the order they are declared.

    Its annotations are evaluated, so they must not name what is imported for type checkers only.
    """
    return _declared(settings)


@cache
def _declared(settings: Any) -> tuple[Declared, ...]:
    hints = get_type_hints(settings)
    found = (each for each in fields(settings) if "option" in each.metadata)
    return tuple(Declared(each.name, hints[each.name], each.metadata["option"]) for each in found)


@dataclass(frozen=True, kw_only=True)
class Settings:
    """A value out of its bounds, or one that is none of the choices, is refused when settings are made."""

    def __post_init__(self) -> None:
        for each in declared(type(self)):
            each.check(getattr(self, each.name))
