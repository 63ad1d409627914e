"""Which words of public texts become public: those that enough authors use, and none that points at somebody.

Whatever is learned from texts tells of its vocabulary, and a release draws from it. So a word is counted by the
authors who use it, not by how often or in how many texts it stands: a name in eight letters of one person has one
author. What stands in a long number, an address, a mail address or a link does not count at all.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any, Final, Literal, final

import regex

from publius.errors import DataError, MissingExtraError, UsageError
from publius.settings import CountedWordSettings, PublicTextSettings
from publius.text.author_names import counted_name
from publius.text.identifiers import is_identifier, without_identifiers
from publius.text.tokenizer import StopWords, Vocabulary, tokenize
from publius.embeddings.admissible import UNKNOWN, word_fault
from publius.embeddings.embeddings import Embeddings

NAMES: Final = "names"
ALL: Final = "all"
NONE: Final = "none"
_LEARNED: Final = ("reference", "topic-metric", "domain-vectors")
RARE: Final = 2
"""A word is rare that fewer authors use than so many times as many as are needed."""

CountedBy = Literal["authors", "texts"]

_SIGNED: Final = 4
"""Words of a signature, at most."""

# What stands between two blanks and has a capital, wherever: words are cut from it as from the text. Letters of scripts
# without capitals end it, since some of these put no blanks between words.
_CAPITAL = regex.compile(r"(?<![^\s\p{Lo}])[^\s\p{Lo}\p{Lu}\p{Lt}]*+[\p{Lu}\p{Lt}][^\s\p{Lo}]*+")
_LARGE = regex.compile(r"[\p{Lu}\p{Lt}]")
_LETTERS = regex.compile(r"\p{L}.*\p{L}")  # a number or a single letter is no name
_DIGIT: Final = frozenset("0123456789")

_MOSTLY: Final = 0.5
"""A word that stands with a capital or in a signature in so many of its uses may be a name."""

_ALL_CAPITALS: Final = 0.8
"""Where so many of the words of a text, or of all texts, have a capital, as in a text in capitals, it says nothing."""

_ENOUGH: Final = 0.05
"""Where texts that tell names by capitals hold so many of all words, a word that stands in none of them is asked."""

_GONE: Final = "\x00"
"""What stands in a line for something that points at somebody."""

_OTHER_LANGUAGE: Final = 0.5
"""Where general text knows fewer of the words it is of another language, and capitals tell which are names."""

_MANY: Final = 1 / 3
_MUCH: Final = 0.1
"""Where more of the words are left out, or of their uses, the texts' own subjects may be among them: it is said."""


@final
@dataclass(frozen=True, slots=True)
class PublicText:
    """One public text to learn from.

    Attributes:
        words: in any order, stop words left out.
        label: its topic; None where there are no labels.
        author: who wrote it; None where nobody knows.
        names: those of ``words`` that stand on a line like that of a signature.
        sentences: its sentences, where they may be quoted.
        uncut: ``words`` and those that point at somebody, to count it by as others are counted; None where they are
            ``words``.
        capitals: those of ``words`` that stand with a capital anywhere else.
        letters: the small forms of the letters that are capitals there.
        tells: whether a capital says anything in this text: not where nearly all its words have one.
    """

    words: Sequence[str] = field(repr=False)
    label: str | None = None
    author: str | None = None
    names: Sequence[str] = field(default=(), repr=False)
    sentences: Sequence[str] = field(default=(), repr=False)
    uncut: Sequence[str] | None = field(default=None, repr=False)
    capitals: Sequence[str] = field(default=(), repr=False)
    letters: frozenset[str] = field(default=frozenset(), repr=False)
    tells: bool = field(default=True, repr=False)

    @classmethod
    def of(
        cls, text: str, profile: str, stops: StopWords, label: str | None = None, author: str | None = None,
        sentences: Sequence[str] = (),
    ) -> PublicText:  # fmt: skip
        """A text cut into words, without what points at somebody."""
        plain = without_identifiers(text)
        words = [word for word in tokenize(plain, profile) if word not in stops]
        uncut = None if plain == text else [word for word in tokenize(text, profile) if word not in stops]
        signed, rest = _signed(text if uncut is None else without_identifiers(text, _GONE))
        large = _CAPITAL.findall(rest)
        names, capitals = (
            [
                word
                for each in found
                for word in tokenize(each, profile)
                if word not in stops and _LETTERS.search(word)
            ]
            for found in (signed, large)
        )
        letters = frozenset(letter for each in large for letter in "".join(_LARGE.findall(each)).lower())
        return cls(words, label, author, names, sentences, uncut, capitals, letters, _tells_by_capitals(rest))


