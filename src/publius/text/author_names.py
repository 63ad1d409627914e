"""Names of authors as they are compared."""

from __future__ import annotations

import regex

from publius.text.normal_form import compared, normal_form

_UNSEEN = regex.compile(r"\p{Default_Ignorable_Code_Point}")


def author_key(value: object) -> str | None:
    """The key under which an author counts; None where the value names nobody.

    NFKC and case folded, as Unicode's NFKC_Casefold without characters that nobody sees, white space as one blank.

    >>> author_key(" Ada LOVELACE "), author_key(17.0), author_key("")
    ('ada lovelace', '17', None)
    """
    if value is None or value != value:
        return None
    if type(value) is str and value.isascii():
        return " ".join(value.casefold().split()) or None  # what follows changes none
    folded = _UNSEEN.sub("", normal_form("NFKC", compared(value)).casefold())
    return " ".join(normal_form("NFKC", folded).split()) or None
