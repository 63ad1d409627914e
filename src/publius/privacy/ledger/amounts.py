"""Exact amounts of budget: rationals without rounding. Each unit, and what it counts."""

from __future__ import annotations

import math
from collections.abc import Mapping
from fractions import Fraction
from typing import Final, Protocol

from publius.errors import DataError, PolicyError, UsageError
from publius.privacy.guarantee import Unit

Amount = int | float | Fraction

COUNTED: Final[dict[Unit, str]] = {
    "epsilon-n": "nats per unit of Earth Mover's distance",
    "epsilon": "epsilon, whatever the number of words",
    "epsilon-n-ordered": "nats per unit of the mean distance word by word",
    "bound": "nats between any two documents, or of all documents of an author",
}

_SMALLEST: Final = Fraction(2) ** -1022  # below are float64's subnormal numbers, which lose digits
_MOST_BITS: Final = 8192
_LONGEST_TEXT: Final = 6000


class Priced(Protocol):
    """A promise that can be charged to a budget: a guarantee, or that of a summary."""

    @property
    def prices(self) -> Mapping[Unit, Fraction]:
        """The cost in each unit that covers it; none where no budget does."""
        ...


def price(promised: Priced, unit: Unit) -> Fraction:
    """The cost of a release in ``unit``; `PolicyError` where it cannot be charged."""
    found = promised.prices
    if unit in found:
        return found[unit]
    if not found:
        raise PolicyError("a release without a guarantee cannot be charged to a budget: no budget covers it")
    other = next(iter(found))
    raise PolicyError(
        f"a ledger in {unit} counts {COUNTED[unit]}, and this release is charged {COUNTED[other]}: make a ledger "
        f"with --unit {other}"
    )


def exact_amount(value: object, what: str = "an amount") -> Fraction:
    """``value`` as an exact rational; a float counts as the exact number it is.

    Raises `UsageError` for text, NaN, infinity, zero, negative and subnormal numbers, and anything else.
    """
    if isinstance(value, bool) or not isinstance(value, int | float | Fraction):
        raise UsageError(f"{what} must be a number, not {type(value).__name__}")
    if isinstance(value, float) and not math.isfinite(value):
        raise UsageError(f"{what} must be finite, not {value!r}")
    exact = Fraction(value)
    if exact <= 0:
        raise UsageError(f"{what} must be positive: what was spent is never given back")
    if exact < _SMALLEST:
        raise UsageError(f"{what} must be at least {float(_SMALLEST):.3g}: smaller numbers lose digits")
    return bounded(exact)


def as_written(value: float, what: str = "an amount") -> Fraction:
    """``value`` as the decimal number that it is written as: 0.1 is one tenth. Refuses what `exact_amount` does."""
    exact_amount(value, what)
    return Fraction(repr(float(value)))


def bounded(amount: Fraction) -> Fraction:
    """``amount``, if it can be written down: `UsageError` when numerator or denominator exceed 8,192 bits."""
    if max(amount.numerator.bit_length(), amount.denominator.bit_length()) > _MOST_BITS:
        raise UsageError("an amount has too many digits to be added exactly: give plain decimal numbers")
    return amount


def to_text(amount: Fraction) -> str:
    """``amount`` as it is stored: hexadecimal numerator/denominator, which has no limit on digits."""
    return f"{amount.numerator:x}/{amount.denominator:x}"


def from_text(text: object, where: str) -> Fraction:
    """The amount that `to_text` wrote; `DataError` for anything that it could not have written."""
    try:
        if not isinstance(text, str) or len(text) > _LONGEST_TEXT:
            raise ValueError
        numerator, denominator = text.split("/")
        amount = Fraction(int(numerator, 16), int(denominator, 16))
    except (ValueError, ZeroDivisionError):
        raise DataError(f"{where}: an amount in it is not one; restore the file from a backup") from None
    if amount <= 0 or to_text(amount) != text:
        raise DataError(f"{where}: an amount in it is not one; restore the file from a backup")
    return amount


def to_decimal(amount: Fraction) -> str:
    """``amount`` for people, as float64 shows it."""
    value = float(amount)
    return f"{value:.0f}" if value.is_integer() and abs(value) < 1e15 else repr(value)
