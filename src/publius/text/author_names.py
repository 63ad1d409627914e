"""Names of authors as they are compared: what shows nothing, and how a name is written, makes no other person."""

from __future__ import annotations

import unicodedata
from collections.abc import Collection, Mapping
from typing import Final, TypeGuard, final

import regex

from publius.errors import DataError
from publius.text.normal_form import normal_form

_APOSTROPHES: Final = "'\u2019\u02bc`"
_INVISIBLE: Final = regex.compile(r"[\p{Cf}\p{Default_Ignorable_Code_Point}]")
_EDGE: Final = regex.compile(r"(?<=\p{L})(?=\p{N})|(?<=\p{N})(?=\p{L})")
_ZEROS: Final = regex.compile(r"(?<!\p{N})0+(?=\p{N})")
_RUN: Final = regex.compile(r"\p{L}+|\p{N}+|@")
_ADDRESS: Final = regex.compile(r"<[^<>]*+>")
_WHOLE_NUMBER: Final = regex.compile(r"\s*(\d+)\.0+\s*")
_NAME: Final = regex.compile(r"[,(]?\p{L}{2,}[.,)]*")


def one_author(value: object) -> object:
    """The value of a field of authors; of a list with one name that name, and None where it holds none.

    An array, as data frames hold lists, and a set are lists here. `DataError` for several authors, for an object and
    for a list in a list: the caller adds the place of the row. No name is in the message.
    """
    if _is_list(value):
        named = [each for each in value if not _is_nobody(each)]
        if len(named) > 1:
            raise DataError(
                f"a document has {len(named)} authors: the promise is to one author with all of his documents, so give "
                "one of them, or a name that stands for all of them together"
            )
        value = named[0] if named else None
    if isinstance(value, Collection) and not isinstance(value, str):
        raise DataError(f"an author's id must be text or a number, not {type(value).__name__}")
    return value


def _is_list(value: object) -> TypeGuard[Collection[object]]:
    return isinstance(value, Collection) and not isinstance(value, str | bytes | Mapping)


def _is_nobody(value: object) -> bool:
    if isinstance(value, Collection) and not isinstance(value, str):
        return False
    blank = isinstance(value, str) and not without_invisible(value).strip()
    return value is None or value != value or blank


def without_invisible(name: str) -> str:
    """A text without the characters that format it or show nothing, such as a zero-width space or a filler."""
    return str(_INVISIBLE.sub("", name))


def name_key(name: str) -> str:
    """The form in which a name counts: NFKC, casefold and trimmed, without characters that show nothing."""
    folded = normal_form("NFKC", without_invisible(name)).casefold()
    return normal_form("NFKC", folded).strip()


def _bare(name: str) -> str:
    """A name without accents."""
    apart = normal_form("NFKD", without_invisible(name))
    return "".join(character for character in apart if not unicodedata.combining(character))


def plain_name(name: str) -> str:
    """Letters and digits of the words in alphabetical order, without accents."""
    bare = "".join(
        character if character.isalnum() else " "
        for character in _bare(name)
        if character not in _APOSTROPHES
    )
    return "".join(sorted(bare.split()))


_LOOK_ALIKE: Final = str.maketrans(
    "\u0430\u0432\u0435\u0437\u043a\u043c\u043d\u043e\u0440\u0441\u0442\u0443\u0445\u0456\u0458\u0455\u0501\u051b\u051d"
    "\u03b1\u03b2\u03b5\u03b9\u03ba\u03bd\u03bf\u03c1\u03c4\u03c5\u03c7\u03b7\u03bc\u0131",
    "abe3kmhopctyxijsdqwabeikvoptuxhmi",
)
"""Cyrillic and Greek letters, small, that look like Latin ones as capitals or as small letters; i without its dot."""

_NOBODY: Final = frozenset(
    map(
        plain_name,
        (
            "", "nan", "none", "null", "n/a", "na", "unknown", "anonymous", "anon", "nobody", "unnamed", "no name",
            "no author", "not known", "not given", "not stated", "undisclosed", "withheld", "redacted", "deleted",
            "removed", "guest", "unbekannt", "anonym", "anonyme", "inconnu", "anonimo", "desconocido", "anoniem",
        ),
    )
)  # fmt: skip
"""What tables have in the place of a name."""


def counted_name(name: str | None) -> str:
    """The name that an author is counted by where few must not look like many; empty for nobody.

    However a name is written, in another order, with an address behind it, with what cannot be seen, or with Cyrillic
    or Greek letters that look like Latin ones: it is one person; so is an identifier, whatever stands between its
    letters and digits, and with zeros before a number. Two names that are taken for one only keep more words back.
    """
    plain = plain_name(_ZEROS.sub("", _EDGE.sub(" ", _spoken(name or "").casefold().translate(_LOOK_ALIKE))))
    return "" if plain in _NOBODY else plain


def _spoken(name: str) -> str:
    """A name without the address behind it, where more than that is there; of a whole number its digits alone."""
    if whole := _WHOLE_NUMBER.fullmatch(name):
        return str(whole[1])
    return next((each for each in (_ADDRESS.sub(" ", name), name) if plain_name(each)), "")


def identifier_key(name: str) -> str:
    """As `counted_name`, but that of an identifier letters and numbers count in their order: 1-12 is not 11-2.

    C-012 is c12 here, too, 17.0 is 17, an address keeps its @, and names beside a number may stand in any order. Where
    few must not look like many, and two customers are not to be taken for one. What stands for nobody is a name of its
    own.
    """
    found = name_key(_bare(_spoken(name)))
    if not any(character.isdigit() for character in found):
        return counted_name(name) or without_invisible(name).casefold().strip()
    parts = found.split()
    names = [part for part in parts if _NAME.fullmatch(part)]
    if len(names) == len(parts) - 1:
        found = " ".join((*sorted(names, key=plain_name), *(part for part in parts if part not in names)))
    runs = _RUN.findall(_ZEROS.sub("", found))
    pairs = zip(runs, ["", *runs], strict=False)
    return "".join(f"-{run}" if run.isdigit() and before.isdigit() else run for run, before in pairs)


@final
class Spellings:
    """One label for each author of a corpus: the first spelling of the name; see `identifier_key`.

    An author under several spellings would be several, and an adversary who names the right person under another one
    would be counted as wrong. What stands for nobody is no author's: named by habit, it would hide who is found.
    """

    def __init__(self) -> None:
        """No author is known yet."""
        self._first: dict[str, str] = {}
        self._others: set[str] = set()

    def label(self, name: str) -> str | None:
        """The first spelling of this author's name; None for what stands for nobody, such as "anonymous"."""
        if not counted_name(name):
            return None
        first = self._first.setdefault(identifier_key(name), name)
        if first != name:
            self._others.add(name)
        return first

    @property
    def merged(self) -> int:
        """How many spellings there were beside the first ones."""
        return len(self._others)
