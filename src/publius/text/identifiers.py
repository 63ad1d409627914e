"""Parts of a text that point at somebody by themselves: long numbers, addresses, mail, links.

Words that stand there are no words of the language: they never count towards what may become public. Found by form
alone, in the scripts of Europe and with the names of streets in English, German, French, Spanish and Italian.
"""

from __future__ import annotations

from functools import cache
from itertools import groupby
from typing import Any, Final

import regex

DIGITS: Final = 5
"""From so many digits on a number is long, whatever stands between them on one line: a postcode is, a year is not."""

_CODE_RUNS: Final = 4  # x7k9: letters and digits in turn

# Every repetition is bounded or possessive, and long runs are entered at their first character only: linear time.
_BETWEEN = r"[^\p{L}\p{N}\p{M}\r\n]{0,5}+"
_MAIL = r"(?<![\p{L}\p{N}\p{M}._%+'\-])[\p{L}\p{N}\p{M}._%+'\-]++[ ]?[@\uff20][ ]?[\p{L}\p{N}\p{M}.\-]++"
_HANDLE = r"[@\uff20][\p{L}\p{N}_]++"
_LINK = r"(?<![\p{L}\p{N}])(?:[a-z][a-z0-9+.\-]{1,15}+://|www\.|mailto:|tel:)\S++"
_DOMAIN = (
    r"(?<![\p{L}\p{N}.@\-])(?:[\p{L}\p{N}][\p{L}\p{N}\-]*+\.){1,12}"
    r"(?:com|org|net|edu|gov|mil|int|info|biz|online|shop|site|[a-z]{2})(?![\p{L}\p{N}\-])(?:/\S*+)?"
)
_MACHINE = r"(?<![\p{L}\p{N}])(?:[0-9a-f]{1,4}:){3,15}[0-9a-f]{0,4}"
_BANK = r"(?<![\p{L}\p{N}])[a-z]{2}[0-9]{2}(?:[ ]?[a-z0-9]{4}){3,8}(?:[ ]?[a-z0-9]{1,3})?(?![\p{L}\p{N}])"
_NUMBER = rf"\p{{N}}(?:{_BETWEEN}\p{{N}}){{{DIGITS - 1},}}+"
_POSTCODE = (
    r"(?<![\p{L}\p{N}])(?:[a-z]{1,2}[0-9][a-z0-9]?[ ]?[0-9][a-z]{2}|[a-z][0-9][a-z][ ]?[0-9][a-z][0-9]"
    r"|(?-i:[0-9]{4}[ ]?[A-Z]{2}))(?![\p{L}\p{N}])"
)
_WORD = r"\p{L}[\p{L}\p{M}'\u2019.\-]{0,40}+"
_HOUSE = r"(?<![\p{L}\p{N}])[0-9]{1,5}[ ]?[a-z]?(?:[ ]?-[ ]?[0-9]{1,5})?,?[ ]"
_STREET = (
    rf"{_HOUSE}(?:{_WORD}[ ]){{1,2}}(?:street|road|avenue|lane|boulevard|terrace|crescent|square)(?!\p{{L}})"
    rf"|{_HOUSE}(?:(?-i:\p{{Lu}})[\p{{L}}\p{{M}}'\u2019.\-]{{0,40}}+[ ]){{1,3}}"
    r"(?:st|rd|ave|ln|drive|dr|blvd|court|ct|place|sq|close|way|row|gardens|parkway|pkwy|highway|hwy)(?!\p{L})"
    rf"|{_HOUSE}(?:bis[ ])?(?:rue|avenue|boulevard|place|chemin|all\u00e9e|quai|impasse)[ ]"
    rf"(?:(?:de|du|des|la|le|les)[ ]|[ld]['\u2019]){{0,3}}{_WORD}(?:[ ](?-i:\p{{Lu}})\p{{L}}{{0,40}}+){{0,2}}"
    r"|(?<!\p{L})\p{L}{1,40}?(?:stra\u00dfe|strasse|str\.|gasse|weg|platz|allee|ufer|damm)"
    r"[ ][0-9]{1,4}[ ]?[a-z]?(?!\p{L})"
    rf"|(?<!\p{{L}})(?:calle|avenida|plaza|paseo|via|viale|piazza|corso)[ ](?:{_WORD},?[ ]){{1,4}}"
    r"(?:n\.?\u00ba?[ ]?)?[0-9]{1,4}"
    r"|(?<!\p{L})(?:p\.?[ ]?o\.?[ ]?box|postfach)[ ][0-9]++"
)


@cache
def _identifier() -> Any:
    """Compiled when the first text comes: a start need not wait for it."""
    forms = (_MAIL, _LINK, _DOMAIN, _HANDLE, _MACHINE, _BANK, _STREET, _POSTCODE, _NUMBER)
    return regex.compile("|".join(forms), regex.IGNORECASE)


_DIGIT = regex.compile(r"\p{N}")


def without_identifiers(text: str, instead: str = "\n") -> str:
    """``text`` with a line break, or what stands ``instead``, in place of each long number, address, mail and link.

    >>> without_identifiers("Write to jane.doe@example.org or call 0171 555 0199").split()
    ['Write', 'to', 'or', 'call']
    """
    return str(_identifier().sub(instead, text))


def is_identifier(word: str) -> bool:
    """Whether a word by itself is a long number, a code, or a part of an address.

    >>> [word for word in ("2019", "07700900123", "x7k9", "555-0199", "covid-19") if is_identifier(word)]
    ['07700900123', 'x7k9', '555-0199']
    """
    if "@" in word or "://" in word or word.startswith("www."):
        return True
    digits = len(_DIGIT.findall(word))
    if not digits:
        return False
    kinds = [_DIGIT.match(character) is not None for character in word if character.isalnum()]
    return digits >= DIGITS or sum(1 for _ in groupby(kinds)) >= _CODE_RUNS
