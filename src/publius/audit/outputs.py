"""An output of anybody's mechanism, as JSON has it, as what can be counted and stored, and what is counted of it.

A look is a tuple that can be stored: its kind and what it needs. It is chosen on some draws and judged on others, so
any function of the output will do; it never sees the input.
"""

from __future__ import annotations

import json
import math
from bisect import bisect_left
from collections import Counter
from collections.abc import Callable, Mapping
from functools import lru_cache
from typing import Any, Final

import numpy as np

from publius.errors import DataError

Output = str | tuple[str, ...]
Look = tuple[Any, ...]

BAG: Final = "bag"  # the unit whose outputs have no order
REFUSED: Final = "\0refused"
"""Stands for the output where an input that has outputs is refused now and then: whoever waits for it sees that."""
WHOLE: Final[Look] = ("output",)

_MOST_COPIES: Final = 10_000
_BEGINNINGS: Final = frozenset('"[{-0123456789tfnNI')
_PLACES: Final = 8
_HELD: Final = 24
_NUMBERS: Final = 8
_BINS: Final = 24


def plain(output: Any, unit: str) -> Output:
    """An output as what can be counted and stored; the words of a bag, unless it is text, in no order.

    Outputs that JSON tells apart differ, whatever they are: text stands as it is, or in quotes where it would read as a
    value of another kind, and all else as JSON. `DataError` where it is nothing that JSON can say.
    """
    if isinstance(output, Mapping):
        counted = unit == BAG and all(type(each) is int and each > 0 for each in output.values())
        if counted and sum(output.values()) <= _MOST_COPIES:
            return tuple(sorted(_part(word) for word in Counter(output).elements()))
        return tuple(sorted(f"{_part(key)}={_text(each)}" for key, each in output.items())) or "{}"
    if isinstance(output, list | tuple):
        words = [_part(each) for each in output]
        return tuple(sorted(words) if unit == BAG else words)
    return _text(output)


def value(text: str) -> Any:
    """The value that `plain` made ``text`` of."""
    return json.loads(text) if is_json(text) else text


def _part(value: Any) -> str:
    """Of a list or a mapping: the first equals sign outside quotes stands between a name and its value."""
    text = _text(value)
    quoted = text == value and ("=" in text or text[:1] in ('"', "[", "{"))
    return json.dumps(text, ensure_ascii=False) if quoted else text


def _text(value: Any) -> str:
    if isinstance(value, str) and not is_json(value):
        return value
    try:
        return json.dumps(value, sort_keys=True, ensure_ascii=False)
    except (TypeError, ValueError, RecursionError):
        raise DataError(f"an output is text, numbers, words or a bag, not {type(value).__name__}") from None


def is_json(text: str) -> bool:
    """Whether it would read as a value, by those who read JSON."""
    if text.lstrip()[:1] not in _BEGINNINGS:
        return False
    try:
        json.loads(text)
    except ValueError:
        return False
    except RecursionError:
        pass
    return True


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
