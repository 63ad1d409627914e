"""Passages: sentences of public texts that may be quoted, because whoever learned from the texts said so.

A sentence may be quoted only if each of its words is public (used by enough authors, see `public_words`) or a stop
word that as many use, and if nothing in it points at somebody: a long number, an address, mail, a link. So a quotation
shows no word that few use, in an order that one public author gave it.
"""

from __future__ import annotations

from collections.abc import Container, Iterator, Sequence
from itertools import islice
from typing import Final

import regex

from publius.text.author_names import counted_name
from publius.text.identifiers import without_identifiers
from publius.text.tokenizer import tokenize
from publius.vectors.learning.public_themes import PublicThemes, counted
from publius.vectors.learning.public_words import PublicText

PER_THEME: Final = 10
"""So many passages of a theme are kept at most, each of another author."""

_SHORTEST, _LONGEST = 40, 280
_LEAST_WORDS: Final = 5
_AT_ONCE: Final = 4096

# Paragraphs are ended by a blank line: the lines of one were broken to fit a page.
_PARAGRAPH: Final = regex.compile(r"\r?\n[^\S\n]*\r?\n")
_END: Final = regex.compile(
    r"(?<=[.!?]|[.!?][\"'\u2019\u201d)])\s+(?=[\p{Lu}\p{Lo}\"\u201c(])|(?<=[\u3002\uff01\uff1f])"
)
_PLAIN: Final = regex.compile(
    r"[\"\u201c(]?[\p{Lu}\p{Lo}]"
    r"[\p{L}\p{M}\p{N} ,;:'\"\u2019\u201c\u201d()\-\u2013\u2014.!?%$\u20ac\u00a3/\u3001\u3002\uff01\uff1f\uff0c]*"
    r"[.!?\u3002\uff01\uff1f][\"'\u2019\u201d)]?"
)
"""From a capital, or a letter of a script that has none, to the end of a sentence, with usual marks only."""


def sentences(text: str) -> Iterator[str]:
    """The whole sentences of a text between 40 and 280 characters that nothing was taken out of.

    >>> list(sentences("The bank charged a fee that nobody could explain. Call 0171 555 0199 for the rest of it."))
    ['The bank charged a fee that nobody could explain.']
    """
    for paragraph in _PARAGRAPH.split(text):
        for sentence in _END.split(without_identifiers(" ".join(paragraph.split()))):
            if _SHORTEST <= len(sentence) <= _LONGEST and _PLAIN.fullmatch(sentence):
                yield sentence


def typical_passages(
    texts: Sequence[PublicText],
    themes: PublicThemes,
    public: Container[str],
    stops: Container[str],
    at_least: int,
    profile: str,
) -> tuple[tuple[str, ...], ...]:
    """For each theme its most typical sentences of public texts, at most ten, the most typical first.

    Typical is a sentence whose words lie, as a document's do, at the smallest angle to the theme, and nearer to no
    other; it has at least five different words of the themes. An author, or a text where nobody knows the authors,
    has one sentence of a theme at most. ``public`` are the words that become public; a word of ``stops`` may be quoted
    where sentences of ``at_least`` authors have it.
    """
    found: list[list[tuple[float, str, str]]] = [[] for _ in range(themes.size)]
    candidates = _candidates(texts, themes, public, stops, at_least, profile)
    while some := list(islice(candidates, _AT_ONCE)):
        bags = [dict.fromkeys(words, 1) for _, _, words in some]
        likeness = themes.likeness(counted(bags, themes.vocabulary))
        nearest = likeness.argmax(axis=1)
        for place, (sentence, author, _) in enumerate(some):
            theme = int(nearest[place])
            found[theme].append((float(-likeness[place, theme]), sentence, author))
        found = [_best(each) for each in found]
    return tuple(tuple(sentence for _, sentence, _ in each) for each in found)


def _candidates(
    texts: Sequence[PublicText],
    themes: PublicThemes,
    public: Container[str],
    stops: Container[str],
    at_least: int,
    profile: str,
) -> Iterator[tuple[str, str, list[str]]]:
    """Sentences that may be quoted, their authors, and their words that themes are made of."""
    found = [
        (sentence, f"text {place}" if text.author is None else f"author {counted_name(text.author)}")
        for place, text in enumerate(texts)
        for sentence in text.sentences
    ]
    users: dict[str, set[str]] = {}
    for sentence, author in found:
        for word in tokenize(sentence, profile):
            if word in stops:
                users.setdefault(word, set()).add(author)
    telling = frozenset(themes.vocabulary)
    for sentence, author in found:
        words = {*tokenize(sentence, profile)}
        own = sorted(telling & words)
        if len(own) >= _LEAST_WORDS and all(
            word in public or len(users.get(word, ())) >= at_least for word in words
        ):
            yield sentence, author, own


def _best(found: list[tuple[float, str, str]]) -> list[tuple[float, str, str]]:
    """The most typical, of each author and of each wording one."""
    kept, authors, wordings = [], set(), set()
    for each in sorted(found):
        if each[2] not in authors and each[1].casefold() not in wordings:
            kept.append(each)
            authors.add(each[2])
            wordings.add(each[1].casefold())
    return kept[:PER_THEME]
