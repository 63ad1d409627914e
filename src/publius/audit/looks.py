"""What is counted of outputs: an output itself, its length, a place in it, a word, its last bits.

A look is a tuple that can be stored: its kind and what it needs. It is chosen on some draws and judged on others, so
any function of the output will do; it never sees the input.
"""

from __future__ import annotations

import math
from bisect import bisect_left
from collections import Counter
from collections.abc import Callable
from functools import lru_cache
from typing import Any, Final

import numpy as np

from publius.audit.outputs import Output, value

Look = tuple[Any, ...]

WHOLE: Final[Look] = ("output",)

_PLACES: Final = 8
_HELD: Final = 24
_NUMBERS: Final = 8
_BINS: Final = 24


def holds(output: Output, word: str) -> bool:
    """Whether ``word`` stands anywhere in it, in capitals or not."""
    return word.casefold() in _whole(output).casefold()


def seen(look: Look, output: Output) -> Output:
    """The value that ``look`` shows of ``output``."""
    shown: Output = LOOKS[look[0]][0](output, *look[1:])
    return shown


def looks(x: Counter[Output], y: Counter[Output]) -> list[Look]:
    """The looks worth testing, by outputs for two inputs."""
    found: list[Look] = [WHOLE, ("characters",), ("capitals",)]
    every = [*x, *y]
    words: list[Counter[str]] = [Counter(), Counter()]
    for one, counts in zip(words, (x, y), strict=True):
        for output, count in counts.items():
            for word in set(_words(output)):
                one[word] += count
    if any(len(_words(output)) != 1 for output in every[:1000]):
        longest = max(len(_words(output)) for output in every)
        found += [("length",), ("at", -1), *(("at", place) for place in range(min(longest, _PLACES)))]
        order = sorted(set(words[0] | words[1]), key=lambda word: (-abs(words[0][word] - words[1][word]), word))
        found += [("holds", word) for word in order[:_HELD]]
    values: dict[str, list[float]] = {}
    for output in every:
        for key, number in _numbers(output).items():
            if math.isfinite(number):
                values.setdefault(key, []).append(number)
    for key in list(values)[:_NUMBERS]:
        edges = np.unique(np.quantile(values[key], np.linspace(0, 1, _BINS + 1)[1:-1]))
        found += [("number", key, edges.tolist()), ("bits", key)]
    return found


def _whole(output: Output) -> str:
    return output if isinstance(output, str) else " ".join(output)


def _words(output: Output) -> tuple[str, ...]:
    return tuple(output.split()) if isinstance(output, str) else output


@lru_cache(1 << 15)
def _numbers(output: Output) -> dict[str, float]:
    """The numbers in an output by where they stand: the place, or what comes before "=", of a mapping."""
    found = {}
    for place, part in enumerate([output] if isinstance(output, str) else output):
        key, _, text = part.rpartition("=")
        try:
            found[key or str(place)] = float(value(text))
        except (ValueError, TypeError, OverflowError):
            continue
    return found


def _capitals(output: Output) -> str:
    return "".join("A" if each.isupper() else "a" if each.isalpha() else "." for each in _whole(output)[:_PLACES])


def _at(output: Output, place: int) -> str:
    words = _words(output)
    return words[place] if -len(words) <= place < len(words) else ""


def _number(output: Output, key: str, edges: list[float]) -> str:
    number = _numbers(output).get(key)
    return str(number) if number is None or not math.isfinite(number) else str(bisect_left(edges, number))


def _lowest_bit(output: Output, key: str) -> str:
    """The exponent of the last bit that is set: noise that was added to a number shows that number there."""
    number = _numbers(output).get(key)
    if not number or not math.isfinite(number):
        return "zero" if number == 0 else str(number)
    mantissa, exponent = math.frexp(number)
    whole = int(math.ldexp(mantissa, 53))
    return str(exponent - 53 + (whole & -whole).bit_length() - 1)


LOOKS: Final[dict[str, tuple[Callable[..., Output], str]]] = {
    "output": (lambda output: output, "the output"),
    "length": (lambda output: str(len(_words(output))), "an output whose number of words is"),
    "characters": (lambda output: str(len("".join(output))), "an output whose number of characters is"),
    "capitals": (_capitals, "an output whose pattern of capitals is"),
    "at": (_at, "an output with, at place {0},"),
    "holds": (lambda output, word: str(word in _words(output)), "an output that holds or not"),
    "number": (_number, "an output with a number in the range"),
    "bits": (_lowest_bit, "an output with a number whose last bit that is set has the exponent"),
}
"""What each kind of look shows of an output, and how that is said."""
