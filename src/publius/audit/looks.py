"""What is counted of outputs: an output itself, its length, a place in it, a word, its last bits.

A look is a tuple that can be stored: its kind and what it needs. It is chosen on some draws and judged on others, so
any function of the output will do; it never sees the input.
"""

from __future__ import annotations

import json
import math
from collections import Counter
from collections.abc import Mapping
from typing import Any, Final

import numpy as np

from publius.audit.claim import BAG
from publius.errors import DataError
from publius.text.bag import Bag

Output = str | tuple[str, ...]
Look = tuple[Any, ...]

WHOLE: Final[Look] = ("output",)
REFUSED: Final = "\0refused"
"""Stands for the output where an input that has outputs is refused now and then: whoever waits for it sees that."""

_PLACES: Final = 8
_HELD: Final = 24
_NUMBERS: Final = 8
_BINS: Final = 24
_MOST_COPIES: Final = 10_000


def plain(output: Any, unit: str) -> Output:
    """An output as what can be counted and stored; the words of a bag, unless it is text, in no order.

    `DataError` where it is nothing that JSON can say.
    """
    if isinstance(output, str):
        return output
    if isinstance(output, Bag):
        output = output.counts
    if isinstance(output, Mapping):
        counts = [each for each in output.values() if type(each) is int and each >= 0]
        if unit == BAG and len(counts) == len(output) and sum(counts) <= _MOST_COPIES:
            return tuple(sorted(str(word) for word, count in output.items() for _ in range(count)))
        return tuple(sorted(f"{key}={_text(value)}" for key, value in output.items()))
    if isinstance(output, np.ndarray):
        output = output.tolist()
    if isinstance(output, list | tuple):
        words = [_text(each) for each in output]
        return tuple(sorted(words) if unit == BAG else words)
    return _text(output)


def _text(value: Any) -> str:
    if isinstance(value, str):
        return value
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, np.ndarray):
        value = value.tolist()
    try:
        return json.dumps(value, sort_keys=True, ensure_ascii=False)
    except (TypeError, ValueError):
        raise DataError(f"an output is text, numbers, words or a bag, not {type(value).__name__}") from None


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
        return str(int(np.searchsorted(look[2], number)))
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
        for key, value in _numbers(output).items():
            if math.isfinite(value):
                values.setdefault(key, []).append(value)
    for key in list(values)[:_NUMBERS]:
        edges = np.unique(np.quantile(values[key], np.linspace(0, 1, _BINS + 1)[1:-1]))
        found += [("number", key, edges.tolist()), ("bits", key)]
    return found


def _words(output: Output) -> tuple[str, ...]:
    return tuple(output.split()) if isinstance(output, str) else output


def _numbers(output: Output) -> dict[str, float]:
    """The numbers in an output by where they stand: the place, or what comes before "=", of a mapping."""
    found = {}
    for place, part in enumerate([output] if isinstance(output, str) else output):
        key, _, value = part.rpartition("=")
        try:
            found[key or str(place)] = float(value)
        except ValueError:
            continue
    return found


def _lowest_bit(number: float) -> str:
    """The exponent of the last bit that is set: noise that was added to a number shows that number there."""
    if number == 0:
        return "zero"
    mantissa, exponent = math.frexp(number)
    whole = int(math.ldexp(mantissa, 53))
    return str(exponent - 53 + (whole & -whole).bit_length() - 1)
