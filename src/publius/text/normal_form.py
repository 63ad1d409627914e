"""Normal forms of Unicode in a time linear in any text, and values as they are compared.

Everything that people wrote is normalized here and nowhere else: sorting a run of combining marks, as every normal form
does, takes a time that grows with its square, and one value of 16 MB would take half a day.
"""

from __future__ import annotations

import codecs
import datetime
import decimal
import unicodedata
from collections import Counter
from collections.abc import Iterator
from typing import Any, Final, Literal

import regex

# Sorting a run of combining marks takes a time that grows with its square, so a run is broken after 30 of them, as the
# Stream-Safe Text Format of Unicode (UAX 15) has it: no orthography comes near. What `regex` does not know yet counts
# as a mark; what breaks a run ends it. A run of 31 shows as 10 in every third character, which is quicker to look for.
_BREAK = "\u034f"
_LONGEST_RUN = 30
_MARK = rf"[[\p{{M}}\p{{Cn}}]--{_BREAK}]"
_LONG_RUN = regex.compile(rf"(?V1)(?<!{_MARK}){_MARK}{{31,}}+")
_TRACE_OF_ONE = regex.compile(r"[\p{M}\p{Cn}]{10}")
# What joins no character before it under any form, so that a text can be cut there.
_STARTER = regex.compile(
    r"[^\p{M}\p{Cn}\p{Hangul_Syllable_Type=V}\p{Hangul_Syllable_Type=T}\U00016d40-\U00016d7f"
    rf"\u0e33\u0eb3\u3130-\u318f\uffa0-\uffdf]|{_BREAK}"
)
# Two letters that the compatibility forms turn into marks, so that they could stand in a run with others.
_HALF_WIDTH = {0xFF9E: "\u3099", 0xFF9F: "\u309a"}
_PIECE = 2**16  # characters composed at once: between two an interrupt is heard
LONGEST_TEXT: Final = 16 * 2**20  # characters after which a text is cut; the compatibility forms make 18 of one
_UNSEEN = regex.compile(r"\p{Default_Ignorable_Code_Point}")

CP1252: Final = "rows that are not UTF-8, read as windows-1252"
Tally = Counter[str]  # how many rows there were of each thing that a curator is told about
UNHEARD: Final = Tally()  # where nobody is told


def normal_form(form: Literal["NFC", "NFKC", "NFKD"], text: str) -> str:
    """``text`` in a normal form, after every 30 combining marks in a row a combining grapheme joiner; cut where too long."""
    if text.isascii():
        return text
    if form != "NFC" and ("\uff9e" in text or "\uff9f" in text):
        text = text.translate(_HALF_WIDTH)
    parts, left = list[str](), LONGEST_TEXT
    for piece in cut(broken(text), _PIECE, _STARTER):
        parts.append(unicodedata.normalize(form, piece)[:left])
        left -= len(parts[-1])
        if not left:
            break
    return "".join(parts)


def compared(value: object) -> str:
    """A value as it is compared: trimmed, in NFC."""
    return normal_form("NFC", said(value) or "").strip()


def author_key(value: object) -> str | None:
    """The key under which an author counts; None where the value names nobody.

    NFKC and case folded, as Unicode's NFKC_Casefold without characters that nobody sees, white space as one blank.

    >>> author_key(" Ada LOVELACE "), author_key(17.0), author_key("")
    ('ada lovelace', '17', None)
    """
    if type(value) is str and value.isascii():
        return " ".join(value.casefold().split()) or None  # what follows changes none
    folded = _UNSEEN.sub("", normal_form("NFKC", compared(value)).casefold())
    return " ".join(normal_form("NFKC", folded).split()) or None


def cut(text: str, size: int, place: regex.Pattern[str]) -> Iterator[str]:
    """``text`` in parts, each cut before the first ``place`` after ``size`` characters."""
    start = 0
    while start < len(text):
        found = place.search(text, start + size)
        end = found.start() if found else len(text)
        yield text[start:end]
        start = end


def may_have_long_run(text: str) -> bool:
    """Whether there may be a run of combining marks that `normalize` breaks."""
    return _TRACE_OF_ONE.search(text[::3]) is not None


def composed(text: str) -> str:
    """``text`` in NFC, its runs of combining marks broken."""
    found = normal_form("NFC", text)
    # NFC also takes characters apart, a mark into two: a run can have grown.
    return text if found == text else broken(found)


def broken(text: str) -> str:
    """``text`` with a break after every 30 combining marks in a row."""
    return _LONG_RUN.sub(_break, text) if may_have_long_run(text) else text


def _break(run: regex.Match[str]) -> str:
    marks = run.group()
    return _BREAK.join(marks[start : start + _LONGEST_RUN] for start in range(0, len(marks), _LONGEST_RUN))


# Values ---------------------------------------------------------------------------------------------------


def said(value: Any) -> str | None:
    """A value of a table as people write it: whole numbers without a point, dates in ISO form; None for no value."""
    if isinstance(value, str):
        return value
    if isinstance(value, decimal.Decimal):
        plain = f"{value:f}"
        return None if value.is_nan() else plain.rstrip("0").rstrip(".") if "." in plain else plain
    if value is None or value != value:
        return None
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    if isinstance(value, (datetime.date, datetime.time)):
        return value.isoformat()
    if isinstance(value, bytes):
        return decoded(value)
    if isinstance(value, list):
        return "; ".join(sorted(filter(None, map(said, value)))) or None
    return str(value)


# The bytes that Windows-1252 lacks are as in Latin-1.
_CP1252: Final = "".join(bytes([each]).decode("cp1252", "ignore") or chr(each) for each in range(256))


def decoded(data: bytes, tally: Tally = UNHEARD, whole: str | None = None) -> str:
    """Text in the encoding of the ``whole`` file if it has one; else UTF-8, or cp1252 where it is not."""
    if whole is not None:
        return data.decode(whole, "replace")
    try:
        return data.decode()
    except UnicodeDecodeError:
        tally[CP1252] += 1
        return codecs.charmap_decode(data, "strict", _CP1252)[0]
