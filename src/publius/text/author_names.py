"""Names of authors as they are compared: what shows nothing, and how a name is written, makes no other person."""

from __future__ import annotations

import unicodedata
from typing import Final

import regex

_APOSTROPHES: Final = "'\u2019\u02bc`"
_ADDRESS: Final = regex.compile(r"<[^<>]*+>")


def without_invisible(name: str) -> str:
    """A name without the characters that format it and show nothing (category Cf), such as a zero-width space."""
    return "".join(character for character in name if unicodedata.category(character) != "Cf")


def plain_name(name: str) -> str:
    """Letters and digits of the words in alphabetical order, without accents."""
    bare = "".join(
        character if character.isalnum() else " "
        for character in unicodedata.normalize("NFKD", without_invisible(name))
        if not unicodedata.combining(character) and character not in _APOSTROPHES
    )
    return "".join(sorted(bare.split()))


_NOBODY: Final = frozenset(
    map(plain_name, ("", "nan", "none", "null", "n/a", "na", "unknown", "anonymous", "anon"))
)


def counted_name(name: str | None) -> str:
    """The name that an author is counted by where few must not look like many; empty for nobody.

    However a name is written, in another order, with an address behind it or with what cannot be seen: it is one
    person. Two people who are taken for one only keep more words back.
    """
    written = (name or "").casefold()
    found = plain_name(_ADDRESS.sub(" ", written)) or plain_name(written)
    return "" if found in _NOBODY else found
