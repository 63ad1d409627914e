"""Names of authors as they are compared."""

from __future__ import annotations

from publius.text.normal_form import compared, normal_form


def author_key(value: object) -> str | None:
    """The key under which an author counts: NFKC, case folded, trimmed; None where the value names nobody.

    >>> author_key(" Ada LOVELACE "), author_key(17.0), author_key("")
    ('ada lovelace', '17', None)
    """
    if value is None or value != value:
        return None
    return normal_form("NFKC", normal_form("NFKC", compared(value)).casefold()).strip() or None