def _signed(text: str) -> tuple[list[str], str]:
    """The lines behind the first of four words at most, as names stand below a letter, and the text without them.

    Each word has a capital, unless the line is the last with words. What stands for something that points at somebody
    is one of the four, but else no word: a sentence is no signature because it ends in a number.
    """
    signed, rest = list[str](), list[str]()
    lines = [line.split() for line in text.strip().splitlines()]
    last = max((place for place, words in enumerate(lines) if {*words} - {_GONE}), default=0)
    for place, line in enumerate(lines):
        words = [each for word in line for each in word.split(_GONE) if each]
        kept = " \n ".join(" ".join(line).split(_GONE))
        short = place > 0 and len(words) > 0 and len(line) <= _SIGNED
        if short and (
            place == last or (all(word[0].isupper() for word in words) and words[-1][-1] not in ",:")
        ):
            signed.append(kept)
        else:
            rest.append(kept)
    return signed, "\n".join(rest)


def _tells_by_capitals(text: str) -> bool:
    """Whether a capital says anything in ``text``: not where nearly all words have one; of a few, where not all do."""
    words = [word for word in text.split() if _LETTERS.search(word)]
    if len(words) <= _SIGNED:
        return not (words and text.isupper())
    return sum(_LARGE.search(word) is not None for word in words) < _ALL_CAPITALS * len(words)


@final
@dataclass(frozen=True, slots=True)
class WordCount:
    """How many authors, or texts where nobody knows the authors, use each word of public texts.

    Attributes:
        holders: for each word that may be public at all.
        by: what was counted.
        authors: how many there are; None where nobody knows.
        names: the words that mostly stand with a capital or in a signature; and, of texts some of which are written in
            capitals, those that stand in these alone, of which nobody can tell.
        letters: those that are capitals somewhere, in small; none where capitals tell no words apart, because nearly
            all words have one.
    """

    holders: Mapping[str, int] = field(repr=False)
    by: CountedBy
    authors: int | None
    names: frozenset[str] = field(repr=False)
    letters: frozenset[str] = frozenset()

    @classmethod
    def of(cls, texts: Iterable[PublicText]) -> WordCount:
        """Counted; where some texts have an author, those that have none count as one more author together."""
        texts = list(texts)
        known = any(text.author is not None for text in texts)
        by_author: dict[str, set[str]] = {}
        everywhere: Counter[str] = Counter()
        uses: Counter[str] = Counter()
        names: Counter[str] = Counter()
        capitals: Counter[str] = Counter()
        letters: set[str] = set()
        for place, text in enumerate(texts):
            holder = counted_name(text.author) if known else str(place)
            by_author.setdefault(holder, set()).update(text.words)
            everywhere.update(text.words)
            names.update(text.names)
            uses.update(text.words if text.tells else text.names)
            if text.tells:
                capitals.update(text.capitals)
                letters |= text.letters
        holders: Counter[str] = Counter()
        for words in by_author.values():
            holders.update(words)
        admitted = {word: count for word, count in holders.items() if may_be_public(word)}
        told = uses if capitals.total() < _ALL_CAPITALS * uses.total() else everywhere
        if told is uses:
            names.update(capitals)
        else:
            letters.clear()
        found = {word for word, count in names.items() if count >= _MOSTLY * told[word]}
        if _ENOUGH * everywhere.total() <= told.total() < everywhere.total():
            found |= everywhere.keys() - told.keys()
        return cls(
            MappingProxyType(admitted),
            "authors" if known else "texts",
            len(by_author) if known else None,
            frozenset(found),
            frozenset(letters),
        )

    def public(self, at_least: int) -> dict[str, int]:
        """The words that at least so many use, those that most use first, and how many do.

        `DataError` where fewer than two are left.
        """
        found = [(word, count) for word, count in self.holders.items() if count >= at_least]
        found.sort(key=lambda each: (-each[1], each[0]))
        if len(found) < 2:
            raise DataError(self._too_few(len(found), at_least))
        return dict(found)

    def _too_few(self, found: int, at_least: int) -> str:
        said = f"a word becomes public only where at least {at_least:,} {self.by} use it, and {found} words are left"
        if self.authors is not None and self.authors < at_least:
            said = f"the public texts have {self.authors:,} authors; {said}"
        return (
            f"{said}, too few to learn from: give texts of more {self.by}, or, where words that fewer use may be known "
            "to everybody, a smaller --authors-at-least"
        )


