"""An option of a mechanism: a field of a frozen dataclass with its bounds; a sentence under it says what it is.

The options of commands stand in `publius.settings`; those of a mechanism in a dataclass beside it.
"""

from __future__ import annotations

import math
import numbers
import operator
from dataclasses import MISSING, dataclass, field, fields
from typing import Any, Final, Literal, get_args, get_origin, get_type_hints

from publius.errors import UsageError

_HELD: Final = {"at least": operator.ge, "above": operator.gt, "at most": operator.le, "below": operator.lt}


def option(
    default: Any = MISSING, *, at_least: float | None = None, above: float | None = None, at_most: float | None = None,
    below: float | None = None,
) -> Any:  # fmt: skip
    """A field of a `Settings` dataclass; required without ``default``."""
    given = {"at least": at_least, "above": above, "at most": at_most, "below": below}
    return field(default=default, metadata={"bounds": {word: each for word, each in given.items() if each is not None}})


def declared(settings: Any) -> dict[str, Any]:
    """The options of a settings dataclass and their types, in the order they are declared.

    Its annotations are evaluated, so they must not name what is imported for type checkers only.
    """
    hints = get_type_hints(settings)
    return {each.name: hints[each.name] for each in fields(settings) if "bounds" in each.metadata}


@dataclass(frozen=True, kw_only=True)
class Settings:
    """A value out of its bounds, or one that is none of the choices, is refused when settings are made."""

    def __post_init__(self) -> None:
        bounds = {each.name: each.metadata.get("bounds", {}) for each in fields(self)}
        for name, kind in declared(type(self)).items():
            if (value := getattr(self, name)) is not None:
                _check(name, (kind, *get_args(kind)), bounds[name], value)


def _check(name: str, kinds: tuple[Any, ...], bounds: dict[str, float], value: Any) -> None:
    choices = next((get_args(kind) for kind in kinds if get_origin(kind) is Literal), ())
    if choices and value not in choices:
        raise UsageError(f"no {name} is called {value!r}: choose one of {', '.join(map(str, choices))}")
    number = not isinstance(value, bool) and isinstance(value, numbers.Real) and math.isfinite(value)
    wanted = not choices and not {int, float}.isdisjoint(kinds)
    if wanted and not (number and all(_HELD[word](value, limit) for word, limit in bounds.items())):
        said = " and ".join(f"{word} {limit:,g}" for word, limit in bounds.items())
        raise UsageError(f"{name} must be {said or 'a finite number'}, not {value!r}")
