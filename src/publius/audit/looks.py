"""What is counted of outputs: an output itself, its length, a place in it, a word, its last bits.

A look is a tuple that can be stored: its kind and what it needs. It is chosen on some draws and judged on others, so
any function of the output will do; it never sees the input.
"""

from __future__ import annotations

import math
from bisect import bisect_left
from collections import Counter
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
    whole = output if isinstance(output, str) else " ".join(output)
    return word.casefold() in whole.casefold()


def seen(look: Look, output: Output) -> Output:
    """The value that ``look`` shows of ``output``."""
    kind = look[0]
    if kind == "output":
        return output
    if kind == "length":
        return str(len(_words(output)))
    if kind == "characters":
        return str(len(output) if isinstance(output, str) else sum(map(len, output)))
    if kind == "capitals":
        whole = output if isinstance(output, str) else " ".join(output)
        return "".join("A" if each.isupper() else "a" if each.isalpha() else "." for each in whole[:_PLACES])
    if kind == "at":
        words = _words(output)
        return words[look[1]] if -len(words) <= look[1] < len(words) else ""
    if kind == "holds":
        return str(look[1] in _words(output))
    number = _numbers(output).get(look[1])
    if number is None or not math.isfinite(number):
        return str(number)
    if kind == "number":
        return str(bisect_left(look[2], number))
    return _lowest_bit(number)


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
        order = sorted(
            set(words[0] | words[1]), key=lambda word: (-abs(words[0][word] - words[1][word]), word)
        )
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


def _lowest_bit(number: float) -> str:
    """The exponent of the last bit that is set: noise that was added to a number shows that number there."""
    if number == 0:
        return "zero"
    mantissa, exponent = math.frexp(number)
    whole = int(math.ldexp(mantissa, 53))
    return str(exponent - 53 + (whole & -whole).bit_length() - 1)