def may_be_public(word: str) -> bool:
    """Whether a word may become public at all, whoever uses it."""
    return word != UNKNOWN and word_fault(word) is None and not is_identifier(word)


def check_topics(texts: Iterable[tuple[str | None, str | None]], at_least: int) -> None:
    """`DataError` where the name of a topic, which becomes public, points at somebody; pairs (topic, author).

    A name with a long number, an address, mail or a link in it is one that as many authors use as a word takes; where
    nobody knows the authors, as many texts.
    """
    users: dict[str, set[str]] = {}
    for place, (topic, author) in enumerate(texts):
        if topic is not None:
            users.setdefault(topic, set()).add(f"text {place}" if author is None else counted_name(author))
    few = [topic for topic, found in users.items() if len(found) < at_least]
    if telling := sum(without_identifiers(topic) != topic for topic in few):
        raise DataError(
            f"the names of topics become public, and {telling:,} of {len(users):,} hold a long number, an address, "
            f"mail or a link and are those of fewer than {at_least} authors: rename these, or name another column"
        )


@final
@dataclass(frozen=True, slots=True)
class RareWord:
    """A word that would become public and that hardly more use than are needed.

    Where texts are counted, a word that is `telling` is rare in however many: one person may have written all of them.

    Attributes:
        word: as it would be public.
        holders: how many authors, or texts, use it.
        telling: whether it looks like a name, or is unknown to general text: those first to be looked at.
    """

    word: str
    holders: int
    telling: bool


def rare_words(count: WordCount, at_least: int, general: Vocabulary | None) -> list[RareWord]:
    """The rare words among those that would become public, telling ones first, then those that fewest use.

    ``general``: the words of public text of any kind; None where it is not there to compare with. Where it knows few of
    the words it is of another language, and asked of words alone whose letters are never capitals, as all Arabic ones,
    and of those that have digits, too, as customers and contracts have them: nobody writes these with a capital.
    """
    words = count.public(at_least)
    unknown = set() if general is None else {word for word in words if word not in general}
    if len(unknown) > _OTHER_LANGUAGE * len(words):
        unknown = {word for word in unknown if count.letters.isdisjoint(word) or not _DIGIT.isdisjoint(word)}
    public = [
        RareWord(word, holders, word in count.names or word in unknown) for word, holders in words.items()
    ]
    found = (
        each for each in public if each.holders < RARE * at_least or (each.telling and count.by == "texts")
    )
    return sorted(found, key=lambda each: (not each.telling, each.holders, each.word))


def general_words() -> Embeddings | None:
    """The words of general text to compare with: those of the packaged vectors, where they are installed."""
    try:
        return Embeddings.load()
    except MissingExtraError:
        return None


def public_words(
    texts: Sequence[PublicText], settings: CountedWordSettings
) -> tuple[dict[str, int], dict[str, Any]]:
    """The words of ``texts`` that become public, with how many use each, and what a record says of them.

    `DataError` where fewer than two are left.
    """
    count = WordCount.of(texts)
    rare = rare_words(count, settings.authors_at_least, general_words())
    public = count.public(settings.authors_at_least)
    without = left_out(public, rare, settings.leave_out)
    found = {word: n for word, n in public.items() if word not in without}
    if len(found) < 2:
        raise DataError(f"{len(found)} words are left to learn from: leave out fewer")
    facts = {
        "public_words": {
            "counted_by": count.by, "at_least": settings.authors_at_least, "authors": count.authors,
            "left_out": len(without), **_listed(public, settings.leave_out),
        },
        "rare_words": {each.word: each.holders for each in rare if each.word not in without},
    }  # fmt: skip
    return found, facts


def _listed(public: Collection[str], choice: str) -> dict[str, int]:
    """Of the words that a ``choice`` lists how many are ``public`` ones; nothing where it lists none."""
    listed = listed_words(choice)
    return {"listed": len(listed) - len(not_public(public, choice))} if listed else {}


