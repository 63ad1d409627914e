"""An output of anybody's mechanism as what can be counted, compared and stored: text, or a tuple of texts.

Nothing heavy is imported here: the process of a target starts with it.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping
from typing import Any, Final

from publius.errors import DataError

Output = str | tuple[str, ...]

BAG: Final = "bag"
"""The unit whose outputs have no order."""
REFUSED: Final = "\0refused"
"""Stands for the output where an input that has outputs is refused now and then: whoever waits for it sees that."""

_MOST_COPIES: Final = 10_000


def plain(output: Any, unit: str) -> Output:
    """An output as what can be counted and stored; the words of a bag, unless it is text, in no order.

    `DataError` where it is nothing that JSON can say.
    """
    if isinstance(output, str):
        return output
    if isinstance(output, imported("publius.text.bag", "Bag")):
        output = output.counts
    if isinstance(output, Mapping):
        counts = [each for each in output.values() if type(each) is int and each >= 0]
        if unit == BAG and len(counts) == len(output) and sum(counts) <= _MOST_COPIES:
            return tuple(sorted(str(word) for word, count in output.items() for _ in range(count)))
        return tuple(sorted(f"{key}={_text(value)}" for key, value in output.items()))
    if isinstance(output, imported("numpy", "ndarray")):
        output = output.tolist()
    if isinstance(output, list | tuple):
        words = [_text(each) for each in output]
        return tuple(sorted(words) if unit == BAG else words)
    return _text(output)


def imported(module: str, name: str) -> Any:
    """A class of a module; where nobody has imported that, none: nothing can be one, nor under one."""
    return getattr(sys.modules.get(module), name, ())


def _text(value: Any) -> str:
    if isinstance(value, str):
        return value
    if isinstance(value, imported("numpy", "generic")):
        value = value.item()
    if isinstance(value, imported("numpy", "ndarray")):
        value = value.tolist()
    try:
        return json.dumps(value, sort_keys=True, ensure_ascii=False)
    except (TypeError, ValueError, RecursionError):
        raise DataError(f"an output is text, numbers, words or a bag, not {type(value).__name__}") from None
