"""An option: a field of a frozen dataclass with its help and bounds, and what a face reads of it.

The options themselves stand in `publius.settings`; those of a mechanism in a dataclass beside it.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import MISSING, dataclass, field, fields
from functools import cache
from typing import Any, Literal, Self, final, get_args, get_origin, get_type_hints

from publius.errors import UsageError


@final
@dataclass(frozen=True, slots=True)
class Option:
    """Option metadata beside name, type and default.

    Attributes:
        help: for people, in a sentence or two.
        public: whether an evaluation states its value in ``run.json`` and in the command that repeats it; then it is no
            convenience. What a manifest states is for `Plan` and its mechanism to say.
        convenience: whether it may stand in a file of options that nobody named. What weakens a promise, widens what
            is read, keeps, publishes or sends is none; without a word of it here, an option is none either.
        at_least: the smallest value allowed.
        above: a limit that a value exceeds.
        at_most: the largest value allowed.
        below: a limit that a value stays under.
        noun: what its choices are called in an error; the name where it says it all.
        flag: on the command line, where it is not the name with hyphens.
        earlier: flags of earlier versions, which still work.
        prefix: what a value may begin with beside the choices.
        parse: makes the value of the command line's text; None where the type says how.

    """

    help: str
    public: bool = False
    convenience: bool = False
    at_least: float | None = None
    above: float | None = None
    at_most: float | None = None
    below: float | None = None
    noun: str | None = None
    flag: str | None = None
    earlier: tuple[str, ...] = ()
    prefix: str | None = None
    parse: Callable[[str], Any] | None = None

    def __post_init__(self) -> None:
        """Refuse an option that a release states of itself as a convenience."""
        if self.public and self.convenience:
            raise ValueError("an option whose value is stated with a release is no convenience")

    @property
    def bounds(self) -> str:
        """The bounds in words, such as "at least 1 and below 2"; empty where there are none."""
        limits = (
            ("at least", self.at_least), ("above", self.above), ("at most", self.at_most), ("below", self.below),
        )  # fmt: skip
        return " and ".join(f"{word} {limit:,g}" for word, limit in limits if limit is not None)

    def allows(self, number: float) -> bool:
        """Whether a finite number is within the bounds."""
        return (
            math.isfinite(number)
            and (self.at_least is None or number >= self.at_least)
            and (self.above is None or number > self.above)
            and (self.at_most is None or number <= self.at_most)
            and (self.below is None or number < self.below)
        )


def option(default: Any = MISSING, *, help: str, factory: Any = MISSING, **facts: Any) -> Any:
    """A field of a settings dataclass; required without ``default`` and ``factory``. ``facts``: see `Option`."""
    return field(default=default, default_factory=factory, metadata={"option": Option(help, **facts)})


@final
@dataclass(frozen=True, slots=True)
class Declared:
    """A field that was declared with `option`: all that a face needs to make a parameter of its own."""

    name: str
    type: Any
    default: Any
    option: Option

    @property
    def required(self) -> bool:
        """Whether it has no default."""
        return self.default is MISSING

    @property
    def choices(self) -> tuple[Any, ...]:
        """The values of a `Literal` type, None left out; none for any other type."""
        kinds = (self.type, *get_args(self.type))
        return next((get_args(kind) for kind in kinds if get_origin(kind) is Literal), ())

    def _prefixed(self, value: Any) -> bool:
        prefix = self.option.prefix
        return prefix is not None and isinstance(value, str) and value.startswith(prefix)

    def check(self, value: Any) -> None:
        """`UsageError`, with the choices or the bounds, when ``value`` is none of what is allowed; None always is."""
        for one in value if isinstance(value, tuple) else (value,):
            if self.choices and one is not None and one not in self.choices and not self._prefixed(one):
                names = ", ".join(map(str, self.choices))
                noun = self.option.noun or self.name.replace("_", " ")
                raise UsageError(f"no {noun} is called {one!r}: choose one of {names}")
        if type(value) in (int, float) and not self.option.allows(value):
            raise UsageError(f"{self.name} must be {self.option.bounds or 'a finite number'}, not {value!r}")


def declared(settings: type) -> tuple[Declared, ...]:
    """The options of a settings dataclass, in the order they are declared.

    Its annotations are evaluated, so they must not name what is imported for type checkers only.
    """
    return _declared(settings)


@cache
def _declared(settings: Any) -> tuple[Declared, ...]:
    hints = get_type_hints(settings)
    return tuple(
        Declared(
            each.name,
            hints[each.name],
            each.default if each.default_factory is MISSING else each.default_factory(),
            each.metadata["option"],
        )
        for each in fields(settings)
        if "option" in each.metadata
    )


def check(settings: type, **values: Any) -> None:
    """`UsageError` when one of ``values`` is not allowed for the option of that name among ``settings``."""
    options = {each.name: each for each in declared(settings)}
    for name, value in values.items():
        options[name].check(value)


@dataclass(frozen=True, kw_only=True, repr=False, eq=False)
class Settings:
    """A value out of its bounds, or one that is none of the choices, is refused when settings are made.

    How settings are shown and compared stands here once: made anew for each class it would be much of every start.
    """

    def __repr__(self) -> str:
        values = ", ".join(f"{each.name}={getattr(self, each.name)!r}" for each in fields(self))
        return f"{type(self).__qualname__}({values})"

    def __eq__(self, other: object) -> bool:
        if type(other) is not type(self):
            return NotImplemented
        return self._values() == other._values()

    def __hash__(self) -> int:
        return hash(self._values())

    def _values(self) -> tuple[Any, ...]:
        return tuple(getattr(self, each.name) for each in fields(self))

    def __post_init__(self) -> None:
        for each in declared(type(self)):
            each.check(getattr(self, each.name))

    @classmethod
    def among(cls, values: Mapping[str, Any]) -> Self:
        """Settings from those of ``values`` that are options of this class."""
        names = {each.name for each in declared(cls)}
        return cls(**{name: value for name, value in values.items() if name in names})
