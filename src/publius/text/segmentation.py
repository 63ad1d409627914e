"""Scripts that are written without spaces: runs of them are cut into words by ICU, of the extra ``segmentation``.

ICU has dictionaries of Chinese and Japanese, Thai, Lao, Khmer and Burmese in itself, so its version says how a text was
cut. The time it takes is linear in the length of a run.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import Any, Final

import regex

from publius.errors import extra

_SCRIPTS: Final = ("Han", "Hiragana", "Katakana", "Thai", "Lao", "Khmer", "Myanmar")
UNSPACED: Final = regex.compile("[" + "".join(rf"\p{{Script_Extensions={each}}}" for each in _SCRIPTS) + "]++")
"""A run of characters of these scripts."""

_END: Final = "\n"  # stands in no run, and no word reaches beyond it


@cache
def _breaker() -> Any:
    with extra("segmentation", "icu4py"):
        from icu4py.breakers import WordBreaker
    return WordBreaker


def check_segmentation() -> None:
    """`MissingExtraError` when the extra is not installed."""
    _breaker()


def segmentation_version() -> str:
    """The version of ICU, with the dictionaries in it; "none" without the extra."""
    try:
        from icu4py import icu_version
    except ImportError:
        return "none"
    return str(icu_version)


def segments(runs: Sequence[str]) -> list[list[str]]:
    """The words of each run, all of it in their order."""
    if not runs:
        return []
    text = _END.join(runs)
    places = _breaker()(text, "en").segments()  # the dictionaries are the same whatever language is named
    if max(text) <= "\uffff":
        words = (text[start:end] for start, end in places)
    else:  # ICU counts in these
        units = text.encode("utf-16-le", "surrogatepass")
        words = (units[2 * start : 2 * end].decode("utf-16-le", "surrogatepass") for start, end in places)
    found: list[list[str]] = [[]]
    for word in words:
        if word == _END:
            found.append([])
        else:
            found[-1].append(word)
    return found
