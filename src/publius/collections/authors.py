"""Who an author is: ids compared after normalization, and those that look like one person's shown to the curator."""

from __future__ import annotations

import hashlib
from collections import Counter, defaultdict
from collections.abc import Iterable
from typing import Final

from publius.errors import DataError, how_many
from publius.text.author_names import counted_name, identifier_key, name_key, one_author, plain_name

MOST_NAMES: Final = 20_000
"""Authors among whom those who may be one person are looked for; among more it would take memory for each letter."""

_SHORTEST_WITH_A_SLIP: Final = 6
_LONGEST_WITH_A_SLIP: Final = 64
"""Each name is compared without each of its letters, which takes the square of its length."""


LONGEST_NAME: Final = 1_024
"""As ledgers have it."""


def author_key(value: object) -> str | None:
    """The form in which authors' ids are compared: NFKC, casefold and trimmed, without characters that show nothing.

    None where no author is named.

    Numbers are written in decimal; 17.0 is 17, as spreadsheets give whole numbers. A list of one name is that name.
    `DataError` for several authors (`one_author`) or anything else: the caller adds the place of the row. No id is in
    the message.
    """
    if type(value) is str and value.isascii() and value.isprintable() and len(value) <= LONGEST_NAME:
        # Such text is its own NFKC; most names are, and every row has one.
        return value.casefold().strip() or None
    value = one_author(value)
    if value is None or (isinstance(value, float) and value != value):
        return None
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        raise DataError(f"an author's id must be text or a number, not {type(value).__name__}")
    name = str(value)
    # No normal form makes one character of more than four: of a longer name nothing need be normalized.
    key = name_key(name) if len(name.strip()) <= 4 * LONGEST_NAME else name
    if len(key) > LONGEST_NAME or any("\ud800" <= character <= "\udfff" for character in key):
        raise DataError(f"an author's id must be a text of Unicode, of at most {LONGEST_NAME:,} characters")
    return key or None


def counted_key(value: object) -> str | None:
    """The author a row counts as where documents of one author are looked for; None for a row that names nobody.

    However a name is written it is one author's. What else can be no author's id counts as an author's all the same, so
    that no row goes uncounted; `DataError` for several authors: each list would be a name of its own.
    """
    value = one_author(value)
    try:
        key = author_key(value)
    except DataError:
        return hashlib.sha256(repr(value).encode("utf-8", "backslashreplace")).hexdigest()
    return None if key is None or not counted_name(key) else identifier_key(key)


def check_documents_per_author(authors: Iterable[object], most: int) -> None:
    """`DataError`, with their number, where authors of documents have more than ``most`` of them.

    Rows that name nobody may all be one author's.
    """
    counts = Counter(map(counted_key, authors))
    unnamed = counts.pop(None, 0)
    if too_many := sum(count > most for count in counts.values()):
        raise DataError(
            f"{how_many(too_many, f'of {len(counts):,} authors has', f'of {len(counts):,} authors have')} more than "
            f"{how_many(most, 'document')}: declare the most with --documents-per-author, or leave some of their "
            "documents out"
        )
    if unnamed > most:
        raise DataError(
            f"{unnamed:,} documents name no author, and may all be by one, who then has more than "
            f"{how_many(most, 'document')}: say whose they are, declare the most with --documents-per-author, or leave "
            "some of them out"
        )


def near_duplicates(keys: Iterable[str]) -> list[tuple[str, ...]]:
    """Groups of different author keys that may be one person's, each sorted; for the curator's eyes only.

    Two keys are alike if they have the same letters and digits once accents, punctuation, spaces and the order of their
    words are gone, or, for keys of six to 64 letters without digits, if one letter is missing, added or another.
    (Numbers of customers differ by one digit all the time.) Whom they belong to is for the curator to decide: nothing
    is merged here, and two authors are protected one by one.
    """
    distinct = sorted(set(keys))
    parent = list(range(len(distinct)))

    def root(place: int) -> int:
        while parent[place] != place:
            parent[place] = place = parent[parent[place]]
        return place

    first: dict[str, int] = {}
    shortened: defaultdict[str, list[tuple[int, int]]] = defaultdict(list)
    for place, key in enumerate(distinct):
        plain = plain_name(key)
        if not plain:
            continue
        parent[root(place)] = root(first.setdefault(plain, place))
        may_slip = _SHORTEST_WITH_A_SLIP <= len(plain) <= _LONGEST_WITH_A_SLIP
        if may_slip and not any(character.isdigit() for character in plain):
            shortened[plain].append((place, -1))
            for at in range(len(plain)):
                shortened[plain[:at] + plain[at + 1 :]].append((place, at))
    for alike in shortened.values():
        # Without one letter both are the same: at the same place it is another letter; or one is the other's remainder.
        for place, at in alike[1:]:
            other, where = alike[0]
            if (
                at == where
                or -1 in (at, where)
                or _one_slip(plain_name(distinct[place]), plain_name(distinct[other]))
            ):
                parent[root(place)] = root(other)
    groups: defaultdict[int, list[str]] = defaultdict(list)
    for place, key in enumerate(distinct):
        groups[root(place)].append(key)
    return sorted(tuple(group) for group in groups.values() if len(group) > 1)


def _one_slip(a: str, b: str) -> bool:
    """Whether two texts of one length differ in one letter, or by two neighbors that changed places."""
    different = [place for place, (x, y) in enumerate(zip(a, b, strict=False)) if x != y]
    swapped = len(different) == 2 and different[1] == different[0] + 1 and sorted(a) == sorted(b)
    return len(a) == len(b) and (len(different) <= 1 or swapped)
