"""Exact amounts of budget: rationals without rounding."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Final, Literal

from publius.errors import DataError, PolicyError, UsageError
from publius.privacy.guarantee import Guarantee, exact_epsilon

Unit = Literal["epsilon-n", "epsilon", "epsilon-n-ordered", "bound"]
Amount = int | float | Fraction

_SMALLEST: Final = Fraction(2) ** -1022  # below are float64's subnormal numbers, which lose digits
_MOST_BITS: Final = 8192
_LONGEST_TEXT: Final = 6000


def price(guarantee: Guarantee, unit: Unit) -> Fraction:
    """What a release under ``guarantee`` costs in ``unit``: epsilon, epsilon*N, or the bound between any two documents.

    "epsilon-n-ordered" counts nats per unit of the mean distance word by word. That is at least the Earth Mover's
    distance, so a bag costs its epsilon*N there too. The other way round no finite price would do: documents of the
    same words in another order are at Earth Mover's distance 0, and ordered text tells them apart.

    "bound" counts nats between any two documents whatever, which document mechanisms state and word mechanisms do not.

    Raises `PolicyError` for a guarantee without evidence or without a size, for ordered text in a unit of bags, and
    between words and documents: their nats are of different things, and no amount of one covers the other.
    """
    if guarantee.bound is not None:
        if unit != "bound":
            raise PolicyError(
                f"a ledger in {unit} counts distances between words, and a release that keeps the "
                f"{guarantee.preserve} is charged its bound between any two documents: make a ledger with --unit bound"
            )
        return exact_epsilon(guarantee.bound)
    if unit == "bound":
        raise PolicyError(
            "a ledger in bound counts nats between any two documents, and a mechanism on words states none: make a "
            "ledger with --unit epsilon-n"
        )
    if guarantee.evidence == "none" or guarantee.size is None:
        raise PolicyError("a release without a guarantee cannot be charged to a budget: no budget covers it")
    if guarantee.ordered and unit != "epsilon-n-ordered":
        raise PolicyError(
            f"a ledger in {unit} counts Earth Mover's distances, and no amount of them covers ordered text: "
            "make a ledger with --unit epsilon-n-ordered, which covers bags too"
        )
    return exact_epsilon(guarantee.per_unit) * (1 if unit == "epsilon" else guarantee.size)


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
