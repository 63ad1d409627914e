"""An output of anybody's mechanism, as JSON has it, as what can be counted, compared and stored: text, or texts."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, Final

from publius.errors import DataError

Output = str | tuple[str, ...]

BAG: Final = "bag"
"""The unit whose outputs have no order."""
REFUSED: Final = "\0refused"
"""Stands for the output where an input that has outputs is refused now and then: whoever waits for it sees that."""

_MOST_COPIES: Final = 10_000
_BEGINNINGS: Final = frozenset('"[{-0123456789tfnNI')


def plain(output: Any, unit: str) -> Output:
    """An output as what can be counted and stored; the words of a bag, unless it is text, in no order.

    Outputs that JSON tells apart differ, whatever they are: text stands as it is, or in quotes where it would read as a
    value of another kind, and all else as JSON. `DataError` where it is nothing that JSON can say.
    """
    if isinstance(output, Mapping):
        counts = [each for each in output.values() if type(each) is int and each >= 0]
        if unit == BAG and len(counts) == len(output) and sum(counts) <= _MOST_COPIES:
            words = [_part(word) for word, count in output.items() for _ in range(count)]
            none = [f"{_name(word)}=0" for word, count in output.items() if not count]
            return tuple(sorted([*words, *none]))
        return tuple(sorted(f"{_name(key)}={_text(each)}" for key, each in output.items())) or "{}"
    if isinstance(output, list | tuple):
        words = [_part(each) for each in output]
        return tuple(sorted(words) if unit == BAG else words)
    return _text(output)


def value(text: str) -> Any:
    """The value that `plain` made ``text`` of."""
    return json.loads(text) if is_json(text) else text


def _part(value: Any) -> str:
    """Of a list: text without an equals sign, which stands between a name and its value."""
    text = _text(value)
    return json.dumps(text, ensure_ascii=False) if text == value and "=" in text else text


def _name(value: Any) -> str:
    """Of a mapping: it ends at the first equals sign, or where its quotes end."""
    text = _text(value)
    inside = text == value and ("=" in text or text[:1] in ('"', "[", "{"))
    return json.dumps(text, ensure_ascii=False) if inside else text


def _text(value: Any) -> str:
    if isinstance(value, str) and not is_json(value):
        return value
    try:
        return json.dumps(value, sort_keys=True, ensure_ascii=False)
    except (TypeError, ValueError, RecursionError):
        raise DataError(f"an output is text, numbers, words or a bag, not {type(value).__name__}") from None


def is_json(text: str) -> bool:
    """Whether it would read as a value, by those who read JSON."""
    text = text.strip()
    if not text or text[0] not in _BEGINNINGS:
        return False
    try:
        json.loads(text)
    except ValueError:
        return False
    except RecursionError:
        pass
    return True