def left_out(
    public: Collection[str],
    rare: Iterable[RareWord],
    choice: str,
    profile: str = PublicTextSettings.tokenizer,
) -> frozenset[str]:
    """Those of the ``public`` words that a ``choice`` leaves out: "names" (telling ones), "all" rare ones, "none".

    Or those that it lists, "names" and "all" among them. `UsageError` where it says nothing.
    """
    asked, listed = _chosen(choice, profile)
    found = {each.word for each in rare if ALL in asked or (NAMES in asked and each.telling)}
    return frozenset(found.union(listed).intersection(public))


def not_public(
    public: Collection[str], choice: str, profile: str = PublicTextSettings.tokenizer
) -> tuple[str, ...]:
    """The words that a ``choice`` lists and that are none of the ``public`` ones: perhaps misspelt."""
    return tuple(word for word in listed_words(choice, profile) if word not in public)


def listed_words(choice: str, profile: str = PublicTextSettings.tokenizer) -> tuple[str, ...]:
    """The words that a ``choice`` lists, each once."""
    return _chosen(choice, profile)[1]


def _chosen(choice: str, profile: str) -> tuple[frozenset[str], tuple[str, ...]]:
    """Which of "names", "all" and "none" are asked for, and the words, cut as those of texts are."""
    parts = [part.strip() for part in regex.split("[,;]", choice) if part.strip()]
    asked = frozenset(part.lower() for part in parts if part.lower() in (NAMES, ALL, NONE))
    words = [word for part in parts if part.lower() not in asked for word in tokenize(part, profile)]
    if not (asked or words) or (NONE in asked and (words or len(asked) > 1)):
        raise UsageError(
            f"which words to leave out: {NAMES}, {ALL}, {NONE} alone, or words separated by commas"
        )
    return asked, tuple(dict.fromkeys(words))


def many_left_out(left: int, kept: int, by: CountedBy, uses: float = 0.0) -> str | None:
    """A sentence where so many words were ``left`` out that the texts' own subjects may be; None else.

    ``uses`` is their share of all uses, where it is known. Where authors are counted only rare words are left out.
    """
    if by == "authors" or (left <= _MANY * (left + kept) and uses <= _MUCH):
        return None
    share = f", {uses:.0%} of their uses," if uses else ""
    return (
        f"{left:,} of {left + kept:,} words{share} are left out, so what the texts are about may be among them: a word "
        "that mostly begins a sentence has a capital, and in some languages every noun does. Name the column of "
        "authors, so that hardly any need be, or choose which words to leave out (--leave-out)"
    )


def stated(source: Mapping[str, Any]) -> str:
    """Describe the words of a reference from its ``source``, in a sentence without a full stop."""
    facts = source.get("public_words")
    if not isinstance(facts, Mapping):
        if source.get("format") not in _LEARNED:
            return "words of general public text"
        return (
            "counted by texts, not by authors, by an earlier version, so a word of one person can be among them: fit "
            "it again with --author-field"
        )
    least = int(facts["at_least"])
    if facts["counted_by"] == "authors":
        return f"each used by at least {least:,} authors of the public texts"
    return (
        f"each in at least {least:,} public texts, counted by texts because no author is known, so a word that one "
        "person wrote in several texts can be among them"
    )


_NUMBER: Final = "[0-9]{1,3}(,[0-9]{3}){0,3}"
_STATEMENTS: Final = tuple(
    regex.compile(
        regex.escape(stated({"public_words": {"counted_by": by, "at_least": 7}})).replace("7", _NUMBER)
    )
    for by in ("authors", "texts")
)


def is_statement(text: object) -> bool:
    """Whether a text is one that `stated` makes."""
    if not isinstance(text, str):
        return False
    fixed = {stated({}), *(stated({"format": each}) for each in _LEARNED)}
    return text in fixed or any(each.fullmatch(text) for each in _STATEMENTS)


def stated_of_vectors(source: Mapping[str, Any]) -> str | None:
    """As `stated`, of word vectors that were learned from texts of the user's; None of all others."""
    return stated(source) if source.get("format") in _LEARNED else None


def wording(words: Iterable[RareWord], most: int) -> Iterator[str]:
    """Words with how many use each, at most ``most`` of them and how many more there are."""
    rest = 0
    for place, each in enumerate(words):
        if place < most:
            yield f"{each.word} {each.holders}"
        else:
            rest += 1
    if rest:
        yield f"and {rest:,} more"
